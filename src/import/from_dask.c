/* SPDX-License-Identifier: Apache-2.0 */
/* Trees of Dask's profiler as JSON (layer import). Counts include what is below, so what is left at a node are its own
 * samples. There are no threads and no times; a sample weighs a nanosecond, for the distance between them is not told.
 */
#include <stdlib.h>
#include <string.h>

#include "importers.h"
#include "json_reader.h"
#include "sum.h"
#include "vec.h"

#define LOW_LEVEL  "<low-level>"
#define LOOK_BYTES 4096

struct node {
	uint32_t parent, name, file, line_text, stack;
	int32_t line, first_line;
	uint64_t count, below; /* below: of its children */
	bool root, low_level, described;
};

struct dask {
	struct pl_sink *sink;
	struct plumb_profile *p;
	PL_VEC(struct node) nodes; /* parents first */
	uint32_t at;		   /* the node that is being read */
};

static struct node *current(struct dask *d)
{
	return &d->nodes.data[d->at];
}

/* "name;file;12": the first line is behind the last semicolon. */
static struct plumb_error *read_identifier(struct pl_json_reader *r, void *ctx)
{
	struct dask *d = ctx;
	const char *last = r->str_len ? memrchr(r->str, ';', r->str_len) : NULL;
	long v = 0;

	if (r->token != PL_JSON_STRING)
		return pl_json_reader_fail(r, "the identifier of a node is not a text");
	for (const char *s = last ? last + 1 : r->str; last && s < r->str + r->str_len; s++) {
		if (*s < '0' || *s > '9' || v > INT32_MAX / 10)
			return NULL;
		v = v * 10 + (*s - '0');
	}
	current(d)->first_line = v > INT32_MAX ? 0 : (int32_t)v;
	return NULL;
}

static struct plumb_error *read_text(struct pl_json_reader *r, struct dask *d, uint32_t *ret)
{
	if (r->token != PL_JSON_STRING)
		return pl_json_reader_fail(r, "a text is expected in the description of a node");
	return pl_profile_string(d->p, r->str, r->str_len, ret);
}

static struct plumb_error *read_filename(struct pl_json_reader *r, void *ctx)
{
	struct dask *d = ctx;

	current(d)->low_level = pl_json_reader_is(r, LOW_LEVEL);
	return read_text(r, d, &current(d)->file);
}

static struct plumb_error *read_name(struct pl_json_reader *r, void *ctx)
{
	struct dask *d = ctx;

	return read_text(r, d, &current(d)->name);
}

static struct plumb_error *read_line_number(struct pl_json_reader *r, void *ctx)
{
	struct dask *d = ctx;
	int64_t v;

	if (pl_json_reader_i64(r, &v) && v > 0 && v <= INT32_MAX)
		current(d)->line = (int32_t)v;
	return NULL;
}

static struct plumb_error *read_line(struct pl_json_reader *r, void *ctx)
{
	struct dask *d = ctx;

	return read_text(r, d, &current(d)->line_text);
}

static struct plumb_error *read_description(struct pl_json_reader *r, void *ctx)
{
	static const struct pl_json_field fields[] = {{"filename", read_filename},
						      {"name", read_name},
						      {"line_number", read_line_number},
						      {"line", read_line},
						      {NULL, NULL}};
	struct dask *d = ctx;

	current(d)->described = true;
	return pl_json_reader_object(r, fields, d);
}

static struct plumb_error *read_count(struct pl_json_reader *r, void *ctx)
{
	struct dask *d = ctx;

	return pl_json_reader_u64(r, &current(d)->count) ? NULL
							 : pl_json_reader_fail(r, "the count of a node is not one");
}

static struct plumb_error *add_node(struct dask *d, bool root)
{
	struct node n = {.parent = d->at, .root = root};

	if (d->nodes.len >= UINT32_MAX || !pl_vec_push(&d->nodes, n))
		return &pl_err_no_memory;
	d->at = (uint32_t)d->nodes.len - 1;
	return NULL;
}

/* A member of a node, other than its children. */
static struct plumb_error *read_member(struct pl_json_reader *r, struct dask *d)
{
	static const struct pl_json_field fields[] = {{"identifier", read_identifier},
						      {"description", read_description},
						      {"count", read_count},
						      {NULL, NULL}};

	for (const struct pl_json_field *f = fields; f->key; f++) {
		struct plumb_error *err;
		int depth;

		if (!pl_json_reader_is(r, f->key))
			continue;
		depth = r->depth;
		err = pl_json_reader_next(r);
		if (!err)
			err = f->read(r, d);
		if (!err && r->depth > depth)
			err = pl_json_reader_skip(r);
		return err;
	}
	return pl_json_reader_skip(r);
}

static struct plumb_error *expect_object(struct pl_json_reader *r, const char *what)
{
	struct plumb_error *err = pl_json_reader_next(r);

	return err || r->token == PL_JSON_OBJECT ? err : pl_json_reader_fail(r, "%s is not an object", what);
}

/* The tree, without recursion: a node ends where its brace does, and so does the object of children it is in. */
static struct plumb_error *read_tree(struct pl_json_reader *r, struct dask *d)
{
	bool in_children = false; /* which of the two objects is open innermost */
	struct plumb_error *err = expect_object(r, "the tree");

	if (!err)
		err = add_node(d, true);
	while (!err) {
		err = pl_json_reader_next(r);
		if (err)
			return err;
		if (r->token == PL_JSON_OBJECT_END && in_children) {
			in_children = false;
		} else if (r->token == PL_JSON_OBJECT_END) {
			if (current(d)->root)
				break;
			d->at = current(d)->parent;
			in_children = true;
		} else if (in_children) {
			err = expect_object(r, "a child");
			if (!err)
				err = add_node(d, false);
			in_children = false;
		} else if (pl_json_reader_is(r, "children")) {
			err = expect_object(r, "the list of children");
			in_children = true;
		} else {
			err = read_member(r, d);
		}
	}
	return err ? err : pl_json_reader_next(r);
}

static struct plumb_error *intern(struct dask *d, struct node *n)
{
	size_t len;
	const char *name = pl_strtab_get(d->p->strings, n->name, &len);
	const char *file = pl_strtab_get(d->p->strings, n->file, NULL);
	bool marker = strcmp(file, "~") == 0 && n->line == 0 && len > 2 && name[0] == '<' && name[len - 1] == '>';
	struct pl_function f = {.name = n->name,
				.file = n->low_level ? n->line_text : n->file,
				.firstline = (uint32_t)n->first_line,
				.origin = n->low_level ? PL_ORIGIN_NATIVE
					  : marker     ? PL_ORIGIN_MARKER
						       : PL_ORIGIN_PYTHON};
	struct pl_location loc = {.line = n->line, .column = -1, .end_column = -1};
	uint32_t id;
	struct plumb_error *err = pl_profile_function(d->p, &f, &loc.function);

	if (!err)
		err = pl_profile_location(d->p, &loc, &id);
	return err ? err : pl_profile_stack(d->p, d->nodes.data[n->parent].stack, id, &n->stack);
}

static struct plumb_error *give_samples(struct dask *d)
{
	struct pl_process process = {0};
	struct pl_thread thread = {.main = true};
	struct pl_sample s = {.quality = PL_DOUBTFUL, .state = PL_STATE_UNKNOWN};
	struct plumb_error *err = pl_profile_process(d->p, &process, &thread.process);

	d->sink->counted = true;
	if (!err)
		err = pl_profile_thread(d->p, &thread, &s.thread);
	for (size_t i = 0; i < d->nodes.len && !err; i++) {
		struct node *n = &d->nodes.data[i];
		uint64_t own = n->count > n->below ? n->count - n->below : 0;

		if (!n->root)
			err = intern(d, n);
		s.stack = n->stack;
		s.extra = own - 1;
		if (!err && own && !n->root)
			err = pl_sink_add(d->sink, &s);
	}
	return err;
}

static void add_up(struct dask *d)
{
	for (size_t i = d->nodes.len; i-- > 1;)
		pl_sum_up(&d->nodes.data[d->nodes.data[i].parent].below, d->nodes.data[i].count);
}

struct plumb_error *pl_dask_read(const struct pl_import_input *in, struct pl_sink *sink)
{
	struct dask d = {.sink = sink, .p = sink->profile};
	struct pl_json_reader r;
	struct plumb_error *err;

	pl_json_reader_init(&r, in->bytes, in->len);
	err = read_tree(&r, &d);
	if (!err) {
		add_up(&d);
		err = give_samples(&d);
	}
	if (!err)
		sink->profile->meta.complete = true;
	pl_json_reader_deinit(&r);
	pl_vec_deinit(&d.nodes);
	return err;
}

static bool has(const uint8_t *bytes, size_t len, const char *text)
{
	return memmem(bytes, len, text, strlen(text));
}

bool pl_dask_is(const struct pl_import_input *in)
{
	size_t len = in->len < LOOK_BYTES ? in->len : LOOK_BYTES, at = 0;

	while (at < len && in->bytes[at] && strchr(" \t\r\n", in->bytes[at]))
		at++;
	/* The root may stand at the end, behind all of its children. */
	return at < len && in->bytes[at] == '{' && has(in->bytes, len, "\"identifier\"") &&
	       has(in->bytes, len, "\"description\"") && has(in->bytes, in->len, "\"line_number\"") &&
	       has(in->bytes, in->len, "\"children\"");
}
