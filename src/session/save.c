/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: a profile that was refined, added up or imported becomes a recording as any other. One thread at a
 * time. */
#include "save.h"

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
