/* SPDX-License-Identifier: Apache-2.0 */
/* make_profile SEED OUT.plumb [SAMPLES [plain|wide|days|STACKS [program]]]: a random recording (random_recording.h), of
 * 2,000 samples unless told otherwise, with so many distinct stacks; days: as of a program, over 48 hours. Equal
 * arguments, equal bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "random_recording.h"

#define TWO_DAYS_NS    (48 * 3600 * 1000000000ull)
#define STACKS_OF_DAYS 20000

struct output {
	struct plumb_profile *p;
	struct pl_capture_writer *w;
	const char *path;
};

/* The writer wants the period, which is known when the first sample comes. */
static struct plumb_error *write_sample(void *ctx, const struct pl_sample *s)
{
	struct output *o = ctx;
	struct plumb_error *err = o->w ? NULL : pl_capture_create(o->path, o->p, &o->w);

	if (!err)
		err = pl_capture_add(o->w, s);
	return err || !pl_capture_wants_flush(o->w) ? err : pl_capture_flush(o->w, o->p);
}

static struct plumb_error *make(const struct random_shape *shape, struct output *o)
{
	struct plumb_error *err = pl_profile_create(&o->p);

	if (!err)
		err = random_recording(shape, o->p, write_sample, o);
	if (!err && !o->w)
		err = pl_capture_create(o->path, o->p, &o->w);
	return err ? err : pl_capture_finish(o->w, o->p);
}

int main(int argc, char **argv)
{
	struct random_shape shape = {.samples = 2000};
	struct output o = {0};
	struct plumb_error *err;

	if (argc < 3 || argc > 6) {
		fprintf(stderr, "usage: make_profile SEED OUT.plumb [SAMPLES [plain|wide|days|STACKS [program]]]\n");
		return 2;
	}
	shape.seed = strtoull(argv[1], NULL, 10);
	o.path = argv[2];
	if (argc > 3)
		shape.samples = (uint32_t)strtoul(argv[3], NULL, 10);
	shape.span_ns = argc > 4 && strcmp(argv[4], "days") == 0 ? TWO_DAYS_NS : 0;
	shape.stacks = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0;
	if (shape.span_ns)
		shape.stacks = STACKS_OF_DAYS;
	shape.program = shape.span_ns || (argc > 5 && strcmp(argv[5], "program") == 0);
	shape.wide = shape.stacks || (argc > 4 && strcmp(argv[4], "wide") == 0);
	shape.plain = shape.wide || (argc > 4 && strcmp(argv[4], "plain") == 0);
	err = make(&shape, &o);
	if (err)
		fprintf(stderr, "make_profile: %s\n", plumb_error_message(err));
	pl_capture_destroy(o.w);
	pl_profile_destroy(o.p);
	plumb_error_destroy(err);
	return err ? 1 : 0;
}
