/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. Knows nothing of Python: ranges in, bytes out. */
#include "snapshot.h"

#include <string.h>

#define PAGE		4096ull
#define MERGE_GAP	3072u /* less than a page: the gap lies in the pages of its two neighbours, so it is mapped */
#define ANCHOR_GAP	512u
#define SLACK		512u /* a stack grows a little between two fetches */
#define PREFETCH_MAX	(256u * 1024)
#define PLAN_RANGES_MAX 65536u
#define PLAN_MAX_AGE	64 /* fetches; then a plan for a deeper stack than today's is dropped */

static bool inside(pl_addr addr, size_t len, pl_addr start, size_t size)
{
	return addr >= start && len <= size && addr - start <= size - len;
}

static bool buf_reserve(struct pl_snapshot *s, size_t extra)
{
	return s->len + extra <= s->cap || pl_vec_grow((void **)&s->buf, &s->cap, s->len, extra, 1);
}

/* The body is sorted by address: the last piece that begins at or before addr is the only candidate. */
static const struct pl_piece *find_in_body(const struct pl_snapshot *s, pl_addr addr, size_t len)
{
	uint32_t lo = s->plan_anchors, hi = (uint32_t)s->plan.len - s->plan_anchors;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (s->pieces.data[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == s->plan_anchors)
		return NULL;
	const struct pl_piece *p = &s->pieces.data[lo - 1];
	return inside(addr, len, p->addr, p->len) ? p : NULL;
}

static const struct pl_piece *find_linear(const struct pl_snapshot *s, size_t from, size_t to, pl_addr addr, size_t len)
{
	for (size_t i = from; i < to; i++)
		if (inside(addr, len, s->pieces.data[i].addr, s->pieces.data[i].len))
			return &s->pieces.data[i];
	return NULL;
}

/* The first piece that was prefetched. */
static size_t ahead(const struct pl_snapshot *s)
{
	return s->fetched ? s->plan.len : 0;
}

static const struct pl_piece *find(struct pl_snapshot *s, pl_addr addr, size_t len)
{
	const struct pl_piece *p = NULL;

	if (s->last_piece < s->pieces.len) {
		p = &s->pieces.data[s->last_piece];
		if (inside(addr, len, p->addr, p->len))
			return p;
		p = NULL;
	}
	if (s->fetched) {
		p = find_linear(s, 0, s->plan_anchors, addr, len);
		if (!p)
			p = find_in_body(s, addr, len);
	}
	if (!p)
		p = find_linear(s, ahead(s), s->pieces.len, addr, len);
	if (p)
		s->last_piece = (uint32_t)(p - s->pieces.data);
	return p;
}

static void touch(struct pl_snapshot *s, pl_addr addr, size_t len)
{
	if (!s->live)
		return;
	if (s->touched.len > 0) { /* frames inside a prefetched chunk are covered by it */
		const struct pl_range *r = &s->touched.data[s->touched.len - 1];
		if (inside(addr, len, r->addr, r->len))
			return;
	}
	if (s->touched.len < PLAN_RANGES_MAX)
		(void)pl_vec_push(&s->touched, ((struct pl_range){addr, (uint32_t)len}));
}

static struct plumb_error *snapshot_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct pl_snapshot *s = (struct pl_snapshot *)mem;
	const struct pl_piece *p = find(s, addr, len);

	touch(s, addr, len);
	if (p) {
		memcpy(dst, s->buf + p->at + (addr - p->addr), len);
		return NULL;
	}
	s->whole = false;
	return pl_mem_read(s->source, addr, dst, len);
}

/* One chunk is small, but there can be any number, overlapping each other. */
static bool may_prefetch(const struct pl_snapshot *s, size_t len)
{
	return s->pieces.len - ahead(s) < PL_AHEAD_MAX && s->len + len <= PL_PLAN_BYTES_MAX;
}

static void snapshot_prefetch(struct pl_mem *mem, pl_addr addr, size_t len)
{
	struct pl_snapshot *s = (struct pl_snapshot *)mem;

	if (len == 0 || len > PREFETCH_MAX)
		return;
	if (find(s, addr, len)) {
		touch(s, addr, len);
		return;
	}
	if (!may_prefetch(s, len))
		return;
	s->whole = false;
	struct pl_piece piece = {addr, (uint32_t)len, (uint32_t)s->len};
	if (!buf_reserve(s, len) || pl_mem_read(s->source, addr, s->buf + s->len, len))
		return; /* the single reads will tell */
	if (!pl_vec_push(&s->pieces, piece))
		return;
	s->len += len;
	s->last_piece = (uint32_t)s->pieces.len - 1;
	touch(s, addr, len);
}

static struct plumb_error *read_anchor(struct pl_snapshot *s, size_t from, pl_addr addr, void *dst, size_t len)
{
	const struct pl_piece *p = s->fetched ? find_linear(s, from, from + s->plan_anchors, addr, len) : NULL;

	if (!p)
		return &pl_err_unreadable;
	memcpy(dst, s->buf + p->at + (addr - p->addr), len);
	return NULL;
}

static struct plumb_error *before_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct pl_snapshot *s = (struct pl_snapshot *)((char *)mem - offsetof(struct pl_snapshot, before));

	return read_anchor(s, 0, addr, dst, len);
}

static struct plumb_error *after_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct pl_snapshot *s = (struct pl_snapshot *)((char *)mem - offsetof(struct pl_snapshot, after));

	return read_anchor(s, s->plan.len - s->plan_anchors, addr, dst, len);
}

static const struct pl_mem_ops snapshot_ops = {.read = snapshot_read, .prefetch = snapshot_prefetch};
static const struct pl_mem_ops before_ops = {.read = before_read};
static const struct pl_mem_ops after_ops = {.read = after_read};

void pl_snapshot_init_of_core(struct pl_snapshot *s, struct pl_mem *source)
{
	*s = (struct pl_snapshot){
		.mem.ops = &snapshot_ops, .before.ops = &before_ops, .after.ops = &after_ops, .source = source};
}

void pl_snapshot_init(struct pl_snapshot *s, struct pl_mem_live *live)
{
	pl_snapshot_init_of_core(s, pl_mem_live_mem(live));
	s->live = live;
}

void pl_snapshot_deinit(struct pl_snapshot *s)
{
	pl_vec_deinit(&s->touched);
	pl_vec_deinit(&s->plan);
	pl_vec_deinit(&s->pieces);
	free(s->buf);
	free(s->old);
}

void pl_snapshot_bypass(struct pl_snapshot *s)
{
	pl_vec_clear(&s->touched);
	pl_vec_clear(&s->pieces);
	s->anchor_count = 0;
	s->len = 0;
	s->fetched = s->whole = s->again = false;
}

static void keep_old(struct pl_snapshot *s)
{
	uint8_t *buf = s->buf;
	size_t cap = s->cap;

	s->buf = s->old;
	s->cap = s->old_cap;
	s->old = buf;
	s->old_cap = cap;
}

struct plumb_error *pl_snapshot_fetch(struct pl_snapshot *s)
{
	size_t total = 0, got;
	bool again = s->fetched;

	pl_snapshot_bypass(s);
	if (s->plan.len == 0)
		return NULL;
	keep_old(s);
	if (!pl_vec_reserve(&s->pieces, s->plan.len))
		return &pl_err_no_memory;
	for (size_t i = 0; i < s->plan.len; i++) {
		const struct pl_range *r = &s->plan.data[i];

		s->pieces.data[i] = (struct pl_piece){r->addr, r->len, (uint32_t)total};
		total += r->len;
	}
	if (!buf_reserve(s, total))
		return &pl_err_no_memory;
	struct plumb_error *err = pl_mem_live_readv(s->live, s->plan.data, s->plan.len, s->buf, &got);
	if (err)
		return err;
	s->plan_age++;
	if (got < s->plan.len) {
		pl_vec_clear(&s->plan); /* something of it was unmapped: learn again */
		return NULL;
	}
	s->pieces.len = s->plan.len;
	s->len = total;
	s->last_piece = s->plan_anchors;
	s->fetched = s->whole = true;
	s->again = again;
	return NULL;
}

const struct pl_piece *pl_snapshot_piece(const struct pl_snapshot *s, pl_addr addr, size_t len)
{
	/* Reads of what the anchors have, too, are served from there: another moment than the body's. */
	if (!s->fetched || find_linear(s, 0, s->plan_anchors, addr, len))
		return NULL;
	return find_in_body(s, addr, len);
}

bool pl_snapshot_unchanged(struct pl_snapshot *s, pl_addr addr, size_t len)
{
	const struct pl_piece *p = s->again && s->plan_age < PLAN_MAX_AGE ? find_in_body(s, addr, len) : NULL;
	size_t at = p ? p->at + (addr - p->addr) : 0;

	if (!p || memcmp(s->buf + at, s->old + at, len) != 0)
		return false;
	touch(s, p->addr, p->len); /* with what else a walk reads there: the head of the chunk */
	return true;
}

struct plumb_error *pl_snapshot_peek(struct pl_snapshot *s, pl_addr addr, void *dst, size_t len)
{
	bool whole = s->whole;
	struct plumb_error *err = snapshot_read(&s->mem, addr, dst, len);

	s->whole = whole;
	return err;
}

void pl_snapshot_anchor_touched(struct pl_snapshot *s)
{
	s->anchor_count = 0;
	for (size_t i = 0; i < s->touched.len; i++)
		pl_snapshot_anchor(s, s->touched.data[i].addr, s->touched.data[i].len);
}

/* Join b to a if they overlap or nearly touch. */
static bool join(struct pl_range *a, pl_addr addr, uint32_t len, uint32_t gap)
{
	pl_addr a_end = a->addr + a->len, b_end = addr + len;

	if (addr > a_end + gap || a->addr > b_end + gap)
		return false;
	pl_addr start = a->addr < addr ? a->addr : addr, end = a_end > b_end ? a_end : b_end;
	if (end - start > PL_PLAN_BYTES_MAX)
		return false;
	*a = (struct pl_range){start, (uint32_t)(end - start)};
	return true;
}

void pl_snapshot_anchor(struct pl_snapshot *s, pl_addr addr, uint32_t len)
{
	for (uint32_t i = 0; i < s->anchor_count; i++)
		if (join(&s->anchors[i], addr, len, ANCHOR_GAP))
			return;
	if (s->anchor_count < PL_MAX_ANCHORS)
		s->anchors[s->anchor_count++] = (struct pl_range){addr, len};
}

static int by_addr(const void *a, const void *b)
{
	const struct pl_range *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Let a range reach a little further where that costs nothing: to the end of its page at most. */
static void add_slack(struct pl_range *r)
{
	pl_addr end = r->addr + r->len, page_end = (end + PAGE - 1) & ~(PAGE - 1);

	if (r->len >= SLACK)
		r->len += (uint32_t)(page_end - end < SLACK ? page_end - end : SLACK);
}

/* What the anchors bring need not be fetched again; of a chunk whose end is anchored, the rest. False: nothing is left.
 */
static bool trim(const struct pl_snapshot *s, struct pl_range *r)
{
	for (uint32_t i = 0; i < s->anchor_count; i++) {
		const struct pl_range *a = &s->anchors[i];

		if (inside(r->addr, r->len, a->addr, a->len))
			return false;
		if (r->addr < a->addr && r->addr + r->len > a->addr && r->addr + r->len <= a->addr + a->len)
			r->len = (uint32_t)(a->addr - r->addr);
	}
	return true;
}

static bool add_body(struct pl_snapshot *s)
{
	size_t bytes = 0, from = s->plan.len;

	if (s->touched.len)
		qsort(s->touched.data, s->touched.len, sizeof *s->touched.data, by_addr);
	for (size_t i = 0; i < s->touched.len; i++) {
		struct pl_range r = s->touched.data[i];

		if (!trim(s, &r))
			continue;
		if (s->plan.len > from && join(&s->plan.data[s->plan.len - 1], r.addr, r.len, MERGE_GAP))
			continue;
		if (!pl_vec_push(&s->plan, r))
			return false;
	}
	for (size_t i = from; i < s->plan.len; i++) {
		add_slack(&s->plan.data[i]);
		bytes += s->plan.data[i].len;
	}
	return bytes <= PL_PLAN_BYTES_MAX;
}

static bool add_anchors(struct pl_snapshot *s)
{
	for (uint32_t i = 0; i < s->anchor_count; i++)
		if (!pl_vec_push(&s->plan, s->anchors[i]))
			return false;
	return true;
}

/* A stack whose innermost frame sits elsewhere needs other anchors, even if the body covers it. */
static bool plan_has_anchors(const struct pl_snapshot *s)
{
	for (uint32_t i = 0; i < s->anchor_count; i++)
		if (!find_linear(s, 0, s->plan_anchors, s->anchors[i].addr, s->anchors[i].len))
			return false;
	return true;
}

void pl_snapshot_learn(struct pl_snapshot *s)
{
	if (!s->live)
		return;
	if (s->fetched && s->whole && s->plan_age < PLAN_MAX_AGE && plan_has_anchors(s))
		return;
	pl_vec_clear(&s->plan);
	s->plan_anchors = s->anchor_count;
	s->plan_age = 0;
	if (!add_anchors(s) || !add_body(s) || !add_anchors(s))
		pl_vec_clear(&s->plan);
	s->fetched = false; /* the pieces no longer match the plan */
}
