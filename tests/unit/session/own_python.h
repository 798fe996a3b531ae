/* SPDX-License-Identifier: Apache-2.0 */
/* A Python in this very process: Debian's shared library. Its threads run what they are told. */
#ifndef PL_TEST_OWN_PYTHON_H
#define PL_TEST_OWN_PYTHON_H

#include <stdbool.h>

/** False (and says so) where there is no such library. Afterwards no thread of the caller holds the GIL. */
bool own_python_begin(void);
/** Run @p script in the main module; the GIL is held meanwhile. */
void own_python_run(const char *script);
/** What the int variable @p name of the main module is. */
long own_python_int(const char *name);

#endif
