/* SPDX-License-Identifier: Apache-2.0 */
/* Which of a profile.proto's values are samples and which time, and what its comments tell (layer import). The last
 * type of each kind is taken, as viewers do, unless the file names another as its default. */
#include "pprof_meaning.h"

#include <stdlib.h>
#include <string.h>

#include "words.h"

static const struct {
	const char *name;
	uint64_t ns;
} units[] = {
	{"nanoseconds", 1},	   {"ns", 1},	       {"nanosecond", 1},
	{"microseconds", 1000},	   {"us", 1000},       {"microsecond", 1000},
	{"milliseconds", 1000000}, {"ms", 1000000},    {"millisecond", 1000000},
	{"seconds", 1000000000u},  {"s", 1000000000u}, {"second", 1000000000u},
};

/* Nanoseconds in a unit; 0: it is not one of time. */
static uint64_t unit_ns(struct pl_cursor unit)
{
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (pl_pprof_is_text(unit, units[i].name))
			return units[i].ns;
	}
	return 0;
}

static struct plumb_error *choose(const struct pl_pprof *t, struct pl_pprof_meaning *m)
{
	bool count_is_default = false, weight_is_default = false;

	for (size_t i = 0; i < t->types.len; i++) {
		struct pl_cursor name, unit;
		struct plumb_error *err = pl_pprof_text(t, t->types.data[i].name, &name);
		bool is_default = t->default_type && t->types.data[i].name == t->default_type;
		uint64_t ns;

		if (!err)
			err = pl_pprof_text(t, t->types.data[i].unit, &unit);
		if (err)
			return err;
		ns = unit_ns(unit);
		if (ns && !weight_is_default) {
			m->weight = i;
			m->scale = ns;
			m->on_cpu = pl_pprof_is_text(name, "cpu");
			weight_is_default = is_default;
		} else if (!ns && !count_is_default && pl_pprof_is_text(unit, "count")) {
			m->count = i;
			count_is_default = is_default;
		}
	}
	return NULL;
}

/* Where neither is to be had, the default or the last value is the count, whatever its unit: shares are right. */
static void choose_anything(const struct pl_pprof *t, struct pl_pprof_meaning *m)
{
	if (m->count != PL_PPROF_NO_VALUE || m->weight != PL_PPROF_NO_VALUE)
		return;
	m->count = t->types.len - 1;
	for (size_t i = 0; i < t->types.len; i++) {
		if (t->default_type && t->types.data[i].name == t->default_type)
			m->count = i;
	}
}

static struct plumb_error *add_string(struct plumb_profile *p, struct pl_cursor text, uint32_t *ret)
{
	return pl_profile_string(p, text.p ? (const void *)text.p : "", pl_cursor_left(&text), ret);
}

static bool parse_u64(struct pl_cursor text, uint64_t *ret)
{
	uint64_t v = 0;

	for (const uint8_t *p = text.p; p < text.end; p++) {
		if (*p < '0' || *p > '9' || __builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return false;
	}
	*ret = v;
	return true;
}

/* "what: value", as our exporter writes it. */
static struct plumb_error *read_fact(struct plumb_profile *p, struct pl_cursor what, struct pl_cursor value)
{
	struct pl_meta *m = &p->meta;

	if (pl_pprof_is_text(what, "plumb"))
		return add_string(p, value, &m->plumb_version);
	if (pl_pprof_is_text(what, "command"))
		return add_string(p, value, &m->command);
	if (pl_pprof_is_text(what, "host"))
		return add_string(p, value, &m->host);
	if (pl_pprof_is_text(what, "engine"))
		return add_string(p, value, &m->engine);
	if (pl_pprof_is_text(what, "mode"))
		(void)pl_mode_parse((const char *)value.p, pl_cursor_left(&value), &m->mode);
	if (pl_pprof_is_text(what, "jitter"))
		m->jitter = true;
	if (pl_pprof_is_text(what, "complete"))
		m->complete = false;
	for (const struct pl_meta_figure *f = pl_meta_figures; f->name; f++) {
		if (pl_pprof_is_text(what, f->name))
			(void)parse_u64(value, pl_meta_figure(m, f));
	}
	return NULL;
}

/* @p seen: by string. A text that is named again says nothing new, and may be long. */
static struct plumb_error *read_comments(const struct pl_pprof *t, struct plumb_profile *p, bool *seen, bool *ours)
{
	struct plumb_error *err = NULL;

	for (size_t i = 0; i < t->comments.len && !err; i++) {
		struct pl_cursor text = {0}, what, value;
		const uint8_t *colon;

		err = pl_pprof_text(t, t->comments.data[i], &text);
		if (err)
			return err;
		if (seen[t->comments.data[i]])
			continue;
		seen[t->comments.data[i]] = true;
		colon = pl_cursor_left(&text) ? memmem(text.p, pl_cursor_left(&text), ": ", 2) : NULL;
		what = (struct pl_cursor){text.p, colon ? colon : text.p};
		value = (struct pl_cursor){colon ? colon + 2 : text.p, text.end};
		*ours |= i == 0 && pl_pprof_is_text(what, "plumb");
		if (*ours)
			err = read_fact(p, what, value);
	}
	return err;
}

static struct plumb_error *understand_comments(const struct pl_pprof *t, struct plumb_profile *p, bool *ours)
{
	bool *seen = calloc(t->strings.len + 1, sizeof *seen);
	struct plumb_error *err = seen ? read_comments(t, p, seen, ours) : &pl_err_no_memory;

	free(seen);
	return err;
}

/* Of another's file: the program is its first mapping. */
static struct plumb_error *read_program(const struct pl_pprof *t, struct plumb_profile *p, uint32_t *program)
{
	struct pl_cursor file = {0}, name;
	struct plumb_error *err = t->mapping_files.len ? pl_pprof_text(t, t->mapping_files.data[0], &file) : NULL;

	if (!err)
		err = add_string(p, file, &p->meta.command);
	name = file;
	for (const uint8_t *c = file.p; c < file.end; c++) {
		if (*c == '/')
			name.p = c + 1;
	}
	return err ? err : add_string(p, name, program);
}

static uint64_t positive(int64_t v)
{
	return v > 0 ? (uint64_t)v : 0;
}

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

struct plumb_error *pl_pprof_understand(const struct pl_pprof *t, struct plumb_profile *p, struct pl_pprof_meaning *ret)
{
	struct pl_pprof_meaning m = {.count = PL_PPROF_NO_VALUE, .weight = PL_PPROF_NO_VALUE, .scale = 1};
	struct pl_cursor unit = {0};
	struct plumb_error *err = choose(t, &m);

	choose_anything(t, &m);
	if (!err && t->period_type.unit)
		err = pl_pprof_text(t, t->period_type.unit, &unit);
	if (err)
		return err;
	m.period_ns = times(positive(t->period), unit_ns(unit));
	p->meta.start_real_ns = positive(t->time_ns);
	p->meta.duration_ns = positive(t->duration_ns);
	p->meta.period_ns = m.period_ns;
	p->meta.mode = m.on_cpu ? PL_MODE_CPU : PL_MODE_WALL;
	p->meta.complete = true;
	err = understand_comments(t, p, &m.ours);
	if (!err && !m.ours)
		err = read_program(t, p, &m.program);
	if (!err)
		*ret = m;
	return err;
}

enum pl_pprof_worth pl_pprof_weigh(const struct pl_pprof_meaning *m, const uint64_t *values, uint64_t *count_ret,
				   uint64_t *weight_ret)
{
	bool counted = m->count != PL_PPROF_NO_VALUE, weighed = m->weight != PL_PPROF_NO_VALUE;
	uint64_t count = counted ? values[m->count] : 0, weight = weighed ? values[m->weight] : 0;

	if (count > INT64_MAX || weight > INT64_MAX)
		return PL_PPROF_NEGATIVE;
	if (count == 0 && weight == 0)
		return PL_PPROF_NOTHING; /* its other values are of something else, such as memory */
	weight = times(weight, m->scale);
	/* Time alone: as many samples as it has periods. What has a weight was seen at least once. */
	if (!counted && m->period_ns)
		count = weight / m->period_ns + (weight % m->period_ns >= m->period_ns - m->period_ns / 2);
	if (count == 0)
		count = 1;
	/* Without a time shares are those of the counts. */
	if (!weighed)
		weight = times(count, m->period_ns ? m->period_ns : 1);
	*count_ret = count;
	*weight_ret = weight;
	return PL_PPROF_SAMPLES;
}
