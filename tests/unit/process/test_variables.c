/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of a thread that is held meanwhile; linked so that time passes with each look at the clock only. */
#include "unit.h"

#include <string.h>

#include "clock.h"
#include "python.h"
#include "stage.h"
#include "variables.h"

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

/* Is variable @p i of the frame called @p name, and told as @p value (NULL: whatever it is)? */
static bool is(const struct pl_variables *t, size_t frame, size_t i, const char *name, const char *value)
{
	const struct pl_variable *v = &t->list.data[t->frames.data[frame].first + i];

	return v->name_len == strlen(name) && memcmp(t->text.data + v->name_at, name, v->name_len) == 0 &&
	       (!value ||
		(v->value_len == strlen(value) && memcmp(t->text.data + v->value_at, value, v->value_len) == 0));
}

static void check_whole(const struct pl_variables *t, size_t frame)
{
	assert_int_equal(t->frames.data[frame].count, LOCALS);
	assert_true(t->frames.data[frame].had && !t->frames.data[frame].late);
	assert_true(is(t, frame, 0, "v0", "0") && is(t, frame, LOCALS - 1, "v199", NULL));
}

static void check_limits(struct python *p, struct pl_stack_reader *s)
{
	struct pl_variables taken = {0};
	struct pl_reading r = {0};
	struct pl_values v;

	await (r.complete && s->frames.len >= 3)
		assert_ok(pl_stack_read(&p->reader, s, &r));
	pl_values_init(&v, pl_mem_live_mem(p->live), &p->py, NULL);
	pl_variables_take(&taken, &v, &s->frames, UINT64_MAX);
	assert_true(taken.frames.len >= 3);
	check_whole(&taken, 0);
	check_whole(&taken, 1);
	pl_variables_take(&taken, &v, &s->frames, 50);
	assert_int_equal(taken.frames.len, 1);
	assert_in_range(taken.frames.data[0].count, 10, 50);
	assert_true(taken.frames.data[0].late && is(&taken, 0, 0, "v0", "0")); /* it is told that there are more */
	pl_variables_deinit(&taken);
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
