/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol buffers printed as JSON by a table of their fields: what is written in two encodings is made once. */
#ifndef PL_PROTO_JSON_H
#define PL_PROTO_JSON_H

#include "json.h"
#include "protobuf.h"

enum pl_proto_kind {
	PL_PROTO_MESSAGE,
	PL_PROTO_TEXT,
	PL_PROTO_HEX,	 /* bytes; OTLP wants them so where protobuf's own mapping has base64 */
	PL_PROTO_INT32,	 /* a number */
	PL_PROTO_INT64,	 /* a text of digits, as JavaScript's numbers have 53 bits */
	PL_PROTO_FIXED64 /* likewise, unsigned */
};
struct pl_proto_field {
	uint32_t number; /* 0: the end of the table */
	const char *name;
	enum pl_proto_kind kind;
	bool repeated; /* packed if of numbers */
	const struct pl_proto_field *message;
};

/** Print fields as members of the object that @p j is in. Fields of equal number must follow each other. @p open: the
 * repeated field whose array is still open, 0 at first; it may go on in a later call. The bytes are our own. */
void pl_proto_json(struct pl_json *j, const struct pl_proto_field *table, struct pl_cursor bytes, uint32_t *open);
void pl_proto_json_close(struct pl_json *j, uint32_t *open);

#endif
