/* SPDX-License-Identifier: Apache-2.0 */
/* Function rows and call trees, against the slow and obvious way of counting them. */
#include "view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stats.h"
#include "support.h"

#define MS    1000000ull
#define SEEDS 12

static const struct pl_filter everything = {.idle = PL_IDLE_KEEP};

static const char *name_of(const struct plumb_profile *p, uint32_t function)
{
	return pl_strtab_get(p->strings, p->functions[function].name, NULL);
}

static const struct pl_function_row *find_row(const struct plumb_profile *p, const pl_function_rows *rows,
					      const char *name, int32_t line)
{
	for (size_t i = 0; i < rows->len; i++) {
		if (strcmp(name_of(p, rows->data[i].function), name) == 0 && rows->data[i].line == line)
			return &rows->data[i];
	}
	fail_msg("no row %s:%d", name, line);
	return NULL;
}

static bool shows(const struct plumb_profile *p, uint32_t stack, uint32_t function, int32_t line)
{
	const struct pl_location *l = &p->locations[p->stacks[stack].location];
	return stack && l->function == function && (line == 0 || l->line == line);
}

static bool anywhere(const struct plumb_profile *p, uint32_t stack, uint32_t function, int32_t line)
{
	for (; stack; stack = p->stacks[stack].parent) {
		if (shows(p, stack, function, line))
			return true;
	}
	return false;
}

/* What a row must say: each cell asked one by one. */
static struct pl_share slow_share(const struct plumb_profile *p, const struct pl_filter *f, uint32_t function,
				  int32_t line, bool self)
{
	struct pl_share share = {0};
	uint64_t weight_ns = 0, samples = 0;
	double hit[PL_BATCHES] = {0}, all[PL_BATCHES] = {0};
	for (uint32_t i = 0; i < p->cell_count; i++) {
		const struct pl_cell *c = &p->cells[i];
		if (!pl_view_passes(p, f, c))
			continue;
		weight_ns += c->weight_ns;
		samples += c->samples;
		all[c->batch] += (double)c->weight_ns;
		if (!(self ? shows : anywhere)(p, c->stack, function, line))
			continue;
		share.samples += c->samples;
		share.weight_ns += c->weight_ns;
		hit[c->batch] += (double)c->weight_ns;
	}
	for (int b = 0; b < PL_BATCHES; b++) {
		hit[b] *= (double)samples / (double)weight_ns;
		all[b] *= (double)samples / (double)weight_ns;
	}
	share.share = (double)share.weight_ns / (double)weight_ns;
	share.half_width = pl_stats_share_half_width(hit, all, PL_BATCHES);
	return share;
}

static void assert_near(double a, double b)
{
	assert_true(a - b < 1e-9 && b - a < 1e-9);
}

static void assert_share(struct pl_share a, struct pl_share b)
{
	assert_int_equal(a.samples, b.samples);
	assert_int_equal(a.weight_ns, b.weight_ns);
	assert_near(a.share, b.share);
	assert_near(a.half_width, b.half_width);
}

static void compare_functions(const struct plumb_profile *p, const struct pl_filter *f)
{
	pl_function_rows rows = {0};
	struct pl_totals t = {0};
	uint64_t self = 0;
	check(pl_view_functions(p, f, &rows));
	check(pl_view_totals(p, f, &t));
	for (size_t i = 0; i < rows.len; i++) {
		const struct pl_function_row *r = &rows.data[i];
		const struct pl_function *of = &p->functions[r->function];
		bool known = of->origin == PL_ORIGIN_PYTHON || of->source; /* others have none */
		assert_int_equal(r->line != 0, f->lines && known);
		assert_share(r->self, slow_share(p, f, r->function, r->line, true));
		assert_share(r->total, slow_share(p, f, r->function, r->line, false));
		assert_true(r->total.weight_ns >= r->self.weight_ns && r->total.samples > 0);
		assert_true(i == 0 || rows.data[i - 1].self.weight_ns >= r->self.weight_ns);
		self += r->self.samples;
	}
	for (uint32_t i = 0; i < p->cell_count; i++) /* empty stacks belong to no function */
		self += p->cells[i].stack == 0 && pl_view_passes(p, f, &p->cells[i]) ? p->cells[i].samples : 0;
	assert_int_equal(self, t.samples);
	pl_vec_deinit(&rows);
}

static void function_rows_equal_the_slow_count(void **state)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct plumb_profile *p = random_profile(seed, 500);
		const char *const names[] = {"worker", "1001"};
		compare_functions(p, &everything);
		compare_functions(p, &(struct pl_filter){.idle = PL_IDLE_SKIP_SAMPLES});
		compare_functions(p, &(struct pl_filter){.threads = names, .thread_count = 2});
		compare_functions(p, &(struct pl_filter){.idle = PL_IDLE_KEEP, .lines = true});
		pl_profile_destroy(p);
	}
}

/* The ancestors of row @p at from the root down are path[0] ... path[depth]. */
static bool stack_is_below(const struct plumb_profile *p, const struct pl_tree_row *const *path, uint32_t depth,
			   uint32_t stack, bool *exactly)
{
	*exactly = p->stacks[stack].depth == depth + 1;
	if (p->stacks[stack].depth < depth + 1)
		return false;
	while (p->stacks[stack].depth > depth + 1)
		stack = p->stacks[stack].parent;
	for (uint32_t i = depth + 1; i-- > 0; stack = p->stacks[stack].parent) {
		if (!shows(p, stack, path[i]->function, path[i]->line))
			return false;
	}
	return true;
}

static void compare_tree_row(const struct plumb_profile *p, const struct pl_tree_row *const *path,
			     const struct pl_tree_row *r)
{
	uint64_t self = 0, total = 0, self_ns = 0, total_ns = 0;
	for (uint32_t i = 0; i < p->cell_count; i++) {
		bool exactly = false;
		if (!stack_is_below(p, path, r->depth, p->cells[i].stack, &exactly))
			continue;
		total += p->cells[i].samples;
		total_ns += p->cells[i].weight_ns;
		self += exactly ? p->cells[i].samples : 0;
		self_ns += exactly ? p->cells[i].weight_ns : 0;
	}
	assert_int_equal(r->self.samples, self);
	assert_int_equal(r->total.samples, total);
	assert_int_equal(r->self.weight_ns, self_ns);
	assert_int_equal(r->total.weight_ns, total_ns);
}

static void compare_tree(const struct plumb_profile *p, const struct pl_filter *f, double min_share)
{
	const struct pl_tree_row *path[32] = {0};
	pl_tree_rows rows = {0};
	check(pl_view_tree(p, f, min_share, &rows));
	for (size_t i = 0; i < rows.len; i++) {
		const struct pl_tree_row *r = &rows.data[i];
		assert_true(r->depth < 32 && (i ? r->depth <= rows.data[i - 1].depth + 1 : r->depth == 0));
		/* The last row at this depth is an older sibling if no shallower one came in between. */
		if (i && r->depth <= rows.data[i - 1].depth)
			assert_true(path[r->depth]->total.weight_ns >= r->total.weight_ns);
		path[r->depth] = r;
		compare_tree_row(p, path, r);
		assert_true(r->total.share >= min_share);
		assert_true(r->total.half_width > 0 && r->total.half_width <= 1);
	}
	pl_vec_deinit(&rows);
}

static void tree_rows_equal_the_slow_count(void **state)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct plumb_profile *p = random_profile(seed, 150);
		compare_tree(p, &everything, 0);
		compare_tree(p, &everything, 0.02);
		compare_tree(p, &(struct pl_filter){.idle = PL_IDLE_KEEP, .lines = true}, 0);
		pl_profile_destroy(p);
	}
}

/* ---- the tree of own functions ------------------------------------------------------------------------------------
 */

struct step {
	uint32_t function;
	bool library;
};
#define STEPS_MAX 64

/* What a stack is in that tree, the slow and obvious way. */
static uint32_t own_path(const struct plumb_profile *p, const bool *library, uint32_t stack, struct step *path)
{
	uint32_t functions[STEPS_MAX], depth = p->stacks[stack].depth, len = 0;
	assert_true(depth < STEPS_MAX);
	for (uint32_t i = depth; i-- > 0; stack = p->stacks[stack].parent)
		functions[i] = p->locations[p->stacks[stack].location].function;
	for (uint32_t i = 0; i < depth; i++) {
		uint32_t f = functions[i];
		bool in_library = len && path[len - 1].library;
		if (library[f] && in_library)
			continue;
		if (!library[f] && in_library)
			len--;
		if (!library[f] && len && path[len - 1].function == f)
			continue;
		path[len++] = (struct step){.function = f, .library = library[f]};
	}
	return len;
}

static bool begins_with(const struct step *path, uint32_t len, const struct step *head, uint32_t head_len)
{
	for (uint32_t i = 0; i < head_len; i++) {
		if (i >= len || path[i].function != head[i].function || path[i].library != head[i].library)
			return false;
	}
	return true;
}

static void compare_own_row(const struct plumb_profile *p, const bool *library, const struct step *head, uint32_t len,
			    const struct pl_tree_row *r)
{
	uint64_t self = 0, total = 0, on_cpu = 0;
	for (uint32_t i = 0; i < p->cell_count; i++) {
		const struct pl_cell *c = &p->cells[i];
		struct step path[STEPS_MAX];
		uint32_t path_len = own_path(p, library, c->stack, path);
		if (!begins_with(path, path_len, head, len))
			continue;
		total += c->weight_ns;
		on_cpu += c->state & PL_STATE_ON_CPU ? c->weight_ns : 0;
		self += path_len == len ? c->weight_ns : 0;
	}
	assert_int_equal(r->self.weight_ns, self);
	assert_int_equal(r->total.weight_ns, r->kind == PL_TREE_SELF ? self : total);
	if (r->kind != PL_TREE_SELF)
		assert_int_equal(r->total.on_cpu_ns, on_cpu);
	assert_true(r->total.half_width > 0);
}

static void compare_own_tree(const struct plumb_profile *p, const bool *library)
{
	struct step path[STEPS_MAX];
	pl_tree_rows rows = {0};
	uint64_t sum = 0, all = 0;
	check(pl_view_own_tree(p, &everything, library, 0, &rows));
	for (size_t i = 0; i < rows.len; i++) {
		const struct pl_tree_row *r = &rows.data[i];
		bool self = r->kind == PL_TREE_SELF;
		path[r->depth] = (struct step){.function = r->function, .library = r->kind == PL_TREE_LIBRARY};
		compare_own_row(p, library, path, self ? r->depth : r->depth + 1, r);
		sum += self ? 0 : r->self.weight_ns;
		if (r->kind == PL_TREE_LIBRARY)
			assert_true(library[r->function] && library[r->last] &&
				    r->self.weight_ns == r->total.weight_ns);
	}
	for (uint32_t i = 0; i < p->cell_count; i++)
		all += p->cells[i].stack ? p->cells[i].weight_ns : 0;
	assert_int_equal(sum, all);
	pl_vec_deinit(&rows);
}

static void own_tree_rows_equal_the_slow_count(void **state)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct plumb_profile *p = random_profile(seed, 150);
		bool *library = calloc(p->function_count, sizeof *library);
		assert_non_null(library);
		for (uint64_t chosen = 0; chosen < 4; chosen++) {
			for (uint32_t f = 0; f < p->function_count; f++)
				library[f] = f % 3 >= chosen;
			compare_own_tree(p, library);
		}
		free(library);
		pl_profile_destroy(p);
	}
}

static void what_own_code_calls_is_named_first_and_last(void **state)
{
	struct plumb_profile *p = empty_profile();
	uint32_t t = add_thread(p, 1, 1, "", true), main = add_frame(p, 0, "main", "x.py", 1);
	uint32_t loads = add_frame(p, main, "loads", "json.py", 1),
		 decode = add_frame(p, loads, "decode", "json.py", 2);
	uint32_t hook = add_frame(p, decode, "hook", "x.py", 9), again = add_frame(p, hook, "hook", "x.py", 9);
	add_samples(p, loads, t, PL_STATE_ON_CPU, 0, 10, MS);
	add_samples(p, decode, t, PL_STATE_ON_CPU, 0, 20, MS);
	add_samples(p, again, t, 0, 0, 40, MS);
	add_samples(p, main, t, PL_STATE_ON_CPU, 0, 15, MS);
	bool *library = calloc(p->function_count, sizeof *library);
	assert_non_null(library);
	for (uint32_t f = 0; f < p->function_count; f++)
		library[f] = strcmp(pl_strtab_get(p->strings, p->functions[f].file, NULL), "json.py") == 0;
	pl_tree_rows rows = {0};
	check(pl_view_own_tree(p, &everything, library, 0, &rows));
	assert_int_equal(rows.len, 4); /* main, hook, loads ... decode, self of main */
	assert_string_equal(name_of(p, rows.data[1].function), "hook");
	assert_int_equal(rows.data[1].recursion, 1);
	assert_int_equal(rows.data[1].total.on_cpu_ns, 0);
	assert_int_equal(rows.data[2].kind, PL_TREE_LIBRARY);
	assert_string_equal(name_of(p, rows.data[2].function), "loads");
	assert_string_equal(name_of(p, rows.data[2].last), "decode");
	assert_int_equal(rows.data[2].total.samples, 30);
	assert_int_equal(rows.data[3].kind, PL_TREE_SELF);
	assert_int_equal(rows.data[3].total.samples, 15);
	pl_vec_deinit(&rows);
	free(library);
	pl_profile_destroy(p);
}

static void recursion_counts_once(void **state)
{
	struct plumb_profile *p = empty_profile();
	uint32_t t = add_thread(p, 1, 1, "", true);
	uint32_t main = add_frame(p, 0, "main", "x.py", 1), f = main;
	for (int i = 0; i < 10; i++)
		f = add_frame(p, f, "fib", "x.py", 5);
	add_samples(p, f, t, PL_STATE_ON_CPU, 0, 30, MS);
	add_samples(p, main, t, PL_STATE_ON_CPU, 0, 10, MS);
	pl_function_rows rows = {0};
	check(pl_view_functions(p, &everything, &rows));
	assert_int_equal(rows.len, 2);
	const struct pl_function_row *fib = find_row(p, &rows, "fib", 0), *top = find_row(p, &rows, "main", 0);
	assert_int_equal(fib->total.samples, 30);
	assert_int_equal(fib->self.samples, 30);
	assert_near(fib->total.share, 0.75);
	assert_int_equal(top->total.samples, 40);
	assert_int_equal(top->self.samples, 10);
	pl_vec_deinit(&rows);
	pl_profile_destroy(p);
}

static void mutual_recursion_counts_once_each(void **state)
{
	struct plumb_profile *p = empty_profile();
	uint32_t t = add_thread(p, 1, 1, "", true), f = 0;
	for (int i = 0; i < 6; i++)
		f = add_frame(p, f, i % 2 ? "odd" : "even", "x.py", 5);
	add_samples(p, f, t, PL_STATE_ON_CPU, 0, 8, MS);
	pl_function_rows rows = {0};
	check(pl_view_functions(p, &everything, &rows));
	assert_int_equal(find_row(p, &rows, "odd", 0)->total.samples, 8);
	assert_int_equal(find_row(p, &rows, "even", 0)->total.samples, 8);
	assert_int_equal(find_row(p, &rows, "even", 0)->self.samples, 0);
	pl_vec_deinit(&rows);
	pl_profile_destroy(p);
}

static void lines_are_merged_unless_asked_for(void **state)
{
	struct plumb_profile *p = empty_profile();
	uint32_t t = add_thread(p, 1, 1, "", true);
	add_samples(p, add_frame(p, add_frame(p, 0, "main", "x.py", 1), "f", "x.py", 5), t, 0, 0, 3, MS);
	add_samples(p, add_frame(p, add_frame(p, 0, "main", "x.py", 2), "f", "x.py", 6), t, 0, 0, 1, MS);
	pl_function_rows rows = {0};
	pl_tree_rows tree = {0};
	check(pl_view_functions(p, &everything, &rows));
	assert_int_equal(rows.len, 2);
	check(pl_view_tree(p, &everything, 0, &tree));
	assert_int_equal(tree.len, 2);
	assert_int_equal(tree.data[1].total.samples, 4);
	pl_vec_deinit(&rows);
	pl_vec_deinit(&tree);
	struct pl_filter lines = {.idle = PL_IDLE_KEEP, .lines = true};
	check(pl_view_functions(p, &lines, &rows));
	assert_int_equal(rows.len, 4);
	assert_int_equal(find_row(p, &rows, "f", 5)->self.samples, 3);
	assert_int_equal(find_row(p, &rows, "main", 2)->total.samples, 1);
	check(pl_view_tree(p, &lines, 0, &tree));
	assert_int_equal(tree.len, 4);
	assert_int_equal(tree.data[0].line, 1); /* heaviest first */
	assert_int_equal(tree.data[2].line, 2);
	pl_vec_deinit(&rows);
	pl_vec_deinit(&tree);
	pl_profile_destroy(p);
}

/* CPU time: few heavy samples outweigh many light ones. */
static void shares_are_of_the_weight(void **state)
{
	struct plumb_profile *p = empty_profile();
	uint32_t t = add_thread(p, 1, 1, "", true);
	add_samples(p, add_frame(p, 0, "light", "x.py", 1), t, 0, 0, 90, MS);
	add_samples(p, add_frame(p, 0, "heavy", "x.py", 1), t, 0, 0, 10, 91 * MS);
	pl_function_rows rows = {0};
	check(pl_view_functions(p, &everything, &rows));
	assert_string_equal(name_of(p, rows.data[0].function), "heavy");
	assert_near(rows.data[0].self.share, 0.91);
	assert_int_equal(rows.data[0].self.samples, 10);
	/* The interval is that of 100 trials, not of a billion nanoseconds. */
	assert_near(rows.data[0].self.half_width, pl_stats_wilson_half_width(91, 100));
	pl_vec_deinit(&rows);
	pl_profile_destroy(p);
}

static void equal_rows_are_in_the_order_of_their_names(void **state)
{
	struct plumb_profile *p = empty_profile();
	uint32_t t = add_thread(p, 1, 1, "", true);
	static const char *const names[] = {"c", "a", "d", "b"};
	for (int i = 0; i < 4; i++)
		add_samples(p, add_frame(p, 0, names[i], "x.py", 1), t, 0, 0, 5, MS);
	pl_function_rows rows = {0};
	pl_tree_rows tree = {0};
	check(pl_view_functions(p, &everything, &rows));
	check(pl_view_tree(p, &everything, 0, &tree));
	for (int i = 0; i < 4; i++) {
		const char expected[] = {(char)('a' + i), '\0'};
		assert_string_equal(name_of(p, rows.data[i].function), expected);
		assert_string_equal(name_of(p, tree.data[i].function), expected);
	}
	pl_vec_deinit(&rows);
	pl_vec_deinit(&tree);
	pl_profile_destroy(p);
}

/* 65,536 frames, as two functions in turn: neither the C stack nor the clock may notice. */
static void the_deepest_stacks_are_shown(void **state)
{
	struct plumb_profile *p = empty_profile();
	uint32_t t = add_thread(p, 1, 1, "", true), f = 0;
	for (int i = 0; i < 65536; i++) {
		f = add_frame(p, f, i % 2 ? "g" : "f", "x.py", 5);
		if (i >= 60000)
			add_samples(p, f, t, 0, (uint64_t)(i - 60000) * PL_BATCH_MIN_NS, 1, MS);
	}
	pl_function_rows rows = {0};
	pl_tree_rows tree = {0};
	check(pl_view_functions(p, &everything, &rows));
	assert_int_equal(rows.len, 2);
	assert_int_equal(rows.data[0].total.samples, 5536);
	check(pl_view_tree(p, &everything, 0, &tree));
	assert_int_equal(tree.len, 65536);
	assert_int_equal(tree.data[65535].depth, 65535);
	assert_int_equal(tree.data[65535].total.samples, 1);
	pl_vec_deinit(&rows);
	pl_vec_deinit(&tree);
	pl_profile_destroy(p);
}

static void waves_widen_the_interval(void **state)
{
	struct plumb_profile *steady = empty_profile(), *waves = empty_profile();
	uint32_t t = add_thread(steady, 1, 1, "", true);
	add_thread(waves, 1, 1, "", true);
	uint32_t a[2] = {add_frame(steady, 0, "a", "x.py", 1), add_frame(steady, 0, "b", "x.py", 1)};
	add_frame(waves, 0, "a", "x.py", 1);
	add_frame(waves, 0, "b", "x.py", 1);
	for (uint64_t i = 0; i < 2000; i++) {
		uint64_t at = i * PL_BATCH_MIN_NS / 40;
		add_samples(steady, a[i % 2], t, 0, at, 1, MS);
		add_samples(waves, a[i / 200 % 2], t, 0, at, 1, MS);
	}
	pl_function_rows x = {0}, y = {0};
	check(pl_view_functions(steady, &everything, &x));
	check(pl_view_functions(waves, &everything, &y));
	assert_near(x.data[0].self.share, 0.5);
	assert_near(y.data[0].self.share, 0.5);
	assert_true(x.data[0].self.half_width < 0.023);
	assert_true(y.data[0].self.half_width > 5 * x.data[0].self.half_width);
	pl_vec_deinit(&x);
	pl_vec_deinit(&y);
	pl_profile_destroy(steady);
	pl_profile_destroy(waves);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(function_rows_equal_the_slow_count),
		cmocka_unit_test(tree_rows_equal_the_slow_count),
		cmocka_unit_test(own_tree_rows_equal_the_slow_count),
		cmocka_unit_test(what_own_code_calls_is_named_first_and_last),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(mutual_recursion_counts_once_each),
		cmocka_unit_test(lines_are_merged_unless_asked_for),
		cmocka_unit_test(shares_are_of_the_weight),
		cmocka_unit_test(equal_rows_are_in_the_order_of_their_names),
		cmocka_unit_test(the_deepest_stacks_are_shown),
		cmocka_unit_test(waves_widen_the_interval),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
