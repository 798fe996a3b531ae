/* SPDX-License-Identifier: Apache-2.0 */
/* pprof files that are cut, damaged or made to hurt: an error that can be told, or a profile like any other. */
#include "import_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "clock.h"
#include "protobuf.h"

/* Whether it is an error; an exact copy, so that a sanitizer sees a read past its end. */
static bool is_refused(const uint8_t *bytes, size_t len)
{
	uint8_t *copy = malloc(len + 1);
	struct plumb_profile *p = NULL;
	bool refused;

	memcpy(copy, bytes, len);
	copy[len] = 0;
	struct plumb_error *err = import_bytes("pprof", copy, len, &p);
	refused = err != NULL;
	if (err) {
		assert_true(plumb_error_code(err) == PLUMB_ERR_CORRUPT || plumb_error_code(err) == PLUMB_ERR_LIMIT);
		assert_true(*plumb_error_message(err));
	}
	plumb_error_destroy(err);
	pl_profile_destroy(p);
	free(copy);
	return refused;
}

static void a_file_cut_anywhere_is_refused_or_read(void **state)
{
	struct plumb_profile *p = random_profile(3, 20);
	size_t len = 0;
	uint8_t *bytes = exported(p, "pprof", &len);
	int refused = 0;

	for (size_t cut = 0; cut < 3000; cut++)
		refused += is_refused(bytes, cut * len / 3000);
	/* Without its last strings, and wherever a field is cut. */
	assert_true(refused > 2900);
	assert_false(is_refused(bytes, len));
	free(bytes);
	pl_profile_destroy(p);
}

static void changed_bytes_do_no_harm(void **state)
{
	struct plumb_profile *p = random_profile(4, 30);
	struct pl_rng rng = {.state = 9};
	size_t len = 0;
	uint8_t *bytes = exported(p, "pprof", &len), *copy = malloc(len);
	size_t names = len > 66000 ? len - 66000 : len; /* the long name is of no interest */
	int refused = 0;

	for (int round = 0; round < 3000; round++) {
		memcpy(copy, bytes, len);
		for (uint64_t i = 0; i <= pl_rng_next(&rng) % 4; i++)
			copy[pl_rng_next(&rng) % names] = (uint8_t)pl_rng_next(&rng);
		refused += is_refused(copy, len);
	}
	assert_true(refused > 100);
	free(copy);
	free(bytes);
	pl_profile_destroy(p);
}

static void write_bomb(FILE *out, uint64_t lines, uint64_t samples)
{
	struct pl_pb w;
	size_t m, k;

	pl_pb_init(&w, out);
	m = pl_pb_begin(&w, 1);
	pl_pb_u64(&w, 1, 1);
	pl_pb_end(&w, m);
	m = pl_pb_begin(&w, 5);
	pl_pb_u64(&w, 1, 1);
	pl_pb_end(&w, m);
	m = pl_pb_begin(&w, 4);
	pl_pb_u64(&w, 1, 1);
	for (uint64_t i = 0; i < lines; i++) {
		k = pl_pb_begin(&w, 4);
		pl_pb_u64(&w, 1, 1);
		pl_pb_u64(&w, 2, i + 1);
		pl_pb_end(&w, k);
	}
	pl_pb_end(&w, m);
	for (uint64_t i = 0; i < samples; i++) {
		m = pl_pb_begin(&w, 2);
		k = pl_pb_begin(&w, 1);
		for (int n = 0; n < 100; n++)
			pl_pb_raw_u64(&w, 1);
		pl_pb_end(&w, k);
		pl_pb_u64(&w, 2, 1);
		pl_pb_end(&w, m);
	}
	pl_pb_item(&w, 6, "", 0);
	pl_pb_item(&w, 6, "samples", 7);
	check(pl_pb_flush(&w));
	pl_pb_deinit(&w);
}

/* A million frames for each sample, in ten thousand samples of 100 bytes. */
static void stacks_far_longer_than_the_file_are_refused(void **state)
{
	struct plumb_profile *p = NULL;
	char *bytes = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&bytes, &len);

	write_bomb(out, 10000, 10000);
	fclose(out);
	struct plumb_error *err = import_bytes("pprof", bytes, len, &p);
	assert_int_equal(plumb_error_code(err), PLUMB_ERR_LIMIT);
	assert_true(p->stack_count < 5 * len + 70000);
	plumb_error_destroy(err);
	pl_profile_destroy(p);
	free(bytes);
}

static void other_things_are_not_taken_for_it(void **state)
{
	static const char *const others[] = {"",
					     "{\"a\":1}",
					     "main;work 12\n",
					     "\nmain;work 12\n",
					     "# callgrind format\n",
					     "events: Samples\n",
					     "\n\n\n\n\n\n",
					     "PK\3\4",
					     "\x1f\x8b\x08"};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		struct pl_import_input in = {.bytes = (const uint8_t *)others[i], .len = strlen(others[i])};

		assert_false(pl_importer_by_name("pprof")->is(&in));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_cut_anywhere_is_refused_or_read),
		cmocka_unit_test(changed_bytes_do_no_harm),
		cmocka_unit_test(stacks_far_longer_than_the_file_are_refused),
		cmocka_unit_test(other_things_are_not_taken_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
