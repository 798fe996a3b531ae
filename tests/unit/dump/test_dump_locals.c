/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of a thread that is held meanwhile; linked so that time passes with each look at the clock only. */
#include "unit.h"

#include <string.h>

#include "clock.h"
#include "dump_locals.h"
#include "python.h"
#include "stage.h"

#define LOCALS 200

/* Two frames of 200 variables. */
static const char script[] = "import os\n"
			     "d = {'os': os}\n"
			     "many = ''.join('    v%d = %d\\n' % (i, i) for i in range(200))\n"
			     "exec('def inner():\\n' + many + '    os.read(0, 1)\\n', d)\n"
			     "exec('def outer():\\n' + many + '    inner()\\n', d)\n"
			     "os.write(1, b'ready\\n')\n"
			     "d['outer']()\n";

static uint64_t clock_ns;

uint64_t __wrap_pl_clock_monotonic_ns(void);

uint64_t __wrap_pl_clock_monotonic_ns(void)
{
	return ++clock_ns;
}

static bool is(struct pl_dump_text t, const char *s)
{
	return t.len == strlen(s) && memcmp(t.s, s, t.len) == 0;
}

static void check_whole(const pl_dump_local_vec *locals)
{
	assert_int_equal(locals->len, LOCALS);
	assert_true(is(locals->data[0].name, "v0") && is(locals->data[0].value, "0"));
	assert_true(is(locals->data[LOCALS - 1].name, "v199"));
}

static void check_limits(struct python *p, struct pl_stack_reader *s)
{
	struct pl_taken_locals taken = {0};
	struct pl_reading r = {0};
	struct pl_values v;
	struct pl_dump *d;

	await (r.complete && s->frames.len >= 3)
		assert_ok(pl_stack_read(&p->reader, s, &r));
	assert_ok(pl_dump_create(&d));
	pl_values_init(&v, pl_mem_live_mem(p->live), &p->py, NULL);
	pl_dump_take_locals(d, &v, &s->frames, UINT64_MAX / 2, &taken);
	assert_true(taken.frames.len >= 3);
	assert_true(taken.frames.data[0].had && taken.frames.data[1].had);
	check_whole(&taken.frames.data[0].locals);
	check_whole(&taken.frames.data[1].locals);
	pl_dump_take_locals(d, &v, &s->frames, 50, &taken);
	assert_int_equal(taken.frames.len, 1);
	const pl_dump_local_vec *cut = &taken.frames.data[0].locals;
	assert_true(cut->len > 10 && cut->len <= 51);
	assert_true(is(cut->data[0].name, "v0"));
	assert_true(is(cut->data[cut->len - 1].name, "...")); /* it is told that there are more */
	pl_taken_locals_deinit(&taken);
	pl_dump_destroy(d);
}

static void check_blocked(struct python *p, void *ctx)
{
	struct pl_stack_reader s;

	stage_await_state(p->pid, p->pid, "S");
	pl_stack_reader_init(&s, &p->reader, p->main.addr, &p->interp);
	check_limits(p, &s);
	pl_stack_reader_deinit(&s);
}

static void a_frame_of_many_variables_is_left_when_the_time_is_over(void **state)
{
	python_each(script, check_blocked, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_of_many_variables_is_left_when_the_time_is_over),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
