/* SPDX-License-Identifier: Apache-2.0 */
/* The table of output formats. Layer export; constant. A new format is one file, one line in formats.h and one row
 * here. */
#include "formats.h"

#include <string.h>

static const char *const text_suffixes[] = {".txt", NULL};
static const char *const json_suffixes[] = {".json", NULL};
static const char *const markdown_suffixes[] = {".md", ".markdown", NULL};
static const char *const collapsed_suffixes[] = {".folded", ".collapsed", NULL};

const struct pl_format pl_formats[] = {
	{"text", text_suffixes, "the report for the terminal, at most 25 lines", pl_text_write},
	{"json", json_suffixes, "all figures, functions and stacks; schema plumb.report/1", pl_report_json_write},
	{"markdown", markdown_suffixes, "a summary for an issue or a pull request", pl_markdown_write},
	{"collapsed", collapsed_suffixes, "one line per stack with its count, for flamegraph.pl, speedscope and others",
	 pl_collapsed_write},
	{NULL, NULL, NULL, NULL},
};

const struct pl_format *pl_format_by_name(const char *name)
{
	for (const struct pl_format *f = pl_formats; f->name; f++) {
		if (strcmp(f->name, name) == 0)
			return f;
	}
	return NULL;
}

static bool ends_with(const char *s, const char *suffix)
{
	size_t len = strlen(s), suffix_len = strlen(suffix);

	return len > suffix_len && strcmp(s + len - suffix_len, suffix) == 0;
}

const struct pl_format *pl_format_by_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;

	for (const struct pl_format *f = pl_formats; f->name; f++) {
		for (const char *const *suffix = f->suffixes; *suffix; suffix++) {
			if (ends_with(base, *suffix))
				return f;
		}
	}
	return NULL;
}
