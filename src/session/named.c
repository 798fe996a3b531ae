/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session; see named.h. */
#include "named.h"

#include "error.h"
#include "summary.h"

struct plumb_error *pl_check_names(const struct plumb_profile *const *profiles, size_t count, const struct pl_filter *f)
{
	struct pl_item unmatched;

	if (!pl_summary_unmatched(profiles, count, f, true, &unmatched))
		return NULL;
	return pl_error_hint(pl_error(PLUMB_ERR_INVALID, "%s", unmatched.text), "give names or numbers of those");
}
