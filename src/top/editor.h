/* SPDX-License-Identifier: Apache-2.0 */
/* The user's editor. */
#ifndef EDITOR_H
#define EDITOR_H

#include <stdbool.h>
#include <stddef.h>

/** Start the editor ($VISUAL, $EDITOR, else vi) at that line of @p file, which is what a sampled program says, on the
 * terminal, which is given back meanwhile; return when it has ended. False: @p why tells what stands against it. */
bool editor_open(const char *file, unsigned line, char *why, size_t size);

#endif
