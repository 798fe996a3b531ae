/* SPDX-License-Identifier: Apache-2.0 */
/* The stream that a format writes to. */
#ifndef PL_STREAM_H
#define PL_STREAM_H

#include <stdbool.h>
#include <stdio.h>

/**
 * A stream to a copy of @p fd, to be closed with fclose; NULL with errno. If that is a terminal, what could command it
 * is written as an escape such as \x1b, whatever the format: names are anybody's. @p colours: but for what chooses
 * colours; for formats that write them, and make names printable themselves. Files and pipes get the bytes as they are.
 */
FILE *pl_stream_open(int fd, bool colours);

#endif
