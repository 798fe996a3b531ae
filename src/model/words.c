/* SPDX-License-Identifier: Apache-2.0 */
/* States, qualities and figures as words (layer model). Pure. */
#include "words.h"

#include <string.h>

#define WAITING "waiting"

static const struct {
	uint16_t bit;
	const char *name;
} states[] = {
#define PLUMB_STATE(name, bit, member, word, ...) {bit, word},
#include <plumb/words.def>
};
static const char *const qualities[] = {
#define PLUMB_QUALITY(name, member, ...) #member,
#include <plumb/words.def>
};
static const char *const kinds[] = {
#define PLUMB_KIND(name, number, word, ...) [number] = word,
#include <plumb/words.def>
};
static const char *const origins[] = {
#define PLUMB_KIND(name, number, word, ...) [number] = (number) == PL_ORIGIN_PYTHON ? "" : "[" word "]",
#include <plumb/words.def>
};
static const char *const modes[] = {
#define PLUMB_MODE(name, word, ...) word,
#include <plumb/words.def>
};
static const char *const mode_times[] = {
#define PLUMB_MODE(name, word, time, ...) time,
#include <plumb/words.def>
};
const struct pl_reason_words pl_reasons[PL_REASONS] = {
#define PLUMB_REASON(name, number, word, text, ...) [number] = {word, text},
#include <plumb/words.def>
};
const struct pl_loss_words pl_losses[PL_LOSSES] = {
#define PLUMB_LOSS(name, member, word, flaw, about) {#member, word, flaw, about},
#include <plumb/words.def>
};
const struct pl_event_words pl_events[PL_EVENTS] = {
#define PLUMB_EVENT(name, number, word, one, several, ...) [number] = {word, one, several},
#include <plumb/words.def>
};
const char *const pl_refusals[PL_REFUSALS] = {
#define PLUMB_REFUSAL(name, member, ...) #member,
#include <plumb/words.def>
};
const struct pl_awaited_words pl_awaited_words[PL_DUMP_FORS] = {
#define PLUMB_AWAITED(name, word, thing, before, after) {word, thing, before, after},
#include <plumb/words.def>
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

_Static_assert(sizeof(WAITING
#define PLUMB_STATE(name, bit, member, word, ...) "," word
#include <plumb/words.def>
		      ) <= PL_STATE_TEXT_BYTES,
	       "all states fit into one text");
_Static_assert((0
#define PLUMB_STATE(name, bit, ...) | (bit)
#include <plumb/words.def>
		) <= UINT8_MAX,
	       "all states fit below the reason");
_Static_assert(PL_REASONS <= 1 + (PL_STATE_REASONS >> PL_STATE_BITS), "all reasons fit into a state");

const struct pl_meta_figure pl_meta_figures[] = {
	{"ticks", offsetof(struct pl_meta, ticks)},
#define PLUMB_LOSS(name, member, ...) {"lost " #member, offsetof(struct pl_meta, losses[PL_LOSS_##name])},
#include <plumb/words.def>
	{"damaged parts", offsetof(struct pl_meta, damaged_parts)},
	{"seed", offsetof(struct pl_meta, seed)},
	{"stops", offsetof(struct pl_meta, stops)},
	{"stopped ns", offsetof(struct pl_meta, stopped_ns)},
	{"profiler cpu ns", offsetof(struct pl_meta, profiler_cpu_ns)},
	{"taken ns", offsetof(struct pl_meta, taken_ns)},
	{"missed ns", offsetof(struct pl_meta, missed_ns)},
	{NULL, 0},
};

uint64_t *pl_meta_figure(struct pl_meta *m, const struct pl_meta_figure *f)
{
	return (uint64_t *)((char *)m + f->offset);
}

const char *pl_meta_missing(const struct pl_meta *m)
{
	if (m->complete)
		return NULL;
	if (m->growing)
		return "it is still being written; what comes later is missing";
	if (m->derived)
		return "what it was made of was not whole: what came last is missing";
	return "the profiler was killed, or the file was cut: what came last is missing";
}

const char *pl_state_text(uint16_t state, char buf[PL_STATE_TEXT_BYTES])
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

static bool parse_one_state(const char *text, size_t len, uint16_t *ret)
{
	if (equal(text, len, WAITING))
		return true;
	for (size_t i = 0; i < COUNT(states); i++) {
		if (equal(text, len, states[i].name)) {
			*ret = (uint16_t)(*ret | states[i].bit);
			return true;
		}
	}
	return false;
}

bool pl_state_parse(const char *text, size_t len, uint16_t *ret)
{
	const char *end = text + len;
	uint16_t state = 0;

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

bool pl_state_ready(uint16_t state)
{
	const uint16_t of = PL_STATE_REASONS | PL_STATE_ON_CPU | PL_STATE_UNKNOWN;

	return (state & of) == (PL_STATE_ON_CPU | PL_REASON_CPU << PL_STATE_BITS);
}

/* That of a newer plumb is another one. For the GIL there is a bit, and no number. */
enum pl_reason pl_reason_of(uint16_t state)
{
	unsigned reason = (state & PL_STATE_REASONS) >> PL_STATE_BITS;

	if (state & (PL_STATE_ON_CPU | PL_STATE_UNKNOWN))
		return pl_state_ready(state) ? PL_REASON_CPU : PL_REASON_UNKNOWN;
	if (reason == PL_REASON_GIL)
		reason = PL_REASON_UNKNOWN;
	if (state & PL_STATE_WANTS_GIL)
		return PL_REASON_GIL;
	return reason < PL_REASONS ? (enum pl_reason)reason : PL_REASON_OTHER;
}

uint16_t pl_reason_state(enum pl_reason reason)
{
	return reason == PL_REASON_GIL ? 0 : (uint16_t)((unsigned)reason << PL_STATE_BITS);
}

bool pl_reason_parse(const char *text, size_t len, enum pl_reason *ret)
{
	for (unsigned i = PL_REASON_GIL; i < PL_REASONS; i++) {
		if (equal(text, len, pl_reasons[i].word)) {
			*ret = (enum pl_reason)i;
			return true;
		}
	}
	return false;
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

const char *pl_mode_time(unsigned mode)
{
	return mode_times[mode < COUNT(mode_times) ? mode : PL_MODE_WALL];
}

const char *pl_kind_name(unsigned origin)
{
	return kinds[origin < COUNT(kinds) ? origin : PL_ORIGIN_MARKER];
}

bool pl_kind_parse(const char *text, size_t len, uint8_t *ret)
{
	return parse_name(kinds, COUNT(kinds), text, len, ret);
}

const char *pl_origin_name(unsigned origin)
{
	return origins[origin < COUNT(origins) ? origin : PL_ORIGIN_PYTHON];
}

bool pl_origin_parse(const char *text, size_t len, uint8_t *ret)
{
	return parse_name(origins, COUNT(origins), text, len, ret);
}
