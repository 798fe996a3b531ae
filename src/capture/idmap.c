/* SPDX-License-Identifier: Apache-2.0 */
/* Spans of ids (layer capture). One thread at a time. */
#include "idmap.h"

#include <assert.h>

void pl_idmap_deinit(struct pl_idmap *m)
{
	pl_vec_deinit(&m->spans);
	pl_vec_deinit(&m->ids);
}

bool pl_idmap_append(struct pl_idmap *m, uint32_t id, uint32_t value)
{
	assert(id >= m->next);
	if (!pl_vec_reserve(&m->ids, 1))
		return false;
	if (!m->spans.len || id != m->next) {
		struct pl_idspan span = {.first = id, .at = m->ids.len};
		if (!pl_vec_push(&m->spans, span))
			return false;
	}
	m->ids.data[m->ids.len++] = value;
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
	size_t end = low + 1 < m->spans.len ? m->spans.data[low + 1].at : m->ids.len;
	size_t at = m->spans.data[low].at + (id - m->spans.data[low].first);
	if (at >= end)
		return false;
	*ret = m->ids.data[at];
	return true;
}
