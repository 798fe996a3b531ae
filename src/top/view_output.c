/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: what the program that was started here has written, the last line at the end. */
#include <string.h>

#include "views.h"

#define MOST_LINES 1000

static const struct column columns[TABLE_COLUMNS];

/* Progress bars write over what they wrote before: their last state is what is seen. */
static const char *last_state(const char *line)
{
	const char *over = strrchr(line, '\r');

	return over ? over + 1 : line;
}

/* Where the last lines begin that there is room for. */
static size_t skip_first(const struct written *w)
{
	size_t count = 0, at = w->len;

	while (at > 0 && !(w->text[at - 1] == '\0' && count++ == MOST_LINES))
		at--;
	return at;
}

struct plumb_error *view_output(struct table *t, const struct choice *c, const struct look *l,
				const struct strips *strips, bool unicode)
{
	const struct written *w = c->written;

	t->columns = columns;
	t->title = c->output_title;
	t->from_end = true;
	table_clear(t);
	if (!w->text)
		return NULL;
	for (size_t at = skip_first(w), next; at < w->len; at = next) {
		struct row *r = table_add(t);

		if (!r)
			break;
		next = at + strlen(w->text + at) + 1;
		r->key = w->from + at + 1; /* 0 is none */
		r->name = last_state(w->text + at);
	}
	table_ready(t);
	return NULL;
}
