/* SPDX-License-Identifier: Apache-2.0 */
/* Spans of ids (layer capture). One thread at a time. */
#include "idmap.h"

#include <assert.h>

void pl_idmap_deinit(struct pl_idmap *m)
{
	pl_vec_deinit(&m->spans);
}

/* Whether the row continues the last span. */
static bool continues(const struct pl_idmap *m, uint32_t id, uint32_t value)
{
	const struct pl_idspan *last = m->spans.len ? &m->spans.data[m->spans.len - 1] : NULL;

	return last && id == m->next && value - last->value == last->count && value > last->value;
}

bool pl_idmap_append(struct pl_idmap *m, uint32_t id, uint32_t value)
{
	assert(id >= m->next);
	struct pl_idspan span = {.first = id, .value = value, .count = 1};
	if (continues(m, id, value))
		m->spans.data[m->spans.len - 1].count++;
	else if (!pl_vec_push(&m->spans, span))
		return false;
	m->next = (uint64_t)id + 1;
	return true;
}

bool pl_idmap_get(const struct pl_idmap *m, uint32_t id, uint32_t *ret)
{
	size_t low = 0, high = m->spans.len; /* the last span that does not begin after id */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (m->spans.data[middle].first <= id)
			low = middle;
		else
			high = middle;
	}
	if (!m->spans.len || id < m->spans.data[low].first)
		return false;
	const struct pl_idspan *span = &m->spans.data[low];
	if (id - span->first >= span->count)
		return false;
	*ret = span->value + (id - span->first);
	return true;
}
