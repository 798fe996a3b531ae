/* SPDX-License-Identifier: Apache-2.0 */
/* What was found in the tables and is kept. */
#include "rules.h"

#include "unit.h"

static struct pl_unwind_rules *rules;

static int set_up(void **state)
{
	(void)state;
	assert_ok(pl_unwind_rules_create(&rules));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	pl_unwind_rules_destroy(rules);
	return 0;
}

static void keep(pl_addr place, enum pl_cfi_kind caller)
{
	const struct pl_fde f = {.start = place - 1, .pc_column = PL_X86_64_RIP};
	struct pl_cfi_row row = {.cfa = {.kind = PL_CFI_IS, .reg = PL_X86_64_RSP, .offset = 8}};

	row.regs[PL_X86_64_RIP] = (struct pl_cfi_rule){.kind = caller, .offset = -8};
	pl_unwind_rules_keep(rules, &pl_unwind_x86_64, place, 7, &f, &row);
}

/* As a frame there does. */
static const struct pl_unwind_rule *meet(pl_addr place)
{
	if (!pl_unwind_rules_get(rules, place))
		keep(place, PL_CFI_AT);
	return pl_unwind_rules_get(rules, place);
}

/* Whichever two places come together in a stack, neither takes the other one's room. */
static void any_two_places_have_room(void **state)
{
	const pl_addr always = 0x401000;

	(void)state;
	for (pl_addr place = 1; place < 30000; place++) {
		(void)meet(place);
		(void)meet(always);
		const struct pl_unwind_rule *a = pl_unwind_rules_get(rules, always);
		const struct pl_unwind_rule *b = pl_unwind_rules_get(rules, place);
		assert_true(a && a->place == always && a->function == always - 1);
		assert_true(b && b->place == place && b->image == 7 && b->saved == 1);
	}
	pl_unwind_rules_forget(rules);
	assert_null(pl_unwind_rules_get(rules, always));
	assert_null(pl_unwind_rules_get(rules, 0));
}

static void that_there_is_no_caller_is_kept(void **state)
{
	(void)state;
	keep(100, PL_CFI_UNDEFINED);
	assert_true(pl_unwind_rules_get(rules, 100)->root);
	keep(200, PL_CFI_AT);
	assert_false(pl_unwind_rules_get(rules, 200)->root);
	keep(300, PL_CFI_AT_EXPRESSION);
	assert_null(pl_unwind_rules_get(rules, 300)); /* not of the plain form */
	assert_null(pl_unwind_rules_get(NULL, 100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_two_places_have_room),
		cmocka_unit_test(that_there_is_no_caller_is_kept),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
