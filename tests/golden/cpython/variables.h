/* SPDX-License-Identifier: Apache-2.0 */
/* Text of the variables of all frames, and of all asyncio tasks, made with nothing but src/cpython. */
#ifndef PL_TEST_VARIABLES_H
#define PL_TEST_VARIABLES_H

#include "stacks.h"

typedef struct plumb_error *text_print_fn(struct pl_mem *mem, const struct pl_py_facts *facts, FILE *out);

text_print_fn variables_print, tasks_print;
/** stacks, variables or tasks; NULL for any other name. */
text_print_fn *text_print_find(const char *name);

#endif
