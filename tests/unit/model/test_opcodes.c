/* SPDX-License-Identifier: Apache-2.0 */
/* What the instructions of each release are called. */
#include "opcodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support.h"

static void every_release_from_3_11_has_its_instructions(void **state)
{
	for (int minor = 11; minor <= 15; minor++) {
		const struct pl_opcodes *known = pl_opcodes(minor);
		int named = 0, special = 0;
		assert_non_null(known);
		const struct pl_opcode *table = known->rows;
		for (size_t i = 0; i < known->count; i++) {
			if (!table[i].name)
				continue;
			named++;
			special += table[i].base != i;
			assert_non_null(table[table[i].base].name);
			assert_int_equal(table[table[i].base].base, table[i].base); /* what is general stays so */
		}
		assert_true(named > 150 && special > 50);
	}
	assert_null(pl_opcode_name(pl_opcodes(15), 99999));
	assert_null(pl_opcode_name(NULL, 1));
	assert_null(pl_opcodes(10));
	assert_null(pl_opcodes(99));
}

static void a_specialised_instruction_leads_to_its_general_one(void **state)
{
	for (int minor = 11; minor <= 15; minor++) {
		const struct pl_opcodes *known = pl_opcodes(minor);
		const struct pl_opcode *table = known->rows;
		bool found = false;
		for (size_t i = 0; i < known->count; i++) {
			if (!table[i].name || strcmp(table[i].name, "BINARY_OP_ADD_INT") != 0)
				continue;
			found = true;
			assert_string_equal(table[table[i].base].name, "BINARY_OP");
		}
		assert_true(found);
	}
}

static void a_profile_of_two_releases_has_no_names(void **state)
{
	struct plumb_profile *p;
	assert_null(pl_profile_create(&p));
	assert_null(pl_opcodes_of(p));
	const char *versions[] = {"3.12.1", "3.12.7", "3.13.0"};
	for (uint32_t i = 0; i < 3; i++) {
		struct pl_process proc = {.pid = i + 1, .start_ns = 1};
		uint32_t id;
		assert_null(pl_profile_string(p, versions[i], strlen(versions[i]), &proc.python));
		assert_null(pl_profile_process(p, &proc, &id));
		assert_ptr_equal(pl_opcodes_of(p), i < 2 ? pl_opcodes(12) : NULL);
	}
	pl_profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_release_from_3_11_has_its_instructions),
		cmocka_unit_test(a_specialised_instruction_leads_to_its_general_one),
		cmocka_unit_test(a_profile_of_two_releases_has_no_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
