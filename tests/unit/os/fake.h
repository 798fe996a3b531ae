/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the programs made from fake_main.c, and doing things as a user without privileges. */
#ifndef PL_TEST_FAKE_H
#define PL_TEST_FAKE_H

#include <sys/types.h>

struct fake {
	pid_t pid;
	unsigned long runtime, code_type, version; /* where the program says they are */
};

/** Path of the program @p name: the build directory is in FAKE_DIR. */
const char *fake_path(const char *name, char *buf, size_t size);
/** Start @p path with @p argv (NULL: its path alone) and return when it waits. */
struct fake fake_start(const char *path, char *const argv[]);
/** Kill it and collect it. */
void fake_end(struct fake *f);
/** Run @p work in a child that is user nobody if we are root; what it writes to its descriptor comes back in @p buf. */
void run_unprivileged(void (*work)(int out, const void *arg), const void *arg, char *buf, size_t size);

#endif
