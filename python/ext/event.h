/* SPDX-License-Identifier: Apache-2.0 */
/* plumb.event, for the rest of the extension module. */
#ifndef PLUMB_EXT_EVENT_H
#define PLUMB_EXT_EVENT_H

#include "profiler.h"

/** Put event() and its like into the module, and where the ring is. */
int ext_add_events(PyObject *module);

#endif
