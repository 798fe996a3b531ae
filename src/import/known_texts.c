/* SPDX-License-Identifier: Apache-2.0 */
/* Layer import; one thread at a time. */
#include "known_texts.h"

void pl_known_texts_deinit(struct pl_known_texts *k)
{
	pl_vec_deinit(&k->rows);
	pl_row_index_deinit(&k->index);
}

uint32_t pl_known_hash(struct pl_span text)
{
	return (uint32_t)pl_hash_bytes(text.s, text.len);
}

bool pl_known_find(const struct pl_known_texts *k, struct pl_span text, uint32_t hash, uint64_t *ret)
{
	size_t at = pl_row_index_start(&k->index, hash);
	uint32_t row;

	while (pl_row_index_next(&k->index, hash, &at, &row)) {
		const struct pl_known_text *known = &k->rows.data[row];

		if (known->text.len == text.len && memcmp(known->text.s, text.s, text.len) == 0) {
			*ret = known->value;
			return true;
		}
	}
	return false;
}

struct plumb_error *pl_known_add(struct pl_known_texts *k, struct pl_span text, uint32_t hash, uint64_t value)
{
	struct pl_known_text known = {.text = text, .value = value};
	size_t row = k->rows.len;

	if (row >= UINT32_MAX)
		return NULL;
	return pl_vec_push(&k->rows, known) && pl_row_index_add(&k->index, hash, (uint32_t)row) ? NULL
												: &pl_err_no_memory;
}
