/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: whatever a recording (pieces.h) holds, each format can be written of it, of a part of it, and of a
 * comparison of the two. The last byte of the input says which format; all of them take a fifth of a second. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture.h"
#include "diff_page.h"
#include "pieces.h"
#include "refine.h"
#include "require.h"

#define OUTPUT_MAX (1u << 22) /* bytes of one format; a small recording can stand for gigabytes */

/* Takes so much, then the disk is full. */
static ssize_t take(void *cookie, const char *bytes, size_t len)
{
	size_t *left = cookie;

	(void)bytes;
	if (len > *left)
		return 0;
	*left -= len;
	return (ssize_t)len;
}

static FILE *open_output(size_t *left)
{
	*left = OUTPUT_MAX;
	FILE *out = fopencookie(left, "w", (cookie_io_functions_t){.write = take});
	REQUIRE(out);
	return out;
}

/* What a user can be told. */
static void check(struct plumb_error *err)
{
	REQUIRE(!err || *plumb_error_message(err));
	plumb_error_destroy(err);
}

static const struct pl_export_options look = {
	.filter = {.lines = true}, .escape = true, .width = 100, .unicode = true, .max_lines = 25, .quality = true};

static const struct pl_format *format_number(unsigned number)
{
	unsigned count = 0;

	while (pl_formats[count].name)
		count++;
	return &pl_formats[number % count];
}

static void write_one(const struct plumb_profile *p, unsigned number)
{
	size_t left;
	FILE *out = open_output(&left);

	check(format_number(number)->write(p, &look, out));
	(void)fclose(out);
}

/* ---- the samples again ------------------------------------------------------------------------------------------- */

struct again {
	int fd;
	struct plumb_profile *profile;
	struct pl_capture_info info;
};

static struct plumb_error *each(void *ctx, pl_sample_fn *fn, void *fn_ctx)
{
	struct again *a = ctx;

	REQUIRE(lseek(a->fd, 0, SEEK_SET) == 0);
	return pl_capture_read_again(a->fd, a->profile, &a->info, fn, fn_ctx);
}

/* ---- a comparison ------------------------------------------------------------------------------------------------ */

static void write_diff(const struct pl_diff *d)
{
	static const struct pl_diff_look words = {
		.names = {"a.plumb", "b.plumb"}, .fail_above = 0.1, .escape = true, .width = 100, .max_lines = 25};
	size_t left;

	for (const struct pl_diff_format *f = pl_diff_formats; f->name; f++) {
		if (!f->write || f->paths != (d->rows == PL_DIFF_PATHS))
			continue;
		FILE *out = open_output(&left);

		check(f->write(d, &words, out));
		(void)fclose(out);
	}
}

static void compare(const struct plumb_profile *a, const struct plumb_profile *b, enum pl_diff_rows rows)
{
	const struct pl_diff_input sides[PL_DIFF_SIDES] = {{&a, 1}, {&b, 1}};
	const struct pl_diff_options o = {.rows = rows};
	struct pl_diff d = {0};
	struct plumb_error *err = pl_diff_make(sides, &o, &d);

	if (!err)
		write_diff(&d);
	check(err);
	pl_diff_deinit(&d);
}

static void write_part(const struct plumb_profile *p, const struct pl_refine *o, unsigned number)
{
	struct plumb_profile *part = NULL;
	struct plumb_error *err = pl_refine(p, o, &part);

	check(err);
	if (!part)
		return;
	write_one(part, number);
	compare(p, part, (enum pl_diff_rows)(number % (PL_DIFF_PATHS + 1)));
	pl_profile_destroy(part);
}

static void write_parts(const struct plumb_profile *p, unsigned number)
{
	static const struct pl_refine parts[] = {
		{.focus = "a"}, {.doing = PL_PASS_ON_CPU, .min_share = 0.01}, {.from_ns = 1, .to_ns = 1u << 30}};

	write_part(p, &parts[number % (sizeof parts / sizeof *parts)], number);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pl_buf file = PL_BUF_INIT((size_t)1 << 28);
	struct again again = {0};
	unsigned number = size ? data[size - 1] : 0;

	recording_of_pieces(data, size, &file);
	again.fd = recording_file(&file);
	pl_buf_deinit(&file);
	REQUIRE(!pl_profile_create(&again.profile));
	struct plumb_error *err = pl_capture_read(again.fd, again.profile, NULL, NULL, &again.info);
	if (!err) {
		again.profile->stream = (struct pl_stream){.each = each, .ctx = &again};
		write_one(again.profile, number);
		write_parts(again.profile, number);
		again.profile->stream = (struct pl_stream){0};
	}
	check(err);
	pl_profile_destroy(again.profile);
	close(again.fd);
	return 0;
}
