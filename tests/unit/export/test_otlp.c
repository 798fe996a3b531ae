/* SPDX-License-Identifier: Apache-2.0 */
/* OTLP by its bytes: totals, instants, tables, windows. What other programs make of it:
 * tests/integration/test_format_otlp.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "export.h"
#include "labels.h"
#include "protobuf.h"
#include "random_recording.h"

#define MAX_IDS 64

static void ok(struct plumb_error *err)
{
	if (err)
		fail_msg("%s", plumb_error_message(err));
}

struct recording {
	struct random_shape shape;
	struct plumb_profile *p;
};

/* Made again each time: ids are the same. */
static struct plumb_error *each(void *ctx, pl_sample_fn *fn, void *fn_ctx)
{
	struct recording *r = ctx;

	return random_recording(&r->shape, r->p, fn, fn_ctx);
}

static struct plumb_error *count(void *ctx, const struct pl_sample *s)
{
	return pl_profile_add(ctx, s);
}

static void record(struct recording *r, uint64_t seed, uint32_t samples, bool timed)
{
	*r = (struct recording){.shape = {.seed = seed, .samples = samples}};
	ok(pl_profile_create(&r->p));
	ok(random_recording(&r->shape, r->p, count, r->p));
	if (timed)
		r->p->stream = (struct pl_stream){.each = each, .ctx = r};
}

static uint8_t *written(const struct plumb_profile *p, size_t *len_ret)
{
	struct pl_export_options o = {.made_by = "a test"};
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, len_ret);

	ok(pl_format_by_name("otlp")->write(p, &o, out));
	assert_int_equal(fclose(out), 0);
	return (uint8_t *)bytes;
}

struct found {
	uint64_t samples, weight, times, first, last;
	size_t profiles, resources, strings, stacks;
	struct pl_cursor ids[MAX_IDS];
	uint64_t max_stack, max_attribute;
	size_t attributes;
};

static void read_sample(struct found *f, struct pl_cursor c, bool is_count, uint64_t from, uint64_t to)
{
	pl_pb_numbers values = {0}, attributes = {0};
	struct pl_pb_field g;
	uint64_t t, times = 0, sum = 0;

	while (pl_pb_next(&c, &g) == PL_PB_FIELD) {
		if (g.number == 1)
			f->max_stack = g.value > f->max_stack ? g.value : f->max_stack;
		if (g.number == 2)
			ok(pl_pb_add_numbers(&g, &attributes));
		if (g.number == 4)
			ok(pl_pb_add_numbers(&g, &values));
		while (g.number == 5 && pl_cursor_u64(&g.bytes, &t)) {
			assert_true(t >= from && t < to);
			times++;
		}
	}
	assert_int_equal(pl_cursor_left(&c), 0);
	for (size_t i = 0; i < values.len; i++)
		sum += values.data[i];
	for (size_t i = 0; i < attributes.len; i++) {
		assert_true(attributes.data[i]);
		f->max_attribute = attributes.data[i] > f->max_attribute ? attributes.data[i] : f->max_attribute;
	}
	assert_true(values.len || times);
	assert_true(!times || !values.len || values.len == times);
	*(is_count ? &f->samples : &f->weight) += values.len ? sum : times;
	f->times += times;
	pl_vec_deinit(&values);
	pl_vec_deinit(&attributes);
}

/* The first profile of a scope counts samples, the second weighs them. */
static void read_profile(struct found *f, struct pl_cursor c)
{
	struct pl_cursor again = c;
	struct pl_pb_field g;
	uint64_t from = 0, len = 0;

	while (pl_pb_next(&c, &g) == PL_PB_FIELD) {
		if (g.number == 3)
			from = g.value;
		if (g.number == 4)
			len = g.value;
		if (g.number == 7) {
			assert_int_equal(pl_cursor_left(&g.bytes), 16);
			assert_true(f->profiles < MAX_IDS);
			f->ids[f->profiles] = g.bytes;
		}
	}
	while (pl_pb_next(&again, &g) == PL_PB_FIELD) {
		if (g.number == 2)
			read_sample(f, g.bytes, f->profiles % 2 == 0, from, from + len);
	}
	f->profiles++;
}

static void read_resource(struct found *f, struct pl_cursor c)
{
	struct pl_pb_field g, h;

	while (pl_pb_next(&c, &g) == PL_PB_FIELD) {
		while (g.number == 2 && pl_pb_next(&g.bytes, &h) == PL_PB_FIELD) {
			if (h.number == 2)
				read_profile(f, h.bytes);
		}
	}
	f->resources++;
}

static void read_dictionary(struct found *f, struct pl_cursor c)
{
	struct pl_pb_field g;
	unsigned seen = 0;

	while (pl_pb_next(&c, &g) == PL_PB_FIELD) {
		if (!(seen & 1u << g.number))
			assert_int_equal(pl_cursor_left(&g.bytes), 0); /* each table begins with nothing */
		seen |= 1u << g.number;
		f->strings += g.number == 5;
		f->attributes += g.number == 6;
		f->stacks += g.number == 7;
	}
	assert_int_equal(pl_cursor_left(&c), 0);
	assert_int_equal(seen, 0xfe); /* all seven */
}

static struct found read_request(const uint8_t *bytes, size_t len)
{
	struct pl_cursor c = {.p = bytes, .end = bytes + len};
	struct found f = {0};
	struct pl_pb_field g;
	int dictionaries = 0;

	while (pl_pb_next(&c, &g) == PL_PB_FIELD) {
		if (g.number == 1)
			read_resource(&f, g.bytes);
		else
			read_dictionary(&f, g.bytes);
		dictionaries += g.number == 2;
	}
	assert_int_equal(pl_cursor_left(&c), 0);
	assert_int_equal(dictionaries, 1);
	return f;
}

static void assert_totals(const struct found *f, const struct plumb_profile *p)
{
	uint64_t samples = 0, weight = 0;

	for (uint32_t i = 0; i < p->cell_count; i++) {
		samples += p->cells[i].samples;
		weight += p->cells[i].weight_ns;
	}
	assert_int_equal(f->samples, samples);
	assert_int_equal(f->weight, weight);
	assert_true(f->max_stack < f->stacks);
	assert_true(f->max_attribute < f->attributes);
}

static void totals_are_those_of_the_profile(void **state)
{
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct recording r;
		size_t len = 0;

		record(&r, seed, 1000, seed % 2);
		uint8_t *bytes = written(r.p, &len);
		struct found f = read_request(bytes, len);
		assert_totals(&f, r.p);
		assert_int_equal(f.times, seed % 2 ? 2000 : 0);
		assert_int_equal(f.resources, r.p->process_count);
		assert_int_equal(f.profiles, 2 * r.p->process_count);
		free(bytes);
		pl_profile_destroy(r.p);
	}
}

static void a_long_recording_is_cut_into_windows(void **state)
{
	struct recording r;
	size_t len = 0;

	record(&r, 1, 140000, true);
	uint8_t *bytes = written(r.p, &len);
	struct found f = read_request(bytes, len);
	assert_totals(&f, r.p);
	assert_int_equal(f.times, 2 * 140000);
	assert_int_equal(f.resources, 3 * r.p->process_count);
	for (size_t i = 0; i < f.profiles; i++) {
		for (size_t k = 0; k < i; k++)
			assert_memory_not_equal(f.ids[i].p, f.ids[k].p, 16);
	}
	free(bytes);
	pl_profile_destroy(r.p);
}

static void equal_profiles_give_equal_bytes(void **state)
{
	struct recording r;
	size_t len = 0, again_len = 0;

	record(&r, 2, 3000, true);
	uint8_t *bytes = written(r.p, &len), *again = written(r.p, &again_len);
	assert_int_equal(len, again_len);
	assert_memory_equal(bytes, again, len);
	free(bytes);
	free(again);
	pl_profile_destroy(r.p);
}

static void an_empty_profile_is_a_dictionary_alone(void **state)
{
	struct recording r;
	size_t len = 0;

	record(&r, 1, 0, false);
	uint8_t *bytes = written(r.p, &len);
	struct found f = read_request(bytes, len);
	assert_int_equal(f.resources, 0);
	assert_int_equal(f.stacks, 1);
	free(bytes);
	pl_profile_destroy(r.p);
}

/* Bytes of a text in what was written. */
static bool tells(const uint8_t *bytes, size_t len, const char *text)
{
	return memmem(bytes, len, text, strlen(text));
}

static void labels_are_attributes_and_no_frames(void **state)
{
	static const char labels[] = "route\0/x\0thread.id\0mine";
	struct plumb_profile *p;
	struct pl_process proc = {.pid = 7};
	struct pl_thread t = {.tid = 7};
	struct pl_sample s = {.weight_ns = 1000};
	size_t len = 0;

	ok(pl_profile_create(&p));
	ok(pl_profile_process(p, &proc, &t.process));
	ok(pl_profile_thread(p, &t, &s.thread));
	ok(pl_profile_tag(p, "[route=/x, thread.id=mine]", labels, sizeof labels, &s.stack));
	ok(pl_profile_add(p, &s));
	uint8_t *bytes = written(p, &len);
	struct found f = read_request(bytes, len);
	assert_int_equal(f.samples, 1);
	assert_int_equal(f.stacks, 1);		   /* the empty one */
	assert_int_equal(f.attributes, 1 + 2 + 2); /* none; id and state of the thread; the labels */
	assert_true(tells(bytes, len, "/x") && tells(bytes, len, "tag.thread.id") && tells(bytes, len, "mine"));
	assert_false(tells(bytes, len, "[route"));
	free(bytes);
	pl_profile_destroy(p);
}

static void the_longest_suffix_names_the_format(void **state)
{
	assert_string_equal(pl_format_by_path("a/b.otlp.json")->name, "otlp-json");
	assert_string_equal(pl_format_by_path("b.json")->name, "json");
	assert_string_equal(pl_format_by_path("b.otlp.pb")->name, "otlp");
	assert_string_equal(pl_format_by_path("b.pb.gz")->name, "pprof");
	assert_null(pl_format_by_path("a.json/b"));
	assert_null(pl_format_by_path(".json"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_are_those_of_the_profile),
		cmocka_unit_test(a_long_recording_is_cut_into_windows),
		cmocka_unit_test(equal_profiles_give_equal_bytes),
		cmocka_unit_test(an_empty_profile_is_a_dictionary_alone),
		cmocka_unit_test(labels_are_attributes_and_no_frames),
		cmocka_unit_test(the_longest_suffix_names_the_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
