/* SPDX-License-Identifier: Apache-2.0 */
/* All stacks of a process as text, for golden tests: what a reader sees must be the same text every time. */
#ifndef PL_TEST_STACKS_H
#define PL_TEST_STACKS_H

#include <stdio.h>

#include "detect.h"

/** One fact, "NAME=HEX"; anything else is ignored. */
void facts_parse(struct pl_py_facts *facts, const char *text);
/** The facts that a golden image keeps at address 16. False if there are none. */
bool image_facts(struct pl_mem *mem, struct pl_py_facts *ret);
/** Detect, then print every thread of every interpreter, innermost frame first. Errors of single threads are printed.
 */
struct plumb_error *stacks_print(struct pl_mem *mem, const struct pl_py_facts *facts, FILE *out);

#endif
