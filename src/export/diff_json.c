/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison as JSON, schema plumb.diff/1 (docs/user/json.md). Layer export; any thread. Streams its rows. */
#include <math.h>
#include <stdlib.h>

#include "diff_words.h"
#include "json.h"
#include "words.h"

#define SCHEMA	     "plumb.diff/1"
#define SHARE_DIGITS 9

static const char *const row_words[] = {
	[PL_DIFF_FUNCTIONS] = "functions", [PL_DIFF_LINES] = "lines", [PL_DIFF_PATHS] = "paths"};
static const char *const scale_words[] = {
	[PL_DIFF_BY_TIME] = "time", [PL_DIFF_BY_SAMPLES] = "samples", [PL_DIFF_BY_FUNCTION] = "function"};

static void write_text(struct pl_json *j, const char *key, struct pl_text t)
{
	pl_json_key_strn(j, key, t.s, t.len);
}

static void write_side(struct pl_json *j, const char *key, const char *name, const struct pl_diff_total *t)
{
	pl_json_key(j, key);
	pl_json_object(j);
	pl_json_key_str_or_null(j, "recordings", name);
	pl_json_key_u64(j, "runs", t->runs);
	pl_json_key_u64(j, "samples", t->samples);
	pl_json_key_u64(j, "weight_ns", t->weight_ns);
	pl_json_object_end(j);
}

/* Null: not of programs that ended by themselves. */
static void write_growth(struct pl_json *j, const struct pl_diff *d)
{
	struct pl_diff_growth g = pl_diff_growth(d, 0);

	if (!g.known) {
		pl_json_key_null(j, "all");
		return;
	}
	pl_json_key(j, "all");
	pl_json_object(j);
	pl_json_key_u64(j, "before_ns", (uint64_t)fmin(g.before_ns, 1.8e19));
	pl_json_key_u64(j, "after_ns", (uint64_t)fmin(g.after_ns, 1.8e19));
	pl_json_key_double(j, "relative", g.relative, 6);
	pl_json_key_double(j, "relative_half_width", g.half_width, 6);
	pl_json_object_end(j);
}

/* The unit of work for which times are told; null: a run. */
static void write_per(struct pl_json *j, const struct pl_diff *d, const struct pl_diff_look *look)
{
	if (!d->per_unit) {
		pl_json_key_null(j, "per");
		return;
	}
	pl_json_key(j, "per");
	pl_json_object(j);
	pl_json_key_str(j, "unit", look->unit);
	pl_json_key_double(j, "before", d->sides[PL_DIFF_BEFORE].units, 9);
	pl_json_key_double(j, "after", d->sides[PL_DIFF_AFTER].units, 9);
	pl_json_object_end(j);
}

static const char *variance_word(const struct pl_diff *d)
{
	if (d->between_runs)
		return "runs";
	return d->sides[PL_DIFF_BEFORE].batched && d->sides[PL_DIFF_AFTER].batched ? "batches" : "samples";
}

static double smallest_change(const struct pl_diff *d)
{
	if (d->between_runs)
		return 0;
	return d->in_time && !d->share_too ? PL_DIFF_MIN_TIME_CHANGE : PL_DIFF_MIN_CHANGE;
}

static void write_head(struct pl_json *j, const struct pl_diff *d, const struct pl_diff_look *look)
{
	pl_json_key_str(j, "schema", SCHEMA);
	pl_json_key_str_or_null(j, "made_by", look->made_by);
	pl_json_key(j, "normalized_by");
	pl_json_object(j);
	pl_json_key_str(j, "scale", scale_words[d->scale]);
	pl_json_key_str_or_null(j, "function", look->reference);
	pl_json_object_end(j);
	pl_json_key_str(j, "judged_by", d->share_too ? "time and share" : d->in_time ? "time" : "share");
	pl_json_key_str(j, "variance", variance_word(d));
	pl_json_key(j, "false_discovery_rate");
	pl_json_object(j);
	pl_json_key_double(j, "self", PL_DIFF_SELF_RATE, 3);
	pl_json_key_double(j, "total", PL_DIFF_TOTAL_RATE, 3);
	pl_json_object_end(j);
	pl_json_key_double(j, "smallest_change", smallest_change(d), 3);
	pl_json_key_u64(j, "moved", d->moved);
	write_side(j, "before", look->names[PL_DIFF_BEFORE], &d->sides[PL_DIFF_BEFORE]);
	write_side(j, "after", look->names[PL_DIFF_AFTER], &d->sides[PL_DIFF_AFTER]);
	write_growth(j, d);
	write_per(j, d, look);
	pl_json_key(j, "changes");
	pl_json_object(j);
	pl_json_key_u64(j, "self", d->self_changes);
	pl_json_key_u64(j, "total", d->total_changes);
	pl_json_object_end(j);
	if (look->fail_above < 0) {
		pl_json_key_null(j, "limit");
		return;
	}
	pl_json_key(j, "limit");
	pl_json_object(j);
	pl_json_key_double(j, "above", look->fail_above, 6);
	pl_json_key_u64(j, "slower", pl_diff_slower(d, look->fail_above));
	pl_json_key_bool(j, "grew", pl_diff_grew(d, look->fail_above));
	pl_json_key_bool(j, "time_unknown", d->time_unknown);
	pl_json_object_end(j);
}

/* Null where the recordings tell no time. */
static void write_time(struct pl_json *j, const struct pl_diff_value *v)
{
	if (isnan(v->time.before_ns)) {
		pl_json_key_null(j, "time");
		return;
	}
	pl_json_key(j, "time");
	pl_json_object(j);
	pl_json_key_double(j, "before_ns", v->time.before_ns, 3);
	pl_json_key_double(j, "after_ns", v->time.after_ns, 3);
	pl_json_key_double(j, "relative", v->time.before_ns > 0 ? v->time.after_ns / v->time.before_ns - 1 : NAN,
			   SHARE_DIGITS);
	pl_json_key_double(j, "relative_half_width", v->time.relative_half_width, SHARE_DIGITS);
	pl_json_object_end(j);
}

static void write_value(struct pl_json *j, const char *key, const struct pl_diff_value *v)
{
	static const char *const verdicts[] = {[PL_DIFF_SAME] = "same",
					       [PL_DIFF_NEW] = "new",
					       [PL_DIFF_GONE] = "gone",
					       [PL_DIFF_MORE] = "more",
					       [PL_DIFF_LESS] = "less"};

	pl_json_key(j, key);
	pl_json_object(j);
	pl_json_key_str(j, "verdict", verdicts[v->verdict]);
	pl_json_key_double(j, "before", v->before, SHARE_DIGITS);
	pl_json_key_double(j, "after", v->after, SHARE_DIGITS);
	pl_json_key_double(j, "change", v->after - v->before, SHARE_DIGITS);
	pl_json_key_double(j, "half_width", v->half_width, SHARE_DIGITS);
	pl_json_key_double(j, "relative", v->before > 0 ? v->after / v->before - 1 : NAN, SHARE_DIGITS);
	pl_json_key_double(j, "relative_half_width", v->relative_half_width, SHARE_DIGITS);
	pl_json_key_double(j, "p", v->p, 12);
	pl_json_key_double(j, "q", v->q, 12);
	pl_json_key_double(j, "detectable", v->detectable, SHARE_DIGITS);
	pl_json_key_double(j, "seen_from", isfinite(v->seen_from) ? v->seen_from : NAN, SHARE_DIGITS);
	write_time(j, v);
	pl_json_key_u64(j, "before_samples", v->before_samples);
	pl_json_key_u64(j, "after_samples", v->after_samples);
	pl_json_object_end(j);
}

static void write_row(struct pl_json *j, const struct pl_diff *d, uint32_t row, const uint32_t *place)
{
	const struct pl_diff_row *r = &d->table[row];
	const struct pl_diff_key *k = &d->keys[r->key];
	const struct pl_function *f = &k->profile->functions[k->function];

	pl_json_object(j);
	write_text(j, "name", pl_text_of(k->profile, f->name));
	write_text(j, "qualname", pl_frame_qualname(k->profile, f));
	write_text(j, "file", pl_text_of(k->profile, k->line > 0 ? pl_function_source(f) : f->file));
	pl_json_key_i64(j, "line", d->rows == PL_DIFF_LINES ? k->line : (int64_t)f->firstline);
	pl_json_key_str(j, "kind", pl_kind_name(f->origin));
	if (d->rows == PL_DIFF_PATHS)
		pl_json_key_u64_or_null(j, "caller", r->parent != PL_DIFF_NO_ROW,
					r->parent != PL_DIFF_NO_ROW ? place[r->parent] : 0);
	write_value(j, "self", &r->self);
	write_value(j, "total", &r->total);
	pl_json_object_end(j);
}

struct plumb_error *pl_diff_json_write(const struct pl_diff *d, const struct pl_diff_look *look, FILE *out)
{
	uint32_t *place = calloc((size_t)d->row_count + 1, sizeof *place); /* row -> its index in the list */
	struct pl_json j;

	if (!place)
		return &pl_err_no_memory;
	for (uint32_t i = 0; i < d->row_count; i++)
		place[d->order[i]] = i;
	pl_json_init(&j, out, 0);
	pl_json_object(&j);
	write_head(&j, d, look);
	pl_json_key_str(&j, "rows", row_words[d->rows]);
	pl_json_key(&j, "list");
	pl_json_array(&j);
	for (uint32_t i = 0; i < d->row_count; i++)
		write_row(&j, d, d->order[i], place);
	pl_json_array_end(&j);
	pl_json_object_end(&j);
	fputc('\n', out);
	free(place);
	return NULL;
}
