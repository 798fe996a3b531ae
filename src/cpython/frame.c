/* SPDX-License-Identifier: Apache-2.0 */
/* The chain of frames of one thread. Layer: cpython. Pure over pl_mem; any thread; allocates only to grow the caller's
 * vector.
 *
 * A chain read while the target runs may be any mixture of two moments. The checks here are those that cost nothing:
 * they catch most torn chains, never all; comparing the anchors before and after is the caller's part. */
#include "frame.h"

#include <string.h>

#include "cycle.h"
#include "pick.h"

#define CHUNK_HEADER_BYTES   24
#define CHUNK_MAX_BYTES	     (1u << 30)
#define PREFETCH_MAX	     (1u << 20)
#define WINDOW_BYTES	     4096
#define REFCOUNT_BEFORE_TYPE 8 /* ob_refcnt and ob_type are neighbours, also with Py_TRACE_REFS */

/* <= 3.10. @p raw holds frame_span bytes. */
static void parse_object(const struct pl_layout *lay, const uint8_t *raw, struct pl_frame *f)
{
	int32_t lasti = (int32_t)pl_pick_u32(raw, lay->frame.lasti);

	f->previous = pl_pick_u64(raw, lay->frame.previous);
	f->code = pl_pick_u64(raw, lay->frame.code);
	f->instr = lasti < 0 ? (pl_addr)-1 : (pl_addr)lasti * lay->instr_scale;
	f->kind = PL_FRAME_PYTHON;
	/* Up to 3.9 each code object keeps the frame of its last call for the next one, as it was. */
	f->freed = pl_pick_u64(raw, lay->object.type - REFCOUNT_BEFORE_TYPE) == 0;
	f->entry = true; /* one C eval loop per Python frame */
}

/* 3.11+. The owner decides what the other words mean, so it comes first: the code word of a shim can be anything. */
static bool parse_interpreter_frame(const struct pl_layout *lay, const uint8_t *raw, struct pl_frame *f)
{
	f->owner = raw[lay->frame.owner];
	f->previous = pl_pick_u64(raw, lay->frame.previous);
	if (f->owner == PL_NO_OWNER)
		return false;
	if (f->owner == lay->owner_interpreter || f->owner == lay->owner_cstack) {
		f->kind = PL_FRAME_SHIM;
		f->entry = true;
		return true;
	}
	/* A frame object's own frame has been copied away from the running chain. */
	if (f->owner != lay->owner_thread && f->owner != lay->owner_generator)
		return false;
	f->kind = PL_FRAME_PYTHON;
	f->code = pl_pick_u64(raw, lay->frame.code) & ~lay->tag_mask;
	f->instr = pl_pick_u64(raw, lay->frame.instr);
	f->tlbc_index = pl_pick_u32_if(raw, lay->frame.tlbc_index);
	f->entry = lay->frame.is_entry != PL_NONE && raw[lay->frame.is_entry] != 0;
	return true;
}

static bool frame_ok(const struct pl_frame *f)
{
	if (f->previous && (f->previous == f->addr || !pl_pointer_ok(f->previous)))
		return false;
	return f->kind == PL_FRAME_SHIM || pl_pointer_ok(f->code);
}

/* @p raw: frame_span bytes from @p addr. Also hands out the type word of a frame object (0 from 3.11 on). */
static bool parse_frame(const struct pl_layout *lay, const uint8_t *raw, pl_addr addr, struct pl_frame *ret,
			pl_addr *type_ret)
{
	*ret = (struct pl_frame){.addr = addr};
	*type_ret = 0;
	if (lay->frame_model == PL_FRAME_OBJECT) {
		parse_object(lay, raw, ret);
		*type_ret = pl_pick_u64(raw, lay->object.type);
	} else if (!parse_interpreter_frame(lay, raw, ret)) {
		return false;
	}
	return frame_ok(ret);
}

struct pl_range pl_frame_range(const struct pl_py *py, pl_addr addr)
{
	return (struct pl_range){addr, py->layout.frame_span};
}

struct plumb_error *pl_frame_parse(const struct pl_py *py, const uint8_t *raw, pl_addr addr, struct pl_frame *ret)
{
	struct pl_frame f;
	pl_addr type;

	if (!parse_frame(&py->layout, raw, addr, &f, &type))
		return &pl_err_corrupt;
	*ret = f;
	return NULL;
}

struct plumb_error *pl_frame_read(struct pl_mem *mem, const struct pl_py *py, pl_addr addr, struct pl_frame *ret)
{
	uint8_t raw[PL_FRAME_MAX];
	struct plumb_error *err;

	if (!pl_pointer_ok(addr))
		return &pl_err_corrupt;
	err = pl_mem_read(mem, addr, raw, py->layout.frame_span);
	return err ? err : pl_frame_parse(py, raw, addr, ret);
}

/* Where on the data stack the walk is: the chunk and the end of what may still come. Frames of one chunk are met from
 * the top down, chunks from the newest to the oldest, whatever generators and shims lie between: so no cycle can go
 * through them. */
struct stack_cursor {
	pl_addr chunk, older, end; /* chunk 0: this release or this thread has none */
	pl_addr below;		   /* the next thread-owned frame in this chunk must lie below */
	size_t chunks;
	/* A copy of part of the chunk, so that most frames cost no read of their own. */
	pl_addr window;
	uint32_t window_len;
	uint8_t bytes[WINDOW_BYTES];
	uint8_t single[PL_FRAME_MAX]; /* a frame outside the chunk */
};

/* The live part of a chunk. Its `top` is counted in words from `data` and is written when a newer chunk is pushed. */
static struct plumb_error *enter_chunk(struct pl_mem *mem, const struct pl_layout *lay, pl_addr chunk, bool newest,
				       struct stack_cursor *c)
{
	uint8_t raw[CHUNK_HEADER_BYTES];
	struct plumb_error *err;

	if (!pl_pointer_ok(chunk) || lay->chunk.top + 8 > sizeof raw || ++c->chunks > PL_MAX_FRAMES)
		return &pl_err_corrupt;
	err = pl_mem_read(mem, chunk, raw, sizeof raw);
	if (err)
		return err;
	uint64_t size = pl_pick_u64(raw, lay->chunk.size), top = pl_pick_u64(raw, lay->chunk.top);
	if (size < lay->chunk.data || size > CHUNK_MAX_BYTES)
		return &pl_err_corrupt;
	c->chunk = chunk;
	c->older = pl_pick_u64(raw, lay->chunk.previous);
	c->end = c->below = chunk + size;
	if (newest)
		return NULL;
	if (top > (size - lay->chunk.data) / 8)
		return &pl_err_corrupt;
	c->below = chunk + lay->chunk.data + top * 8;
	return NULL;
}

/* Fetch the live part in one go: up to the top, or, where the top is not known, up to the end of the innermost frame's
 * header, which is the highest frame of the chunk (a generator there leaves it at the header of the chunk). */
static void prefetch_newest(struct pl_mem *mem, const struct pl_layout *lay, const struct pl_tstate *ts)
{
	pl_addr top = ts->chunk_top;

	if (!top && ts->frame > ts->chunk && ts->frame - ts->chunk < PREFETCH_MAX)
		top = ts->frame + lay->frame_span;
	if (top > ts->chunk && top - ts->chunk <= PREFETCH_MAX)
		pl_mem_prefetch(mem, ts->chunk, top - ts->chunk);
}

static struct plumb_error *start_cursor(struct pl_mem *mem, const struct pl_layout *lay, const struct pl_tstate *ts,
					struct stack_cursor *c)
{
	c->chunk = c->older = c->end = c->below = c->window = 0;
	c->chunks = c->window_len = 0;
	if (!ts->chunk || lay->chunk.data == PL_NONE)
		return NULL;
	prefetch_newest(mem, lay, ts);
	struct plumb_error *err = enter_chunk(mem, lay, ts->chunk, true, c);
	if (!err && ts->chunk_top && ts->chunk_top <= c->end)
		c->below = ts->chunk_top;
	return err;
}

static bool in_chunk(const struct stack_cursor *c, pl_addr addr)
{
	return addr - c->chunk < c->end - c->chunk; /* unsigned: also false below the chunk */
}

/* The bytes of the frame at @p addr. Frames of a chunk are met downwards, so the copy ends with this frame and reaches
 * down. */
static struct plumb_error *frame_bytes(struct pl_mem *mem, const struct pl_layout *lay, pl_addr addr,
				       struct stack_cursor *c, const uint8_t **ret)
{
	uint32_t span = lay->frame_span;

	if (addr >= c->window && addr + span <= c->window + c->window_len) {
		*ret = c->bytes + (addr - c->window);
		return NULL;
	}
	if (!c->chunk || !in_chunk(c, addr)) {
		*ret = c->single;
		return pl_mem_read(mem, addr, c->single, span);
	}
	pl_addr from = addr + span - c->chunk > WINDOW_BYTES ? addr + span - WINDOW_BYTES : c->chunk;
	struct plumb_error *err = pl_mem_read(mem, from, c->bytes, addr + span - from);
	c->window = from;
	c->window_len = err ? 0 : (uint32_t)(addr + span - from);
	*ret = c->bytes + (addr - from);
	return err;
}

/* Move to the older chunk that has the frame at @p addr, and fetch its live part: headers alone can be made up, as many
 * as fit. */
static struct plumb_error *go_to_chunk(struct pl_mem *mem, const struct pl_layout *lay, pl_addr addr,
				       struct stack_cursor *c)
{
	while (!in_chunk(c, addr)) {
		struct plumb_error *err = enter_chunk(mem, lay, c->older, false, c);
		if (err)
			return err;
	}
	pl_addr len = c->below - c->chunk;
	pl_mem_prefetch(mem, c->chunk, len < PREFETCH_MAX ? len : PREFETCH_MAX);
	return NULL;
}

/* Is a frame with this owner allowed at this place? Moves the cursor to older chunks as the walk gets there. */
static struct plumb_error *check_place(struct pl_mem *mem, const struct pl_layout *lay, const struct pl_frame *f,
				       struct stack_cursor *c)
{
	if (!c->chunk)
		return NULL;
	if (f->owner != lay->owner_thread)
		return in_chunk(c, f->addr) ? &pl_err_corrupt : NULL;
	struct plumb_error *err = in_chunk(c, f->addr) ? NULL : go_to_chunk(mem, lay, f->addr, c);
	if (err)
		return err;
	if (f->addr < c->chunk + lay->chunk.data || f->addr + lay->frame_span > c->below)
		return &pl_err_corrupt;
	c->below = f->addr;
	return NULL;
}

/* May the chain end after this frame? 3.15 ends at the thread's base frame, 3.12-3.14 at a shim, 3.11 where C came in.
 * Anything else is a frame caught while it was being linked or unlinked. */
static bool may_be_root(const struct pl_layout *lay, const struct pl_tstate *ts, const struct pl_frame *f)
{
	if (ts->base_frame)
		return false;
	return lay->frame_model == PL_FRAME_OBJECT || f->entry;
}

/* 3.11, 3.12: the frame at which the innermost evaluation begins is linked in two steps, in an order that is the
 * compiler's choice. Once it is linked its caller is what the evaluation before was running. */
static struct plumb_error *check_entry(struct pl_mem *mem, const struct pl_layout *lay, const struct pl_tstate *ts,
				       const struct pl_frame *entry)
{
	pl_addr caller;

	if (!pl_pointer_ok(ts->cframe_previous))
		return &pl_err_corrupt;
	struct plumb_error *err = pl_mem_read_u64(mem, ts->cframe_previous + lay->cframe.current_frame, &caller);
	if (err)
		return err;
	return caller == entry->previous ? NULL : &pl_err_corrupt;
}

/* At the same base frame, or at a frame that nobody called. */
static bool ends_as_before(const struct pl_tstate *ts, const struct pl_frame_tail *tail)
{
	return tail->root == (ts->base_frame ? ts->base_frame : tail->frames[tail->len - 1].addr);
}

/* The walk has come to the first frame of @p tail: the rest is as it was when it passed these checks itself, but for
 * those that ask the thread state. */
static struct plumb_error *add_tail(struct pl_mem *mem, const struct pl_layout *lay, const struct pl_tstate *ts,
				    const struct pl_frame_tail *tail, bool entered, pl_frame_vec *ret)
{
	for (size_t i = 1; i < tail->len && !entered; i++) {
		if (!tail->frames[i].entry)
			continue;
		entered = true;
		struct plumb_error *err = check_entry(mem, lay, ts, &tail->frames[i]);
		if (err)
			return err;
	}
	if (ret->len + tail->len - 1 > PL_MAX_FRAMES)
		return &pl_err_limit;
	if (!pl_vec_reserve(ret, tail->len - 1))
		return &pl_err_no_memory;
	memcpy(ret->data + ret->len, tail->frames + 1, (tail->len - 1) * sizeof *tail->frames);
	ret->len += tail->len - 1;
	return NULL;
}

struct plumb_error *pl_frame_walk(struct pl_mem *mem, const struct pl_py *py, const struct pl_tstate *ts,
				  const struct pl_frame_tail *tail, pl_frame_vec *ret, pl_addr *root_ret)
{
	const pl_addr known = tail && tail->len ? tail->frames[0].addr : 0;
	const struct pl_layout *lay = &py->layout;
	struct pl_cycle_guard guard = {0};
	struct stack_cursor cursor;
	pl_addr addr = ts->frame, object_type = 0;
	struct pl_frame f = {0};
	bool entered = lay->frame_model != PL_FRAME_CFRAME;
	struct plumb_error *err = start_cursor(mem, lay, ts, &cursor);

	if (err)
		return err;
	for (size_t done = 0; addr && addr != ts->base_frame; done++) {
		const uint8_t *raw;
		pl_addr type;
		if (done == PL_MAX_FRAMES)
			return &pl_err_limit;
		err = pl_pointer_ok(addr) ? frame_bytes(mem, lay, addr, &cursor, &raw) : &pl_err_corrupt;
		if (!err && !parse_frame(lay, raw, addr, &f, &type))
			err = &pl_err_corrupt;
		if (!err)
			err = f.freed ? &pl_err_corrupt : check_place(mem, lay, &f, &cursor);
		if (!err && f.entry && !entered) {
			entered = true;
			err = check_entry(mem, lay, ts, &f);
		}
		if (err)
			return err;
		/* All frame objects of a process are of one type. */
		if (pl_goes_round(&guard, addr) || (done && type != object_type))
			return &pl_err_corrupt;
		object_type = type;
		if (!pl_vec_push(ret, f))
			return &pl_err_no_memory;
		if (addr == known && ends_as_before(ts, tail)) {
			*root_ret = tail->root;
			return add_tail(mem, lay, ts, tail, entered, ret);
		}
		addr = f.previous;
	}
	if (!addr && f.addr && !may_be_root(lay, ts, &f))
		return &pl_err_corrupt;
	if (!addr && !f.addr && ts->base_frame)
		return &pl_err_corrupt; /* current_frame is never NULL once there is a base frame */
	*root_ret = addr ? addr : f.addr;
	return NULL;
}
