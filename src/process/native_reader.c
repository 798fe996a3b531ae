/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process, sampling thread only. See native_reader.h. */
#include "native_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "native_stack.h"

#define LOOK_MIN_NS                                                                                                    \
	200000000ull /* between two looks at what is mapped: twice as long after each that finds nothing               \
		      */
#define LOOK_MAX_NS  10000000000ull
#define NAME_MAX_LEN 512
#define CODES_MAX    (1u << 18)		   /* places that are remembered */
#define STEPS	     (PL_UNWIND_STEPS / 8) /* for a sample: 5,000 frames, or some ten milliseconds of what makes no sense */

struct plumb_error *pl_native_reader_create(pid_t pid, struct pl_mem *live, const struct pl_py *py, bool all,
					    struct pl_native_reader **ret)
{
	struct pl_native_reader *n = calloc(1, sizeof *n);

	if (!n)
		return &pl_err_no_memory;
	struct plumb_error *err = pl_native_create(pid, live, py, all, UINT64_MAX, &n->native);
	if (err) {
		free(n);
		return err;
	}
	n->native->steps = STEPS;
	n->pause_ns = LOOK_MIN_NS;
	*ret = n;
	return NULL;
}

void pl_native_reader_destroy(struct pl_native_reader *n)
{
	if (!n)
		return;
	pl_native_taken_deinit(&n->taken);
	pl_native_destroy(n->native);
	pl_map_deinit(&n->codes);
	free(n);
}

void pl_native_reader_take(struct pl_native_reader *n, const struct pl_stack_reader *s, pid_t tid,
			   const struct pl_activity_info *info)
{
	const struct pl_native_thread t = {tid, s->tstate, &s->frames};

	if (info)
		pl_native_take_blocked(n->native, &t, info, &n->taken);
	else
		pl_native_take_stopped(n->native, &t, &n->taken);
}

/* ---- functions as code ------------------------------------------------------------------------------------------- */

/* One that has no name is called by its file and its place in it. */
static const char *name_of(const struct pl_native_place *p, const struct pl_native_frame *f, const char *name,
			   char buf[static NAME_MAX_LEN])
{
	if (name)
		return name;
	if (f->image >= p->images.len)
		return "<code that is in no file>";
	const char *path = p->files.data[f->image].map->path, *slash = strrchr(path, '/');
	pl_addr at = f->function ? f->function : pl_native_frame_place(f);
	snprintf(buf, NAME_MAX_LEN, "%.200s+0x%llx", slash ? slash + 1 : path,
		 (unsigned long long)(at - p->images.data[f->image].bias));
	return buf;
}

/* The id of a code, remembered by @p key. */
static struct plumb_error *remember(struct pl_native_reader *n, struct pl_reader *r, pl_addr key, const char *name,
				    const char *file, uint32_t *ret)
{
	struct plumb_error *err = pl_code_store_native(r->codes.store, name, file, r->codes.process, ret);

	if (n->codes.len >= CODES_MAX) /* code that is made anew all the time */
		pl_map_clear(&n->codes);
	return err || pl_map_set(&n->codes, key, 0, *ret) ? err : &pl_err_no_memory;
}

static struct plumb_error *code_of(struct pl_native_reader *n, struct pl_reader *r, const struct pl_native_stack *stack,
				   uint32_t i, uint32_t *ret)
{
	const struct pl_native_place *p = &n->native->place;
	const struct pl_native_frame *f = &stack->native.data[i];
	pl_addr key = f->function ? f->function : pl_native_frame_place(f);
	char buf[NAME_MAX_LEN];

	if (pl_map_get(&n->codes, key, 0, ret))
		return NULL;
	const char *file = f->image < p->images.len ? p->files.data[f->image].map->path : "";
	return remember(n, r, key, name_of(p, f, stack->names[i], buf), file, ret);
}

/* ---- what is mapped ---------------------------------------------------------------------------------------------- */

static bool meets_the_unknown(const struct pl_native_stack *stack)
{
	for (size_t i = 0; i < stack->native.len; i++)
		if (stack->native.data[i].image == PL_NO_IMAGE)
			return true;
	return false;
}

/* Code that is in no image: a library was loaded meanwhile, or a JIT compiler has made it. True: there is more now. */
static bool look_again(struct pl_native_reader *n)
{
	uint64_t now = pl_clock_monotonic_ns();
	bool changed = false;

	if (now < n->look_ns)
		return false;
	struct plumb_error *err = pl_native_place_look(&n->native->place, &changed);
	plumb_error_destroy(err); /* it is as it was */
	n->pause_ns = changed ? LOOK_MIN_NS : n->pause_ns < LOOK_MAX_NS ? 2 * n->pause_ns : n->pause_ns;
	n->look_ns = now + n->pause_ns;
	if (changed)
		pl_map_clear(&n->codes);
	return changed;
}

static struct plumb_error *make_stack(struct pl_native_reader *n, struct pl_native_stack *stack)
{
	struct plumb_error *err = pl_native_stack_make(n->native, &n->taken, stack);

	if (err || !meets_the_unknown(stack) || !look_again(n))
		return err;
	pl_native_stack_deinit(stack);
	return pl_native_stack_make(n->native, &n->taken, stack);
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

/* From the root inwards, one frame after the other. */
struct path {
	struct pl_native_reader *n;
	struct pl_reader *r;
	const pl_seen_vec *seen; /* Python frames, root first */
	const struct pl_native_stack *stack;
	uint32_t node;
};

static struct plumb_error *add_code(struct path *p, uint32_t code, int32_t offset, uint16_t opcode)
{
	return pl_trie_child(p->r->trie, p->node, code, offset, opcode, &p->node);
}

static struct plumb_error *add_native(struct path *p, uint32_t i)
{
	uint32_t code;
	struct plumb_error *err = code_of(p->n, p->r, p->stack, i, &code);

	return err ? err : add_code(p, code, 0, 0);
}

/* No function begins at 0. */
static struct plumb_error *add_gap(struct path *p)
{
	uint32_t code;
	struct plumb_error *err = NULL;

	if (!pl_map_get(&p->n->codes, 0, 0, &code))
		err = remember(p->n, p->r, 0, "<missing frames>", "", &code);
	return err ? err : add_code(p, code, 0, 0);
}

static struct plumb_error *add_entry(struct path *p, const struct pl_join_entry *e)
{
	if (e->kind == PL_JOIN_MISSING)
		return add_gap(p);
	if (e->kind != PL_JOIN_PYTHON)
		return add_native(p, e->index);
	if (e->index >= p->seen->len)
		return NULL;
	const struct pl_seen_frame *f = &p->seen->data[p->seen->len - 1 - e->index];
	return add_code(p, f->code_id, f->offset, f->opcode);
}

static struct plumb_error *add_entries(struct path *p)
{
	const pl_join_vec *entries = &p->stack->entries;
	struct plumb_error *err = NULL;

	for (size_t i = entries->len; i-- > 0 && !err;)
		err = add_entry(p, &entries->data[i]);
	return err;
}

struct plumb_error *pl_native_reader_node(struct pl_native_reader *n, struct pl_reader *r,
					  const struct pl_stack_reader *s, uint32_t *ret)
{
	struct pl_native_stack stack = {0};
	struct path p = {.n = n, .r = r, .seen = &s->seen.now, .stack = &stack};

	*ret = 0;
	if (!n->taken.taken || pl_native_taken_python(&n->taken) != s->seen.now.len)
		return NULL;
	struct plumb_error *err = make_stack(n, &stack);
	if (!err && stack.joined != PL_JOINED_APART)
		err = add_entries(&p);
	pl_native_stack_deinit(&stack);
	n->taken.taken = false;
	if (err == &pl_err_limit)
		return NULL;
	*ret = err ? 0 : p.node;
	return err;
}
