/* SPDX-License-Identifier: Apache-2.0 */
/* The stream that a format writes to. Layer export. A write ends wherever the C library's buffer was full: what may go
 * on in the next one is kept until then. */
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "glyph.h"

#define LONGEST_COLOUR 32 /* bytes */

struct terminal {
	int fd;
	bool colours;
	char kept[LONGEST_COLOUR];
	size_t kept_len;
	char out[8192];
	size_t out_len;
};

static bool flush(struct terminal *t)
{
	for (size_t done = 0; done < t->out_len;) {
		ssize_t n = write(t->fd, t->out + done, t->out_len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	t->out_len = 0;
	return true;
}

static bool put(struct terminal *t, const char *text, size_t len)
{
	if (len > sizeof t->out - t->out_len && !flush(t))
		return false;
	memcpy(t->out + t->out_len, text, len);
	t->out_len += len;
	return true;
}

/* Bytes of "\033[1;31m"; 0: it is none; > @p len: it may go on. */
static size_t colour_length(const char *s, size_t len)
{
	size_t at = 2;

	if (s[0] != '\033' || (len > 1 && s[1] != '['))
		return 0;
	while (at < len && ((s[at] >= '0' && s[at] <= '9') || s[at] == ';'))
		at++;
	if (at >= len)
		return len < LONGEST_COLOUR ? LONGEST_COLOUR : 0;
	return s[at] == 'm' ? at + 1 : 0;
}

/* Bytes of a line end or a tab; 0: it is none; > @p len: it may go on. */
static size_t blank_length(const char *s, size_t len)
{
	if (*s == '\r')
		return len < 2 || s[1] == '\n' ? 2 : 0;
	return *s == '\n' || *s == '\t' ? 1 : 0;
}

/* Bytes of the UTF-8 character that begins there, as its first byte says. */
static size_t character_length(const char *s)
{
	unsigned char c = (unsigned char)*s;

	return c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

/* Bytes that pass as they are; 0: those of a name; > @p len: it may go on. */
static size_t passing_length(const struct terminal *t, const char *s, size_t len)
{
	size_t n = blank_length(s, len);

	return n || !t->colours ? n : colour_length(s, len);
}

/* What of @p s can be written now; the rest is less than LONGEST_COLOUR bytes. */
static bool show(struct terminal *t, const char *s, size_t len, bool last, size_t *taken)
{
	struct pl_glyph g;
	size_t at = 0;

	while (at < len) {
		size_t passing = passing_length(t, s + at, len - at), left = len - at;

		if (!last && (passing > left || character_length(s + at) > left))
			break;
		if (passing && passing <= left) {
			if (!put(t, s + at, passing))
				return false;
			at += passing;
			continue;
		}
		at += pl_glyph_next(s + at, left, true, &g);
		if (!put(t, g.text, g.len))
			return false;
	}
	*taken = at;
	return true;
}

/* What was kept is completed first, by as much as it can take. */
static bool show_kept(struct terminal *t, const char **s, size_t *len)
{
	while (t->kept_len && *len) {
		size_t taken;

		t->kept[t->kept_len++] = *(*s)++;
		--*len;
		if (!show(t, t->kept, t->kept_len, t->kept_len == sizeof t->kept, &taken))
			return false;
		memmove(t->kept, t->kept + taken, t->kept_len - taken);
		t->kept_len -= taken;
	}
	return true;
}

static ssize_t terminal_write(void *cookie, const char *s, size_t len)
{
	struct terminal *t = cookie;
	size_t all = len, taken = 0;

	if (!show_kept(t, &s, &len) || !show(t, s, len, false, &taken))
		return 0;
	if (len > taken) {
		memcpy(t->kept, s + taken, len - taken);
		t->kept_len = len - taken;
	}
	return flush(t) ? (ssize_t)all : 0;
}

static int terminal_close(void *cookie)
{
	struct terminal *t = cookie;
	size_t taken;
	bool good = show(t, t->kept, t->kept_len, true, &taken) && flush(t);
	int failed = close(t->fd);

	free(t);
	return good ? failed : -1;
}

static FILE *to_terminal(int fd, bool colours)
{
	struct terminal *t = calloc(1, sizeof *t);
	cookie_io_functions_t functions = {.write = terminal_write, .close = terminal_close};

	if (!t)
		return NULL;
	t->fd = fd;
	t->colours = colours;
	FILE *stream = fopencookie(t, "w", functions);
	if (!stream)
		free(t);
	return stream;
}

FILE *pl_stream_open(int fd, bool colours)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	if (copy < 0)
		return NULL;
	FILE *stream = isatty(copy) ? to_terminal(copy, colours) : fdopen(copy, "w");
	if (!stream) {
		int why = errno;
		close(copy);
		errno = why;
	}
	return stream;
}
