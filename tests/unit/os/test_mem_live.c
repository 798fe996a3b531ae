/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mem_live.h"
#include "stage.h"

#define PAGE 4096ul

/* Three pages, the middle one unmapped; the bytes say where they are. A child has them too and does nothing. */
struct scene {
	uint8_t *area;
	pid_t pid;
	struct pl_mem_live *live;
};

static uint8_t byte_at(size_t i)
{
	return (uint8_t)(i * 7 + i / 251);
}

static void open_scene(struct scene *s)
{
	s->area = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(s->area != MAP_FAILED);
	for (size_t i = 0; i < 3 * PAGE; i++)
		s->area[i] = byte_at(i);
	munmap(s->area + PAGE, PAGE);
	s->pid = stage_fork();
	if (s->pid == 0)
		stage_block();
	assert_ok(pl_mem_live_create(s->pid, &s->live));
}

static void close_scene(struct scene *s)
{
	pl_mem_live_destroy(s->live);
	if (s->pid > 0)
		stage_kill(s->pid);
	munmap(s->area, 3 * PAGE);
}

static pl_addr at(const struct scene *s, size_t offset)
{
	return (pl_addr)(uintptr_t)s->area + offset;
}

static void single_reads_bring_the_bytes_or_fail(void **state)
{
	struct scene s;
	uint8_t got[64];
	open_scene(&s);
	struct pl_mem *mem = pl_mem_live_mem(s.live);
	assert_ok(pl_mem_read(mem, at(&s, 100), got, sizeof got));
	for (size_t i = 0; i < sizeof got; i++)
		assert_int_equal(got[i], byte_at(100 + i));
	assert_ptr_equal(pl_mem_read(mem, at(&s, PAGE), got, 1), &pl_err_unreadable);
	assert_ptr_equal(pl_mem_read(mem, at(&s, PAGE - 8), got, 16), &pl_err_unreadable);
	assert_ok(pl_mem_read(mem, at(&s, 0), got, 0));
	assert_false(pl_mem_live_gone(s.live));
	close_scene(&s);
}

static void ranges_count_as_read_up_to_the_first_that_is_not_whole(void **state)
{
	struct scene s;
	uint8_t got[256];
	size_t n = 99;
	open_scene(&s);
	struct pl_range ranges[] = {
		{at(&s, 0), 10}, {at(&s, PAGE - 20), 20}, {at(&s, PAGE - 8), 16}, {at(&s, 2 * PAGE), 8}};
	assert_ok(pl_mem_live_readv(s.live, ranges, 4, got, &n));
	assert_int_equal(n, 2);
	for (size_t i = 0; i < 20; i++)
		assert_int_equal(got[10 + i], byte_at(PAGE - 20 + i));
	ranges[2] = (struct pl_range){at(&s, PAGE), 1};
	assert_ok(pl_mem_live_readv(s.live, ranges, 4, got, &n));
	assert_int_equal(n, 2);
	assert_ok(pl_mem_live_readv(s.live, ranges + 2, 2, got, &n));
	assert_int_equal(n, 0);
	ranges[2] = ranges[3];
	assert_ok(pl_mem_live_readv(s.live, ranges, 4, got, &n));
	assert_int_equal(n, 4);
	assert_int_equal(got[30], byte_at(2 * PAGE));
	assert_int_equal(got[38], byte_at(2 * PAGE));
	assert_ok(pl_mem_live_readv(s.live, ranges, 0, got, &n));
	assert_int_equal(n, 0);
	assert_true(pl_mem_get_all(pl_mem_live_mem(s.live), ranges, 4, got));
	assert_int_equal(got[38], byte_at(2 * PAGE));
	ranges[2] = (struct pl_range){at(&s, PAGE), 1};
	assert_false(pl_mem_get_all(pl_mem_live_mem(s.live), ranges, 4, got));
	close_scene(&s);
}

static void more_ranges_than_one_call_takes_arrive_in_order(void **state)
{
	enum { N = 3000 };
	struct scene s;
	struct pl_range *ranges = calloc(N, sizeof *ranges);
	uint8_t *got = malloc(N * 8);
	size_t n;
	open_scene(&s);
	for (size_t i = 0; i < N; i++)
		ranges[i] = (struct pl_range){at(&s, i), 1 + (uint32_t)i % 7};
	assert_ok(pl_mem_live_readv(s.live, ranges, N, got, &n));
	assert_int_equal(n, N);
	for (size_t i = 0, k = 0; i < N; i++)
		for (size_t j = 0; j < ranges[i].len; j++)
			assert_int_equal(got[k++], byte_at(i + j));
	static const size_t holes[] = {0, 1, 1023, 1024, 1025, 2047, 2048, N - 1};
	for (size_t h = 0; h < sizeof holes / sizeof *holes; h++) {
		struct pl_range kept = ranges[holes[h]];
		ranges[holes[h]].addr = at(&s, PAGE);
		assert_ok(pl_mem_live_readv(s.live, ranges, N, got, &n));
		assert_int_equal(n, holes[h]);
		ranges[holes[h]] = kept;
	}
	close_scene(&s);
	free(ranges);
	free(got);
}

static void an_ended_process_is_gone(void **state)
{
	struct scene s;
	uint8_t got[8];
	size_t n;
	open_scene(&s);
	struct pl_range range = {at(&s, 0), 8};
	kill(s.pid, SIGKILL);
	assert_true(stage_ended(s.pid)); /* not reaped yet */
	assert_true(pl_mem_live_gone(s.live));
	assert_ptr_equal(pl_mem_read(pl_mem_live_mem(s.live), range.addr, got, 8), &pl_err_target_exited);
	assert_ptr_equal(pl_mem_live_readv(s.live, &range, 1, got, &n), &pl_err_target_exited);
	waitpid(s.pid, NULL, 0);
	assert_ptr_equal(pl_mem_live_readv(s.live, &range, 1, got, &n), &pl_err_target_exited);
	s.pid = 0;
	close_scene(&s);
}

struct crew {
	stage_word ready[3], leave[3];
	pid_t tids[3];
};

static struct crew *crew;

static void *serve(void *number)
{
	size_t i = (size_t)(uintptr_t)number;

	crew->tids[i] = gettid();
	stage_set(&crew->ready[i], 1);
	stage_await(&crew->leave[i], 1);
	syscall(SYS_exit, 0);
	return NULL;
}

static void the_memory_is_read_on_through_any_thread_that_lives(void **state)
{
	struct pl_mem_live *live, *late;
	uint8_t byte, kept = 42;
	size_t n;
	struct pl_range range = {(pl_addr)(uintptr_t)&kept, 1};
	crew = stage_share(sizeof *crew);
	pid_t pid = stage_fork();
	if (pid == 0) {
		pthread_t t;
		for (size_t i = 1; i < 3; i++)
			pthread_create(&t, NULL, serve, (void *)(uintptr_t)i);
		serve(0);
	}
	for (size_t i = 0; i < 3; i++)
		stage_await(&crew->ready[i], 1);
	assert_ok(pl_mem_live_create(pid, &live));
	for (size_t i = 0; i < 2; i++) { /* the main thread first */
		stage_set(&crew->leave[i], 1);
		stage_await_state(pid, crew->tids[i], i ? "" : "Z");
		assert_ok(pl_mem_live_readv(live, &range, 1, &byte, &n));
		assert_true(n == 1 && byte == 42);
		assert_ok(pl_mem_live_create(pid, &late));
		assert_ok(pl_mem_live_readv(late, &range, 1, &byte, &n));
		assert_int_equal(n, 1);
		assert_ok(pl_mem_read(pl_mem_live_mem(late), range.addr, &byte, 1));
		pl_mem_live_destroy(late);
	}
	kill(pid, SIGKILL);
	assert_true(stage_ended(pid));
	assert_ptr_equal(pl_mem_live_readv(live, &range, 1, &byte, &n), &pl_err_target_exited);
	waitpid(pid, NULL, 0);
	pl_mem_live_destroy(live);
	munmap(crew, sizeof *crew);
}

static void a_process_that_runs_another_program_is_gone(void **state)
{
	int in[2], done[2];
	struct pl_mem_live *live;
	uint8_t byte;
	assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(done, O_CLOEXEC), 0);
	stage_word *go = stage_share(4096);
	pid_t pid = stage_fork();
	if (pid == 0) {
		stage_await(go, 1);
		dup2(in[0], 0);
		execlp("cat", "cat", (char *)NULL);
		_exit(1);
	}
	close(done[1]);
	assert_ok(pl_mem_live_create(pid, &live));
	pl_addr here = (pl_addr)(uintptr_t)&byte;
	assert_ok(pl_mem_read(pl_mem_live_mem(live), here, &byte, 1));
	assert_false(pl_mem_live_gone(live));
	stage_set(go, 1);
	assert_int_equal(read(done[0], &byte, 1), 0); /* the exec closes it */
	assert_true(pl_mem_live_gone(live));
	assert_ptr_equal(pl_mem_read(pl_mem_live_mem(live), here, &byte, 1), &pl_err_target_exited);
	pl_mem_live_destroy(live);
	stage_kill(pid);
	close(in[0]);
	close(in[1]);
	close(done[0]);
	munmap(go, 4096);
}

static void addresses_of_the_upper_half_are_refused(void **state)
{
	static const pl_addr high[] = {1ull << 63, UINT64_MAX, UINT64_MAX - 7, (1ull << 63) - 1, 0xffffffffff600000ull};
	struct scene s;
	uint8_t got[8];
	size_t n;
	open_scene(&s);
	for (size_t i = 0; i < sizeof high / sizeof *high; i++) {
		struct pl_range range = {high[i], 8};
		assert_ptr_equal(pl_mem_read(pl_mem_live_mem(s.live), high[i], got, 8), &pl_err_unreadable);
		assert_ok(pl_mem_live_readv(s.live, &range, 1, got, &n));
		assert_int_equal(n, 0);
	}
	close_scene(&s);
}

static void a_process_that_is_not_there_is_told(void **state)
{
	struct pl_mem_live *live;
	pid_t pid = stage_fork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_code(pl_mem_live_create(pid, &live), PLUMB_ERR_NO_PROCESS);
	pl_mem_live_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(single_reads_bring_the_bytes_or_fail),
		cmocka_unit_test(ranges_count_as_read_up_to_the_first_that_is_not_whole),
		cmocka_unit_test(more_ranges_than_one_call_takes_arrive_in_order),
		cmocka_unit_test(an_ended_process_is_gone),
		cmocka_unit_test(the_memory_is_read_on_through_any_thread_that_lives),
		cmocka_unit_test(a_process_that_runs_another_program_is_gone),
		cmocka_unit_test(addresses_of_the_upper_half_are_refused),
		cmocka_unit_test(a_process_that_is_not_there_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
