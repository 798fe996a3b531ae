/* SPDX-License-Identifier: Apache-2.0 */
/* A dump in words: what a thread is doing, as one sentence. Inside the layer only. */
#ifndef PL_DUMP_WORDS_H
#define PL_DUMP_WORDS_H

#include <stdio.h>

#include "dump_model.h"

/** "blocked in recv on fd 7, tcp 127.0.0.1:40000 -> 127.0.0.1:8000 (connected), holds the GIL". Text of the target goes
 * out as it is: whoever shows it makes it printable. */
void pl_dump_words(const struct pl_dump_process *p, const struct pl_dump_thread *t, FILE *out);
/** The descriptors it waits for, if there are several: one a row, in the end how many more. */
size_t pl_dump_rows(const struct pl_dump_thread *t);
void pl_dump_row(const struct pl_dump_thread *t, size_t i, FILE *out);
/** Is this what one looks for when a program hangs? */
bool pl_dump_is_suspect(const struct pl_dump_thread *t);

#endif
