/* SPDX-License-Identifier: Apache-2.0 */
/* The table of categories and who belongs to which. Layer export; pure, any thread. */
#include "categories.h"

#include <string.h>

#include "frame_name.h"
#include "own_code.h"

/* The hues are after Okabe and Ito. The kinds of code differ in lightness, too, each by 7 of 100 steps of CIE L*: they
 * are told apart in grey, and by people who do not see all colours. Black can be read on all of them, and on the darker
 * ones of the report page (webui/test/canvas.test.ts). */
const struct pl_category_look pl_categories[PL_CATEGORIES] = {
	[PL_CATEGORY_OTHER] = {"Other", "grey", "#e8e8e8"},
	[PL_CATEGORY_APPLICATION] = {"Application", "yellow", "#e79e00"},
	[PL_CATEGORY_LIBRARY] = {"Library", "blue", "#afdaf6"},
	[PL_CATEGORY_STANDARD] = {"Standard library", "lightblue", "#7ad0b3"},
	[PL_CATEGORY_NATIVE] = {"Native", "green", "#cf80b2"},
	[PL_CATEGORY_KERNEL] = {"Kernel", "orange", "#bd753f"},
	[PL_CATEGORY_WAITING] = {"Waiting", "transparent", "#aeb9c9"},
	[PL_CATEGORY_GC] = {"Garbage collection", "magenta", "#f0e442"},
};

static enum pl_category category_of_python(const struct plumb_profile *p, const struct pl_function *f)
{
	struct pl_text file = pl_text_of(p, f->file);

	if (!pl_own_code_is_library(p, f))
		return PL_CATEGORY_APPLICATION;
	if (memmem(file.s, file.len, "/site-packages/", 15) || memmem(file.s, file.len, "/dist-packages/", 15) ||
	    pl_own_code_is_launcher(p, f))
		return PL_CATEGORY_LIBRARY;
	return PL_CATEGORY_STANDARD;
}

enum pl_category pl_category_of_function(const struct plumb_profile *p, const struct pl_function *f)
{
	switch (f->origin) {
	case PL_ORIGIN_PYTHON:
		return category_of_python(p, f);
	case PL_ORIGIN_TASK: /* a task is the program's, whoever runs it */
		return PL_CATEGORY_APPLICATION;
	case PL_ORIGIN_NATIVE:
		return PL_CATEGORY_NATIVE;
	case PL_ORIGIN_KERNEL:
		return PL_CATEGORY_KERNEL;
	default:
		return PL_CATEGORY_OTHER;
	}
}

enum pl_category pl_category_of_state(uint16_t state)
{
	if (state & PL_STATE_IN_GC)
		return PL_CATEGORY_GC;
	return state & (PL_STATE_ON_CPU | PL_STATE_UNKNOWN) ? PL_CATEGORY_OTHER : PL_CATEGORY_WAITING;
}
