/* SPDX-License-Identifier: Apache-2.0 */
/* A function with others compiled into it, the innermost of which makes a call; and the lines of that. */
#include <stdint.h>

#pragma GCC visibility push(default)
uintptr_t lines_outer(uintptr_t (*call)(void));
void lines_first(void);
extern const unsigned lines_inner_at, lines_middle_at, lines_outer_at;
#pragma GCC visibility pop

static volatile uintptr_t seen;

/* What begins where its unit does has an empty list of ranges up to version 4, by GCC. */
void lines_first(void)
{
	seen = 0;
}

const unsigned lines_inner_at = __LINE__ + 3;
static inline __attribute__((always_inline)) uintptr_t inner(uintptr_t (*call)(void))
{
	const uintptr_t n = call();

	seen = n;
	return n + 1;
}

const unsigned lines_middle_at = __LINE__ + 3;
static inline __attribute__((always_inline)) uintptr_t middle(uintptr_t (*call)(void))
{
	const uintptr_t n = inner(call);

	seen = n;
	return n + 1;
}

const unsigned lines_outer_at = __LINE__ + 3;
uintptr_t lines_outer(uintptr_t (*call)(void))
{
	const uintptr_t n = middle(call);

	seen = n;
	return n + 1;
}
