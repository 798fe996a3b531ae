/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "hash.h"

/* What CPython 3.11 takes for the hashes of bytes, with PYTHONHASHSEED=0, which makes the key 0. */
static void bytes_have_the_hashes_that_others_compute(void **state)
{
	uint8_t zeros[16] = {0}, counted[40];
	uint64_t key[2] = {pl_hash_key[0], pl_hash_key[1]};

	for (size_t i = 0; i < sizeof counted; i++)
		counted[i] = (uint8_t)i;
	pl_hash_key[0] = pl_hash_key[1] = 0;
	assert_int_equal(pl_hash_bytes("a", 1), 0x407448d2b89b1813);
	assert_int_equal(pl_hash_bytes("abcdefg", 7), 0x6db12aae9070f506);
	assert_int_equal(pl_hash_bytes("abcdefgh", 8), 0x3f7b849c0b8e35ea);
	assert_int_equal(pl_hash_bytes("abcdefghi", 9), 0xf89b34a3d11eb6e5);
	assert_int_equal(pl_hash_bytes(zeros, sizeof zeros), 0x76be999e3e25b2a0);
	assert_int_equal(pl_hash_bytes(counted, sizeof counted), 0x95bc321ab41d8206);
	pl_hash_key[0] = key[0];
	pl_hash_key[1] = key[1];
}

static void another_key_gives_other_hashes(void **state)
{
	uint64_t words = pl_hash_words(1, 2), bytes = pl_hash_bytes("name", 4);

	assert_true(pl_hash_key[0] || pl_hash_key[1]); /* was drawn */
	pl_hash_key[1]++;
	assert_true(pl_hash_words(1, 2) != words && pl_hash_bytes("name", 4) != bytes);
	pl_hash_key[1]--;
	assert_int_equal(pl_hash_words(1, 2), words);
	assert_true(pl_hash_words(2, 1) != words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_have_the_hashes_that_others_compute),
		cmocka_unit_test(another_key_gives_other_hashes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
