/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of `plumb help`. */
#ifndef HELP_H
#define HELP_H

#include <stdio.h>

/** All commands and topics, one line each. */
void help_overview(int width, FILE *out);

#endif
