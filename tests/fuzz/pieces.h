/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings from the bytes that a fuzzer makes up. */
#ifndef PL_FUZZ_PIECES_H
#define PL_FUZZ_PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "buf.h"

/** Append a recording. An input that begins like one is taken as it is. Any other is cut into pieces, each of which
 * becomes the payload of a chunk with good sums: a fuzzer does not find two checksums by itself. A piece is
 *
 *   u8 flags (1: last chunk, 2: one is missing before it), u16 number of samples, u16 length, content
 */
void recording_of_pieces(const uint8_t *data, size_t size, struct pl_buf *file);
/** An open file with these bytes, at its beginning. */
int recording_file(const struct pl_buf *file);

#endif
