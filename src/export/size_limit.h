/* SPDX-License-Identifier: Apache-2.0 */
/* How much may be written of a profile in formats that write whole stacks, or names, again and again. More is what no
 * reader takes, and it would fill the disk before anyone could try. */
#ifndef PL_SIZE_LIMIT_H
#define PL_SIZE_LIMIT_H

#include "error.h"
#include "profile.h"

/** At most @p most; of a recording @p base and @p a_byte for each of its bytes, of which a sample takes some, if that
 * is less: two deep stacks that take turns are a kilobyte, and terabytes of frames. */
double pl_size_limit(const struct plumb_profile *p, double most, double base, double a_byte);
/** Of bytes. */
double pl_size_limit_bytes(const struct plumb_profile *p);
/** The same of several recordings together; 0: of anything. */
double pl_size_limit_of_files(uint64_t file_bytes);
/** The error that says what is too much, with what to do next. */
struct plumb_error *pl_size_limit_exceeded(struct plumb_error *err);

#endif
