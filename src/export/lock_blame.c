/* SPDX-License-Identifier: Apache-2.0 */
/* For which locks threads waited and who held them (layer export; any thread). */
#include "lock_blame.h"

#include <inttypes.h>
#include <stdio.h>

#include "frame_name.h"
#include "report_facts.h"

static void key_text(struct pl_json *j, const char *key, struct pl_text text)
{
	pl_json_key_strn(j, key, text.s, text.len);
}

static void write_function(uint32_t function, const struct plumb_profile *p, struct pl_json *j)
{
	const struct pl_function *f = &p->functions[function];

	key_text(j, "name", pl_frame_qualname(p, f));
	key_text(j, "file", pl_text_of(p, f->file));
}

static void write_place(const struct pl_lock_place *place, const struct plumb_profile *p, struct pl_json *j)
{
	pl_json_object(j);
	write_function(place->function, p, j);
	pl_json_key_i64(j, "line", place->line);
	pl_report_share(j, &place->share);
	pl_json_object_end(j);
}

static void write_holder(const struct pl_lock_holding *h, const struct plumb_profile *p, struct pl_json *j)
{
	const struct pl_location *inside = h->inside ? &p->locations[h->inside - 1] : NULL;

	pl_json_object(j);
	pl_json_key_u64(j, "tid", h->tid);
	key_text(j, "thread", pl_text_of(p, h->name));
	if (inside) {
		write_function(inside->function, p, j);
		pl_json_key_i64(j, "line", inside->line);
	}
	if (h->function) {
		pl_json_key(j, "ran");
		pl_json_object(j);
		write_function(h->function - 1, p, j);
		pl_json_object_end(j);
	}
	pl_report_share(j, &h->held);
	pl_json_object_end(j);
}

static void write_share(const char *key, const struct pl_share *s, struct pl_json *j)
{
	pl_json_key(j, key);
	pl_json_object(j);
	pl_report_share(j, s);
	pl_json_object_end(j);
}

void pl_lock_json_members(struct pl_json *j, uint64_t pid, uint64_t object, bool recursive)
{
	char id[24];

	snprintf(id, sizeof id, "0x%" PRIx64, object);
	pl_json_key_u64(j, "pid", pid);
	pl_json_key_str(j, "id", id);
	pl_json_key_str(j, "type", recursive ? "threading.RLock" : "threading.Lock");
}

static void write_lock(const struct pl_lock_row *row, const struct plumb_profile *p, struct pl_json *j)
{
	pl_json_object(j);
	pl_lock_json_members(j, p->processes[row->process].pid, row->object, row->recursive);
	pl_json_key_u64(j, "threads", row->threads);
	pl_report_share(j, &row->waited);
	pl_json_key(j, "waiters");
	pl_json_array(j);
	for (size_t i = 0; i < row->places.len && !ferror(j->out); i++)
		write_place(&row->places.data[i], p, j);
	pl_json_array_end(j);
	pl_json_key(j, "held_in");
	pl_json_array(j);
	for (size_t i = 0; i < row->held_in.len && !ferror(j->out); i++)
		write_place(&row->held_in.data[i], p, j);
	pl_json_array_end(j);
	pl_json_key(j, "holders");
	pl_json_array(j);
	for (size_t i = 0; i < row->holders.len && !ferror(j->out); i++)
		write_holder(&row->holders.data[i], p, j);
	pl_json_array_end(j);
	write_share("passed_on", &row->passed_on, j);
	write_share("unknown", &row->unknown, j);
	pl_json_object_end(j);
}

void pl_lock_blame_json(const struct pl_lock_blame *b, const struct plumb_profile *p, struct pl_json *j)
{
	if (!b->samples)
		return;
	pl_json_key(j, "lock_blame");
	pl_json_object(j);
	pl_json_key_u64(j, "samples", b->samples);
	pl_json_key_u64(j, "weight_ns", b->weight_ns);
	pl_json_key(j, "locks");
	pl_json_array(j);
	for (size_t i = 0; i < b->rows.len && !ferror(j->out); i++)
		write_lock(&b->rows.data[i], p, j);
	pl_json_array_end(j);
	write_share("others", &b->others, j);
	pl_json_object_end(j);
}
