/* SPDX-License-Identifier: Apache-2.0 */
/* Showing a file in the user's browser. */
#ifndef BROWSER_H
#define BROWSER_H

#include "cli.h"

/** Start the browser of $BROWSER (several are tried in turn, with colons between them), else xdg-open, with the file
 * @p path. It is on its own then: no child, and not of this terminal. False if there is none; where there is no display
 * it is waited for xdg-open, which may find none. */
bool browser_open(const char *path, struct failure *why);
/** Whether there is one to try. */
bool browser_likely(void);

#endif
