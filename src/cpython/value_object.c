/* SPDX-License-Identifier: Apache-2.0 */
/* Objects with their first attributes, those of __slots__ and of __dict__, and modules. Layer: cpython. Pure over
 * pl_mem; one thread. */
#include "value_parts.h"

#include <inttypes.h>
#include <string.h>

#include "dict.h"
#include "lock.h"
#include "pick.h"

#define FLAG_HEAPTYPE (UINT64_C(1) << 9)
#define MEMBERS_MAX   32
#define MEMBER_OBJECT 16 /* PyMemberDef.type: Py_T_OBJECT_EX */
#define BASES_MAX     8
#define INSTANCE_MAX  4096
#define SLOT_NAME_MAX 64

/* The attributes of one object as they are written. */
struct attributes {
	uint32_t shown;
	bool more; /* some were left out */
};

/* PyMemberDef, of which a class has one for each of its __slots__. The same in every release. */
struct member {
	pl_addr name;
	uint64_t type; /* an int */
	uint64_t offset, flags;
	pl_addr doc;
};

static bool is_plain(struct pl_render *r, pl_addr value)
{
	struct pl_value_type type;
	struct plumb_error *err = pl_type_of(r, value, &type);
	bool plain = !err && type.kind != PL_KIND_OBJECT && type.kind <= PL_KIND_LAST_PLAIN;

	plumb_error_destroy(err);
	return plain;
}

/* Is there room for one more attribute with this value? If so, begin it. */
static bool wanted(struct pl_render *r, struct attributes *a, pl_addr value)
{
	if (a->shown < pl_render_items_max(r) && !pl_render_full(r) && is_plain(r, value))
		return true;
	a->more = true;
	return false;
}

static struct plumb_error *begin(struct pl_render *r, struct attributes *a)
{
	return pl_buf_add_str(r->out, a->shown++ ? ", " : " ");
}

static struct plumb_error *add_dict_item(struct pl_render *r, const struct pl_dict_item *item, struct attributes *a)
{
	struct plumb_error *err;

	if (!wanted(r, a, item->value))
		return NULL;
	err = begin(r, a);
	if (!err)
		err = pl_render_bare_str(r, item->key);
	if (!err)
		err = pl_buf_add_u8(r->out, '=');
	return err ? err : pl_render_value(r, item->value, pl_render_names_secret(r, item->key));
}

static bool may_continue(const struct pl_render *r, const struct attributes *a)
{
	return !pl_render_full(r) && (a->shown < pl_render_items_max(r) || !a->more);
}

/* Those of __dict__, opened before (or @p broken). None, or none that can be read: the type says enough. */
static struct plumb_error *add_dict(struct pl_render *r, struct pl_dict *d, struct plumb_error *broken,
				    struct attributes *a)
{
	struct pl_dict_item item;
	struct plumb_error *err = NULL;

	if (!broken)
		broken = pl_dict_use_order(&r->mem, r->v->py, d);
	for (uint32_t k = 0; !broken && !err && k < d->count && may_continue(r, a); k++) {
		broken = pl_dict_item(&r->mem, d, k, &item);
		if (!broken && item.key && item.value)
			err = add_dict_item(r, &item, a);
	}
	plumb_error_destroy(broken);
	return err;
}

static struct plumb_error *add_slot(struct pl_render *r, pl_addr obj, const struct member *m, struct attributes *a)
{
	char name[SLOT_NAME_MAX];
	pl_addr value = 0;
	struct plumb_error *broken, *err;

	if ((uint32_t)m->type != MEMBER_OBJECT || m->offset > INSTANCE_MAX || m->offset & 7)
		return NULL;
	broken = pl_mem_read_u64(&r->mem, obj + m->offset, &value);
	if (!broken && value)
		broken = pl_read_c_string(r, m->name, name, sizeof name);
	if (broken || !value || !pl_clean_name(name, sizeof name) || !wanted(r, a, value)) {
		plumb_error_destroy(broken);
		return NULL;
	}
	err = begin(r, a);
	if (!err)
		err = pl_buf_printf(r->out, "%s=", name);
	return err ? err : pl_render_value(r, value, pl_name_is_secret(name, strlen(name)));
}

/* The members of a class made by a `class` statement lie behind the class object, whose size its own class tells. */
static struct plumb_error *read_members(struct pl_render *r, pl_addr type, struct member members[static MEMBERS_MAX],
					uint32_t *count_ret)
{
	const struct pl_layout *lay = &r->v->py->layout;
	uint64_t flags, count, size;
	pl_addr meta;
	struct plumb_error *err = pl_mem_read_u64(&r->mem, type + lay->type.tp_flags, &flags);

	*count_ret = 0;
	if (err || !(flags & FLAG_HEAPTYPE) || lay->type.tp_basicsize == PL_NONE)
		return err;
	err = pl_mem_read_u64(&r->mem, type + lay->bytes.ob_size, &count);
	if (err || !count || count > MEMBERS_MAX)
		return err;
	err = pl_mem_read_u64(&r->mem, type + lay->object.type, &meta);
	if (!err && !pl_pointer_ok(meta))
		err = &pl_err_corrupt;
	if (!err)
		err = pl_mem_read_u64(&r->mem, meta + lay->type.tp_basicsize, &size);
	if (!err && (size < lay->type.size || size > INSTANCE_MAX || size & 7))
		err = &pl_err_corrupt;
	if (!err)
		err = pl_mem_read(&r->mem, type + size, members, count * sizeof members[0]);
	*count_ret = err ? 0 : (uint32_t)count;
	return err;
}

/* Those of __slots__, of the class and of its bases. */
static struct plumb_error *add_slots(struct pl_render *r, pl_addr obj, struct attributes *a)
{
	const struct pl_layout *lay = &r->v->py->layout;
	struct member members[MEMBERS_MAX];
	pl_addr type = 0;
	struct plumb_error *err = NULL, *broken = pl_mem_read_u64(&r->mem, obj + lay->object.type, &type);

	for (int i = 0; i < BASES_MAX && !broken && !err && lay->type.tp_base != PL_NONE && pl_pointer_ok(type); i++) {
		uint32_t count = 0;
		broken = read_members(r, type, members, &count);
		for (uint32_t k = 0; k < count && !err && may_continue(r, a); k++)
			err = add_slot(r, obj, &members[k], a);
		if (!broken)
			broken = pl_mem_read_u64(&r->mem, type + lay->type.tp_base, &type);
	}
	plumb_error_destroy(broken);
	return err;
}

static struct plumb_error *end_attributes(struct pl_render *r, const struct attributes *a)
{
	return a->more || !r->reads_left ? pl_buf_add_str(r->out, a->shown ? ", ..." : " ...") : NULL;
}

static struct plumb_error *add_attributes(struct pl_render *r, pl_addr obj)
{
	struct attributes a = {0};
	struct pl_dict d;
	struct plumb_error *err = add_slots(r, obj, &a);

	if (!err)
		err = add_dict(r, &d, pl_instance_open(&r->mem, r->v->py, obj, &d), &a);
	return err ? err : end_attributes(r, &a);
}

struct plumb_error *pl_render_object(struct pl_render *r, pl_addr obj, const struct pl_value_type *type)
{
	struct plumb_error *err = pl_buf_printf(r->out, "<%s", type->name);

	if (!err && pl_render_enter(r, obj)) {
		err = add_attributes(r, obj);
		pl_render_leave(r);
	}
	return err ? err : pl_buf_add_u8(r->out, '>');
}

struct plumb_error *pl_render_old_class(struct pl_render *r, pl_addr obj)
{
	char name[PL_TYPE_NAME];
	struct plumb_error *broken = pl_old_class_name(r, obj, name);

	return broken ? pl_render_broken(r, broken) : pl_buf_printf(r->out, "<class '%s'>", name);
}

static struct plumb_error *add_old_attributes(struct pl_render *r, pl_addr dict)
{
	struct attributes a = {0};
	struct pl_dict d;
	struct plumb_error *err = add_dict(r, &d, pl_dict_open(&r->mem, r->v->py, dict, 0, &d), &a);

	return err ? err : end_attributes(r, &a);
}

struct plumb_error *pl_render_old_instance(struct pl_render *r, pl_addr obj)
{
	const struct pl_layout *lay = &r->v->py->layout;
	char name[PL_TYPE_NAME];
	pl_addr class, dict;
	struct plumb_error *broken = lay->old_instance.type == PL_NONE ? &pl_err_corrupt : NULL, *err;

	if (!broken)
		broken = pl_mem_read_u64(&r->mem, obj + lay->old_instance.type, &class);
	if (!broken)
		broken = pl_mem_read_u64(&r->mem, obj + lay->old_instance.dict, &dict);
	if (!broken)
		broken = pl_old_class_name(r, class, name);
	if (broken)
		return pl_render_broken(r, broken);
	err = pl_buf_printf(r->out, "<%s", name);
	if (!err && pl_render_enter(r, obj)) {
		err = add_old_attributes(r, dict);
		pl_render_leave(r);
	}
	return err ? err : pl_buf_add_u8(r->out, '>');
}

struct plumb_error *pl_render_lock(struct pl_render *r, pl_addr obj, const struct pl_value_type *type)
{
	enum pl_lock_kind kind = strcmp(type->name, "_thread.RLock") == 0 ? PL_LOCK_RECURSIVE : PL_LOCK_PLAIN;
	struct plumb_error *err;
	struct pl_lock lock;

	if (!pl_lock_read(&r->mem, r->v->py, obj, kind, &lock))
		return pl_buf_printf(r->out, "<%s>", type->name);
	err = pl_buf_printf(r->out, "<%s %s object", lock.held ? "locked" : "unlocked", type->name);
	if (!err && kind == PL_LOCK_RECURSIVE)
		err = pl_buf_printf(r->out, " owner=%" PRIu64 " count=%" PRIu64, lock.owner, lock.count);
	return err ? err : pl_buf_printf(r->out, " at 0x%" PRIx64 ">", obj);
}

/* <module 'app'>: the first member of a module is its dict. */
struct plumb_error *pl_render_module(struct pl_render *r, pl_addr obj)
{
	struct pl_dict d;
	pl_addr dict, name;
	struct plumb_error *broken = pl_mem_read_u64(&r->mem, obj + r->v->py->layout.object.size, &dict);

	if (!broken)
		broken = pl_dict_open(&r->mem, r->v->py, dict, 0, &d);
	if (!broken)
		broken = pl_dict_find(&r->mem, r->v->py, &d, "__name__", &name);
	if (broken) {
		plumb_error_destroy(broken);
		return pl_buf_add_str(r->out, "<module>");
	}
	struct plumb_error *err = pl_buf_add_str(r->out, "<module '");
	if (!err)
		err = pl_render_bare_str(r, name);
	return err ? err : pl_buf_add_str(r->out, "'>");
}
