/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of resources and of the instrumentation scope in OTLP (layer export), named by OpenTelemetry's
 * conventions; what they have no name for begins with "plumb.". */
#include "otlp_source.h"

#include <stdio.h>
#include <string.h>

#include "frame_name.h"
#include "otlp_fields.h"
#include "words.h"

static struct plumb_error *write_pair(struct pl_otlp_tables *t, struct pl_pb *w, uint32_t field, const char *key,
				      uint32_t string, uint64_t number)
{
	uint32_t id = 0;
	struct plumb_error *err = string ? pl_symbols_string(&t->symbols, string, &id) : NULL;
	size_t len = 0, m;
	const char *text = id ? pl_strtab_get(t->symbols.strings, id, &len) : NULL;

	if (err || (!text && !number))
		return err;
	m = pl_pb_begin(w, field);
	pl_pb_bytes(w, PAIR_KEY, key, strlen(key));
	pl_otlp_any(w, PAIR_VALUE, text, len, number);
	pl_pb_end(w, m);
	return NULL;
}

struct plumb_error *pl_otlp_resource(struct pl_otlp_tables *t, struct pl_pb *w, const struct pl_process *proc)
{
	const struct {
		const char *key;
		uint32_t string;
		uint64_t number;
	} all[] = {
		{"service.name", proc->name ? proc->name : proc->program, 0},
		{"process.pid", 0, proc->pid},
		{"process.parent_pid", 0, proc->parent},
		{"process.command", proc->name, 0},
		{"process.command_line", proc->program, 0},
		{"process.runtime.version", proc->python, 0},
		{"host.name", proc->host ? proc->host : t->p->meta.host, 0},
	};
	size_t m = pl_pb_begin(w, RESOURCE_RESOURCE);
	struct plumb_error *err = NULL;

	for (size_t i = 0; i < sizeof all / sizeof *all && !err; i++)
		err = write_pair(t, w, RESOURCE_ATTRIBUTES, all[i].key, all[i].string, all[i].number);
	pl_pb_end(w, m);
	return err;
}

/* "lost missed" as "plumb.lost_missed". */
static struct plumb_error *write_figures(struct pl_otlp_tables *t, struct pl_pb *w)
{
	struct pl_meta meta = t->p->meta;
	struct plumb_error *err = NULL;
	char key[64];

	for (const struct pl_meta_figure *g = pl_meta_figures; g->name && !err; g++) {
		snprintf(key, sizeof key, "plumb.%s", g->name);
		for (char *c = key; *c; c++)
			*c = *c == ' ' ? '_' : *c;
		err = write_pair(t, w, INSTRUMENT_ATTRIBUTES, key, 0, *pl_meta_figure(&meta, g));
	}
	return err;
}

struct plumb_error *pl_otlp_instrument(struct pl_otlp_tables *t, struct pl_pb *w, const char *made_by)
{
	const struct pl_meta *meta = &t->p->meta;
	struct pl_text version = pl_text_of(t->p, meta->plumb_version);
	size_t m = pl_pb_begin(w, SCOPE_SCOPE), pair;
	struct plumb_error *err;

	pl_pb_bytes(w, INSTRUMENT_NAME, "plumb", 5);
	pl_pb_bytes(w, INSTRUMENT_VERSION, version.s, version.len);
	if (made_by) {
		pair = pl_pb_begin(w, INSTRUMENT_ATTRIBUTES);
		pl_pb_bytes(w, PAIR_KEY, "plumb.made_by", 13);
		pl_otlp_any(w, PAIR_VALUE, made_by, strlen(made_by), 0);
		pl_pb_end(w, pair);
	}
	err = write_pair(t, w, INSTRUMENT_ATTRIBUTES, "plumb.command", meta->command, 0);
	if (!err)
		err = write_pair(t, w, INSTRUMENT_ATTRIBUTES, "plumb.engine", meta->engine, 0);
	if (!err)
		err = write_figures(t, w);
	pl_pb_end(w, m);
	return err;
}
