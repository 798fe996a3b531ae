/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of Dask's profiler (distributed.profile) as JSON (layer export). As deep as the stacks are, hence written
 * without recursion. */
#include <inttypes.h>

#include "buf.h"
#include "dask.h"
#include "formats.h"

/* "name;file;first line", the key that trees are merged by. Of frames that are no Python it ends with their library. */
static struct plumb_error *put_identifier(const struct pl_dask *d, uint32_t node,
					  const struct pl_dask_description *about)
{
	struct pl_buf text = PL_BUF_INIT(SIZE_MAX / 2);
	const struct pl_tree_key *key = &d->tree.keys.data[d->tree.nodes.data[node].key];
	struct plumb_error *err = pl_buf_add(&text, about->name.s, about->name.len);

	if (!err)
		err = pl_buf_add_u8(&text, ';');
	if (!err)
		err = pl_buf_add(&text, about->file.s, about->file.len);
	if (!err && about->low_level) {
		err = pl_buf_add_u8(&text, ';');
		if (!err)
			err = pl_buf_add(&text, about->line.s, about->line.len);
	} else if (!err) {
		err = pl_buf_printf(&text, ";%" PRId32, key->line);
	}
	if (!err)
		pl_dask_put_text(d, (struct pl_text){(const char *)text.data, text.len});
	pl_buf_deinit(&text);
	return err;
}

/* The node up to its children. */
static struct plumb_error *put_head(const struct pl_dask *d, uint32_t node)
{
	struct pl_dask_description about = pl_dask_describe(d, node);
	struct plumb_error *err = NULL;

	if (node) {
		err = put_identifier(d, node, &about);
		putc(':', d->out);
	}
	fputs("{\"identifier\":", d->out);
	if (!err && node)
		err = put_identifier(d, node, &about);
	else if (!err)
		fputs("\"root\"", d->out);
	fputs(",\"description\":{\"filename\":", d->out);
	pl_dask_put_text(d, about.file);
	fputs(",\"name\":", d->out);
	pl_dask_put_text(d, about.name);
	fprintf(d->out, ",\"line_number\":%" PRId32 ",\"line\":", about.line_number);
	pl_dask_put_line(d, &about);
	fprintf(d->out, "},\"count\":%" PRIu64 ",\"children\":{", d->tree.nodes.data[node].total);
	return err;
}

static struct plumb_error *put_tree(const struct pl_dask *d)
{
	const struct pl_tree_node *nodes = d->tree.nodes.data;
	uint32_t i = 0;
	struct plumb_error *err = put_head(d, i);

	while (!err && !ferror(d->out)) {
		if (nodes[i].first_child != PL_TREE_NONE) {
			i = nodes[i].first_child;
			err = put_head(d, i);
			continue;
		}
		while (i && nodes[i].next == PL_TREE_NONE) {
			fputs("}}", d->out);
			i = nodes[i].parent;
		}
		if (i == 0) {
			fputs("}}\n", d->out);
			break;
		}
		fputs("}},", d->out);
		i = nodes[i].next;
		err = put_head(d, i);
	}
	return err;
}

struct plumb_error *pl_dask_json_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out)
{
	struct pl_dask d;
	struct plumb_error *err = pl_dask_init(&d, p, o, out);

	if (!err)
		err = put_tree(&d);
	pl_dask_deinit(&d);
	return err;
}
