/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol buffers as JSON (layer export). Recursion is as deep as the tables are. */
#include "proto_json.h"

#include <inttypes.h>

static const struct pl_proto_field *find(const struct pl_proto_field *table, uint32_t number)
{
	while (table->number && table->number != number)
		table++;
	return table->number ? table : NULL;
}

static void print_hex(struct pl_json *j, struct pl_cursor bytes)
{
	char text[129];
	size_t len = 0;

	for (; bytes.p < bytes.end && len + 2 < sizeof text; bytes.p++)
		len += (size_t)snprintf(text + len, 3, "%02x", *bytes.p);
	pl_json_strn(j, text, len);
}

static void print_number(struct pl_json *j, enum pl_proto_kind kind, uint64_t v)
{
	char text[24];

	if (kind == PL_PROTO_INT32) {
		pl_json_i64(j, (int64_t)v);
		return;
	}
	if (kind == PL_PROTO_FIXED64)
		snprintf(text, sizeof text, "%" PRIu64, v);
	else
		snprintf(text, sizeof text, "%" PRId64, (int64_t)v);
	pl_json_str(j, text);
}

static void print_packed(struct pl_json *j, enum pl_proto_kind kind, struct pl_cursor c)
{
	uint64_t v;

	while (kind == PL_PROTO_FIXED64 ? pl_cursor_u64(&c, &v) : pl_cursor_varint(&c, &v))
		print_number(j, kind, v);
}

static void print_value(struct pl_json *j, const struct pl_proto_field *field, const struct pl_pb_field *f)
{
	uint32_t open = 0;

	switch (field->kind) {
	case PL_PROTO_MESSAGE:
		pl_json_object(j);
		pl_proto_json(j, field->message, f->bytes, &open);
		pl_proto_json_close(j, &open);
		pl_json_object_end(j);
		break;
	case PL_PROTO_TEXT:
		pl_json_strn(j, (const char *)f->bytes.p, pl_cursor_left(&f->bytes));
		break;
	case PL_PROTO_HEX:
		print_hex(j, f->bytes);
		break;
	case PL_PROTO_INT32:
	case PL_PROTO_INT64:
	case PL_PROTO_FIXED64:
		if (f->wire == PL_PB_BYTES)
			print_packed(j, field->kind, f->bytes);
		else
			print_number(j, field->kind, f->value);
		break;
	}
}

void pl_proto_json_close(struct pl_json *j, uint32_t *open)
{
	if (*open)
		pl_json_array_end(j);
	*open = 0;
}

void pl_proto_json(struct pl_json *j, const struct pl_proto_field *table, struct pl_cursor bytes, uint32_t *open)
{
	struct pl_pb_field f;

	while (pl_pb_next(&bytes, &f) == PL_PB_FIELD) {
		const struct pl_proto_field *field = find(table, f.number);

		if (!field)
			continue;
		if (*open != f.number) {
			pl_proto_json_close(j, open);
			pl_json_key(j, field->name);
			if (field->repeated) {
				pl_json_array(j);
				*open = f.number;
			}
		}
		print_value(j, field, &f);
	}
}
