/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: what an older recording tells is not lost for one that tells nothing, as at the end of a session
 * (record.c). */
#include "older.h"

#include <sys/stat.h>

#include <plumb/profile.h>

#include "save.h"

/* That it was paused, or that the program said something, is little beside samples. */
static bool tells_something(const struct plumb_profile *p)
{
	return p->cell_count || p->wait_count;
}

/* One that cannot be read is not known to tell nothing. What is no recording is another rule's matter. */
static struct plumb_error *has_to_tell(const char *path, bool *ret)
{
	struct plumb_profile *older;
	struct stat st;

	*ret = false;
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return NULL;
	struct plumb_error *err = plumb_profile_open_as(path, PL_RECORDING_FORMAT, NULL, &older);
	enum plumb_error_code code = plumb_error_code(err);
	if (!err) {
		*ret = tells_something(older);
		plumb_profile_destroy(older);
		return NULL;
	}
	if (code == PLUMB_ERR_NO_MEMORY)
		return err;
	plumb_error_destroy(err);
	*ret = code != PLUMB_ERR_NOT_A_RECORDING && code != PLUMB_ERR_EMPTY && code != PLUMB_ERR_NOT_FOUND;
	return NULL;
}

struct plumb_error *pl_older_gives_way(const struct plumb_profile *p, const char *path)
{
	bool stays;

	if (!path || tells_something(p))
		return NULL;
	struct plumb_error *err = has_to_tell(path, &stays);
	if (err || !stays)
		return err;
	return pl_error(PLUMB_ERR_EXISTS, "%s stays as it was: it is a recording, and there is no sample to replace it",
			path);
}
