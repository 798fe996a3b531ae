/* SPDX-License-Identifier: Apache-2.0 */
/* plumb doctor: what works here and now. Layer cli. Writes to stdout. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <plumb/doctor.h>

#include "config.h"
#include "term.h"
#include "which.h"

#define EXIT_DOES_NOT_WORK 1
#define FACT_COLUMN	   20
#define MORE_COLUMN	   26
#define GREEN		   "32"
#define RED		   "31"
#define DIM		   "2"

static const struct opt *const tables[] = {options_json, options_common, NULL};

static const char *const examples[] = {
	"plumb doctor",
	"this machine and this user: what can be sampled, and what would have to change for more",
	"plumb doctor 4242",
	"that process: may it be read, which Python is in it, can its stacks be read",
	"plumb doctor --json | jq '.findings[] | select(.status == \"no\")'",
	"only what does not work",
	NULL,
};

struct look {
	int width;
	bool color, utf8;
};

/* Names come from processes: what is not printable becomes '?'. */
static void clean(char *s, bool utf8)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s, next = (unsigned char)s[1];
		bool hides = (c == 0xc2 && next < 0xa0) || (c == 0xe2 && (next == 0x80 || next == 0x81));

		if (c < ' ' || c == 0x7f || (c >= 0x80 && !utf8) || hides)
			*s = '?';
		if (hides && next >= 0x80)
			s[1] = '?';
	}
}

static void put(const char *text, int indent, int at, const struct look *look)
{
	char *copy = strdup(text);

	if (copy)
		clean(copy, look->utf8);
	opt_wrap(copy ? copy : "out of memory", indent, at, look->width, stdout);
	free(copy);
}

static void put_more(const char *label, const char *text, const struct look *look)
{
	if (*text)
		put(text, MORE_COLUMN, printf("%*s%s", FACT_COLUMN, "", label), look);
}

static void put_finding(const struct plumb_finding *f, const struct look *look)
{
	static const struct {
		const char *word, *color;
	} marks[] = {[PLUMB_FINDING_OK] = {"ok", GREEN},
		     [PLUMB_FINDING_NO] = {"no", RED},
		     [PLUMB_FINDING_NOTE] = {"--", DIM}};
	const char *word = marks[f->status].word;

	if (look->color)
		printf("\033[%sm%s\033[0m", marks[f->status].color, word);
	else
		fputs(word, stdout);
	put(f->fact, FACT_COLUMN, 2 + printf("  %s", f->id), look);
	put_more("costs", f->cost, look);
	put_more("do", f->remedy, look);
}

/* About a process, of the machine only what does not work. */
static void put_text(const struct plumb_doctor *d, bool of_process, const struct look *look)
{
	struct plumb_finding f;

	for (size_t i = 0; plumb_doctor_at(d, i, &f); i++)
		if (f.of_process == of_process)
			put_finding(&f, look);
	for (size_t i = 0; of_process && plumb_doctor_at(d, i, &f); i++)
		if (!f.of_process && f.status == PLUMB_FINDING_NO)
			put_finding(&f, look);
	putchar('\n');
	put(plumb_doctor_summary(d), 0, 0, look);
}

static int run(const struct command *cmd, struct config *c, int argc, char **argv)
{
	struct look look = {term_width(STDOUT_FILENO), term_color(c, STDOUT_FILENO), term_is_utf8()};
	struct plumb_doctor *d;
	struct plumb_error *err;
	int pid = 0, status = argc > 0 ? which_process(cmd, argv[0], &pid) : 0;

	if (status)
		return status;
	err = plumb_doctor_examine(pid, &d);
	if (err)
		return complain_error(err);
	if (c->format)
		puts(plumb_doctor_json(d));
	else
		put_text(d, pid != 0, &look);
	status = finish_stdout();
	if (!status && !plumb_doctor_works(d))
		status = EXIT_DOES_NOT_WORK;
	plumb_doctor_destroy(d);
	return status;
}

const struct command command_doctor = {
	.name = "doctor",
	.usage = "[PID|NAME]",
	.summary = "what works here and now, and the one change that unlocks the next thing",
	.about = "Look at this machine and this user or, with PID or NAME, at that process, and tell what can be "
		 "sampled. "
		 "'ok': it "
		 "works. 'no': it does not. '--': not there or not known, and not needed for what was asked. Stops and "
		 "changes nothing. The exit status is 0 if programs (or that process) can be sampled, 1 if not, 125 if "
		 "plumb itself failed.",
	.examples = examples,
	.tables = tables,
	.operands = OPERANDS_ANYWHERE,
	.min_operands = 0,
	.max_operands = 1,
	.operand = "",
	.run = run,
};
