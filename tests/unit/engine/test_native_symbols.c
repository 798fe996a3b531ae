/* SPDX-License-Identifier: Apache-2.0 */
/* For how long names of native functions are waited for. The files are those of this process. Linked with
 * --wrap=pl_clock_monotonic_ns and --wrap=pl_symbol_answered. */
#include "native_symbols.h"

#include "unit.h"

#include <unistd.h>

#include "clock.h"

#define FILES 100

/* Each answer takes so long. */
static uint64_t answer_ns, passed_ns;

uint64_t __wrap_pl_clock_monotonic_ns(void);

uint64_t __wrap_pl_clock_monotonic_ns(void)
{
	return 1 + passed_ns;
}

bool __real_pl_symbol_answered(struct pl_symbol_reader *r, int timeout_ms, int patience_ms, struct pl_functions **ret);
bool __wrap_pl_symbol_answered(struct pl_symbol_reader *r, int timeout_ms, int patience_ms, struct pl_functions **ret);

bool __wrap_pl_symbol_answered(struct pl_symbol_reader *r, int timeout_ms, int patience_ms, struct pl_functions **ret)
{
	if (answer_ns > (uint64_t)timeout_ms * 1000000) {
		passed_ns += (uint64_t)timeout_ms * 1000000;
		return false;
	}
	passed_ns += answer_ns;
	await (__real_pl_symbol_answered(r, 100, 1000000000, ret))
		;
	return true;
}

static const struct pl_mapping *own_code(const pl_mapping_vec *maps)
{
	for (size_t i = 0; i < maps->len; i++)
		if (maps->data[i].executable && maps->data[i].inode)
			return &maps->data[i];
	fail_msg("no code is mapped");
	return NULL;
}

/* As at the end: there is a function of each file, and no more is waited for than may be. How many were read. */
static uint32_t read_at_end(uint64_t ns)
{
	struct pl_native_symbols s = {0};
	pl_mapping_vec maps = {0};
	struct pl_file_view own;
	uint32_t read = 0;

	answer_ns = ns;
	passed_ns = 0;
	assert_true(pl_file_view_of(getpid(), &own));
	assert_ok(pl_maps_read(getpid(), &maps));
	for (uint32_t i = 0; i < FILES; i++) {
		const struct pl_code_module m = {.id = i, .pid = getpid(), .seen = own, .map = *own_code(&maps)};

		if (!pl_native_symbols_ready(&s, &m, true))
			pl_native_symbols_give_up(&s, &m);
		read += s.files.data[i].functions != NULL;
	}
	pl_native_symbols_deinit(&s);
	pl_maps_deinit(&maps);
	return read;
}

static void who_waits_for_the_end_does_not_wait_for_more_files_when_there_are_more(void **state)
{
	(void)state;
	assert_int_equal(read_at_end(0), FILES);
	assert_int_equal(read_at_end(900000000), 5);
	assert_true(passed_ns == 5000000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_waits_for_the_end_does_not_wait_for_more_files_when_there_are_more),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
