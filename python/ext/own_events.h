/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of events of this process. */
#ifndef PLUMB_EXT_OWN_EVENTS_H
#define PLUMB_EXT_OWN_EVENTS_H

#include <stddef.h>
#include <stdint.h>

/** Where sessions of other processes look; the same for all interpreters. */
uint64_t ext_event_place(void);
/** Leave an event: its name, then its labels. Any thread, at any time; no lock is taken. Without memory nothing
 * happens. */
void ext_event_leave(const char *text, size_t name_len, size_t labels_len);

#endif
