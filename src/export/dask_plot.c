/* SPDX-License-Identifier: Apache-2.0 */
/* What Dask's plot_data() makes of its tree, as JSON (layer export): columns of equal length, one entry a node, depth
 * first. Its column of nodes, `states`, is left out: it would hold every subtree of the tree. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "dask.h"
#include "formats.h"
#include "json.h"
#include "md5.h"

#define INTERVAL 0.010 /* seconds; Dask's own, where the profile does not tell */

/* Where a node is drawn. */
struct box {
	double start, stop;
	double next, share; /* where its next child begins, and how wide one sample is */
	uint32_t height;
};

struct plot {
	struct pl_dask dask;
	PL_VEC(struct box) boxes; /* of nodes */
	double interval;
};

static void open_box(struct plot *pl, uint32_t node, double start, double stop, uint32_t height)
{
	uint64_t count = pl->dask.tree.nodes.data[node].total;

	pl->boxes.data[node] = (struct box){start, stop, start, count ? (stop - start) / (double)count : 0, height};
}

static struct plumb_error *place_boxes(struct plot *pl)
{
	const struct pl_tree_node *nodes = pl->dask.tree.nodes.data;

	if (!pl_vec_reserve(&pl->boxes, pl->dask.tree.nodes.len))
		return &pl_err_no_memory;
	open_box(pl, 0, 0, 1, 0);
	for (uint32_t i = pl_sample_tree_next(&pl->dask.tree, 0, false); i != PL_TREE_NONE;
	     i = pl_sample_tree_next(&pl->dask.tree, i, false)) {
		struct box *parent = &pl->boxes.data[nodes[i].parent];
		double width = (double)nodes[i].total * parent->share;

		open_box(pl, i, parent->next, parent->next + width, parent->height + 1);
		parent->next += width;
	}
	return NULL;
}

static void put_number(const struct plot *pl, double v)
{
	struct pl_json j;

	pl_json_init(&j, pl->dask.out, 0);
	pl_json_number(&j, v);
}

static void put_left(const struct plot *pl, uint32_t node)
{
	put_number(pl, pl->boxes.data[node].start);
}

static void put_right(const struct plot *pl, uint32_t node)
{
	put_number(pl, pl->boxes.data[node].stop);
}

static void put_bottom(const struct plot *pl, uint32_t node)
{
	fprintf(pl->dask.out, "%" PRIu32, pl->boxes.data[node].height);
}

static void put_top(const struct plot *pl, uint32_t node)
{
	fprintf(pl->dask.out, "%" PRIu32, pl->boxes.data[node].height + 1);
}

static void put_width(const struct plot *pl, uint32_t node)
{
	put_number(pl, pl->boxes.data[node].stop - pl->boxes.data[node].start);
}

/* By a hash of the file's name, so that a file has the same one everywhere. */
static void put_color(const struct plot *pl, uint32_t node)
{
	static const char *const palette[] = {"#440154", "#471669", "#472A79", "#433C84", "#3C4D8A", "#355D8C",
					      "#2E6C8E", "#287A8E", "#23898D", "#1E978A", "#20A585", "#2EB27C",
					      "#45BF6F", "#64CB5D", "#88D547", "#AFDC2E", "#D7E219", "#FDE724"};
	struct pl_dask_description about = pl_dask_describe(&pl->dask, node);
	uint8_t hash[16];
	uint32_t number;

	pl_md5(about.file.s, about.file.len, hash);
	number = (uint32_t)hash[0] << 24 | (uint32_t)hash[1] << 16 | (uint32_t)hash[2] << 8 | hash[3];
	fprintf(pl->dask.out, "\"%s\"",
		about.low_level ? "lightgray" : palette[number % (sizeof palette / sizeof palette[0])]);
}

static void put_filename(const struct plot *pl, uint32_t node)
{
	pl_dask_put_text(&pl->dask, pl_dask_describe(&pl->dask, node).file);
}

static void put_line(const struct plot *pl, uint32_t node)
{
	struct pl_dask_description about = pl_dask_describe(&pl->dask, node);

	pl_dask_put_line(&pl->dask, &about);
}

static void put_line_number(const struct plot *pl, uint32_t node)
{
	fprintf(pl->dask.out, "%" PRId32, pl_dask_describe(&pl->dask, node).line_number);
}

static void put_name(const struct plot *pl, uint32_t node)
{
	pl_dask_put_text(&pl->dask, pl_dask_describe(&pl->dask, node).name);
}

/* As dask.utils.format_time writes it. */
static void put_time(const struct plot *pl, uint32_t node)
{
	double s = (double)pl->dask.tree.nodes.data[node].total * pl->interval;
	FILE *out = pl->dask.out;
	char text[64];

	if (s > 2 * 24 * 3600) {
		double days = floor(s / 3600 / 24);

		snprintf(text, sizeof text, "%.0fd %.0fhr", days, floor((s - days * 3600 * 24) / 3600));
	} else if (s > 2 * 3600) {
		int hours = (int)(s / 3600);

		snprintf(text, sizeof text, "%dhr %dm", hours, (int)((s - hours * 3600) / 60));
	} else if (s > 600) {
		int minutes = (int)(s / 60);

		snprintf(text, sizeof text, "%dm %ds", minutes, (int)(s - minutes * 60));
	} else if (s >= 1) {
		snprintf(text, sizeof text, "%.2f s", s);
	} else if (s >= 1e-3) {
		snprintf(text, sizeof text, "%.2f ms", s * 1e3);
	} else {
		snprintf(text, sizeof text, "%.2f us", s * 1e6);
	}
	fprintf(out, "\"%s\"", text);
}

static void put_percentage(const struct plot *pl, uint32_t node)
{
	fprintf(pl->dask.out, "\"%.1f%%\"", 100 * (pl->boxes.data[node].stop - pl->boxes.data[node].start));
}

/* Nodes without samples, and what is below them, are not drawn. */
static void put_column(const struct plot *pl, void (*put)(const struct plot *pl, uint32_t node))
{
	const struct pl_tree_node *nodes = pl->dask.tree.nodes.data;
	const char *comma = "";

	putc('[', pl->dask.out);
	for (uint32_t i = 0; i != PL_TREE_NONE; i = pl_sample_tree_next(&pl->dask.tree, i, nodes[i].total == 0)) {
		if (nodes[i].total == 0)
			continue;
		fputs(comma, pl->dask.out);
		put(pl, i);
		comma = ",";
	}
	putc(']', pl->dask.out);
}

static void put_columns(const struct plot *pl)
{
	static const struct {
		const char *name;
		void (*put)(const struct plot *pl, uint32_t node);
	} columns[] = {{"left", put_left},	   {"right", put_right}, {"bottom", put_bottom},
		       {"width", put_width},	   {"top", put_top},	 {"color", put_color},
		       {"filename", put_filename}, {"line", put_line},	 {"line_number", put_line_number},
		       {"name", put_name},	   {"time", put_time},	 {"percentage", put_percentage}};

	for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
		fprintf(pl->dask.out, "%s\"%s\":", i ? "," : "{", columns[i].name);
		put_column(pl, columns[i].put);
	}
	fputs("}\n", pl->dask.out);
}

/* What a sample stands for on average: more than the period where the rate was lowered, CPU time where that is sampled.
 */
static struct plumb_error *mean_interval(struct plot *pl)
{
	const struct pl_dask *d = &pl->dask;
	struct pl_totals totals;
	struct plumb_error *err = pl_view_totals(d->p, &d->filter, &totals);

	if (!err && d->p->meta.period_ns && !d->p->meta.counted && totals.samples && totals.weight_ns)
		pl->interval = (double)totals.weight_ns / (double)totals.samples / 1e9;
	return err;
}

struct plumb_error *pl_dask_plot_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out)
{
	struct plot pl = {.interval = p->meta.period_ns ? (double)p->meta.period_ns / 1e9 : INTERVAL};
	struct plumb_error *err = pl_dask_init(&pl.dask, p, o, out);

	if (!err)
		err = mean_interval(&pl);
	if (!err)
		err = place_boxes(&pl);
	if (!err)
		put_columns(&pl);
	pl_vec_deinit(&pl.boxes);
	pl_dask_deinit(&pl.dask);
	return err;
}
