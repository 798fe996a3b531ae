/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. See outer.h; never stops the target. */
#include "outer.h"

#include <assert.h>

#include "clock.h"

#define LOOKS	   8	 /* that must agree with what is known: in a loop of a microsecond some can be torn alike */
#define LOOKS_MAX  48	 /* the others lost their way in a frame that was popped, or found that known ones have moved */
#define LINKS_MAX  48	 /* from the innermost frame to a known one */
#define STEP_NS	   2048	 /* a look comes up to so much later, at random: no loop keeps step with it */
#define READ_TWICE 24	 /* innermost ranges; what is farther out changes seldom */
#define GAP	   3072u /* less than a page: what lies between two frames is mapped as they are */

void pl_outer_deinit(struct pl_outer *o)
{
	pl_vec_deinit(&o->known);
	pl_vec_deinit(&o->ranges);
	pl_vec_deinit(&o->pieces);
	pl_vec_deinit(&o->bytes);
	pl_vec_deinit(&o->nodes);
}

static bool fatal(const struct plumb_error *err)
{
	return err == &pl_err_no_memory || err == &pl_err_target_exited;
}

static bool same_function(const struct pl_frame *a, const struct pl_frame *b)
{
	return a->code == b->code && a->previous == b->previous && a->owner == b->owner && a->kind == b->kind;
}

/* @p inner, innermost first, inside of what is known. */
static bool add_known(struct pl_outer *o, const pl_frame_vec *inner)
{
	if (!pl_vec_reserve(&o->known, inner->len))
		return false;
	for (size_t i = inner->len; i-- > 0;)
		o->known.data[o->known.len++] = inner->data[i];
	o->planned = 0;
	return true;
}

static void add_range(struct pl_outer *o, struct pl_range range)
{
	assert(o->ranges.data); /* room was made for two of each frame, and the data stack */
	o->ranges.data[o->ranges.len++] = range;
}

/* Of the range that was added last. */
static void add_piece(struct pl_outer *o, size_t frame)
{
	assert(o->pieces.data);
	o->pieces.data[o->pieces.len++] =
		(struct pl_outer_piece){.frame = (uint32_t)frame, .range = (uint32_t)o->ranges.len - 1};
}

/* A range that ends here, before @p r, is read with it. */
static bool near(const struct pl_range *r, pl_addr end)
{
	return end <= r->addr && r->addr - end <= GAP;
}

/* All known frames from the innermost outwards, in as few ranges as there are places. */
static void plan_outwards(struct pl_outer *o, uint32_t span)
{
	for (size_t i = o->known.len; i-- > 0;) {
		pl_addr addr = o->known.data[i].addr;
		struct pl_range *last = o->ranges.len ? &o->ranges.data[o->ranges.len - 1] : NULL;

		if (last && near(last, addr + span))
			*last = (struct pl_range){addr, (uint32_t)(last->addr + last->len - addr)};
		else
			add_range(o, (struct pl_range){addr, span});
		add_piece(o, i);
	}
}

/* And back inwards, but for the outermost range: so what a frame calls is read on both sides of it. */
static void plan_inwards(struct pl_outer *o)
{
	size_t p = o->pieces.len, n = o->ranges.len - 1;

	for (size_t g = n < READ_TWICE ? n : READ_TWICE; g-- > 0;) {
		add_range(o, o->ranges.data[g]);
		for (; p > 0 && o->pieces.data[p - 1].range >= g; p--)
			if (o->pieces.data[p - 1].range == g)
				add_piece(o, o->pieces.data[p - 1].frame);
	}
}

/* Where the pieces are among the bytes. */
static uint32_t place(struct pl_outer *o)
{
	uint32_t start = 0;
	size_t range = 0;

	for (size_t i = 0; i < o->pieces.len; i++) {
		struct pl_outer_piece *p = &o->pieces.data[i];

		while (range < p->range)
			start += o->ranges.data[range++].len;
		p->at = start + (uint32_t)(o->known.data[p->frame].addr - o->ranges.data[range].addr);
	}
	while (range < o->ranges.len)
		start += o->ranges.data[range++].len;
	return start;
}

static bool plan(struct pl_outer *o, const struct pl_py *py, pl_addr tstate)
{
	const struct pl_range stack = pl_data_stack_range(py, tstate);
	size_t known = o->known.len;

	o->planned = 0; /* nothing, until there is room for all of it */
	pl_vec_clear(&o->ranges);
	pl_vec_clear(&o->pieces);
	if (!pl_vec_reserve(&o->ranges, 2 * known + 1) || !pl_vec_reserve(&o->pieces, 2 * known))
		return false;
	plan_outwards(o, py->layout.frame_span);
	plan_inwards(o);
	o->stack_at = place(o);
	if (stack.len)
		add_range(o, stack);
	pl_vec_clear(&o->bytes);
	if (!pl_vec_reserve(&o->bytes, o->stack_at + stack.len))
		return false;
	o->planned = known;
	return true;
}

/* Does a copy of a known frame contradict what is known? @p first: nothing is yet, but who links to whom. */
static void compare(struct pl_reader *r, struct pl_outer *o, const struct pl_outer_piece *p, bool first)
{
	struct pl_frame f, *known = &o->known.data[p->frame];

	if (p->frame >= o->known.len)
		return;
	bool parsed = !pl_frame_parse(&r->py, o->bytes.data + p->at, known->addr, &f);
	if (!parsed || f.freed || (first ? f.previous != known->previous : !same_function(&f, known))) {
		o->known.len = p->frame;
		return;
	}
	/* The same call at another line: its callers are proved, what it called is not. */
	if (!first && f.instr != known->instr)
		o->known.len = p->frame + 1;
	*known = f;
}

/* A popped frame of the data stack keeps its words until another one takes its place. */
static void drop_popped(struct pl_reader *r, struct pl_outer *o)
{
	size_t i = 0;

	if (pl_data_stack_range(&r->py, 0).len == 0)
		return;
	while (i < o->known.len && !pl_data_stack_above(&r->py, o->bytes.data + o->stack_at, o->known.data[i].addr))
		i++;
	o->known.len = i;
}

/* A new copy of the known frames. */
static struct plumb_error *copy(struct pl_reader *r, pl_addr tstate, struct pl_outer *o, bool first)
{
	size_t got;

	if (o->known.len == 0)
		return NULL;
	if (o->planned != o->known.len && !plan(o, &r->py, tstate))
		return &pl_err_no_memory;
	struct plumb_error *err = pl_mem_live_readv(r->live, o->ranges.data, o->ranges.len, o->bytes.data, &got);
	if (err)
		return err;
	if (got < o->ranges.len)
		pl_vec_clear(&o->known);
	for (size_t i = 0; i < o->pieces.len; i++)
		compare(r, o, &o->pieces.data[i], first && i < o->planned);
	drop_popped(r, o);
	return NULL;
}

static size_t find(const struct pl_outer *o, pl_addr addr)
{
	size_t i = o->known.len;

	while (i > 0 && o->known.data[i - 1].addr != addr)
		i--;
	return i;
}

/* Follow the links from the innermost frame to where a known one is. @p inner: the frames on the way, unless NULL. */
static struct plumb_error *look(struct pl_reader *r, pl_addr tstate, struct pl_outer *o, pl_frame_vec *inner,
				bool *found)
{
	pl_addr addr;
	struct plumb_error *err = pl_tstate_frame(r->mem, &r->py, tstate, &addr);

	*found = false;
	for (size_t links = 0; !err && addr && links < LINKS_MAX; links++) {
		struct pl_frame f;
		size_t depth = find(o, addr);

		*found = depth > 0;
		if (*found) {
			o->known.len = depth;
			return NULL;
		}
		err = pl_frame_read(r->mem, &r->py, addr, &f);
		if (err)
			break;
		if (inner && !pl_vec_push(inner, f))
			return &pl_err_no_memory;
		addr = f.previous;
	}
	if (fatal(err))
		return err;
	plumb_error_destroy(err);
	return NULL;
}

/* A look that comes to a known frame, and at once a copy of that frame and its callers. @p agreed: they are as they
 * were. */
static struct plumb_error *look_and_copy(struct pl_reader *r, pl_addr tstate, struct pl_outer *o, bool *agreed)
{
	struct plumb_error *err = look(r, tstate, o, NULL, agreed);
	size_t depth = o->known.len;

	if (!err && *agreed)
		err = copy(r, tstate, o, false);
	*agreed = *agreed && o->known.len == depth;
	return err;
}

static uint16_t read_opcode(struct pl_reader *r, const struct pl_frame *f, int32_t offset)
{
	uint8_t opcode;

	if (!r->opcodes || offset < 0 || !pl_frame_instr_is_address(&r->py))
		return 0;
	return pl_mem_read(r->mem, f->instr, &opcode, 1) ? 0 : (uint16_t)(1 + opcode);
}

static struct plumb_error *name_frame(struct pl_reader *r, const struct pl_frame *f, uint64_t generation,
				      uint32_t parent, uint32_t *ret)
{
	const struct pl_codes_reading reading = {
		.py = &r->py, .mem = r->mem, .live = r->mem, .tick = r->tick, .generation = generation};
	struct pl_code_place at;
	struct plumb_error *err = pl_codes_resolve(&r->codes, &reading, f, &at);

	return err ? err : pl_trie_child(r->trie, parent, at.code, at.offset, read_opcode(r, f, at.offset), ret);
}

/* The stacks of the frames that are agreed on: as far as their code can be told, and as there is room for them. */
static struct plumb_error *name_frames(struct pl_reader *r, struct pl_stack_reader *s, struct pl_outer *o)
{
	struct pl_interp now;
	uint32_t node = 0;

	r->tick++;
	if (!pl_vec_reserve(&o->nodes, o->known.len))
		return &pl_err_no_memory;
	struct plumb_error *err = pl_interp_read_again(r->mem, &r->py, &s->interp, &now);
	if (!err)
		pl_codes_note_copies(&r->codes, now.tlbc_generation);
	for (size_t i = 0; !err && i < o->known.len; i++) {
		if (o->known.data[i].kind == PL_FRAME_PYTHON)
			err = name_frame(r, &o->known.data[i], now.code_generation, node, &node);
		if (!err)
			o->nodes.data[o->nodes.len++] = node;
	}
	if (fatal(err))
		return err;
	plumb_error_destroy(err);
	o->known.len = o->nodes.len;
	return NULL;
}

/* What was known at the last sample, with what the thread has called since. */
static struct plumb_error *go_on(struct pl_reader *r, struct pl_stack_reader *s, struct pl_outer *o)
{
	bool found;

	pl_vec_clear(&s->walked);
	struct plumb_error *err = look(r, s->tstate, o, &s->walked, &found);
	return !err && found && !add_known(o, &s->walked) ? &pl_err_no_memory : err;
}

static struct plumb_error *begin(struct pl_reader *r, struct pl_stack_reader *s, struct pl_outer *o, bool walked,
				 pl_addr root)
{
	struct plumb_error *err = NULL;

	pl_vec_clear(&o->nodes);
	if (walked) {
		pl_vec_clear(&o->known);
		o->root = root;
		err = add_known(o, &s->frames) ? NULL : &pl_err_no_memory;
	} else {
		err = go_on(r, s, o);
	}
	return err ? err : copy(r, s->tstate, o, true);
}

static void get_out_of_step(struct pl_outer *o)
{
	o->random = o->random * 6364136223846793005ull + 1442695040888963407ull;
	uint64_t end = pl_clock_monotonic_ns() + (o->random >> 32) % STEP_NS;

	while (pl_clock_monotonic_ns() < end)
		continue;
}

struct plumb_error *pl_outer_read(struct pl_reader *r, struct pl_stack_reader *s, struct pl_outer *o, bool walked,
				  pl_addr root, uint32_t *node_ret)
{
	struct plumb_error *err = begin(r, s, o, walked, root);
	size_t found = 0;
	uint32_t tag = 0;

	*node_ret = o->tag = 0;
	for (size_t i = 0; !err && i < LOOKS_MAX && found < LOOKS && o->known.len; i++) {
		bool agreed = false;

		if (i == 0)
			tag = pl_stack_tag(r, s);
		/* The last look comes after names and tag: what ran then ran the code that was named, as it was tagged.
		 */
		if (found == LOOKS - 1 && o->nodes.len == 0) {
			o->tag = pl_stack_tag(r, s) == tag ? tag : 0; /* else it may be that of other frames */
			err = name_frames(r, s, o);
		}
		if (!err)
			err = look_and_copy(r, s->tstate, o, &agreed);
		if (!err && agreed && ++found < LOOKS)
			get_out_of_step(o);
	}
	if (!err && found == LOOKS && o->known.len)
		*node_ret = o->nodes.data[o->known.len - 1];
	return err;
}
