/* SPDX-License-Identifier: Apache-2.0 */
/* What kind of code a frame is, or what its thread did there: for viewers that colour by it. */
#ifndef PL_CATEGORIES_H
#define PL_CATEGORIES_H

#include "profile.h"

enum pl_category {
	PL_CATEGORY_OTHER, /* markers; the Firefox Profiler takes the first grey one as its default */
	PL_CATEGORY_APPLICATION,
	PL_CATEGORY_LIBRARY,
	PL_CATEGORY_STANDARD, /* Python's own library */
	PL_CATEGORY_NATIVE,
	PL_CATEGORY_KERNEL,
	PL_CATEGORY_WAITING, /* of the end of a stack: its thread waited there */
	PL_CATEGORY_GC,	     /* likewise, it collected garbage */
	PL_CATEGORIES,
};

struct pl_category_look {
	const char *name;
	const char *firefox; /* one of the colours that the Firefox Profiler has names for */
	const char *fill;    /* of a box with black text on it */
};
extern const struct pl_category_look pl_categories[PL_CATEGORIES];

/** The kind of code. */
enum pl_category pl_category_of_function(const struct plumb_profile *p, const struct pl_function *f);
/** What a thread in @p state does: GC, WAITING, or OTHER if it runs or nobody knows. */
enum pl_category pl_category_of_state(uint16_t state);

#endif
