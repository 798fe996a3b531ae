/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session; see wrapped.h. Goes through all processes once. */
#include "wrapped.h"

#include <stdbool.h>
#include <stdio.h>

#include "program.h"

#define MOST_DEEP     8 /* a shell, its script, env, ... */
#define NAMED	      3
#define HINTED_MAX    8
#define COMMAND_BYTES 80

static bool descends(pid_t pid, pid_t from)
{
	for (int i = 0; i < MOST_DEEP && pid > 1; i++) {
		pid = pl_program_parent(pid);
		if (pid == from)
			return true;
	}
	return false;
}

/* The first of the Pythons that @p pid has started; returns how many there are. */
static size_t find(pid_t pid, pid_t first[NAMED])
{
	pl_pid_vec all = {0};
	size_t count = 0;
	struct plumb_error *err = pl_program_all(&all);

	for (size_t i = 0; i < all.len && !err; i++) {
		if (!pl_program_is_python(all.data[i]) || !descends(all.data[i], pid))
			continue;
		if (count < NAMED)
			first[count] = all.data[i];
		count++;
	}
	plumb_error_destroy(err);
	pl_vec_deinit(&all);
	return count;
}

struct plumb_error *pl_hint_wrapped(struct plumb_error *err, pid_t pid, const char *command, size_t *hinted)
{
	char runs[COMMAND_BYTES + 1] = "", others[64] = "";
	pid_t found[NAMED];
	size_t count, at = 0;

	if (plumb_error_code(err) != PLUMB_ERR_NOT_PYTHON || (*hinted)++ >= HINTED_MAX || !(count = find(pid, found)))
		return err;
	pl_program_command(found[0], runs, sizeof runs);
	if (count == 1)
		return pl_error_hint(err, "it has started one (%s): 'plumb %s %d'", runs, command, (int)found[0]);
	for (size_t i = 1; i < count && i < NAMED; i++)
		at += (size_t)snprintf(others + at, sizeof others - at, ", %d", (int)found[i]);
	return pl_error_hint(err, "it has started %zu: %d%s%s; the first is '%s': 'plumb %s %d'", count, (int)found[0],
			     others, count > NAMED ? ", ..." : "", runs, command, (int)found[0]);
}
