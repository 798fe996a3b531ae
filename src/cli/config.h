/* SPDX-License-Identifier: Apache-2.0 */
/* What the options set, and the tables they are in. */
#ifndef CONFIG_H
#define CONFIG_H

#include <plumb/dump.h>

#include "opt.h"
#include "values.h"

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct config {
	struct plumb_session_options session;
	struct plumb_report_options report;
	struct word_list threads, processes;
	struct plumb_dump_options dump;
	const char *core;   /* dump --core; in argv */
	const char *output; /* -o; in argv */
	const char *format; /* NULL: not given */
	enum color color;
	int width; /* 0: that of the terminal */
	bool quiet, help;
	bool man; /* help: as a man page */
};

#define CONFIG_INIT                                                                                                    \
	{                                                                                                              \
		.session = PLUMB_SESSION_OPTIONS_INIT, .report = PLUMB_REPORT_OPTIONS_INIT,                            \
		.dump = PLUMB_DUMP_OPTIONS_INIT,                                                                       \
	}

void config_free(struct config *c);

/* Each ends with a NULL name. */
extern const struct opt options_sampling[]; /* run, attach: what and how to sample */
extern const struct opt options_rows[];	    /* which rows a report has */
extern const struct opt options_formats[];  /* report: what to write and where */
extern const struct opt options_dump[];	    /* dump */
extern const struct opt options_json[];	    /* doctor */
extern const struct opt options_common[];   /* every command: look and help */
extern const struct opt options_quiet[];    /* run, attach */
extern const struct opt options_man[];	    /* help */

#endif
