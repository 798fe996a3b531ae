/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: a profile that was refined, added up or imported becomes a recording as any other. One thread at a
 * time. */
#include "save.h"

#include <plumb/plumb.h>

#include "capture.h"
#include "older.h"

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

static struct plumb_error *save_to(const struct plumb_profile *p, struct pl_capture_writer *w)
{
	struct saving x = {.profile = p, .writer = w};
	struct plumb_error *err = NULL;

	for (uint32_t i = 0; i < p->event_count && !err; i++)
		err = pl_capture_event(w, &p->events[i]);
	if (!err)
		err = pl_profile_each(p, save_sample, &x);
	if (!err)
		err = pl_capture_finish(w, p);
	if (!err)
		err = pl_capture_publish(w);
	pl_capture_destroy(w);
	return err;
}

struct plumb_error *pl_save(const struct plumb_profile *p, int fd)
{
	struct pl_capture_writer *w;
	struct plumb_error *err = pl_capture_create_at(fd, "the recording", p, &w);

	return err ? err : save_to(p, w);
}

/* The old file stays until all is written: @p p may be read from it. */
struct plumb_error *pl_save_as(const struct plumb_profile *p, const char *path, bool force)
{
	struct pl_capture_writer *w;
	struct pl_new_file file;
	struct plumb_error *err = pl_older_gives_way(p, force ? NULL : path);

	if (!err)
		err = pl_new_file_open(path, force ? PL_REPLACE_ALL : PL_REPLACE_NAMED, &file);
	if (!err)
		err = pl_capture_create_in(&file, p, &w);
	return err ? err : save_to(p, w);
}

struct plumb_error *plumb_profile_save_as(const struct plumb_profile *p, const char *path, bool force)
{
	return pl_save_as(p, path, force);
}

struct plumb_error *plumb_profile_save(const struct plumb_profile *p, const char *path)
{
	return pl_save_as(p, path, false);
}
