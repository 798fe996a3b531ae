/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as people read them. Each function returns its text by value. */
#ifndef PL_UNITS_H
#define PL_UNITS_H

#include <stdbool.h>
#include <stdint.h>

struct pl_units {
	char s[40];
};

struct pl_units pl_units_count(uint64_t n); /* 12,301 */
struct pl_units pl_units_time(double ns);   /* 12.3 s, 845 ms, 2m05s, 3h12m */
/** In the unit and with the decimals in which @p like_ns has three digits: what stands beside it. */
struct pl_units pl_units_time_as(double ns, double like_ns);
struct pl_units pl_units_percent(double share);	  /* 52 %, 3.1 %, 0.05 % */
struct pl_units pl_units_rate(double per_second); /* 1,000/s, 0.5/s */
/** "±1.1", of hundredths, rounded up. */
struct pl_units pl_units_half_width(double half_width, bool unicode);
/** "52 % ±1.1"; the half width is rounded up, so that it is never shown smaller than it is. */
struct pl_units pl_units_share(double share, double half_width, bool unicode);
/** "6.4 s ±0.1", both in the unit of the first. */
struct pl_units pl_units_time_pm(double ns, double half_width_ns, bool unicode);

#endif
