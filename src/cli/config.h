/* SPDX-License-Identifier: Apache-2.0 */
/* What the options set, and the tables they are in. */
#ifndef CONFIG_H
#define CONFIG_H

#include <plumb/diff.h>
#include <plumb/dump.h>

#include "opt.h"
#include "values.h"

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct config {
	struct plumb_session_options session;
	struct plumb_report_options report;
	struct word_list threads, processes, modules, tags, own, names;
	char *made_by; /* the command line, for what is written */
	struct plumb_dump_options dump;
	struct plumb_diff_options diff;
	struct value_amounts per; /* diff --per */
	int split;		  /* operands before "--"; -1: there was none */
	const char *core;	  /* dump --core; in argv */
	const char *output;	  /* -o; in argv */
	bool chosen;		  /* `output` is plumb's choice, not of -o */
	bool force;		  /* whatever is there may be replaced */
	const char *format;	  /* NULL: not given */
	const char *from;	  /* --from; NULL: not given */
	enum color color;
	int width; /* 0: that of the terminal */
	bool quiet, help;
	bool announce;	/* attach: say when it samples */
	uint64_t after; /* attach: a thread that has to have ended by then; 0: none */
	bool open;	/* show the page */
	bool man;	/* help: as a man page */
	bool plain;	/* top: lines instead of a screen */
	bool rate_given;
	char *const *words; /* the command line from the name of the command on, as it was given; ends with NULL */
};

#define CONFIG_INIT                                                                                                    \
	{                                                                                                              \
		.session = PLUMB_SESSION_OPTIONS_INIT, .report = PLUMB_REPORT_OPTIONS_INIT,                            \
		.dump = PLUMB_DUMP_OPTIONS_INIT, .diff = PLUMB_DIFF_OPTIONS_INIT, .split = -1,                         \
	}

void config_free(struct config *c);
/** What may be replaced by what -o names. */
enum plumb_output_name config_output_name(const struct config *c);
/** Tell a profile which code was named as the program's own, where it was. */
struct plumb_error *config_own(const struct config *c, struct plumb_profile *p) PLUMB_MUST_CHECK;
/** Hand the lists, the command line and the notes over to c->report. */
void config_report(struct config *c);

/* Each ends with a NULL name. */
extern const struct opt options_sampling[];  /* run, attach: what and how to sample */
extern const struct opt options_rows[];	     /* which rows a report has */
extern const struct opt options_text[];	     /* run, attach, report: how much of its text is wanted */
extern const struct opt options_idle[];	     /* report, convert, diff: idle threads and samples */
extern const struct opt options_filters[];   /* which samples and frames are written; --threads is apart */
extern const struct opt options_native[];    /* report, convert, diff: those that sample have it among theirs */
extern const struct opt options_called[];    /* attach, top: processes by their name */
extern const struct opt options_own[];	     /* run, attach, report, convert, diff: which code is the program's own */
extern const struct opt options_names[];     /* report, convert, diff: how names are written */
extern const struct opt options_formats[];   /* report, convert: the formats of what is read and written */
extern const struct opt options_recording[]; /* merge, symbolize: the one that is written */
extern const struct opt options_output[];    /* report, diff: where to write; operands tell convert */
extern const struct opt options_force[];     /* every command that writes a file */
extern const struct opt options_width[];     /* report, diff, dump: of their text */
extern const struct opt options_threads[];   /* report, convert, diff: run and attach have it among those of sampling */
extern const struct opt options_diff[];	     /* diff: what is compared */
extern const struct opt options_diff_forms[]; /* diff: in which format */
extern const struct opt options_dump[];	      /* dump */
extern const struct opt options_json[];	      /* report, diff, dump, doctor */
extern const struct opt options_html[];	      /* run, attach, report, diff */
extern const struct opt options_common[];     /* every command: look and help */
extern const struct opt options_quiet[];      /* run, attach */
extern const struct opt options_man[];	      /* help */

/* The words of --state and --kind, and of --mode, --flavour, --names and --native. */
extern const struct value_bit option_states[], option_kinds[];
extern const char *const option_modes[], *const option_flavours[], *const option_name_kinds[], *const option_native[];

/* Of options that mean something else in another table: what a recording holds, or what is written of it. */
bool option_set_threads(struct config *c, const char *value, struct failure *why);
bool option_set_output(struct config *c, const char *value, struct failure *why);

#endif
