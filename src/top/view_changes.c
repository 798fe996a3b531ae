/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: what changed since the stretch that is kept, as the library words it. */
#include <string.h>

#include "views.h"

static const struct column columns[TABLE_COLUMNS] = {{NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}};

struct plumb_error *view_changes(struct table *t, const struct choice *c, const struct look *l,
				 const struct strips *strips, bool unicode)
{
	const struct changes *changes = c->changes;

	t->columns = columns;
	t->title = changes->text ? "what changed" : "f keeps a stretch of time, d compares it with the time shown";
	table_clear(t);
	for (size_t at = 0; changes->text && at < changes->len; at += strlen(changes->text + at) + 1) {
		struct row *r = table_add(t);

		if (!r)
			break;
		r->key = t->count;
		r->name = changes->text + at;
	}
	table_ready(t);
	return NULL;
}
