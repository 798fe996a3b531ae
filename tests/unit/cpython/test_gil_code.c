/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "gil_code.h"

#define FUNCTION 0xef8e0

static pl_addr lock_in(const void *bytes, size_t n)
{
	uint8_t code[PL_GIL_CODE_BYTES] = {0};

	memcpy(code, bytes, n);
	return pl_gil_lock_in_code(code, FUNCTION);
}

static void the_code_that_compilers_make_names_the_lock(void **state)
{
	/* pyenv's 2.7.18: xor %eax,%eax; cmpq $0,0x107c26(%rip); setne %al */
	static const uint8_t compared[] = "\x31\xc0\x48\x83\x3d\x26\x7c\x10\x00\x00\x0f\x95\xc0\xc3";
	static const uint8_t marked[] = "\xf3\x0f\x1e\xfa\x48\x83\x3d\x26\x7c\x10\x00\x00\x0f\x95\xc0\xc3";
	static const uint8_t loaded[] = "\x48\x8b\x05\xf0\xff\xff\xff\x48\x85\xc0\x0f\x95\xc0\xc3";

	(void)state;
	assert_int_equal(lock_in(compared, sizeof compared), FUNCTION + 10 + 0x107c26);
	assert_int_equal(lock_in(marked, sizeof marked), FUNCTION + 12 + 0x107c26);
	assert_int_equal(lock_in(loaded, sizeof loaded), FUNCTION + 7 - 16);
}

static void other_code_names_nothing(void **state)
{
	/* 3.6: mov gil_locked(%rip),%eax; not %eax; shr $31,%eax */
	static const uint8_t of_3_6[] = "\x8b\x05\x32\x0d\x16\x00\xf7\xd0\xc1\xe8\x1f\xc3";
	static const uint8_t with_one[] = "\x48\x83\x3d\x26\x7c\x10\x00\x01\x0f\x95\xc0\xc3";
	static const uint8_t is_equal[] = "\x48\x83\x3d\x26\x7c\x10\x00\x00\x0f\x94\xc0\xc3";
	static const uint8_t not_tested[] = "\x48\x8b\x05\xf0\xff\xff\xff\xc3\x0f\x95\xc0\xc3";

	(void)state;
	assert_int_equal(lock_in(of_3_6, sizeof of_3_6), 0);
	assert_int_equal(lock_in(with_one, sizeof with_one), 0);
	assert_int_equal(lock_in(is_equal, sizeof is_equal), 0);
	assert_int_equal(lock_in(not_tested, sizeof not_tested), 0);
	assert_int_equal(lock_in("", 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_code_that_compilers_make_names_the_lock),
		cmocka_unit_test(other_code_names_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
