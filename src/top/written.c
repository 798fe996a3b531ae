/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: see written.h. */
#include "written.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BYTES (64u << 10)

/* The first line may have lost its beginning: it goes, unless it is all there is. */
static size_t first_whole(const char *text, size_t len)
{
	const char *end = memchr(text, '\n', len);

	return end && (size_t)(end - text) + 1 < len ? (size_t)(end - text) + 1 : 0;
}

/* A NUL would end a line, too; a carriage return at its end writes over nothing. */
static void end_lines(char *text, size_t len)
{
	bool at_end = true;

	for (size_t i = len; i-- > 0;) {
		char c = text[i];

		if (c == '\n')
			text[i] = '\0';
		else if (c == '\0' || (c == '\r' && at_end))
			text[i] = ' ';
		at_end = c == '\n' || (c == '\r' && at_end);
	}
}

void written_read(struct written *w, int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || st.st_size < 0)
		return;
	uint64_t size = (uint64_t)st.st_size, from = size > MOST_BYTES ? size - MOST_BYTES : 0;
	char *text = malloc((size_t)(size - from) + 1);
	ssize_t got = text ? pread(fd, text, (size_t)(size - from), (off_t)from) : -1;

	if (got < 0) {
		free(text);
		return;
	}
	size_t skipped = from ? first_whole(text, (size_t)got) : 0;
	memmove(text, text + skipped, (size_t)got - skipped);
	free(w->text);
	*w = (struct written){.text = text, .len = (size_t)got - skipped, .from = from + skipped, .size = size};
	end_lines(w->text, w->len);
	w->text[w->len] = '\0';
}

void written_free(struct written *w)
{
	free(w->text);
	*w = (struct written){0};
}
