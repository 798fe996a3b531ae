/* SPDX-License-Identifier: Apache-2.0 */
/* False discovery rates (layer model). Any thread. Does not know what was tested. */
#include "discovery.h"

#include <math.h>
#include <stdlib.h>

struct test {
	double p; /* weighted */
	size_t at;
};

static int compare_tests(const void *a, const void *b)
{
	const struct test *x = a, *y = b;

	if (x->p != y->p)
		return x->p < y->p ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* The tests that have a weight, each p divided by its weight; the weights are scaled to 1 on average. */
static size_t weigh(const double *p, const double *weight, size_t n, struct test *tests)
{
	size_t count = 0;
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		count += weight[i] > 0;
		sum += weight[i] > 0 ? weight[i] : 0;
	}
	double mean = count ? sum / (double)count : 1;
	count = 0;
	for (size_t i = 0; i < n; i++) {
		if (weight[i] > 0)
			tests[count++] = (struct test){.p = p[i] * mean / weight[i], .at = i};
	}
	return count;
}

struct plumb_error *pl_discovery_adjust(const double *p, const double *weight, double *q, size_t n)
{
	struct test *tests = calloc(n + 1, sizeof *tests);
	if (!tests)
		return &pl_err_no_memory;
	size_t count = weigh(p, weight, n, tests);
	qsort(tests, count, sizeof *tests, compare_tests);
	for (size_t i = 0; i < n; i++)
		q[i] = 1;
	double least = 1;
	for (size_t rank = count; rank > 0; rank--) {
		least = fmin(least, tests[rank - 1].p * (double)count / (double)rank);
		q[tests[rank - 1].at] = least;
	}
	free(tests);
	return NULL;
}
