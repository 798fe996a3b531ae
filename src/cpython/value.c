/* SPDX-License-Identifier: Apache-2.0 */
/* An object of the target as a short text. Layer: cpython. Pure over pl_mem; one thread; allocates in the caller's
 * buffer only, and a short text.
 *
 * This file decides what a value is and bounds it; value_type.c knows types, value_plain.c numbers and texts,
 * value_items.c containers, value_object.c attributes, value_secret.c names that are not to be told. */
#include "value.h"

#include <string.h>

#include "pick.h"
#include "value_parts.h"

#define PAGE_BYTES   4096
#define OBJECT_ALIGN 16
#define BASES_MAX    16

const struct pl_value_limits pl_value_usual = {
	.depth = 2,
	.items = 8,
	.text_bytes = 80,
	.total_bytes = 400,
	.reads = 400,
};

void pl_values_init(struct pl_values *v, struct pl_mem *mem, const struct pl_py *py,
		    const struct pl_value_limits *limits)
{
	memset(v, 0, sizeof *v);
	v->mem = mem;
	v->py = py;
	v->limits = limits ? *limits : pl_value_usual;
	if (v->limits.depth > PL_VALUE_DEPTH_MAX)
		v->limits.depth = PL_VALUE_DEPTH_MAX;
}

static struct plumb_error *read_counted(struct pl_render *r, pl_addr addr, void *dst, size_t len)
{
	if (!r->reads_left)
		return &pl_err_limit;
	r->reads_left--;
	return pl_mem_read(r->v->mem, addr, dst, len);
}

/* Move the window to the object that @p addr is probably in the beginning of. It never reaches into another page; where
 * it cannot be read there is none. */
static void move_window(struct pl_render *r, pl_addr addr)
{
	pl_addr start = addr & ~(pl_addr)(OBJECT_ALIGN - 1);
	struct plumb_error *err;

	r->window_len = 0;
	if (PAGE_BYTES - start % PAGE_BYTES < PL_VALUE_WINDOW)
		return;
	err = read_counted(r, start, r->window_bytes, PL_VALUE_WINDOW);
	r->window = start;
	r->window_len = err ? 0 : PL_VALUE_WINDOW;
	plumb_error_destroy(err);
}

static bool in_window(const struct pl_render *r, pl_addr addr, size_t len)
{
	return addr - r->window < r->window_len && len <= r->window_len - (addr - r->window);
}

static struct plumb_error *render_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct pl_render *r = (struct pl_render *)mem;

	if (len <= PL_VALUE_WINDOW && !in_window(r, addr, len))
		move_window(r, addr);
	if (!in_window(r, addr, len))
		return read_counted(r, addr, dst, len);
	memcpy(dst, r->window_bytes + (addr - r->window), len);
	return NULL;
}

static const struct pl_mem_ops render_ops = {.read = render_read};

static struct pl_render start_render(struct pl_values *v, struct pl_buf *out)
{
	return (struct pl_render){
		.mem = {.ops = &render_ops},
		.reads_left = v->limits.reads,
		.v = v,
		.out = out,
		.out_start = out->len,
	};
}

bool pl_render_full(const struct pl_render *r)
{
	return r->out->len - r->out_start >= r->v->limits.total_bytes || !r->reads_left;
}

struct plumb_error *pl_render_broken(struct pl_render *r, struct plumb_error *err)
{
	enum plumb_error_code code = plumb_error_code(err);

	plumb_error_destroy(err);
	if (code == PLUMB_ERR_NO_MEMORY)
		return &pl_err_no_memory;
	return pl_buf_add_str(r->out, code == PLUMB_ERR_LIMIT	  ? "..."
				      : code == PLUMB_ERR_CORRUPT ? "<damaged>"
								  : "<unreadable>");
}

/* "<function load>", from a str object at @p name. */
static struct plumb_error *render_named(struct pl_render *r, const char *what, pl_addr name)
{
	struct plumb_error *err = pl_buf_printf(r->out, "<%s ", what);

	if (!err)
		err = pl_render_bare_str(r, name);
	return err ? err : pl_buf_add_u8(r->out, '>');
}

/* The name is at offset @p at of the object. */
static struct plumb_error *render_by_name(struct pl_render *r, const char *what, pl_addr obj, uint32_t at)
{
	pl_addr name = 0;
	struct plumb_error *err =
		!pl_pointer_ok(obj) || at == PL_NONE ? &pl_err_corrupt : pl_mem_read_u64(&r->mem, obj + at, &name);

	return err ? pl_render_broken(r, err) : render_named(r, what, name);
}

static struct plumb_error *render_function(struct pl_render *r, const char *what, pl_addr function)
{
	return render_by_name(r, what, function, r->v->py->layout.function.name);
}

/* 2.7: a method taken from a class and not from an object. */
static struct plumb_error *find_loose(struct pl_render *r, pl_addr method, bool *ret)
{
	const struct pl_layout *lay = &r->v->py->layout;
	pl_addr self = 1;
	struct plumb_error *err = NULL;

	if (pl_layout_str_is_bytes(lay))
		err = pl_mem_read_u64(&r->mem, method + lay->method.function + 8, &self);
	*ret = !self;
	return err;
}

static struct plumb_error *render_method(struct pl_render *r, pl_addr obj)
{
	struct pl_value_type type;
	pl_addr function;
	bool loose = false;
	struct plumb_error *err = pl_mem_read_u64(&r->mem, obj + r->v->py->layout.method.function, &function);

	if (!err)
		err = find_loose(r, obj, &loose);
	if (!err)
		err = pl_type_of(r, function, &type);
	if (err)
		return pl_render_broken(r, err);
	const char *what = loose ? "unbound method" : "bound method";
	if (type.kind != PL_KIND_FUNCTION)
		return pl_buf_printf(r->out, "<%s of <%s>>", what, type.name);
	return render_function(r, what, function);
}

static struct plumb_error *render_class(struct pl_render *r, pl_addr obj)
{
	struct pl_value_type type;
	struct plumb_error *err = pl_type_read(r, obj, &type);

	return err ? pl_render_broken(r, err) : pl_buf_printf(r->out, "<class '%s'>", type.name);
}

static struct plumb_error *render_known(struct pl_render *r, pl_addr obj, const struct pl_value_type *type)
{
	switch ((enum pl_value_kind)type->kind) {
	case PL_KIND_NONE:
		return pl_buf_add_str(r->out, "None");
	case PL_KIND_CONSTANT:
		return pl_buf_add_str(r->out, *type->name == 'e' ? "Ellipsis" : "NotImplemented");
	case PL_KIND_BOOL:
		return pl_render_bool(r, obj);
	case PL_KIND_SMALL_INT:
		return pl_render_small_int(r, obj);
	case PL_KIND_INT:
		return pl_render_int(r, obj);
	case PL_KIND_FLOAT:
		return pl_render_float(r, obj);
	case PL_KIND_COMPLEX:
		return pl_render_complex(r, obj);
	case PL_KIND_STR:
		return pl_render_str(r, obj);
	case PL_KIND_BYTES:
		return pl_render_bytes(r, obj);
	case PL_KIND_BYTEARRAY:
		return pl_render_bytearray(r, obj);
	case PL_KIND_CLASS:
		return render_class(r, obj);
	case PL_KIND_FUNCTION:
		return render_function(r, "function", obj);
	case PL_KIND_METHOD:
		return render_method(r, obj);
	case PL_KIND_OLD_CLASS:
		return pl_render_old_class(r, obj);
	case PL_KIND_OLD_INSTANCE:
		return pl_render_old_instance(r, obj);
	case PL_KIND_LOCK:
		return pl_render_lock(r, obj, type);
	case PL_KIND_GENERATOR:
		if (r->v->py->layout.gen.qualname == PL_NONE) /* 2.7 */
			return pl_buf_printf(r->out, "<%s>", type->name);
		return render_by_name(r, type->name, obj, r->v->py->layout.gen.qualname);
	default:
		return pl_render_container(r, obj, type);
	}
}

/* Of a subclass the type stands in front; classes and exceptions name theirs themselves. */
static bool names_itself(const struct pl_value_type *type)
{
	return type->builtin || type->kind == PL_KIND_OBJECT || type->kind == PL_KIND_EXCEPTION ||
	       type->kind == PL_KIND_CLASS;
}

struct plumb_error *pl_render_value(struct pl_render *r, pl_addr obj, bool secret)
{
	struct pl_value_type type;
	struct plumb_error *err = pl_type_of(r, obj, &type);

	if (err)
		return pl_render_broken(r, err);
	if (secret && !r->v->limits.show_secrets && type.kind != PL_KIND_NONE)
		return pl_buf_add_str(r->out, "***");
	if (names_itself(&type))
		return render_known(r, obj, &type);
	err = pl_buf_printf(r->out, "<%s ", type.name);
	if (!err)
		err = render_known(r, obj, &type);
	return err ? err : pl_buf_add_u8(r->out, '>');
}

struct plumb_error *pl_value_add(struct pl_values *v, pl_addr obj, const char *name, size_t name_len,
				 struct pl_buf *ret)
{
	struct pl_render r = start_render(v, ret);
	size_t before = ret->len;
	struct plumb_error *err = pl_render_value(&r, obj, name && pl_name_is_secret(name, name_len));

	if (err)
		ret->len = before;
	return err;
}

/* 2.7: the instances of all old-style classes are of one type. */
static struct plumb_error *name_old_class(struct pl_render *r, pl_addr obj, char ret[static PL_TYPE_NAME])
{
	const struct pl_layout *lay = &r->v->py->layout;
	pl_addr class = 0;
	struct plumb_error *err = lay->old_instance.type == PL_NONE
					  ? &pl_err_corrupt
					  : pl_mem_read_u64(&r->mem, obj + lay->old_instance.type, &class);

	return err ? err : pl_old_class_name(r, class, ret);
}

bool pl_value_type_name(struct pl_values *v, pl_addr obj, char ret[static PL_TYPE_NAME])
{
	struct pl_buf none = {0};
	struct pl_render r = start_render(v, &none);
	struct pl_value_type type;
	struct plumb_error *err = pl_type_of(&r, obj, &type);

	if (!err && type.kind == PL_KIND_OLD_INSTANCE)
		err = name_old_class(&r, obj, ret);
	else if (!err)
		memcpy(ret, type.name, PL_TYPE_NAME);
	plumb_error_destroy(err);
	return !err;
}

bool pl_value_is_a(struct pl_values *v, pl_addr obj, const char *name)
{
	const struct pl_layout *lay = &v->py->layout;
	struct pl_buf none = {0};
	struct pl_render r = start_render(v, &none);
	struct pl_value_type type = {0};
	struct plumb_error *err = pl_type_of(&r, obj, &type);

	for (int i = 0; i < BASES_MAX && !err && strcmp(type.name, name) != 0; i++) {
		pl_addr base = 0;

		err = lay->type.tp_base == PL_NONE ? &pl_err_corrupt
						   : pl_mem_read_u64(&r.mem, type.type + lay->type.tp_base, &base);
		if (!err)
			err = pl_type_read(&r, base, &type);
	}
	plumb_error_destroy(err);
	return !err && strcmp(type.name, name) == 0;
}

struct plumb_error *pl_value_add_type(struct pl_values *v, pl_addr obj, struct pl_buf *ret)
{
	struct pl_render r = start_render(v, ret);
	struct pl_value_type type;
	struct plumb_error *err = pl_type_of(&r, obj, &type);

	const char *name = err ? "?" : type.name;
	plumb_error_destroy(err);
	return pl_buf_add_str(ret, name);
}
