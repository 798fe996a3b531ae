/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: what the views share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "views.h"
#include "cell_text.h"

bool shut_has(const struct shut *s, uint64_t key)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->keys[i] == key)
			return true;
	return false;
}

void shut_turn(struct shut *s, uint64_t key)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->keys[i] == key) {
			s->keys[i] = s->keys[--s->count];
			return;
		}
	if (s->count == s->room) {
		size_t room = s->room ? s->room * 2 : 16;
		uint64_t *keys = realloc(s->keys, room * sizeof *keys);

		if (!keys)
			return;
		s->keys = keys;
		s->room = room;
	}
	s->keys[s->count++] = key;
}

static char *copy_of(const char *s, size_t len)
{
	char *copy = malloc(len + 1);

	if (copy)
		memcpy(copy, s, len + 1);
	return copy;
}

static void forget_function(struct choice *c)
{
	free(c->qualname);
	free(c->file);
	c->qualname = c->file = NULL;
	c->function = (struct plumb_view_function){.size = sizeof c->function};
}

void choice_function(struct choice *c, const struct plumb_view_function *f)
{
	size_t short_at = f->file_len - strlen(f->short_file);
	char *qualname = copy_of(f->qualname, f->qualname_len), *file = copy_of(f->file, f->file_len);
	struct plumb_view_function copy = *f;

	forget_function(c);
	c->qualname = qualname;
	c->file = file;
	if (!qualname || !file)
		return;
	copy.name = copy.qualname = qualname;
	copy.file = file;
	copy.short_file = short_at <= f->file_len ? file + short_at : file;
	c->function = copy;
}

void choice_free(struct choice *c)
{
	forget_function(c);
	free(c->shut.keys);
	c->shut = (struct shut){0};
}

void view_percent(char buf[16], const struct plumb_share *s)
{
	if (s->samples)
		cell_percent(s->share, buf);
	else
		buf[0] = '\0';
}

void view_interval(char buf[16], const struct plumb_share *s, bool unicode)
{
	if (s->samples)
		snprintf(buf, 16, "%s%.1f", unicode ? "\xc2\xb1" : "+-", 100 * s->half_width);
	else
		buf[0] = '\0';
}
