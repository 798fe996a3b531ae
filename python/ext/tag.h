/* SPDX-License-Identifier: Apache-2.0 */
/* Tags, for the rest of the extension module. */
#ifndef PLUMB_EXT_TAG_H
#define PLUMB_EXT_TAG_H

#include "profiler.h"

#include <plumb/tags.h>

/** Put the type Tag and its functions into the module. */
int ext_add_tags(PyObject *module);
/** For a session's options, at any time; never NULL. Lives as long as the process. */
const struct plumb_tags *ext_tags(void);

#endif
