/* SPDX-License-Identifier: Apache-2.0 */
/* Which process of a line of forks this is. */
#ifndef PL_FORKS_H
#define PL_FORKS_H

/** The same number in the same process; another one in a child. Async-signal-safe once it has been called. */
unsigned pl_forks_generation(void);

#endif
