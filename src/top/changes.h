/* SPDX-License-Identifier: Apache-2.0 */
/* A stretch of time that is kept, and what has changed since. */
#ifndef CHANGES_H
#define CHANGES_H

#include "feed.h"

struct changes {
	bool begun; /* a stretch, at begin_ns, that has not ended */
	uint64_t begin_ns;
	struct plumb_profile *kept; /* NULL: none */
	uint64_t from_ns, to_ns;    /* of it */
	char *text;		    /* the comparison, lines that end with a NUL each; NULL: none */
	size_t len;
	int width; /* that it was made for */
};

/** Begin a stretch at the time that is shown, or end it there and keep it, if it has lasted. Errors: those of
 * feed_between(). */
struct plumb_error *changes_mark(struct changes *c, struct feed *f) PLUMB_MUST_CHECK;
/** What the kept stretch may be compared with: one as long, or what there is of it, that ends at the time shown. False:
 * they have no time apart. */
bool changes_against(const struct changes *c, const struct feed *f, uint64_t *from_ns, uint64_t *to_ns);
/** Compare, in lines of @p width columns. Errors: those of plumb_diff_create(). */
struct plumb_error *changes_compare(struct changes *c, struct feed *f, int width) PLUMB_MUST_CHECK;
void changes_free(struct changes *c);

#endif
