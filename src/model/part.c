/* SPDX-License-Identifier: Apache-2.0 */
/* A profile of some cells of another one (layer model). One owner at a time.
 *
 * Only what the cells name is taken over, in the order in which they name it: the parts of a long recording are small,
 * and the stacks of each stand in the order in which they were seen there. */
#include <stdlib.h>
#include <string.h>

#include "index.h"
#include "profile.h"
#include "vec.h"
#include "view.h"

/* id of the whole -> 1 + id of the part; 0: not there yet */
struct part {
	const struct plumb_profile *from;
	struct plumb_profile *into;
	bool same_idle;
	struct pl_map strings, stacks, threads, processes;
	PL_VEC(uint32_t) path;
};

static void part_deinit(struct part *x)
{
	pl_map_deinit(&x->strings);
	pl_map_deinit(&x->stacks);
	pl_map_deinit(&x->threads);
	pl_map_deinit(&x->processes);
	pl_vec_deinit(&x->path);
}

static struct plumb_error *take_string(struct part *x, uint32_t *id)
{
	uint32_t old = *id;

	if (pl_map_get(&x->strings, old, 0, id))
		return NULL;
	size_t len = 0;
	const char *text = pl_strtab_get(x->from->strings, old, &len);
	struct plumb_error *err = pl_profile_string(x->into, text, len, id);
	if (!err && !pl_map_set(&x->strings, old, 0, *id))
		err = &pl_err_no_memory;
	return err;
}

static struct plumb_error *take_strings(struct part *x, uint32_t *const *ids, size_t count)
{
	struct plumb_error *err = NULL;

	for (size_t i = 0; i < count && !err; i++)
		err = take_string(x, ids[i]);
	return err;
}

static struct plumb_error *take_location(struct part *x, uint32_t id, uint32_t *ret)
{
	struct pl_location l = x->from->locations[id];
	struct pl_function f = x->from->functions[l.function];
	struct plumb_error *err =
		take_strings(x, (uint32_t *[]){&f.name, &f.qualname, &f.file, &f.labels, &f.unnamed, &f.source}, 6);

	if (!err)
		err = pl_profile_function(x->into, &f, &l.function);
	return err ? err : pl_profile_location(x->into, &l, ret);
}

/* From the root, as far as it is not there. */
static struct plumb_error *take_stack(struct part *x, uint32_t id, uint32_t *ret)
{
	struct plumb_error *err = NULL;

	*ret = 0;
	pl_vec_clear(&x->path);
	for (; id && !pl_map_get(&x->stacks, id, 0, ret); id = x->from->stacks[id].parent)
		if (!pl_vec_push(&x->path, id))
			return &pl_err_no_memory;
	while (x->path.len && !err) {
		uint32_t location, step = x->path.data[--x->path.len];

		err = take_location(x, x->from->stacks[step].location, &location);
		if (!err)
			err = pl_profile_stack(x->into, *ret, location, ret);
		if (!err && !pl_map_set(&x->stacks, step, 0, *ret))
			err = &pl_err_no_memory;
	}
	return err;
}

static struct plumb_error *take_process(struct part *x, uint32_t id, uint32_t *ret)
{
	struct pl_process proc = x->from->processes[id];

	if (pl_map_get(&x->processes, id, 0, ret))
		return NULL;
	struct plumb_error *err =
		take_strings(x, (uint32_t *[]){&proc.program, &proc.name, &proc.python, &proc.host}, 4);
	if (!err)
		err = pl_profile_process(x->into, &proc, ret);
	return err || pl_map_set(&x->processes, id, 0, *ret) ? err : &pl_err_no_memory;
}

/* What CPU time it used in that part is not known; that it used none at all is true of each part. */
static struct plumb_error *take_thread(struct part *x, uint32_t id, uint32_t *ret)
{
	struct pl_thread t = x->from->threads[id];

	if (pl_map_get(&x->threads, id, 0, ret))
		return NULL;
	t.cpu_known = x->same_idle && pl_view_thread_idle(x->from, id);
	t.cpu_ns = 0;
	struct plumb_error *err = take_string(x, &t.name);
	if (!err)
		err = take_process(x, t.process, &t.process);
	if (!err)
		err = pl_profile_thread(x->into, &t, ret);
	return err || pl_map_set(&x->threads, id, 0, *ret) ? err : &pl_err_no_memory;
}

static struct plumb_error *take_cell(struct part *x, const struct pl_cell *from)
{
	struct pl_cell c = *from;
	struct plumb_error *err = take_stack(x, from->stack, &c.stack);

	if (!err)
		err = take_thread(x, from->thread, &c.thread);
	return err ? err : pl_cells_add(x->into, &c);
}

/* Of the files that are there. */
static struct plumb_error *take_modules(struct part *x)
{
	struct plumb_error *err = NULL;

	for (uint32_t i = 0; i < x->from->module_count && !err; i++) {
		struct pl_module m = x->from->modules[i];

		if (!pl_map_get(&x->strings, m.file, 0, &m.file))
			continue;
		if (!(err = take_string(x, &m.build_id)))
			err = pl_profile_module(x->into, &m);
	}
	return err;
}

/* How it was sampled; not what all of it lost and cost. */
static struct plumb_error *take_meta(struct part *x)
{
	const struct pl_meta *from = &x->from->meta;
	struct pl_meta *m = &x->into->meta;
	struct plumb_error *err = NULL;

	*m = (struct pl_meta){.start_real_ns = from->start_real_ns,
			      .period_ns = from->period_ns,
			      .seed = from->seed,
			      .mode = from->mode,
			      .native = from->native,
			      .native_threads = from->native_threads,
			      .jitter = from->jitter,
			      .untimed = true,
			      .complete = true,
			      .max_overhead_ppm = from->max_overhead_ppm,
			      .max_still_ppm = from->max_still_ppm,
			      .command = from->command,
			      .engine = from->engine,
			      .plumb_version = from->plumb_version,
			      .host = from->host};
	for (size_t i = 0; pl_meta_text(m, i) && !err; i++)
		err = take_string(x, pl_meta_text(m, i));
	return err;
}

struct plumb_error *pl_profile_part(const struct plumb_profile *p, const struct pl_cell *cells, size_t count,
				    uint64_t batch_ns, bool same_idle, struct plumb_profile **ret)
{
	struct part x = {.from = p, .same_idle = same_idle};
	struct plumb_error *err = pl_profile_create(&x.into);

	if (err)
		return err;
	err = take_meta(&x);
	if (!err)
		err = pl_cells_widen(x.into, (unsigned)__builtin_ctzll(batch_ns));
	for (size_t i = 0; i < count && !err; i++)
		err = take_cell(&x, &cells[i]);
	if (!err)
		err = take_modules(&x);
	part_deinit(&x);
	if (err) {
		pl_profile_destroy(x.into);
		return err;
	}
	*ret = x.into;
	return NULL;
}
