/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Lines, schema plumb.lines/1: an object about the recording, then one for each line of a function that was seen,
 * the heaviest first. docs/user/formats.md says what each member means. Layer export; any thread. Streams. */
#include <inttypes.h>

#include "clock.h"
#include "formats.h"
#include "frame_name.h"
#include "json.h"
#include "words.h"

#define SCHEMA	     "plumb.lines/1"
#define SHARE_DIGITS 6

static void key_text(struct pl_json *j, const char *key, struct pl_text t)
{
	pl_json_key_strn(j, key, t.s, t.len);
}

static void put_recording(struct pl_json *j, const struct plumb_profile *p, const char *made_by)
{
	const struct pl_meta *m = &p->meta;

	pl_json_key_str(j, "schema", SCHEMA);
	key_text(j, "plumb_version", pl_text_of(p, m->plumb_version));
	pl_json_key_str_or_null(j, "made_by", made_by);
	key_text(j, "command", pl_text_of(p, m->command));
	key_text(j, "host", pl_text_of(p, m->host));
	pl_json_key_str(j, "mode", pl_mode_name(m->mode));
	pl_json_key_time(j, "start", m->start_real_ns);
	pl_json_key_u64(j, "duration_ns", m->duration_ns);
	pl_json_key_u64(j, "period_ns", m->period_ns);
	pl_json_key_bool(j, "complete", m->complete);
	pl_json_key_u64(j, "ticks", m->ticks);
}

static void put_samples(struct pl_json *j, const struct pl_totals *t)
{
	pl_json_key(j, "samples");
	pl_json_object(j);
	pl_json_key_u64(j, "total", t->samples);
	pl_json_key_u64(j, "weight_ns", t->weight_ns);
	for (unsigned q = 0; q < PL_QUALITIES; q++)
		pl_json_key_u64(j, pl_quality_name(q), t->by_quality[q]);
	pl_json_object_end(j);
}

static void put_losses(struct pl_json *j, const struct pl_meta *m)
{
	pl_json_key(j, "losses");
	pl_json_object(j);
	for (int i = 0; i < PL_LOSSES; i++)
		pl_json_key_u64(j, pl_losses[i].member, m->losses[i]);
	pl_json_object_end(j);
}

static void put_header(const struct plumb_profile *p, const char *made_by, const struct pl_totals *t, size_t lines,
		       FILE *out)
{
	struct pl_json j;

	pl_json_init(&j, out, 0);
	pl_json_object(&j);
	put_recording(&j, p, made_by);
	pl_json_key_u64(&j, "processes", p->process_count);
	pl_json_key_u64(&j, "threads", t->threads);
	put_samples(&j, t);
	put_losses(&j, &p->meta);
	pl_json_key_u64(&j, "lines", lines);
	pl_json_object_end(&j);
	putc('\n', out);
}

static void put_share(struct pl_json *j, const char *key, const struct pl_share *s)
{
	pl_json_key(j, key);
	pl_json_object(j);
	pl_json_key_u64(j, "samples", s->samples);
	pl_json_key_u64(j, "weight_ns", s->weight_ns);
	pl_json_key_double(j, "share", s->share, SHARE_DIGITS);
	pl_json_key_double(j, "half_width", s->half_width, SHARE_DIGITS);
	pl_json_object_end(j);
}

static void put_line(const struct plumb_profile *p, const struct pl_function_row *r, FILE *out)
{
	const struct pl_function *f = &p->functions[r->function];
	struct pl_json j;

	pl_json_init(&j, out, 0);
	pl_json_object(&j);
	key_text(&j, "name", pl_text_of(p, f->name));
	key_text(&j, "qualname", pl_frame_qualname(p, f));
	key_text(&j, "file", pl_text_of(p, r->line > 0 ? pl_function_source(f) : f->file));
	pl_json_key_u64(&j, "first_line", f->firstline);
	pl_json_key_i64(&j, "line", r->line);
	pl_json_key_str(&j, "kind", pl_kind_name(f->origin));
	put_share(&j, "self", &r->self);
	put_share(&j, "total", &r->total);
	pl_json_object_end(&j);
	putc('\n', out);
}

struct plumb_error *pl_jsonl_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out)
{
	const struct pl_filter everything = {.idle = PL_IDLE_KEEP, .lines = true};
	pl_function_rows rows = {0};
	struct pl_totals totals;
	struct plumb_error *err = pl_view_totals(p, &everything, &totals);

	if (!err)
		err = pl_view_functions(p, &everything, &rows);
	if (!err)
		put_header(p, o->made_by, &totals, rows.len, out);
	for (size_t i = 0; i < rows.len && !err && !ferror(out); i++)
		put_line(p, &rows.data[i], out);
	pl_vec_deinit(&rows);
	return err;
}
