/* SPDX-License-Identifier: Apache-2.0 */
/* Where a report page goes, and who shows it. */
#ifndef PAGE_FILE_H
#define PAGE_FILE_H

#include <limits.h>

#include "config.h"

struct page_file {
	char name[PATH_MAX]; /* of a file that nobody named; "" if it has a name, or it is no page */
};

/** Whether what --html, --open and @p format ask for can be had. */
bool page_file_check(const struct config *c, const char *format, struct failure *why);
/** The name of the page of @p recording: with @p suffix in the place of ".plumb"; in its folder, or the current one. */
bool page_file_name(const char *recording, const char *suffix, bool here, struct page_file *ret, struct failure *why);
/** Check, and give a page that has no -o a name, as c->output, if standard output is a terminal or it is to be shown.
 */
bool page_file_choose(struct config *c, const char *format, const char *recording, const char *suffix,
		      struct page_file *ret, struct failure *why);
/** After it was written: tell its name, if nobody knows it yet, and show it. Returns 0 or EXIT_OWN_FAILURE. */
int page_file_show(const struct config *c, const struct page_file *page);

#endif
