/* SPDX-License-Identifier: Apache-2.0 */
/* Interpreters, thread states, who holds the GIL. Layer: cpython. Pure over pl_mem; any thread; allocates only to grow
 * the caller's vectors.
 *
 * Each struct is copied by one read of the smallest span (layout.c) and picked apart locally, so that a caller that
 * serves reads from one bulk copy gets all words of a thread from the same moment. */
#include "threads.h"

#include "cycle.h"
#include "pick.h"

#define CHUNK_UNIT	 16384 /* DATA_STACK_CHUNK_SIZE: chunks are this, or doubled until a frame fits */
#define CHUNK_MAX_BYTES	 (1u << 30)
#define PTHREAD_SCAN_MAX 1600
#define ATTACHED	 1 /* _Py_THREAD_ATTACHED */
#define GIL_READ_BYTES	 80
#define GIL_STRUCT_BYTES 512 /* the mutex and the condition variables follow the words we know */
#define GIL_LOCK_BYTES	 32  /* 2.7: a sem_t */

/* Where C libraries keep the number of a thread in its descriptor. */
static const uint32_t usual_tid_at[] = {
	720, /* glibc, x86-64 */
	48,  /* musl, x86-64 */
};

/* datastack_top is not published by _Py_DebugOffsets, so it has to prove itself: limit, the word behind it, must end a
 * chunk of a size that the interpreter allocates, and top must be inside. A wrong position does not pass by chance. */
static pl_addr checked_top(pl_addr chunk, pl_addr top, pl_addr limit)
{
	uint64_t size = limit - chunk;

	if (!chunk || limit <= chunk || size > CHUNK_MAX_BYTES || size < CHUNK_UNIT || (size & (size - 1)))
		return 0;
	return top > chunk && top <= limit && !(top & 7) ? top : 0;
}

/* The exception being raised, else the one being handled. <= 3.11 and some later paths leave None where nothing is
 * handled, so without the address of None only the first kind can be told. */
static pl_addr exception_of(const struct pl_py *py, const uint8_t *raw)
{
	const struct pl_layout *lay = &py->layout;
	pl_addr raised = pl_pick_u64_if(raw, lay->tstate.current_exception);

	if (raised || lay->tstate.exc_state == PL_NONE || lay->err_stackitem.exc_value == PL_NONE || !py->none)
		return raised;
	pl_addr handled = pl_pick_u64(raw, lay->tstate.exc_state + lay->err_stackitem.exc_value);
	return handled == py->none ? 0 : handled;
}

struct plumb_error *pl_tstate_read(struct pl_mem *mem, const struct pl_py *py, pl_addr addr, struct pl_tstate *ret)
{
	const struct pl_layout *lay = &py->layout;
	struct pl_tstate ts = {.addr = addr};
	uint8_t raw[PL_TSTATE_MAX];
	struct plumb_error *err;

	if (!pl_pointer_ok(addr))
		return &pl_err_corrupt;
	err = pl_mem_read(mem, addr, raw, lay->tstate_span);
	if (err)
		return err;
	ts.interp = pl_pick_u64(raw, lay->tstate.interp);
	ts.next = pl_pick_u64(raw, lay->tstate.next);
	ts.frame = pl_pick_u64_if(raw, lay->tstate.frame);
	ts.cframe = pl_pick_u64_if(raw, lay->tstate.cframe);
	ts.base_frame = pl_pick_u64_if(raw, lay->tstate.base_frame);
	ts.thread_id = pl_pick_u64(raw, lay->tstate.thread_id);
	ts.native_id = pl_pick_u64_if(raw, lay->tstate.native_thread_id);
	ts.exception = exception_of(py, raw);
	ts.exc_info = pl_pick_u64_if(raw, lay->tstate.exc_info);
	ts.gil_words = lay->tstate.holds_gil != PL_NONE && lay->tstate.gil_requested != PL_NONE;
	ts.holds_gil = pl_pick_u32_if(raw, lay->tstate.holds_gil) != 0;
	ts.gil_requested = pl_pick_u32_if(raw, lay->tstate.gil_requested) != 0;
	ts.attach_word = lay->tstate.attach_state != PL_NONE;
	ts.attached = pl_pick_u32_if(raw, lay->tstate.attach_state) == ATTACHED;
	if (lay->tstate.datastack_top != PL_NONE) {
		ts.chunk = pl_pick_u64(raw, lay->tstate.datastack_chunk);
		ts.chunk_top = checked_top(ts.chunk, pl_pick_u64(raw, lay->tstate.datastack_top),
					   pl_pick_u64(raw, lay->tstate.datastack_top + 8));
	}
	if (lay->frame_model == PL_FRAME_CFRAME && ts.cframe) {
		uint8_t words[16]; /* current_frame, previous */

		if (!pl_pointer_ok(ts.cframe))
			return &pl_err_corrupt;
		err = pl_mem_read(mem, ts.cframe + lay->cframe.current_frame, words, sizeof words);
		if (err)
			return err;
		ts.frame = pl_pick_u64(words, 0);
		ts.cframe_previous = pl_pick_u64(words, 8);
	}
	*ret = ts;
	return NULL;
}

struct plumb_error *pl_tstate_frame(struct pl_mem *mem, const struct pl_py *py, pl_addr tstate, pl_addr *ret)
{
	const struct pl_layout *lay = &py->layout;
	pl_addr cframe;

	if (lay->frame_model != PL_FRAME_CFRAME)
		return pl_mem_read_u64(mem, tstate + lay->tstate.frame, ret);
	struct plumb_error *err = pl_mem_read_u64(mem, tstate + lay->tstate.cframe, &cframe);
	if (err)
		return err;
	return pl_pointer_ok(cframe) ? pl_mem_read_u64(mem, cframe + lay->cframe.current_frame, ret) : &pl_err_corrupt;
}

struct pl_range pl_data_stack_range(const struct pl_py *py, pl_addr tstate)
{
	const struct pl_layout *lay = &py->layout;

	if (lay->tstate.datastack_top == PL_NONE)
		return (struct pl_range){0};
	/* datastack_limit is the word behind datastack_top. */
	return (struct pl_range){tstate + lay->tstate.datastack_chunk,
				 lay->tstate.datastack_top + 16 - lay->tstate.datastack_chunk};
}

bool pl_data_stack_above(const struct pl_py *py, const uint8_t *raw, pl_addr addr)
{
	const uint32_t top_at = py->layout.tstate.datastack_top - py->layout.tstate.datastack_chunk;
	pl_addr limit = pl_pick_u64(raw, top_at + 8);
	pl_addr top = checked_top(pl_pick_u64(raw, 0), pl_pick_u64(raw, top_at), limit);

	return top && addr >= top && addr < limit;
}

/* The few copied ranges of one PyInterpreterState. */
struct interp_copy {
	const struct pl_layout *lay;
	uint8_t raw[PL_INTERP_READS][PL_INTERP_READ_MAX];
};

/* The GIL pointer lies far from everything else: @p known_gil saves its read. */
static struct plumb_error *copy_interp(struct pl_mem *mem, const struct pl_layout *lay, pl_addr addr, pl_addr known_gil,
				       struct interp_copy *ret)
{
	ret->lay = lay;
	for (size_t i = 0; i < PL_INTERP_READS && lay->interp_reads[i].len; i++) {
		pl_addr at = addr + lay->interp_reads[i].at;
		struct plumb_error *err;

		if (known_gil && lay->interp_reads[i].at == lay->interp.gil && lay->interp_reads[i].len == 8) {
			memcpy(ret->raw[i], &known_gil, 8); /* other words can have been put there, too */
			continue;
		}
		err = pl_mem_read(mem, at, ret->raw[i], lay->interp_reads[i].len);
		if (err)
			return err;
	}
	return NULL;
}

static uint64_t interp_field(const struct interp_copy *c, uint32_t at, uint32_t width)
{
	uint64_t value = 0;

	for (size_t i = 0; at != PL_NONE && i < PL_INTERP_READS; i++) {
		uint32_t start = c->lay->interp_reads[i].at, len = c->lay->interp_reads[i].len;
		if (at >= start && at + width <= start + len) {
			memcpy(&value, c->raw[i] + (at - start), width);
			break;
		}
	}
	return value;
}

/* 3.12+: last_holder stays set after a release, so it counts only while `locked` is 1 (it is -1 before the first use).
 * Free-threaded: none of it counts while the GIL is switched off. */
static struct plumb_error *read_gil(struct pl_mem *mem, const struct pl_layout *lay, struct pl_interp *in)
{
	uint8_t raw[GIL_READ_BYTES];
	uint32_t at = lay->gil_at;
	struct plumb_error *err;

	if (!in->gil)
		return NULL;
	if (!pl_pointer_ok(in->gil) || lay->gil_span > sizeof raw)
		return &pl_err_corrupt;
	err = pl_mem_read(mem, in->gil + at, raw, lay->gil_span);
	if (err)
		return err;
	in->gil_known = lay->gil.enabled == PL_NONE || pl_pick_u32(raw, lay->gil.enabled - at) != 0;
	if (in->gil_known && pl_pick_u32(raw, lay->gil.locked - at) == 1)
		in->gil_holder = pl_pick_u64(raw, lay->gil.last_holder - at);
	return NULL;
}

/* What threads wait in for the GIL. 2.7 makes the lock with the first thread and anew in a forked child; a semaphore is
 * waited for at its first word, a build without semaphores waits elsewhere and is not recognised. */
static struct plumb_error *find_gil(struct pl_mem *mem, const struct pl_py *py, struct pl_interp *in)
{
	const struct pl_layout *lay = &py->layout;

	in->gil = py->gil;
	in->gil_bytes = py->gil_bytes;
	if (lay->runtime.gil_last_holder != PL_NONE && lay->gil.last_holder != PL_NONE) {
		in->gil = py->runtime + lay->runtime.gil_last_holder - lay->gil.last_holder;
		in->gil_bytes = GIL_STRUCT_BYTES;
	}
	if (!py->gil_lock)
		return NULL;
	in->gil_bytes = GIL_LOCK_BYTES;
	return pl_mem_read_u64(mem, py->gil_lock, &in->gil);
}

/* <= 3.11 keep one GIL and (3.7, 3.8) one collector for all interpreters, in _PyRuntime; <= 3.6 have no such struct,
 * and nothing tells of their collector. */
static struct plumb_error *read_runtime_words(struct pl_mem *mem, const struct pl_py *py, struct pl_interp *in)
{
	const struct pl_layout *lay = &py->layout;
	struct plumb_error *err = NULL;
	uint32_t collecting = 0;

	pl_addr current = py->tstate_current;
	if (!current && lay->runtime.tstate_current != PL_NONE)
		current = py->runtime + lay->runtime.tstate_current;
	if (current)
		err = pl_mem_read_u64(mem, current, &in->gil_holder);
	in->gil_known = current != 0;
	if (!err && lay->runtime.gc_collecting != PL_NONE)
		err = pl_mem_read(mem, py->runtime + lay->runtime.gc_collecting, &collecting, sizeof collecting);
	if (collecting)
		in->gc_collecting = true;
	return err ? err : find_gil(mem, py, in);
}

static struct plumb_error *read_interp(struct pl_mem *mem, const struct pl_py *py, pl_addr addr, pl_addr known_gil,
				       struct pl_interp *ret)
{
	const struct pl_layout *lay = &py->layout;
	struct pl_interp in = {.addr = addr, .gil = known_gil};
	struct interp_copy c;
	struct plumb_error *err;

	if (!pl_pointer_ok(addr))
		return &pl_err_corrupt;
	err = copy_interp(mem, lay, addr, known_gil, &c);
	if (err)
		return err;
	in.next = interp_field(&c, lay->interp.next, 8);
	in.threads_head = interp_field(&c, lay->interp.threads_head, 8);
	in.threads_main = interp_field(&c, lay->interp.threads_main, 8);
	in.modules = interp_field(&c, lay->interp.modules, 8);
	in.code_generation = interp_field(&c, lay->interp.code_generation, 8);
	in.tlbc_generation = (uint32_t)interp_field(&c, lay->interp.tlbc_generation, 4);
	in.gc_frame = interp_field(&c, lay->interp.gc_frame, 8);
	in.gc_collecting = interp_field(&c, lay->interp.gc_collecting, 4) != 0;
	if (lay->interp.gil != PL_NONE) {
		if (!known_gil)
			in.gil = interp_field(&c, lay->interp.gil, 8);
		in.gil_bytes = GIL_STRUCT_BYTES;
		err = read_gil(mem, lay, &in);
	} else {
		err = read_runtime_words(mem, py, &in);
	}
	if (!err)
		*ret = in;
	return err;
}

struct plumb_error *pl_interp_read(struct pl_mem *mem, const struct pl_py *py, pl_addr addr, struct pl_interp *ret)
{
	return read_interp(mem, py, addr, 0, ret);
}

struct plumb_error *pl_interp_read_again(struct pl_mem *mem, const struct pl_py *py, const struct pl_interp *known,
					 struct pl_interp *ret)
{
	return read_interp(mem, py, known->addr, known->gil, ret);
}

struct plumb_error *pl_interp_head(struct pl_mem *mem, const struct pl_py *py, pl_addr *ret)
{
	pl_addr head, at = py->interp_head ? py->interp_head : py->runtime + py->layout.runtime.interp_head;
	struct plumb_error *err = pl_mem_read_u64(mem, at, &head);

	if (err)
		return err;
	if (!head)
		return &pl_err_not_ready;
	if (!pl_pointer_ok(head))
		return &pl_err_corrupt;
	*ret = head;
	return NULL;
}

/* A list that changes while it is read ends where it can no longer be read; only its first item must be good. */
static bool ends_list(const struct plumb_error *err, size_t done)
{
	return done && err && plumb_error_code(err) != PLUMB_ERR_TARGET_EXITED;
}

static void tell_whole(bool *whole_ret, bool whole)
{
	if (whole_ret)
		*whole_ret = whole;
}

struct plumb_error *pl_interp_list(struct pl_mem *mem, const struct pl_py *py, pl_interp_vec *ret, bool *whole_ret)
{
	struct pl_cycle_guard guard = {0};
	pl_addr addr;
	struct plumb_error *err = pl_interp_head(mem, py, &addr);

	if (err)
		return err;
	tell_whole(whole_ret, false);
	for (size_t done = 0; addr; done++) {
		struct pl_interp in;
		if (done == PL_MAX_INTERPRETERS)
			return NULL;
		if (pl_goes_round(&guard, addr))
			return &pl_err_corrupt;
		err = pl_interp_read(mem, py, addr, &in);
		if (ends_list(err, done))
			return NULL;
		if (err)
			return err;
		if (!pl_vec_push(ret, in))
			return &pl_err_no_memory;
		addr = in.next;
	}
	tell_whole(whole_ret, true);
	return NULL;
}

bool pl_tstate_in_jit(struct pl_mem *mem, const struct pl_py *py, pl_addr tstate, bool *known_ret)
{
	pl_addr executor = 0;
	uint32_t at = py->layout.tstate.executor;
	struct plumb_error *err = at ? pl_mem_read_u64(mem, tstate + at, &executor) : NULL;

	if (known_ret)
		*known_ret = at && !err;
	plumb_error_destroy(err);
	return at && !err && executor;
}

bool pl_tstate_has_gil(const struct pl_tstate *ts, const struct pl_interp *in)
{
	return ts->gil_words ? ts->holds_gil : in->gil_holder == ts->addr;
}

bool pl_tstate_may_run(const struct pl_tstate *ts, const struct pl_interp *in)
{
	if (ts->attach_word)
		return ts->attached;
	return !in->gil_known || pl_tstate_has_gil(ts, in);
}

struct plumb_error *pl_gil_exists(struct pl_mem *mem, const struct pl_py *py, bool *ret)
{
	struct pl_interp interp;
	pl_addr head;

	*ret = true;
	if (!py->layout.free_threaded)
		return NULL;
	struct plumb_error *err = pl_interp_head(mem, py, &head);
	if (!err)
		err = pl_interp_read(mem, py, head, &interp);
	if (!err)
		*ret = interp.gil_known;
	return err;
}

struct plumb_error *pl_tstate_list(struct pl_mem *mem, const struct pl_py *py, const struct pl_interp *interp,
				   pl_tstate_vec *ret, bool *whole_ret)
{
	struct pl_cycle_guard guard = {0};
	pl_addr addr = interp->threads_head;

	tell_whole(whole_ret, false);
	for (size_t done = 0; addr; done++) {
		struct pl_tstate ts;
		if (done == PL_MAX_THREADS)
			return NULL;
		if (pl_goes_round(&guard, addr))
			return &pl_err_corrupt;
		struct plumb_error *err = pl_tstate_read(mem, py, addr, &ts);
		if (!err && ts.interp != interp->addr)
			err = &pl_err_corrupt; /* freed, its memory used again */
		if (ends_list(err, done))
			return NULL;
		if (err)
			return err;
		if (!pl_vec_push(ret, ts))
			return &pl_err_no_memory;
		addr = ts.next;
	}
	tell_whole(whole_ret, true);
	return NULL;
}

static bool tid_is_at(struct pl_mem *mem, pl_addr pthread, uint32_t at, const pid_t *tids, size_t n)
{
	uint32_t word;
	struct plumb_error *err = pl_mem_read(mem, pthread + at, &word, sizeof word);

	for (size_t i = 0; i < n && !err; i++)
		if (word == (uint32_t)tids[i] && word)
			return true;
	return false;
}

struct plumb_error *pl_pthread_tid_offset(struct pl_mem *mem, pl_addr pthread, const pid_t *tids, size_t n,
					  uint32_t *ret)
{
	if (!pl_pointer_ok(pthread) || !n)
		return &pl_err_corrupt;
	for (size_t i = 0; i < sizeof usual_tid_at / sizeof *usual_tid_at; i++) {
		if (tid_is_at(mem, pthread, usual_tid_at[i], tids, n)) {
			*ret = usual_tid_at[i];
			return NULL;
		}
	}
	for (uint32_t at = 0; at < PTHREAD_SCAN_MAX; at += 4) {
		if (tid_is_at(mem, pthread, at, tids, 1)) {
			*ret = at;
			return NULL;
		}
	}
	return &pl_err_corrupt;
}
