/* SPDX-License-Identifier: Apache-2.0 */
/* Layer export; any thread. See answer.h. */
#include "answer.h"

struct plumb_error *pl_answer_make(struct pl_answer *a, const struct plumb_profile *p, const struct pl_filter *f,
				   bool unicode, double min_share)
{
	struct plumb_error *err = pl_summary_make(p, f, unicode, &a->summary);

	if (!err)
		err = pl_own_code_tree(p, f, min_share, &a->tree);
	if (!err)
		err = pl_view_functions(p, f, &a->functions);
	if (!err)
		err = pl_summary_find(&a->summary, p, f);
	if (!err)
		pl_summary_judge(&a->summary, p, &a->tree);
	return err;
}

void pl_answer_deinit(struct pl_answer *a)
{
	pl_vec_deinit(&a->tree);
	pl_vec_deinit(&a->functions);
}

size_t pl_answer_with_self(const struct pl_answer *a)
{
	size_t count = 0;

	while (count < a->functions.len && a->functions.data[count].self.samples)
		count++;
	return count;
}
