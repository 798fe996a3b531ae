/* SPDX-License-Identifier: Apache-2.0 */
/* Options of callers that were built for another plumb, and values that there are not. */
#include "unit.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "given.h"

#define TAIL 24

typedef struct plumb_error *given_fn(const void *o, void *ret);

#define GIVEN(kind, options, init)                                                                                     \
	static struct plumb_error *given_##kind(const void *o, void *ret)                                              \
	{                                                                                                              \
		return pl_given_##kind(o, ret);                                                                        \
	}                                                                                                              \
	static const struct options default_##kind = init;
GIVEN(session, plumb_session_options, PLUMB_SESSION_OPTIONS_INIT)
GIVEN(report, plumb_report_options, PLUMB_REPORT_OPTIONS_INIT)
GIVEN(dump, plumb_dump_options, PLUMB_DUMP_OPTIONS_INIT)
GIVEN(dump_look, plumb_dump_look, PLUMB_DUMP_LOOK_INIT)
GIVEN(diff, plumb_diff_options, PLUMB_DIFF_OPTIONS_INIT)

static const struct kind {
	given_fn *given;
	const void *defaults;
	size_t size;
} kinds[] = {
	{given_session, &default_session, sizeof default_session},
	{given_report, &default_report, sizeof default_report},
	{given_dump, &default_dump, sizeof default_dump},
	{given_dump_look, &default_dump_look, sizeof default_dump_look},
	{given_diff, &default_diff, sizeof default_diff},
};
#define KINDS (sizeof kinds / sizeof *kinds)

/* As such a caller has them: @p size bytes, and what is behind these is somebody else's. */
struct caller {
	_Alignas(max_align_t) char bytes[512 + TAIL];
};

static void *caller_of(const struct kind *k, size_t size, struct caller *c)
{
	assert_true(k->size + TAIL <= sizeof c->bytes);
	memset(c->bytes, 0xa5, sizeof c->bytes);
	memset(c->bytes, 0, size);
	memcpy(c->bytes, k->defaults, size < k->size ? size : k->size);
	memcpy(c->bytes, &size, sizeof size);
	return c->bytes;
}

/* Both have a text for a default, which is not the same one everywhere. */
static void assert_defaults(const struct kind *k, struct caller *ret)
{
	struct plumb_report_options *report = (struct plumb_report_options *)ret->bytes;
	struct plumb_diff_options *diff = (struct plumb_diff_options *)ret->bytes;

	if (k->given == given_report) {
		assert_string_equal(report->format, default_report.format);
		report->format = default_report.format;
	}
	if (k->given == given_diff) {
		assert_string_equal(diff->format, default_diff.format);
		diff->format = default_diff.format;
	}
	assert_memory_equal(ret->bytes, k->defaults, k->size);
}

static void what_an_older_caller_does_not_know_has_its_default(void **state)
{
	struct caller c, ret;

	for (size_t i = 0; i < KINDS; i++)
		for (size_t size = sizeof(size_t); size <= kinds[i].size; size += sizeof(void *)) {
			assert_ok(kinds[i].given(caller_of(&kinds[i], size, &c), ret.bytes));
			assert_defaults(&kinds[i], &ret);
		}
}

static void a_newer_caller_may_ask_for_nothing_new(void **state)
{
	struct caller c, ret;

	for (size_t i = 0; i < KINDS; i++) {
		assert_ok(kinds[i].given(caller_of(&kinds[i], kinds[i].size + TAIL, &c), ret.bytes));
		assert_defaults(&kinds[i], &ret);
		c.bytes[kinds[i].size + TAIL - 1] = 1;
		assert_code(kinds[i].given(c.bytes, ret.bytes), PLUMB_ERR_INVALID);
	}
}

static void options_without_a_size_are_none(void **state)
{
	struct caller c, ret;

	for (size_t i = 0; i < KINDS; i++) {
		memset(&c, 0, sizeof c);
		assert_code(kinds[i].given(c.bytes, ret.bytes), PLUMB_ERR_INVALID);
		assert_defaults(&kinds[i], &ret);
	}
}

static const struct {
	size_t kind, at;
	unsigned last; /* the value that is known last */
} choices[] = {
	{0, offsetof(struct plumb_session_options, mode), PLUMB_MODE_GIL},
	{0, offsetof(struct plumb_session_options, stop), PLUMB_STOP_ALWAYS},
	{0, offsetof(struct plumb_session_options, subprocesses), PLUMB_SUBPROCESSES_NO},
	{0, offsetof(struct plumb_session_options, native), PLUMB_NATIVE_LEAF},
	{1, offsetof(struct plumb_report_options, idle), PLUMB_IDLE_SKIP_SAMPLES},
	{1, offsetof(struct plumb_report_options, native), PLUMB_NATIVE_SHOWN_ALL},
	{1, offsetof(struct plumb_report_options, states), 2 * PLUMB_DOING_CPU - 1},
	{1, offsetof(struct plumb_report_options, kinds), 2 * PLUMB_KIND_MARKER - 1},
	{2, offsetof(struct plumb_dump_options, stop), PLUMB_STOP_ALWAYS},
	{4, offsetof(struct plumb_diff_options, rows), PLUMB_DIFF_PATHS},
	{4, offsetof(struct plumb_diff_options, idle), PLUMB_IDLE_SKIP_SAMPLES},
};

static void a_value_that_there_is_not_is_refused(void **state)
{
	struct caller c, ret;

	for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
		const struct kind *k = &kinds[choices[i].kind];
		const unsigned values[] = {choices[i].last, choices[i].last + 1, (unsigned)-1};

		for (size_t n = 0; n < 3; n++) {
			char *bytes = caller_of(k, k->size, &c);

			memcpy(bytes + choices[i].at, &values[n], sizeof values[n]);
			struct plumb_error *err = k->given(bytes, ret.bytes);
			assert_int_equal(plumb_error_code(err), n ? PLUMB_ERR_INVALID : PLUMB_OK);
			plumb_error_destroy(err);
		}
	}
}

static void every_function_takes_them_so(void **state)
{
	struct plumb_session_options session = {.size = 0};
	struct plumb_report_options report = {.size = 0};
	struct plumb_dump_options dump = {.size = 0};
	struct plumb_dump_look look = {.size = 0};
	struct plumb_diff_options diff = {.size = 0};
	struct plumb_session *s = NULL;
	struct plumb_profile *p = NULL;
	struct plumb_dump *d = NULL;
	struct plumb_diff *c = NULL;
	char *const argv[] = {(char *)"true", NULL};

	assert_code(plumb_session_launch(&session, argv, &s), PLUMB_ERR_INVALID);
	assert_code(plumb_session_attach(&session, getpid(), &s), PLUMB_ERR_INVALID);
	assert_code(plumb_session_own(&session, &s), PLUMB_ERR_INVALID);
	assert_code(plumb_profile_write(NULL, &report, 1), PLUMB_ERR_INVALID);
	assert_code(plumb_profile_refine(NULL, &report, &p), PLUMB_ERR_INVALID);
	assert_code(plumb_dump_create(&dump, &d), PLUMB_ERR_INVALID);
	assert_code(plumb_dump_write(NULL, &look, 1), PLUMB_ERR_INVALID);
	assert_code(plumb_diff_create(NULL, 0, NULL, 0, &diff, &c), PLUMB_ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_an_older_caller_does_not_know_has_its_default),
		cmocka_unit_test(a_newer_caller_may_ask_for_nothing_new),
		cmocka_unit_test(options_without_a_size_are_none),
		cmocka_unit_test(a_value_that_there_is_not_is_refused),
		cmocka_unit_test(every_function_takes_them_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
