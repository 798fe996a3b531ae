/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: the lines of the function that was chosen, beside its source. */
#include <stdio.h>
#include <string.h>

#include "views.h"
#include "cell_text.h"

#define LINES_BEHIND 3
#define MOST_LINES   2000

static const struct column columns[TABLE_COLUMNS] = {
	{"5 s %", 5, 0}, {"self %", 6, 0}, {"total %", 7, 50}, {"line", 6, 0}};

static bool find(const struct plumb_view *v, int32_t line, struct plumb_view_line *ret)
{
	for (size_t i = 0; v && plumb_view_line_at(v, i, ret); i++)
		if (ret->line == line)
			return true;
	return false;
}

static int32_t last_line(const struct plumb_view *v, int32_t first)
{
	struct plumb_view_line l = {.size = sizeof l};
	int32_t last = first;

	for (size_t i = 0; plumb_view_line_at(v, i, &l); i++)
		last = l.line > last ? l.line : last;
	return last;
}

/* The line of @p text, of @p len bytes, that begins at *at; moves that on. */
static void take_line(const char *text, size_t len, size_t *at, char *buf, size_t size)
{
	const char *from = text + *at, *end = memchr(from, '\n', len - *at);
	size_t bytes = end ? (size_t)(end - from) : len - *at, to = 0;

	*at += bytes + (end != NULL);
	for (size_t i = 0; i < bytes && from[i] && to + 5 < size; i++) {
		if (from[i] == '\t') /* as wide as it can be seen here */
			to += (size_t)snprintf(buf + to, size - to, "    ");
		else if (from[i] != '\r')
			buf[to++] = from[i];
	}
	buf[to] = '\0';
}

static void add_line(struct table *t, const struct look *l, int32_t line, const char *source)
{
	struct plumb_view_line all = {.size = sizeof all}, now = {.size = sizeof now};
	struct row *r = table_add(t);

	if (!r)
		return;
	r->key = (uint64_t)line + 1;
	r->name = NULL;
	snprintf(r->figures[3], sizeof r->figures[3], "%d", line);
	snprintf(r->tail, sizeof r->tail, "%s", source);
	if (find(l->all, line, &all)) {
		view_percent(r->figures[1], &all.self);
		view_percent(r->figures[2], &all.total);
		r->tone = all.self.share >= VIEW_HOT ? TONE_HOT : TONE_PLAIN;
	}
	if (find(l->recent, line, &now))
		view_percent(r->figures[0], &now.self);
}

static void add_source(struct table *t, const struct look *l, const struct plumb_view_function *f, const char *text,
		       size_t len)
{
	int32_t first = f->firstline ? (int32_t)f->firstline : 1, last = last_line(l->all, first) + LINES_BEHIND;
	size_t at = 0;
	char line[256];

	if (last - first > MOST_LINES)
		last = first + MOST_LINES;
	for (int32_t i = 1; i <= last && at < len; i++) {
		take_line(text, len, &at, line, sizeof line);
		if (i >= first)
			add_line(t, l, i, line);
	}
}

static void add_lines(struct table *t, const struct look *l)
{
	struct plumb_view_line line = {.size = sizeof line};

	for (size_t i = 0; plumb_view_line_at(l->all, i, &line); i++)
		add_line(t, l, line.line, "(its source is not known)");
}

struct plumb_error *view_lines(struct table *t, const struct choice *c, const struct look *l,
			       const struct strips *strips, bool unicode)
{
	const struct plumb_view_function *f = &c->function;
	struct plumb_error *err = NULL;
	size_t count, len;

	t->columns = columns;
	t->title = c->qualname ? "source" : "no function is chosen: Enter on one of the other views chooses it";
	table_clear(t);
	if (!c->qualname || !c->file)
		return NULL;
	err = plumb_view_lines(l->all, f, &count);
	if (!err && l->recent)
		err = plumb_view_lines(l->recent, f, &count);
	if (err)
		return err;
	const char *text = plumb_view_source(l->all, f, &len, NULL);
	if (text)
		add_source(t, l, f, text, len);
	else
		add_lines(t, l);
	table_ready(t);
	return NULL;
}
