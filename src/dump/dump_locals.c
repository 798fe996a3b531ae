/* SPDX-License-Identifier: Apache-2.0 */
/* Layer dump: from the variables that were taken (process/variables.h) to those of a dump. */
#include "dump_locals.h"

static struct pl_dump_local local_of(struct pl_dump *d, const struct pl_variables *t, const struct pl_variable *v)
{
	return (struct pl_dump_local){.name = pl_dump_text(d, t->text.data + v->name_at, v->name_len),
				      .value = pl_dump_text(d, t->text.data + v->value_at, v->value_len),
				      .argument = v->argument,
				      .closure = v->closure};
}

void pl_dump_tell_locals(struct pl_dump *d, const struct pl_variables *t, size_t i, struct pl_dump_frame *ret)
{
	d->no_memory |= t->no_memory;
	if (i >= t->frames.len)
		return;
	const struct pl_frame_variables *f = &t->frames.data[i];
	const struct pl_dump_local more = {.name = pl_dump_str(d, "..."), .value = pl_dump_str(d, "<no time>")};

	ret->has_locals = f->had;
	for (size_t k = 0; k < f->count; k++)
		d->no_memory |= !pl_vec_push(&ret->locals, local_of(d, t, &t->list.data[f->first + k]));
	if (f->late)
		d->no_memory |= !pl_vec_push(&ret->locals, more);
}

void pl_dump_add_locals(struct pl_dump *d, struct pl_values *v, const struct pl_frame *f, struct pl_dump_frame *ret)
{
	struct pl_variables one = {0};

	pl_variables_add(&one, v, f);
	pl_dump_tell_locals(d, &one, 0, ret);
	pl_variables_deinit(&one);
}
