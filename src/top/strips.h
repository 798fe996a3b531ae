/* SPDX-License-Identifier: Apache-2.0 */
/* What each thread did in each second of the last minutes. */
#ifndef STRIPS_H
#define STRIPS_H

#include <plumb/plumb.h>

#define STRIPS_SECONDS 60
#define STRIPS_KEPT    660 /* for the last ten minutes */

struct strips;

/** NULL without memory. */
struct strips *strips_create(void);
void strips_destroy(struct strips *s);
/** One more second, of which @p second tells. */
void strips_add(struct strips *s, const struct plumb_view *second);
/** Strips end so many seconds before the last one that was added. */
void strips_show(struct strips *s, uint64_t ago);
/** The strip of a thread, the last second shown at its end; a character for each of @p seconds. */
void strips_text(const struct strips *s, const struct plumb_view_thread *t, int seconds, bool unicode, char *buf,
		 size_t size);

#endif
