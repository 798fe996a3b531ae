/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os; pure. Cython writes each module and class with its length in front ("6gevent_17_gevent_cgreenlet_"), and in
 * front of the name of a function, where Python can call it, a number ("43run"). The two look alike: what stands in
 * front of a module or a class is its length, and another number or a name follows. */
#include <stdio.h>
#include <string.h>

#include "demangle_name.h"

#define DIGITS_MAX 4
#define LAMBDA	   "__pyx_lambda_funcdef_"

struct reader {
	const char *at;
	bool numbered; /* the function's name has a number in front */
	bool even;     /* the numbers are even ones; the first function has none */
	char *buf;
	size_t len, size;
	const char *last; /* module or class, */
	int last_len;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Of the number at @p s; *digits_ret: its characters. */
static size_t number_at(const char *s, size_t *digits_ret)
{
	size_t n = 0, i = 0;

	for (; i < DIGITS_MAX && is_digit(s[i]); i++)
		n = 10 * n + (size_t)(s[i] - '0');
	*digits_ret = i;
	return n;
}

static void put(struct reader *r, const char *text, int len)
{
	int n = snprintf(r->buf + r->len, r->size - r->len, "%.*s", len, text);

	r->len += n > 0 && (size_t)n < r->size - r->len ? (size_t)n : r->size - r->len - 1;
}

/* False: there is no further one. */
static bool take_scope(struct reader *r)
{
	size_t digits, n = number_at(r->at, &digits);
	const char *name = r->at + digits;

	if (!digits || !n || strnlen(name, n + 2) < n + 2 || name[n] != '_')
		return false;
	if (r->last && r->numbered && !is_digit(name[n + 1]) && !(r->even && n % 2))
		return false;
	r->last = name;
	r->last_len = (int)n;
	r->at = name + n + 1;
	put(r, name, (int)n);
	put(r, ".", 1);
	return true;
}

static bool take_function(struct reader *r)
{
	size_t digits = 0;

	if (r->numbered)
		number_at(r->at, &digits);
	const char *name = r->at + digits;
	int len = (int)strcspn(name, "."); /* what compilers add */
	if (!len || is_digit(*name))
		return false;
	if (strncmp(name, LAMBDA, strlen(LAMBDA)) == 0) {
		put(r, "<lambda>", len);
		return true;
	}
	/* A name that is private to its class. */
	if (*name == '_' && len > r->last_len + 1 && strncmp(name + 1, r->last, (size_t)r->last_len) == 0 &&
	    strncmp(name + 1 + r->last_len, "__", 2) == 0) {
		name += 1 + r->last_len;
		len -= 1 + r->last_len;
	}
	put(r, name, len);
	return true;
}

bool pl_cython_name(const char *symbol, char *buf, size_t size)
{
	static const struct {
		const char *prefix;
		bool numbered, even;
	} kinds[] = {{"__pyx_pw_", true, false}, {"__pyx_pf_", true, true}, {"__pyx_f_", false, false}};
	char name[PL_CYTHON_NAME];

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct reader r = {.at = symbol + strlen(kinds[i].prefix),
				   .numbered = kinds[i].numbered,
				   .even = kinds[i].even,
				   .buf = name,
				   .size = sizeof name};

		if (strncmp(symbol, kinds[i].prefix, strlen(kinds[i].prefix)) != 0)
			continue;
		while (take_scope(&r))
			;
		return r.last && take_function(&r) && (size_t)snprintf(buf, size, "%s", name) < size;
	}
	return false;
}
