/* SPDX-License-Identifier: Apache-2.0 */
/* A made-up process: see fake.h. */
#include "fake.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static struct fake_region *find_region(struct fake *f, pl_addr addr, size_t len)
{
	for (size_t i = 0; i < f->regions.len; i++) {
		struct fake_region *r = &f->regions.data[i];
		if (addr >= r->addr && addr - r->addr <= r->len && len <= r->len - (addr - r->addr))
			return r;
	}
	return NULL;
}

static struct plumb_error *fake_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct fake *f = (struct fake *)mem;
	struct fake_region *r = find_region(f, addr, len);

	f->reads++;
	if (!r)
		return &pl_err_unreadable;
	memcpy(dst, r->bytes + (addr - r->addr), len);
	return NULL;
}

static void fake_prefetch(struct pl_mem *mem, pl_addr addr, size_t len)
{
	struct fake *f = (struct fake *)mem;

	if (f->prefetches < FAKE_PREFETCHES)
		f->prefetched[f->prefetches++] = (struct pl_range){.addr = addr, .len = (uint32_t)len};
}

void fake_init(struct fake *f)
{
	static const struct pl_mem_ops ops = {.read = fake_read, .prefetch = fake_prefetch};

	*f = (struct fake){.mem = {.ops = &ops}, .next = 0x100000};
}

void fake_deinit(struct fake *f)
{
	for (size_t i = 0; i < f->regions.len; i++)
		free(f->regions.data[i].bytes);
	pl_vec_deinit(&f->regions);
}

void fake_map(struct fake *f, pl_addr addr, size_t len)
{
	struct fake_region r = {.addr = addr, .len = len, .bytes = calloc(1, len)};

	assert(r.bytes);
	bool ok = pl_vec_push(&f->regions, r);
	assert(ok);
	(void)ok;
}

pl_addr fake_new(struct fake *f, size_t len)
{
	pl_addr addr = f->next;

	fake_map(f, addr, len);
	f->next += (len + 64) / 16 * 16 + 64;
	return addr;
}

void fake_put(struct fake *f, pl_addr addr, const void *bytes, size_t len)
{
	struct fake_region *r = find_region(f, addr, len);

	assert(r);
	memcpy(r->bytes + (addr - r->addr), bytes, len);
}

void fake_u64(struct fake *f, pl_addr addr, uint64_t value)
{
	fake_put(f, addr, &value, sizeof value);
}

void fake_field(struct fake *f, pl_addr addr, uint32_t at, uint64_t value, size_t width)
{
	if (at != PL_NONE)
		fake_put(f, addr + at, &value, width);
}

static struct pl_py py_of(const struct pl_layout *row)
{
	struct pl_py py = {.code_type = 0x500000, .none = 0x500800};

	assert(row);
	py.layout = *row;
	bool ok = pl_layout_finish(&py.layout);
	assert(ok);
	(void)ok;
	return py;
}

struct pl_py fake_py(int minor)
{
	uint32_t version = PL_PY_VERSION(3, minor, 10);

	return py_of(minor < 13 ? pl_layout_find(version, false) : pl_layout_reference(version, false));
}

struct pl_py fake_py27(void)
{
	return py_of(pl_layout_find(PL_PY_VERSION(2, 7, 18), false));
}

struct pl_py fake_py_free_threaded(int minor)
{
	return py_of(pl_layout_reference(PL_PY_VERSION(3, minor, 0), true));
}

pl_addr fake_str(struct fake *f, const struct pl_py *py, const char *text)
{
	const struct pl_layout *lay = &py->layout;
	size_t len = strlen(text);

	if (pl_layout_str_is_bytes(lay))
		return fake_bytes(f, py, text, len);
	pl_addr obj = fake_new(f, lay->unicode.ascii_size + len + 1);

	fake_field(f, obj, lay->unicode.length, len, 8);
	fake_field(f, obj, lay->unicode.state,
		   1u << lay->unicode.kind_shift | 1u << lay->unicode.compact_bit | 1u << lay->unicode.ascii_bit, 4);
	fake_put(f, obj + lay->unicode.ascii_size, text, len);
	return obj;
}

pl_addr fake_bytes(struct fake *f, const struct pl_py *py, const void *bytes, size_t len)
{
	pl_addr obj = fake_new(f, py->layout.bytes.sval + len + 1);

	fake_field(f, obj, py->layout.bytes.ob_size, len, 8);
	fake_put(f, obj + py->layout.bytes.sval, bytes, len);
	return obj;
}

pl_addr fake_code(struct fake *f, const struct pl_py *py, const char *name, const char *file, int firstlineno,
		  uint32_t units)
{
	const struct pl_layout *lay = &py->layout;
	pl_addr code = fake_new(f, lay->code.size + units * 2);

	fake_field(f, code, lay->object.type, py->code_type, 8);
	fake_field(f, code, lay->code.name, fake_str(f, py, name), 8);
	fake_field(f, code, lay->code.qualname, fake_str(f, py, name), 8);
	fake_field(f, code, lay->code.filename, fake_str(f, py, file), 8);
	fake_field(f, code, lay->code.linetable, fake_bytes(f, py, "", 0), 8);
	fake_field(f, code, lay->code.firstlineno, (uint64_t)firstlineno, 4);
	if (lay->frame_model == PL_FRAME_OBJECT) {
		pl_addr bytes = fake_new(f, lay->bytes.sval);
		fake_field(f, bytes, lay->bytes.ob_size, units * 2, 8);
		fake_field(f, code, lay->code.code_bytes, bytes, 8);
	} else {
		fake_field(f, code, lay->object.size, units, 8);
	}
	return code;
}

void fake_refer(struct fake *f, const struct pl_py *py, pl_addr object, uint64_t count)
{
	fake_u64(f, object + py->layout.object.type - 8, count);
}

void fake_frame(struct fake *f, const struct pl_py *py, pl_addr addr, pl_addr previous, pl_addr code, uint8_t owner,
		uint32_t instr)
{
	const struct pl_layout *lay = &py->layout;

	fake_field(f, addr, lay->frame.previous, previous, 8);
	fake_field(f, addr, lay->frame.code, code, 8);
	fake_field(f, addr, lay->frame.instr, code + lay->code.code_bytes + instr, 8);
	fake_field(f, addr, lay->frame.owner, owner, 1);
	if (lay->frame_model == PL_FRAME_OBJECT) {
		fake_field(f, addr, lay->object.type, 0x501000, 8);
		fake_refer(f, py, addr, 1);
		fake_field(f, addr, lay->frame.lasti, instr / lay->instr_scale, 4);
	}
}
