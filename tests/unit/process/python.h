/* SPDX-License-Identifier: Apache-2.0 */
/* A real interpreter as the target of a test: it runs a script, says lines and is told lines. Everything is bounded;
 * what goes wrong ends the test. */
#ifndef PL_TEST_PYTHON_H
#define PL_TEST_PYTHON_H

#include <sys/types.h>

#include "reading.h"

struct python {
	const char *exe;
	pid_t pid;
	int in, out;
	struct pl_mem_live *live;
	struct pl_py py;
	struct pl_interp interp;
	struct pl_tstate main; /* the first thread that the list gives */
	struct pl_tables tables;
	struct pl_reader reader;
};

/** Says "ready", or "old" where tasks are not read: what looks like 16,000 tasks, all with the same attributes. These
 * are few pages, and each name is searched for in vain. */
extern const char python_like_tasks[];

/** The @p i-th interpreter to test with, NULL after the last. */
const char *python_exe(size_t i);
void python_start(struct python *p, const char *exe, const char *script);
/** The next line it says, without the newline. */
void python_hear(struct python *p, char *line, size_t size);
/** Start it and wait until it has said "ready", and sleeps; false if it says something else. */
bool python_sleeps(struct python *p, const char *exe, const char *script);
void python_say(struct python *p, const char *text);
/** Find its Python and its main thread; false for a release that is not supported (says so). */
bool python_attach(struct python *p);
/** Kill it, free all. */
void python_end(struct python *p);
/** @p check each interpreter that is supported, started on @p script and attached to when it has said a line. */
void python_each(const char *script, void (*check)(struct python *p, void *ctx), void *ctx);

#define PYTHON_MAX_DEPTH 64
struct python_chain {
	size_t depth;
	const char *names[PYTHON_MAX_DEPTH]; /* root first */
};
/** The functions of a stack. */
void python_chain(const struct python *p, uint32_t node, struct python_chain *ret);
void assert_chain(const struct python *p, uint32_t node, const char *const *names, size_t n);

#endif
