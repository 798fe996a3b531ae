/* SPDX-License-Identifier: Apache-2.0 */
/* Man pages, as roff for man(7). */
#ifndef MAN_H
#define MAN_H

#include "cli.h"

/** plumb(1). */
void man_overview(FILE *out);
/** plumb-NAME(1). */
void man_command(const struct command *cmd, FILE *out);

#endif
