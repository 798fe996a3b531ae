/* SPDX-License-Identifier: Apache-2.0 */
/* Layer export; pure, any thread. See size_limit.h. */
#include "size_limit.h"

#define BYTES_MAX    1e11
#define BYTES_BASE   1e9
#define BYTES_A_BYTE 1e5

double pl_size_limit(const struct plumb_profile *p, double most, double base, double a_byte)
{
	double fair = base + a_byte * (double)p->meta.file_bytes;

	return p->meta.file_bytes && fair < most ? fair : most;
}

double pl_size_limit_bytes(const struct plumb_profile *p)
{
	return pl_size_limit(p, BYTES_MAX, BYTES_BASE, BYTES_A_BYTE);
}
