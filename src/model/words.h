/* SPDX-License-Identifier: Apache-2.0 */
/* The words by which formats tell states, qualities and figures, and by which importers know them again. */
#ifndef PL_WORDS_H
#define PL_WORDS_H

#include "dump_model.h"
#include "profile.h"

#define PL_STATE_TEXT_BYTES 64

/** A set of enum pl_state as text: "on-cpu,gil"; "waiting" stands for neither ON_CPU nor UNKNOWN. For what it waited is
 * not told. Returns @p buf. */
const char *pl_state_text(uint16_t state, char buf[PL_STATE_TEXT_BYTES]);
/** The set that @p text names; false, *ret untouched: it is no such text. */
bool pl_state_parse(const char *text, size_t len, uint16_t *ret);
/** "exact", "stopped", "doubtful", "partial". */
const char *pl_quality_name(unsigned quality);
bool pl_quality_parse(const char *text, size_t len, uint8_t *ret);
/** "wall", "cpu", "gil". */
const char *pl_mode_name(unsigned mode);
bool pl_mode_parse(const char *text, size_t len, uint8_t *ret);
/** What is added up: "wall time", "CPU time", "time with the GIL held". */
const char *pl_mode_time(unsigned mode);

/** "python", "native", ...: enum pl_frame_origin. */
const char *pl_kind_name(unsigned origin);
bool pl_kind_parse(const char *text, size_t len, uint8_t *ret);

/** How frames of an origin (enum pl_frame_origin) are told from those of Python: "[native]"; "" for PL_ORIGIN_PYTHON.
 */
const char *pl_origin_name(unsigned origin);
bool pl_origin_parse(const char *text, size_t len, uint8_t *ret);

/** For what a thread in @p state waited; UNKNOWN of one that did not. */
enum pl_reason pl_reason_of(uint16_t state);
/** Was it ready, and had no CPU? */
bool pl_state_ready(uint16_t state);
/** The reason in a state; 0 of UNKNOWN and of the GIL, for which there is a bit. */
uint16_t pl_reason_state(enum pl_reason reason);
/** Of enum pl_reason. */
struct pl_reason_words {
	const char *word; /* "socket" */
	const char *text; /* "sockets" */
};
extern const struct pl_reason_words pl_reasons[PL_REASONS];
/** The reason called so; false, *ret untouched: there is none. */
bool pl_reason_parse(const char *text, size_t len, enum pl_reason *ret);

/** Of enum pl_event_kind. */
struct pl_event_words {
	const char *word, *one, *several;
};
extern const struct pl_event_words pl_events[PL_EVENTS];

/** Of enum pl_loss. */
struct pl_loss_words {
	const char *member; /* of JSON */
	const char *word;   /* of the report */
	bool flaw;	    /* any of it makes the recording worse; else its share does, or it is none */
	const char *about;  /* what is counted */
};
extern const struct pl_loss_words pl_losses[PL_LOSSES];
/** Members of JSON, by enum pl_refused. */
extern const char *const pl_refusals[PL_REFUSALS];

/** Of enum pl_dump_for. */
struct pl_awaited_words {
	const char *word;	    /* of JSON; "": none */
	const char *thing;	    /* "a semaphore" */
	const char *before, *after; /* of the name of the thing, in a sentence */
};
extern const struct pl_awaited_words pl_awaited_words[PL_DUMP_FORS];

/** A figure of struct pl_meta that formats tell in words, such as "lost unreadable". */
struct pl_meta_figure {
	const char *name; /* NULL: the end */
	size_t offset;	  /* of a uint64_t */
};
extern const struct pl_meta_figure pl_meta_figures[];
uint64_t *pl_meta_figure(struct pl_meta *m, const struct pl_meta_figure *f);
/** Why it is not complete, and what is missing; NULL: it is. */
const char *pl_meta_missing(const struct pl_meta *m);

#endif
