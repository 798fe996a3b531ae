/* SPDX-License-Identifier: Apache-2.0 */
/* The dictionary of an OTLP request: what samples refer to by index. Index 0 of each table is nothing, as the format
 * has it. */
#ifndef PL_OTLP_TABLES_H
#define PL_OTLP_TABLES_H

#include "map.h"
#include "protobuf.h"
#include "symbols.h"

struct pl_otlp_attribute {
	uint32_t key, text; /* strings; text 0: the number */
	uint64_t number;
};

struct pl_otlp_tables {
	const struct plumb_profile *p;
	struct pl_symbols symbols;
	PL_VEC(struct pl_otlp_attribute) attributes; /* [0]: none */
	PL_VEC(uint32_t) stacks;		     /* of the profile; [0]: none */
	uint32_t *stack_index;			     /* stack of the profile -> index, 0: not used yet */
	struct pl_map attribute_index;
	uint32_t origin_attributes[PL_ORIGINS];
	PL_VEC(uint32_t) build_ids; /* attributes, by library of the symbols */
};

/** @p reserved: as of pl_symbols_init. */
struct plumb_error *pl_otlp_tables_init(struct pl_otlp_tables *t, const struct plumb_profile *p,
					const char *const *reserved) PLUMB_MUST_CHECK;
void pl_otlp_tables_deinit(struct pl_otlp_tables *t);
/** Index of an attribute with two strings of the tables. */
struct plumb_error *pl_otlp_attribute_of(struct pl_otlp_tables *t, uint32_t key, uint32_t text,
					 uint32_t *ret) PLUMB_MUST_CHECK;
/** Index of an attribute with a text (of @p len bytes, @p text not NULL) or a number. */
struct plumb_error *pl_otlp_attribute(struct pl_otlp_tables *t, const char *key, const char *text, size_t len,
				      uint64_t number, uint32_t *ret) PLUMB_MUST_CHECK;
/** Index of a stack of the profile. */
struct plumb_error *pl_otlp_stack(struct pl_otlp_tables *t, uint32_t stack, uint32_t *ret) PLUMB_MUST_CHECK;

/** Write all tables as fields of a ProfilesDictionary; @p next is asked after each row. */
struct plumb_error *pl_otlp_tables_write(struct pl_otlp_tables *t, struct pl_pb *w,
					 struct plumb_error *(*next)(void *ctx), void *ctx) PLUMB_MUST_CHECK;
/** An AnyValue as field @p field. */
void pl_otlp_any(struct pl_pb *w, uint32_t field, const char *text, size_t len, uint64_t number);

#endif
