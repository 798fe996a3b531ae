/* SPDX-License-Identifier: Apache-2.0 */
/* What `plumb top` runs. There are two of it: in plumb, which becomes plumb-top, and in plumb-top, which does it. */
#ifndef TOP_BEGIN_H
#define TOP_BEGIN_H

#include "cli.h"

int top_begin(const struct command *cmd, struct config *c, int argc, char **argv);

#endif
