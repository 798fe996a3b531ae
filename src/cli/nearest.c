/* SPDX-License-Identifier: Apache-2.0 */
/* Edit distance (optimal string alignment) for suggestions. Layer cli; pure. */
#include "nearest.h"

#include <string.h>

#define MAX_LEN 32
#define TOO_FAR 1000

static int smallest(int a, int b, int c)
{
	int m = a < b ? a : b;

	return m < c ? m : c;
}

int nearest_distance(const char *a, const char *b)
{
	int d[MAX_LEN + 1][MAX_LEN + 1], len_a = (int)strnlen(a, MAX_LEN + 1), len_b = (int)strnlen(b, MAX_LEN + 1);

	if (len_a > MAX_LEN || len_b > MAX_LEN)
		return TOO_FAR;
	for (int i = 0; i <= len_a; i++)
		d[i][0] = i;
	for (int j = 0; j <= len_b; j++)
		d[0][j] = j;
	for (int i = 1; i <= len_a; i++) {
		for (int j = 1; j <= len_b; j++) {
			int change = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

			d[i][j] = smallest(d[i - 1][j] + 1, d[i][j - 1] + 1, change);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    d[i - 2][j - 2] + 1 < d[i][j])
				d[i][j] = d[i - 2][j - 2] + 1;
		}
	}
	return d[len_a][len_b];
}

struct nearest nearest_start(const char *wanted)
{
	/* A third of the letters may be wrong, rounded up: more is another word. */
	int limit = ((int)strnlen(wanted, MAX_LEN) + 2) / 3;

	return (struct nearest){.wanted = wanted, .distance = limit + 1};
}

void nearest_try(struct nearest *n, const char *candidate)
{
	int distance = nearest_distance(n->wanted, candidate);

	if (distance < n->distance) {
		n->distance = distance;
		n->found = candidate;
	}
}
