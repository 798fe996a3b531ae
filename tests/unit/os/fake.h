/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the programs made from fake_main.c, and doing things as a user without privileges. */
#ifndef PL_TEST_FAKE_PROGRAM_H
#define PL_TEST_FAKE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
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
/** Make a library at @p path that is small on the disk and has @p symbols symbols, none of which is an interpreter's,
 * though all names are there that one is looked for by. */
void fake_large_elf(const char *path, size_t symbols);
/** Some of these in a directory of their own, called @p name and a number. */
#define FAKE_LARGE_FILES 8
struct fake_large {
	char dir[64], names[FAKE_LARGE_FILES][128];
	const char *paths[FAKE_LARGE_FILES];
};
void fake_large_make(struct fake_large *l, const char *name, size_t symbols);
void fake_large_remove(struct fake_large *l);
/** In a child that dies with us: map the first @p len bytes of @p n files, as code; returns when it has. */
pid_t fake_start_mapping(const char *const *paths, size_t n, size_t len);
/** What we have read so far, as the kernel counts it; false if it does not. */
bool fake_count_reads(unsigned long *calls, unsigned long *bytes);
/** Run @p work in a child that is user nobody if we are root; what it writes to its descriptor comes back in @p buf. */
void run_unprivileged(void (*work)(int out, const void *arg), const void *arg, char *buf, size_t size);

#endif
