/* SPDX-License-Identifier: Apache-2.0 */
/* The words by which formats tell states, qualities and figures, and by which importers know them again. */
#ifndef PL_WORDS_H
#define PL_WORDS_H

#include "profile.h"

#define PL_STATE_TEXT_BYTES 64

/** A set of enum pl_state as text: "on-cpu,gil"; "waiting" stands for neither ON_CPU nor UNKNOWN. Returns @p buf. */
const char *pl_state_text(uint8_t state, char buf[PL_STATE_TEXT_BYTES]);
/** The set that @p text names; false, *ret untouched: it is no such text. */
bool pl_state_parse(const char *text, size_t len, uint8_t *ret);
/** "exact", "stopped", "doubtful", "partial". */
const char *pl_quality_name(unsigned quality);
bool pl_quality_parse(const char *text, size_t len, uint8_t *ret);
/** "wall", "cpu", "gil". */
const char *pl_mode_name(unsigned mode);
bool pl_mode_parse(const char *text, size_t len, uint8_t *ret);

/** How frames of an origin (enum pl_frame_origin) are told from those of Python: "[native]"; "" for PL_ORIGIN_PYTHON.
 */
const char *pl_origin_name(unsigned origin);
bool pl_origin_parse(const char *text, size_t len, uint8_t *ret);

/** A figure of struct pl_meta that formats tell in words, such as "lost unreadable". */
struct pl_meta_figure {
	const char *name; /* NULL: the end */
	size_t offset;	  /* of a uint64_t */
};
extern const struct pl_meta_figure pl_meta_figures[];
uint64_t *pl_meta_figure(struct pl_meta *m, const struct pl_meta_figure *f);

#endif
