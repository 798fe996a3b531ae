/* SPDX-License-Identifier: Apache-2.0 */
/* Which engine samples, and a session with another one than plumb's. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <plumb/plumb.h>

#include "recording.h"
#include "replay.h"

#define SAMPLES 250

static struct plumb_error *probe_in_vain(const struct pl_engine_options *o, unsigned *can_ret)
{
	*can_ret = PL_CAN_NATIVE;
	return pl_error(PLUMB_ERR_NOT_PERMITTED, "this kernel is too old");
}

static struct plumb_error *probe_native(const struct pl_engine_options *o, unsigned *can_ret)
{
	*can_ret = PL_CAN_NATIVE;
	return NULL;
}

static struct pl_engine_options asked;

static struct plumb_error *open_nothing(const struct pl_engine_options *o, struct pl_engine **ret)
{
	asked = *o;
	return pl_error(PLUMB_ERR_NOT_PERMITTED, "not today");
}

static const struct pl_engine_ops in_vain = {.name = "kernel", .probe = probe_in_vain};
static const struct pl_engine_ops native = {.name = "native", .probe = probe_native, .open = open_nothing};
/* Instead of plumb's. */
const struct pl_engine_ops *const pl_engines[] = {&in_vain, &replay, &native, NULL};

/* ---- choosing ---------------------------------------------------------------------------------------------------- */

static const char *chosen(const char *name, bool frames)
{
	const struct pl_engine_options o = {.native = frames};
	const struct pl_engine_ops *ops = NULL;

	assert_ok(pl_engine_choose(name, &o, &ops));
	return ops->name;
}

static void assert_refused(const char *name, bool frames, enum plumb_error_code code, const char *why)
{
	const struct pl_engine_options o = {.native = frames};
	const struct pl_engine_ops *ops = NULL;
	struct plumb_error *err = pl_engine_choose(name, &o, &ops);

	assert_string_equal(plumb_error_message(err), why);
	assert_code(err, code);
}

static void the_first_engine_that_can_is_taken(void **state)
{
	replay_path = "any";
	assert_string_equal(chosen(NULL, false), "replay");
	assert_string_equal(chosen("auto", false), "replay");
	assert_string_equal(chosen("auto", true), "native");
	replay_path = NULL;
	assert_string_equal(chosen("auto", false), "native");
}

static void an_engine_that_is_named_is_taken_or_says_why_not(void **state)
{
	replay_path = "any";
	assert_string_equal(chosen("replay", false), "replay");
	assert_string_equal(chosen("native", false), "native");
	assert_refused("kernel", false, PLUMB_ERR_NOT_PERMITTED, "this kernel is too old");
	assert_refused("replay", true, PLUMB_ERR_INVALID, "the engine replay has no native frames here");
}

static void an_engine_that_there_is_not_is_refused_with_those_there_are(void **state)
{
	const struct pl_engine_options o = {0};
	const struct pl_engine_ops *ops;
	struct plumb_error *err = pl_engine_choose("replays", &o, &ops);

	assert_string_equal(plumb_error_message(err), "there is no engine 'replays'");
	assert_string_equal(plumb_error_hint(err), "there are: auto, kernel, replay, native");
	assert_code(err, PLUMB_ERR_INVALID);
}

/* Who holds a lock is asked in each round in which somebody waits for one, and is told of recorded samples only. */
static void locks_are_asked_for_where_samples_are_recorded(void **state)
{
	for (int recorded = 0; recorded < 2; recorded++) {
		struct plumb_session_options o = PLUMB_SESSION_OPTIONS_INIT;
		struct plumb_session *s;

		o.engine = "native";
		o.no_recording = !recorded;
		assert_code(plumb_session_own(&o, &s), PLUMB_ERR_NOT_PERMITTED);
		assert_int_equal(asked.locks, recorded);
	}
}

/* ---- a session with it ------------------------------------------------------------------------------------------- */

/* The samples of a profile, each in words. */
struct told {
	const struct plumb_profile *p;
	FILE *out;
};

static struct plumb_error *tell(void *ctx, const struct pl_sample *s)
{
	const struct told *t = ctx;
	const struct plumb_profile *p = t->p;
	const struct pl_thread *thread = &p->threads[s->thread];

	fprintf(t->out, "%llu %llu %llu %d %d %u/%llu", (unsigned long long)s->time_ns,
		(unsigned long long)s->weight_ns, (unsigned long long)s->extra, s->state, s->quality,
		p->processes[thread->process].pid, (unsigned long long)thread->tid);
	for (uint32_t stack = s->stack; stack; stack = p->stacks[stack].parent) {
		const struct pl_location *l = &p->locations[p->stacks[stack].location];

		fprintf(t->out, " %s:%d", pl_strtab_get(p->strings, p->functions[l->function].qualname, NULL), l->line);
	}
	fputc('\n', t->out);
	return NULL;
}

static char *samples_of(const struct plumb_profile *p)
{
	size_t len;
	char *text;
	struct told t = {p, open_memstream(&text, &len)};

	assert_ok(pl_profile_each(p, tell, &t));
	fclose(t.out);
	return text;
}

static char *recorded_before(void)
{
	struct recording r;
	char *path = temp_file();

	recording_make_rich(&r, 7, 3, SAMPLES);
	FILE *f = fopen(path, "wb");
	assert_int_equal(fwrite(r.bytes, 1, r.len, f), r.len);
	fclose(f);
	recording_free(&r);
	return path;
}

static void run_session(const char *output)
{
	struct plumb_session_options o = PLUMB_SESSION_OPTIONS_INIT;
	struct plumb_session *s;
	struct plumb_status st;
	struct plumb_result result;

	o.output = output;
	o.force = true;
	o.engine = "replay";
	assert_ok(plumb_session_attach(&o, getpid(), &s));
	plumb_session_wait(s, PATIENCE_S * 1000, &st);
	assert_true(st.ended);
	assert_ok(plumb_session_finish(s, &result));
	assert_string_equal(result.recording, output);
	plumb_session_destroy(s);
}

static void the_samples_of_another_engine_are_recorded(void **state)
{
	char *output = temp_file(), *path = recorded_before();
	struct plumb_recording_info info;
	struct plumb_profile *before, *after;
	struct plumb_profile_info told;

	replay_path = path;
	run_session(output);
	assert_ok(plumb_profile_open(path, &info, &before));
	assert_ok(plumb_profile_open(output, &info, &after));
	assert_true(info.complete);
	plumb_profile_info(after, &told);
	assert_string_equal(told.engine, "replay");
	char *a = samples_of(before), *b = samples_of(after);
	assert_string_equal(a, b);
	size_t lines = 0;
	for (const char *at = a; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, 3 * SAMPLES);
	free(a);
	free(b);
	plumb_profile_destroy(before);
	plumb_profile_destroy(after);
	unlink(path);
	unlink(output);
	free(path);
	free(output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_engine_that_can_is_taken),
		cmocka_unit_test(an_engine_that_is_named_is_taken_or_says_why_not),
		cmocka_unit_test(an_engine_that_there_is_not_is_refused_with_those_there_are),
		cmocka_unit_test(locks_are_asked_for_where_samples_are_recorded),
		cmocka_unit_test(the_samples_of_another_engine_are_recorded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
