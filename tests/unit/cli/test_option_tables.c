/* SPDX-License-Identifier: Apache-2.0 */
/* The option tables of all commands, taken together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "opt.h"

/* Two rows that mean the same would have to be kept equal by hand. What stands under another heading (--threads of what
 * is recorded, and of what is shown) or takes another value (-o of a recording, and of any format) means another thing.
 */
static bool is_said_twice(const struct opt *a, const struct opt *b)
{
	return a != b && a->set == b->set && strcmp(a->name, b->name) == 0 && strcmp(a->group, b->group) == 0 &&
	       strcmp(a->arg ? a->arg : "", b->arg ? b->arg : "") == 0;
}

static void compare(const struct command *x, const struct command *y)
{
	for (const struct opt *a = NULL; (a = opt_next(x, a));) {
		for (const struct opt *b = NULL; (b = opt_next(y, b));) {
			if (is_said_twice(a, b))
				fail_msg("%s and %s each have a --%s of their own", x->name, y->name, a->name);
		}
	}
}

static void an_option_stands_in_one_table(void **state)
{
	for (const struct command *const *x = commands; *x; x++) {
		for (const struct command *const *y = commands; y != x; y++)
			compare(*x, *y);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_option_stands_in_one_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
