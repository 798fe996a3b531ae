/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time; the consumer reads published pl_known_code's, which never change.
 * Codes of equal content share one id: churn (a function compiled again and again) costs no memory, and a process more
 * that runs the same program costs addresses only. */
#include "codes.h"

#include <string.h>

#include "clock.h"
#include "hash.h"
#include "mem_limited.h"

#define SLOTS_MAX  (1u << 18) /* of a process: more functions than any runs */
#define COPIES_MAX 4096	      /* threads whose copies are remembered; those of the others are looked up each time */
#define COPIES_ALL (1u << 22) /* of a process, likewise: 32 MiB */

static void destroy(struct pl_known_code *k)
{
	pl_code_deinit(&k->code);
	free(k);
}

void pl_code_store_deinit(struct pl_code_store *s)
{
	for (size_t i = 0; i < s->known.len; i++) {
		destroy(s->known.data[i]);
	}
	pl_vec_deinit(&s->known);
	pl_map_deinit(&s->by_hash);
	pl_code_modules_deinit(&s->modules);
}

void pl_codes_init(struct pl_codes *c, struct pl_code_store *store)
{
	*c = (struct pl_codes){.store = store, .most = SLOTS_MAX};
}

static void forget_copies(struct pl_codes *c)
{
	for (size_t i = 0; i < c->slots.len; i++)
		pl_vec_deinit(&c->slots.data[i].copies);
	c->copies = 0;
}

void pl_codes_note_copies(struct pl_codes *c, uint32_t generation)
{
	if (generation != c->tlbc_generation)
		forget_copies(c);
	c->tlbc_generation = generation;
}

void pl_codes_deinit(struct pl_codes *c)
{
	forget_copies(c);
	pl_vec_deinit(&c->slots);
	pl_map_deinit(&c->by_addr);
}

void pl_codes_forget(struct pl_codes *c)
{
	forget_copies(c);
	c->first += (uint32_t)c->slots.len;
	pl_vec_clear(&c->slots);
	pl_map_clear(&c->by_addr);
}

/* What is hashed and compared counts as work, as does what is read. */
static uint64_t hash_bytes(uint64_t h, const struct pl_buf *b, struct pl_work *work)
{
	pl_work_note(work, b->len);
	return pl_hash_words(h, pl_hash_bytes(b->data, b->len));
}

/* Of all that is compared: codes that are alike must not meet, and a program can make as many as it likes. */
static uint64_t hash_code(const struct pl_code *c, struct pl_work *work)
{
	uint64_t h = pl_hash_words((uint64_t)c->firstlineno << 32 | (uint32_t)c->firsttraceable, c->code_bytes);

	h = hash_bytes(h, &c->name, work);
	h = hash_bytes(h, &c->qualname, work);
	h = hash_bytes(h, &c->filename, work);
	return hash_bytes(h, &c->linetable, work);
}

static uint64_t place_of(const struct pl_native_code *n)
{
	return n->begin ? n->begin : n->place;
}

static bool equal_native(const struct pl_native_code *a, const struct pl_native_code *b)
{
	return a->module == b->module && a->kernel == b->kernel && a->jit == b->jit && place_of(a) == place_of(b) &&
	       a->role.interpreter == b->role.interpreter && a->role.inner == b->role.inner &&
	       a->role.outer == b->role.outer && a->role.root == b->role.root && a->role.passes_on == b->role.passes_on;
}

static bool equal_bytes(const struct pl_buf *a, const struct pl_buf *b, struct pl_work *work)
{
	if (a->len != b->len)
		return false;
	pl_work_note(work, a->len);
	return a->len == 0 || memcmp(a->data, b->data, a->len) == 0;
}

static bool equal_code(const struct pl_code *a, const struct pl_code *b, struct pl_work *work)
{
	pl_work_note(work, sizeof *a);
	return a->firstlineno == b->firstlineno && a->firsttraceable == b->firsttraceable &&
	       a->code_bytes == b->code_bytes && equal_bytes(&a->name, &b->name, work) &&
	       equal_bytes(&a->qualname, &b->qualname, work) && equal_bytes(&a->filename, &b->filename, work) &&
	       equal_bytes(&a->linetable, &b->linetable, work);
}

/* What cannot be equal has another key. */
static uint64_t kind_of(const struct pl_known_code *k)
{
	return (uint64_t)k->lines << 1 | k->is_native;
}

static uint32_t find_equal(const struct pl_code_store *s, uint64_t hash, const struct pl_known_code *k,
			   struct pl_work *work)
{
	uint32_t id;

	if (!pl_map_get(&s->by_hash, hash, kind_of(k), &id))
		return UINT32_MAX;
	while (id != UINT32_MAX && !(equal_native(&s->known.data[id]->native, &k->native) &&
				     equal_code(&s->known.data[id]->code, &k->code, work)))
		id = s->known.data[id]->same_hash;
	return id;
}

static size_t content_bytes(const struct pl_known_code *k)
{
	const struct pl_code *c = &k->code;

	return sizeof *k + c->name.cap + c->qualname.cap + c->filename.cap + c->linetable.cap;
}

/* Takes over @p k on success. */
static struct plumb_error *publish(struct pl_code_store *s, uint64_t hash, struct pl_known_code *k)
{
	size_t bytes = content_bytes(k);

	if (s->max && (s->known.len >= s->max || bytes > s->max_bytes - s->bytes))
		return &pl_err_limit;
	k->id = (uint32_t)s->known.len;
	k->same_hash = UINT32_MAX;
	(void)pl_map_get(&s->by_hash, hash, kind_of(k), &k->same_hash);
	if (!pl_vec_reserve(&s->known, 1) || !pl_map_set(&s->by_hash, hash, kind_of(k), k->id))
		return &pl_err_no_memory;
	s->known.data[s->known.len++] = k;
	s->bytes += bytes;
	return NULL;
}

/* The id of this content. Takes over @p k if it is new: k->id is that then. */
static struct plumb_error *identify(struct pl_code_store *s, struct pl_known_code *k, struct pl_work *work,
				    uint32_t *id_ret)
{
	uint64_t place = pl_hash_words((uintptr_t)k->native.module, place_of(&k->native));
	uint64_t hash = pl_hash_words(hash_code(&k->code, work), place);
	uint32_t id = find_equal(s, hash, k, work);
	struct plumb_error *err = id == UINT32_MAX ? publish(s, hash, k) : NULL;

	if (!err)
		*id_ret = id == UINT32_MAX ? k->id : id;
	return err;
}

struct plumb_error *pl_code_store_native(struct pl_code_store *s, const struct pl_native_code *native, const char *name,
					 uint32_t process, uint32_t *ret)
{
	struct pl_work work = {0};
	struct pl_known_code *k = calloc(1, sizeof *k);

	if (!k)
		return &pl_err_no_memory;
	pl_code_init(&k->code);
	k->is_native = true;
	k->native = *native;
	k->process = process;
	k->id = UINT32_MAX;
	struct plumb_error *err = pl_buf_add_str(&k->code.name, name);
	err = err ? err : identify(s, k, &work, ret);
	if (err || *ret != k->id)
		destroy(k);
	return err;
}

static struct plumb_error *read_content(struct pl_codes *c, const struct pl_py *py, struct pl_mem *mem, pl_addr addr,
					struct pl_work *work, struct pl_code_slot *slot)
{
	struct pl_known_code *k = calloc(1, sizeof *k);

	if (!k)
		return &pl_err_no_memory;
	pl_code_init(&k->code);
	k->lines = py->layout.line_table;
	k->process = c->process;
	k->id = UINT32_MAX;
	struct plumb_error *err = pl_code_read(mem, py, addr, &k->code);
	if (!err) {
		slot->proof = k->code.proof;
		slot->file_end = k->code.file_end;
		slot->instr_base = k->code.instr_base;
		err = identify(c->store, k, work, &slot->code);
	}
	if (!err && slot->code == k->id)
		return NULL;
	destroy(k);
	return err;
}

/* With no more work than the target may make us do. What is too much now is learnt by a later reading, which finds here
 * what this one has learnt. */
static struct plumb_error *learn_content(struct pl_codes *c, const struct pl_py *py, struct pl_mem *live, pl_addr addr,
					 struct pl_code_slot *slot)
{
	struct pl_work work = pl_ration_begin(&c->ration, pl_clock_monotonic_ns());
	struct pl_mem_limited limited;
	struct plumb_error *err = read_content(c, py, pl_mem_limited_init(&limited, live, &work), addr, &work, slot);

	pl_ration_end(&c->ration, &work);
	if (!err || !work.ran_out)
		return err;
	plumb_error_destroy(err);
	return &pl_err_unreadable; /* not pl_err_limit: there is room for it */
}

static struct plumb_error *prove(struct pl_code_slot *slot, const struct pl_py *py, struct pl_mem *mem, pl_addr addr,
				 bool *same)
{
	struct pl_code_proof proof;
	struct plumb_error *err = pl_code_proof_read(mem, py, addr, &proof);

	*same = !err && pl_code_proof_equal(&proof, &slot->proof) && pl_code_file_end_holds(mem, &slot->file_end);
	return err;
}

static struct plumb_error *learn_slot(struct pl_codes *c, const struct pl_py *py, struct pl_mem *live, pl_addr addr,
				      uint32_t index, bool is_new)
{
	struct pl_code_slot slot = {0};
	struct plumb_error *err = learn_content(c, py, live, addr, &slot);

	if (err)
		return err;
	if (!is_new) {
		c->copies -= c->slots.data[index].copies.len;
		pl_vec_deinit(&c->slots.data[index].copies);
		c->slots.data[index] = slot;
		return NULL;
	}
	if (c->slots.len >= c->most)
		pl_codes_forget(c);
	if (!pl_vec_reserve(&c->slots, 1) || !pl_map_set(&c->by_addr, addr, 0, (uint32_t)c->slots.len))
		return &pl_err_no_memory;
	c->slots.data[c->slots.len++] = slot;
	return NULL;
}

static struct plumb_error *fresh_slot(struct pl_codes *c, const struct pl_codes_reading *r, pl_addr addr,
				      struct pl_code_slot **ret)
{
	struct plumb_error *err = NULL;
	uint32_t index;
	bool same = false, known = pl_map_get(&c->by_addr, addr, 0, &index);

	if (known) {
		struct pl_code_slot *slot = &c->slots.data[index];

		*ret = slot;
		if (pl_codes_fresh(c, c->first + index, r->tick, r->generation))
			return NULL;
		err = prove(slot, r->py, r->mem, addr, &same);
		if (err)
			return err;
	}
	if (!same) {
		err = learn_slot(c, r->py, r->live, addr, index, !known);
		if (err)
			return err;
		if (!known)
			index = (uint32_t)c->slots.len - 1;
		/* The proof belongs to the plan of the next fetch. */
		err = prove(&c->slots.data[index], r->py, r->mem, addr, &same);
		if (err || !same)
			return err ? err : &pl_err_stale;
	}
	*ret = &c->slots.data[index];
	(*ret)->tick = r->tick;
	(*ret)->generation = r->generation;
	return NULL;
}

static void remember_copy(struct pl_codes *c, struct pl_code_slot *slot, uint32_t index, pl_addr base)
{
	const size_t more = index < slot->copies.len ? 0 : index + 1 - slot->copies.len;

	if (index >= COPIES_MAX || more > COPIES_ALL - c->copies || !pl_vec_reserve(&slot->copies, more))
		return;
	for (size_t i = 0; i < more; i++)
		slot->copies.data[slot->copies.len++] = 0;
	c->copies += more;
	slot->copies.data[index] = base;
}

/* Where the bytecode begins that the frame runs: the object's own, or its thread's copy. */
static struct plumb_error *bytecode_of(struct pl_codes *c, struct pl_code_slot *slot, const struct pl_codes_reading *r,
				       const struct pl_frame *f, pl_addr *ret)
{
	uint32_t index = f->tlbc_index;

	*ret = index == 0 ? slot->instr_base : index < slot->copies.len ? slot->copies.data[index] : 0;
	if (index == 0 || *ret)
		return NULL;
	struct plumb_error *err = pl_code_copy_base(r->live, r->py, f, ret);
	if (!err)
		remember_copy(c, slot, index, *ret);
	return err;
}

struct plumb_error *pl_codes_resolve(struct pl_codes *c, const struct pl_codes_reading *reading,
				     const struct pl_frame *frame, struct pl_code_place *ret)
{
	struct pl_code_slot *slot;
	struct plumb_error *err = fresh_slot(c, reading, frame->code, &slot);

	if (err)
		return err;
	const struct pl_known_code *k = c->store->known.data[slot->code];
	pl_addr base;
	err = bytecode_of(c, slot, reading, frame, &base);
	if (err)
		return err;
	/* The offset counts from this object's own bytecode, not from that of the equal object that was read first. */
	struct pl_frame f = *frame;
	if (base)
		pl_code_leave_copy(&f, base, k->code.instr_base);
	*ret = (struct pl_code_place){.slot = c->first + (uint32_t)(slot - c->slots.data),
				      .code = slot->code,
				      .offset = pl_code_offset(reading->py, &k->code, &f)};
	return NULL;
}
