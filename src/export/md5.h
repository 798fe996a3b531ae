/* SPDX-License-Identifier: Apache-2.0 */
/* MD5 (RFC 1321), for formats that choose colours by it. Not for anything that must be safe. */
#ifndef PL_MD5_H
#define PL_MD5_H

#include <stddef.h>
#include <stdint.h>

void pl_md5(const void *bytes, size_t len, uint8_t ret[16]);

#endif
