/* SPDX-License-Identifier: Apache-2.0 */
/* States, qualities and figures as words (layer model). Pure. */
#include "words.h"

#include <string.h>

#define WAITING "waiting"

static const struct {
	uint8_t bit;
	const char *name;
} states[] = {
	{PL_STATE_ON_CPU, "on-cpu"}, {PL_STATE_HAS_GIL, "gil"},		{PL_STATE_WANTS_GIL, "wants-gil"},
	{PL_STATE_IN_GC, "gc"},	     {PL_STATE_EXCEPTION, "exception"}, {PL_STATE_UNKNOWN, "unknown"},
	{PL_STATE_JIT, "jit"},
};
static const char *const qualities[] = {"exact", "stopped", "doubtful", "partial"};
static const char *const origins[] = {"", "[native]", "[kernel]", "[task]", "[marker]"};
static const char *const modes[] = {"wall", "cpu", "gil"};

#define COUNT(array) (sizeof(array) / sizeof *(array))
_Static_assert(COUNT(origins) == PL_ORIGIN_MARKER + 1, "each origin has a name");
_Static_assert(COUNT(qualities) == PL_QUALITIES, "each quality has a name");

const struct pl_meta_figure pl_meta_figures[] = {
	{"ticks", offsetof(struct pl_meta, ticks)},
	{"lost missed", offsetof(struct pl_meta, losses[PL_LOSS_MISSED])},
	{"lost unreadable", offsetof(struct pl_meta, losses[PL_LOSS_UNREADABLE])},
	{"lost queue", offsetof(struct pl_meta, losses[PL_LOSS_QUEUE])},
	{"lost damaged", offsetof(struct pl_meta, losses[PL_LOSS_DAMAGED])},
	{"lost unseen", offsetof(struct pl_meta, losses[PL_LOSS_UNSEEN])},
	{"lost beyond", offsetof(struct pl_meta, losses[PL_LOSS_BEYOND])},
	{"lost folded", offsetof(struct pl_meta, losses[PL_LOSS_FOLDED])},
	{"lost task", offsetof(struct pl_meta, losses[PL_LOSS_TASK])},
	{"lost native", offsetof(struct pl_meta, losses[PL_LOSS_NATIVE])},
	{"damaged parts", offsetof(struct pl_meta, damaged_parts)},
	{"seed", offsetof(struct pl_meta, seed)},
	{"stops", offsetof(struct pl_meta, stops)},
	{"stopped ns", offsetof(struct pl_meta, stopped_ns)},
	{"profiler cpu ns", offsetof(struct pl_meta, profiler_cpu_ns)},
	{"taken ns", offsetof(struct pl_meta, taken_ns)},
	{"missed ns", offsetof(struct pl_meta, missed_ns)},
	{NULL, 0},
};
_Static_assert(COUNT(pl_meta_figures) == 1 + PL_LOSSES + 7 + 1, "each loss has a name");

uint64_t *pl_meta_figure(struct pl_meta *m, const struct pl_meta_figure *f)
{
	return (uint64_t *)((char *)m + f->offset);
}

const char *pl_state_text(uint8_t state, char buf[PL_STATE_TEXT_BYTES])
{
	char *at = state & (PL_STATE_ON_CPU | PL_STATE_UNKNOWN) ? buf : stpcpy(buf, WAITING);

	for (size_t i = 0; i < COUNT(states); i++) {
		if (!(state & states[i].bit))
			continue;
		if (at > buf)
			*at++ = ',';
		at = stpcpy(at, states[i].name);
	}
	return buf;
}

static bool equal(const char *text, size_t len, const char *name)
{
	return strlen(name) == len && (len == 0 || memcmp(text, name, len) == 0);
}

static bool parse_one_state(const char *text, size_t len, uint8_t *ret)
{
	if (equal(text, len, WAITING))
		return true;
	for (size_t i = 0; i < COUNT(states); i++) {
		if (equal(text, len, states[i].name)) {
			*ret |= states[i].bit;
			return true;
		}
	}
	return false;
}

bool pl_state_parse(const char *text, size_t len, uint8_t *ret)
{
	const char *end = text + len;
	uint8_t state = 0;

	if (len >= PL_STATE_TEXT_BYTES) /* longer than all of them: a text that is told once can be meant often */
		return false;
	for (;;) {
		const char *comma = memchr(text, ',', (size_t)(end - text));

		if (!parse_one_state(text, (size_t)((comma ? comma : end) - text), &state))
			return false;
		if (!comma)
			break;
		text = comma + 1;
	}
	*ret = state;
	return true;
}

static bool parse_name(const char *const *names, size_t count, const char *text, size_t len, uint8_t *ret)
{
	for (size_t i = 0; i < count; i++) {
		if (equal(text, len, names[i])) {
			*ret = (uint8_t)i;
			return true;
		}
	}
	return false;
}

const char *pl_quality_name(unsigned quality)
{
	return qualities[quality < COUNT(qualities) ? quality : PL_DOUBTFUL];
}

bool pl_quality_parse(const char *text, size_t len, uint8_t *ret)
{
	return parse_name(qualities, COUNT(qualities), text, len, ret);
}

const char *pl_mode_name(unsigned mode)
{
	return modes[mode < COUNT(modes) ? mode : PL_MODE_WALL];
}

bool pl_mode_parse(const char *text, size_t len, uint8_t *ret)
{
	return parse_name(modes, COUNT(modes), text, len, ret);
}

const char *pl_origin_name(unsigned origin)
{
	return origins[origin < COUNT(origins) ? origin : PL_ORIGIN_PYTHON];
}

bool pl_origin_parse(const char *text, size_t len, uint8_t *ret)
{
	return parse_name(origins, COUNT(origins), text, len, ret);
}
