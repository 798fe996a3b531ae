/* SPDX-License-Identifier: Apache-2.0 */
/* A log of decisions: why plumb did what it did. PLUMB_DEBUG=engine,process in the environment has those of these
 * domains written to stderr, PLUMB_DEBUG=all those of all. Off, which it is else, a call costs a comparison, and
 * nothing of it is computed. Not for what happens with each sample. docs/internals/debug-log.md */
#ifndef PL_DEBUG_H
#define PL_DEBUG_H

#include <stddef.h>

#include "error.h"

/** A set. */
enum pl_debug_domain {
	PL_DEBUG_ENGINE = 1,  /* whom is sampled, and how often */
	PL_DEBUG_PROCESS = 2, /* which Python it is, stops, native frames, who reads aside */
};

/** What is on. Set before main(). */
extern unsigned pl_debug_domains;

#define pl_debug(domain, ...)                                                                                          \
	do {                                                                                                           \
		if (pl_debug_domains & (domain))                                                                       \
			pl_debug_write((domain), __VA_ARGS__);                                                         \
	} while (0)

/** Any thread. errno stays. */
void pl_debug_write(enum pl_debug_domain domain, const char *fmt, ...) PL_PRINTF(2, 3);
/** The set that @p text names; *unknown_ret: the first word that names none, of *unknown_len bytes; 0: there is none.
 * Pure. */
unsigned pl_debug_parse(const char *text, const char **unknown_ret, size_t *unknown_len);

#endif
