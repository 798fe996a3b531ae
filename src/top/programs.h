/* SPDX-License-Identifier: Apache-2.0 */
/* The Pythons that run and may be sampled, to choose one of. None of them is sampled for it. */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include "table.h"
#include "top.h"

struct programs {
	const struct top_options *o;
	struct plumb_processes *now, *before; /* before: of the look before; NULL: none */
	uint64_t now_ms, before_ms;
	size_t count, refused;
	struct table table;
	char message[512]; /* of what was chosen last; "" */
};

/** On the terminal, which is open. The process that was chosen; 0: all is to end. */
int programs_choose(struct programs *p);
/** Tell what became of the one that was chosen; @p err is destroyed. */
void programs_tell_error(struct programs *p, struct plumb_error *err);
/** All of them on standard output, a line each. */
struct plumb_error *programs_print(struct programs *p) PLUMB_MUST_CHECK;
void programs_free(struct programs *p);

#endif
