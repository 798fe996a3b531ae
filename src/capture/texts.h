/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/capture: the texts of files that are new or changed since the last chunk. They come in chunks of their
 * own, behind the samples: what they cost in room and time is never a sample's. */
#ifndef PL_CAPTURE_TEXTS_H
#define PL_CAPTURE_TEXTS_H

#include "buf.h"
#include "profile.h"
#include "vec.h"

/** What is in the file already: the revision of each row of p->sources; 0: not yet. Starts as zeros. */
struct pl_text_marks {
	PL_VEC(uint32_t) revisions;
};
void pl_text_marks_deinit(struct pl_text_marks *m);

bool pl_texts_are_new(const struct plumb_profile *p, const struct pl_text_marks *m);
/** Append at least one text that is new, and no more when they take about PL_TABLES_MAX_BYTES. @p to, which is
 * initialised by this call and owned by the caller, is what is in the file with it. */
struct plumb_error *pl_texts_encode(const struct plumb_profile *p, const struct pl_text_marks *m, struct pl_buf *raw,
				    struct pl_text_marks *to) PLUMB_MUST_CHECK;

#endif
