/* SPDX-License-Identifier: Apache-2.0 */
/* What the report page tells of a recording as a whole (layer export; any thread). */
#include "page_parts.h"

#include <stdlib.h>

#include "categories.h"
#include "frame_name.h"
#include "labels.h"
#include "loop_holds.h"
#include "opcodes.h"
#include "own_code.h"
#include "report_facts.h"
#include "summary.h"
#include "waits_table.h"

#define SCHEMA "plumb.page/1"

static void write_flags(struct pl_json *j, const struct plumb_profile *p)
{
	pl_json_key_bool(j, "untimed", !pl_profile_has_time(p));
	pl_json_key_bool(j, "counted", p->meta.counted);
	pl_json_key_bool(j, "imported", p->meta.imported);
	pl_json_key_bool(j, "selected", p->meta.selected);
	pl_json_key_u64(j, "ticks", p->meta.ticks);
	pl_json_key_u64(j, "taken_ns", p->meta.taken_ns);
}

static void write_categories(struct pl_json *j)
{
	pl_json_key(j, "categories");
	pl_json_array(j);
	for (int i = 0; i < PL_CATEGORIES; i++) {
		pl_json_object(j);
		pl_json_key_str(j, "name", pl_categories[i].name);
		pl_json_key_str(j, "fill", pl_categories[i].fill);
		pl_json_object_end(j);
	}
	pl_json_array_end(j);
}

/* The names of the instructions that occur, where they are known. */
static void write_opcodes(struct pl_json *j, const struct plumb_profile *p, const struct pl_page_tables *t,
			  bool *seen /* of 65536, all false */)
{
	const struct pl_opcodes *known = pl_opcodes_of(p);
	char key[8];

	for (uint32_t i = 0; i < t->location_count; i++) {
		uint16_t opcode = p->locations[t->locations[i]].opcode;

		if (opcode)
			seen[opcode - 1] = true;
	}
	pl_json_key(j, "opcodes");
	pl_json_object(j);
	for (unsigned i = 0; i < UINT16_MAX; i++) {
		const char *name = seen[i] ? pl_opcode_name(known, i) : NULL;

		if (!name)
			continue;
		snprintf(key, sizeof key, "%u", i);
		pl_json_key_str(j, key, name);
	}
	pl_json_object_end(j);
}

static void write_pruned(struct pl_json *j, const struct pl_page_nodes *n)
{
	if (!n->pruned) {
		pl_json_key_null(j, "pruned");
		return;
	}
	pl_json_key(j, "pruned");
	pl_json_object(j);
	pl_json_key_double(j, "share", n->pruned_share, 12);
	pl_json_key_u64(j, "nodes", n->pruned);
	pl_json_key_double(j, "weight", n->pruned_weight, 6);
	pl_json_object_end(j);
}

/* What chose a part of the recording, if it is one; null: nothing did. */
static void write_filter(struct pl_json *j, const struct pl_export_options *o)
{
	if (o->part)
		pl_json_key_str(j, "filter", o->made_by ? o->made_by : "");
	else
		pl_json_key_null(j, "filter");
}

/* "fair · 8.7 % missed · 3,035 samples": the last line of the text report, and its warnings. */
static void write_summary(struct pl_json *j, const struct pl_summary *s)
{
	char line[1024] = "";
	size_t len = 0;

	for (int i = 0; i < s->verdict.count && len < sizeof line; i++)
		len += (size_t)snprintf(line + len, sizeof line - len, "%s%s", i ? " \xc2\xb7 " : "",
					s->verdict.items[i].text);
	pl_json_key_str_or_null(j, "quality", s->verdict.count ? line : NULL);
	pl_json_key(j, "warnings");
	pl_json_array(j);
	for (int i = 0; i < s->warning_count; i++)
		pl_json_str(j, s->warnings[i].text);
	pl_json_array_end(j);
}

static struct plumb_error *write_trust(struct pl_json *j, const struct plumb_profile *p, const struct pl_filter *f)
{
	struct pl_summary *s = malloc(sizeof *s);
	pl_tree_rows tree = {0};
	struct plumb_error *err = s ? pl_summary_make(p, f, true, s) : &pl_err_no_memory;

	if (!err)
		err = pl_own_code_tree(p, f, PL_OWN_CODE_MIN_SHARE, &tree);
	if (!err) {
		if (s->scale > 1)
			pl_json_key_double(j, "time_scale", s->scale, 9);
		/* Times of the page are not scaled, and no warning may say so. */
		s->scale = 1;
		s->warning_count = 0;
		pl_summary_add_warnings(s, p, f);
		pl_summary_judge(s, p, &tree);
		write_summary(j, s);
	}
	pl_vec_deinit(&tree);
	free(s);
	return err;
}

/* Pauses between recordings that were added up, which are not in the timeline. */
static uint64_t count_pauses(const struct plumb_profile *p)
{
	uint64_t count = 0;

	for (uint32_t b = 1; b < p->axis.count; b++)
		count += p->axis.piece[b] != p->axis.piece[b - 1] + 1;
	return count;
}

static void write_times(struct pl_json *j, const struct plumb_profile *p, const struct pl_page_meta *m)
{
	if (p->axis.merged)
		pl_json_key_u64(j, "pauses", count_pauses(p));
	pl_json_key_u64(j, "bin_ns", m->bin_ns);
	pl_json_key_u64(j, "bins", m->bins);
	pl_json_key_u64(j, "batch_ns", p->batch_ns);
}

/* The rows of functions that are tags, with their labels: most profiles have none. */
static void write_tags(struct pl_json *j, const struct plumb_profile *p, const struct pl_page_tables *t)
{
	struct pl_label labels[PL_LABELS_MAX];

	pl_json_key(j, "tags");
	pl_json_array(j);
	for (uint32_t i = 0; i < t->function_count && !ferror(j->out); i++) {
		unsigned count = pl_function_labels(p, t->functions[i], labels);

		if (!count)
			continue;
		pl_json_object(j);
		pl_json_key_u64(j, "function", i);
		pl_json_key(j, "labels");
		pl_json_array(j);
		for (unsigned k = 0; k < count; k++) {
			pl_json_object(j);
			pl_json_key_strn(j, "name", labels[k].name, labels[k].name_len);
			pl_json_key_strn(j, "value", labels[k].value, labels[k].value_len);
			pl_json_object_end(j);
		}
		pl_json_array_end(j);
		pl_json_object_end(j);
	}
	pl_json_array_end(j);
}

static struct plumb_error *write_waits(struct pl_json *j, const struct plumb_profile *p, const struct pl_filter *f)
{
	struct pl_waits waits;
	struct plumb_error *err = pl_waits_find(p, f, &waits);

	if (!err)
		pl_waits_page_json(&waits, j);
	pl_waits_deinit(&waits);
	return err;
}

static struct plumb_error *write_loop_holds(struct pl_json *j, const struct plumb_profile *p,
					    const struct pl_page_meta *m)
{
	struct pl_loop_holds holds;
	struct plumb_error *err = pl_loop_holds_find(p, &m->o->filter, &holds);

	if (!err)
		pl_loop_holds_json(&holds, p, m->tables->function_of, j);
	pl_loop_holds_deinit(&holds);
	return err;
}

static struct plumb_error *write_meta(struct pl_json *j, const struct plumb_profile *p, const struct pl_page_meta *m,
				      bool *seen)
{
	static const char *const idle[] = {"hide-threads", "keep", "skip-samples"};
	struct pl_text version = pl_text_of(p, p->meta.plumb_version);
	struct plumb_error *err;

	pl_json_object(j);
	pl_json_key_str(j, "schema", SCHEMA);
	pl_json_key_str_or_null(j, "made_by", m->o->made_by);
	pl_json_key_strn(j, "plumb_version", version.s, version.len);
	pl_report_recording(j, p);
	write_flags(j, p);
	pl_report_losses(j, p);
	pl_report_overhead(j, p);
	write_times(j, p, m);
	err = pl_report_findings(j, p, &m->o->filter);
	if (!err)
		err = write_trust(j, p, &m->o->filter);
	if (!err)
		err = write_waits(j, p, &m->o->filter);
	if (!err)
		err = write_loop_holds(j, p, m);
	if (!err)
		err = pl_page_events_json(m, p, j);
	if (!err)
		err = pl_report_processes(j, p, m->threads);
	if (err)
		return err;
	pl_report_threads(j, p, m->threads);
	write_categories(j);
	write_opcodes(j, p, m->tables, seen);
	write_tags(j, p, m->tables);
	pl_page_locks_json(m->locks, p, m->tables, j);
	pl_json_key_u64(j, "sources_left_out", p->meta.sources_left_out);
	write_pruned(j, m->nodes);
	write_filter(j, m->o);
	pl_json_key_str(j, "idle", idle[m->o->filter.idle]);
	pl_json_key_bool(j, "lines", m->o->filter.lines);
	pl_json_key_str_or_null(j, "recording", m->o->recording);
	pl_json_object_end(j);
	return NULL;
}

/* As text of memory: a section begins with its length. */
struct plumb_error *pl_page_meta_write(const struct plumb_profile *p, const struct pl_page_meta *m, FILE *out)
{
	bool *seen = calloc(UINT16_MAX + 1, sizeof *seen);
	char *text = NULL;
	size_t len = 0;
	FILE *f = seen ? open_memstream(&text, &len) : NULL;
	struct pl_page_columns c;
	struct plumb_error *err = &pl_err_no_memory;
	struct pl_json j;

	pl_page_columns_init(&c);
	if (f) {
		pl_json_init(&j, f, 0);
		err = write_meta(&j, p, m, seen);
	}
	bool good = f && !err && !ferror(f);
	good = f && fclose(f) == 0 && good;
	if (good)
		pl_page_columns_bytes(&c, text, len);
	free(text);
	free(seen);
	if (!good)
		return err ? err : &pl_err_no_memory;
	return pl_page_columns_end(&c, PL_PAGE_META, out);
}
