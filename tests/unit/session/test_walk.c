/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as a tree and as figures, and saved. */
#include "unit.h"

#include <plumb/plumb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

struct text {
	char s[2048];
	size_t len;
	int stop_after;
};

static struct plumb_error *note(void *ctx, const struct plumb_tree_node *n)
{
	struct text *t = ctx;

	if (t->stop_after && --t->stop_after == 0)
		return pl_error(PLUMB_ERR_LIMIT, "enough");
	t->len += (size_t)snprintf(t->s + t->len, sizeof t->s - t->len, "%*s%s:%d %d%s\n", (int)n->depth, "", n->name,
				   (int)n->line, (int)n->samples, n->kind == PLUMB_KIND_MARKER ? " marker" : "");
	assert_true(strlen(n->name) == n->name_len && strlen(n->file) == n->file_len &&
		    strlen(n->qualname) == n->qualname_len);
	return NULL;
}

/* main -> work (two lines of it) -> leaf, in two threads; the second thread saw other(...) first. */
static struct plumb_profile *small_profile(void)
{
	struct plumb_profile *p;

	check(pl_profile_create(&p));
	uint32_t one = add_thread(p, 1, 1, "MainThread", true), two = add_thread(p, 1, 2, "t", false);
	uint32_t top = add_frame(p, 0, "main", "m.py", 3), other = add_frame(p, 0, "other", "m.py", 30);
	uint32_t work = add_frame(p, top, "work", "m.py", 12), again = add_frame(p, top, "work", "m.py", 11), gc;

	check(pl_profile_marker(p, work, "<GC>", &gc));
	add_samples(p, add_frame(p, work, "leaf", "m.py", 22), one, PL_STATE_ON_CPU, 0, 2, 100);
	add_samples(p, other, two, 0, 0, 1, 100);
	add_samples(p, again, two, PL_STATE_HAS_GIL, 100, 4, 100);
	add_samples(p, gc, one, PL_STATE_IN_GC, 200, 1, 100);
	p->meta.ticks = 5;
	p->meta.losses[PL_LOSS_MISSED] = 6;
	p->meta.period_ns = 100;
	return p;
}

static void threads_and_lines_are_added_up(void **state)
{
	struct plumb_profile *p = small_profile();
	struct text t = {.len = 0};

	assert_ok(plumb_profile_walk(p, note, &t));
	assert_string_equal(t.s, ":0 8\n"
				 " main:3 7\n"
				 "  work:12 7\n"
				 "   leaf:22 2\n"
				 "   <GC>:0 1 marker\n"
				 " other:30 1\n");
	t = (struct text){.stop_after = 3};
	assert_code(plumb_profile_walk(p, note, &t), PLUMB_ERR_LIMIT);
	assert_string_equal(t.s, ":0 8\n main:3 7\n");
	plumb_profile_destroy(p);
}

static struct plumb_error *note_text(void *ctx, const struct plumb_tree_node *n)
{
	struct text *t = ctx;

	if (n->text)
		t->len += (size_t)snprintf(t->s + t->len, sizeof t->s - t->len, "%s:%.*s\n", n->name, (int)n->text_len,
					   n->text);
	return NULL;
}

/* The file is there, and its name is that of a profile, which anybody may have made. */
static void lines_are_of_the_texts_that_it_has(void **state)
{
	static const bool imported[] = {false, true};

	for (size_t i = 0; i < 2; i++) {
		struct plumb_profile *p;
		struct text t = {.len = 0};

		check(pl_profile_create(&p));
		uint32_t thread = add_thread(p, 1, 1, "MainThread", true), file;
		uint32_t top = add_frame(p, 0, "main", "m.py", 2), named = add_frame(p, top, "named", __FILE__, 1);
		check(pl_profile_string(p, "m.py", 4, &file));
		check(pl_profile_source(p, file, "first\n  second\n", 15, false));
		add_samples(p, named, thread, 0, 0, 1, 100);
		p->meta.imported = imported[i];
		struct plumb_lines *lines = plumb_lines_create(p);
		assert_non_null(lines);
		assert_ok(plumb_profile_walk_lines(p, lines, note_text, &t));
		assert_string_equal(t.s, imported[i] ? "" : "main:second\n");
		plumb_lines_destroy(lines);
		plumb_profile_destroy(p);
	}
}

static struct plumb_error *count(void *ctx, const struct plumb_tree_node *n)
{
	++*(uint32_t *)ctx;
	return NULL;
}

/* Of one in memory nobody knows how long its file would be. */
static void a_small_file_has_no_tree_of_any_size(void **state)
{
	struct plumb_profile *p;
	uint32_t seen = 0, main_stack, at, location = 0;
	const uint32_t calls = (1 << 18) + 10;

	check(pl_profile_create(&p));
	at = main_stack = add_frame(p, 0, "main", "m.py", 3);
	for (uint32_t i = 0; i < calls; i++) {
		char name[16];

		snprintf(name, sizeof name, "f%u", i);
		if (i % 1000 == 0)
			location = p->stacks[at = add_frame(p, main_stack, name, "m.py", 4)].location;
		else
			check(pl_profile_stack(p, at, location, &at));
		if (i % 1000 == 999 || i == calls - 1)
			add_samples(p, at, add_thread(p, 1, i + 1, "t", false), 0, 0, 1, 100);
	}
	p->meta.file_bytes = 5;
	assert_code(plumb_profile_walk(p, count, &seen), PLUMB_ERR_LIMIT);
	assert_int_equal(seen, 0);
	p->meta.file_bytes = 6;
	assert_ok(plumb_profile_walk(p, count, &seen));
	assert_int_equal(seen, calls + 2);
	p->meta.file_bytes = 0;
	assert_ok(plumb_profile_walk(p, count, &seen));
	plumb_profile_destroy(p);
}

static void an_empty_profile_is_a_root(void **state)
{
	struct plumb_profile *p;
	struct text t = {.len = 0};

	check(pl_profile_create(&p));
	assert_ok(plumb_profile_walk(p, note, &t));
	assert_string_equal(t.s, ":0 0\n");
	plumb_profile_destroy(p);
}

static void figures_are_told(void **state)
{
	struct plumb_profile *p = small_profile();
	struct plumb_profile_info i;

	plumb_profile_info(p, &i);
	assert_true(i.samples == 8 && i.weight_ns == 800 && i.threads == 2 && i.processes == 1);
	assert_true(i.ticks == 5 && i.missed == 6 && i.period_ns == 100 && i.exact == 8 && i.partial == 0);
	assert_string_equal(i.mode, "wall");
	assert_string_equal(i.engine, "");
	plumb_profile_destroy(p);
}

static int files_in(const char *dir)
{
	char command[128];
	int n = 0;

	snprintf(command, sizeof command, "ls %s", dir);
	FILE *f = popen(command, "r");
	for (int c = fgetc(f); c != EOF; c = fgetc(f))
		n += c == '\n';
	pclose(f);
	return n;
}

/* Also onto the recording that it is read from. */
static void what_is_saved_is_read_back(void **state)
{
	char dir[] = "/tmp/plumb-walk-XXXXXX", path[64];
	struct plumb_profile *p = small_profile(), *q;
	struct plumb_recording_info info;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/a.plumb", dir);
	assert_ok(plumb_profile_save(p, path));
	assert_ok(plumb_profile_open(path, &info, &q));
	for (int i = 0; i < 2; i++) {
		struct text t = {.len = 0};

		assert_ok(plumb_profile_walk(q, note, &t));
		assert_non_null(strstr(t.s, "   leaf:22 2\n"));
		assert_ok(plumb_profile_save(q, path));
	}
	plumb_profile_destroy(q);
	assert_int_equal(files_in(dir), 1);
	assert_code(plumb_profile_save(p, "/proc/nowhere/a.plumb"), PLUMB_ERR_WRITE_FAILED);
	assert_ok(plumb_profile_save(p, "/dev/null"));
	struct stat st;
	assert_true(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
	unlink(path);
	assert_int_equal(rmdir(dir), 0);
	plumb_profile_destroy(p);
}

static uint64_t samples_in(const char *path)
{
	struct plumb_profile_info i;
	struct plumb_profile *p;

	assert_ok(plumb_profile_open(path, NULL, &p));
	plumb_profile_info(p, &i);
	plumb_profile_destroy(p);
	return i.samples;
}

/* It takes the place of one that tells nothing, too, and of the other if that is said. */
static void a_profile_without_samples_replaces_none_with_some(void **state)
{
	char dir[] = "/tmp/plumb-walk-XXXXXX", path[64];
	struct plumb_profile *p = small_profile(), *empty;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/a.plumb", dir);
	check(pl_profile_create(&empty));
	assert_ok(plumb_profile_save(empty, path));
	assert_ok(plumb_profile_save(empty, path));
	assert_ok(plumb_profile_save(p, path));
	assert_code(plumb_profile_save(empty, path), PLUMB_ERR_EXISTS);
	assert_int_equal(samples_in(path), 8);
	assert_int_equal(files_in(dir), 1);
	assert_ok(plumb_profile_save_as(empty, path, true));
	assert_int_equal(samples_in(path), 0);
	unlink(path);
	assert_int_equal(rmdir(dir), 0);
	plumb_profile_destroy(empty);
	plumb_profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_and_lines_are_added_up),
		cmocka_unit_test(lines_are_of_the_texts_that_it_has),
		cmocka_unit_test(a_small_file_has_no_tree_of_any_size),
		cmocka_unit_test(an_empty_profile_is_a_root),
		cmocka_unit_test(figures_are_told),
		cmocka_unit_test(what_is_saved_is_read_back),
		cmocka_unit_test(a_profile_without_samples_replaces_none_with_some),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
