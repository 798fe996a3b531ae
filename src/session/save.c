/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: a profile that was refined, added up or imported becomes a recording as any other. One thread at a
 * time. */
#include "save.h"

#include <plumb/plumb.h>

#include <stdio.h>
#include <stdlib.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture.h"

struct saving {
	const struct plumb_profile *profile;
	struct pl_capture_writer *writer;
};

/* A chunk is as large as it can be: nobody waits for it, and cells come in no order of time. */
static struct plumb_error *save_sample(void *ctx, const struct pl_sample *s)
{
	struct saving *x = ctx;
	struct plumb_error *err = pl_capture_add(x->writer, s);

	if (!err && pl_capture_is_full(x->writer))
		err = pl_capture_flush(x->writer, x->profile);
	return err;
}

struct plumb_error *pl_save_to(const struct plumb_profile *p, struct pl_capture_writer *w)
{
	struct saving x = {.profile = p, .writer = w};
	struct plumb_error *err = pl_profile_each(p, save_sample, &x);

	if (!err)
		err = pl_capture_finish(w, p);
	pl_capture_destroy(w);
	return err;
}

struct plumb_error *pl_save(const struct plumb_profile *p, int fd)
{
	struct pl_capture_writer *w;
	struct plumb_error *err = pl_capture_create_at(fd, "the recording", p, &w);

	return err ? err : pl_save_to(p, w);
}

static struct plumb_error *save_as(const struct plumb_profile *p, const char *path)
{
	struct pl_capture_writer *w;
	struct plumb_error *err = pl_capture_create(path, p, &w);

	return err ? err : pl_save_to(p, w);
}

/* Under another name first: @p p may be read from what is there. */
static struct plumb_error *replace(const struct plumb_profile *p, const char *path)
{
	char *fresh;

	if (asprintf(&fresh, "%s.%d.new", path, (int)getpid()) < 0)
		return &pl_err_no_memory;
	struct plumb_error *err = save_as(p, fresh);
	if (!err && rename(fresh, path))
		err = pl_error_errno(PLUMB_ERR_WRITE_FAILED, errno, "cannot write %s", path);
	if (err)
		unlink(fresh);
	free(fresh);
	return err;
}

struct plumb_error *plumb_profile_save(const struct plumb_profile *p, const char *path)
{
	struct stat st;
	bool special = stat(path, &st) == 0 && !S_ISREG(st.st_mode);

	return special ? save_as(p, path) : replace(p, path);
}
