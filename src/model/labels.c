/* SPDX-License-Identifier: Apache-2.0 */
/* The labels of samples (layer model). One owner at a time. */
#include "labels.h"

#include <string.h>

#include "buf.h"

#define LABELS_MAX_BYTES (64u << 10)

/* Where a value ends: at the last comma before the next name, or at @p end. */
static const char *end_of_value(const char *value, const char *end)
{
	const char *comma = NULL;

	for (const char *c = value; c < end; c++) {
		if (*c == '=' && comma)
			return comma;
		if (*c == ',' && c + 1 < end && c[1] == ' ')
			comma = c;
	}
	return end;
}

/* Of a text between the brackets: the name and value that begin at *@p at, which goes behind them. */
static bool next_in_text(const char **at, const char *end, struct pl_label *ret)
{
	const char *equals = memchr(*at, '=', (size_t)(end - *at));

	if (!equals || equals == *at)
		return false;
	const char *stop = end_of_value(equals + 1, end);
	*ret = (struct pl_label){.name = *at,
				 .name_len = (size_t)(equals - *at),
				 .value = equals + 1,
				 .value_len = (size_t)(stop - equals - 1)};
	*at = stop == end ? end : stop + 2;
	return true;
}

static struct plumb_error *add_text(struct pl_buf *to, const char *text, size_t len)
{
	struct plumb_error *err = pl_buf_add(to, text, strnlen(text, len));

	return err ? err : pl_buf_add(to, "", 1);
}

struct plumb_error *pl_labels_of_text(struct plumb_profile *p, const char *text, size_t len, uint32_t *ret)
{
	struct pl_buf labels = PL_BUF_INIT(LABELS_MAX_BYTES);
	struct plumb_error *err = NULL;
	struct pl_label l;

	*ret = 0;
	if (len < 2 || len > LABELS_MAX_BYTES / 2 || text[0] != '[' || text[len - 1] != ']')
		return NULL;
	const char *at = text + 1, *end = text + len - 1;
	for (unsigned n = 0; n < PL_LABELS_MAX && !err && at < end && next_in_text(&at, end, &l); n++) {
		err = add_text(&labels, l.name, l.name_len);
		if (!err)
			err = add_text(&labels, l.value, l.value_len);
	}
	if (!err && labels.len)
		err = pl_profile_string(p, labels.data, labels.len, ret);
	pl_buf_deinit(&labels);
	return err;
}

struct plumb_error *pl_profile_tag(struct plumb_profile *p, const char *text, const void *labels, size_t len,
				   uint32_t *ret)
{
	uint32_t id = 0;
	struct plumb_error *err =
		len ? pl_profile_string(p, labels, len, &id) : pl_labels_of_text(p, text, strlen(text), &id);

	return err ? err : pl_profile_labelled(p, 0, text, id, ret);
}

/* Strings end with a NUL that is not part of them: the last value may lack its own. */
unsigned pl_labels_in(const struct plumb_profile *p, uint32_t string, struct pl_label ret[PL_LABELS_MAX])
{
	size_t len = 0;
	const char *at = pl_strtab_get(p->strings, string, &len), *end = at + len;
	unsigned n = 0;

	while (n < PL_LABELS_MAX && at < end) {
		struct pl_label l = {.name = at, .name_len = strlen(at)};

		if (l.name_len >= (size_t)(end - at))
			break;
		l.value = at + l.name_len + 1;
		l.value_len = strlen(l.value);
		at = l.value + l.value_len + 1;
		ret[n++] = l;
	}
	return n;
}

unsigned pl_function_labels(const struct plumb_profile *p, uint32_t function, struct pl_label ret[PL_LABELS_MAX])
{
	return pl_labels_in(p, p->functions[function].labels, ret);
}

void pl_tag_nodes(const struct plumb_profile *p, uint32_t *ret)
{
	for (uint32_t i = 1; i < p->stack_count; i++) {
		uint32_t parent = p->stacks[i].parent, function = p->locations[p->stacks[i].location].function;

		ret[i] = parent ? ret[parent] : p->functions[function].labels ? i : 0;
	}
}

static bool is_name(const struct pl_label *l, const char *asked)
{
	return strncmp(l->name, asked, l->name_len) == 0 && (asked[l->name_len] == '=' || !asked[l->name_len]);
}

static bool is_asked(const struct pl_label *l, const char *asked)
{
	return is_name(l, asked) && (!asked[l->name_len] || strcmp(l->value, asked + l->name_len + 1) == 0);
}

/* One of @p asked that has the name of @p like. */
static bool has_one(const struct pl_label *labels, unsigned count, const char *like, const char *const *asked,
		    size_t asked_count)
{
	size_t name = strcspn(like, "=");

	for (size_t i = 0; i < asked_count; i++) {
		if (strncmp(asked[i], like, name) != 0 || (asked[i][name] != '=' && asked[i][name]))
			continue;
		for (unsigned k = 0; k < count; k++)
			if (is_asked(&labels[k], asked[i]))
				return true;
	}
	return false;
}

bool pl_labels_match(const struct pl_label *labels, unsigned count, const char *const *asked, size_t asked_count)
{
	for (size_t i = 0; i < asked_count; i++)
		if (!has_one(labels, count, asked[i], asked, asked_count))
			return false;
	return true;
}
