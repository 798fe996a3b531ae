/* SPDX-License-Identifier: Apache-2.0 */
/* Man pages from the command descriptors, the option tables and the help topics. Layer cli; writes to a stream.
 *
 * Lines of the source are kept short and broken after each sentence, as man pages are written; they mean nothing: the
 * reader's terminal fills the text. There is no date: a page says the same whenever it is built. */
#include "man.h"

#include <ctype.h>
#include <string.h>

#include "help.h"
#include "opt.h"

#define SOURCE_COLUMNS 76

/* How roff writes @p c, NULL for itself. A hyphen becomes a minus, so that what is copied from the page is an option;
 * quotes and accents would become typographic ones. */
static const char *escape_of(char c)
{
	switch (c) {
	case '\\':
		return "\\(rs";
	case '-':
		return "\\-";
	case '\'':
		return "\\(aq";
	case '"':
		return "\\(dq";
	case '`':
		return "\\(ga";
	case '^':
		return "\\(ha";
	case '~':
		return "\\(ti";
	default:
		return NULL;
	}
}

/* Length of the UTF-8 sequence at @p s, of which there are @p len bytes; 1 if it is none. */
static size_t utf8_decode(const char *s, size_t len, unsigned *ret)
{
	unsigned char first = (unsigned char)*s;
	size_t n = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;

	*ret = n == 1 ? first : first & (0x7fu >> n);
	if (n > len)
		return 1;
	for (size_t i = 1; i < n; i++)
		*ret = *ret << 6 | ((unsigned char)s[i] & 0x3fu);
	return n;
}

static void put_escaped(const char *s, size_t len, FILE *out)
{
	unsigned point;

	for (size_t n; len > 0; s += n, len -= n) {
		const char *escape = escape_of(*s);

		n = utf8_decode(s, len, &point);
		if (escape)
			fputs(escape, out);
		else if (point < 0x80)
			fputc((int)point, out);
		else
			fprintf(out, "\\[u%04X]", point);
	}
}

/* Columns of the source that put_escaped() fills, or a few more. */
static size_t escaped_width(const char *s, size_t len)
{
	size_t width = 0;

	for (size_t i = 0; i < len; i++) {
		const char *escape = escape_of(s[i]);

		width += escape ? strlen(escape) : s[i] & 0x80 ? 8 : 1;
	}
	return width;
}

static bool ends_sentence(const char *word, size_t len)
{
	while (len > 1 && (word[len - 1] == ')' || word[len - 1] == '\''))
		len--;
	return word[len - 1] == '.' && !(len > 2 && strncmp(word + len - 3, "...", 3) == 0);
}

/* Running text. A line break in it stays one, an empty line begins a paragraph; those at its ends are dropped. */
static void put_text(const char *text, FILE *out)
{
	bool sentence_ended = false;
	size_t at = 0;

	text += strspn(text, "\n");
	while (*text) {
		size_t len = strcspn(text, " \n"), width = escaped_width(text, len), breaks;

		if (at > 0 && (sentence_ended || at + 1 + width > SOURCE_COLUMNS)) {
			fputc('\n', out);
			at = 0;
		}
		if (at > 0)
			at += (size_t)fprintf(out, " ");
		else if (*text == '.')
			fputs("\\&", out); /* else a request */
		put_escaped(text, len, out);
		at += width;
		sentence_ended = len > 0 && ends_sentence(text, len);
		text += len;
		text += strspn(text, " ");
		breaks = strspn(text, "\n");
		text += breaks + strspn(text + breaks, " ");
		if (breaks > 0 && *text) {
			fputs(breaks > 1 ? "\n.PP\n" : "\n.br\n", out);
			at = 0;
		}
	}
	if (at > 0)
		fputc('\n', out);
}

/* @p s within a line that is no text, with single blanks. */
static void put_line(const char *s, FILE *out)
{
	for (size_t len; *s; s += len) {
		len = strcspn(s, " ");
		put_escaped(s, len, out);
		if (s[len] == ' ' && s[len + strspn(s + len, " ")])
			fputc(' ', out);
		len += strspn(s + len, " ");
	}
}

static void put_upper(const char *s, FILE *out)
{
	for (; *s; s++) {
		char c = *s == '-' ? ' ' : (char)toupper((unsigned char)*s);

		put_escaped(&c, 1, out);
	}
}

/* Words in capitals stand for something and are set in italics. */
static void put_usage(const char *s, FILE *out)
{
	for (size_t len; *s; s += len) {
		len = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		fputs(len ? "\\fI" : "", out);
		put_escaped(s, len ? len : 1, out);
		fputs(len ? "\\fR" : "", out);
		len = len ? len : 1;
	}
}

static void put_bold_item(const char *name, const char *text, FILE *out)
{
	fputs(".TP\n\\fB", out);
	put_line(name, out);
	fputs("\\fR\n", out);
	put_text(text, out);
}

/* @p name: of a command, NULL for plumb itself. */
static void put_head(const char *name, const char *summary, FILE *out)
{
	char text[512];

	snprintf(text, sizeof text, "plumb%s%s - %s", name ? "-" : "", name ? name : "", summary);
	fputs(".\\\" Written by 'plumb help --man'.\n.TH PLUMB", out);
	if (name) {
		fputs("\\-", out);
		put_upper(name, out);
	}
	fputs(" 1 \"\" \"plumb " PLUMB_VERSION "\" \"User Commands\"\n.SH NAME\n", out);
	put_text(text, out);
}

static void put_option(const struct opt *o, FILE *out)
{
	fputs(".TP\n", out);
	if (o->letter)
		fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
	fputs("\\fB\\-\\-", out);
	put_line(o->name, out);
	fputs("\\fR", out);
	if (o->arg)
		fprintf(out, " \\fI%s\\fR", o->arg);
	fputc('\n', out);
	put_text(o->help, out);
}

static void put_options(const struct command *cmd, FILE *out)
{
	fputs(".SH OPTIONS\n", out);
	for (const struct opt *first = NULL; (first = opt_next_shown(cmd, first));) {
		if (!opt_is_first_of_group(cmd, first))
			continue;
		fputs(".SS ", out);
		put_line(first->group, out);
		fputc('\n', out);
		for (const struct opt *o = NULL; (o = opt_next_shown(cmd, o));) {
			if (strcmp(o->group, first->group) == 0)
				put_option(o, out);
		}
	}
}

static void put_examples(const struct command *cmd, FILE *out)
{
	if (!cmd->examples)
		return;
	fputs(".SH EXAMPLES\n", out);
	for (const char *const *e = cmd->examples; *e; e += 2)
		put_bold_item(e[0], e[1], out);
}

/* All pages but that of @p except; NULL: but plumb(1). */
static void put_see_also(const struct command *except, FILE *out)
{
	const char *comma = "";

	fputs(".SH SEE ALSO\n", out);
	if (except) {
		fputs(".BR plumb (1)", out);
		comma = ",\n";
	}
	for (const struct command *const *c = commands; *c; c++) {
		if (*c == except)
			continue;
		fprintf(out, "%s.BR plumb\\-", comma);
		put_line((*c)->name, out);
		fputs(" (1)", out);
		comma = ",\n";
	}
	fputc('\n', out);
}

void man_command(const struct command *cmd, FILE *out)
{
	put_head(cmd->name, cmd->summary, out);
	fputs(".SH SYNOPSIS\n\\fBplumb ", out);
	put_line(cmd->name, out);
	fputs("\\fR [\\fIoptions\\fR] ", out);
	put_usage(cmd->usage, out);
	fputs("\n.SH DESCRIPTION\n", out);
	put_text(cmd->about, out);
	put_options(cmd, out);
	put_examples(cmd, out);
	put_see_also(cmd, out);
}

static void topic_text(const struct help_writer *w, const char *text)
{
	/* An empty line before it on the terminal; at the top of a section there is none. */
	if (*text == '\n')
		fputs(".PP\n", w->out);
	put_text(text, w->out);
}

static void topic_item(const struct help_writer *w, const char *name, const char *text)
{
	put_bold_item(name, text, w->out);
}

static void put_topics(FILE *out)
{
	const struct help_writer w = {.text = topic_text, .item = topic_item, .out = out, .utf8 = true};

	for (const struct help_topic *t = help_topics; t->name; t++) {
		fputs(".SH ", out);
		put_upper(t->name, out);
		fputc('\n', out);
		t->write(&w);
	}
}

void man_overview(FILE *out)
{
	put_head(NULL, "statistical sampling profiler for Python", out);
	fputs(".SH SYNOPSIS\n\\fBplumb\\fR \\fICOMMAND\\fR [\\fIoptions\\fR] ...\n", out);
	fputs(".br\n\\fBplumb \\-\\-help\\fR | \\fB\\-\\-version\\fR\n.SH DESCRIPTION\n", out);
	put_text(help_about, out);
	fputs(".SH COMMANDS\n", out);
	for (const struct command *const *c = commands; *c; c++)
		put_bold_item((*c)->name, (*c)->summary, out);
	put_topics(out);
	fputs(".SH EXAMPLES\n", out);
	for (const char *const *e = help_examples; *e; e++) {
		fputs(e == help_examples ? "\\fB" : ".br\n\\fB", out);
		put_line(*e, out);
		fputs("\\fR\n", out);
	}
	put_see_also(NULL, out);
}
