/* SPDX-License-Identifier: Apache-2.0 */
/* Containers with their first items. Layer: cpython. Pure over pl_mem; one thread.
 *
 * How long a container is comes from the target: it is told, but never used for more than the items that are shown. */
#include "value_parts.h"

#include <string.h>

#include "dict.h"
#include "pick.h"
#include "text.h"

#define LENGTH_MAX   (UINT64_C(1) << 48) /* longer is damage */
#define ITEMS_MAX    64
#define SET_BATCH    32
#define SET_SCAN_MAX 4096
#define DEQUE_BLOCK  64 /* items of a block of a deque */

/* The items of one container as they are written: brackets, commas, what is left out. */
struct items {
	const char *open, *close;
	uint64_t total;
	uint32_t shown;
};

uint32_t pl_render_items_max(const struct pl_render *r)
{
	return r->v->limits.items < ITEMS_MAX ? r->v->limits.items : ITEMS_MAX;
}

static bool is_inside(const struct pl_render *r, pl_addr obj)
{
	for (uint32_t i = 0; i < r->depth; i++) {
		if (r->inside[i] == obj)
			return true;
	}
	return false;
}

bool pl_render_enter(struct pl_render *r, pl_addr obj)
{
	if (r->depth >= r->v->limits.depth || is_inside(r, obj))
		return false;
	r->inside[r->depth++] = obj;
	return true;
}

void pl_render_leave(struct pl_render *r)
{
	r->depth--;
}

static struct plumb_error *next_item(struct pl_render *r, struct items *i)
{
	return i->shown++ ? pl_buf_add_str(r->out, ", ") : NULL;
}

static bool wants_more(const struct pl_render *r, const struct items *i)
{
	return i->shown < pl_render_items_max(r) && i->shown < i->total && !pl_render_full(r);
}

/* ", ... 97 more" and the closing bracket. @p broken: a read error that ended the items early. */
static struct plumb_error *end_items(struct pl_render *r, const struct items *i, struct plumb_error *broken)
{
	struct plumb_error *err = NULL;

	if (broken) {
		err = i->shown ? pl_buf_add_str(r->out, ", ") : NULL;
		if (!err)
			err = pl_render_broken(r, broken);
		else
			plumb_error_destroy(broken);
	} else if (i->shown < i->total) {
		err = pl_buf_printf(r->out, "%s... %llu more", i->shown ? ", " : "",
				    (unsigned long long)(i->total - i->shown));
	}
	return err ? err : pl_buf_add_str(r->out, i->close);
}

/* A container whose contents are not told. */
static struct plumb_error *closed(struct pl_render *r, const struct items *i)
{
	return pl_buf_printf(r->out, "%s%s%s", i->open, i->total ? "..." : "", i->close);
}

/* (b'authorization', b'Bearer ...'): a pair whose first item names a secret is one, as headers are. */
static bool is_secret_pair(struct pl_render *r, const uint64_t *items, uint64_t total)
{
	return total == 2 && pl_render_names_secret(r, items[0]);
}

/* @p first: where the pointers are. */
static struct plumb_error *add_array(struct pl_render *r, pl_addr first, struct items *i)
{
	uint64_t item[ITEMS_MAX];
	uint32_t n = i->total < pl_render_items_max(r) ? (uint32_t)i->total : pl_render_items_max(r);
	struct plumb_error *broken = n ? pl_mem_read(&r->mem, first, item, n * 8) : NULL, *err = NULL;
	bool secret = !broken && n == 2 && is_secret_pair(r, item, i->total);

	for (uint32_t k = 0; !err && !broken && k < n && wants_more(r, i); k++) {
		err = next_item(r, i);
		if (!err)
			err = pl_render_value(r, item[k], secret && k == 1);
	}
	return err ? err : end_items(r, i, broken);
}

static struct plumb_error *render_tuple(struct pl_render *r, pl_addr obj, struct items *i)
{
	if (i->total == 1)
		i->close = ",)";
	return add_array(r, obj + r->v->py->layout.tuple.items, i);
}

static struct plumb_error *render_list(struct pl_render *r, pl_addr obj, struct items *i)
{
	pl_addr first = 0;
	struct plumb_error *broken =
		i->total ? pl_mem_read_u64(&r->mem, obj + r->v->py->layout.list.items, &first) : NULL;

	return broken ? end_items(r, i, broken) : add_array(r, first, i);
}

/* 2.7 puts a str of its own in the place of what was removed. */
static bool is_dummy(struct pl_render *r, pl_addr key)
{
	struct pl_buf text = PL_BUF_INIT(32);
	struct plumb_error *err = pl_text_read_str(&r->mem, r->v->py, key, 16, &text);
	bool yes = !err && text.len == 11 && !memcmp(text.data, "<dummy key>", 11);

	plumb_error_destroy(err);
	pl_buf_deinit(&text);
	return yes;
}

/* @p dummies: 2.7, and something was removed. */
static struct plumb_error *add_set_batch(struct pl_render *r, const uint64_t *entries, uint64_t n, bool dummies,
					 struct items *i)
{
	const struct pl_layout *lay = &r->v->py->layout;
	uint32_t key_at = lay->set.key / 8;
	struct plumb_error *err = NULL;

	for (uint64_t k = 0; !err && k < n && wants_more(r, i); k++) {
		uint64_t key = entries[k * 2 + key_at], hash = entries[k * 2 + 1 - key_at];
		bool removed = pl_layout_str_is_bytes(lay) ? dummies && key && is_dummy(r, key) : hash == UINT64_MAX;
		if (!key || removed)
			continue;
		err = next_item(r, i);
		if (!err)
			err = pl_render_value(r, key, false);
	}
	return err;
}

static struct plumb_error *find_dummies(struct pl_render *r, pl_addr obj, const struct items *i, bool *ret)
{
	const struct pl_layout *lay = &r->v->py->layout;
	uint64_t fill;
	struct plumb_error *err;

	*ret = false;
	if (!pl_layout_str_is_bytes(lay))
		return NULL;
	err = pl_mem_read_u64(&r->mem, obj + lay->set.used - 8, &fill);
	*ret = !err && fill != i->total;
	return err;
}

static struct plumb_error *render_set(struct pl_render *r, pl_addr obj, struct items *i)
{
	const struct pl_layout *lay = &r->v->py->layout;
	uint64_t mask, entries[SET_BATCH * 2];
	bool dummies = false;
	pl_addr table = 0;
	struct plumb_error *broken = pl_mem_read_u64(&r->mem, obj + lay->set.mask, &mask), *err = NULL;

	if (!broken)
		broken = find_dummies(r, obj, i, &dummies);
	if (!broken)
		broken = pl_mem_read_u64(&r->mem, obj + lay->set.table, &table);
	for (uint64_t at = 0; !err && !broken && at <= mask && at < SET_SCAN_MAX && wants_more(r, i); at += SET_BATCH) {
		uint64_t n = mask - at < SET_BATCH ? mask - at + 1 : SET_BATCH;
		broken = pl_mem_read(&r->mem, table + at * 16, entries, n * 16);
		if (!broken)
			err = add_set_batch(r, entries, n, dummies, i);
	}
	if (err) {
		plumb_error_destroy(broken);
		return err;
	}
	return end_items(r, i, broken);
}

/* dequeobject: leftblock, rightblock, leftindex; a block is {leftlink, data[64], rightlink}. The same in
 * every 3.x. */
static struct plumb_error *render_deque(struct pl_render *r, pl_addr obj, struct items *i)
{
	uint64_t head[3] = {0}, item;
	struct plumb_error *broken = pl_mem_read(&r->mem, obj + r->v->py->layout.bytes.ob_size + 8, head, sizeof head),
			   *err = NULL;
	pl_addr block = head[0];
	uint64_t at = head[2];

	if (!broken && at > DEQUE_BLOCK)
		broken = &pl_err_corrupt;
	while (!err && !broken && wants_more(r, i)) {
		if (at == DEQUE_BLOCK) {
			broken = pl_mem_read_u64(&r->mem, block + 8 + DEQUE_BLOCK * 8, &block);
			at = 0;
			continue;
		}
		broken = pl_mem_read_u64(&r->mem, block + 8 + at++ * 8, &item);
		if (!broken)
			err = next_item(r, i);
		if (!broken && !err)
			err = pl_render_value(r, item, false);
	}
	if (err) {
		plumb_error_destroy(broken);
		return err;
	}
	return end_items(r, i, broken);
}

/* The beginning of a bytes object: one byte more than is looked at tells that it is too long. */
static struct plumb_error *add_bytes_start(struct pl_render *r, pl_addr obj, struct pl_buf *ret)
{
	const struct pl_layout *lay = &r->v->py->layout;
	char bytes[PL_SECRET_NAME_MAX + 1];
	uint64_t len;
	struct plumb_error *err = pl_mem_read_u64(&r->mem, obj + lay->bytes.ob_size, &len);

	if (!err && len > sizeof bytes)
		len = sizeof bytes;
	if (!err && len)
		err = pl_mem_read(&r->mem, obj + lay->bytes.sval, bytes, len);
	return err ? err : pl_buf_add(ret, bytes, len);
}

/* A name that cannot be read may be that of a secret. */
bool pl_render_names_secret(struct pl_render *r, pl_addr key)
{
	struct pl_value_type type;
	struct pl_buf text = PL_BUF_INIT(PL_SECRET_NAME_MAX + 8);
	struct pl_text_start start = {0};
	struct plumb_error *err;

	if (r->v->limits.show_secrets)
		return false;
	err = pl_type_of(r, key, &type);
	if (!err && type.kind == PL_KIND_STR)
		err = pl_text_read_start(&r->mem, r->v->py, key, PL_SECRET_NAME_MAX, &text, &start);
	else if (!err && type.kind == PL_KIND_BYTES)
		err = add_bytes_start(r, key, &text);
	bool secret = err || start.cut || (text.len && pl_name_is_secret((const char *)text.data, text.len));
	plumb_error_destroy(err);
	pl_buf_deinit(&text);
	return secret;
}

static struct plumb_error *render_dict(struct pl_render *r, pl_addr obj, struct items *i)
{
	struct pl_dict d = {0};
	struct pl_dict_item item;
	struct plumb_error *broken = i->total ? pl_dict_open(&r->mem, r->v->py, obj, 0, &d) : NULL, *err = NULL;

	if (!broken && i->total)
		broken = pl_dict_use_order(&r->mem, r->v->py, &d);
	for (uint32_t k = 0; !err && !broken && k < d.count && wants_more(r, i); k++) {
		broken = pl_dict_item(&r->mem, &d, k, &item);
		if (broken || !item.key || !item.value)
			continue;
		err = next_item(r, i);
		if (!err)
			err = pl_render_value(r, item.key, false);
		if (!err)
			err = pl_buf_add_str(r->out, ": ");
		if (!err)
			err = pl_render_value(r, item.value, pl_render_names_secret(r, item.key));
	}
	if (err) {
		plumb_error_destroy(broken);
		return err;
	}
	return end_items(r, i, broken);
}

/* What the items of a container stand in, and how many there are. */
static struct plumb_error *begin_items(struct pl_render *r, pl_addr obj, uint32_t kind, struct items *i)
{
	static const struct {
		const char *open, *close;
	} brackets[] = {
		[PL_KIND_TUPLE] = {"(", ")"}, [PL_KIND_LIST] = {"[", "]"},
		[PL_KIND_SET] = {"{", "}"},   [PL_KIND_FROZENSET] = {"frozenset({", "})"},
		[PL_KIND_DICT] = {"{", "}"},  [PL_KIND_DEQUE] = {"deque([", "])"},
	};
	const struct pl_layout *lay = &r->v->py->layout;
	uint32_t at = lay->bytes.ob_size;

	if (kind == PL_KIND_SET || kind == PL_KIND_FROZENSET)
		at = lay->set.used;
	else if (kind == PL_KIND_DICT)
		at = lay->dict.used;
	*i = (struct items){.open = brackets[kind].open, .close = brackets[kind].close};
	struct plumb_error *err = pl_mem_read_u64(&r->mem, obj + at, &i->total);
	if (!err && i->total > LENGTH_MAX)
		err = &pl_err_corrupt;
	return err;
}

static struct plumb_error *render_items(struct pl_render *r, pl_addr obj, uint32_t kind, struct items *i)
{
	if (kind == PL_KIND_TUPLE)
		return render_tuple(r, obj, i);
	if (kind == PL_KIND_LIST)
		return render_list(r, obj, i);
	if (kind == PL_KIND_DICT)
		return render_dict(r, obj, i);
	return kind == PL_KIND_DEQUE ? render_deque(r, obj, i) : render_set(r, obj, i);
}

static struct plumb_error *render_collection(struct pl_render *r, pl_addr obj, uint32_t kind)
{
	struct items i;
	struct plumb_error *err = begin_items(r, obj, kind, &i);

	if (err)
		return pl_render_broken(r, err);
	if ((kind == PL_KIND_SET || kind == PL_KIND_FROZENSET) && !i.total)
		return pl_buf_add_str(r->out, kind == PL_KIND_SET ? "set()" : "frozenset()");
	if (!i.total || !pl_render_enter(r, obj))
		return closed(r, &i);
	err = pl_buf_add_str(r->out, i.open);
	if (!err)
		err = render_items(r, obj, kind, &i);
	pl_render_leave(r);
	return err;
}

/* ValueError('message'): the arguments are a tuple. */
static struct plumb_error *render_exception(struct pl_render *r, pl_addr obj, const struct pl_value_type *type)
{
	pl_addr args;
	struct pl_value_type args_type;
	struct plumb_error *err = pl_buf_add_str(r->out, type->name), *broken;

	if (err)
		return err;
	broken = pl_mem_read_u64(&r->mem, obj + r->v->py->layout.exception.args, &args);
	if (!broken)
		broken = pl_type_of(r, args, &args_type);
	if (broken || args_type.kind != PL_KIND_TUPLE) {
		plumb_error_destroy(broken);
		return pl_buf_add_str(r->out, "(...)");
	}
	struct items i;
	broken = begin_items(r, args, PL_KIND_TUPLE, &i);
	if (broken || !pl_render_enter(r, obj)) {
		plumb_error_destroy(broken);
		return pl_buf_add_str(r->out, "(...)");
	}
	err = pl_buf_add_str(r->out, i.open);
	if (!err)
		err = add_array(r, args + r->v->py->layout.tuple.items, &i);
	pl_render_leave(r);
	return err;
}

struct plumb_error *pl_render_container(struct pl_render *r, pl_addr obj, const struct pl_value_type *type)
{
	switch ((enum pl_value_kind)type->kind) {
	case PL_KIND_TUPLE:
	case PL_KIND_LIST:
	case PL_KIND_SET:
	case PL_KIND_FROZENSET:
	case PL_KIND_DICT:
	case PL_KIND_DEQUE:
		return render_collection(r, obj, type->kind);
	case PL_KIND_EXCEPTION:
		return render_exception(r, obj, type);
	case PL_KIND_MODULE:
		return pl_render_module(r, obj);
	default:
		return pl_render_object(r, obj, type);
	}
}
