/* SPDX-License-Identifier: Apache-2.0 */
/* The live view: what a program does now, and what it has done since one looks. */
#ifndef TOP_H
#define TOP_H

#include <plumb/plumb.h>

struct top_options {
	struct plumb_session_options session;
	struct plumb_report_options report; /* filters; `note` is told what should be known when it is over */
	/* What is watched: one of these, or what is chosen from a list. */
	const int *pids; /* NULL: not this */
	size_t pid_count;
	int pid;		    /* the one that was chosen */
	char *const *program;	    /* to be started; NULL: not this */
	const char *recording;	    /* to be read; NULL: not this */
	bool choose;		    /* none of them: all Pythons are listed */
	bool plain, color, unicode; /* plain: lines, no screen */
	/* Show the file @p path in a browser. False: @p why tells what stands against it. */
	bool (*browse)(const char *path, char *why, size_t size);
};

/** Watch until the user or the program ends it. *status: the program's wait status, where it was started; -1 if that is
 * not known. Errors: those of the session, or of reading the recording. */
struct plumb_error *top_run(const struct top_options *o, int *status) PLUMB_MUST_CHECK;

#endif
