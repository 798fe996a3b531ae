/* SPDX-License-Identifier: Apache-2.0 */
/* Four times the recording is four times the work, whatever is in it. What zstd does is not counted: it is bounded by
 * the ratio that the reader allows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture.h"
#include "counted.h"
#include "format.h"
#include "unit.h"

#define ITEMS 1024u

/* A recording as it is made: chunk by chunk, a chunk section by section. */
struct file {
	struct pl_buf bytes, raw, section;
	struct pl_encoder e; /* into the section */
	struct pl_chunk_header h;
};

static void file_init(struct file *f)
{
	uint8_t header[PL_FILE_HEADER_LEN];

	*f = (struct file){.bytes = PL_BUF_INIT(1 << 28), .raw = PL_BUF_INIT(1 << 26), .section = PL_BUF_INIT(1 << 26)};
	f->e.buf = &f->section;
	pl_file_header_encode(header, PL_RECORDING_VERSION);
	assert_ok(pl_buf_add(&f->bytes, header, sizeof header));
}

static void file_deinit(struct file *f)
{
	pl_buf_deinit(&f->bytes);
	pl_buf_deinit(&f->raw);
	pl_buf_deinit(&f->section);
}

static void end_section(struct file *f, enum pl_section tag)
{
	struct pl_encoder out = {.buf = &f->raw, .err = f->e.err};

	pl_encode_section(&out, tag, &f->section);
	assert_ok(out.err);
	pl_buf_clear(&f->section);
}

static void end_chunk(struct file *f, uint32_t samples)
{
	f->h.kind = PL_CHUNK_MORE;
	f->h.samples = samples;
	assert_ok(pl_chunk_seal(&f->h, &f->raw, &f->bytes));
	f->h.sequence++;
	f->h.samples_before += samples;
	pl_buf_clear(&f->raw);
}

static void begin_table(struct file *f, uint32_t first, uint32_t count)
{
	pl_encode(&f->e, first);
	pl_encode(&f->e, count);
}

/* One string, one function, one location. */
static void add_location_named(struct file *f, const char *name, size_t len)
{
	begin_table(f, 1, 1);
	pl_encode(&f->e, len);
	pl_encode_bytes(&f->e, name, len);
	end_section(f, PL_SECTION_STRINGS);
	begin_table(f, 0, 1);
	for (int i = 0; i < 4; i++)
		pl_encode_signed(&f->e, i == 0);
	pl_encode(&f->e, PL_ORIGIN_PYTHON);
	end_section(f, PL_SECTION_FUNCTIONS);
	begin_table(f, 0, 1);
	for (int i = 0; i < 5; i++)
		pl_encode_signed(&f->e, 0);
	end_section(f, PL_SECTION_LOCATIONS);
}

static void add_location(struct file *f)
{
	add_location_named(f, "f", 1);
}

/* From stack @p first on each is called by the one before. */
static void add_chain(struct file *f, uint32_t first, uint32_t count)
{
	begin_table(f, first, count);
	for (uint32_t i = 0; i < count; i++) {
		pl_encode(&f->e, 1);
		pl_encode_signed(&f->e, 0);
	}
	end_section(f, PL_SECTION_STACKS);
}

/* Thread and stack of the first are @p thread and @p stack, and these steps further for each. */
static void add_places(struct file *f, uint32_t count, uint32_t thread, uint32_t stack, uint32_t thread_step,
		       uint32_t stack_step)
{
	for (uint32_t i = 0; i < count; i++) {
		pl_encode(&f->e, thread + i * thread_step);
		pl_encode_signed(&f->e, i ? stack_step : stack);
	}
	end_section(f, PL_SECTION_PLACES);
}

/* At one instant, the first at place 0 and each @p place_step further. */
static void add_columns(struct file *f, uint32_t count, uint32_t place_step)
{
	pl_encode(&f->e, 10);
	pl_encode(&f->e, 1000000);
	end_section(f, PL_SECTION_UNITS);
	pl_encode_signed(&f->e, 1);
	end_section(f, PL_SECTION_TIMES);
	for (uint32_t i = 0; i < count; i++)
		pl_encode(&f->e, i * place_step);
	end_section(f, PL_SECTION_SAMPLES);
	for (uint32_t i = 0; i < count; i++)
		pl_encode(&f->e, PL_EXACT);
	end_section(f, PL_SECTION_STATES);
	for (uint32_t i = 0; i < count; i++)
		pl_encode_signed(&f->e, 0);
	end_section(f, PL_SECTION_WEIGHTS);
}

/* Samples each at a place of its own; without steps: all at the first. */
static void add_samples(struct file *f, uint32_t count, uint32_t thread, uint32_t stack, uint32_t thread_step,
			uint32_t stack_step)
{
	add_places(f, count, thread, stack, thread_step, stack_step);
	add_columns(f, count, thread_step || stack_step);
}

static int descriptor_of(const struct pl_buf *bytes)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes->data, bytes->len), bytes->len);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* Reads and frees it; returns how many samples were found. */
static uint64_t read_file(struct file *f)
{
	struct plumb_profile *p = NULL;
	struct pl_capture_info info;
	uint64_t samples = 0;
	int fd = descriptor_of(&f->bytes);

	counted_begin();
	assert_ok(pl_profile_create(&p));
	assert_ok(pl_capture_read(fd, p, NULL, NULL, &info));
	counted_end();
	assert_int_equal(info.damaged_chunks, 0);
	for (uint32_t i = 0; i < p->cell_count; i++)
		samples += p->cells[i].samples;
	pl_profile_destroy(p);
	file_deinit(f);
	close(fd);
	return samples;
}

static void read_chunks(void *ctx, unsigned items)
{
	struct file f;

	file_init(&f);
	add_location(&f);
	for (unsigned i = 0; i < items; i++) {
		add_chain(&f, 1 + 8 * i, 8);
		add_samples(&f, 8, 0, 1 + 8 * i, 0, 1);
		end_chunk(&f, 8);
	}
	assert_int_equal(read_file(&f), 8 * items);
}

static void chunks_cost_what_is_in_them(void **state)
{
	counted_linear(read_chunks, NULL, ITEMS / 4);
}

/* A stack that hangs on one which no chunk has is there to make the reader look for others. */
static void read_deep_stacks_after_a_loss(void *ctx, unsigned items)
{
	struct file f;

	file_init(&f);
	add_location(&f);
	add_chain(&f, 1, items);
	end_chunk(&f, 0);
	add_chain(&f, items + 2, 1);
	add_samples(&f, items, 0, items, 1, 0);
	end_chunk(&f, items);
	assert_int_equal(read_file(&f), items);
}

static void what_was_lost_of_deep_stacks_is_found_once(void **state)
{
	counted_linear(read_deep_stacks_after_a_loss, NULL, ITEMS);
}

static void read_small_chunks_after_one_with_many_threads(void *ctx, unsigned items)
{
	struct file f;

	file_init(&f);
	add_samples(&f, items, 0, 0, 1, 0);
	end_chunk(&f, items);
	for (unsigned i = 0; i < items; i++) {
		add_samples(&f, 1, 0, 0, 0, 0);
		end_chunk(&f, 1);
	}
	assert_int_equal(read_file(&f), 2 * items);
}

static void a_small_chunk_costs_little_after_a_large_one(void **state)
{
	counted_linear(read_small_chunks_after_one_with_many_threads, NULL, ITEMS);
}

/* Of two bytes each, and more of them than samples, they would take memory that no sample needs. */
static void places_beyond_the_samples_are_damage(void **state)
{
	struct plumb_profile *p = NULL;
	struct pl_capture_info info;
	struct file f;

	file_init(&f);
	add_samples(&f, 2, 0, 0, 1, 0);
	end_chunk(&f, 1);
	int fd = descriptor_of(&f.bytes);
	assert_ok(pl_profile_create(&p));
	assert_ok(pl_capture_read(fd, p, NULL, NULL, &info));
	assert_int_equal(info.damaged_chunks, 1);
	assert_int_equal(p->meta.losses[PL_LOSS_DAMAGED], 1);
	pl_profile_destroy(p);
	file_deinit(&f);
	close(fd);
}

/* One for each sample, of two bytes that are packed to nothing. */
static void places_are_paid_as_rows_are(void **state)
{
	const uint32_t count = 5u << 19;
	struct plumb_profile *p = NULL;
	struct pl_capture_info info;
	struct file f;

	file_init(&f);
	add_places(&f, count, 0, 0, 0, 1);
	add_columns(&f, count, 0);
	end_chunk(&f, count);
	int fd = descriptor_of(&f.bytes);
	assert_ok(pl_profile_create(&p));
	assert_ok(pl_capture_read(fd, p, NULL, NULL, &info));
	assert_int_equal(info.damaged_chunks, 1);
	assert_int_equal(p->meta.losses[PL_LOSS_DAMAGED], count);
	pl_profile_destroy(p);
	file_deinit(&f);
	close(fd);
}

/* Reads and frees it: how many parts are damaged, and samples lost with them. */
static uint64_t read_damaged(struct file *f, uint64_t *lost_ret)
{
	struct plumb_profile *p = NULL;
	struct pl_capture_info info;
	int fd = descriptor_of(&f->bytes);

	assert_ok(pl_profile_create(&p));
	assert_ok(pl_capture_read(fd, p, NULL, NULL, &info));
	*lost_ret = p->meta.losses[PL_LOSS_DAMAGED];
	pl_profile_destroy(p);
	file_deinit(f);
	close(fd);
	return info.damaged_chunks;
}

/* One that says how many samples were before it has a gap of that many: two such gaps are more than can be counted. */
static void losses_beyond_what_can_be_counted_stay_the_most(void **state)
{
	uint64_t lost = 0;
	struct file f;

	file_init(&f);
	end_chunk(&f, 0);
	f.h.samples_before = UINT64_MAX;
	add_samples(&f, 2, 0, 0, 1, 0);
	end_chunk(&f, 1);
	add_samples(&f, 2, 0, 0, 1, 0);
	f.h.samples_before = 7;
	end_chunk(&f, 1);
	assert_int_equal(read_damaged(&f, &lost), 2);
	assert_true(lost == UINT64_MAX);
}

static void read_chain(uint32_t depth, uint64_t damaged)
{
	struct file f;
	uint64_t lost;

	file_init(&f);
	add_location(&f);
	add_chain(&f, 1, depth);
	add_samples(&f, 1, 0, depth, 0, 0);
	end_chunk(&f, 1);
	assert_int_equal(read_damaged(&f, &lost), damaged);
	assert_int_equal(lost, damaged);
}

static void stacks_deeper_than_any_that_is_recorded_are_damage(void **state)
{
	read_chain(PL_STACK_MAX_DEPTH, 0);
	read_chain(PL_STACK_MAX_DEPTH + 1, 1);
}

/* A recording of @p seconds in which @p threads sleep @p depth deep: a chunk a second. */
static void read_sleepers(uint32_t threads, uint32_t depth, uint32_t seconds)
{
	struct file f;
	uint64_t lost;

	file_init(&f);
	add_location(&f);
	add_chain(&f, 1, depth);
	for (uint32_t i = 0; i < seconds; i++) {
		add_places(&f, threads, 0, depth, 1, 0);
		add_columns(&f, threads, 1);
		end_chunk(&f, threads);
	}
	assert_int_equal(read_damaged(&f, &lost), 0);
}

static void an_hour_in_a_few_deep_stacks_is_read(void **state)
{
	read_sleepers(64, 1000, 3600);
	read_sleepers(8, 65536, 3600);
}

/* Each sample at a place of its own, all of them in one stack. */
static void stacks_that_take_far_more_to_write_than_the_file_has_are_damage(void **state)
{
	struct file f;
	uint64_t lost;

	file_init(&f);
	add_location(&f);
	add_chain(&f, 1, 65536);
	add_places(&f, 65536, 0, 65536, 0, 0);
	add_columns(&f, 65536, 0);
	end_chunk(&f, 65536);
	assert_int_equal(read_damaged(&f, &lost), 1);
	assert_int_equal(lost, 65536);
}

/* As another writer may leave it. */
static void a_name_that_nobody_records_is_cut(void **state)
{
	const size_t len = 1u << 20;
	char *name = calloc(1, len);
	struct plumb_profile *p = NULL;
	struct pl_capture_info info;
	struct file f;
	size_t kept;

	assert_non_null(name);
	memset(name, 'A', len);
	file_init(&f);
	add_location_named(&f, name, len);
	end_chunk(&f, 0);
	int fd = descriptor_of(&f.bytes);
	assert_ok(pl_profile_create(&p));
	assert_ok(pl_capture_read(fd, p, NULL, NULL, &info));
	assert_int_equal(info.damaged_chunks, 0);
	(void)pl_strtab_get(p->strings, p->functions[0].qualname, &kept);
	assert_int_equal(kept, PL_STRING_MAX_BYTES);
	assert_true(kept < len);
	pl_profile_destroy(p);
	file_deinit(&f);
	free(name);
	close(fd);
}

/* A name as long as the file may have one, in 100,000 places of a tree. */
static void names_count_for_each_frame(void **state)
{
	char *name = calloc(1, PL_STRING_MAX_BYTES);
	struct file f;
	uint64_t lost;

	assert_non_null(name);
	memset(name, 'A', PL_STRING_MAX_BYTES);
	file_init(&f);
	add_location_named(&f, name, PL_STRING_MAX_BYTES);
	add_chain(&f, 1, 100000);
	add_samples(&f, 1, 0, 1, 0, 0);
	end_chunk(&f, 1);
	assert_int_equal(read_damaged(&f, &lost), 1);
	free(name);
}

static void put_function(struct file *f, uint32_t i)
{
	pl_encode_signed(&f->e, i == 0);
	pl_encode_signed(&f->e, 0);
	pl_encode_signed(&f->e, 0);
	pl_encode_signed(&f->e, 1);
	pl_encode(&f->e, PL_ORIGIN_PYTHON);
}

static void put_thread(struct file *f, uint32_t i)
{
	pl_encode(&f->e, i);
	pl_encode(&f->e, 0);
	pl_encode(&f->e, i);
	pl_encode(&f->e, 1);
	pl_encode(&f->e, 0);
	pl_encode(&f->e, 0);
}

/* Its holder has the name, and was in a function that has it. */
static void put_lock(struct file *f, uint32_t i)
{
	pl_encode(&f->e, 1 + i);
	pl_encode(&f->e, PL_LOCK_HELD << 1);
	pl_encode(&f->e, i);
	pl_encode(&f->e, 1);
	pl_encode(&f->e, 1);
	pl_encode(&f->e, 0);
}

static void put_event(struct file *f, uint32_t i)
{
	pl_encode_signed(&f->e, 1);
	pl_encode(&f->e, 0);
	pl_encode(&f->e, PL_EVENT_MARK);
	pl_encode(&f->e, 0);
	pl_encode(&f->e, 0);
	pl_encode(&f->e, 1);
	pl_encode(&f->e, 0);
}

static void begin_rows(struct file *f, enum pl_section tag, uint32_t rows)
{
	if (tag == PL_SECTION_THREADS)
		pl_encode(&f->e, rows);
	else if (tag != PL_SECTION_EVENTS)
		begin_table(f, 1, rows);
}

/* One name, as long as can be, in rows of a few bytes. */
static enum plumb_error_code read_name_in_rows(enum pl_section tag, uint32_t rows,
					       void (*put)(struct file *f, uint32_t i), struct plumb_profile *ret)
{
	char *name = calloc(1, PL_STRING_MAX_BYTES);
	struct pl_capture_info info;
	struct file f;

	assert_non_null(name);
	memset(name, 'A', PL_STRING_MAX_BYTES);
	file_init(&f);
	add_location_named(&f, name, PL_STRING_MAX_BYTES);
	end_chunk(&f, 0);
	begin_rows(&f, tag, rows);
	for (uint32_t i = 0; i < rows; i++)
		put(&f, i);
	end_section(&f, tag);
	end_chunk(&f, 0);
	int fd = descriptor_of(&f.bytes);
	struct plumb_error *err = pl_capture_read(fd, ret, NULL, NULL, &info);
	enum plumb_error_code code = plumb_error_code(err);
	plumb_error_destroy(err);
	file_deinit(&f);
	free(name);
	close(fd);
	return code;
}

static void refuse_name_in_rows(enum pl_section tag, uint32_t rows, void (*put)(struct file *f, uint32_t i))
{
	struct plumb_profile *p;

	assert_ok(pl_profile_create(&p));
	assert_int_equal(read_name_in_rows(tag, rows, put, p), PLUMB_ERR_LIMIT);
	pl_profile_destroy(p);
}

static void names_count_for_each_row(void **state)
{
	refuse_name_in_rows(PL_SECTION_FUNCTIONS, 8192, put_function);
	refuse_name_in_rows(PL_SECTION_LOCKS, 8192, put_lock);
}

/* It is written as often as a function's, which is in locations and stacks, too. */
static void names_in_one_row_alone_count_more(void **state)
{
	refuse_name_in_rows(PL_SECTION_THREADS, 2048, put_thread);
}

/* Events have a limit of their own, and beyond it are counted. */
static void names_of_events_are_kept_up_to_a_limit(void **state)
{
	const uint32_t rows = 2048;
	struct plumb_profile *p;

	assert_ok(pl_profile_create(&p));
	assert_int_equal(read_name_in_rows(PL_SECTION_EVENTS, rows, put_event, p), PLUMB_OK);
	assert_in_range(p->event_count, 1, PL_MAX_EVENT_TEXT / PL_STRING_MAX_BYTES);
	assert_int_equal(p->meta.losses[PL_LOSS_EVENTS], rows - p->event_count);
	pl_profile_destroy(p);
}

/* Samples are packed to nothing, and each is another state of another place at another time: a row of its own. */
static void samples_of_more_kinds_than_a_file_of_its_size_has_are_refused(void **state)
{
	const uint32_t places = 1024, states = 1024, instants = 4, count = places * states * instants;
	struct plumb_profile *p = NULL;
	struct pl_capture_info info;
	struct file f;

	file_init(&f);
	add_location(&f);
	add_chain(&f, 1, places);
	add_places(&f, places, 0, 1, 0, 1);
	pl_encode(&f.e, PL_MAX_TIME_SHIFT);
	pl_encode(&f.e, 1000000);
	end_section(&f, PL_SECTION_UNITS);
	for (uint32_t i = 0; i < instants; i++)
		pl_encode_signed(&f.e, 1);
	end_section(&f, PL_SECTION_TIMES);
	for (uint32_t i = 0; i < instants - 1; i++)
		pl_encode(&f.e, places * states);
	end_section(&f, PL_SECTION_RUNS);
	for (uint32_t i = 0; i < count; i++)
		pl_encode(&f.e, i / states % places);
	end_section(&f, PL_SECTION_SAMPLES);
	for (uint32_t i = 0; i < count; i++)
		pl_encode(&f.e, i % states);
	end_section(&f, PL_SECTION_STATES);
	for (uint32_t i = 0; i < count; i++)
		pl_encode_signed(&f.e, 0);
	end_section(&f, PL_SECTION_WEIGHTS);
	end_chunk(&f, count);
	int fd = descriptor_of(&f.bytes);
	assert_ok(pl_profile_create(&p));
	assert_code(pl_capture_read(fd, p, NULL, NULL, &info), PLUMB_ERR_LIMIT);
	pl_profile_destroy(p);
	file_deinit(&f);
	close(fd);
}

/* A few hundred bytes: before each stack was looked at once, reading them took seconds, and far more with sanitizers.
 */
static void save_deep_stacks(const char *corpus)
{
	const uint32_t count = 40000;
	struct file f;
	char path[4096];

	file_init(&f);
	add_location(&f);
	add_chain(&f, 1, count);
	end_chunk(&f, 0);
	add_chain(&f, count + 2, 1);
	add_samples(&f, count, 0, count, 0, 0);
	end_chunk(&f, count);
	snprintf(path, sizeof path, "%s/deep_stacks_after_a_loss", corpus);
	FILE *out = fopen(path, "wb");
	assert_non_null(out);
	assert_int_equal(fwrite(f.bytes.data, 1, f.bytes.len, out), f.bytes.len);
	assert_int_equal(fclose(out), 0);
	file_deinit(&f);
}

/* With an argument, tests/fuzz/corpus/capture: a file for the fuzzer. */
int main(int argc, char **argv)
{
	if (argc > 1) {
		save_deep_stacks(argv[1]);
		return 0;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chunks_cost_what_is_in_them),
		cmocka_unit_test(what_was_lost_of_deep_stacks_is_found_once),
		cmocka_unit_test(a_small_chunk_costs_little_after_a_large_one),
		cmocka_unit_test(places_beyond_the_samples_are_damage),
		cmocka_unit_test(places_are_paid_as_rows_are),
		cmocka_unit_test(losses_beyond_what_can_be_counted_stay_the_most),
		cmocka_unit_test(stacks_deeper_than_any_that_is_recorded_are_damage),
		cmocka_unit_test(an_hour_in_a_few_deep_stacks_is_read),
		cmocka_unit_test(stacks_that_take_far_more_to_write_than_the_file_has_are_damage),
		cmocka_unit_test(a_name_that_nobody_records_is_cut),
		cmocka_unit_test(names_count_for_each_frame),
		cmocka_unit_test(names_count_for_each_row),
		cmocka_unit_test(names_in_one_row_alone_count_more),
		cmocka_unit_test(names_of_events_are_kept_up_to_a_limit),
		cmocka_unit_test(samples_of_more_kinds_than_a_file_of_its_size_has_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
