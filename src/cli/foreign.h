/* SPDX-License-Identifier: Apache-2.0 */
/* What people who know other profilers will type, and what to use here. */
#ifndef FOREIGN_H
#define FOREIGN_H

struct foreign {
	const char *name;   /* option as written, or command */
	const char *tool;   /* whose it is: "py-spy's" */
	const char *answer; /* what to do instead; a whole hint */
};

/** NULL if @p option ("--native", "-n") is nobody's. */
const struct foreign *foreign_option(const char *option);
const struct foreign *foreign_command(const char *name);

#endif
