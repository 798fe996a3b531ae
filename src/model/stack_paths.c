/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of several samples at once (layer model). One owner at a time.
 *
 * Each frame of a stack is looked for under the one before, in a table that no cache holds. What a stack waits for is
 * fetched while the others of the batch take a step. Rows that are new are added stack by stack, so that ids follow the
 * order of appearance. */
#include <assert.h>

#include "index.h"
#include "profile.h"

struct walk {
	uint32_t stack, at; /* with so many frames of the path */
	uint32_t hash;	    /* of the next one */
};

static bool find_next(const struct plumb_profile *p, const struct pl_stack_path *path, struct walk *w)
{
	const struct pl_row_index *x = &p->index->stacks;
	uint32_t location = path->frames[w->at], row;

	for (size_t at = pl_row_index_start(x, w->hash); pl_row_index_next(x, w->hash, &at, &row);) {
		if (p->stacks[row].parent != w->stack || p->stacks[row].location != location)
			continue;
		w->stack = row;
		w->at++;
		return true;
	}
	return false;
}

static void expect_slot(const struct plumb_profile *p, const struct pl_stack_path *path, struct walk *w)
{
	w->hash = pl_stack_hash(w->stack, path->frames[w->at]);
	pl_row_index_expect(&p->index->stacks, w->hash);
}

static void expect_row(const struct plumb_profile *p, const struct walk *w)
{
	size_t at = pl_row_index_start(&p->index->stacks, w->hash);
	uint32_t row;

	if (pl_row_index_next(&p->index->stacks, w->hash, &at, &row))
		__builtin_prefetch(&p->stacks[row]);
}

/* Each as far as its frames are in the table: all take a step in turn. */
static void find_known(const struct plumb_profile *p, const struct pl_stack_path *paths, struct walk *walks,
		       size_t count)
{
	uint8_t going[PL_TOGETHER];
	size_t left = 0;

	for (size_t i = 0; i < count; i++) {
		if (paths[i].count)
			going[left++] = (uint8_t)i;
	}
	while (left) {
		size_t stay = 0;

		for (size_t i = 0; i < left; i++)
			expect_slot(p, &paths[going[i]], &walks[going[i]]);
		for (size_t i = 0; i < left; i++)
			expect_row(p, &walks[going[i]]);
		for (size_t i = 0; i < left; i++) {
			uint8_t k = going[i];

			if (find_next(p, &paths[k], &walks[k]) && walks[k].at < paths[k].count)
				going[stay++] = k;
		}
		left = stay;
	}
}

struct plumb_error *pl_profile_stack_paths(struct plumb_profile *p, struct pl_stack_path *paths, size_t count)
{
	struct walk walks[PL_TOGETHER];
	struct plumb_error *err = NULL;

	assert(count <= PL_TOGETHER);
	for (size_t i = 0; i < count; i++)
		walks[i] = (struct walk){.stack = paths[i].stack};
	find_known(p, paths, walks, count);
	for (size_t i = 0; i < count && !err; i++) {
		uint32_t stack = walks[i].stack;

		for (size_t k = walks[i].at; k < paths[i].count && !err; k++)
			err = pl_profile_stack(p, stack, paths[i].frames[k], &stack);
		paths[i].stack = stack;
	}
	return err;
}
