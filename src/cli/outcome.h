/* SPDX-License-Identifier: Apache-2.0 */
/* What `run` and `attach` do alike: take the options over, open a second output, tell the result. */
#ifndef OUTCOME_H
#define OUTCOME_H

#include "config.h"

/** A file in an output format, beside the recording. */
struct second_output {
	const char *format;	   /* NULL: none */
	struct plumb_output *file; /* NULL: not opened yet */
	bool beside;		   /* a page, named after the recording: opened at the end */
};

/** Decide what -o means, take over --threads, and open what will be written: a bad place is told before, not after. */
bool outcome_prepare(struct config *c, struct second_output *second, struct failure *why);
/** End the session, tell the report on stderr and write the second output. Returns 0 or EXIT_OWN_FAILURE; tells why. */
int outcome_tell(struct config *c, struct plumb_session *s, struct second_output *second, struct plumb_result *ret);
/** Close, and remove what was opened for nothing. */
void outcome_discard(struct second_output *second);

#endif
