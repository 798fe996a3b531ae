/* SPDX-License-Identifier: Apache-2.0 */
/* An engine that gives the samples of a recording again, whatever the target is. */
#ifndef TEST_SESSION_REPLAY_H
#define TEST_SESSION_REPLAY_H

#include "engine.h"

extern const struct pl_engine_ops replay;
/** Which recording it is. */
extern const char *replay_path;

#endif
