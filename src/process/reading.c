/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. Reads and judges; never stops the target and never decides what to do about a
 * reading that is not proved: that is thread_sampler.c. */
#include "reading.h"

#include <string.h>

#include "mem_limited.h"
#include "tags_layout.h"

/* So many of the innermost frames are read before and after the rest: it is they that change when a thread moves. */
#define ANCHORED_FRAMES 6
/* A thread's outermost frame is learnt, and may become another (start-up ends, an embedding host calls in again):
 * believe it when so many readings in a row agree. A torn chain through a suspended generator ends anywhere and does
 * not. */
#define ROOT_AGREEMENT 3
#define BARE_AGREEMENT 50
/* No thread state is longer, and none lies so near to a C stack. */
#define TSTATE_BYTES 1024
/* A tail that begins so far out is still a good one; beyond, look for a longer one. */
#define TAIL_WITHIN 16
/* For those that await a task, at each sample, of a thread that may be stopped meanwhile: some 16,000 reads. Ten tasks
 * one above the other take some hundreds. */
#define TASK_WORK (UINT64_C(16) << 20)

struct plumb_error *pl_tables_init(struct pl_tables *t)
{
	*t = (struct pl_tables){0};
	return pl_trie_init(&t->trie);
}

void pl_tables_deinit(struct pl_tables *t)
{
	pl_code_store_deinit(&t->codes);
	pl_trie_deinit(&t->trie);
}

void pl_reader_init(struct pl_reader *r, struct pl_tables *t)
{
	*r = (struct pl_reader){.trie = &t->trie};
	pl_codes_init(&r->codes, &t->codes);
}

static void bind(struct pl_reader *r, const struct pl_py *py, struct pl_mem *mem, struct pl_mem_live *live)
{
	r->py = *py;
	r->mem = mem;
	r->live = live;
	r->roots_seen = 0;
	pl_codes_forget(&r->codes);
	pl_task_finders_forget(&r->task_finders);
}

void pl_reader_bind(struct pl_reader *r, const struct pl_py *py, struct pl_mem_live *live)
{
	bind(r, py, pl_mem_live_mem(live), live);
}

void pl_reader_bind_core(struct pl_reader *r, const struct pl_py *py, struct pl_mem *mem)
{
	bind(r, py, mem, NULL);
	r->codes.ration.unlimited = true; /* nobody waits for us */
}

void pl_reader_deinit(struct pl_reader *r)
{
	pl_codes_deinit(&r->codes);
	pl_task_finders_deinit(&r->task_finders);
}

void pl_stack_reader_init(struct pl_stack_reader *s, struct pl_reader *r, pl_addr tstate,
			  const struct pl_interp *interp)
{
	*s = (struct pl_stack_reader){.tstate = tstate, .interp = *interp};
	if (r->live)
		pl_snapshot_init(&s->snap, r->live);
	else
		pl_snapshot_init_of_core(&s->snap, r->mem);
}

void pl_stack_reader_deinit(struct pl_stack_reader *s)
{
	pl_snapshot_deinit(&s->snap);
	pl_vec_deinit(&s->frames);
	pl_vec_deinit(&s->walked);
	pl_vec_deinit(&s->seen.now);
	pl_vec_deinit(&s->seen.before);
	pl_vec_deinit(&s->task_frames);
	pl_vec_deinit(&s->task_seen.now);
	pl_vec_deinit(&s->task_seen.before);
}

static void anchor_frames(struct pl_reader *r, struct pl_stack_reader *s)
{
	for (size_t i = 0; i < s->frames.len && i < ANCHORED_FRAMES; i++) {
		struct pl_range range = pl_frame_range(&r->py, s->frames.data[i].addr);

		pl_snapshot_anchor(&s->snap, range.addr, range.len);
	}
}

/* The frames of the walk before that still stand as they were. */
static struct pl_frame_tail standing(struct pl_stack_reader *s, const struct pl_stack_tail *t)
{
	for (size_t i = 0; i < t->ranges; i++)
		if (!pl_snapshot_unchanged(&s->snap, t->bytes[i].addr, t->bytes[i].len))
			return (struct pl_frame_tail){0};
	if (!t->count)
		return (struct pl_frame_tail){0};
	return (struct pl_frame_tail){s->walked.data + s->walked.len - t->count, t->count, t->root};
}

static bool piece_has(const struct pl_piece *p, struct pl_range r)
{
	return p && r.addr >= p->addr && r.addr + r.len <= p->addr + p->len;
}

static void widen(struct pl_range *a, struct pl_range b)
{
	pl_addr end = a->addr + a->len > b.addr + b.len ? a->addr + a->len : b.addr + b.len;

	if (b.addr < a->addr)
		a->addr = b.addr;
	a->len = (uint32_t)(end - a->addr);
}

/* How far from the root the frames can be compared; not those that are anchored, they are read anew each time. */
static void find_tail(struct pl_reader *r, struct pl_stack_reader *s, pl_addr root)
{
	struct pl_stack_tail *t = &s->tail;
	const struct pl_piece *piece = NULL;

	t->root = root;
	t->ranges = 0;
	for (size_t i = s->frames.len; i-- > ANCHORED_FRAMES; t->count++) {
		struct pl_range f = pl_frame_range(&r->py, s->frames.data[i].addr);

		if (piece_has(piece, f)) {
			widen(&t->bytes[t->ranges - 1], f);
			continue;
		}
		piece = pl_snapshot_piece(&s->snap, f.addr, f.len);
		if (!piece || t->ranges == PL_TAIL_RANGES)
			break;
		t->bytes[t->ranges++] = f;
	}
}

/* The chain of frames; @p tail is the walk's before. True if the walk came to an end. */
static bool walk_frames(struct pl_reader *r, struct pl_stack_reader *s, const struct pl_stack_tail *tail,
			struct pl_reading *ret)
{
	struct pl_frame_tail known = standing(s, tail);

	if (pl_frame_walk(&s->snap.mem, &r->py, &ret->tstate, &known, &s->frames, &ret->root))
		return false;
	bool taken = known.len && s->frames.len >= known.len && ret->root == known.root &&
		     s->frames.data[s->frames.len - known.len].addr == known.frames[0].addr;
	if (taken && s->frames.len - known.len <= TAIL_WITHIN)
		s->tail = *tail;
	else if (s->snap.whole)
		find_tail(r, s, ret->root);
	return true;
}

static bool wants_tag(const struct pl_reader *r)
{
	return r->tags && __atomic_load_n(&r->tags->ready, __ATOMIC_ACQUIRE);
}

/* Words that cannot be read or make no sense are no tag. */
static void read_context(struct pl_reader *r, struct pl_stack_reader *s, struct pl_reading *ret)
{
	if (!wants_tag(r))
		return;
	const struct pl_context_layout layout = pl_tags_layout(r->tags);
	plumb_error_destroy(pl_context_read(&s->snap.mem, &layout, s->tstate, &ret->context));
}

static void read_tag(struct pl_reader *r, struct pl_stack_reader *s, struct pl_reading *ret)
{
	if (!ret->context.vars)
		return;
	const struct pl_context_layout layout = pl_tags_layout(r->tags);
	plumb_error_destroy(pl_context_tag(&s->snap.mem, &layout, &ret->context, &ret->tag));
}

/* Its thread has ended it, and may go on for a while without Python. Its memory may be the next one's by now. */
static bool state_has_ended(const struct pl_stack_reader *s, const struct pl_tstate *now)
{
	return now->interp != s->interp.addr || (s->thread_id && now->thread_id != s->thread_id);
}

/* Thread state, context, interpreter and frames, through the snapshot. True if the walk came to an end. */
static bool walk(struct pl_reader *r, struct pl_stack_reader *s, struct pl_reading *ret)
{
	struct pl_mem *mem = &s->snap.mem;
	struct pl_stack_tail tail = s->tail;
	pl_frame_vec tmp = s->walked;

	s->walked = s->frames;
	s->frames = tmp;
	pl_vec_clear(&s->frames);
	s->tail.count = 0;
	if (pl_tstate_read(mem, &r->py, s->tstate, &ret->tstate))
		return false;
	if (state_has_ended(s, &ret->tstate)) {
		*ret = (struct pl_reading){.tstate.addr = s->tstate, .bare = true, .complete = true};
		return false;
	}
	read_context(r, s, ret);
	pl_snapshot_anchor_touched(&s->snap);
	read_tag(r, s, ret);
	if (pl_interp_read_again(mem, &r->py, &s->interp, &ret->interp))
		return false;
	ret->in_jit = pl_tstate_in_jit(mem, &r->py, s->tstate, NULL);
	bool ended = ret->tstate.frame == 0 || walk_frames(r, s, &tail, ret);
	anchor_frames(r, s);
	return ended;
}

static bool same_tstate(const struct pl_tstate *a, const struct pl_tstate *b)
{
	return a->frame == b->frame && a->cframe == b->cframe && a->chunk == b->chunk && a->interp == b->interp;
}

/* The innermost instruction may move on inside its function; nothing else may. */
static bool same_frame(const struct pl_frame *a, const struct pl_frame *b, bool innermost)
{
	return a->code == b->code && a->previous == b->previous && a->owner == b->owner &&
	       (innermost || a->instr == b->instr);
}

/* The tag is that of the frames if it could not be another one while they were read. */
static bool same_context(struct pl_reader *r, struct pl_stack_reader *s, struct pl_mem *mem,
			 const struct pl_context *context)
{
	struct pl_context c;

	if (!wants_tag(r))
		return true;
	const struct pl_context_layout layout = pl_tags_layout(r->tags);
	return !pl_context_read(mem, &layout, s->tstate, &c) && c.addr == context->addr && c.vars == context->vars;
}

static bool anchors_equal(struct pl_reader *r, struct pl_stack_reader *s, struct pl_reading *reading)
{
	struct pl_tstate before, after;

	if (pl_tstate_read(&s->snap.before, &r->py, s->tstate, &before) ||
	    pl_tstate_read(&s->snap.after, &r->py, s->tstate, &after))
		return false;
	if (!same_tstate(&before, &reading->tstate) || !same_tstate(&after, &reading->tstate))
		return false;
	if (!same_context(r, s, &s->snap.before, &reading->context) ||
	    !same_context(r, s, &s->snap.after, &reading->context))
		return false;
	for (size_t i = 0; i < s->frames.len && i < ANCHORED_FRAMES; i++) {
		const struct pl_frame *f = &s->frames.data[i];
		struct pl_frame b, a;

		if (pl_frame_read(&s->snap.before, &r->py, f->addr, &b) ||
		    pl_frame_read(&s->snap.after, &r->py, f->addr, &a))
			return i >= 2; /* far frames may have found no room among the anchors */
		if (!same_frame(&b, f, i == 0) || !same_frame(&a, f, i == 0))
			return false;
		if (i == 0)
			reading->at_rest = b.instr == a.instr;
	}
	return true;
}

/* The same frame at the same instruction, and its code is proved for this reading. */
static bool seen_before(const struct pl_reader *r, const struct pl_frame *f, const struct pl_seen_frame *old,
			uint64_t generation)
{
	return old && old->addr == f->addr && old->code == f->code && old->instr == f->instr &&
	       pl_codes_fresh(&r->codes, old->slot, r->tick, generation) &&
	       pl_codes_slot(&r->codes, old->slot)->code == old->code_id;
}

/* 1 + the opcode that @p f runs at @p offset, specialised or not: the low byte of its code unit. 0: not asked for, not
 * begun yet, a release without instruction pointers, or nothing to read. */
static uint16_t read_opcode(struct pl_reader *r, struct pl_stack_reader *s, const struct pl_frame *f, int32_t offset)
{
	uint8_t opcode;

	if (!r->opcodes || offset < 0 || !pl_frame_instr_is_address(&r->py))
		return 0;
	return pl_snapshot_peek(&s->snap, f->instr, &opcode, 1) ? 0 : (uint16_t)(1 + opcode);
}

/* Frames become a stack id. */
struct naming {
	struct pl_reader *r;
	struct pl_stack_reader *s;
	const pl_frame_vec *frames; /* innermost first */
	struct pl_seen_stack *seen;
	uint64_t generation; /* of code objects */
};

static struct plumb_error *resolve(const struct naming *n, const struct pl_frame *f, struct pl_code_place *ret)
{
	struct pl_reader *r = n->r;
	const struct pl_codes_reading reading = {
		.py = &r->py, .mem = &n->s->snap.mem, .live = r->mem, .tick = r->tick, .generation = n->generation};

	return pl_codes_resolve(&r->codes, &reading, f, ret);
}

/* What calls has the opcode that it had when it called; the innermost frame may have come back to where it was. */
static bool same_opcode(const struct naming *n, const struct pl_frame *f, const struct pl_seen_frame *old)
{
	return f != n->frames->data || read_opcode(n->r, n->s, f, old->offset) == old->opcode;
}

/* @p old: the frame at this depth in the last reading, if all outside of it were the same. */
static struct plumb_error *see_frame(const struct naming *n, const struct pl_frame *f, const struct pl_seen_frame *old,
				     uint32_t parent, struct pl_seen_frame *ret)
{
	struct pl_reader *r = n->r;
	struct pl_code_place at;

	if (seen_before(r, f, old, n->generation) && same_opcode(n, f, old)) {
		*ret = *old;
		return NULL;
	}
	struct plumb_error *err = resolve(n, f, &at);
	if (err)
		return err;
	struct pl_seen_frame seen = {.addr = f->addr,
				     .code = f->code,
				     .instr = f->instr,
				     .slot = at.slot,
				     .code_id = at.code,
				     .offset = at.offset,
				     .opcode = read_opcode(r, n->s, f, at.offset)};
	if (old && old->code_id == seen.code_id && old->offset == seen.offset && old->opcode == seen.opcode)
		seen.node = old->node;
	else
		err = pl_trie_child(r->trie, parent, seen.code_id, seen.offset, seen.opcode, &seen.node);
	*ret = seen;
	return err;
}

/* Turn the frames into a stack id. While they equal those of the last reading, so do their nodes. */
static struct plumb_error *see_frames(const struct naming *n, uint32_t *node, bool *folded)
{
	size_t depth = 0;
	bool same = true;
	pl_seen_vec *now = &n->seen->now, *before = &n->seen->before, tmp = *before;

	*before = *now;
	*now = tmp;
	pl_vec_clear(now);
	*node = 0;
	if (!pl_vec_reserve(now, n->frames->len))
		return &pl_err_no_memory;
	for (size_t i = n->frames->len; i-- > 0;) {
		const struct pl_frame *f = &n->frames->data[i];
		struct pl_seen_frame *seen = &now->data[depth];

		if (f->kind != PL_FRAME_PYTHON)
			continue;
		const struct pl_seen_frame *old = same && depth < before->len ? &before->data[depth] : NULL;
		struct plumb_error *err = see_frame(n, f, old, *node, seen);
		*folded = err == &pl_err_limit;
		if (*folded) /* what is known of it is its outer part */
			return NULL;
		if (err)
			return err;
		same = old && old->node == seen->node;
		*node = seen->node;
		now->len = ++depth;
	}
	return NULL;
}

static bool has_suspending_code(const struct pl_reader *r, const struct pl_seen_frame *seen)
{
	return r->codes.store->known.data[seen->code_id]->code.suspends;
}

/* A generator's frame ends a chain that was torn while it was suspended; it is hardly ever a thread's outermost. */
static bool suspends(const struct pl_reader *r, const struct pl_stack_reader *s)
{
	if (s->frames.len == 0 || s->seen.now.len == 0)
		return false;
	return pl_frame_of_generator(&r->py, &s->frames.data[s->frames.len - 1]) ||
	       has_suspending_code(r, &s->seen.now.data[0]);
}

/* Is one of the thread's frames, but for the innermost @p inner, a generator or a coroutine? */
static bool has_generators(const struct pl_reader *r, const struct pl_stack_reader *s, size_t inner)
{
	size_t depth = 0;

	for (size_t i = s->frames.len; i-- > inner;) {
		const struct pl_frame *f = &s->frames.data[i];

		if (f->kind != PL_FRAME_PYTHON || depth == s->seen.now.len)
			continue;
		if (pl_frame_of_generator(&r->py, f) || has_suspending_code(r, &s->seen.now.data[depth++]))
			return true;
	}
	return false;
}

/* The code of the outermost frame is in the last reading. */
static bool has_root_code(const struct pl_stack_reader *s, pl_addr root)
{
	return root && s->seen.now.len && s->seen_root == root;
}

static bool is_root_code(const struct pl_reader *r, uint32_t code_id)
{
	for (uint32_t i = 0; i < r->roots_seen && i < PL_ROOT_CODES; i++)
		if (r->root_codes[i] == code_id)
			return true;
	return false;
}

bool pl_stack_root_as_others(const struct pl_reader *r, const struct pl_stack_reader *s, pl_addr root)
{
	return !s->root && has_root_code(s, root) && is_root_code(r, s->seen.now.data[0].code_id);
}

void pl_stack_trust(struct pl_reader *r, struct pl_stack_reader *s, const struct pl_reading *reading)
{
	if (!reading->root)
		return;
	s->root = reading->root;
	if (has_root_code(s, s->root) && !is_root_code(r, s->seen.now.data[0].code_id))
		r->root_codes[r->roots_seen++ % PL_ROOT_CODES] = s->seen.now.data[0].code_id;
}

bool pl_stack_root_known(const struct pl_reader *r, struct pl_stack_reader *s, pl_addr root)
{
	if (root == 0 || root == s->root)
		return true;
	if (suspends(r, s))
		return false;
	if (pl_stack_root_as_others(r, s, root)) {
		s->root = root;
		return true;
	}
	if (root != s->other_root) {
		s->other_root = root;
		s->other_root_seen = 0;
	}
	if (++s->other_root_seen < ROOT_AGREEMENT)
		return false;
	s->root = root;
	s->other_root = 0;
	return true;
}

static bool fatal(const struct plumb_error *err)
{
	return err == &pl_err_no_memory || err == &pl_err_target_exited;
}

/* A task without awaiters that runs inside of another coroutine was begun there, eagerly: it is on that one's stack. */
static bool is_begun_inside(const struct pl_reader *r, const struct pl_stack_reader *s, size_t own)
{
	return own == s->task_frames.len && has_generators(r, s, own);
}

static struct plumb_error *read_task(struct pl_reader *r, struct pl_stack_reader *s, const struct pl_interp *now,
				     size_t *own)
{
	struct pl_work work = {.most = TASK_WORK};
	struct pl_mem_limited limited;
	struct pl_task_stacks *stacks = NULL;
	struct plumb_error *err = pl_task_finders_get(&r->task_finders, &r->py, r->live, now, &stacks);

	*own = 0;
	pl_vec_clear(&s->task_frames);
	if (err || !stacks)
		return err;
	struct pl_mem *mem = pl_mem_limited_init(&limited, &s->snap.mem, &work);
	return pl_task_stack_read(stacks, mem, s->tstate, &s->frames, &s->task_frames, own);
}

static size_t python_frames(const pl_frame_vec *frames, size_t inner)
{
	size_t n = 0;

	for (size_t i = 0; i < inner && i < frames->len; i++)
		n += frames->data[i].kind == PL_FRAME_PYTHON;
	return n;
}

/* The stack of the task that the thread runs. What cannot be read leaves the sample what it is. */
static struct plumb_error *see_task(struct pl_reader *r, struct pl_stack_reader *s, struct pl_reading *ret)
{
	struct naming naming = {r, s, &s->task_frames, &s->task_seen, ret->interp.code_generation};
	bool folded = false;
	size_t own;

	if (!has_generators(r, s, 0))
		return NULL;
	struct plumb_error *err = read_task(r, s, &ret->interp, &own);
	ret->in_task = err || (own && !is_begun_inside(r, s, own));
	if (!err && ret->in_task)
		err = see_frames(&naming, &ret->task_node, &folded);
	if (err || folded)
		ret->task_node = 0;
	if (ret->task_node)
		s->task_own = python_frames(&s->frames, own);
	if (!err || fatal(err))
		return err;
	pl_vec_clear(&s->task_seen.now);
	plumb_error_destroy(err);
	return NULL;
}

struct plumb_error *pl_stack_name_task(struct pl_reader *r, struct pl_stack_reader *s, const struct pl_interp *now,
				       uint32_t *ret)
{
	struct naming naming = {r, s, &s->task_frames, &s->task_seen, now->code_generation};
	bool folded = false;

	pl_snapshot_bypass(&s->snap);
	struct plumb_error *err = see_frames(&naming, ret, &folded);
	if (err || folded)
		*ret = 0;
	if (!err || fatal(err))
		return err;
	pl_vec_clear(&s->task_seen.now);
	plumb_error_destroy(err);
	return NULL;
}

/* It is in no call of the interpreter's eval loop. 3.11 and 3.12 have one more C frame in the thread state itself,
 * which is the current one then; 3.15 has a frame there. */
static bool runs_nothing(const struct pl_tstate *ts)
{
	return !pl_tstate_runs_frames(ts) && (!ts->cframe || ts->cframe - ts->addr < TSTATE_BYTES);
}

struct plumb_error *pl_stack_read(struct pl_reader *r, struct pl_stack_reader *s, struct pl_reading *ret)
{
	*ret = (struct pl_reading){0};
	s->task_own = 0;
	r->tick++;
	struct plumb_error *err = pl_snapshot_fetch(&s->snap);
	if (err)
		return err;
	if (!walk(r, s, ret))
		return NULL;
	pl_codes_note_copies(&r->codes, ret->interp.tlbc_generation);
	struct naming naming = {r, s, &s->frames, &s->seen, ret->interp.code_generation};
	err = see_frames(&naming, &ret->node, &ret->folded);
	if (!err && r->tasks && !ret->folded)
		err = see_task(r, s, ret);
	if (err) {
		pl_vec_clear(&s->seen.now);
		if (fatal(err))
			return err;
		plumb_error_destroy(err);
		/* Where there was more new code than may be learnt at once, the next reading begins with what this one
		 * has read: at the cost of one call, however deep the stack. */
		pl_snapshot_learn(&s->snap);
		return NULL;
	}
	s->seen_root = ret->root;
	s->cframe = ret->tstate.cframe;
	/* A thread that had frames is caught without any: at a frame's birth (3.11 links it in two steps), or truly. */
	ret->bare = s->frames.len == 0 && runs_nothing(&ret->tstate);
	bool unborn = s->frames.len == 0 && s->root != 0 && !ret->bare;
	ret->complete = !unborn || ++s->bare_readings > BARE_AGREEMENT;
	if (!unborn)
		s->bare_readings = 0;
	ret->steady = ret->complete && s->frames.len && s->snap.whole && anchors_equal(r, s, ret) &&
		      pl_stack_root_known(r, s, ret->root);
	pl_snapshot_learn(&s->snap);
	return NULL;
}

/* How many of the innermost frames are whole. */
static struct plumb_error *count_inner(const struct naming *n, size_t *ret)
{
	struct pl_code_place at;
	struct plumb_error *err = NULL;

	for (*ret = 0; *ret < n->frames->len; ++*ret) {
		const struct pl_frame *f = &n->frames->data[*ret];

		if (f->kind == PL_FRAME_PYTHON && (err = resolve(n, f, &at)))
			break;
	}
	if (err == &pl_err_no_memory)
		return err;
	plumb_error_destroy(err);
	return NULL;
}

struct plumb_error *pl_stack_read_inner(struct pl_reader *r, struct pl_stack_reader *s, struct pl_reading *ret)
{
	pl_frame_vec inner = s->frames; /* its memory stays theirs */
	struct naming naming = {r, s, &s->frames, &s->seen, ret->interp.code_generation};
	struct plumb_error *err = count_inner(&naming, &inner.len);

	naming.frames = &inner;
	return err ? err : see_frames(&naming, &ret->node, &ret->folded);
}

uint32_t pl_stack_tag(struct pl_reader *r, struct pl_stack_reader *s)
{
	struct pl_context context;
	uint32_t tag = 0;

	if (!wants_tag(r))
		return 0;
	const struct pl_context_layout layout = pl_tags_layout(r->tags);
	struct plumb_error *err = pl_context_read(r->mem, &layout, s->tstate, &context);
	if (!err && context.vars)
		err = pl_context_tag(r->mem, &layout, &context, &tag);
	plumb_error_destroy(err);
	return tag;
}
