/* SPDX-License-Identifier: Apache-2.0 */
/* The files that were named as the program's own code (layer model). */
#include "profile.h"

#include <string.h>

#include "buf.h"
#include "refine.h"

/* Each function is compared with all of it, and a recording is anybody's. */
#define NAMES_MAX_BYTES 1024u

struct plumb_error *pl_profile_set_own(struct plumb_profile *p, const char *const *names, size_t count)
{
	struct pl_buf all = PL_BUF_INIT(NAMES_MAX_BYTES);
	struct plumb_error *err = NULL;

	for (size_t i = 0; i < count && !err; i++)
		err = all.len + strlen(names[i]) >= NAMES_MAX_BYTES
			      ? pl_error(PLUMB_ERR_LIMIT, "the names of own code are more than %u bytes together",
					 NAMES_MAX_BYTES)
			      : pl_buf_add(&all, names[i], strlen(names[i]) + 1);
	if (!err)
		err = pl_profile_string(p, all.data, all.len, &p->meta.own);
	pl_buf_deinit(&all);
	return err;
}

bool pl_profile_is_own(const struct plumb_profile *p, uint32_t file)
{
	size_t len = 0;
	const char *name = pl_strtab_get(p->strings, p->meta.own, &len), *end = name + len;

	if (len > NAMES_MAX_BYTES)
		return false;
	for (; name < end; name += strlen(name) + 1) {
		if (pl_refine_is_module(pl_strtab_get(p->strings, file, NULL), name))
			return true;
	}
	return false;
}
