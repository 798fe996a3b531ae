/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol buffers by field number, without generated code: a writer that streams, and a bounded reader. */
#ifndef PL_PROTOBUF_H
#define PL_PROTOBUF_H

#include <stdbool.h>
#include <stdio.h>

#include "buf.h"
#include "cursor.h"
#include "vec.h"

enum pl_pb_wire { PL_PB_VARINT, PL_PB_FIXED64, PL_PB_BYTES, PL_PB_FIXED32 = 5 };

/** A writer. What goes wrong is kept and ends all further writing: ask once, with pl_pb_flush(). As proto3 has it, a
 * number that is 0 and bytes that are none are not written; repeated fields that may be 0 have calls of their own. */
struct pl_pb {
	struct pl_buf buf;
	FILE *out;	 /* NULL: the bytes are counted and thrown away */
	uint64_t before; /* bytes that were flushed */
	struct plumb_error *err;
};

void pl_pb_init(struct pl_pb *w, FILE *out);
void pl_pb_deinit(struct pl_pb *w);
void pl_pb_u64(struct pl_pb *w, uint32_t field, uint64_t v);
void pl_pb_fixed64(struct pl_pb *w, uint32_t field, uint64_t v);
void pl_pb_bytes(struct pl_pb *w, uint32_t field, const void *bytes, size_t len);
/** As pl_pb_bytes, but written if it is empty, too: an item of a repeated field. */
void pl_pb_item(struct pl_pb *w, uint32_t field, const void *bytes, size_t len);

/** A submessage, or a packed field whose numbers pl_pb_raw_* write: everything up to pl_pb_end(). Nothing may be
 * flushed in between. */
size_t pl_pb_begin(struct pl_pb *w, uint32_t field);
void pl_pb_end(struct pl_pb *w, size_t begin);
void pl_pb_raw_u64(struct pl_pb *w, uint64_t v);
void pl_pb_raw_fixed64(struct pl_pb *w, uint64_t v);
/** The beginning of a field of @p len bytes that are written next, flushed as the caller likes. */
void pl_pb_header(struct pl_pb *w, uint32_t field, uint64_t len);

/** Hand over what is in the buffer. Returns what went wrong since the beginning. Static errors. */
struct plumb_error *pl_pb_flush(struct pl_pb *w) PLUMB_MUST_CHECK;
/** As pl_pb_flush, but only if there is much in the buffer. */
struct plumb_error *pl_pb_flush_some(struct pl_pb *w) PLUMB_MUST_CHECK;

struct pl_pb_field {
	uint32_t number;
	enum pl_pb_wire wire;
	uint64_t value;		/* of a varint or a fixed number */
	struct pl_cursor bytes; /* of PL_PB_BYTES */
};
enum pl_pb_status { PL_PB_END, PL_PB_FIELD, PL_PB_BROKEN };

/** The next field of the message that @p c is in. Broken (a field that is cut, number 0, a group): @p c does not move.
 */
enum pl_pb_status pl_pb_next(struct pl_cursor *c, struct pl_pb_field *ret);

typedef PL_VEC(uint64_t) pl_pb_numbers;
/** Append the number, or the numbers if it is packed, of a repeated varint field.
 * Errors: PLUMB_ERR_CORRUPT (static), PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_pb_add_numbers(const struct pl_pb_field *f, pl_pb_numbers *into) PLUMB_MUST_CHECK;

#endif
