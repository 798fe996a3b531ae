/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as people read them. Layer export; pure, any thread. It knows no locale: the same profile gives the same text
 * everywhere. */
#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define NS_PER_S	1e9
#define MINUTES_FROM_NS 119.95e9
#define ROUNDING	1e-9 /* a computed 0.3 must not be rounded up to 0.4 */

static const char *plus_minus(bool unicode)
{
	return unicode ? "\xc2\xb1" : "+-";
}

struct pl_units pl_units_count(uint64_t n)
{
	struct pl_units u;
	char digits[24];
	int len = snprintf(digits, sizeof digits, "%" PRIu64, n);
	int at = 0;

	for (int i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			u.s[at++] = ',';
		u.s[at++] = digits[i];
	}
	u.s[at] = '\0';
	return u;
}

/* The unit in which @p ns is told, its length, and the decimals that make two or three significant digits. */
static const char *unit_of(double ns, double *scale_ret, int *decimals_ret)
{
	*scale_ret = ns < 999.5 ? 1 : ns < 999.5e3 ? 1e3 : ns < 999.5e6 ? 1e6 : NS_PER_S;
	*decimals_ret = *scale_ret == NS_PER_S || (*scale_ret > 1 && ns / *scale_ret < 9.95);
	return *scale_ret == 1 ? "ns" : *scale_ret == 1e3 ? "us" : *scale_ret == 1e6 ? "ms" : "s";
}

static struct pl_units minutes(double ns)
{
	struct pl_units u;
	uint64_t s = ns < 1e24 ? (uint64_t)(ns / NS_PER_S + 0.5) : (uint64_t)1e15;

	if (s < 3600)
		snprintf(u.s, sizeof u.s, "%" PRIu64 "m%02us", s / 60, (unsigned)(s % 60));
	else
		snprintf(u.s, sizeof u.s, "%" PRIu64 "h%02um", s / 3600, (unsigned)(s % 3600 / 60));
	return u;
}

struct pl_units pl_units_time(double ns)
{
	struct pl_units u;
	double scale;
	int decimals;
	const char *unit = unit_of(ns, &scale, &decimals);

	if (!(ns > 0))
		return (struct pl_units){"0 s"};
	if (ns >= MINUTES_FROM_NS)
		return minutes(ns);
	snprintf(u.s, sizeof u.s, "%.*f %s", decimals, ns / scale, unit);
	return u;
}

/* No smaller than it is; what is next to nothing is 0, not -0. */
static double rounded_up(double v)
{
	return ceil(v - ROUNDING) + 0.0; /* -0.0 + 0.0 is 0.0 */
}

struct pl_units pl_units_time_pm(double ns, double half_width_ns, bool unicode)
{
	struct pl_units u, value = pl_units_time(ns), error;
	double scale;
	int decimals;

	unit_of(ns, &scale, &decimals);
	if (ns >= MINUTES_FROM_NS || half_width_ns >= MINUTES_FROM_NS) /* no longer the same unit */
		error = pl_units_time(half_width_ns);
	else
		snprintf(error.s, sizeof error.s, "%.*f", decimals,
			 decimals ? rounded_up(half_width_ns / scale * 10) / 10 : rounded_up(half_width_ns / scale));
	snprintf(u.s, sizeof u.s, "%.18s %s%.16s", value.s, plus_minus(unicode), error.s);
	return u;
}

struct pl_units pl_units_time_as(double ns, double like_ns)
{
	struct pl_units u;
	double scale;
	int decimals;
	const char *unit = unit_of(like_ns, &scale, &decimals);

	if (!(ns > 0))
		return (struct pl_units){"0 s"};
	decimals = scale == 1 || like_ns / scale >= 99.95 ? 0 : like_ns / scale >= 9.995 ? 1 : 2;
	snprintf(u.s, sizeof u.s, "%.*f %s", decimals, fmin(ns / scale, 9e15), unit);
	return u;
}

struct pl_units pl_units_percent(double share)
{
	struct pl_units u;
	double v = share * 100;

	if (v > 0 && v < 0.01)
		return (struct pl_units){"<0.01 %"};
	snprintf(u.s, sizeof u.s, "%.*f %%", v >= 9.95 || v == 0 ? 0 : v >= 0.095 ? 1 : 2, v);
	return u;
}

struct pl_units pl_units_rate(double per_second)
{
	struct pl_units u;

	if (per_second >= 10)
		snprintf(u.s, sizeof u.s, "%.36s/s", pl_units_count((uint64_t)(per_second + 0.5)).s);
	else
		snprintf(u.s, sizeof u.s, "%.3g/s", per_second);
	return u;
}

struct pl_units pl_units_half_width(double half_width, bool unicode)
{
	struct pl_units u;
	double half = half_width * 100;

	snprintf(u.s, sizeof u.s, "%s%.*f", plus_minus(unicode), half < 9.95,
		 half < 9.95 ? rounded_up(half * 10) / 10 : ceil(half));
	return u;
}

struct pl_units pl_units_share(double share, double half_width, bool unicode)
{
	struct pl_units u;
	double v = share * 100, half = half_width * 100;
	bool fine = v < 99.95 && (v < 9.95 || half < 0.5);

	snprintf(u.s, sizeof u.s, "%.*f %% %.24s", fine, v, pl_units_half_width(half_width, unicode).s);
	return u;
}
