/* SPDX-License-Identifier: Apache-2.0 */
/* What an object is, going by its type: a cache in struct pl_values. Layer: cpython. Pure over pl_mem; one thread.
 *
 * A builtin is known by its name and by not being made at run time; what is derived from it by tp_flags or by following
 * tp_base. The fields of a subclass come after those of its base, so a value is read the same way. */
#include "value_parts.h"

#include <string.h>

#include "dict.h"
#include "pick.h"
#include "text.h"
#include "utf8.h"

#define TYPE_MAX_BYTES 512
#define BASES_MAX      16
#define PAGE_BYTES     4096
#define MODULE_MAX     64
#define NAME_SIZE      PL_TYPE_NAME
#define FLAG_HEAPTYPE  (UINT64_C(1) << 9)

struct builtin {
	const char *name;
	uint32_t kind;
};

static const struct builtin builtins[] = {
	{"NoneType", PL_KIND_NONE},
	{"NotImplementedType", PL_KIND_CONSTANT},
	{"_thread.RLock", PL_KIND_LOCK},
	{"_thread.lock", PL_KIND_LOCK},
	{"async_generator", PL_KIND_GENERATOR},
	{"bool", PL_KIND_BOOL},
	{"bytearray", PL_KIND_BYTEARRAY},
	{"bytes", PL_KIND_BYTES},
	{"collections.deque", PL_KIND_DEQUE},
	{"complex", PL_KIND_COMPLEX},
	{"coroutine", PL_KIND_GENERATOR},
	{"dict", PL_KIND_DICT},
	{"ellipsis", PL_KIND_CONSTANT},
	{"float", PL_KIND_FLOAT},
	{"frozenset", PL_KIND_FROZENSET},
	{"function", PL_KIND_FUNCTION},
	{"generator", PL_KIND_GENERATOR},
	{"int", PL_KIND_INT},
	{"list", PL_KIND_LIST},
	{"method", PL_KIND_METHOD},
	{"module", PL_KIND_MODULE},
	{"set", PL_KIND_SET},
	{"str", PL_KIND_STR},
	{"tuple", PL_KIND_TUPLE},
	{"type", PL_KIND_CLASS},
};

/* What has another meaning in 2.7, or is only there. Its deque keeps its items elsewhere. */
static const struct builtin builtins_of_2_7[] = {
	{"classobj", PL_KIND_OLD_CLASS},
	{"collections.deque", PL_KIND_OBJECT},
	{"instance", PL_KIND_OLD_INSTANCE},
	{"instancemethod", PL_KIND_METHOD},
	{"int", PL_KIND_SMALL_INT},
	{"long", PL_KIND_INT},
	{"str", PL_KIND_BYTES},
	{"thread.lock", PL_KIND_LOCK},
	{"unicode", PL_KIND_STR},
};

#define FLAG_SMALL_INT (UINT64_C(1) << 23) /* 2.7: Py_TPFLAGS_INT_SUBCLASS */

/* Py_TPFLAGS_*_SUBCLASS: the same bits in every release. */
static const struct {
	uint32_t bit, kind;
} subclass_flags[] = {
	{24, PL_KIND_INT}, {25, PL_KIND_LIST}, {26, PL_KIND_TUPLE},	{27, PL_KIND_BYTES},
	{28, PL_KIND_STR}, {29, PL_KIND_DICT}, {30, PL_KIND_EXCEPTION}, {31, PL_KIND_CLASS},
};

static const struct builtin *find_builtin(const struct builtin *table, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(table[i].name, name))
			return &table[i];
	}
	return NULL;
}

static uint32_t builtin_kind(const struct pl_layout *lay, const char *name, uint64_t flags)
{
	const struct builtin *found = NULL;

	if (pl_layout_str_is_bytes(lay))
		found = find_builtin(builtins_of_2_7, sizeof builtins_of_2_7 / sizeof builtins_of_2_7[0], name);
	if (!found)
		found = find_builtin(builtins, sizeof builtins / sizeof builtins[0], name);
	/* Types of extension modules are made at run time in newer releases; they carry their module's name. */
	return found && (!(flags & FLAG_HEAPTYPE) || strchr(name, '.')) ? found->kind : PL_KIND_OBJECT;
}

static uint32_t flagged_kind(const struct pl_layout *lay, uint64_t flags)
{
	if (pl_layout_str_is_bytes(lay) && flags & FLAG_SMALL_INT)
		return PL_KIND_SMALL_INT;
	for (size_t i = 0; i < sizeof subclass_flags / sizeof subclass_flags[0]; i++) {
		if (flags >> subclass_flags[i].bit & 1)
			return subclass_flags[i].kind;
	}
	return PL_KIND_OBJECT;
}

/* Does not read past the page it ends in. */
struct plumb_error *pl_read_c_string(struct pl_render *r, pl_addr addr, char *text, size_t size)
{
	size_t have = 0;

	memset(text, 0, size);
	if (addr < PAGE_BYTES)
		return &pl_err_corrupt;
	while (have < size - 1) {
		size_t n = PAGE_BYTES - (addr + have) % PAGE_BYTES;
		if (n > size - 1 - have)
			n = size - 1 - have;
		struct plumb_error *err = pl_mem_read(&r->mem, addr + have, text + have, n);
		if (err)
			return err;
		if (memchr(text + have, 0, n))
			break;
		have += n;
	}
	size_t len = strlen(text);
	memset(text + len, 0, size - len);
	return NULL;
}

bool pl_clean_name(char *name, size_t size)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < len;) {
		uint32_t c;
		size_t n = pl_utf8_decode((const uint8_t *)name + i, len - i, &c);
		if (c == PL_UTF8_INVALID && i && i + n == len && len + 1 == size) {
			name[i] = '\0';
			return true;
		}
		if (c == PL_UTF8_INVALID || c == ' ' || pl_char_is_hidden(c))
			return false;
		i += n;
	}
	return len > 0;
}

static bool is_builtins(const struct pl_buf *module)
{
	return (module->len == 8 && !memcmp(module->data, "builtins", 8)) ||
	       (module->len == 11 && !memcmp(module->data, "__builtin__", 11));
}

/* Classes made in Python are named without their module; that is __module__ in their dict. */
static void add_module(struct pl_render *r, pl_addr dict, char name[static NAME_SIZE])
{
	struct pl_buf full = PL_BUF_INIT(MODULE_MAX + NAME_SIZE + 8);
	char cut[NAME_SIZE] = "";
	struct pl_dict d;
	pl_addr value;
	struct plumb_error *err = pl_dict_open(&r->mem, r->v->py, dict, 0, &d);

	if (!err)
		err = pl_dict_find(&r->mem, r->v->py, &d, "__module__", &value);
	if (!err)
		err = pl_text_read_str(&r->mem, r->v->py, value, MODULE_MAX, &full);
	bool builtin = is_builtins(&full);
	if (!err)
		err = pl_buf_printf(&full, ".%s", name);
	if (!err && !builtin) {
		memcpy(cut, full.data, full.len < NAME_SIZE ? full.len : NAME_SIZE - 1);
		if (pl_clean_name(cut, NAME_SIZE))
			memcpy(name, cut, NAME_SIZE);
	}
	plumb_error_destroy(err);
	pl_buf_deinit(&full);
}

/* The words of a type object, in one read. */
static struct plumb_error *read_words(struct pl_render *r, pl_addr type, uint8_t raw[static TYPE_MAX_BYTES])
{
	const struct pl_layout *lay = &r->v->py->layout;

	if (!pl_pointer_ok(type) || lay->type.size > TYPE_MAX_BYTES || lay->type.tp_name + 8 > TYPE_MAX_BYTES ||
	    lay->type.tp_flags + 8 > TYPE_MAX_BYTES)
		return &pl_err_corrupt;
	memset(raw, 0, TYPE_MAX_BYTES);
	return pl_mem_read(&r->mem, type, raw, lay->type.size);
}

static struct plumb_error *find_kind(struct pl_render *r, const uint8_t *raw, uint64_t flags, const char *name,
				     struct pl_value_type *ret)
{
	const struct pl_layout *lay = &r->v->py->layout;
	uint8_t base_raw[TYPE_MAX_BYTES];
	char base_name[sizeof ret->name];
	pl_addr base = pl_pick_u64_if(raw, lay->type.tp_base);

	ret->kind = builtin_kind(lay, name, flags);
	ret->builtin = ret->kind != PL_KIND_OBJECT;
	if (!ret->builtin)
		ret->kind = flagged_kind(lay, flags);
	for (int i = 0; i < BASES_MAX && ret->kind == PL_KIND_OBJECT && base; i++) {
		struct plumb_error *err = read_words(r, base, base_raw);
		if (!err)
			err = pl_read_c_string(r, pl_pick_u64(base_raw, lay->type.tp_name), base_name,
					       sizeof base_name);
		if (err)
			return err;
		ret->kind = builtin_kind(lay, base_name, pl_pick_u64(base_raw, lay->type.tp_flags));
		base = pl_pick_u64_if(base_raw, lay->type.tp_base);
	}
	return NULL;
}

/* 2.7 calls its own exceptions by a module that no program imports. */
static void drop_exceptions(struct pl_value_type *type)
{
	static const char prefix[] = "exceptions.";
	size_t n = sizeof prefix - 1;

	if (!(type->flags & FLAG_HEAPTYPE) && !strncmp(type->name, prefix, n))
		memmove(type->name, type->name + n, NAME_SIZE - n);
}

struct plumb_error *pl_old_class_name(struct pl_render *r, pl_addr class, char name[static PL_TYPE_NAME])
{
	const struct pl_layout *lay = &r->v->py->layout;
	struct pl_buf text = PL_BUF_INIT(NAME_SIZE);
	pl_addr str, dict;
	struct plumb_error *err = NULL;

	if (!pl_pointer_ok(class) || lay->old_class.name == PL_NONE)
		return &pl_err_corrupt;
	err = pl_mem_read_u64(&r->mem, class + lay->old_class.name, &str);
	if (!err)
		err = pl_mem_read_u64(&r->mem, class + lay->old_class.dict, &dict);
	if (!err)
		err = pl_text_read_str(&r->mem, r->v->py, str, NAME_SIZE - 4, &text);
	if (!err && !text.len)
		err = &pl_err_corrupt;
	if (!err) {
		memset(name, 0, NAME_SIZE);
		memcpy(name, text.data, text.len);
	}
	if (!err && !pl_clean_name(name, NAME_SIZE))
		err = &pl_err_corrupt;
	if (!err)
		add_module(r, dict, name);
	pl_buf_deinit(&text);
	return err;
}

static struct plumb_error *read_type(struct pl_render *r, pl_addr type, struct pl_value_type *ret)
{
	const struct pl_layout *lay = &r->v->py->layout;
	uint8_t raw[TYPE_MAX_BYTES];
	struct plumb_error *err = read_words(r, type, raw);

	*ret = (struct pl_value_type){.type = type};
	if (!err)
		err = pl_read_c_string(r, pl_pick_u64(raw, lay->type.tp_name), ret->name, sizeof ret->name);
	if (err)
		return err;
	if (!pl_clean_name(ret->name, sizeof ret->name))
		return &pl_err_corrupt;
	ret->flags = pl_pick_u64(raw, lay->type.tp_flags);
	drop_exceptions(ret);
	err = find_kind(r, raw, ret->flags, ret->name, ret);
	if (!err && ret->flags & FLAG_HEAPTYPE && !strchr(ret->name, '.'))
		add_module(r, pl_pick_u64_if(raw, lay->type.tp_dict), ret->name);
	return err;
}

struct plumb_error *pl_type_read(struct pl_render *r, pl_addr type, struct pl_value_type *ret)
{
	struct pl_values *v = r->v;

	for (size_t i = 0; i < PL_VALUE_TYPES; i++) {
		if (v->types[i].type == type && type) {
			*ret = v->types[i];
			return NULL;
		}
	}
	struct plumb_error *err = read_type(r, type, ret);
	if (!err) {
		v->types[v->types_next] = *ret;
		v->types_next = (v->types_next + 1) % PL_VALUE_TYPES;
	}
	return err;
}

struct plumb_error *pl_type_of(struct pl_render *r, pl_addr obj, struct pl_value_type *ret)
{
	pl_addr type;
	struct plumb_error *err;

	if (!pl_pointer_ok(obj))
		return &pl_err_corrupt;
	err = pl_mem_read_u64(&r->mem, obj + r->v->py->layout.object.type, &type);
	return err ? err : pl_type_read(r, type, ret);
}
