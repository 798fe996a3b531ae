/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that stand for several, opcodes, and a recording that is read a second time into the same profile. */
#include "capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "recording.h"

/* A profile that is read and a second one that is made of the samples that come again. */
struct again {
	struct plumb_profile *p, *copy;
	struct pl_capture_info info;
	uint64_t calls;
};

static struct plumb_error *copy_sample(void *ctx, const struct pl_sample *s)
{
	struct again *a = ctx;
	assert_true(s->thread < a->p->thread_count && s->stack < a->p->stack_count);
	a->calls++;
	return pl_profile_add(a->copy, s);
}

/* The same tables and no counts: what a second reading counts is then what the first did. */
static void begin(struct again *a, int fd)
{
	check(pl_profile_create(&a->p));
	check(pl_capture_read(fd, a->p, NULL, NULL, &a->info));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	check(pl_profile_create(&a->copy));
	struct pl_capture_info info;
	check(pl_capture_read(fd, a->copy, NULL, NULL, &info));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	for (uint32_t i = 0; i < a->copy->cell_count; i++)
		a->copy->cells[i].samples = a->copy->cells[i].weight_ns = 0;
}

static void end(struct again *a)
{
	pl_profile_destroy(a->p);
	pl_profile_destroy(a->copy);
}

/* Each sample again makes the profile again, and nothing of the first one moves. */
static void assert_again(int fd)
{
	struct again a = {0};
	begin(&a, fd);
	char *before = profile_dump(a.p);
	check(pl_capture_read_again(fd, a.p, &a.info, copy_sample, &a));
	char *after = profile_dump(a.p), *copy = profile_dump(a.copy);
	assert_string_equal(before, after);
	assert_string_equal(before, copy);
	free(before);
	free(after);
	free(copy);
	end(&a);
}

static void counts_and_opcodes_come_back(void **state)
{
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct recording r;
		struct plumb_profile *p = NULL;
		struct pl_capture_info info;
		recording_make_rich(&r, seed, 1 + seed, 50 * (unsigned)seed);
		check(read_bytes(r.bytes, r.len, &p, &info));
		char *back = profile_dump(p);
		assert_non_null(strstr(back, " o65535+0>"));
		assert_string_equal(back, r.dump[r.chunks - 1]);
		free(back);
		pl_profile_destroy(p);
		recording_free(&r);
	}
}

/* A chunk whose first count comes late, one without any, and the largest. */
static void counts_may_begin_anywhere_in_a_chunk(void **state)
{
	const uint64_t extra[] = {0, 0, 0, 7, 0, UINT64_MAX - 1, 0, 0, 0, 0, 1, 2};
	struct plumb_profile *p = NULL, *back = NULL;
	struct pl_capture_writer *w = NULL;
	struct pl_capture_info info;
	size_t len = 0;
	char *path = temp_file();
	check(pl_profile_create(&p));
	uint32_t t = add_thread(p, 1, 1, "", true);
	check(pl_capture_create(path, p, &w));
	for (size_t i = 0; i < sizeof extra / sizeof *extra; i++) {
		struct pl_sample s = {.thread = t, .state = (uint8_t)i, .weight_ns = i, .extra = extra[i]};
		check(pl_profile_add(p, &s));
		check(pl_capture_add(w, &s));
		if (i % 6 == 5)
			check(pl_capture_flush(w, p));
	}
	p->meta.untimed = true;
	p->meta.complete = true;
	check(pl_capture_finish(w, p));
	uint8_t *bytes = file_bytes(path, &len);
	check(read_bytes(bytes, len, &back, &info));
	assert_same_profile(p, back);
	assert_int_equal(back->cells[5].samples, UINT64_MAX);
	assert_true(back->meta.untimed);
	free(bytes);
	unlink(path);
	free(path);
	pl_capture_destroy(w);
	pl_profile_destroy(p);
	pl_profile_destroy(back);
}

struct lock_check {
	const struct plumb_profile *p;
	unsigned count;
};

/* Sample number i is of thread state i, and waited as locks_come_back has it. */
static struct plumb_error *check_lock(void *ctx, const struct pl_sample *s)
{
	struct lock_check *c = ctx;
	unsigned i = c->count++;

	if (i % 7 < 4) {
		assert_int_equal(s->lock, 0);
		return NULL;
	}
	assert_true(s->lock > 0 && s->lock <= c->p->lock_count);
	const struct pl_lock_state *l = &c->p->locks[s->lock - 1];
	assert_int_equal(l->object, 4096 * (1 + i));
	assert_int_equal(l->holder, i % 3);
	assert_int_equal(l->recursive, i % 2);
	assert_int_equal(l->tid, i % 3 == PL_LOCK_HELD ? 100 + i : 0);
	if (l->holder == PL_LOCK_HELD) {
		const struct pl_location *at = &c->p->locations[l->location - 1];
		assert_string_equal(pl_strtab_get(c->p->strings, l->name, NULL), "holder");
		assert_int_equal(at->line, 20);
		assert_int_equal(l->inside, i % 2 ? l->location : 0);
	}
	return NULL;
}

/* Chunks whose first lock comes late, and rows that come in a later chunk; also when samples are read again. */
static void locks_come_back(void **state)
{
	struct plumb_profile *p = NULL, *back = NULL;
	struct pl_capture_writer *w = NULL;
	struct pl_capture_info info;
	size_t len = 0;
	char *path = temp_file();
	check(pl_profile_create(&p));
	uint32_t t = add_thread(p, 1, 1, "", true), stack = add_frame(p, 0, "work", "app.py", 20), name;
	check(pl_profile_string(p, "holder", 6, &name));
	check(pl_capture_create(path, p, &w));
	for (unsigned i = 0; i < 40; i++) {
		struct pl_sample s = {.thread = t, .stack = stack, .state = (uint8_t)i, .weight_ns = i};
		struct pl_lock_state l = {.object = 4096 * (1 + i), .holder = i % 3, .recursive = i % 2};
		uint32_t row = 0;
		if (l.holder == PL_LOCK_HELD) {
			l.tid = 100 + i;
			l.name = name;
			l.location = 1 + p->stacks[stack].location;
			l.inside = i % 2 ? l.location : 0;
		}
		if (i % 7 >= 4) {
			check(pl_profile_lock(p, &l, &row));
			s.lock = 1 + row;
		}
		check(pl_profile_add(p, &s));
		check(pl_capture_add(w, &s));
		if (i % 10 == 9)
			check(pl_capture_flush(w, p));
	}
	check(pl_capture_finish(w, p));
	uint8_t *bytes = file_bytes(path, &len);
	int fd = fd_of(bytes, len);
	check(pl_profile_create(&back));
	struct lock_check first = {.p = back}, again = {.p = back};
	check(pl_capture_read(fd, back, check_lock, &first, &info));
	assert_int_equal(first.count, 40);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	check(pl_capture_read_again(fd, back, &info, check_lock, &again));
	assert_int_equal(again.count, 40);
	close(fd);
	free(bytes);
	unlink(path);
	free(path);
	pl_capture_destroy(w);
	pl_profile_destroy(p);
	pl_profile_destroy(back);
}

static void samples_come_again(void **state)
{
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct recording r;
		if (seed % 2)
			recording_make(&r, seed, seed, 200);
		else
			recording_make_rich(&r, seed, seed, 200);
		int fd = fd_of(r.bytes, r.len);
		assert_again(fd);
		close(fd);
		recording_free(&r);
	}
}

/* The same holes, the same "<lost>" in the same places. */
static void a_damaged_recording_comes_again_with_its_holes(void **state)
{
	struct recording r;
	unsigned read = 0;
	recording_make_rich(&r, 5, 6, 60);
	for (size_t at = 30; at < r.len; at += 101) {
		struct plumb_profile *p = NULL;
		struct pl_capture_info info;
		uint8_t was = r.bytes[at];
		r.bytes[at] ^= 0x55;
		struct plumb_error *err = read_bytes(r.bytes, r.len, &p, &info);
		int fd = fd_of(r.bytes, at % 2 ? r.len : at); /* cut there, or damaged there */
		if (!err && at > r.end[0]) {
			assert_again(fd);
			read++;
		}
		close(fd);
		plumb_error_destroy(err);
		pl_profile_destroy(p);
		r.bytes[at] = was;
	}
	assert_true(read > 10);
	recording_free(&r);
}

static void what_was_appended_since_does_not_come(void **state)
{
	struct recording r;
	recording_make_rich(&r, 7, 5, 80);
	int fd = fd_of(r.bytes, r.end[1] + 10); /* a chunk is half written */
	struct again a = {0};
	begin(&a, fd);
	assert_int_equal(pwrite(fd, r.bytes, r.len, 0), r.len);
	check(pl_capture_read_again(fd, a.p, &a.info, copy_sample, &a));
	char *was = profile_dump(a.p), *copy = profile_dump(a.copy);
	assert_string_equal(was, copy);
	assert_int_equal(a.calls, 2 * 80);
	free(was);
	free(copy);
	end(&a);
	close(fd);
	recording_free(&r);
}

/* Another file in its place: an error, and no row moves under those who look at the tables. */
static void a_file_that_changed_is_told(void **state)
{
	struct recording r, other;
	recording_make_rich(&r, 8, 3, 50);
	recording_make_rich(&other, 9, 6, 500);
	int fd = fd_of(r.bytes, r.len);
	struct again a = {0};
	begin(&a, fd);
	const struct pl_stack *stacks = a.p->stacks;
	uint32_t count = a.p->stack_count;
	assert_int_equal(pwrite(fd, other.bytes, other.len, 0), other.len);
	struct plumb_error *err = pl_capture_read_again(fd, a.p, &a.info, copy_sample, &a);
	assert_int_equal(plumb_error_code(err), PLUMB_ERR_CORRUPT);
	assert_string_equal(plumb_error_message(err), "the recording was changed while it was read");
	plumb_error_destroy(err);
	assert_true(a.p->stacks == stacks && a.p->stack_count == count);
	assert_int_equal(ftruncate(fd, (off_t)r.end[0]), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	err = pl_capture_read_again(fd, a.p, &a.info, copy_sample, &a);
	assert_non_null(err);
	plumb_error_destroy(err);
	end(&a);
	close(fd);
	recording_free(&r);
	recording_free(&other);
}

static struct plumb_error *stop_at_once(void *ctx, const struct pl_sample *s)
{
	return &pl_err_stale; /* also the reader's own word for a change */
}

static void an_error_of_the_caller_is_the_callers(void **state)
{
	struct recording r;
	recording_make_rich(&r, 8, 3, 50);
	int fd = fd_of(r.bytes, r.len);
	struct again a = {0};
	begin(&a, fd);
	assert_ptr_equal(pl_capture_read_again(fd, a.p, &a.info, stop_at_once, NULL), &pl_err_stale);
	end(&a);
	close(fd);
	recording_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_and_opcodes_come_back),
		cmocka_unit_test(counts_may_begin_anywhere_in_a_chunk),
		cmocka_unit_test(locks_come_back),
		cmocka_unit_test(samples_come_again),
		cmocka_unit_test(a_damaged_recording_comes_again_with_its_holes),
		cmocka_unit_test(what_was_appended_since_does_not_come),
		cmocka_unit_test(a_file_that_changed_is_told),
		cmocka_unit_test(an_error_of_the_caller_is_the_callers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
