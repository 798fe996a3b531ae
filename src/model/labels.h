/* SPDX-License-Identifier: Apache-2.0 */
/* Labels: what the program said a thread worked for, as names with values ("route" is "/x"). Those of a sample are its
 * tag. A tag is no frame, but stacks stand on it: it is the row of functions whose `labels` are not 0, and the node
 * below the frames of each stack that bears it. So a stack id tells frames and labels, and whatever counts, merges and
 * filters by stacks does so by labels. docs/design/018-labels.md */
#ifndef PL_LABELS_H
#define PL_LABELS_H

#include "profile.h"

#define PL_LABELS_MAX 16 /* of a tag; further ones are not looked at */

struct pl_label {
	const char *name, *value; /* each with a NUL behind it; any bytes else */
	size_t name_len, value_len;
};

/** The stack without frames whose samples bear @p labels: names and values, each with a NUL behind it. @p text is what
 * the tag is called where it is shown; without @p labels (@p len 0) they are those that it names. *ret: frames go on
 * it. */
struct plumb_error *pl_profile_tag(struct plumb_profile *p, const char *text, const void *labels, size_t len,
				   uint32_t *ret) PLUMB_MUST_CHECK;
/** String of the labels that @p text names: "[method=GET, route=/x]"; 0 if it is no such text. For what was recorded
 * without labels: of a value that contains ", x=" it makes two. */
struct plumb_error *pl_labels_of_text(struct plumb_profile *p, const char *text, size_t len,
				      uint32_t *ret) PLUMB_MUST_CHECK;

/** How many labels that string of names and values tells, and which; as pl_function_labels. */
unsigned pl_labels_in(const struct plumb_profile *p, uint32_t string, struct pl_label ret[PL_LABELS_MAX]);
/** How many labels that row of functions has, and which. They live as long as the profile is not changed. */
unsigned pl_function_labels(const struct plumb_profile *p, uint32_t function, struct pl_label ret[PL_LABELS_MAX]);
/** Of each stack the node that is its tag, 0: it has none. @p ret: as many as there are stacks, all 0. */
void pl_tag_nodes(const struct plumb_profile *p, uint32_t *ret);

/** Whether a tag with these labels is asked for by @p asked: "name=value", or "name" for any value. Of each name that
 * is asked for, one has to be there. */
bool pl_labels_match(const struct pl_label *labels, unsigned count, const char *const *asked, size_t asked_count);

#endif
