/* SPDX-License-Identifier: Apache-2.0 */
/* A sample's labels (layer import): ours, and what other profilers call the same. Others are labels of the program
 * where plumb wrote them; other profilers have thousands of them, such as numbers of requests, and these are left out.
 */
#include "pprof_labels.h"

#include <stdlib.h>

#include "words.h"

enum role {
	ROLE_UNKNOWN,
	ROLE_NONE,
	ROLE_THREAD,
	ROLE_TID,
	ROLE_PROCESS,
	ROLE_PID,
	ROLE_HOST,
	ROLE_STATE,
	ROLE_REASON,
	ROLE_QUALITY
};

static const struct {
	const char *key;
	enum role role;
} roles[] = {
	{"thread", ROLE_THREAD},    {"thread_name", ROLE_THREAD},   {"thread name", ROLE_THREAD},
	{"tid", ROLE_TID},	    {"thread_id", ROLE_TID},	    {"thread id", ROLE_TID},
	{"process", ROLE_PROCESS},  {"process_name", ROLE_PROCESS}, {"comm", ROLE_PROCESS},
	{"pid", ROLE_PID},	    {"process_id", ROLE_PID},	    {"process id", ROLE_PID},
	{"host", ROLE_HOST},	    {"state", ROLE_STATE},	    {"quality", ROLE_QUALITY},
	{"waits_for", ROLE_REASON},
};

struct plumb_error *pl_pprof_keys_init(struct pl_pprof_keys *k, const struct pl_pprof *t)
{
	*k = (struct pl_pprof_keys){.t = t, .role_of = calloc(t->strings.len + 1, 1)};
	return k->role_of ? NULL : &pl_err_no_memory;
}

void pl_pprof_keys_deinit(struct pl_pprof_keys *k)
{
	free(k->role_of);
	k->role_of = NULL;
}

static enum role role_of(struct pl_pprof_keys *k, uint64_t key)
{
	if (key >= k->t->strings.len)
		return ROLE_NONE;
	if (k->role_of[key] == ROLE_UNKNOWN) {
		k->role_of[key] = ROLE_NONE;
		for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
			if (pl_pprof_is_text(k->t->strings.data[key], roles[i].key))
				k->role_of[key] = (uint8_t)roles[i].role;
		}
	}
	return (enum role)k->role_of[key];
}

/* A number, or a text of digits. */
static bool number_of(struct pl_cursor text, uint64_t number, uint64_t *ret)
{
	uint64_t v = 0;

	if (pl_cursor_left(&text) > 18)
		return false;
	for (const uint8_t *p = text.p; p < text.end; p++) {
		if (*p < '0' || *p > '9')
			return false;
		v = v * 10 + (uint64_t)(*p - '0');
	}
	*ret = pl_cursor_left(&text) ? v : number;
	return true;
}

/* A label of the program; one without a value is none. */
static void take_own(const struct pl_pprof_keys *k, uint64_t key, uint64_t string, struct pl_pprof_labels *to)
{
	if (!k->ours || !string || to->count == PL_LABELS_MAX)
		return;
	to->own[to->count].name = key;
	to->own[to->count++].value = string;
}

static struct plumb_error *apply_label(struct pl_pprof_keys *k, uint64_t key, uint64_t string, uint64_t number,
				       struct pl_pprof_labels *to)
{
	struct pl_cursor text;
	struct plumb_error *err = pl_pprof_text(k->t, string, &text);
	size_t len = err ? 0 : pl_cursor_left(&text);
	uint64_t v = 0;

	if (err)
		return err;
	switch (role_of(k, key)) {
	case ROLE_THREAD:
		to->who.thread = string;
		break;
	case ROLE_PROCESS:
		to->who.process = string;
		break;
	case ROLE_HOST:
		to->who.host = string;
		break;
	case ROLE_TID:
		if (number_of(text, number, &v) && v <= INT64_MAX)
			to->who.tid = v;
		break;
	case ROLE_PID:
		if (number_of(text, number, &v) && v <= INT32_MAX)
			to->who.pid = v;
		break;
	case ROLE_STATE:
		(void)(len && pl_state_parse((const char *)text.p, len, &to->state));
		break;
	case ROLE_REASON:
		if (!k->ours || !pl_reason_parse((const char *)text.p, len, &to->reason))
			take_own(k, key, len ? string : 0, to);
		break;
	case ROLE_QUALITY:
		(void)(len && pl_quality_parse((const char *)text.p, len, &to->quality));
		break;
	case ROLE_UNKNOWN:
	case ROLE_NONE:
		take_own(k, key, len ? string : 0, to);
		break;
	}
	return NULL;
}

struct plumb_error *pl_pprof_label_read(struct pl_pprof_keys *k, struct pl_cursor c, struct pl_pprof_labels *to)
{
	uint64_t n[3] = {0};
	struct pl_pb_field f;
	enum pl_pb_status status;

	while ((status = pl_pb_next(&c, &f)) == PL_PB_FIELD) {
		if (f.wire == PL_PB_VARINT && f.number <= 3)
			n[f.number - 1] = f.value;
	}
	if (status == PL_PB_BROKEN)
		return pl_pprof_error(k->t, c.p, "a label is damaged");
	return apply_label(k, n[0], n[1], n[2], to);
}
