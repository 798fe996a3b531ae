/* SPDX-License-Identifier: Apache-2.0 */
/* The name that somebody probably meant. */
#ifndef NEAREST_H
#define NEAREST_H

struct nearest {
	const char *wanted;
	const char *found; /* NULL: nothing is near enough */
	int distance;
};

struct nearest nearest_start(const char *wanted);
/** Remember @p candidate if it is nearer than what was tried before. */
void nearest_try(struct nearest *n, const char *candidate);
/** Insertions, deletions, changes and swaps of neighbours that turn @p a into @p b; large for very long words. */
int nearest_distance(const char *a, const char *b);

#endif
