/* SPDX-License-Identifier: Apache-2.0 */
/* What the library is told for whatever is written: what was chosen, and what made it. Layer cli. */
#include <stdlib.h>
#include <string.h>

#include "browser.h"
#include "config.h"

#define MAX_BYTES 4096

/* As one would type it; control characters have no place in a comment of a file. */
static void put_word(FILE *out, const char *word)
{
	bool plain = *word && !strpbrk(word, " \t\n'\"\\$`*?[]();<>&|!#~");

	fputs(plain ? "" : "'", out);
	for (; *word; word++) {
		unsigned char c = (unsigned char)*word;
		fputc(c < ' ' || c == 0x7f ? '?' : c, out);
	}
	fputs(plain ? "" : "'", out);
}

static bool lies_in(const char *p, const char *word)
{
	return p && p >= word && p <= word + strlen(word);
}

/* The option before its value: "-o x", "--output x". */
static bool is_output_option(const char *word)
{
	return strcmp(word, "-o") == 0 || (strlen(word) > 2 && strncmp(word, "--output", strlen(word)) == 0);
}

char *made_by(int argc, char *const *argv, const char *out_name)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	fputs("plumb " PLUMB_VERSION ": plumb", out);
	for (int i = 0; i < argc && argv[i] && ftell(out) < MAX_BYTES; i++) {
		if (lies_in(out_name, argv[i]) ||
		    (i + 1 < argc && out_name == argv[i + 1] && is_output_option(argv[i])))
			continue;
		fputc(' ', out);
		put_word(out, argv[i]);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	if (len > MAX_BYTES)
		memcpy(text + MAX_BYTES - 3, "...", 4);
	return text;
}

/* What is proposed has to work: it takes a page, and to show it a browser. */
static const char *page_option(void)
{
	struct plumb_error *err = plumb_format_check("html");
	const char *option = err ? NULL : browser_likely() ? "--open" : "--html";

	plumb_error_destroy(err);
	return option;
}

struct plumb_error *config_own(const struct config *c, struct plumb_profile *p)
{
	return c->own.count ? plumb_profile_set_own(p, (const char *const *)c->own.words, c->own.count) : NULL;
}

void config_report(struct config *c)
{
	struct plumb_report_options *o = &c->report;

	o->threads = c->threads.count ? (const char *const *)c->threads.words : NULL;
	o->thread_count = c->threads.count;
	o->processes = c->processes.count ? (const char *const *)c->processes.words : NULL;
	o->process_count = c->processes.count;
	o->modules = c->modules.count ? (const char *const *)c->modules.words : NULL;
	o->module_count = c->modules.count;
	o->tags = c->tags.count ? (const char *const *)c->tags.words : NULL;
	o->tag_count = c->tags.count;
	o->made_by = c->made_by;
	o->page_option = page_option();
	o->note = c->quiet ? NULL : tell_note;
}
