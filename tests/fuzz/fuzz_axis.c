/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: the time of profiles that are added up, as hostile recordings tell it. The input is three profiles, of
 * each
 *
 *   u8 flags (1: it has no time of its own), u8 how long its batches are, u8 number of pieces, u8 number of spans,
 *   u8 number of samples, then numbers of 8 bytes: the start, pieces, beginnings and ends of spans; of samples their
 * times
 *
 * What is taken for a time must stay one in any sum and part, and sums must not depend on the order. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "axis.h"
#include "refine.h"
#include "require.h"

#define PROFILES 3

struct input {
	const uint8_t *data;
	size_t left;
};

static uint8_t take_byte(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->data++;
}

static uint64_t take(struct input *in)
{
	uint64_t v = 0;

	for (int i = 0; i < 8; i++)
		v = v << 8 | take_byte(in);
	return v;
}

static void check_axis(const struct plumb_profile *p)
{
	const struct pl_axis *a = &p->axis;

	REQUIRE(a->count <= PL_BATCHES);
	for (uint32_t b = 1; b < a->count; b++)
		REQUIRE(a->piece[b] > a->piece[b - 1]);
	for (size_t i = 0; i < a->span_count; i++)
		REQUIRE(a->spans[i].from_ns < a->spans[i].to_ns && (!i || a->spans[i].from_ns > a->spans[i - 1].to_ns));
	for (uint32_t i = 0; i < p->cell_count; i++)
		REQUIRE(p->cells[i].batch < PL_BATCHES && (!a->merged || p->cells[i].batch < a->count));
}

static uint64_t samples_of(const struct plumb_profile *p)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->cell_count; i++)
		sum += p->cells[i].samples;
	return sum;
}

static void add_samples(struct plumb_profile *p, struct input *in, unsigned count)
{
	const struct pl_process process = {.pid = 1};
	struct pl_thread thread = {.tid = 1};
	struct pl_sample s = {.weight_ns = 1};

	REQUIRE(!pl_profile_process(p, &process, &thread.process));
	REQUIRE(!pl_profile_thread(p, &thread, &s.thread));
	for (; count; count--) {
		s.time_ns = take(in);
		REQUIRE(!pl_profile_add(p, &s));
	}
}

static void give_time(struct plumb_profile *p, struct input *in, unsigned shift, unsigned pieces, unsigned spans)
{
	struct pl_axis a = {.count = pieces < PL_BATCHES ? pieces : PL_BATCHES, .span_count = spans};

	a.spans = calloc(spans + 1u, sizeof *a.spans);
	REQUIRE(a.spans);
	for (uint32_t b = 0; b < a.count; b++)
		a.piece[b] = take(in);
	for (size_t i = 0; i < spans; i++) {
		a.spans[i].from_ns = take(in);
		a.spans[i].to_ns = take(in);
	}
	plumb_error_destroy(pl_axis_set(p, shift, &a));
	pl_axis_deinit(&a);
}

static struct plumb_profile *take_profile(struct input *in)
{
	struct plumb_profile *p;
	uint8_t flags = take_byte(in), shift = take_byte(in), pieces = take_byte(in), spans = take_byte(in);
	uint8_t samples = take_byte(in);

	REQUIRE(!pl_profile_create(&p));
	p->meta.start_real_ns = take(in);
	p->meta.duration_ns = take(in);
	add_samples(p, in, samples);
	if (!(flags & 1))
		give_time(p, in, shift, pieces, spans);
	check_axis(p);
	return p;
}

static void check_part(const struct plumb_profile *p, uint64_t from_ns, uint64_t to_ns)
{
	const struct pl_refine o = {.from_ns = from_ns, .to_ns = to_ns};
	struct plumb_profile *part = NULL;

	if (!pl_profile_has_time(p))
		return;
	REQUIRE(!pl_refine(p, &o, &part) && part);
	check_axis(part);
	REQUIRE(samples_of(part) <= samples_of(p));
	pl_profile_destroy(part);
}

/* All of them, beginning with number @p first. */
static struct plumb_profile *sum_of(struct plumb_profile *const *all, int first)
{
	struct plumb_profile *sum;

	REQUIRE(!pl_profile_create(&sum));
	for (int i = 0; i < PROFILES; i++) {
		REQUIRE(!pl_profile_merge(sum, all[(first + i) % PROFILES]));
		check_axis(sum);
	}
	return sum;
}

static void check_same(const struct plumb_profile *a, const struct plumb_profile *b)
{
	REQUIRE(a->axis.count == b->axis.count && a->batch_ns == b->batch_ns && a->cell_count == b->cell_count);
	REQUIRE(memcmp(a->axis.piece, b->axis.piece, a->axis.count * sizeof *a->axis.piece) == 0);
	REQUIRE(a->axis.span_count == b->axis.span_count && a->meta.duration_ns == b->meta.duration_ns);
	REQUIRE(samples_of(a) == samples_of(b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct plumb_profile *all[PROFILES], *sum, *other;
	uint64_t samples = 0;

	for (int i = 0; i < PROFILES; i++) {
		all[i] = take_profile(&in);
		samples += samples_of(all[i]);
	}
	sum = sum_of(all, 0);
	other = sum_of(all, 1);
	check_same(sum, other);
	REQUIRE(samples_of(sum) == samples);
	check_part(sum, take(&in), take(&in));
	for (int i = 0; i < PROFILES; i++)
		pl_profile_destroy(all[i]);
	pl_profile_destroy(sum);
	pl_profile_destroy(other);
	return 0;
}
