/* SPDX-License-Identifier: Apache-2.0 */
/* Code objects. Layer: cpython. Pure over pl_mem; any thread; allocates into the caller's struct only.
 *
 * Code objects die and their addresses are used again. What is read here is therefore bracketed by two readings of the
 * same proof words, and a caller that remembers a code object by its address must compare the proof again. */
#include "code.h"

#include <string.h>

#include "frame.h"
#include "pick.h"
#include "text.h"

#define CO_SUSPENDS (0x20u | 0x80u | 0x200u) /* CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR */

void pl_code_init(struct pl_code *c)
{
	*c = (struct pl_code){
		.name = PL_BUF_INIT(PL_MAX_NAME_BYTES + 8),
		.qualname = PL_BUF_INIT(PL_MAX_NAME_BYTES + 8),
		.filename = PL_BUF_INIT(PL_MAX_NAME_BYTES + 8),
		.linetable = PL_BUF_INIT(PL_MAX_LINETABLE_BYTES),
	};
}

void pl_code_deinit(struct pl_code *c)
{
	pl_buf_deinit(&c->name);
	pl_buf_deinit(&c->qualname);
	pl_buf_deinit(&c->filename);
	pl_buf_deinit(&c->linetable);
}

struct pl_range pl_code_proof_range(const struct pl_py *py, pl_addr code)
{
	uint32_t first = py->layout.object.type;

	return (struct pl_range){.addr = code + first, .len = py->layout.code_span - first};
}

/* @p raw is a copy of the code object from offset @p base on. */
static struct pl_code_proof pick_proof(const struct pl_layout *lay, const uint8_t *raw, uint32_t base)
{
	return (struct pl_code_proof){
		.type = pl_pick_u64(raw, lay->object.type - base),
		.name = pl_pick_u64(raw, lay->code.name - base),
		.filename = pl_pick_u64(raw, lay->code.filename - base),
		.linetable = pl_pick_u64(raw, lay->code.linetable - base),
		.firstlineno = pl_pick_u32(raw, lay->code.firstlineno - base),
		.version = lay->code.version == PL_NONE ? 0 : pl_pick_u32(raw, lay->code.version - base),
	};
}

static struct plumb_error *check_proof(const struct pl_py *py, const struct pl_code_proof *p)
{
	if (py->code_type ? p->type != py->code_type : !pl_pointer_ok(p->type))
		return &pl_err_corrupt;
	return pl_pointer_ok(p->name) && pl_pointer_ok(p->filename) && pl_pointer_ok(p->linetable) ? NULL
												   : &pl_err_corrupt;
}

/* Without co_version: code that is made and dropped in a loop gets the same addresses again, down to its name. */
static struct plumb_error *add_name_hash(struct pl_mem *mem, const struct pl_py *py, struct pl_code_proof *p)
{
	if (py->layout.code.version != PL_NONE)
		return NULL;
	uint32_t length = pl_layout_str_is_bytes(&py->layout) ? py->layout.bytes.ob_size : py->layout.unicode.length;
	return pl_mem_read_u64(mem, p->name + length + 8, &p->name_hash); /* the hash follows the length */
}

struct plumb_error *pl_code_proof_read(struct pl_mem *mem, const struct pl_py *py, pl_addr code,
				       struct pl_code_proof *ret)
{
	uint8_t raw[PL_CODE_MAX];
	struct pl_range range = pl_code_proof_range(py, code);
	struct plumb_error *err;

	if (!pl_pointer_ok(code))
		return &pl_err_corrupt;
	err = pl_mem_read(mem, range.addr, raw, range.len);
	if (err)
		return err;
	struct pl_code_proof proof = pick_proof(&py->layout, raw, py->layout.object.type);
	err = check_proof(py, &proof);
	if (!err)
		err = add_name_hash(mem, py, &proof);
	if (!err)
		*ret = proof;
	return err;
}

bool pl_code_proof_equal(const struct pl_code_proof *a, const struct pl_code_proof *b)
{
	return a->type == b->type && a->name == b->name && a->filename == b->filename && a->linetable == b->linetable &&
	       a->firstlineno == b->firstlineno && a->version == b->version && a->name_hash == b->name_hash;
}

/* 3.11+: the bytecode is inside the code object, ob_size counts its 2-byte units. <= 3.10: it is a bytes object. */
static struct plumb_error *read_extent(struct pl_mem *mem, const struct pl_py *py, pl_addr code, const uint8_t *raw,
				       struct pl_code *c)
{
	const struct pl_layout *lay = &py->layout;
	uint64_t size;
	struct plumb_error *err = NULL;

	if (lay->frame_model == PL_FRAME_OBJECT) {
		pl_addr bytes = pl_pick_u64(raw, lay->code.code_bytes);
		if (!pl_pointer_ok(bytes))
			return &pl_err_corrupt;
		err = pl_mem_read_u64(mem, bytes + lay->bytes.ob_size, &size);
	} else {
		size = pl_pick_u64(raw, lay->object.size);
		c->instr_base = code + lay->code.code_bytes;
	}
	if (err)
		return err;
	if (size > INT32_MAX / 4)
		return &pl_err_corrupt;
	c->code_bytes = (uint32_t)size * (lay->frame_model == PL_FRAME_OBJECT ? 1 : 2);
	c->firsttraceable = pl_pick_u32_if(raw, lay->code.firsttraceable) * 2;
	c->suspends = pl_pick_u32_if(raw, lay->code.flags) & CO_SUSPENDS;
	c->hidden = c->firsttraceable >= c->code_bytes && c->firsttraceable;
	return NULL;
}

static struct plumb_error *read_texts(struct pl_mem *mem, const struct pl_py *py, const uint8_t *raw, struct pl_code *c)
{
	const struct pl_layout *lay = &py->layout;
	pl_addr qualname = pl_pick_u64_if(raw, lay->code.qualname);
	struct plumb_error *err = pl_text_read_str(mem, py, c->proof.name, PL_MAX_NAME_BYTES, &c->name);

	if (!err)
		err = pl_text_read_str(mem, py, c->proof.filename, PL_MAX_NAME_BYTES, &c->filename);
	if (!err && (!qualname || qualname == c->proof.name))
		err = pl_buf_add(&c->qualname, c->name.data, c->name.len);
	else if (!err)
		err = pl_text_read_str(mem, py, qualname, PL_MAX_NAME_BYTES, &c->qualname);
	if (!err)
		err = pl_text_read_bytes(mem, py, c->proof.linetable, PL_MAX_LINETABLE_BYTES, &c->linetable);
	return err;
}

static struct plumb_error *read_file_end(struct pl_mem *mem, const struct pl_py *py, pl_addr filename,
					 struct pl_code_file_end *ret)
{
	struct plumb_error *err = NULL;

	*ret = (struct pl_code_file_end){0};
	if (py->layout.code.version == PL_NONE)
		err = pl_text_end(mem, py, filename, &ret->addr);
	return err || !ret->addr ? err : pl_mem_read_u64(mem, ret->addr, &ret->bytes);
}

bool pl_code_file_end_holds(struct pl_mem *mem, const struct pl_code_file_end *end)
{
	uint64_t now;

	return !end->addr || (!pl_mem_read_u64(mem, end->addr, &now) && now == end->bytes);
}

/* The Python package names what only leads to its users' functions so. */
static bool is_left_out(const struct pl_code *c)
{
	static const char name[] = "<plumb>";

	return c->name.len == sizeof name - 1 && memcmp(c->name.data, name, sizeof name - 1) == 0;
}

static struct plumb_error *check_unmoved(struct pl_mem *mem, const struct pl_py *py, pl_addr code,
					 const struct pl_code_proof *before)
{
	struct pl_code_proof after;
	struct plumb_error *err = pl_code_proof_read(mem, py, code, &after);

	if (!err && !pl_code_proof_equal(before, &after))
		err = &pl_err_stale;
	return err;
}

struct plumb_error *pl_code_read(struct pl_mem *mem, const struct pl_py *py, pl_addr code, struct pl_code *ret)
{
	uint8_t raw[PL_CODE_MAX];
	struct plumb_error *err;

	pl_buf_clear(&ret->name);
	pl_buf_clear(&ret->qualname);
	pl_buf_clear(&ret->filename);
	pl_buf_clear(&ret->linetable);
	ret->instr_base = 0;
	ret->code_bytes = UINT32_MAX;
	if (!pl_pointer_ok(code))
		return &pl_err_corrupt;
	err = pl_mem_read(mem, code, raw, py->layout.code.size);
	if (err)
		return err;
	ret->proof = pick_proof(&py->layout, raw, 0);
	ret->firstlineno = ret->proof.firstlineno;
	err = check_proof(py, &ret->proof);
	if (!err)
		err = add_name_hash(mem, py, &ret->proof);
	if (!err)
		err = read_extent(mem, py, code, raw, ret);
	if (!err)
		err = read_texts(mem, py, raw, ret);
	if (!err)
		err = read_file_end(mem, py, ret->proof.filename, &ret->file_end);
	if (!err)
		err = check_unmoved(mem, py, code, &ret->proof);
	ret->hidden = !err && (ret->hidden || is_left_out(ret));
	return err;
}

/* _PyCodeArray: a count, then the address of each copy; a thread's index is into these. */
struct plumb_error *pl_code_copy_base(struct pl_mem *mem, const struct pl_py *py, const struct pl_frame *f,
				      pl_addr *ret)
{
	const struct pl_layout *lay = &py->layout;
	uint64_t count;
	pl_addr array, base;

	if (!f->tlbc_index || lay->code.tlbc == PL_NONE) {
		*ret = f->code + lay->code.code_bytes;
		return NULL;
	}
	struct plumb_error *err = pl_mem_read_u64(mem, f->code + lay->code.tlbc, &array);
	if (!err)
		err = pl_pointer_ok(array) ? pl_mem_read_u64(mem, array, &count) : &pl_err_corrupt;
	if (!err && f->tlbc_index >= count)
		err = &pl_err_corrupt;
	if (!err)
		err = pl_mem_read_u64(mem, array + 8 + (pl_addr)f->tlbc_index * 8, &base);
	if (!err && (base < 4096 || base & 1)) /* code units are two bytes */
		err = &pl_err_corrupt;
	if (!err)
		*ret = base;
	return err;
}

void pl_code_leave_copy(struct pl_frame *f, pl_addr base, pl_addr own)
{
	f->instr = f->instr - base + own;
	f->tlbc_index = 0;
}

int32_t pl_code_offset(const struct pl_py *py, const struct pl_code *c, const struct pl_frame *f)
{
	const struct pl_layout *lay = &py->layout;

	if (f->kind == PL_FRAME_SHIM || f->instr < c->instr_base || f->tlbc_index)
		return -1;
	uint64_t offset = f->instr - c->instr_base;
	if (offset >= c->code_bytes)
		return -1;
	/* _PyFrame_IsIncomplete: a generator's frame is never incomplete, its first instructions ran when it was
	 * created. */
	if (f->owner != lay->owner_generator && lay->frame_model != PL_FRAME_OBJECT && offset < c->firsttraceable)
		return -1;
	return (int32_t)offset;
}
