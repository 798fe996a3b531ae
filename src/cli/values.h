/* SPDX-License-Identifier: Apache-2.0 */
/* Values of options, from text. All refuse what they do not understand whole. */
#ifndef VALUES_H
#define VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <plumb/profile.h>

/** "10", "0.5", "10s", "500ms", "2m", "1h30m" -> nanoseconds, more than 0. */
bool value_duration(const char *s, uint64_t *ret_ns);
/** "10..20", "10..", "..1m30s" -> nanoseconds; *ret_to 0: no end. */
bool value_time_range(const char *s, uint64_t *ret_from, uint64_t *ret_to);
/** "1000", "1k", "2.5khz", "100hz", "max" (0) -> per second; VALUE_RATE_MIN to VALUE_RATE_MAX. */
bool value_rate(const char *s, double *ret_hz);
#define VALUE_RATE_MIN 0.01
#define VALUE_RATE_MAX 1e6
/** "0.5", "0.5%" -> 0.005; 0.01 to 100. */
bool value_percent(const char *s, double *ret_share);
/** Decimal digits; none begins with a zero that others would take for an octal or a hexadecimal number. */
bool value_u64(const char *s, uint64_t *ret);
/** Words with commas between them -> set of their values, which stand beside them; false if one is none of them. */
struct value_bit {
	const char *word;
	unsigned bit;
};
bool value_set(const char *s, const struct value_bit *bits, unsigned *ret);
/** Process id. */
bool value_pid(const char *s, int *ret);
/** @p min to @p max. */
bool value_int(const char *s, int min, int max, int *ret);
/** Position of @p s in @p words (ends with NULL), -1 if it is none of them. */
int value_word(const char *s, const char *const *words);
/** The name of the format called @p s among those that @p at lists; NULL: it is none of them. */
const char *value_format(const char *s, bool (*at)(size_t i, struct plumb_format *ret));

/** Growing list of words. */
struct word_list {
	char **words;
	size_t count;
};
/** Add the parts of @p s between commas, without those that are empty; false without memory or if all are empty. */
bool word_list_add(struct word_list *l, const char *s);
/** Add it as it is, with its commas; false without memory. */
bool word_list_add_whole(struct word_list *l, const char *s);
void word_list_free(struct word_list *l);

/** Numbers of something. */
struct value_amounts {
	char *unit;
	double *counts; /* all more than 0 */
	size_t count;
};
/** "request=1200,1250.5" -> unit and two numbers or more, in the place of what was there; false without memory or if it
 * is none. */
bool value_amounts(const char *s, struct value_amounts *ret);
void value_amounts_free(struct value_amounts *a);

#endif
