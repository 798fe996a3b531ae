/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: <plumb/output.h>, on top of base. */
#include <plumb/output.h>

#include <stdlib.h>

#include "new_file.h"

struct plumb_output {
	struct pl_new_file file;
};

static const enum pl_replace replaced_by[] = {[PLUMB_OUTPUT_CHOSEN] = PL_REPLACE_OURS,
					      [PLUMB_OUTPUT_NAMED] = PL_REPLACE_NAMED,
					      [PLUMB_OUTPUT_FORCED] = PL_REPLACE_ALL,
					      [PLUMB_OUTPUT_FREE] = PL_REPLACE_NONE};

struct plumb_error *plumb_output_try(const char *path, enum plumb_output_name name)
{
	return pl_new_file_try_open(path, replaced_by[name]);
}

struct plumb_error *plumb_output_open(const char *path, enum plumb_output_name name, struct plumb_output **ret)
{
	struct plumb_output *o = calloc(1, sizeof *o);

	if (!o)
		return &pl_err_no_memory;
	struct plumb_error *err = pl_new_file_open(path, replaced_by[name], &o->file);
	if (err) {
		free(o);
		return err;
	}
	*ret = o;
	return NULL;
}

int plumb_output_fd(const struct plumb_output *o)
{
	return o->file.fd;
}

struct plumb_error *plumb_output_publish(struct plumb_output *o)
{
	struct plumb_error *err = pl_new_file_finish(&o->file);

	if (!err)
		err = pl_new_file_publish(&o->file);
	plumb_output_discard(o);
	return err;
}

void plumb_output_discard(struct plumb_output *o)
{
	if (!o)
		return;
	pl_new_file_discard(&o->file);
	free(o);
}
