/* SPDX-License-Identifier: Apache-2.0 */
/* Where the variables and the value stack of a frame are. Layer: cpython. Pure over pl_mem; one thread; allocates
 * nothing. */
#include "slots.h"

#include <string.h>

#include "pick.h"

/* Where the value stack begins. <= 3.10 the frame says so; later it follows the variables, which the code object names.
 */
static struct plumb_error *find_stack(struct pl_mem *mem, const struct pl_layout *lay, const struct pl_frame *f,
				      pl_addr *ret)
{
	pl_addr names;
	uint64_t count;
	struct plumb_error *err;

	if (lay->frame_model == PL_FRAME_OBJECT)
		return pl_mem_read_u64(mem, f->addr + lay->frame.valuestack, ret);
	if (lay->code.localsplusnames == PL_NONE)
		return &pl_err_corrupt;
	err = pl_mem_read_u64(mem, f->code + lay->code.localsplusnames, &names);
	if (!err)
		err = pl_pointer_ok(names) ? pl_mem_read_u64(mem, names + lay->bytes.ob_size, &count) : &pl_err_corrupt;
	if (!err && count > PL_MAX_SLOTS)
		err = &pl_err_corrupt;
	if (!err)
		*ret = f->addr + lay->frame.localsplus + count * 8;
	return err;
}

struct plumb_error *pl_slots_of(struct pl_mem *mem, const struct pl_py *py, const struct pl_frame *f,
				struct pl_slots *ret)
{
	const struct pl_layout *lay = &py->layout;
	struct pl_slots s = {.variables = f->addr + lay->frame.localsplus};
	struct plumb_error *err;

	if (f->kind != PL_FRAME_PYTHON || !pl_pointer_ok(f->addr) || !pl_pointer_ok(f->code))
		return &pl_err_corrupt;
	err = find_stack(mem, lay, f, &s.stack);
	if (!err)
		err = pl_mem_read(mem, f->code + lay->code.stacksize, &s.stack_size, sizeof s.stack_size);
	if (!err && (s.stack < s.variables || s.stack - s.variables > PL_MAX_SLOTS * 8 || s.stack & 7 ||
		     s.stack_size > PL_MAX_SLOTS))
		err = &pl_err_corrupt;
	if (!err)
		*ret = s;
	return err;
}

pl_addr pl_slot_object(struct pl_mem *mem, const struct pl_py *py, pl_addr first, uint32_t i)
{
	pl_addr obj = 0;
	struct plumb_error *err = pl_mem_read_u64(mem, first + (pl_addr)i * 8, &obj);

	plumb_error_destroy(err);
	obj &= ~py->layout.tag_mask;
	return !err && pl_pointer_ok(obj) ? obj : 0;
}

/* <= 3.10: a parameter that an inner function uses has moved to the cells behind the variables. */
pl_addr pl_slots_self(struct pl_values *v, const struct pl_frame *f, const struct pl_slots *s)
{
	const struct pl_layout *lay = &v->py->layout;
	pl_addr obj = pl_slot_object(v->mem, v->py, s->variables, 0);
	char type[PL_TYPE_NAME];
	uint32_t locals = 0;

	if (!obj && lay->frame_model == PL_FRAME_OBJECT) {
		struct plumb_error *err = pl_mem_read(v->mem, f->code + lay->code.nlocals, &locals, sizeof locals);
		bool cells = !err && s->variables + (pl_addr)locals * 8 < s->stack;
		plumb_error_destroy(err);
		obj = cells ? pl_slot_object(v->mem, v->py, s->variables, locals) : 0;
	}
	if (obj && pl_value_type_name(v, obj, type) && strcmp(type, "cell") == 0)
		return pl_slot_object(v->mem, v->py, obj + lay->cell.ref, 0);
	return obj;
}

static const struct {
	const char *type;
	enum pl_method kind;
} methods[] = {
	{"builtin_function_or_method", PL_METHOD_IN_C},
	{"builtin_method", PL_METHOD_IN_C},
	{"method", PL_METHOD_IN_PYTHON},
	{"instancemethod", PL_METHOD_IN_PYTHON}, /* 2.7 */
};

enum pl_method pl_bound_method(struct pl_values *v, pl_addr obj, pl_addr *self_ret)
{
	char type[PL_TYPE_NAME];

	*self_ret = 0;
	if (!obj || !pl_value_type_name(v, obj, type))
		return PL_METHOD_NONE;
	for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
		if (strcmp(methods[i].type, type) != 0)
			continue;
		*self_ret = pl_slot_object(v->mem, v->py, obj + v->py->layout.method.function, 1);
		return methods[i].kind;
	}
	return PL_METHOD_NONE;
}
