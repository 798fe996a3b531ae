/* SPDX-License-Identifier: Apache-2.0 */
/* What it costs to find an attribute of a lock of a real interpreter, which has as many of them as its program likes.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lock_wait.h"
#include "mem_limited.h"
#include "python.h"

#define LINE	  64
#define MOST_WORK (1u << 20) /* to read 60,000 names takes sixty times as much */

/* Where two Conditions are: one whose lock comes behind 50 other attributes, and one with 60,000 in front of it. */
static const char script[] = "import os, sys, threading\n"
			     "name = '_Condition__lock' if sys.version_info < (3,) else '_lock'\n"
			     "def condition(count):\n"
			     "    c = threading.Condition()\n"
			     "    lock = c.__dict__.pop(name)\n"
			     "    for i in range(count): c.__dict__['a%d' % i] = i\n"
			     "    c.__dict__[name] = lock\n"
			     "    return c\n"
			     "few, many = condition(50), condition(60000)\n"
			     "os.write(1, ('%d\\n%d\\n' % (id(few), id(many))).encode())\n"
			     "os.read(0, 1)\n";

static pl_addr hear_address(struct python *p)
{
	char line[LINE];

	python_hear(p, line, sizeof line);
	return strtoull(line, NULL, 10);
}

static bool has_lock(const struct python *p, pl_addr condition, uint64_t *work_ret)
{
	struct pl_work work = {.most = UINT64_MAX};
	struct pl_mem_limited limited;
	enum pl_lock_kind kind;
	struct pl_values v;

	pl_values_init(&v, pl_mem_limited_init(&limited, pl_mem_live_mem(p->live), &work), &p->py, NULL);
	const pl_addr lock = pl_lock_behind(&v, condition, &kind);
	*work_ret = work.spent;
	return lock != 0;
}

static void what_a_lock_is_made_to_have_costs_no_more(void **state)
{
	(void)state;
	for (size_t i = 0; python_exe(i); i++) {
		struct python p;
		uint64_t work;

		python_start(&p, python_exe(i), script);
		const pl_addr few = hear_address(&p), many = hear_address(&p);
		if (python_attach(&p)) {
			assert_true(has_lock(&p, few, &work));
			assert_in_range(work, 1, MOST_WORK);
			(void)has_lock(&p, many, &work);
			assert_in_range(work, 1, MOST_WORK);
		}
		python_end(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_lock_is_made_to_have_costs_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
