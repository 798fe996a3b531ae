/* SPDX-License-Identifier: Apache-2.0 */
/* Collapsed stacks with two counts, `basename:function;... BEFORE AFTER`, as difffolded.pl writes and flamegraph.pl,
 * inferno and others read them. Layer export; any thread.
 *
 * The counts after are samples as they were taken; those before are brought to the same sum by what the comparison is
 * normalised by, since a flame graph colours by their difference. A stack that was there keeps at least 1. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "diff_words.h"
#include "size_limit.h"

typedef PL_VEC(uint32_t) rows;

static void write_text(struct pl_text t, bool escape, FILE *out)
{
	for (size_t i = 0; i < t.len; i++) {
		size_t skip = pl_text_line_break((const unsigned char *)t.s + i, t.len - i);

		if (!escape || (!skip && t.s[i] != ';'))
			fputc(t.s[i], out);
		else
			fputc(skip ? ' ' : ':', out);
		i += escape && skip ? skip - 1 : 0;
	}
}

static void write_frame(const struct pl_diff_key *k, const struct pl_diff_look *look, FILE *out)
{
	const struct pl_function *f = &k->profile->functions[k->function];
	struct pl_text file = pl_text_of(k->profile, f->file);

	if (!pl_frame_is_bare(k->profile, f, (int32_t)f->firstline)) {
		write_text(look->full_names ? file : pl_text_basename(file), look->escape, out);
		fputc(':', out);
	}
	write_text(pl_frame_qualname(k->profile, f), look->escape, out);
}

static bool write_stack(const struct pl_diff *d, uint32_t row, const struct pl_diff_look *look, rows *chain, FILE *out)
{
	pl_vec_clear(chain);
	for (uint32_t r = row; r != PL_DIFF_NO_ROW; r = d->table[r].parent) {
		if (!pl_vec_push(chain, r))
			return false;
	}
	for (size_t i = chain->len; i > 0; i--) {
		write_frame(&d->keys[d->table[chain->data[i - 1]].key], look, out);
		if (i > 1)
			fputc(';', out);
	}
	return true;
}

/* Of all time or all samples: to the samples after. Of a function: what its time is in samples after. */
static double scale_of(const struct pl_diff *d)
{
	const struct pl_diff_total *t = &d->sides[PL_DIFF_AFTER];

	if (d->scale != PL_DIFF_BY_FUNCTION)
		return (double)t->samples;
	return (double)t->samples * (double)t->reference_ns / (double)t->weight_ns;
}

static uint64_t before_count(const struct pl_diff_value *v, double scale)
{
	if (!v->before_samples)
		return 0;
	return (uint64_t)fmax(1, fmin(round(v->before * scale), 1e18));
}

static bool is_written(const struct pl_diff_value *v)
{
	return v->before_samples || v->after_samples;
}

static double bytes_of_frame(const struct pl_diff_key *k, const struct pl_diff_look *look)
{
	const struct pl_function *f = &k->profile->functions[k->function];
	struct pl_text file = pl_text_of(k->profile, f->file);

	return 2 + (double)pl_frame_qualname(k->profile, f).len +
	       (double)(look->full_names ? file : pl_text_basename(file)).len;
}

/* What there is to write of each side: whole stacks. A row comes behind its parent. */
static bool add_up(const struct pl_diff *d, const struct pl_diff_look *look, double sums[PL_DIFF_SIDES])
{
	double *bytes_of = calloc((size_t)d->row_count + 1, sizeof *bytes_of);

	for (uint32_t r = 0; bytes_of && r < d->row_count; r++) {
		const struct pl_diff_row *row = &d->table[r];

		bytes_of[r] = bytes_of_frame(&d->keys[row->key], look);
		bytes_of[r] += row->parent == PL_DIFF_NO_ROW ? 0 : bytes_of[row->parent];
		sums[PL_DIFF_BEFORE] += row->self.before_samples ? bytes_of[r] : 0;
		sums[PL_DIFF_AFTER] += row->self.after_samples ? bytes_of[r] : 0;
	}
	bool ok = bytes_of != NULL;
	free(bytes_of);
	return ok;
}

/* A large recording on one side does not make more of a small one on the other. */
static struct plumb_error *check_size(const struct pl_diff *d, const struct pl_diff_look *look)
{
	double sums[PL_DIFF_SIDES] = {0};

	if (!add_up(d, look, sums))
		return &pl_err_no_memory;
	for (int side = 0; side < PL_DIFF_SIDES; side++)
		if (sums[side] > pl_size_limit_of_files(d->sides[side].file_bytes))
			return pl_size_limit_exceeded(pl_error(PLUMB_ERR_LIMIT,
							       "with the whole stack in each line it would be %.0f GB",
							       sums[side] / 1e9));
	return NULL;
}

struct plumb_error *pl_diff_collapsed_write(const struct pl_diff *d, const struct pl_diff_look *look, FILE *out)
{
	double scale = scale_of(d);
	struct plumb_error *err = check_size(d, look);
	rows chain = {0};
	bool ok = true;

	/* A reader that went away (EPIPE) needs no more lines; the caller reports the stream's error. */
	for (uint32_t r = 0; r < d->row_count && ok && !err && !ferror(out); r++) {
		const struct pl_diff_value *v = &d->table[r].self;

		if (!is_written(v))
			continue;
		ok = write_stack(d, r, look, &chain, out);
		fprintf(out, " %" PRIu64 " %" PRIu64 "\n", before_count(v, scale), v->after_samples);
	}
	pl_vec_deinit(&chain);
	return ok ? err : &pl_err_no_memory;
}
