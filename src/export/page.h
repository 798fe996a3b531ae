/* SPDX-License-Identifier: Apache-2.0 */
/* The report page: a fixed text with blocks of data in it. docs/design/006-report-page.md has the layout. Inside the
 * layer only. */
#ifndef PL_PAGE_H
#define PL_PAGE_H

#include "page_parts.h"

/** What a page is made of around its blocks. */
struct pl_page_text {
	const char *head, *tail;
	size_t head_len, tail_len;
};
/** Of this build, all zeros if it has none: made of webui/ by tools/embed_page.py, or page_none.c. */
extern const struct pl_page_text pl_page_built;

/** A block is open for what is to be in it; one at a time. */
struct pl_page_block {
	FILE *page, *base64, *in; /* in: takes the content */
};
/** Begin a block of @p kind, plain ASCII. After an error nothing is open. */
struct plumb_error *pl_page_block_open(struct pl_page_block *b, const char *kind, FILE *page) PLUMB_MUST_CHECK;
/** What went wrong with the page shows in ferror() there; else PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_page_block_close(struct pl_page_block *b) PLUMB_MUST_CHECK;

/** The columns of @p p, as they are before they are compressed. */
struct plumb_error *pl_page_data_write(const struct plumb_profile *p, const struct pl_export_options *o,
				       const struct pl_page_limits *limits, FILE *out) PLUMB_MUST_CHECK;
/** A block of them. */
struct plumb_error *pl_page_profile_write(const struct plumb_profile *p, const struct pl_export_options *o,
					  FILE *page) PLUMB_MUST_CHECK;

#endif
