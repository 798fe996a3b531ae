/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of the JSON reader (layer base). Pure. Not strtod: its decimal point is that of the caller's locale, and
 * times in milliseconds must come out as the nanoseconds they are. */
#include <math.h>

#include "json_reader.h"

#define EXPONENT_MAX 100000 /* larger ones say the same */

/* sign * digits * 10 ^ exponent */
struct decimal {
	bool negative, lost; /* lost: there were more digits than fit */
	uint64_t digits;
	int64_t exponent;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The exponent that is written at @p s. */
static int64_t written_exponent(const char *s, const char *end)
{
	bool negative = s < end && *s == '-';
	int64_t v = 0;

	s += s < end && (*s == '-' || *s == '+');
	for (; s < end; s++)
		v = v > EXPONENT_MAX ? v : v * 10 + (*s - '0');
	return negative ? -v : v;
}

/* False if there is no room for one digit more. */
static bool add_digit(uint64_t *digits, char c)
{
	uint64_t v;

	if (__builtin_mul_overflow(*digits, UINT64_C(10), &v) || __builtin_add_overflow(v, (uint64_t)(c - '0'), &v))
		return false;
	*digits = v;
	return true;
}

/* As many digits as fit whatever they are, from @p s on; returns what follows. */
static const char *first_digits(const char *s, const char *end, uint64_t *ret)
{
	const ptrdiff_t fit = 19;
	const char *stop = end - s > fit ? s + fit : end;
	uint64_t v = 0;

	for (; s < stop && is_digit(*s); s++)
		v = v * 10 + (uint64_t)(*s - '0');
	*ret = v;
	return s;
}

/* The reader has checked the grammar. */
static bool decimal_of(const struct pl_json_reader *r, struct decimal *ret)
{
	const char *s = r->str, *end = r->str + r->str_len;
	bool fraction = false, full = false;

	if (r->token != PL_JSON_NUMBER)
		return false;
	*ret = (struct decimal){.negative = *s == '-'};
	for (s = first_digits(s + ret->negative, end, &ret->digits); s < end && (is_digit(*s) || *s == '.'); s++) {
		if (*s == '.') {
			fraction = true;
			continue;
		}
		full = full || !add_digit(&ret->digits, *s);
		ret->lost |= full && *s != '0';
		ret->exponent += full ? !fraction : -(int64_t)fraction;
	}
	if (s < end)
		ret->exponent += written_exponent(s + 1, end);
	return true;
}

/* digits * 10 ^ exponent; @p round: half up, else false if something would be lost. */
static bool whole(struct decimal d, bool round, uint64_t *ret)
{
	uint64_t last = 0;

	if (d.lost && !round)
		return false;
	for (; d.exponent > 0 && d.digits; d.exponent--) {
		if (__builtin_mul_overflow(d.digits, UINT64_C(10), &d.digits))
			return false;
	}
	for (; d.exponent < 0 && (d.digits || last); d.exponent++) {
		last = d.digits % 10;
		if (last && !round)
			return false;
		d.digits /= 10;
	}
	*ret = d.digits + (last >= 5);
	return true;
}

static bool signed_whole(struct decimal d, bool round, int64_t *ret)
{
	uint64_t v;

	if (!whole(d, round, &v) || v > (uint64_t)INT64_MAX + d.negative)
		return false;
	*ret = d.negative ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

bool pl_json_reader_double(const struct pl_json_reader *r, double *ret)
{
	struct decimal d;
	double v;

	if (!decimal_of(r, &d))
		return false;
	v = d.digits ? (double)((long double)d.digits * powl(10, (long double)d.exponent)) : 0;
	if (!isfinite(v))
		return false;
	*ret = d.negative ? -v : v;
	return true;
}

bool pl_json_reader_i64(const struct pl_json_reader *r, int64_t *ret)
{
	struct decimal d;

	return decimal_of(r, &d) && signed_whole(d, false, ret);
}

bool pl_json_reader_u64(const struct pl_json_reader *r, uint64_t *ret)
{
	struct decimal d;

	return decimal_of(r, &d) && (!d.negative || d.digits == 0) && whole(d, false, ret);
}

bool pl_json_reader_scaled(const struct pl_json_reader *r, int digits, int64_t *ret)
{
	struct decimal d;

	if (!decimal_of(r, &d))
		return false;
	d.exponent += digits;
	return signed_whole(d, true, ret);
}
