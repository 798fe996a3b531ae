/* SPDX-License-Identifier: Apache-2.0 */
/* Layer export; pure, any thread. See size_limit.h. */
#include "size_limit.h"

#define BYTES_MAX    1e11
#define BYTES_BASE   1e9
#define BYTES_A_BYTE 1e5

static double limit_of(uint64_t file_bytes, double most, double base, double a_byte)
{
	double fair = base + a_byte * (double)file_bytes;

	return file_bytes && fair < most ? fair : most;
}

double pl_size_limit(const struct plumb_profile *p, double most, double base, double a_byte)
{
	return limit_of(p->meta.file_bytes, most, base, a_byte);
}

double pl_size_limit_of_files(uint64_t file_bytes)
{
	return limit_of(file_bytes, BYTES_MAX, BYTES_BASE, BYTES_A_BYTE);
}

double pl_size_limit_bytes(const struct plumb_profile *p)
{
	return pl_size_limit_of_files(p->meta.file_bytes);
}

struct plumb_error *pl_size_limit_exceeded(struct plumb_error *err)
{
	return pl_error_hint(
		err, "choose less of it (focus, time, threads), or a format that has each stack once, as html and "
		     "json do");
}
