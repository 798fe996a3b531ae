/* SPDX-License-Identifier: Apache-2.0 */
/* The table of input formats. Layer import; constant. A new format is one file, its lines in importers.h and one row
 * here. */
#include "importers.h"

#include <string.h>

static const char *const pprof_suffixes[] = {".pb.gz", ".pprof", ".pb", NULL};
static const char *const collapsed_suffixes[] = {".folded", ".collapsed", NULL};
static const char *const dask_suffixes[] = {".dask.json", NULL};
static const char *const no_suffixes[] = {NULL};
static const char *const pstats_suffixes[] = {".pstats", ".prof", NULL};
static const char *const callgrind_suffixes[] = {".callgrind", NULL};
static const char *const perf_suffixes[] = {".perf", NULL};
static const char *const speedscope_suffixes[] = {".speedscope.json", ".speedscope", NULL};

const struct pl_importer pl_importers[] = {
	{"pprof", pprof_suffixes, "profile.proto of any profiler, gzipped or not", pl_pprof_is, pl_pprof_read},
	{"samples", no_suffixes, "samples of CPython's collectors as JSON", pl_samples_is, pl_samples_read},
	{"pstats", pstats_suffixes,
	 "what cProfile writes; only functions and pairs of caller and callee are certain, and a microsecond counts as "
	 "a sample",
	 pl_pstats_is, pl_pstats_read},
	{"callgrind", callgrind_suffixes,
	 "of valgrind and others; only functions and pairs of caller and callee are certain", pl_callgrind_is,
	 pl_callgrind_read},
	{"dask", dask_suffixes, "the tree of Dask's profiler as JSON", pl_dask_is, pl_dask_read},
	{"speedscope", speedscope_suffixes, "speedscope's own format: sampled and evented profiles", pl_speedscope_is,
	 pl_speedscope_read},
	{"perf-script", perf_suffixes, "text of perf script, with Python, native and kernel frames", pl_perf_script_is,
	 pl_perf_script_read},
	{"collapsed", collapsed_suffixes,
	 "one line per stack with its count: plumb, CPython, py-spy, austin, flamegraph.pl", pl_collapsed_is,
	 pl_collapsed_read},
	{NULL, NULL, NULL, NULL, NULL},
};

const struct pl_importer *pl_importer_by_name(const char *name)
{
	for (const struct pl_importer *i = pl_importers; i->name; i++) {
		if (strcmp(i->name, name) == 0)
			return i;
	}
	return NULL;
}

const struct pl_importer *pl_importer_for(const struct pl_import_input *in)
{
	for (const struct pl_importer *i = pl_importers; i->name; i++) {
		if (i->is(in))
			return i;
	}
	return NULL;
}

/* Of what knows numbers of samples only, these are the weights. */
static void weigh(const struct pl_sink *sink, struct pl_sample *s)
{
	if (sink->counted)
		s->weight_ns = s->extra == UINT64_MAX ? UINT64_MAX : s->extra + 1;
}

/* Their stacks with their frames. */
static struct plumb_error *put_frames(struct pl_sink *sink)
{
	struct pl_stack_path paths[PL_TOGETHER];
	size_t from = 0;

	for (size_t i = 0; i < sink->waiting_count; i++) {
		paths[i] = (struct pl_stack_path){.stack = sink->waiting[i].stack,
						  .frames = sink->frames.data + from,
						  .count = sink->frames_end[i] - from};
		from = sink->frames_end[i];
	}
	struct plumb_error *err = pl_profile_stack_paths(sink->profile, paths, sink->waiting_count);
	for (size_t i = 0; i < sink->waiting_count; i++)
		sink->waiting[i].stack = paths[i].stack;
	pl_vec_clear(&sink->frames);
	return err;
}

static struct plumb_error *give_waiting(struct pl_sink *sink)
{
	struct plumb_error *err = sink->frames.len ? put_frames(sink) : NULL;

	if (!err)
		err = pl_profile_add_all(sink->profile, sink->waiting, sink->waiting_count);
	for (size_t i = 0; i < sink->waiting_count && sink->fn && !err; i++)
		err = sink->fn(sink->ctx, &sink->waiting[i]);
	sink->waiting_count = 0;
	return err;
}

struct plumb_error *pl_sink_add_frames(struct pl_sink *sink, const struct pl_sample *s, const uint32_t *frames,
				       size_t count)
{
	size_t at = sink->waiting_count;

	if (count && !pl_vec_reserve(&sink->frames, count))
		return &pl_err_no_memory;
	if (count)
		memcpy(sink->frames.data + sink->frames.len, frames, count * sizeof *frames);
	sink->frames.len += count;
	sink->frames_end[at] = sink->frames.len;
	sink->waiting[at] = *s;
	weigh(sink, &sink->waiting[at]);
	sink->waiting_count++;
	return sink->waiting_count == PL_TOGETHER ? give_waiting(sink) : NULL;
}

void pl_frames_turn(uint32_t *frames, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		uint32_t was = frames[i];

		frames[i] = frames[count - 1 - i];
		frames[count - 1 - i] = was;
	}
}

struct plumb_error *pl_sink_add(struct pl_sink *sink, const struct pl_sample *s)
{
	return pl_sink_add_frames(sink, s, NULL, 0);
}

struct plumb_error *pl_importer_run(const struct pl_importer *importer, const struct pl_import_input *in,
				    struct pl_sink *sink)
{
	struct plumb_error *err = importer->read(in, sink);

	if (!err)
		err = give_waiting(sink);
	pl_vec_deinit(&sink->frames);
	return err;
}
