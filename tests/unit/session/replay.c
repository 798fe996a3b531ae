/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest engine there can be: what it samples is in a file. It has no thread of its own. */
#include "replay.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture.h"
#include "clock.h"
#include "vec.h"

const char *replay_path;

struct pl_engine {
	struct plumb_profile *from;
	PL_VEC(struct pl_sample) samples;
	size_t given;
	atomic_bool over;
};

static struct plumb_error *replay_probe(const struct pl_engine_options *o, unsigned *can_ret)
{
	*can_ret = 0;
	return replay_path ? NULL : pl_error(PLUMB_ERR_INVALID, "there is no recording to replay");
}

static struct plumb_error *keep(void *ctx, const struct pl_sample *s)
{
	struct pl_engine *e = ctx;

	return pl_vec_push(&e->samples, *s) ? NULL : &pl_err_no_memory;
}

static void replay_close(struct pl_engine *e)
{
	pl_vec_deinit(&e->samples);
	pl_profile_destroy(e->from);
	free(e);
}

static struct plumb_error *replay_open(const struct pl_engine_options *o, struct pl_engine **ret)
{
	struct pl_engine *e = calloc(1, sizeof *e);
	struct pl_capture_info info;
	int fd = open(replay_path, O_RDONLY | O_CLOEXEC);
	struct plumb_error *err = e ? pl_profile_create(&e->from) : &pl_err_no_memory;

	err = err ? err : pl_capture_read(fd, e->from, keep, e, &info);
	close(fd);
	if (err && e)
		replay_close(e);
	*ret = err ? NULL : e;
	return err;
}

/* There is nothing to start, and nothing goes wrong meanwhile. */
static struct plumb_error *nothing(struct pl_engine *e)
{
	return NULL;
}

static void replay_wait(struct pl_engine *e, int timeout_ms)
{
}

static struct plumb_error *give_string(const struct plumb_profile *from, struct plumb_profile *p, uint32_t *id)
{
	size_t len;
	const char *text = pl_strtab_get(from->strings, *id, &len);

	return pl_profile_string(p, text, len, id);
}

static struct plumb_error *give_frame(const struct plumb_profile *from, struct plumb_profile *p, uint32_t *location)
{
	struct pl_location l = from->locations[*location];
	struct pl_function f = from->functions[l.function];
	struct plumb_error *err = give_string(from, p, &f.name);

	err = err ? err : give_string(from, p, &f.qualname);
	err = err ? err : give_string(from, p, &f.file);
	err = err ? err : pl_profile_function(p, &f, &l.function);
	return err ? err : pl_profile_location(p, &l, location);
}

static struct plumb_error *give_stack(const struct plumb_profile *from, struct plumb_profile *p, uint32_t *stack)
{
	struct pl_stack s = from->stacks[*stack];

	if (!*stack)
		return NULL;
	struct plumb_error *err = give_stack(from, p, &s.parent);
	err = err ? err : give_frame(from, p, &s.location);
	return err ? err : pl_profile_stack(p, s.parent, s.location, stack);
}

static struct plumb_error *give_thread(const struct plumb_profile *from, struct plumb_profile *p, uint32_t *thread)
{
	struct pl_thread t = from->threads[*thread];
	struct pl_process proc = from->processes[t.process];
	struct plumb_error *err = give_string(from, p, &proc.program);

	err = err ? err : give_string(from, p, &proc.name);
	err = err ? err : give_string(from, p, &proc.python);
	err = err ? err : give_string(from, p, &proc.host);
	err = err ? err : pl_profile_process(p, &proc, &t.process);
	err = err ? err : give_string(from, p, &t.name);
	return err ? err : pl_profile_thread(p, &t, thread);
}

static struct plumb_error *replay_take(struct pl_engine *e, struct plumb_profile *p, pl_engine_sample_fn *fn, void *ctx)
{
	for (int i = 0; i < 100 && e->given < e->samples.len; i++) {
		struct pl_sample s = e->samples.data[e->given++];
		struct plumb_error *err = give_stack(e->from, p, &s.stack);

		err = err ? err : give_thread(e->from, p, &s.thread);
		err = err ? err : fn(ctx, &s);
		if (err)
			return err;
	}
	e->over |= e->given == e->samples.len;
	return NULL;
}

static void replay_stats(struct pl_engine *e, struct pl_engine_stats *ret)
{
	*ret = (struct pl_engine_stats){.ended = atomic_load(&e->over), .told_ns = pl_clock_monotonic_ns()};
}

static void replay_stop(struct pl_engine *e)
{
	atomic_store(&e->over, true);
}

const struct pl_engine_ops replay = {
	.name = "replay",
	.probe = replay_probe,
	.open = replay_open,
	.start = nothing,
	.wait = replay_wait,
	.take = replay_take,
	.stats = replay_stats,
	.stop = replay_stop,
	.take_error = nothing,
	.close = replay_close,
};
