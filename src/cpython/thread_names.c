/* SPDX-License-Identifier: Apache-2.0 */
/* Names of threads: sys.modules['threading']._active is {ident: Thread}, the name is Thread._name (__name in 2.7).
 * Layer: cpython. Pure over pl_mem; any thread; allocates one short text.
 *
 * For the moments when a thread is new, never for the sampling path. A thread whose entry cannot be followed to the end
 * has no name here; a name is never guessed. */
#include "threads.h"

#include "buf.h"
#include "dict.h"
#include "pick.h"
#include "text.h"

#define NAME_MAX_BYTES 1024

/* Is the object a str, going by its type being that of a str we have seen? Subclasses are not: their layout may differ.
 */
static bool has_type(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, pl_addr type)
{
	pl_addr word;

	return pl_pointer_ok(obj) && !pl_mem_read_u64(mem, obj + py->layout.object.type, &word) && word == type;
}

static struct plumb_error *read_name(struct pl_mem *mem, const struct pl_py *py, pl_addr thread, pl_addr str_type,
				     struct pl_buf *ret)
{
	const char *attribute = py->layout.version < PL_PY_VERSION(3, 0, 0) ? "_Thread__name" : "_name";
	pl_addr name;
	struct plumb_error *err = pl_instance_attr(mem, py, thread, attribute, &name);

	if (!err && !has_type(mem, py, name, str_type))
		err = &pl_err_corrupt;
	pl_buf_clear(ret);
	return err ? err : pl_text_read_str(mem, py, name, NAME_MAX_BYTES, ret);
}

/* The type of str, from a str that is certainly there: the first key of sys.modules. */
static struct plumb_error *learn_str_type(struct pl_mem *mem, const struct pl_py *py, pl_addr modules, pl_addr *ret)
{
	struct pl_dict d;
	struct pl_dict_item item;
	struct plumb_error *err = pl_dict_open(mem, py, modules, 0, &d);

	for (uint32_t i = 0; !err && i < d.count && i < 64; i++) {
		err = pl_dict_item(mem, &d, i, &item);
		if (!err && pl_pointer_ok(item.key))
			return pl_mem_read_u64(mem, item.key + py->layout.object.type, ret);
	}
	return err ? err : &pl_err_stale;
}

static struct plumb_error *each_thread(struct pl_mem *mem, const struct pl_py *py, const struct pl_dict *active,
				       pl_addr str_type, pl_thread_name_fn *fn, void *ctx)
{
	struct pl_buf name = PL_BUF_INIT(NAME_MAX_BYTES + 8);
	struct plumb_error *err = NULL;

	for (uint32_t i = 0; !err && i < active->count && i < PL_MAX_THREADS; i++) {
		struct pl_dict_item item;
		uint64_t ident;
		err = pl_dict_item(mem, active, i, &item);
		if (err || !item.key || !item.value)
			continue;
		/* One thread that is just ending must not cost the others their names. */
		if (pl_long_value(mem, py, item.key, &ident) || read_name(mem, py, item.value, str_type, &name))
			continue;
		fn(ctx, ident, (const char *)name.data, name.len);
	}
	pl_buf_deinit(&name);
	return err;
}

struct plumb_error *pl_thread_names(struct pl_mem *mem, const struct pl_py *py, const struct pl_interp *interp,
				    pl_thread_name_fn *fn, void *ctx)
{
	pl_addr active, dict_type, str_type;
	struct pl_dict d;
	struct plumb_error *err = pl_module_open(mem, py, interp->modules, "threading", &d, &dict_type);

	if (!err)
		err = pl_dict_find(mem, py, &d, "_active", &active);
	if (!err)
		err = learn_str_type(mem, py, interp->modules, &str_type);
	if (!err)
		err = pl_dict_open(mem, py, active, dict_type, &d);
	if (!err)
		return each_thread(mem, py, &d, str_type, fn, ctx);
	/* A program that never imported threading has no names: not an error. */
	return plumb_error_code(err) == PLUMB_ERR_TARGET_EXITED ? err : NULL;
}
