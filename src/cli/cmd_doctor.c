/* SPDX-License-Identifier: Apache-2.0 */
/* plumb doctor: what works here and now. Layer cli. Writes to stdout. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <plumb/doctor.h>

#include "config.h"
#include "shown.h"
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
	"whether that process may be read, which Python is in it, whether its stacks can be read",
	"plumb doctor --json | jq '.findings[] | select(.status == \"no\")'",
	"only what does not work",
	NULL,
};

struct look {
	int width;
	bool color, utf8;
	bool no_memory; /* a text is missing */
};

static void put(const char *text, int indent, int at, struct look *look)
{
	char *copy = shown(text, look->utf8); /* names come from processes */

	if (copy)
		opt_wrap(copy, indent, at, look->width, stdout);
	else
		look->no_memory = true;
	free(copy);
}

static void put_more(const char *label, const char *text, struct look *look)
{
	if (*text)
		put(text, MORE_COLUMN, printf("%*s%s", FACT_COLUMN, "", label), look);
}

static void put_finding(const struct plumb_finding *f, struct look *look)
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
static void put_text(const struct plumb_doctor *d, bool of_process, struct look *look)
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

static int write_doctor(const struct config *c, const struct plumb_doctor *d, bool of_process)
{
	struct look look = {
		.width = term_width(STDOUT_FILENO), .color = term_color(c, STDOUT_FILENO), .utf8 = term_is_utf8()};
	struct failure why;

	put_text(d, of_process, &look);
	if (!look.no_memory)
		return 0;
	refuse(&why, "", "out of memory: the findings are not all here");
	return complain_failure(&why);
}

static int run(const struct command *cmd, struct config *c, int argc, char **argv)
{
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
		status = write_doctor(c, d, pid != 0);
	status = status ? status : finish_stdout();
	if (!status && !plumb_doctor_works(d))
		status = EXIT_DOES_NOT_WORK;
	plumb_doctor_destroy(d);
	return status;
}

const struct command command_doctor = {
	.name = "doctor",
	.usage = "[PID|NAME]",
	.summary = "what works on this machine or process, and which one change would make more work",
	.about = "Check this machine and this user or, with PID or NAME, that process, and say what can be "
		 "sampled. "
		 "'ok': it "
		 "works. 'no': it does not. '--': not there or not known, and not needed for what was asked. It stops "
		 "and "
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
