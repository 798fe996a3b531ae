/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as Dask's profiler sees it (layer export; one owner at a time): functions, told apart by name, file and
 * first line, children in the order of first sight, counts with all that is below. */
#include "dask.h"

#include <string.h>

#include "buf.h"
#include "json.h"

static struct plumb_error *take_sample(void *ctx, const struct pl_sample *s)
{
	struct pl_dask *d = ctx;
	struct pl_cell cell = {.stack = s->stack, .thread = s->thread, .state = s->state};

	if (!pl_view_passes(d->p, &d->filter, &cell))
		return NULL;
	return pl_sample_tree_add(&d->tree, s->stack, 0, pl_sum_u64(s->extra, 1)); /* it knows no threads */
}

struct plumb_error *pl_dask_init(struct pl_dask *d, const struct plumb_profile *p, const struct pl_export_options *o,
				 FILE *out)
{
	struct plumb_error *err;

	*d = (struct pl_dask){.p = p, .filter = o->filter, .out = out};
	if (p->meta.collector.skip_idle)
		d->filter.idle = PL_IDLE_SKIP_SAMPLES;
	else if (d->filter.idle == PL_IDLE_HIDE_THREADS)
		d->filter.idle = PL_IDLE_KEEP; /* nothing here could say what is hidden */
	d->sources = pl_sources_create(p);
	err = d->sources ? pl_sample_tree_init(&d->tree, p, PL_TREE_BY_FUNCTION, false) : &pl_err_no_memory;
	if (!err)
		err = pl_profile_each(p, take_sample, d);
	if (!err)
		pl_sample_tree_finish(&d->tree);
	return err;
}

void pl_dask_deinit(struct pl_dask *d)
{
	pl_sample_tree_deinit(&d->tree);
	pl_sources_destroy(d->sources);
}

struct pl_dask_description pl_dask_describe(const struct pl_dask *d, uint32_t node)
{
	struct pl_dask_description about = {.file = {"", 0}, .name = {"", 0}, .line = {"", 0}};
	const struct pl_location *loc;
	const struct pl_function *f;

	if (node == 0)
		return about;
	loc = &d->p->locations[d->p->stacks[d->tree.entries.data[d->tree.nodes.data[node].first_entry].stack].location];
	f = &d->p->functions[loc->function];
	about.name = pl_text_of(d->p, f->name);
	about.file = pl_text_of(d->p, f->file);
	about.line_number = loc->line;
	about.low_level = f->origin == PL_ORIGIN_NATIVE || f->origin == PL_ORIGIN_KERNEL;
	if (about.low_level) {
		about.line = about.file;
		about.file = (struct pl_text){PL_DASK_LOW_LEVEL, sizeof PL_DASK_LOW_LEVEL - 1};
		about.line_number = 0;
	} else if (pl_sources_line(d->sources, f->file, loc->line, &about.line)) {
		about.line = pl_text_without_blanks_before(about.line);
		about.source = about.line.len > 0; /* of a blank line nothing stays, not even its end */
	}
	return about;
}

void pl_dask_put_text(const struct pl_dask *d, struct pl_text t)
{
	struct pl_json j;

	pl_json_init(&j, d->out, 0);
	pl_json_strn(&j, t.s, t.len);
}

void pl_dask_put_line(const struct pl_dask *d, const struct pl_dask_description *about)
{
	struct pl_buf text = PL_BUF_INIT(SIZE_MAX / 2);

	/* Without memory the end of the line is missing, which nobody needs. */
	if (about->source && !pl_buf_add(&text, about->line.s, about->line.len) && !pl_buf_add_u8(&text, '\n'))
		pl_dask_put_text(d, (struct pl_text){(const char *)text.data, text.len});
	else
		pl_dask_put_text(d, about->line);
	pl_buf_deinit(&text);
}
