/* SPDX-License-Identifier: Apache-2.0 */
/* The line that shows what `attach` sees while it runs. Layer cli. It is drawn with "return" and "erase to the end"
 * only, and kept one column off the edge, where terminals differ in when they wrap. */
#include "status_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <plumb/text.h>

#include "term.h"

#define RETURN_AND_ERASE "\r\033[K"

struct text {
	char *buf;
	size_t len, size;
	int cols, width;
};

/* One character: @p len bytes, @p cols columns; false if it does not fit. */
static bool put(struct text *t, const char *s, size_t len, int cols)
{
	if (t->cols + cols > t->width || t->len + len >= t->size)
		return false;
	memcpy(t->buf + t->len, s, len);
	t->len += len;
	t->cols += cols;
	t->buf[t->len] = '\0';
	return true;
}

/* Text from the program. Others than ASCII count as two columns: too wide is harmless, too narrow breaks the line. */
static void put_name(struct text *t, const char *s, bool utf8)
{
	char unit[PLUMB_TEXT_UNIT];

	for (size_t taken; (taken = plumb_text_next(s, utf8, unit, NULL)) > 0; s += taken) {
		size_t len = strlen(unit);

		if (!put(t, unit, len, (unsigned char)*unit < 0x80 ? (int)len : 2))
			return;
	}
}

static void put_plain(struct text *t, const char *s)
{
	while (*s && put(t, s, 1, 1))
		s++;
}

static const char *grouped(uint64_t n, char *buf, size_t size)
{
	char digits[24];
	int len = snprintf(digits, sizeof digits, "%" PRIu64, n);
	size_t at = 0;

	for (int i = 0; i < len && at + 2 < size; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			buf[at++] = ',';
		buf[at++] = digits[i];
	}
	buf[at] = '\0';
	return buf;
}

size_t status_line_text(const struct plumb_status *st, uint64_t limit_ns, int width, bool utf8, char *buf, size_t size)
{
	struct text t = {.buf = buf, .size = size, .width = width};
	char head[160], samples[40], of[32] = "";

	buf[0] = '\0';
	if (limit_ns)
		snprintf(of, sizeof of, " of %g", (double)limit_ns / 1e9);
	snprintf(head, sizeof head, "%.1f%s s  %s samples  %" PRIu64 " thread%s", (double)st->elapsed_ns / 1e9, of,
		 grouped(st->samples, samples, sizeof samples), st->threads, st->threads == 1 ? "" : "s");
	put_plain(&t, head);
	if (st->processes > 1) {
		snprintf(head, sizeof head, "  %" PRIu64 " processes", st->processes);
		put_plain(&t, head);
	}
	if (st->hottest && *st->hottest) {
		snprintf(head, sizeof head, "  %.0f %% ", st->hottest_share * 100);
		put_plain(&t, head);
		put_name(&t, st->hottest, utf8);
	}
	if (t.cols + 16 <= width)
		put_plain(&t, "  (Ctrl-C ends)");
	return t.len;
}

/* A status line that cannot be written is no failure. */
static void write_all(const char *s, size_t len)
{
	ssize_t done = write(STDERR_FILENO, s, len);

	(void)done;
}

void status_line_draw(const struct plumb_status *st, uint64_t limit_ns)
{
	char line[2048] = RETURN_AND_ERASE;
	size_t at = strlen(line);

	at += status_line_text(st, limit_ns, term_width(STDERR_FILENO) - 1, term_is_utf8(), line + at,
			       sizeof line - at);
	write_all(line, at);
}

void status_line_erase(void)
{
	write_all(RETURN_AND_ERASE, sizeof RETURN_AND_ERASE - 1);
}
