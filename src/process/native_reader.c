/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process, sampling thread only. See native_reader.h. */
#include "native_reader.h"

#include <stdio.h>
#include <stdlib.h>

#include "c_stack.h"
#include "clock.h"
#include "debug.h"
#include "native_stack.h"

#define CODES_MAX   (1u << 18)		  /* places that are remembered */
#define MODULES_MAX 4096u		  /* files */
#define STEPS	    (PL_UNWIND_STEPS / 8) /* for a sample: 5,000 frames, or some ten milliseconds of what makes no sense */
#define STEP_WORK   16u			  /* of a ration */
#define COPIED	    8u			  /* bytes, for one unit of it */

static void note_work(struct pl_native_reader *n, uint64_t units)
{
	pl_ration_end(&n->ration, &(struct pl_work){.spent = units});
}

struct plumb_error *pl_native_reader_create(pid_t pid, struct pl_mem *live, const struct pl_py *py,
					    struct pl_native_reader **ret)
{
	struct pl_native_reader *n = calloc(1, sizeof *n);

	if (!n)
		return &pl_err_no_memory;
	(void)pl_ration_begin(&n->ration, pl_clock_monotonic_ns());
	struct plumb_error *err = pl_native_create(pid, live, py, true, UINT64_MAX, &n->native);
	if (err) {
		free(n);
		return err;
	}
	/* The file of the interpreter was looked into to find it: this one answers. Where its eval loop begins is asked
	 * for with each sample then. */
	uint32_t python = pl_native_image_of_python(n->native);
	if (!pl_evals_have_anchors(py) && python != PL_NO_IMAGE)
		pl_native_place_read_evals(&n->native->place, python);
	n->native->steps = STEPS;
	note_work(n, pl_native_reader_work(n));
	*ret = n;
	return NULL;
}

void pl_native_reader_destroy(struct pl_native_reader *n)
{
	if (!n)
		return;
	pl_native_taken_deinit(&n->taken);
	pl_native_destroy(n->native);
	pl_native_look_deinit(&n->look);
	pl_map_deinit(&n->codes);
	pl_vec_deinit(&n->roles);
	free(n);
}

uint64_t pl_native_reader_work(const struct pl_native_reader *n)
{
	return n->native->place.look_work + n->native->place.work.spent;
}

/* What it may cost now is enough for the stack of a sample, whichever that is. */
static bool may_go_on(struct pl_native_reader *n)
{
	return pl_ration_begin(&n->ration, pl_clock_monotonic_ns()).most >= (uint64_t)STEPS * STEP_WORK;
}

bool pl_native_reader_take(struct pl_native_reader *n, const struct pl_stack_reader *s, pid_t tid,
			   const struct pl_activity_info *info)
{
	const struct pl_native_thread t = {tid, s->cframe, &s->frames};

	n->taken.taken = false;
	if (!may_go_on(n))
		return false;
	if (info)
		pl_native_take_blocked(n->native, &t, info, &n->taken);
	else
		pl_native_take_stopped(n->native, &t, &n->taken);
	note_work(n, n->taken.len / COPIED);
	return n->taken.taken;
}

/* ---- functions as code ------------------------------------------------------------------------------------------- */

static uint64_t role_key(const struct pl_native_role *r)
{
	return (uint64_t)r->interpreter | (uint64_t)r->inner << 1 | (uint64_t)r->outer << 2 |
	       (uint64_t)r->passes_on << 3 | (uint64_t)r->root << 4;
}

/* The id of a code, remembered by @p key and its role. */
static struct plumb_error *remember(struct pl_native_reader *n, struct pl_reader *r, pl_addr key,
				    const struct pl_native_code *native, const char *name, uint32_t *ret)
{
	struct plumb_error *err = pl_code_store_native(r->codes.store, native, name, r->codes.process, ret);

	if (n->codes.len >= CODES_MAX) /* code that is made anew all the time */
		pl_map_clear(&n->codes);
	return err || pl_map_set(&n->codes, key, role_key(&native->role), *ret) ? err : &pl_err_no_memory;
}

static struct plumb_error *module_of(struct pl_native_reader *n, struct pl_reader *r, uint32_t image,
				     const struct pl_code_module **ret)
{
	struct pl_native_place *p = &n->native->place;
	const struct pl_unwind_image *i = &p->images.data[image];
	struct pl_native_file *f = &p->files.data[image];
	struct pl_code_modules *all = &r->codes.store->modules;
	const size_t before = all->all.len;
	struct plumb_error *err = NULL;

	if (!f->module && n->modules >= MODULES_MAX)
		return &pl_err_limit;
	if (!f->module)
		err = pl_code_modules_find(
			all, &(struct pl_code_file){p->pid, &p->seen, f->map, i->build_id, i->build_id_len},
			&f->module);
	n->modules += all->all.len - before;
	*ret = f->module;
	return err;
}

/* The file is read again now and then, for it grows; so often that names come late by a sixteenth of the time. */
static uint32_t reading_of(uint32_t looks)
{
	uint32_t step = 1;

	while (looks / step >= 32)
		step *= 2;
	return looks - looks % step;
}

/* Code of a compiler that may have written names into a file. Without room for one more of them it has none. */
static struct plumb_error *learn_fileless(struct pl_native_reader *n, struct pl_reader *r, pl_addr place,
					  struct pl_native_code *native, uint32_t *ret)
{
	struct pl_native_place *p = &n->native->place;
	struct pl_code_modules *all = &r->codes.store->modules;

	if (!n->no_file) {
		struct plumb_error *err =
			pl_code_modules_perf_map(all, p->pid, &p->seen, reading_of(n->looks), &n->no_file);
		if (err && err != &pl_err_limit)
			return err;
	}
	native->module = n->no_file;
	native->place = place;
	return remember(n, r, place, native, PL_NO_FILE, ret);
}

/* Its compiler tells its name, as long as it is there; what is longer than names are is cut. */
static struct plumb_error *learn_jit(struct pl_native_reader *n, struct pl_reader *r, const struct pl_native_frame *f,
				     pl_addr key, struct pl_native_code *native, uint32_t *ret)
{
	const char *name = pl_native_place_name(&n->native->place, f->image, pl_native_frame_place(f), f->function);
	char text[PL_DEMANGLED];

	if (!name)
		return remember(n, r, key, native, PL_NO_FILE, ret);
	native->jit = true;
	snprintf(text, sizeof text, "%s", name);
	return remember(n, r, key, native, text, ret);
}

/* One that was closed before it could be read is none. */
static bool is_in_file(const struct pl_native_place *p, uint32_t image)
{
	if (image >= p->images.len)
		return false;
	return !p->files.data[image].begun || p->files.data[image].beginning;
}

/* Its place in its file: the name is looked for by whoever takes the samples over. */
static struct plumb_error *learn_code(struct pl_native_reader *n, struct pl_reader *r, const struct pl_native_frame *f,
				      pl_addr key, const struct pl_native_role *role, uint32_t *ret)
{
	struct pl_native_code native = {.role = *role};
	struct plumb_error *err = NULL;

	if (!is_in_file(&n->native->place, f->image))
		return learn_fileless(n, r, key, &native, ret);
	if (n->native->place.files.data[f->image].jit)
		return learn_jit(n, r, f, key, &native, ret);
	uint64_t bias = n->native->place.images.data[f->image].bias;
	native.place = pl_native_frame_place(f) - bias;
	native.begin = f->function ? f->function - bias : 0;
	err = module_of(n, r, f->image, &native.module);
	return err ? err : remember(n, r, key, &native, "", ret);
}

static struct plumb_error *code_of(struct pl_native_reader *n, struct pl_reader *r, const struct pl_native_frame *f,
				   const struct pl_native_role *role, uint32_t *ret)
{
	pl_addr key = f->function ? f->function : pl_native_frame_place(f);

	return pl_map_get(&n->codes, key, role_key(role), ret) ? NULL : learn_code(n, r, f, key, role, ret);
}

/* ---- what is mapped ---------------------------------------------------------------------------------------------- */

/* True: there is more now. */
static bool look_again(struct pl_native_reader *n, uint64_t now_ns)
{
	bool changed = false;
	struct plumb_error *err = pl_native_place_look(&n->native->place, &changed);

	note_work(n, n->native->place.look_work);
	plumb_error_destroy(err); /* it is as it was */
	pl_native_look_ended(&n->look, changed, now_ns);
	pl_debug(PL_DEBUG_PROCESS, "process %d: other code than what is known; %zu images now, %s",
		 (int)n->native->place.pid, n->native->place.images.len, changed ? "other ones" : "the same");
	n->looks++;
	n->no_file = NULL;
	pl_map_clear(&n->codes);
	return changed;
}

static struct plumb_error *make_stack_once(struct pl_native_reader *n, struct pl_native_stack *stack)
{
	struct plumb_error *err = pl_native_stack_make(n->native, &n->taken, stack);

	note_work(n, stack->steps * STEP_WORK);
	return err;
}

/* Code of a JIT compiler may be another's by now. */
static bool runs_jit(const struct pl_native_reader *n, const struct pl_native_stack *stack)
{
	const struct pl_native_place *p = &n->native->place;

	for (size_t i = 0; i < stack->native.len; i++) {
		const uint32_t image = stack->native.data[i].image;

		if (image < p->files.len && p->files.data[image].jit)
			return true;
	}
	return false;
}

/* The images of a stack, each once, but that of the interpreter, which is not closed. */
static uint32_t other_images(const struct pl_native_place *p, const struct pl_native_stack *stack,
			     uint32_t ret[PL_NATIVE_ASKED])
{
	uint32_t n = 0, last = stack->python;

	for (size_t i = 0; i < stack->native.len && n < PL_NATIVE_ASKED; i++) {
		const uint32_t image = stack->native.data[i].image;
		uint32_t k = 0;

		if (image == last || image == stack->python || image >= p->files.len)
			continue;
		last = image;
		while (k < n && ret[k] != image)
			k++;
		if (k == n)
			ret[n++] = image;
	}
	return n;
}

/* Libraries may have been closed, and others be where they were. */
static bool has_other_images(struct pl_native_reader *n, const struct pl_native_stack *stack)
{
	uint32_t images[PL_NATIVE_ASKED];
	const uint32_t count = other_images(&n->native->place, stack, images);

	note_work(n, count * PL_NATIVE_ASK_WORK);
	return !pl_native_place_holds(&n->native->place, images, count);
}

static struct plumb_error *make_stack(struct pl_native_reader *n, struct pl_native_stack *stack)
{
	const uint64_t now_ns = pl_clock_monotonic_ns();
	struct plumb_error *err = make_stack_once(n, stack);

	if (err)
		return err;
	const bool made_anew = runs_jit(n, stack) && pl_native_place_has_new_jit(&n->native->place);
	const bool others = made_anew || has_other_images(n, stack);
	if (!others && !pl_native_look_wanted(&n->look, &stack->native, now_ns))
		return NULL;
	if (look_again(n, now_ns)) {
		pl_native_stack_deinit(stack);
		return make_stack_once(n, stack);
	}
	pl_native_look_missed(&n->look, &stack->native);
	return NULL;
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

/* 1 + where in its function the instruction is, for its line; 0: it has none. Of what evaluates Python nobody asks. */
static int32_t offset_of(const struct pl_native_reader *n, const struct pl_native_frame *f,
			 const struct pl_native_role *role)
{
	const uint64_t offset = f->function ? pl_native_frame_place(f) - f->function : 0;

	if (role->passes_on || !is_in_file(&n->native->place, f->image) || n->native->place.files.data[f->image].jit)
		return 0;
	return offset < INT32_MAX ? 1 + (int32_t)offset : 0;
}

static struct plumb_error *add_native(struct path *p, uint32_t i, const struct pl_native_role *role)
{
	const struct pl_native_frame *f = &p->stack->native.data[i];
	uint32_t code;
	struct plumb_error *err = code_of(p->n, p->r, f, role, &code);

	return err ? err : add_code(p, code, offset_of(p->n, f, role), 0);
}

/* No function begins at 0. */
static struct plumb_error *add_gap(struct path *p)
{
	const struct pl_native_code nowhere = {0};
	uint32_t code;
	struct plumb_error *err = NULL;

	if (!pl_map_get(&p->n->codes, 0, 0, &code))
		err = remember(p->n, p->r, 0, &nowhere, "<missing frames>", &code);
	return err ? err : add_code(p, code, 0, 0);
}

/* What the innermost function waits in, the outermost function of the kernel first. */
static struct plumb_error *add_kernel(struct path *p)
{
	const struct pl_kernel_stack *k = &p->n->taken.kernel;
	const struct pl_native_code native = {.kernel = true};
	struct pl_reader *r = p->r;
	struct plumb_error *err = NULL;
	uint32_t code;

	for (uint32_t i = k->count; i-- > 0 && !err;) {
		err = pl_code_store_native(r->codes.store, &native, k->names[i], r->codes.process, &code);
		err = err ? err : add_code(p, code, 0, 0);
	}
	return err;
}

static struct plumb_error *add_python(struct path *p, uint32_t i)
{
	if (i >= p->seen->len)
		return NULL;
	const struct pl_seen_frame *f = &p->seen->data[p->seen->len - 1 - i];
	return add_code(p, f->code_id, f->offset, f->opcode);
}

static struct plumb_error *add_entry(struct path *p, const struct pl_join_entry *e, const struct pl_native_role *role)
{
	switch (e->kind) {
	case PL_JOIN_MISSING:
		return add_gap(p);
	case PL_JOIN_PYTHON:
		return add_python(p, e->index);
	case PL_JOIN_EVAL:
	case PL_JOIN_NATIVE:
		break;
	}
	return add_native(p, e->index, role);
}

static bool tell_roles(struct path *p)
{
	struct pl_native_order order;

	pl_vec_clear(&p->n->roles);
	pl_native_order_begin(&order, p->stack);
	for (size_t i = 0; i < p->stack->entries.len; i++)
		if (!pl_vec_push(&p->n->roles, pl_native_order_next(&order, p->n->native, p->stack, i)))
			return false;
	return true;
}

/* Of a task: its outermost coroutine, which lies below those that await it. The loop that runs it is left out. Returns
 * how many entries there are up to it. */
static size_t begin_task(struct path *p, const struct pl_stack_reader *s)
{
	const pl_join_vec *entries = &p->stack->entries;
	const pl_seen_vec *task = &s->task_seen.now;

	if (!s->task_own || s->task_own > task->len)
		return entries->len;
	for (size_t i = 0; i < entries->len; i++) {
		if (entries->data[i].kind != PL_JOIN_PYTHON || entries->data[i].index != s->task_own - 1)
			continue;
		p->node = s->task_own < task->len ? task->data[task->len - s->task_own - 1].node : 0;
		return i + 1;
	}
	return entries->len;
}

static struct plumb_error *add_entries(struct path *p, const struct pl_stack_reader *s)
{
	struct plumb_error *err = NULL;

	if (!tell_roles(p))
		return &pl_err_no_memory;
	for (size_t i = begin_task(p, s); i-- > 0 && !err;)
		err = add_entry(p, &p->stack->entries.data[i], &p->n->roles.data[i]);
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
		err = add_entries(&p, s);
	if (!err && stack.joined != PL_JOINED_APART)
		err = add_kernel(&p);
	pl_native_stack_deinit(&stack);
	n->taken.taken = false;
	if (err == &pl_err_limit)
		return NULL;
	*ret = err ? 0 : p.node;
	return err;
}
