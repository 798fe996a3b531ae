/* SPDX-License-Identifier: Apache-2.0 */
/* The live view as lines: for pipes, logs and screen readers. */
#ifndef PLAIN_H
#define PLAIN_H

#include "feed.h"

/** A line each second until it is over; of a recording one. Returns the signal that ended it, or 0. */
int plain_run(struct feed *f);

#endif
