/* SPDX-License-Identifier: Apache-2.0 */
/* The table of forms that a comparison can have. Layer export; constant. */
#include <string.h>

#include "diff_export.h"

static const char *const text_suffixes[] = {".txt", NULL};
static const char *const json_suffixes[] = {".json", NULL};
static const char *const markdown_suffixes[] = {".md", ".markdown", NULL};
static const char *const html_suffixes[] = {".html", ".htm", NULL};
static const char *const svg_suffixes[] = {".svg", NULL};
static const char *const collapsed_suffixes[] = {".folded", ".collapsed", NULL};

const struct pl_diff_format pl_diff_formats[] = {
	{"text", text_suffixes, "the changes for the terminal, at most 25 lines", false, pl_diff_text_write},
	{"json", json_suffixes, "all rows; schema plumb.diff/1", false, pl_diff_json_write},
	{"markdown", markdown_suffixes, "the changes for a pull request", false, pl_diff_markdown_write},
	{"html", html_suffixes, "the report page with both sides and what changed, for a browser", false, NULL},
	{"collapsed", collapsed_suffixes, "one line per stack with both counts, for differential flame graphs", true,
	 pl_diff_collapsed_write},
	{"svg", svg_suffixes, "a differential flame graph, with zoom and search in a browser", true, pl_diff_svg_write},
	{NULL, NULL, NULL, false, NULL},
};

const struct pl_diff_format *pl_diff_format_by_name(const char *name)
{
	for (const struct pl_diff_format *f = pl_diff_formats; f->name; f++) {
		if (strcmp(f->name, name) == 0)
			return f;
	}
	return NULL;
}

const struct pl_diff_format *pl_diff_format_by_path(const char *path)
{
	size_t len = strlen(path);

	for (const struct pl_diff_format *f = pl_diff_formats; f->name; f++) {
		for (const char *const *suffix = f->suffixes; *suffix; suffix++) {
			size_t suffix_len = strlen(*suffix);

			if (len > suffix_len && strcmp(path + len - suffix_len, *suffix) == 0)
				return f;
		}
	}
	return NULL;
}
