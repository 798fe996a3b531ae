/* SPDX-License-Identifier: Apache-2.0 */
/* What people who know other profilers will type, and what to use here. */
#ifndef FOREIGN_H
#define FOREIGN_H

struct foreign {
	const char *name;    /* option as written, or command */
	const char *tool;    /* whose it is: "py-spy's" */
	const char *answer;  /* what to do instead; a whole hint */
	const char *command; /* the command of ours for which that is the answer; NULL: any */
};

/** All of them; end with a NULL name. */
extern const struct foreign foreign_options[], foreign_commands[];

/** What to say of @p option ("--native", "-n") where it was given to @p command; NULL if it is nobody's. */
const struct foreign *foreign_option(const char *option, const char *command);
const struct foreign *foreign_command(const char *name);

#endif
