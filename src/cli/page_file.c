/* SPDX-License-Identifier: Apache-2.0 */
/* Where a report page goes, and who shows it. Layer cli. A page is for a browser: on a terminal it becomes a file. */
#include "page_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "browser.h"

bool page_file_check(const struct config *c, const char *format, struct failure *why)
{
	struct plumb_error *err = plumb_format_check(format);

	if (c->open && strcmp(format, "html") != 0)
		refuse(why, "leave out '--open', or write with '--html'", "only a report page can be shown: %s is none",
		       format);
	else if (err)
		refuse(why, plumb_error_hint(err), "%s", plumb_error_message(err));
	else
		return true;
	plumb_error_destroy(err);
	return false;
}

bool page_file_name(const char *recording, const char *suffix, bool here, struct page_file *ret, struct failure *why)
{
	static const char old[] = ".plumb";
	const char *slash = strrchr(recording, '/');
	const char *name = here && slash ? slash + 1 : recording;
	size_t len = strlen(name), old_len = sizeof old - 1;

	if (strcmp(name, "-") == 0) {
		name = "plumb";
		len = strlen(name);
	} else if (len > old_len && strcmp(name + len - old_len, old) == 0) {
		len -= old_len;
	}
	if (snprintf(ret->name, sizeof ret->name, "%.*s%s", (int)len, name, suffix) < (int)sizeof ret->name)
		return true;
	return refuse(why, "give a name with '-o'", "the name of the page would be too long");
}

bool page_file_choose(struct config *c, const char *format, const char *recording, const char *suffix,
		      struct page_file *ret, struct failure *why)
{
	*ret = (struct page_file){0};
	if (!page_file_check(c, format, why))
		return false;
	if (c->output || strcmp(format, "html") != 0 || (!c->open && !isatty(STDOUT_FILENO)))
		return true;
	if (!page_file_name(recording, suffix, true, ret, why))
		return false;
	c->output = ret->name;
	c->chosen = true;
	return true;
}

int page_file_show(const struct config *c, const struct page_file *page)
{
	const char *name = *page->name ? page->name : c->output;
	char message[PATH_MAX + 16];
	struct failure why;

	if (*page->name && !c->quiet) {
		snprintf(message, sizeof message, "the page is %s", name);
		tell_note(NULL, message);
	}
	return !c->open || browser_open(name, &why) ? 0 : complain_failure(&why);
}
