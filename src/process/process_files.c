/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; see process_files.h. */
#include "process_files.h"

bool pl_process_files_look(struct pl_process_files *f, pid_t pid)
{
	struct pl_file_view now;

	if (!pl_file_view_of(pid, &now))
		return false;
	if (f->number && pl_file_view_equal(&now, &f->view))
		return true;
	f->view = now;
	f->number++;
	return false;
}

bool pl_process_files_seen_by(const struct pl_process_files *f, pid_t pid, pid_t tid)
{
	struct pl_file_view by;

	return pl_file_view_by(pid, tid, &by) && pl_file_view_equal(&by, &f->view);
}
