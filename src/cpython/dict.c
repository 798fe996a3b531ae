/* SPDX-License-Identifier: Apache-2.0 */
/* Python dicts, module and instance attributes, small ints. Layer: cpython. Pure over pl_mem; any thread; allocates
 * nothing.
 *
 * A search compares keys one by one (their hashes are keyed by a secret of the process), so the sampling path has one
 * of its own that ends soon. */
#include "dict.h"

#include "pick.h"

#define NAME_MAX_BYTES	 60
#define HEADER_MAX	 128
#define OBJECT_MAX_BYTES 4096
#define BATCH_ITEMS	 32
#define ENTRY_MAX_BYTES	 24
#define TPFLAGS_INLINE	 (1u << 2)  /* Py_TPFLAGS_INLINE_VALUES, 3.13+ */
#define TPFLAGS_MANAGED	 (1u << 4)  /* Py_TPFLAGS_MANAGED_DICT, 3.11+ */
#define TPFLAGS_INT	 (1u << 23) /* Py_TPFLAGS_INT_SUBCLASS, 2.7 */
#define KEYS_GENERAL	 0	    /* dk_kind: entries carry a hash */
#define KEYS_SPLIT	 2	    /* dk_kind of a table shared by the instances of a class */

/* <= 3.10: dk_size slots, as wide as needed to index them, then entries of {hash, key, value}. */
static bool old_keys_shape(const struct pl_layout *lay, const uint8_t *raw, uint64_t *slots, uint64_t *index_bytes,
			   uint32_t *kind)
{
	*slots = pl_pick_u64(raw, lay->dictkeys.log2_size);
	if (!*slots || *slots > UINT64_C(1) << 40 || (*slots & (*slots - 1)))
		return false;
	*index_bytes = *slots * (*slots <= 0xff ? 1 : *slots <= 0xffff ? 2 : *slots <= 0xffffffff ? 4 : 8);
	*kind = KEYS_GENERAL;
	return true;
}

static bool new_keys_shape(const struct pl_layout *lay, const uint8_t *raw, uint64_t *slots, uint64_t *index_bytes,
			   uint32_t *kind)
{
	uint8_t log2_size = raw[lay->dictkeys.log2_size], log2_index = raw[lay->dictkeys.log2_index_bytes];

	*kind = raw[lay->dictkeys.kind];
	if (log2_size > 40 || log2_index > 44 || *kind > KEYS_SPLIT)
		return false;
	*slots = UINT64_C(1) << log2_size;
	*index_bytes = UINT64_C(1) << log2_index;
	return true;
}

static struct plumb_error *open_keys(struct pl_mem *mem, const struct pl_layout *lay, pl_addr keys, struct pl_dict *d)
{
	uint8_t raw[HEADER_MAX];
	uint64_t slots, index_bytes;
	uint32_t kind;
	struct plumb_error *err;

	if (!pl_pointer_ok(keys) || lay->dictkeys.indices > sizeof raw ||
	    lay->dictkeys.nentries + 8 > lay->dictkeys.indices)
		return &pl_err_corrupt;
	err = pl_mem_read(mem, keys, raw, lay->dictkeys.indices);
	if (err)
		return err;
	bool ok = lay->dictkeys.kind == PL_NONE ? old_keys_shape(lay, raw, &slots, &index_bytes, &kind)
						: new_keys_shape(lay, raw, &slots, &index_bytes, &kind);
	uint64_t count = pl_pick_u64(raw, lay->dictkeys.nentries);
	if (!ok || count > slots)
		return &pl_err_corrupt;
	*d = (struct pl_dict){
		.entries = keys + lay->dictkeys.indices + index_bytes,
		.count = count < PL_MAX_DICT_ENTRIES ? (uint32_t)count : PL_MAX_DICT_ENTRIES,
		.entry_bytes = kind == KEYS_GENERAL ? 24 : 16,
		.key_at = kind == KEYS_GENERAL ? 8 : 0,
		.value_at = kind == KEYS_GENERAL ? 16 : 8,
	};
	return NULL;
}

/* Values of a split table. <= 3.10 they are a bare array; later a PyDictValues, whose array may come after a few bytes
 * of bookkeeping. */
static struct plumb_error *use_values(const struct pl_layout *lay, pl_addr values, struct pl_dict *d)
{
	if (!pl_pointer_ok(values))
		return &pl_err_corrupt;
	d->values = values + (lay->instance.values == PL_NONE ? 0 : lay->instance.values);
	return NULL;
}

/* 2.7: a hash table of {hash, key, value}, whose length is a power of two. @p raw: the dict. */
static struct plumb_error *open_table(const struct pl_layout *lay, const uint8_t *raw, struct pl_dict *ret)
{
	uint64_t mask = pl_pick_u64(raw, lay->dict.mask);

	if (mask & (mask + 1) || mask >= UINT64_C(1) << 40)
		return &pl_err_corrupt;
	*ret = (struct pl_dict){
		.entries = pl_pick_u64(raw, lay->dict.keys),
		.count = mask < PL_MAX_DICT_ENTRIES ? (uint32_t)mask + 1 : PL_MAX_DICT_ENTRIES,
		.entry_bytes = 24,
		.key_at = 8,
		.value_at = 16,
	};
	return pl_pointer_ok(ret->entries) ? NULL : &pl_err_corrupt;
}

/* The last word of a dict that is looked at: from 3.13 on the program says where each of them is. */
static uint32_t last_word(const struct pl_layout *lay)
{
	const uint32_t words[] = {lay->object.type, lay->dict.values, lay->dict.mask};
	uint32_t last = lay->dict.keys;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (words[i] != PL_NONE && words[i] > last)
			last = words[i];
	return last;
}

struct plumb_error *pl_dict_open(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, pl_addr type,
				 struct pl_dict *ret)
{
	const struct pl_layout *lay = &py->layout;
	uint32_t last = last_word(lay);
	uint8_t raw[HEADER_MAX];
	struct plumb_error *err;

	if (!pl_pointer_ok(obj) || last + 8 > sizeof raw)
		return &pl_err_corrupt;
	err = pl_mem_read(mem, obj, raw, last + 8);
	if (err)
		return err;
	if (type && pl_pick_u64(raw, lay->object.type) != type)
		return &pl_err_corrupt;
	if (lay->dict.mask != PL_NONE)
		return open_table(lay, raw, ret);
	err = open_keys(mem, lay, pl_pick_u64(raw, lay->dict.keys), ret);
	pl_addr values = pl_pick_u64(raw, lay->dict.values);
	return !err && values ? use_values(lay, values, ret) : err;
}

static struct plumb_error *read_items(struct pl_mem *mem, const struct pl_dict *d, uint32_t first, uint32_t n,
				      struct pl_dict_item items[static BATCH_ITEMS])
{
	uint8_t raw[BATCH_ITEMS * ENTRY_MAX_BYTES];
	uint64_t values[BATCH_ITEMS];
	struct plumb_error *err =
		pl_mem_read(mem, d->entries + (uint64_t)first * d->entry_bytes, raw, n * d->entry_bytes);

	if (!err && d->values)
		err = pl_mem_read(mem, d->values + (uint64_t)first * 8, values, n * 8);
	if (err)
		return err;
	for (uint32_t i = 0; i < n; i++) {
		items[i].key = pl_pick_u64(raw, i * d->entry_bytes + d->key_at);
		items[i].value = d->values ? values[i] : pl_pick_u64(raw, i * d->entry_bytes + d->value_at);
	}
	return NULL;
}

/* 3.13+: PyDictValues begins with its capacity and its size, and the values are followed by the order in which they
 * were set: one byte each, an index. */
struct plumb_error *pl_dict_use_order(struct pl_mem *mem, const struct pl_py *py, struct pl_dict *d)
{
	uint8_t head[2];
	struct plumb_error *err;

	if (!d->values || py->layout.instance.valid == PL_NONE)
		return NULL;
	err = pl_mem_read(mem, d->values - py->layout.instance.values, head, sizeof head);
	if (err)
		return err;
	if (head[1] > head[0])
		return &pl_err_corrupt;
	d->order = d->values + (uint64_t)head[0] * 8;
	d->ordered = head[1];
	return NULL;
}

struct plumb_error *pl_dict_item(struct pl_mem *mem, const struct pl_dict *d, uint32_t index, struct pl_dict_item *ret)
{
	struct pl_dict_item items[BATCH_ITEMS];
	struct plumb_error *err = NULL;
	uint8_t slot;

	if (d->order && index >= d->ordered) {
		*ret = (struct pl_dict_item){0};
		return NULL;
	}
	if (d->order) {
		err = pl_mem_read(mem, d->order + index, &slot, 1);
		index = err ? 0 : slot;
	}
	if (!err)
		err = index < d->count ? read_items(mem, d, index, 1, items) : &pl_err_corrupt;
	if (!err)
		*ret = items[0];
	return err;
}

/* 2.7: names are bytes. */
static bool bytes_equal(struct pl_mem *mem, const struct pl_layout *lay, pl_addr obj, const char *name, size_t len)
{
	uint8_t raw[HEADER_MAX + NAME_MAX_BYTES];

	return pl_pointer_ok(obj) && len <= NAME_MAX_BYTES && lay->bytes.sval <= HEADER_MAX &&
	       lay->bytes.ob_size + 8 <= lay->bytes.sval && !pl_mem_read(mem, obj, raw, lay->bytes.sval + len) &&
	       pl_pick_u64(raw, lay->bytes.ob_size) == len && !memcmp(raw + lay->bytes.sval, name, len);
}

/* Is @p obj the compact ASCII str @p name? Names in source code always are compact. */
static bool str_equals(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, const char *name, size_t len)
{
	const struct pl_layout *lay = &py->layout;
	uint8_t raw[HEADER_MAX + NAME_MAX_BYTES];

	if (pl_layout_str_is_bytes(lay))
		return bytes_equal(mem, lay, obj, name, len);

	if (!pl_pointer_ok(obj) || len > NAME_MAX_BYTES || lay->unicode.ascii_size > HEADER_MAX ||
	    pl_mem_read(mem, obj, raw, lay->unicode.ascii_size + len))
		return false;
	uint32_t state = pl_pick_u32(raw, lay->unicode.state);
	return pl_pick_u64(raw, lay->unicode.length) == len && state >> lay->unicode.compact_bit & 1 &&
	       state >> lay->unicode.ascii_bit & 1 && !memcmp(raw + lay->unicode.ascii_size, name, len);
}

struct plumb_error *pl_dict_find(struct pl_mem *mem, const struct pl_py *py, const struct pl_dict *d, const char *name,
				 pl_addr *ret)
{
	struct pl_dict_item items[BATCH_ITEMS];
	size_t len = strlen(name);

	for (uint32_t first = 0; first < d->count; first += BATCH_ITEMS) {
		uint32_t n = d->count - first < BATCH_ITEMS ? d->count - first : BATCH_ITEMS;
		struct plumb_error *err = read_items(mem, d, first, n, items);
		if (err)
			return err;
		for (uint32_t i = 0; i < n; i++) {
			if (items[i].key && items[i].value && str_equals(mem, py, items[i].key, name, len)) {
				*ret = items[i].value;
				return pl_pointer_ok(*ret) ? NULL : &pl_err_corrupt;
			}
		}
	}
	return &pl_err_stale;
}

struct plumb_error *pl_dict_get(struct pl_mem *mem, const struct pl_py *py, const struct pl_dict *d, const char *name,
				pl_addr *ret)
{
	struct plumb_error *err = pl_dict_find(mem, py, d, name, ret);

	if (plumb_error_code(err) != PLUMB_ERR_STALE)
		return err;
	plumb_error_destroy(err);
	*ret = 0;
	return NULL;
}

struct plumb_error *pl_module_open(struct pl_mem *mem, const struct pl_py *py, pl_addr modules, const char *module,
				   struct pl_dict *ret, pl_addr *dict_type_ret)
{
	pl_addr type, obj, namespace;
	struct plumb_error *err;

	if (!pl_pointer_ok(modules))
		return &pl_err_corrupt;
	err = pl_mem_read_u64(mem, modules + py->layout.object.type, &type);
	if (!err)
		err = pl_dict_open(mem, py, modules, type, ret);
	if (!err)
		err = pl_dict_find(mem, py, ret, module, &obj);
	/* PyModuleObject: the dict is the first member after the object's header. That it is of the same type as
	 * sys.modules tells a module from whatever else a program may have put there. */
	if (!err)
		err = pl_mem_read_u64(mem, obj + py->layout.object.size, &namespace);
	if (!err)
		err = pl_dict_open(mem, py, namespace, type, ret);
	if (!err && dict_type_ret)
		*dict_type_ret = type;
	return err;
}

struct plumb_error *pl_module_attr(struct pl_mem *mem, const struct pl_py *py, pl_addr modules, const char *module,
				   const char *name, pl_addr *ret)
{
	struct pl_dict d;
	struct plumb_error *err = pl_module_open(mem, py, modules, module, &d, NULL);

	return err ? err : pl_dict_find(mem, py, &d, name, ret);
}

/* Attributes in the shared table of the class, values in an array of the instance. */
static struct plumb_error *open_values(struct pl_mem *mem, const struct pl_py *py, pl_addr type, pl_addr values,
				       struct pl_dict *ret)
{
	pl_addr keys;
	struct plumb_error *err;

	if (py->layout.type.ht_cached_keys == PL_NONE || !pl_pointer_ok(values))
		return &pl_err_corrupt;
	err = pl_mem_read_u64(mem, type + py->layout.type.ht_cached_keys, &keys);
	if (!err)
		err = open_keys(mem, &py->layout, keys, ret);
	if (err)
		return err;
	return ret->entry_bytes == 16 ? use_values(&py->layout, values, ret) : &pl_err_corrupt;
}

/* <= 3.10, and any class without a managed dict: a pointer inside the object. */
static struct plumb_error *open_by_dictoffset(struct pl_mem *mem, const struct pl_py *py, pl_addr type, pl_addr obj,
					      struct pl_dict *ret)
{
	uint64_t offset;
	pl_addr dict;
	struct plumb_error *err;

	if (py->layout.type.tp_dictoffset == PL_NONE)
		return &pl_err_corrupt;
	err = pl_mem_read_u64(mem, type + py->layout.type.tp_dictoffset, &offset);
	if (err)
		return err;
	if (!offset)
		return &pl_err_stale;
	if (offset < py->layout.object.size || offset > OBJECT_MAX_BYTES || offset & 7)
		return &pl_err_corrupt;
	err = pl_mem_read_u64(mem, obj + offset, &dict);
	if (!err && !dict)
		return &pl_err_stale;
	return err ? err : pl_dict_open(mem, py, dict, 0, ret);
}

/* 3.11: values pointer and dict pointer in front of the object; one of them is NULL. */
static struct plumb_error *open_managed(struct pl_mem *mem, const struct pl_py *py, pl_addr type, pl_addr obj,
					struct pl_dict *ret)
{
	uint64_t words[2];
	struct plumb_error *err =
		pl_mem_read(mem, obj + (pl_addr)(int64_t)py->layout.instance.managed_dict - 8, words, 16);

	if (err)
		return err;
	return words[0] ? open_values(mem, py, type, words[0], ret) : pl_dict_open(mem, py, words[1], 0, ret);
}

/* 3.12: one word, values - 1 or the dict. */
static struct plumb_error *open_tagged(struct pl_mem *mem, const struct pl_py *py, pl_addr type, pl_addr obj,
				       struct pl_dict *ret)
{
	uint64_t word;
	struct plumb_error *err = pl_mem_read_u64(mem, obj + (pl_addr)(int64_t)py->layout.instance.managed_dict, &word);

	if (err)
		return err;
	return word & 1 ? open_values(mem, py, type, word + 1, ret) : pl_dict_open(mem, py, word, 0, ret);
}

/* 3.13+: where the values begin that a class keeps behind its instances. 3.13 does so only for instances without slots,
 * later releases put the slots first. */
static struct plumb_error *inline_values(struct pl_mem *mem, const struct pl_py *py, pl_addr type, pl_addr obj,
					 pl_addr *ret)
{
	uint64_t size;
	struct plumb_error *err;

	if (py->layout.type.tp_basicsize == PL_NONE)
		return &pl_err_corrupt;
	err = pl_mem_read_u64(mem, type + py->layout.type.tp_basicsize, &size);
	if (err)
		return err;
	if (size < py->layout.object.size || size > OBJECT_MAX_BYTES || size & 7)
		return &pl_err_corrupt;
	*ret = obj + size;
	return NULL;
}

/* 3.13+: inline values while their `valid` byte is set, else the dict in front of the object. */
static struct plumb_error *open_inline(struct pl_mem *mem, const struct pl_py *py, pl_addr type, uint64_t flags,
				       pl_addr obj, struct pl_dict *ret)
{
	struct plumb_error *err = NULL;
	pl_addr values, dict;
	uint8_t valid = 0;

	if (flags & TPFLAGS_INLINE) {
		err = inline_values(mem, py, type, obj, &values);
		if (!err)
			err = pl_mem_read(mem, values + py->layout.instance.valid, &valid, 1);
		if (err)
			return err;
	}
	if (valid)
		return open_values(mem, py, type, values, ret);
	err = pl_mem_read_u64(mem, obj + (pl_addr)(int64_t)py->layout.instance.managed_dict, &dict);
	return err ? err : pl_dict_open(mem, py, dict, 0, ret);
}

struct plumb_error *pl_instance_open(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, struct pl_dict *ret)
{
	const struct pl_layout *lay = &py->layout;
	pl_addr type;
	uint64_t flags;
	struct plumb_error *err;

	if (!pl_pointer_ok(obj))
		return &pl_err_corrupt;
	err = pl_mem_read_u64(mem, obj + lay->object.type, &type);
	if (!err && !pl_pointer_ok(type))
		err = &pl_err_corrupt;
	if (!err)
		err = pl_mem_read_u64(mem, type + lay->type.tp_flags, &flags);
	if (err)
		return err;
	if (lay->attrs == PL_ATTRS_DICT || !(flags & TPFLAGS_MANAGED))
		return open_by_dictoffset(mem, py, type, obj, ret);
	if (lay->attrs == PL_ATTRS_MANAGED)
		return open_managed(mem, py, type, obj, ret);
	if (lay->attrs == PL_ATTRS_TAGGED)
		return open_tagged(mem, py, type, obj, ret);
	return open_inline(mem, py, type, flags, obj, ret);
}

struct plumb_error *pl_instance_attr(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, const char *name,
				     pl_addr *ret)
{
	struct pl_dict d;
	struct plumb_error *err = pl_instance_open(mem, py, obj, &d);

	return err ? err : pl_dict_find(mem, py, &d, name, ret);
}

struct plumb_error *pl_instance_attr_of_few(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, const char *name,
					    pl_addr *ret)
{
	struct pl_dict d;
	struct plumb_error *err = pl_instance_open(mem, py, obj, &d);

	if (err)
		return err;
	d.count = d.count < PL_FEW_ATTRIBUTES ? d.count : PL_FEW_ATTRIBUTES;
	return pl_dict_find(mem, py, &d, name, ret);
}

/* 2.7: is it the int that holds a C long? The other one is as in 3.x. */
static struct plumb_error *is_small_int(struct pl_mem *mem, const struct pl_layout *lay, pl_addr obj, bool *ret)
{
	pl_addr type;
	uint64_t flags;
	struct plumb_error *err = pl_mem_read_u64(mem, obj + lay->object.type, &type);

	if (!err && !pl_pointer_ok(type))
		err = &pl_err_corrupt;
	if (!err)
		err = pl_mem_read_u64(mem, type + lay->type.tp_flags, &flags);
	if (!err)
		*ret = (flags & TPFLAGS_INT) != 0;
	return err;
}

/* Digits of 30 bits. 3.12+: lv_tag is count << 3 | sign (0 positive, 1 zero, 2 negative); before, ob_size with a sign.
 */
struct plumb_error *pl_long_value(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, uint64_t *ret)
{
	const struct pl_layout *lay = &py->layout;
	uint32_t digits[3] = {0};
	uint64_t count;
	struct plumb_error *err = NULL;
	bool small = false;

	if (!pl_pointer_ok(obj))
		return &pl_err_corrupt;
	if (lay->longobj.small != PL_NONE)
		err = is_small_int(mem, lay, obj, &small);
	if (err || small)
		return err ? err : pl_mem_read_u64(mem, obj + lay->longobj.small, ret);
	err = pl_mem_read_u64(mem, obj + lay->longobj.tag, &count);
	if (err)
		return err;
	if (lay->longobj.tagged) {
		if ((count & 3) == 2)
			return &pl_err_corrupt;
		count = (count & 3) == 1 ? 0 : count >> 3;
	}
	if (count > 3)
		return &pl_err_corrupt;
	err = count ? pl_mem_read(mem, obj + lay->longobj.digits, digits, count * 4) : NULL;
	if (err)
		return err;
	if (digits[2] > 7)
		return &pl_err_corrupt;
	*ret = (uint64_t)digits[2] << 60 | (uint64_t)digits[1] << 30 | digits[0];
	return NULL;
}
