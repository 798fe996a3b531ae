/* SPDX-License-Identifier: Apache-2.0 */
/* A Python whose stacks are never whole when the search looks at it. The test tears it; the product writes nowhere. */
#include "unit.h"

#include <string.h>
#include <sys/uio.h>

#include "python.h"
#include "remote_engine.h"
#include "search.h"
#include "target.h"
#include "scripts.h"
#include "stage.h"

#define LOOKS_MAX 100
#define STEP_NS	  1000000000ull /* longer than any pause between two looks */

/* Its main thread's way to its frames leads to nowhere. */
static void tear(const struct python *p)
{
	const struct pl_layout *layout = &p->py.layout;
	bool by_cframe = layout->frame_model == PL_FRAME_CFRAME;
	uint64_t nowhere = 8;
	struct iovec from = {.iov_base = &nowhere, .iov_len = sizeof nowhere};
	struct iovec to = {.iov_base =
				   (void *)(p->main.addr + (by_cframe ? layout->tstate.cframe : layout->tstate.frame)),
			   .iov_len = sizeof nowhere};

	assert_int_equal(process_vm_writev(p->pid, &from, 1, &to, 1, 0), sizeof nowhere);
}

/* Which of the looks said why, from 1; 0: none did. */
static int first_answer(struct pl_engine *e, struct pl_target *t, enum plumb_error_code *code_ret)
{
	for (int i = 1; i <= LOOKS_MAX; i++) {
		struct plumb_error *err;

		pl_search_step(e, t, (uint64_t)i * STEP_NS, &err);
		*code_ret = plumb_error_code(err);
		if (err) {
			assert_false(t->search.find.image_known);
			plumb_error_destroy(err);
			return i;
		}
	}
	return 0;
}

static void check_answers(struct python *p, void *ctx)
{
	struct pl_engine e = {0};
	struct pl_target t = {.python = {.pid = p->pid}};
	enum plumb_error_code code;

	stage_await_state(p->pid, p->pid, "S"); /* it would not live long enough, if it ran on */
	tear(p);
	assert_in_range(first_answer(&e, &t, &code), 10, LOOKS_MAX);
	assert_true(code == PLUMB_ERR_STALE || code == PLUMB_ERR_CORRUPT);
	pl_search_detach(&e, &t);
}

/* What ends before has just not been met: no look at it is why. */
static void torn_stacks_are_an_answer_only_if_they_stay_torn(void **state)
{
	python_each(blocking_script, check_answers, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(torn_stacks_are_an_answer_only_if_they_stay_torn),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
