/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: the processes that a session is of. Before it begins; one thread. */
#include "session_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "wrapped.h"

static void tell_left_out(struct plumb_session *s, pid_t pid, struct plumb_error *err)
{
	if (s->tell_refused)
		s->tell_refused(s->tell_ctx, (int)pid, err);
	plumb_error_destroy(err);
}

/* One of several: most errors say themselves whose they are. */
static struct plumb_error *with_number(struct plumb_error *err, pid_t pid)
{
	char number[16];

	snprintf(number, sizeof number, "%d", (int)pid);
	if (strstr(plumb_error_message(err), number))
		return err;
	struct plumb_error *told =
		pl_error_hint(pl_error(plumb_error_code(err), "pid %s: %s", number, plumb_error_message(err)), "%s",
			      plumb_error_hint(err));
	plumb_error_destroy(err);
	return told;
}

/* Of the engine; they come in the order of the processes. */
static void refused(void *ctx, pid_t pid, struct plumb_error *err)
{
	struct plumb_session *s = ctx;

	s->refused += s->pids[s->refused] == pid;
	tell_left_out(s, pid, with_number(pl_hint_wrapped(err, pid, "attach", &s->hinted), pid));
}

static bool was_named(const int *pids, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (pids[k] == pids[i])
			return true;
	return false;
}

/* Those that are there, each once. The error of the last one that is not goes to *last. */
static void choose(struct plumb_session *s, const int *pids, size_t count, struct plumb_error **last)
{
	pid_t last_pid = 0;

	for (size_t i = 0; i < count; i++) {
		if (was_named(pids, i))
			continue;
		struct plumb_error *err = pl_program_check(pids[i]);
		if (!err) {
			s->pids[s->options.pid_count++] = pids[i];
			continue;
		}
		if (*last)
			tell_left_out(s, last_pid, *last);
		*last = err;
		last_pid = pids[i];
	}
	if (!*last || !s->options.pid_count)
		return;
	tell_left_out(s, last_pid, *last);
	*last = NULL;
}

struct plumb_error *pl_session_choose_whom(struct plumb_session *s, const int *pids, size_t count)
{
	struct plumb_error *last = NULL;

	s->pids = calloc(count + 1, sizeof *s->pids);
	if (!s->pids)
		return &pl_err_no_memory;
	s->options.pids = s->pids;
	s->options.refused = refused;
	s->options.refused_ctx = s;
	choose(s, pids, count, &last);
	s->pid = s->pids[0];
	return last;
}

struct plumb_error *pl_session_choose_child(struct plumb_session *s)
{
	s->pids = calloc(1, sizeof *s->pids);
	s->options.pids = s->pids;
	s->options.pid_count = 1;
	return s->pids ? NULL : &pl_err_no_memory;
}

void pl_session_know_whom(struct plumb_session *s)
{
	s->pid = s->pids[s->refused];
}
