/* SPDX-License-Identifier: Apache-2.0 */
/* For how long names of native functions are waited for. The files are those of this process. Linked with
 * --wrap=pl_clock_monotonic_ns and --wrap=pl_symbol_answered. */
#include "native_symbols.h"

#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

#define FILES	100
#define TELLERS 5
#define LINES	2000

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
	assert_int_equal(read_at_end(900000000), 3); /* each has two questions: names, then debug information */
	assert_true(passed_ns == 5000000000);
}

/* ---- perf maps --------------------------------------------------------------------------------------------------- */

/* A process that tells of machine code of its own, until it is killed. */
struct teller {
	pid_t pid;
	char path[40];
	struct pl_file_view seen;
};

static void begin_telling(struct teller *t)
{
	t->pid = fork();
	if (t->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* should a test fail */
		for (;;)
			pause();
	}
	assert_true(t->pid > 0);
	assert_true(pl_file_view_of(t->pid, &t->seen));
	snprintf(t->path, sizeof t->path, "/tmp/perf-%d.map", (int)t->pid);
	FILE *f = fopen(t->path, "w");
	assert_non_null(f);
	for (unsigned i = 1; i <= LINES; i++)
		fprintf(f, "%x0 10 made_%u\n", i, i);
	assert_int_equal(fclose(f), 0);
}

static void end_telling(struct teller *t)
{
	assert_int_equal(unlink(t->path), 0);
	assert_int_equal(kill(t->pid, SIGKILL), 0);
	assert_int_equal(waitpid(t->pid, NULL, 0), t->pid);
}

static void read_perf_map(struct pl_native_symbols *s, const struct teller *t, uint32_t id)
{
	static char path[] = PL_JIT_FILE;
	const struct pl_code_module m = {.id = id, .pid = t->pid, .seen = t->seen, .map = {.path = path}};

	assert_true(pl_native_symbols_ready(s, &m, true));
	assert_non_null(s->files.data[id].functions);
}

static size_t count_kept(const struct pl_native_symbols *s, size_t from)
{
	size_t kept = 0;

	for (size_t i = from; i < s->files.len; i++)
		kept += s->files.data[i].functions != NULL;
	return kept;
}

/* Of each process one is kept, also when it has ended: a program can start any number of them. */
static void perf_maps_of_many_processes_are_kept_up_to_a_limit(void **state)
{
	struct pl_native_symbols s = {0};
	struct teller all[TELLERS];

	(void)state;
	answer_ns = passed_ns = 0;
	for (uint32_t i = 0; i < TELLERS; i++) {
		begin_telling(&all[i]);
		read_perf_map(&s, &all[i], i);
		if (i == 0)
			s.perf_maps_most = 5 * pl_functions_bytes(s.files.data[0].functions) / 2;
	}
	assert_int_equal(count_kept(&s, 0), 2);
	assert_int_equal(count_kept(&s, TELLERS - 2), 2);
	/* Read again for one that is kept: it takes the place of that. */
	read_perf_map(&s, &all[TELLERS - 1], TELLERS);
	assert_int_equal(count_kept(&s, 0), 2);
	for (size_t i = 0; i < TELLERS; i++)
		end_telling(&all[i]);
	pl_native_symbols_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_waits_for_the_end_does_not_wait_for_more_files_when_there_are_more),
		cmocka_unit_test(perf_maps_of_many_processes_are_kept_up_to_a_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
