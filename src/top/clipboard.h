/* SPDX-License-Identifier: Apache-2.0 */
/* How a terminal is asked to put text into its clipboard (OSC 52 of xterm). */
#ifndef CLIPBOARD_H
#define CLIPBOARD_H

#include <stdbool.h>
#include <stddef.h>

/** What to write for it to the terminal @p name (of $TERM), within GNU screen or not. False: it would not understand,
 * or the text is too long. */
bool clipboard_sequence(const char *text, const char *name, bool in_screen, char *buf, size_t size);

#endif
