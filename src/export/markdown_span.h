/* SPDX-License-Identifier: Apache-2.0 */
/* Names as code spans of Markdown, in text and in tables. */
#ifndef PL_MARKDOWN_SPAN_H
#define PL_MARKDOWN_SPAN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** `NAME:LINE`, without the line if it is 0; a long name is cut at its end. */
void pl_markdown_span(const char *s, size_t len, uint32_t line, FILE *out);
/** The same of a text that is not to be cut. */
void pl_markdown_whole_span(const char *s, size_t len, FILE *out);

#endif
