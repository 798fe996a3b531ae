/* SPDX-License-Identifier: Apache-2.0 */
/* Objects with their first attributes, and modules. Layer: cpython. Pure over pl_mem; one thread. */
#include "dict.h"
#include "value_parts.h"

/* One attribute, if its value is plain. *more is set if it is not. */
static struct plumb_error *add_attribute(struct pl_render *r, const struct pl_dict_item *item, uint32_t *shown,
					 bool *more)
{
	struct pl_value_type type;
	struct plumb_error *err = pl_type_of(r, item->value, &type);

	if (err || type.kind == PL_KIND_OBJECT || type.kind > PL_KIND_LAST_PLAIN) {
		plumb_error_destroy(err);
		*more = true;
		return NULL;
	}
	err = pl_buf_add_str(r->out, (*shown)++ ? ", " : " ");
	if (!err)
		err = pl_render_bare_str(r, item->key);
	if (!err)
		err = pl_buf_add_u8(r->out, '=');
	return err ? err : pl_render_value(r, item->value, pl_render_names_secret(r, item->key));
}

static struct plumb_error *add_attributes(struct pl_render *r, pl_addr obj)
{
	uint32_t shown = 0;
	struct pl_dict d;
	struct pl_dict_item item;
	bool more = false;
	struct plumb_error *err = NULL, *broken = pl_instance_open(&r->mem, r->v->py, obj, &d);

	if (!broken)
		broken = pl_dict_use_order(&r->mem, r->v->py, &d);
	for (uint32_t k = 0; !broken && !err && k < d.count; k++) {
		if (pl_render_full(r) || shown == pl_render_items_max(r)) {
			more = true;
			break;
		}
		broken = pl_dict_item(&r->mem, &d, k, &item);
		if (!broken && item.key && item.value)
			err = add_attribute(r, &item, &shown, &more);
	}
	plumb_error_destroy(broken); /* no attributes, or none that can be read: the type says enough */
	if (!err && more)
		err = pl_buf_add_str(r->out, shown ? ", ..." : " ...");
	return err;
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
