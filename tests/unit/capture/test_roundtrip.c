/* SPDX-License-Identifier: Apache-2.0 */
/* What was recorded is what is read. */
#include "capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "columns.h"
#include "labels.h"
#include "recording.h"

static void assert_reads_as(const struct recording *r, size_t len, const char *dump)
{
	struct plumb_profile *p = NULL;
	struct pl_capture_info info;
	check(read_bytes(r->bytes, len, &p, &info));
	char *back = profile_dump(p);
	assert_string_equal(back, dump);
	free(back);
	pl_profile_destroy(p);
}

/* Counts, names, threads, totals and the batches of every sample, whose time is the one thing that is rounded. */
static void profiles_come_back_equal(void **state)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct recording r;
		recording_make(&r, seed, 1 + seed, 100 * (unsigned)seed);
		assert_reads_as(&r, r.len, r.dump[r.chunks - 1]);
		recording_free(&r);
	}
}

static void the_beginning_of_a_recording_is_the_profile_of_that_time(void **state)
{
	struct recording r;
	recording_make(&r, 3, 8, 150);
	for (size_t i = 0; i < r.chunks; i++)
		assert_reads_as(&r, r.end[i], r.dump[i]);
	recording_free(&r);
}

static void a_recording_without_samples_is_read(void **state)
{
	struct recording r;
	recording_make(&r, 3, 2, 0);
	assert_reads_as(&r, r.len, r.dump[1]);
	recording_free(&r);
}

struct replay {
	const struct pl_sample *expected;
	size_t seen;
	uint64_t unit_ns;
};

static struct plumb_error *compare_sample(void *ctx, const struct pl_sample *s)
{
	struct replay *r = ctx;
	const struct pl_sample *e = &r->expected[r->seen++];
	assert_true(s->time_ns <= e->time_ns && e->time_ns - s->time_ns < r->unit_ns);
	assert_true(s->stack == e->stack && s->thread == e->thread);
	assert_int_equal(s->state, e->state);
	assert_int_equal(s->quality, e->quality);
	assert_int_equal(s->weight_ns, e->weight_ns);
	return NULL;
}

/* Threads of a round share an instant; ids of a fresh profile are those of the writer's. */
static void samples_come_back_in_order(void **state)
{
	enum { COUNT = 5000, SHIFT = 17 };
	struct pl_sample *samples = calloc(COUNT, sizeof *samples);
	struct plumb_profile *p = NULL, *back = NULL;
	struct pl_capture_writer *w = NULL;
	struct pl_capture_info info;
	char *path = temp_file();
	check(pl_profile_create(&p));
	p->meta.period_ns = 1000000;
	p->meta.max_overhead_ppm = 12345;
	p->meta.max_still_ppm = 1234;
	p->meta.native = PL_NATIVE_LEAF;
	p->meta.native_threads = true;
	p->meta.taken_ns = 7000000;
	p->meta.missed_ns = 3000000;
	for (int i = 0; i < PL_REFUSALS; i++)
		p->meta.refused[i] = 40 + (uint64_t)i;
	check(pl_profile_string(p, "gdb (pid 7) traces it", 21, &p->meta.refused_why));
	assert_int_equal(pl_columns_time_shift(1000000), SHIFT);
	check(pl_capture_create(path, p, &w));
	struct generator g = {.rng = {.state = 9}, .profile = p, .depth = 6, .processes = 3, .step_ns = 100000};
	for (int i = 0; i < COUNT; i++) {
		samples[i] = generate_sample(&g);
		check(pl_capture_add(w, &samples[i]));
		if (i % 700 == 699)
			check(pl_capture_flush(w, p));
	}
	check(pl_capture_finish(w, p));
	size_t len = 0;
	uint8_t *bytes = file_bytes(path, &len);
	struct replay replay = {.expected = samples, .unit_ns = 1ull << SHIFT};
	check(pl_profile_create(&back));
	int fd = fd_of(bytes, len);
	check(pl_capture_read(fd, back, compare_sample, &replay, &info));
	assert_int_equal(replay.seen, COUNT);
	assert_int_equal(info.chunks, COUNT / 700 + 1);
	assert_int_equal(back->meta.max_overhead_ppm, 12345);
	assert_int_equal(back->meta.max_still_ppm, 1234);
	assert_int_equal(back->meta.native, PL_NATIVE_LEAF);
	assert_true(back->meta.native_threads);
	assert_int_equal(back->meta.taken_ns, 7000000);
	assert_int_equal(back->meta.missed_ns, 3000000);
	assert_memory_equal(back->meta.refused, p->meta.refused, sizeof p->meta.refused);
	assert_string_equal(pl_strtab_get(back->strings, back->meta.refused_why, NULL), "gdb (pid 7) traces it");
	assert_true(info.complete && !info.damaged_chunks && !info.ignored_bytes);
	close(fd);
	free(bytes);
	free(samples);
	unlink(path);
	free(path);
	pl_capture_destroy(w);
	pl_profile_destroy(p);
	pl_profile_destroy(back);
}

static struct plumb_error *stop_at_once(void *ctx, const struct pl_sample *s)
{
	++*(int *)ctx;
	return &pl_err_corrupt; /* also the reader's own word for damage: it must not be mistaken for that */
}

static void an_error_of_the_caller_ends_the_reading(void **state)
{
	struct recording r;
	struct plumb_profile *p = NULL;
	struct pl_capture_info info;
	int calls = 0;
	recording_make(&r, 3, 3, 100);
	check(pl_profile_create(&p));
	int fd = fd_of(r.bytes, r.len);
	assert_ptr_equal(pl_capture_read(fd, p, stop_at_once, &calls, &info), &pl_err_corrupt);
	assert_int_equal(calls, 1);
	close(fd);
	pl_profile_destroy(p);
	recording_free(&r);
}

static void times_are_kept_to_about_an_eighth_of_the_period(void **state)
{
	for (uint64_t period = 1; period < 1ull << 40; period = period * 5 / 4 + 1) {
		uint64_t unit = 1ull << pl_columns_time_shift(period);
		assert_true(unit >= 1024 && unit <= PL_BATCH_MIN_NS && PL_BATCH_MIN_NS % unit == 0);
		if (unit > 1024 && unit < PL_BATCH_MIN_NS)
			assert_true(unit <= period / 5 && unit >= period / 12);
	}
	assert_int_equal(pl_columns_time_shift(0), 10);
}

/* Threads of another kind of time: jumps back, jumps ahead, the largest numbers. */
static void any_time_and_weight_can_be_recorded(void **state)
{
	const uint64_t values[] = {0, UINT64_MAX, 5000, 1ull << 63, UINT64_MAX, UINT64_MAX - 1, 0, 1024};
	struct plumb_profile *p = NULL, *back = NULL;
	struct pl_capture_writer *w = NULL;
	struct pl_capture_info info;
	size_t len = 0;
	char *path = temp_file();
	check(pl_profile_create(&p));
	uint32_t t = add_thread(p, 1, 1, "", true);
	check(pl_capture_create(path, p, &w));
	for (size_t i = 0; i < 8; i++) {
		struct pl_sample s = {.time_ns = values[i],
				      .thread = t,
				      .weight_ns = values[7 - i],
				      .state = UINT8_MAX | PL_STATE_REASONS,
				      .quality = PL_PARTIAL};
		check(pl_profile_add(p, &s));
		check(pl_capture_add(w, &s));
	}
	p->meta.complete = true;
	check(pl_capture_finish(w, p));
	uint8_t *bytes = file_bytes(path, &len);
	check(read_bytes(bytes, len, &back, &info));
	assert_same_profile(p, back);
	free(bytes);
	unlink(path);
	free(path);
	pl_capture_destroy(w);
	pl_profile_destroy(p);
	pl_profile_destroy(back);
}

/* More rows than one chunk takes: they come in several, samples behind all of them. */
static void many_rows_take_several_chunks(void **state)
{
	struct plumb_profile *p = NULL, *back = NULL;
	struct pl_capture_writer *w = NULL;
	struct pl_capture_info info;
	size_t len = 0;
	char *path = temp_file(), *text = malloc(60000);
	check(pl_profile_create(&p));
	check(pl_capture_create(path, p, &w));
	memset(text, 'x', 60000);
	text[59999] = '\0';
	uint32_t t = add_thread(p, 1, 1, "", true), stack = 0;
	for (int i = 0; i < 450; i++) {
		text[0] = (char)('A' + i % 26);
		text[1] = (char)('A' + i / 26);
		stack = add_frame(p, stack, text, "x.py", i);
	}
	struct pl_sample s = {.thread = t, .stack = stack, .weight_ns = 3};
	check(pl_profile_add(p, &s));
	check(pl_capture_add(w, &s));
	p->meta.complete = true;
	check(pl_capture_finish(w, p));
	uint8_t *bytes = file_bytes(path, &len);
	check(read_bytes(bytes, len, &back, &info));
	assert_true(info.chunks >= 3 && info.complete);
	char *a = profile_dump(p), *b = profile_dump(back);
	assert_true(strcmp(a, b) == 0); /* megabytes: not to be printed */
	free(a);
	free(b);
	free(bytes);
	free(text);
	unlink(path);
	free(path);
	pl_capture_destroy(w);
	pl_profile_destroy(p);
	pl_profile_destroy(back);
}

/* Made before processes had more than a number, a program and a version; the same profile as ours otherwise. */
/* As merged recordings have them; process 1 of each host is another. */
static void hosts_of_processes_come_back(void **state)
{
	struct plumb_profile *p = random_profile(3, 300), *other = random_profile(4, 300), *back = NULL;
	struct pl_capture_writer *w = NULL;
	struct pl_capture_info info;
	size_t len;
	p->meta.host = add_string(p, "left");
	other->meta.host = add_string(other, "right");
	check(pl_profile_merge(p, other));
	char *path = temp_file();
	check(pl_capture_create(path, p, &w));
	check(pl_capture_finish(w, p));
	pl_capture_destroy(w);
	uint8_t *bytes = file_bytes(path, &len);
	check(read_bytes(bytes, len, &back, &info));
	assert_int_equal(back->process_count, p->process_count);
	for (uint32_t i = 0; i < p->process_count; i++) {
		assert_int_equal(back->processes[i].pid, p->processes[i].pid);
		assert_string_equal(pl_strtab_get(back->strings, back->processes[i].host, NULL),
				    pl_strtab_get(p->strings, p->processes[i].host, NULL));
		assert_int_not_equal(back->processes[i].host, 0);
	}
	pl_profile_destroy(p);
	pl_profile_destroy(other);
	pl_profile_destroy(back);
	unlink(path);
	free(path);
	free(bytes);
}

static void a_recording_without_lives_opens(void **state)
{
	struct recording ours;
	struct plumb_profile *p = NULL;
	struct pl_capture_info info;
	size_t len = 0;
	uint8_t *bytes = file_bytes(GOLDEN_DIR "/recording/without-lives", &len);
	int fd = fd_of(bytes, len);
	recording_make(&ours, 4, 4, 30);
	check(pl_profile_create(&p));
	check(pl_capture_read(fd, p, NULL, NULL, &info));
	assert_true(info.complete && !info.damaged_chunks);
	assert_int_equal(p->process_count, ours.profile->process_count);
	assert_int_equal(p->cell_count, ours.profile->cell_count);
	for (uint32_t i = 0; i < p->process_count; i++) {
		assert_int_equal(p->processes[i].pid, ours.profile->processes[i].pid);
		assert_string_equal(pl_strtab_get(p->strings, p->processes[i].python, NULL), "3.11.7");
		assert_true(!p->processes[i].start_ns && !p->processes[i].ended);
	}
	close(fd);
	free(bytes);
	pl_profile_destroy(p);
	recording_free(&ours);
}

/* From before there were labels: as if it were written without their section. */
static void labels_of_old_recordings_are_read_out_of_their_texts(void **state)
{
	char *path = temp_file(), text[256];
	struct plumb_profile *p, *back = NULL;
	struct pl_capture_writer *w;
	struct pl_capture_info info;
	struct pl_sample s = {.weight_ns = 1000};
	size_t len = 0;

	check(pl_profile_create(&p));
	check(pl_profile_marker(p, 0, "[method=GET, route=/x]", &s.stack));
	s.thread = add_thread(p, 1, 1, "MainThread", true);
	check(pl_capture_create(path, p, &w));
	check(pl_profile_add(p, &s));
	check(pl_capture_add(w, &s));
	check(pl_capture_finish(w, p));
	pl_capture_destroy(w);
	uint8_t *bytes = file_bytes(path, &len);
	check(read_bytes(bytes, len, &back, &info));
	const struct pl_stack *tag = &back->stacks[back->cells[0].stack];
	assert_int_equal(tag->depth, 1);
	const struct pl_function *f = &back->functions[back->locations[tag->location].function];
	assert_string_equal(labels_text(back, f, text), "method|GET|route|/x|");
	free(bytes);
	unlink(path);
	free(path);
	pl_profile_destroy(p);
	pl_profile_destroy(back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(profiles_come_back_equal),
		cmocka_unit_test(the_beginning_of_a_recording_is_the_profile_of_that_time),
		cmocka_unit_test(a_recording_without_samples_is_read),
		cmocka_unit_test(samples_come_back_in_order),
		cmocka_unit_test(hosts_of_processes_come_back),
		cmocka_unit_test(a_recording_without_lives_opens),
		cmocka_unit_test(an_error_of_the_caller_ends_the_reading),
		cmocka_unit_test(times_are_kept_to_about_an_eighth_of_the_period),
		cmocka_unit_test(any_time_and_weight_can_be_recorded),
		cmocka_unit_test(many_rows_take_several_chunks),
		cmocka_unit_test(labels_of_old_recordings_are_read_out_of_their_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
