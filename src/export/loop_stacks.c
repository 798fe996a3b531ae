/* SPDX-License-Identifier: Apache-2.0 */
/* Which frames of a stack are an event loop's, and which it called. Layer export; pure.
 *
 * asyncio's loop in Python is seen by its _run_once(); of one in C (uvloop) what started it is, where that is asyncio's
 * or uvloop's run() or aiohttp's, and with --native its library. Trio's is one generator. With --tasks a stack that a
 * task has is the chain of its coroutines, without the loop. */
#include "loop_holds.h"

#include <stdlib.h>

#include "frame_name.h"

/* How far below the loop frames are told apart: nobody names a function 200 calls deep. */
#define FRAMES_MAX 200

static const struct {
	const char *name, *file;
} loops[] = {
	{"_run_once", "/asyncio/base_events.py"},
	{"run", "/asyncio/runners.py"},
	{"run_app", "/aiohttp/web.py"}, /* these two call run_until_complete() themselves */
	{"run", "/aiohttp/worker.py"},
	{"unrolled_run", "/trio/_core/_run.py"},
};

static const struct pl_function *function_of(const struct plumb_profile *p, uint32_t stack)
{
	return &p->functions[p->locations[p->stacks[stack].location].function];
}

static bool is_in_folder(const struct plumb_profile *p, const struct pl_function *f, const char *folder)
{
	struct pl_text file = pl_text_of(p, f->file), name = pl_text_basename(file);

	return pl_text_ends_with((struct pl_text){file.s, file.len - name.len}, folder);
}

static bool is_loop(const struct plumb_profile *p, const struct pl_function *f)
{
	if (f->origin == PL_ORIGIN_NATIVE)
		return is_in_folder(p, f, "/uvloop/");
	for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
		if (pl_frame_is(p, f, loops[i].name, loops[i].file))
			return true;
	}
	return false;
}

/* What a loop calls to do its own work, and native code on the way. */
static bool is_machinery(const struct plumb_profile *p, const struct pl_function *f)
{
	static const char *const folders[] = {"/asyncio/", "/uvloop/", "/trio/_core/"};

	if (f->origin != PL_ORIGIN_PYTHON)
		return true;
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		if (is_in_folder(p, f, folders[i]))
			return true;
	}
	return pl_text_ends_with(pl_text_of(p, f->file), "/selectors.py");
}

/* The outermost frame of a thread's own stack; those of tasks are coroutines. */
static bool starts_thread(const struct plumb_profile *p, const struct pl_function *f)
{
	struct pl_text file = pl_text_of(p, f->file);

	return f->origin != PL_ORIGIN_PYTHON || pl_frame_is(p, f, "<module>", "") ||
	       pl_frame_is(p, f, "_bootstrap", "") || (file.len && file.s[0] == '<');
}

/* Of each function what it is, so that names are looked at once. */
enum { LOOP = 1, MACHINERY = 2, STARTS = 4 };

static uint8_t *look_at_functions(const struct plumb_profile *p)
{
	uint8_t *what = calloc((size_t)p->function_count + 1, sizeof *what);

	for (uint32_t i = 0; what && i < p->function_count; i++) {
		const struct pl_function *f = &p->functions[i];

		what[i] = (uint8_t)((is_loop(p, f) ? LOOP : 0) | (is_machinery(p, f) ? MACHINERY : 0) |
				    (starts_thread(p, f) ? STARTS : 0));
	}
	return what;
}

/* Callers have smaller ids than what they call, so one pass sees all. */
static void look_at_stacks(struct pl_loop_stacks *l, const uint8_t *what, bool *below)
{
	const struct plumb_profile *p = l->p;

	for (uint32_t i = 1; i < p->stack_count; i++) {
		uint32_t parent = p->stacks[i].parent;
		uint8_t is = what[p->locations[p->stacks[i].location].function];
		bool task = p->waited.looks && !parent && !(is & STARTS);

		below[i] = below[parent] || (is & LOOP);
		if (l->entry[parent])
			l->entry[i] = l->entry[parent];
		else if (task || (below[parent] && !(is & (LOOP | MACHINERY))))
			l->entry[i] = i;
		l->own[i] = below[i] && !l->entry[i];
		l->inner[i] = i;
		if (l->entry[i] && p->stacks[i].depth - p->stacks[l->entry[i]].depth > FRAMES_MAX)
			l->inner[i] = l->inner[parent];
	}
}

struct plumb_error *pl_loop_stacks_init(struct pl_loop_stacks *l, const struct plumb_profile *p)
{
	uint8_t *what = look_at_functions(p);
	bool *below = calloc((size_t)p->stack_count + 1, sizeof *below);
	struct plumb_error *err = &pl_err_no_memory;

	*l = (struct pl_loop_stacks){.p = p,
				     .entry = calloc((size_t)p->stack_count + 1, sizeof *l->entry),
				     .inner = calloc((size_t)p->stack_count + 1, sizeof *l->inner),
				     .own = calloc((size_t)p->stack_count + 1, sizeof *l->own),
				     .threads = calloc((size_t)p->thread_count + 1, sizeof *l->threads)};
	if (what && below && l->entry && l->inner && l->own && l->threads) {
		look_at_stacks(l, what, below);
		for (uint32_t i = 0; i < p->cell_count; i++) {
			l->threads[p->cells[i].thread] |= below[p->cells[i].stack];
			l->any |= below[p->cells[i].stack];
		}
		err = NULL;
	}
	free(what);
	free(below);
	return err;
}

void pl_loop_stacks_deinit(struct pl_loop_stacks *l)
{
	free(l->entry);
	free(l->inner);
	free(l->own);
	free(l->threads);
}

/* How many frames are between it and what the loop called. */
static uint32_t depth_in_call(const struct pl_loop_stacks *l, uint32_t stack)
{
	return l->p->stacks[stack].depth - l->p->stacks[l->entry[stack]].depth;
}

static uint32_t caller_of(const struct plumb_profile *p, uint32_t stack, uint32_t frames)
{
	for (; frames; frames--)
		stack = p->stacks[stack].parent;
	return stack;
}

/* What is on the way to what the loop called need not be equally deep, and may be deep. */
uint32_t pl_loop_stacks_shared(const struct pl_loop_stacks *l, uint32_t a, uint32_t b)
{
	const struct plumb_profile *p = l->p;
	uint32_t deep_a = depth_in_call(l, l->inner[a]), deep_b = depth_in_call(l, l->inner[b]);
	uint32_t left = deep_a < deep_b ? deep_a : deep_b, shared;

	a = caller_of(p, l->inner[a], deep_a - left);
	b = caller_of(p, l->inner[b], deep_b - left);
	/* From the inside out: what is below the outermost difference is not shared. */
	for (shared = a; a != b && left; left--, a = p->stacks[a].parent, b = p->stacks[b].parent) {
		if (function_of(p, a) != function_of(p, b))
			shared = p->stacks[a].parent;
	}
	return shared;
}
