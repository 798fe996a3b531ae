/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a profile.proto (layer import). All of them are kept, and a row takes at least two bytes of the input:
 * memory is bounded by its length. */
#include "pprof_tables.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_ROWS UINT32_MAX /* of a table; ids of the profile are no larger */

struct plumb_error *pl_pprof_error(const struct pl_pprof *t, const uint8_t *at, const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	return pl_error(PLUMB_ERR_CORRUPT, "byte %zu: %s", (size_t)(at - t->begin), text);
}

struct plumb_error *pl_pprof_text(const struct pl_pprof *t, uint64_t string, struct pl_cursor *ret)
{
	if (string >= t->strings.len)
		return pl_error(PLUMB_ERR_CORRUPT, "text number %" PRIu64 " is asked for, and there are %zu", string,
				t->strings.len);
	*ret = t->strings.data[string];
	return NULL;
}

bool pl_pprof_is_text(struct pl_cursor text, const char *what)
{
	return pl_cursor_left(&text) == strlen(what) && memcmp(text.p, what, strlen(what)) == 0;
}

/* The next field of a message, and whether there is one. */
static bool next(const struct pl_pprof *t, struct pl_cursor *c, struct pl_pb_field *f, const char *what,
		 struct plumb_error **err)
{
	switch (pl_pb_next(c, f)) {
	case PL_PB_FIELD:
		return true;
	case PL_PB_BROKEN:
		*err = pl_pprof_error(t, c->p, "a field of a %s is cut or damaged", what);
		break;
	case PL_PB_END:
		break;
	}
	return false;
}

/* Messages whose fields are all numbers: into[i] is field i + 1. */
static struct plumb_error *read_numbers(const struct pl_pprof *t, struct pl_cursor c, const char *what, uint64_t *into,
					uint32_t count)
{
	struct plumb_error *err = NULL;
	struct pl_pb_field f;

	while (next(t, &c, &f, what, &err)) {
		if (f.wire == PL_PB_VARINT && f.number <= count)
			into[f.number - 1] = f.value;
	}
	return err;
}

static struct plumb_error *read_type(const struct pl_pprof *t, struct pl_cursor c, struct pl_pprof_type *ret)
{
	uint64_t n[2] = {0};
	struct plumb_error *err = read_numbers(t, c, "type", n, 2);

	*ret = (struct pl_pprof_type){.name = n[0], .unit = n[1]};
	return err;
}

/* The first row of an id counts. */
static bool remember(struct pl_map *ids, uint64_t id, size_t index)
{
	uint32_t there;

	return pl_map_get(ids, id, 0, &there) || pl_map_set(ids, id, 0, (uint32_t)index);
}

static struct plumb_error *add_mapping(struct pl_pprof *t, struct pl_cursor c)
{
	uint64_t n[6] = {0};
	struct plumb_error *err = read_numbers(t, c, "mapping", n, 6);

	if (err)
		return err;
	return t->mapping_files.len < MAX_ROWS && remember(&t->mapping_ids, n[0], t->mapping_files.len) &&
			       pl_vec_push(&t->mapping_files, n[4]) && pl_vec_push(&t->mapping_builds, n[5])
		       ? NULL
		       : &pl_err_no_memory;
}

static struct plumb_error *add_function(struct pl_pprof *t, struct pl_cursor c)
{
	uint64_t n[5] = {0};
	struct plumb_error *err = read_numbers(t, c, "function", n, 5);
	struct pl_pprof_function f = {n[1], n[2], n[3], (int64_t)n[4]};

	if (err)
		return err;
	return t->functions.len < MAX_ROWS && remember(&t->function_ids, n[0], t->functions.len) &&
			       pl_vec_push(&t->functions, f)
		       ? NULL
		       : &pl_err_no_memory;
}

static struct plumb_error *add_line(struct pl_pprof *t, struct pl_cursor c)
{
	uint64_t n[3] = {0};
	struct plumb_error *err = read_numbers(t, c, "line", n, 3);
	struct pl_pprof_line l = {n[0], (int64_t)n[1], (int64_t)n[2]};

	if (err)
		return err;
	return t->lines.len < MAX_ROWS && pl_vec_push(&t->lines, l) ? NULL : &pl_err_no_memory;
}

/* Most writers number them from 1 on, in the order in which they stand. */
bool pl_pprof_find_location(const struct pl_pprof *t, uint64_t id, uint32_t *ret)
{
	if (id - 1 >= t->in_order)
		return pl_map_get(&t->location_ids, id, 0, ret);
	*ret = (uint32_t)(id - 1);
	return true;
}

static struct plumb_error *add_location(struct pl_pprof *t, struct pl_cursor c)
{
	struct pl_pprof_location l = {.first = (uint32_t)t->lines.len};
	struct plumb_error *err = NULL;
	struct pl_pb_field f;
	uint64_t id = 0, row = t->locations.len;

	while (!err && next(t, &c, &f, "location", &err)) {
		if (f.wire == PL_PB_BYTES && f.number == 4)
			err = add_line(t, f.bytes);
		else if (f.wire == PL_PB_VARINT && f.number == 1)
			id = f.value;
		else if (f.wire == PL_PB_VARINT && f.number == 2)
			l.mapping = f.value;
		else if (f.wire == PL_PB_VARINT && f.number == 3)
			l.address = f.value;
	}
	if (err)
		return err;
	l.count = (uint32_t)t->lines.len - l.first;
	t->in_order += id == row + 1 && t->in_order == row;
	return t->locations.len < MAX_ROWS && remember(&t->location_ids, id, t->locations.len) &&
			       pl_vec_push(&t->locations, l)
		       ? NULL
		       : &pl_err_no_memory;
}

static struct plumb_error *read_message(struct pl_pprof *t, const struct pl_pb_field *f)
{
	struct pl_pprof_type type;
	struct plumb_error *err;

	switch (f->number) {
	case PL_PPROF_SAMPLE_TYPE:
		err = read_type(t, f->bytes, &type);
		return err || pl_vec_push(&t->types, type) ? err : &pl_err_no_memory;
	case PL_PPROF_SAMPLE:
		t->samples++;
		return NULL;
	case PL_PPROF_MAPPING:
		return add_mapping(t, f->bytes);
	case PL_PPROF_LOCATION:
		return add_location(t, f->bytes);
	case PL_PPROF_FUNCTION:
		return add_function(t, f->bytes);
	case PL_PPROF_STRING:
		return pl_vec_push(&t->strings, f->bytes) ? NULL : &pl_err_no_memory;
	case PL_PPROF_PERIOD_TYPE:
		return read_type(t, f->bytes, &t->period_type);
	case PL_PPROF_COMMENT:
		return pl_pb_add_numbers(f, &t->comments);
	default:
		return NULL;
	}
}

static struct plumb_error *read_number(struct pl_pprof *t, const struct pl_pb_field *f)
{
	switch (f->number) {
	case PL_PPROF_TIME:
		t->time_ns = (int64_t)f->value;
		return NULL;
	case PL_PPROF_DURATION:
		t->duration_ns = (int64_t)f->value;
		return NULL;
	case PL_PPROF_PERIOD:
		t->period = (int64_t)f->value;
		return NULL;
	case PL_PPROF_DEFAULT_TYPE:
		t->default_type = f->value;
		return NULL;
	case PL_PPROF_COMMENT:
		return pl_pb_add_numbers(f, &t->comments);
	default:
		return NULL;
	}
}

struct plumb_error *pl_pprof_read_tables(struct pl_pprof *t, const struct pl_import_input *in)
{
	struct pl_cursor c = {.p = in->bytes, .end = in->bytes + in->len};
	struct plumb_error *err = NULL;
	struct pl_pb_field f;

	*t = (struct pl_pprof){.begin = in->bytes};
	while (!err && next(t, &c, &f, "profile", &err)) {
		if (f.wire == PL_PB_BYTES)
			err = read_message(t, &f);
		else if (f.wire == PL_PB_VARINT)
			err = read_number(t, &f);
	}
	if (err == &pl_err_corrupt)
		err = pl_pprof_error(t, f.bytes.p, "a list of comments is damaged");
	if (!err && t->types.len == 0)
		err = pl_error(PLUMB_ERR_CORRUPT, "it says of no type of sample what it counts");
	return err;
}

void pl_pprof_deinit(struct pl_pprof *t)
{
	pl_vec_deinit(&t->strings);
	pl_vec_deinit(&t->types);
	pl_vec_deinit(&t->functions);
	pl_vec_deinit(&t->lines);
	pl_vec_deinit(&t->locations);
	pl_vec_deinit(&t->mapping_files);
	pl_vec_deinit(&t->mapping_builds);
	pl_vec_deinit(&t->comments);
	pl_map_deinit(&t->function_ids);
	pl_map_deinit(&t->location_ids);
	pl_map_deinit(&t->mapping_ids);
}
