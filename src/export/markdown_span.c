/* SPDX-License-Identifier: Apache-2.0 */
/* Code spans (layer export; pure). */
#include "markdown_span.h"

#include <limits.h>

#include "glyph.h"

#define NAME_COLUMNS 80

/* A backquote would end the span and a bar the cell of the table, even escaped in some readers. */
static void write_span(const char *s, size_t len, uint32_t line, int most, FILE *out)
{
	int cols = 0;

	fputc('`', out);
	for (size_t i = 0; i < len && cols < most;) {
		struct pl_glyph g;

		i += pl_glyph_next(s + i, len - i, true, &g);
		if (g.len == 1 && (g.text[0] == '`' || g.text[0] == '|'))
			g.text[0] = g.text[0] == '`' ? '\'' : '!';
		fwrite(g.text, 1, g.len, out);
		cols += g.cols;
	}
	if (cols >= most)
		fputs("\xe2\x80\xa6", out);
	if (cols == 0)
		fputc('?', out); /* an empty span is no span */
	if (line)
		fprintf(out, ":%u", line);
	fputc('`', out);
}

void pl_markdown_span(const char *s, size_t len, uint32_t line, FILE *out)
{
	write_span(s, len, line, NAME_COLUMNS, out);
}

void pl_markdown_whole_span(const char *s, size_t len, FILE *out)
{
	write_span(s, len, 0, INT_MAX, out);
}
