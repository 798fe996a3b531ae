/* SPDX-License-Identifier: Apache-2.0 */
/* Layer: cpython. Pure; allocates only a list of what it has found.
 *
 * What is looked for has been laid out alike in all releases since 2.7: PyMethodDef (name, function, flags, text),
 * which stands in lists; types (PyTypeObject: a name, and functions in slots); types that are made when they are needed
 * (PyType_Spec: a name, and a list of numbered slots); modules (PyModuleDef: a name, and a list of methods). Each
 * has a pointer to its name, and the rest at known places from there (what stands before it, the head of an object, is
 * larger in free-threaded builds). So every word that points to a name may be one, and all that is beside it must look
 * right. */
#include "c_functions.h"

#include <stdlib.h>
#include <string.h>

#include "vec.h"

#define NAME_MAX_BYTES 128
#define FOUND_MAX      65536u
#define LIST_MAX       4096u /* methods of a type */
#define SLOTS_MAX      128u
#define TRIES_MAX      (1u << 22) /* words that are looked at in lists, */
#define NAME_TRIES     8	  /* and what each name takes */
#define FLAGS_MAX      0x1000u	  /* METH_... */
#define SIZE_MAX_BYTES (1u << 20) /* of an object */
#define METHOD_BYTES   32

/* In the order of what tells more. */
enum origin { METHOD_OF_OWNER, SLOT, METHOD_ALONE };

struct found {
	uint64_t addr;
	const char *owner; /* NULL: none */
	const char *name;
	enum origin origin;
};

struct finder {
	const struct pl_c_file *f;
	PL_VEC(struct found) all;
	size_t tries;
};

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static const uint8_t *bytes_at(const struct finder *d, uint64_t addr, size_t len)
{
	const struct pl_c_file *f = d->f;

	return addr >= f->base && addr - f->base <= f->len && len <= f->len - (addr - f->base)
		       ? f->bytes + (addr - f->base)
		       : NULL;
}

/* 0 where there is nothing. */
static uint64_t word_at(const struct finder *d, uint64_t addr)
{
	const uint8_t *at = bytes_at(d, addr, sizeof(uint64_t));
	uint64_t v = 0;

	if (at)
		memcpy(&v, at, sizeof v);
	return v;
}

static bool is_code(const struct finder *d, uint64_t addr)
{
	return addr >= d->f->code && addr < d->f->code_end;
}

static bool is_of_name(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* A name that Python code can have, @p dotted: with those of the modules that it is in. NULL: it is none. */
static const char *name_at(const struct finder *d, uint64_t addr, bool dotted)
{
	const uint8_t *text = addr ? bytes_at(d, addr, 1) : NULL;
	size_t most = text ? d->f->len - (addr - d->f->base) : 0, n = 0;

	most = most < NAME_MAX_BYTES ? most : NAME_MAX_BYTES;
	while (n < most && (is_of_name(text[n]) || (dotted && n && (text[n] == '.' || text[n] == '-'))))
		n++;
	return n && n < most && !text[n] && !(text[0] >= '0' && text[0] <= '9') ? (const char *)text : NULL;
}

static bool may_go_on(struct finder *d)
{
	return ++d->tries < TRIES_MAX && d->all.len < FOUND_MAX;
}

static void add(struct finder *d, uint64_t addr, const char *owner, const char *name, enum origin origin)
{
	if (is_code(d, addr) && d->all.len < FOUND_MAX)
		(void)pl_vec_push(&d->all, ((struct found){addr, owner, name, origin})); /* without memory: one less */
}

/* ---- methods ----------------------------------------------------------------------------------------------------- */

/* NULL: there is none. */
static const char *method_at(const struct finder *d, uint64_t at, uint64_t *function_ret)
{
	const char *name = name_at(d, word_at(d, at), false);
	uint64_t flags = word_at(d, at + 16) & UINT32_MAX, text = word_at(d, at + 24);

	*function_ret = word_at(d, at + 8);
	if (!name || !is_code(d, *function_ret) || flags >= FLAGS_MAX || is_code(d, text))
		return NULL;
	return text == 0 || bytes_at(d, text, 1) ? name : NULL;
}

static void add_methods(struct finder *d, uint64_t list, const char *owner)
{
	for (size_t i = 0; list && i < LIST_MAX && may_go_on(d); i++) {
		uint64_t function;
		const char *name = method_at(d, list + i * METHOD_BYTES, &function);

		/* One that another file has is 0 here. */
		if (!name && !name_at(d, word_at(d, list + i * METHOD_BYTES), false))
			return;
		if (name)
			add(d, function, owner, name, METHOD_OF_OWNER);
	}
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

enum part { TYPE, NUMBER, SEQUENCE, MAPPING };

/* Of each slot: where it is in a type, or in the table that the type has for that; its number in a list of slots. */
static const struct slot {
	const char *name;
	uint16_t at;
	uint8_t part, number;
} slots[] = {
	{"tp_dealloc", 48, TYPE, 52},	   {"__repr__", 88, TYPE, 66},	       {"__hash__", 120, TYPE, 59},
	{"__call__", 128, TYPE, 50},	   {"__str__", 136, TYPE, 70},	       {"__getattribute__", 144, TYPE, 58},
	{"__setattr__", 152, TYPE, 69},	   {"tp_traverse", 184, TYPE, 71},     {"tp_clear", 192, TYPE, 51},
	{"tp_richcompare", 200, TYPE, 67}, {"__iter__", 216, TYPE, 62},	       {"__next__", 224, TYPE, 63},
	{"__get__", 272, TYPE, 54},	   {"__set__", 280, TYPE, 55},	       {"__init__", 296, TYPE, 60},
	{"__new__", 312, TYPE, 65},	   {"__del__", 392, TYPE, 80},	       {"tp_vectorcall", 400, TYPE, 0},
	{"__add__", 0, NUMBER, 7},	   {"__sub__", 8, NUMBER, 36},	       {"__mul__", 16, NUMBER, 29},
	{"__mod__", 24, NUMBER, 34},	   {"__divmod__", 32, NUMBER, 10},     {"__pow__", 40, NUMBER, 33},
	{"__neg__", 48, NUMBER, 30},	   {"__abs__", 64, NUMBER, 6},	       {"__bool__", 72, NUMBER, 9},
	{"__lshift__", 88, NUMBER, 28},	   {"__rshift__", 96, NUMBER, 35},     {"__and__", 104, NUMBER, 8},
	{"__xor__", 112, NUMBER, 38},	   {"__or__", 120, NUMBER, 31},	       {"__int__", 128, NUMBER, 26},
	{"__float__", 144, NUMBER, 11},	   {"__floordiv__", 232, NUMBER, 12},  {"__truediv__", 240, NUMBER, 37},
	{"__len__", 0, SEQUENCE, 45},	   {"__add__", 8, SEQUENCE, 40},       {"__mul__", 16, SEQUENCE, 46},
	{"__getitem__", 24, SEQUENCE, 44}, {"__contains__", 56, SEQUENCE, 41}, {"__iadd__", 64, SEQUENCE, 42},
	{"__len__", 0, MAPPING, 4},	   {"__getitem__", 8, MAPPING, 5},     {"__setitem__", 16, MAPPING, 3},
};

#define SLOTS	     (sizeof slots / sizeof *slots)
#define SLOT_METHODS 64
#define TYPE_BYTES   320
#define AT_NAME	     24
#define AT_PARTS     96 /* number, sequence, mapping */
#define AT_METHODS   232

/* What is known of every type: sizes of its objects, and that its functions are functions. */
static bool is_type(const struct finder *d, uint64_t at)
{
	const uint64_t size = word_at(d, at + 32), item = word_at(d, at + 40), flags = word_at(d, at + 168);
	bool any = false;

	if (!bytes_at(d, at, TYPE_BYTES) || size > SIZE_MAX_BYTES || item > SIZE_MAX_BYTES || flags > UINT32_MAX ||
	    size % 8)
		return false;
	for (size_t i = 0; i < SLOTS; i++) {
		uint64_t v = slots[i].part == TYPE && slots[i].at < TYPE_BYTES ? word_at(d, at + slots[i].at) : 0;

		if (v && !is_code(d, v))
			return false;
		any |= v;
	}
	return any || word_at(d, at + AT_METHODS);
}

static void add_type(struct finder *d, uint64_t at, const char *name)
{
	if (!is_type(d, at))
		return;
	for (size_t i = 0; i < SLOTS; i++) {
		uint64_t table = slots[i].part == TYPE ? at : word_at(d, at + AT_PARTS + 8 * (slots[i].part - 1u));

		if (table && may_go_on(d))
			add(d, word_at(d, table + slots[i].at), name, slots[i].name, SLOT);
	}
	add_methods(d, word_at(d, at + AT_METHODS), name);
}

/* ---- types that are made when they are needed -------------------------------------------------------------------- */

static bool are_slots(struct finder *d, uint64_t list)
{
	size_t n = 0;

	while (n < SLOTS_MAX && may_go_on(d) && bytes_at(d, list + 16 * n, 16)) {
		uint64_t number = word_at(d, list + 16 * n) & UINT32_MAX, value = word_at(d, list + 16 * n + 8);

		if (number == 0)
			return n > 0 && value == 0;
		if (number >= SLOTS_MAX)
			return false;
		n++;
	}
	return false;
}

static void add_slots(struct finder *d, uint64_t list, const char *name)
{
	for (; may_go_on(d) && (word_at(d, list) & UINT32_MAX); list += 16) {
		uint64_t number = word_at(d, list) & UINT32_MAX, value = word_at(d, list + 8);

		if (number == SLOT_METHODS)
			add_methods(d, value, name);
		for (size_t i = 0; i < SLOTS; i++)
			if (slots[i].number == number)
				add(d, value, name, slots[i].name, SLOT);
	}
}

static void add_spec(struct finder *d, uint64_t at, const char *name)
{
	int32_t size = (int32_t)(word_at(d, at + 8) & UINT32_MAX), item = (int32_t)(word_at(d, at + 8) >> 32);
	uint64_t list = word_at(d, at + 24);

	/* A size below 0 is added to that of the base. */
	if (list && !is_code(d, list) && size < (int32_t)SIZE_MAX_BYTES && size > -(int32_t)SIZE_MAX_BYTES &&
	    item >= 0 && item < (int32_t)SIZE_MAX_BYTES && are_slots(d, list))
		add_slots(d, list, name);
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

static void add_module(struct finder *d, uint64_t at, const char *name)
{
	uint64_t text = word_at(d, at + 8), list = word_at(d, at + 24), function;
	int64_t size = (int64_t)word_at(d, at + 16);

	if (size < -1 || size > (int64_t)SIZE_MAX_BYTES || (text && !bytes_at(d, text, 1)) ||
	    !method_at(d, list, &function))
		return;
	add_methods(d, list, strcmp(name, "builtins") == 0 ? NULL : name);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* The word at @p at points to something: what has its name there? */
static void look_at(struct finder *d, uint64_t at)
{
	const char *name = name_at(d, word_at(d, at), true);
	uint64_t function;

	if (!name)
		return;
	d->tries += NAME_TRIES;
	add_type(d, at - AT_NAME, name);
	add_spec(d, at, name);
	add_module(d, at, name);
	const char *method = method_at(d, at, &function);
	if (method)
		add(d, function, NULL, method, METHOD_ALONE);
}

static int compare(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->origin != y->origin)
		return x->origin < y->origin ? -1 : 1;
	int order = strcmp(x->name, y->name);
	if (order)
		return order;
	if (!x->owner || !y->owner)
		return !y->owner - !x->owner;
	return strcmp(x->owner, y->owner);
}

/* Does another type have it under the same name? @p at: the first one of its address. */
static bool is_shared(const struct finder *d, size_t at)
{
	const struct found *one = &d->all.data[at];

	for (size_t i = at + 1; i < d->all.len; i++) {
		const struct found *other = &d->all.data[i];

		if (other->addr != one->addr || other->origin != one->origin || strcmp(other->name, one->name) != 0)
			return false;
		if (!one->owner || !other->owner || strcmp(other->owner, one->owner) != 0)
			return true;
	}
	return false;
}

static bool tell(const struct finder *d, size_t at, struct pl_c_function_sink *sink)
{
	const struct found *one = &d->all.data[at];
	char name[2 * NAME_MAX_BYTES + 2];
	size_t len = 0;

	if (one->owner && !is_shared(d, at)) {
		len = strlen(one->owner);
		memcpy(name, one->owner, len);
		name[len++] = '.';
	}
	memcpy(name + len, one->name, strlen(one->name) + 1);
	return sink->take(sink, one->addr, name);
}

void pl_c_functions_find(const struct pl_c_file *f, struct pl_c_function_sink *sink)
{
	struct finder d = {.f = f};

	for (uint64_t at = (f->base + 7) & ~UINT64_C(7); bytes_at(&d, at, 8) && d.tries < TRIES_MAX; at += 8)
		if (word_at(&d, at) >= f->base && !is_code(&d, at))
			look_at(&d, at);
	if (d.all.len)
		qsort(d.all.data, d.all.len, sizeof *d.all.data, compare);
	for (size_t i = 0; i < d.all.len; i++)
		if ((i == 0 || d.all.data[i].addr != d.all.data[i - 1].addr) && !tell(&d, i, sink))
			break;
	pl_vec_deinit(&d.all);
	sink->tries = d.tries;
}
