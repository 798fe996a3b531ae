/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: see strips.h. */
#include "strips.h"

#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 1000
#define LEVELS	    8

/* Of a second: not there, waiting, waiting for the GIL, or on a CPU for so many eighths of it. */
enum { ABSENT, WAITING, WANTS_GIL, BUSY };

struct strip {
	uint64_t tid;
	int pid;
	uint64_t seen; /* second */
	unsigned char what[STRIPS_KEPT];
};

struct strips {
	uint64_t now; /* second */
	uint64_t ago; /* so many before it is the last one shown */
	size_t count;
	struct strip list[MAX_THREADS];
};

struct strips *strips_create(void)
{
	return calloc(1, sizeof(struct strips));
}

void strips_destroy(struct strips *s)
{
	free(s);
}

static struct strip *find(const struct strips *s, const struct plumb_view_thread *t)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->list[i].tid == t->tid && s->list[i].pid == t->pid)
			return (struct strip *)&s->list[i];
	return NULL;
}

/* In the place of one that was not seen for so long, if there are too many. */
static struct strip *find_or_add(struct strips *s, const struct plumb_view_thread *t)
{
	struct strip *strip = find(s, t);

	if (!strip && s->count < MAX_THREADS)
		strip = &s->list[s->count++];
	else if (strip)
		return strip;
	for (size_t i = 0; !strip && i < MAX_THREADS; i++)
		if (s->now - s->list[i].seen > STRIPS_KEPT)
			strip = &s->list[i];
	if (strip)
		*strip = (struct strip){.tid = t->tid, .pid = t->pid};
	return strip;
}

static unsigned char what_of(const struct plumb_view_thread *t)
{
	int level = (int)(t->on_cpu_share * LEVELS + 0.5);

	if (t->wants_gil_share > 0.5)
		return WANTS_GIL;
	return level ? (unsigned char)(BUSY + level - 1) : WAITING;
}

void strips_add(struct strips *s, const struct plumb_view *second)
{
	struct plumb_view_thread t = {.size = sizeof t};

	s->now++;
	for (size_t i = 0; i < s->count; i++)
		s->list[i].what[s->now % STRIPS_KEPT] = ABSENT;
	for (size_t i = 0; plumb_view_thread_at(second, i, &t); i++) {
		struct strip *strip = t.samples ? find_or_add(s, &t) : NULL;

		if (!strip)
			continue;
		strip->seen = s->now;
		strip->what[s->now % STRIPS_KEPT] = what_of(&t);
	}
}

void strips_show(struct strips *s, uint64_t ago)
{
	s->ago = ago;
}

void strips_text(const struct strips *s, const struct plumb_view_thread *t, int seconds, bool unicode, char *buf,
		 size_t size)
{
	static const char *const blocks[] = {" ",
					     "\xc2\xb7",
					     "w",
					     "\xe2\x96\x81",
					     "\xe2\x96\x82",
					     "\xe2\x96\x83",
					     "\xe2\x96\x84",
					     "\xe2\x96\x85",
					     "\xe2\x96\x86",
					     "\xe2\x96\x87",
					     "\xe2\x96\x88"};
	static const char *const letters[] = {" ", ".", "w", "1", "2", "3", "4", "5", "6", "7", "8"};
	const struct strip *strip = find(s, t);
	size_t at = 0;

	buf[0] = '\0';
	for (int i = seconds - 1; strip && i >= 0; i--) {
		uint64_t ago = s->ago + (uint64_t)i;
		unsigned what = ago < s->now && ago < STRIPS_KEPT ? strip->what[(s->now - ago) % STRIPS_KEPT] : ABSENT;
		const char *glyph = unicode ? blocks[what] : letters[what];

		if (what == ABSENT && !at) /* it begins when it was seen first */
			continue;
		size_t len = strlen(glyph);

		if (at + len + 1 > size)
			return;
		memcpy(buf + at, glyph, len + 1);
		at += len;
	}
}
