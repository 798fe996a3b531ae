/* SPDX-License-Identifier: Apache-2.0 */
/* Values of options, from text. Layer cli; pure, except that word lists allocate. */
#include "values.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NS_PER_S 1e9
/* Ten years: more is a typing error. */
#define MAX_SECONDS (10 * 366 * 86400.0)

/* strtod() without what nobody means here: signs, blanks, nan, infinity, hexadecimal. */
static bool number(const char **s, double *ret)
{
	char *end;

	if (!isdigit((unsigned char)**s) && **s != '.')
		return false;
	if ((*s)[0] == '0' && ((*s)[1] == 'x' || (*s)[1] == 'X'))
		return false;
	*ret = strtod(*s, &end);
	if (end == *s || !isfinite(*ret))
		return false;
	*s = end;
	return true;
}

/* Length of the unit at @p s and its seconds; 0 if there is none. */
static size_t time_unit(const char *s, double *ret)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = {{"ms", 1e-3}, {"us", 1e-6}, {"min", 60}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};

	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		size_t len = strlen(units[i].name);

		if (strncmp(s, units[i].name, len) == 0) {
			*ret = units[i].seconds;
			return len;
		}
	}
	return 0;
}

static bool duration(const char *s, double *ret_s)
{
	double total = 0, n, unit = 1;
	size_t len;
	bool first = true;

	do {
		if (!number(&s, &n))
			return false;
		len = time_unit(s, &unit);
		if (len == 0 && !(first && *s == '\0'))
			return false; /* only a single number may go without a unit */
		s += len;
		total += n * unit;
		first = false;
	} while (*s);
	*ret_s = total;
	return total <= MAX_SECONDS;
}

bool value_duration(const char *s, uint64_t *ret_ns)
{
	double seconds;

	if (!duration(s, &seconds) || seconds * NS_PER_S < 1)
		return false;
	*ret_ns = (uint64_t)(seconds * NS_PER_S + 0.5);
	return true;
}

/* One end of a range; "" is 0. */
static bool range_end(const char *s, size_t len, uint64_t *ret)
{
	char text[64];
	double seconds = 0;

	if (len >= sizeof text)
		return false;
	memcpy(text, s, len);
	text[len] = '\0';
	if (len && !duration(text, &seconds))
		return false;
	*ret = (uint64_t)(seconds * NS_PER_S + 0.5);
	return true;
}

bool value_time_range(const char *s, uint64_t *ret_from, uint64_t *ret_to)
{
	const char *dots = strstr(s, "..");
	uint64_t from, to;

	if (!dots || (dots == s && !dots[2]))
		return false;
	if (!range_end(s, (size_t)(dots - s), &from) || !range_end(dots + 2, strlen(dots + 2), &to))
		return false;
	if (dots[2] && to <= from)
		return false;
	*ret_from = from;
	*ret_to = to;
	return true;
}

bool value_rate(const char *s, double *ret_hz)
{
	double hz;

	if (strcasecmp(s, "max") == 0) {
		*ret_hz = 0;
		return true;
	}
	if (!number(&s, &hz))
		return false;
	if (*s == 'k' || *s == 'K' || *s == 'm' || *s == 'M')
		hz *= tolower((unsigned char)*s++) == 'k' ? 1e3 : 1e6;
	if (strcasecmp(s, "hz") != 0 && strcasecmp(s, "/s") != 0 && *s)
		return false;
	if (hz < VALUE_RATE_MIN || hz > VALUE_RATE_MAX)
		return false;
	*ret_hz = hz;
	return true;
}

bool value_percent(const char *s, double *ret_share)
{
	double percent;

	if (!number(&s, &percent) || (*s && strcmp(s, "%") != 0) || percent < 0.01 || percent > 100)
		return false;
	*ret_share = percent / 100;
	return true;
}

bool value_u64(const char *s, uint64_t *ret)
{
	unsigned long long v;
	char *end;

	if (!isdigit((unsigned char)*s) || (s[0] == '0' && s[1]))
		return false;
	errno = 0;
	v = strtoull(s, &end, 10);
	if (errno || *end)
		return false;
	*ret = v;
	return true;
}

bool value_int(const char *s, int min, int max, int *ret)
{
	uint64_t v;

	if (!value_u64(s, &v) || v > (uint64_t)max || (int)v < min)
		return false;
	*ret = (int)v;
	return true;
}

bool value_pid(const char *s, int *ret)
{
	return value_int(s, 1, INT_MAX, ret);
}

int value_word(const char *s, const char *const *words)
{
	for (int i = 0; words[i]; i++) {
		if (strcmp(s, words[i]) == 0)
			return i;
	}
	return -1;
}

const char *value_format(const char *s, bool (*at)(size_t i, struct plumb_format *ret))
{
	struct plumb_format f;

	for (size_t i = 0; at(i, &f); i++) {
		if (strcmp(s, f.name) == 0)
			return f.name;
	}
	return NULL;
}

static bool bit_of(const char *s, size_t len, const struct value_bit *bits, unsigned *ret)
{
	for (; bits->word; bits++) {
		if (strlen(bits->word) == len && memcmp(bits->word, s, len) == 0) {
			*ret |= bits->bit;
			return true;
		}
	}
	return false;
}

bool value_set(const char *s, const struct value_bit *bits, unsigned *ret)
{
	unsigned set = 0;

	for (;; s++) {
		size_t len = strcspn(s, ",");

		if (!bit_of(s, len, bits, &set))
			return false;
		s += len;
		if (!*s)
			break;
	}
	*ret |= set;
	return true;
}

static bool add_word(struct word_list *l, const char *s, size_t len)
{
	char **words = realloc(l->words, (l->count + 1) * sizeof *words);

	if (!words)
		return false;
	l->words = words;
	words[l->count] = strndup(s, len);
	return words[l->count] && ++l->count;
}

bool word_list_add(struct word_list *l, const char *s)
{
	size_t before = l->count;

	for (; *s; s += *s == ',') {
		size_t len = strcspn(s, ",");

		if (len > 0 && !add_word(l, s, len))
			return false;
		s += len;
	}
	return l->count > before;
}

bool word_list_add_whole(struct word_list *l, const char *s)
{
	return add_word(l, s, strlen(s));
}

void word_list_free(struct word_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->words[i]);
	free(l->words);
	*l = (struct word_list){0};
}

static bool numbers(const char *s, struct value_amounts *a)
{
	size_t most = 1;

	for (const char *c = s; *c; c++)
		most += *c == ',';
	a->counts = calloc(most, sizeof *a->counts);
	while (a->counts && number(&s, &a->counts[a->count]) && a->counts[a->count] > 0) {
		a->count++;
		if (!*s)
			return a->count > 1;
		if (*s++ != ',')
			return false;
	}
	return false;
}

bool value_amounts(const char *s, struct value_amounts *ret)
{
	const char *equals = strrchr(s, '=');
	struct value_amounts a = {0};

	if (!equals || equals == s)
		return false;
	a.unit = strndup(s, (size_t)(equals - s));
	if (!a.unit || !numbers(equals + 1, &a)) {
		value_amounts_free(&a);
		return false;
	}
	value_amounts_free(ret);
	*ret = a;
	return true;
}

void value_amounts_free(struct value_amounts *a)
{
	free(a->unit);
	free(a->counts);
	*a = (struct value_amounts){0};
}
