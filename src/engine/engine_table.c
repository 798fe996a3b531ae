/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine: the engines that there are. */
#include "engine.h"

const struct pl_engine_ops *const pl_engines[] = {&pl_engine_remote, NULL};
