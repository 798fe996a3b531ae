/* SPDX-License-Identifier: Apache-2.0 */
/* The last of what a program that was started here has written. */
#ifndef WRITTEN_H
#define WRITTEN_H

#include <stddef.h>
#include <stdint.h>

struct written {
	char *text; /* lines, each with a NUL behind it; NULL: none yet */
	size_t len;
	uint64_t from, size; /* where in the file it begins; how long that is */
};

/** Read the end of the file @p fd. Where that fails it is as it was. */
void written_read(struct written *w, int fd);
void written_free(struct written *w);

#endif
