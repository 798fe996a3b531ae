/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a file that were read before, by their text: frames and stacks come again and again, and need not be read
 * again. What is kept are the places of the texts: the file must stay where it is. One thread at a time. */
#ifndef PL_KNOWN_TEXTS_H
#define PL_KNOWN_TEXTS_H

#include "error.h"
#include "row_index.h"
#include "span.h"
#include "vec.h"

struct pl_known_text {
	struct pl_span text;
	uint64_t value; /* what it came to */
};

/** All zero at first. */
struct pl_known_texts {
	PL_VEC(struct pl_known_text) rows;
	struct pl_row_index index;
};

void pl_known_texts_deinit(struct pl_known_texts *k);
uint32_t pl_known_hash(struct pl_span text);
/** What a text of that hash came to; false: it is not known. */
bool pl_known_find(const struct pl_known_texts *k, struct pl_span text, uint32_t hash, uint64_t *ret);
/** Of a text that is not known. As long as rows can be told apart; later ones are not kept. */
struct plumb_error *pl_known_add(struct pl_known_texts *k, struct pl_span text, uint32_t hash,
				 uint64_t value) PLUMB_MUST_CHECK;

#endif
