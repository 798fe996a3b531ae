/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session; any thread. See given.h. */
#include "given.h"

#include <stddef.h>
#include <string.h>

#include "error.h"
#include "profile.h"

enum {
	ALL_STATES = 0
#define PLUMB_DOING(name, bit, ...) | (bit)
#include <plumb/words.def>
	,
	ALL_KINDS = (1 << PL_ORIGINS) - 1,
};

_Static_assert(offsetof(struct plumb_session_options, size) == 0 && offsetof(struct plumb_report_options, size) == 0 &&
		       offsetof(struct plumb_dump_options, size) == 0 && offsetof(struct plumb_dump_look, size) == 0 &&
		       offsetof(struct plumb_diff_options, size) == 0,
	       "options begin with their size");

/* Nothing is asked for beyond what is known here. */
static bool is_empty(const char *from, const char *end)
{
	while (from < end && !*from)
		from++;
	return from == end;
}

/* @p ret: the defaults, @p size bytes of them. */
static struct plumb_error *take(const void *given, void *ret, size_t size)
{
	size_t theirs;

	memcpy(&theirs, given, sizeof theirs);
	if (theirs < sizeof theirs)
		return pl_error(PLUMB_ERR_INVALID, "options without their size; they begin as PLUMB_..._OPTIONS_INIT");
	memcpy(ret, given, theirs < size ? theirs : size);
	memcpy(ret, &size, sizeof size);
	if (theirs > size && !is_empty((const char *)given + size, (const char *)given + theirs))
		return pl_error(PLUMB_ERR_INVALID, "an option is set that is not known here: the caller was made for a "
						   "newer plumb");
	return NULL;
}

static struct plumb_error *check(bool known, const char *what)
{
	return known ? NULL : pl_error(PLUMB_ERR_INVALID, "there is no such %s", what);
}

struct plumb_error *pl_given_session(const struct plumb_session_options *o, struct plumb_session_options *ret)
{
	*ret = (struct plumb_session_options)PLUMB_SESSION_OPTIONS_INIT;
	struct plumb_error *err = take(o, ret, sizeof *ret);

	err = err ? err : check((unsigned)ret->mode < PL_MODES, "mode");
	err = err ? err : check((unsigned)ret->stop <= PLUMB_STOP_ALWAYS, "way to stop threads");
	err = err ? err : check((unsigned)ret->subprocesses <= PLUMB_SUBPROCESSES_NO, "choice of processes");
	return err ? err : check((unsigned)ret->native <= PLUMB_NATIVE_LEAF, "choice of native frames");
}

struct plumb_error *pl_given_report(const struct plumb_report_options *o, struct plumb_report_options *ret)
{
	*ret = (struct plumb_report_options)PLUMB_REPORT_OPTIONS_INIT;
	struct plumb_error *err = take(o, ret, sizeof *ret);

	err = err ? err : check((unsigned)ret->idle <= PLUMB_IDLE_SKIP_SAMPLES, "choice of idle threads");
	err = err ? err : check((unsigned)ret->native <= PLUMB_NATIVE_SHOWN_ALL, "choice of native frames");
	err = err ? err : check(!(ret->states & ~(unsigned)ALL_STATES), "state of threads");
	return err ? err : check(!(ret->kinds & ~(unsigned)ALL_KINDS), "kind of frames");
}

struct plumb_error *pl_given_dump(const struct plumb_dump_options *o, struct plumb_dump_options *ret)
{
	*ret = (struct plumb_dump_options)PLUMB_DUMP_OPTIONS_INIT;
	struct plumb_error *err = take(o, ret, sizeof *ret);

	return err ? err : check((unsigned)ret->stop <= PLUMB_STOP_ALWAYS, "way to stop threads");
}

struct plumb_error *pl_given_dump_look(const struct plumb_dump_look *o, struct plumb_dump_look *ret)
{
	*ret = (struct plumb_dump_look)PLUMB_DUMP_LOOK_INIT;
	return take(o, ret, sizeof *ret);
}

struct plumb_error *pl_given_diff(const struct plumb_diff_options *o, struct plumb_diff_options *ret)
{
	*ret = (struct plumb_diff_options)PLUMB_DIFF_OPTIONS_INIT;
	struct plumb_error *err = take(o, ret, sizeof *ret);

	err = err ? err : check((unsigned)ret->rows <= PLUMB_DIFF_PATHS, "kind of rows");
	return err ? err : check((unsigned)ret->idle <= PLUMB_IDLE_SKIP_SAMPLES, "choice of idle threads");
}

void pl_give_row(void *ret, const void *all, size_t all_size)
{
	size_t size;

	memcpy(&size, ret, sizeof size);
	if (size > all_size)
		size = all_size;
	if (size > sizeof size)
		memcpy((char *)ret + sizeof size, (const char *)all + sizeof size, size - sizeof size);
}
