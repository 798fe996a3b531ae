/* SPDX-License-Identifier: Apache-2.0 */
/* Names of C++, Rust and Cython as people write them. Names are hostile input: a short one can take for ever, or crash
 * whoever reads it. So that is done by a process of its own, which has a copy of our memory, no descriptor, and little
 * time. */
#ifndef PL_DEMANGLE_H
#define PL_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PL_DEMANGLED 4096 /* bytes of a name, with its end */

struct pl_demangle_desk; /* private */

/** Who demangles. Starts as {0}; one thread at a time. */
struct pl_demangler {
	struct pl_demangle_desk *desk; /* what both processes see */
	void *stack;		       /* of the process, with what lies below */
	pid_t pid;		       /* 0: there is none */
	int failed;		       /* names that it came to no end with: after some nobody is asked any more */
};

/** Can this build demangle those of C++ and Rust? Those of Cython it can in any case. */
bool pl_can_demangle(void);
/** The name of function @p symbol into @p buf: `std::vector<int>::push_back(int const&)`. What is too long for it ends
 * with "...". False: it is not mangled, or no name that we can read, and shown as it is; *buf is as it was. */
bool pl_demangle(struct pl_demangler *d, const char *symbol, char buf[static PL_DEMANGLED]);
/** The same, and else the symbol itself. Of one that is long no more is read than @p buf has room for: it may be that
 * of many places. */
void pl_demangle_or_keep(struct pl_demangler *d, const char *symbol, char buf[static PL_DEMANGLED]);
/** All 0 afterwards. */
void pl_demangler_deinit(struct pl_demangler *d);

#endif
