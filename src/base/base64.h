/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 (RFC 4648, with padding, on one line), for bytes inside of text. */
#ifndef PL_BASE64_H
#define PL_BASE64_H

#include <stdio.h>

/** A stream for writing whose bytes go to @p out as base64; fclose() writes the end, and does not close @p out. What
 * goes wrong with @p out shows in ferror(out). NULL: no memory. */
FILE *pl_base64_open(FILE *out);

#endif
