/* SPDX-License-Identifier: Apache-2.0 */
/* The chain of awaits of a suspended coroutine. Layer: cpython. Pure over pl_mem; one thread; allocates only to grow
 * the caller's vector.
 *
 * What a generator waits for is on its value stack, but only if it is suspended in `await` or `yield from`: a
 * plain `yield` leaves something else there. 3.13+ has a state of its own for that; before, the instruction that comes
 * next tells it. */
#include "await.h"

#include <string.h>

#include "minors.h"
#include "pick.h"

#define OP_YIELD_FROM	       72  /* 3.6 - 3.10 */
#define OP_RESUME_QUICK	       150 /* 3.11 */
#define OP_RESUME	       151 /* 3.11, 3.12 */
#define OP_INSTRUMENTED_RESUME 240 /* 3.12 */
#define RESUME_AFTER_YIELD     2   /* oparg of RESUME: 0 start, 1 after yield, 2 after yield from, 3 after await */
#define STACK_MAX	       65536
#define TYPE_NAME_MAX	       128

static bool has_yield_from_state(const struct pl_layout *lay)
{
	return lay->frame_model == PL_FRAME_CURRENT;
}

/* 3.11, 3.12: the next instruction resumes after `yield from` or `await`. Its opcode is the low byte. */
static struct plumb_error *resumes_after_await(struct pl_mem *mem, const struct pl_frame *f, bool *ret)
{
	uint8_t next[2];
	struct plumb_error *err = pl_mem_read(mem, f->instr + 2, next, sizeof next);

	if (!err)
		*ret = (next[0] == OP_RESUME || next[0] == OP_RESUME_QUICK || next[0] == OP_INSTRUMENTED_RESUME) &&
		       (next[1] & 3) >= RESUME_AFTER_YIELD;
	return err;
}

/* <= 3.10: the next instruction is YIELD_FROM itself. */
static struct plumb_error *stands_before_yield_from(struct pl_mem *mem, const struct pl_layout *lay,
						    const struct pl_frame *f, bool *ret)
{
	pl_addr bytes;
	uint8_t next;
	struct plumb_error *err;

	*ret = false;
	if (f->instr > INT32_MAX) /* not begun */
		return NULL;
	err = pl_mem_read_u64(mem, f->code + lay->code.code_bytes, &bytes);
	if (!err && !pl_pointer_ok(bytes))
		err = &pl_err_corrupt;
	if (!err)
		err = pl_mem_read(mem, bytes + lay->bytes.sval + f->instr + 2, &next, 1);
	if (!err)
		*ret = next == OP_YIELD_FROM;
	return err;
}

/* Layouts are those of rows, or newer. */
static const struct pl_minor *minor_of(const struct pl_layout *lay)
{
	return pl_minor_of(lay->version);
}

/* Where on a frame's value stack the object is that it awaits; 0 if the stack is empty. */
static struct plumb_error *find_slot(struct pl_mem *mem, const struct pl_layout *lay, const struct pl_frame *f,
				     pl_addr *ret)
{
	bool is_count = minor_of(lay)->stack_counted;
	pl_addr base = f->addr + lay->frame.localsplus;
	uint64_t word;
	struct plumb_error *err = pl_mem_read_u64(mem, f->addr + lay->frame.stacktop, &word);

	*ret = 0;
	if (err)
		return err;
	if (lay->frame_model == PL_FRAME_OBJECT && is_count)
		err = pl_mem_read_u64(mem, f->addr + lay->frame.valuestack, &base);
	if (err || (is_count ? (int32_t)word <= 0 : !word))
		return err;
	if (is_count && (int32_t)word <= STACK_MAX)
		*ret = base + ((word & UINT32_MAX) - 1) * 8;
	else if (!is_count && word >= base + minor_of(lay)->awaited_depth * 8 && word - base <= STACK_MAX * 8)
		*ret = word - minor_of(lay)->awaited_depth * 8;
	return *ret ? NULL : &pl_err_corrupt;
}

/* May the frame be waiting for what is on its stack? @p gen: the generator that it belongs to. */
static struct plumb_error *is_awaiting(struct pl_mem *mem, const struct pl_layout *lay, pl_addr gen,
				       const struct pl_frame *f, bool *ret)
{
	const struct pl_minor *s = minor_of(lay);
	int8_t state;
	struct plumb_error *err;

	if (lay->frame_model == PL_FRAME_OBJECT)
		return stands_before_yield_from(mem, lay, f, ret);
	*ret = false;
	err = pl_mem_read(mem, gen + lay->gen.frame_state, &state, 1);
	if (err || (state != s->suspended && state != s->locked))
		return err;
	*ret = true;
	return has_yield_from_state(lay) ? NULL : resumes_after_await(mem, f, ret);
}

static struct plumb_error *find_awaited(struct pl_mem *mem, const struct pl_layout *lay, pl_addr gen,
					const struct pl_frame *f, pl_addr *ret)
{
	bool awaiting;
	pl_addr top = 0;
	struct plumb_error *err = is_awaiting(mem, lay, gen, f, &awaiting);

	*ret = 0;
	if (err || !awaiting)
		return err;
	err = find_slot(mem, lay, f, &top);
	if (!err && top)
		err = pl_mem_read_u64(mem, top, ret);
	*ret &= ~lay->tag_mask;
	return err;
}

/* The frame of a generator; addr 0 if it has ended. */
static struct plumb_error *frame_of(struct pl_mem *mem, const struct pl_py *py, pl_addr gen, struct pl_frame *ret)
{
	const struct pl_layout *lay = &py->layout;
	pl_addr addr = gen + lay->gen.iframe;
	int8_t state = 0;
	struct plumb_error *err = NULL;

	*ret = (struct pl_frame){0};
	if (lay->frame_model == PL_FRAME_OBJECT)
		err = pl_mem_read_u64(mem, gen + lay->gen.frame, &addr);
	else
		err = pl_mem_read(mem, gen + lay->gen.frame_state, &state, 1);
	if (err || !addr || state > minor_of(lay)->executing) /* the states after it: it has ended */
		return err;
	return pl_frame_read(mem, py, addr, ret);
}

enum shape {
	HAS_FRAME, /* coroutine, generator, asynchronous generator */
	WRAPS,	   /* its first member is what to look at instead */
	OPAQUE,
};

static const struct {
	const char *name;
	enum shape shape;
} shapes[] = {
	{"_asyncio.FutureIter", WRAPS},	  {"anext_awaitable", WRAPS},	     {"async_generator", HAS_FRAME},
	{"async_generator_asend", WRAPS}, {"async_generator_athrow", WRAPS}, {"coroutine", HAS_FRAME},
	{"coroutine_wrapper", WRAPS},	  {"generator", HAS_FRAME},
};

static struct plumb_error *shape_of(struct pl_values *v, pl_addr obj, enum shape *ret)
{
	struct pl_buf name = PL_BUF_INIT(TYPE_NAME_MAX);
	struct plumb_error *err = pl_value_add_type(v, obj, &name);

	*ret = OPAQUE;
	for (size_t i = 0; !err && i < sizeof shapes / sizeof shapes[0]; i++) {
		if (name.len == strlen(shapes[i].name) && !memcmp(name.data, shapes[i].name, name.len))
			*ret = shapes[i].shape;
	}
	pl_buf_deinit(&name);
	return err;
}

/* One step: a frame to add (addr 0: none), and what to look at next (0: the end). */
static struct plumb_error *step(struct pl_values *v, pl_addr obj, enum shape shape, struct pl_frame *f, pl_addr *next)
{
	const struct pl_layout *lay = &v->py->layout;
	struct plumb_error *err;

	*next = 0;
	*f = (struct pl_frame){0};
	if (shape == WRAPS)
		return pl_mem_read_u64(v->mem, obj + lay->object.size, next);
	err = frame_of(v->mem, v->py, obj, f);
	return err || !f->addr ? err : find_awaited(v->mem, lay, obj, f, next);
}

/* What ends the whole dump, and not only this chain. */
static bool is_fatal(const struct plumb_error *err)
{
	enum plumb_error_code code = plumb_error_code(err);

	return code == PLUMB_ERR_NO_MEMORY || code == PLUMB_ERR_TARGET_EXITED;
}

struct plumb_error *pl_await_chain(struct pl_values *v, pl_addr coro, size_t max, pl_frame_vec *frames,
				   struct pl_await *ret)
{
	struct plumb_error *err = NULL;
	size_t first = frames->len;
	pl_addr next = coro;

	*ret = (struct pl_await){0};
	/* A frame takes at most a few steps, so this also ends a chain of nothing but wrappers. */
	for (size_t steps = 0; !err && next && !ret->cut; steps++) {
		pl_addr obj = next;
		struct pl_frame f;
		enum shape shape;
		ret->cut = !pl_pointer_ok(obj) || steps > max * 3 || frames->len - first >= max;
		if (ret->cut)
			break;
		err = shape_of(v, obj, &shape);
		if (!err && shape == OPAQUE) {
			ret->inner = obj;
			break;
		}
		if (!err)
			err = step(v, obj, shape, &f, &next);
		if (!err && f.addr && !pl_vec_push(frames, f))
			err = &pl_err_no_memory;
	}
	if (!err || is_fatal(err))
		return err;
	plumb_error_destroy(err);
	ret->cut = true;
	return NULL;
}
