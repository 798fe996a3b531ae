/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: see cell_text.h. */
#include "cell_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S 1000000000ull

/* How many columns all of it takes. */
static int columns_of(const char *s, bool unicode)
{
	char unit[PLUMB_TEXT_UNIT];
	int all = 0, columns;

	for (size_t taken; (taken = plumb_text_next(s, unicode, unit, &columns)) > 0; s += taken)
		all += columns;
	return all;
}

static void add(char *buf, size_t size, const char *s)
{
	size_t len = strlen(buf);

	snprintf(buf + len, size - len, "%s", s);
}

int cell_fit(const char *s, bool unicode, int columns, bool keep_end, char *buf, size_t size)
{
	const char *dots = unicode ? "\xe2\x80\xa6" : "~";
	int all = columns_of(s, unicode), at = 0, wide;
	int skip = keep_end && all > columns ? all - columns + 1 : 0;
	bool cut = all > columns;
	char unit[PLUMB_TEXT_UNIT];

	buf[0] = '\0';
	if (columns < 1)
		return 0;
	if (skip) {
		add(buf, size, dots);
		at = 1;
	}
	for (size_t taken; (taken = plumb_text_next(s, unicode, unit, &wide)) > 0; s += taken) {
		if (skip > 0) {
			skip -= wide;
			continue;
		}
		if (at + wide > columns - (cut && !keep_end) || strlen(buf) + sizeof unit + 4 > size)
			break;
		add(buf, size, unit);
		at += wide;
	}
	if (cut && !keep_end) {
		add(buf, size, dots);
		at++;
	}
	return at;
}

const char *cell_percent(double share, char buf[16])
{
	snprintf(buf, 16, "%.1f", 100 * (share < 0 ? 0 : share > 1 ? 1 : share));
	return buf;
}

const char *cell_time(uint64_t ns, char buf[24])
{
	uint64_t s = ns / NS_PER_S;

	if (s < 60)
		snprintf(buf, 24, "%" PRIu64 ".%u s", s, (unsigned)(ns % NS_PER_S / (NS_PER_S / 10)));
	else if (s < 3600)
		snprintf(buf, 24, "%" PRIu64 ":%02u min", s / 60, (unsigned)(s % 60));
	else
		snprintf(buf, 24, "%" PRIu64 ":%02u h", s / 3600, (unsigned)(s % 3600 / 60));
	return buf;
}

void cell_place(const struct plumb_view_function *f, char *buf, size_t size)
{
	buf[0] = '\0';
	if (f->bare)
		return;
	if (f->firstline)
		snprintf(buf, size, "%s:%" PRIu32, f->short_file, f->firstline);
	else
		snprintf(buf, size, "%s", f->short_file);
}
