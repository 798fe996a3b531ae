/* SPDX-License-Identifier: Apache-2.0 */
/* The text of an open source file, for dumps and recordings. */
#ifndef PL_FILE_TEXT_H
#define PL_FILE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What tells one text of a file from another without reading it. */
struct pl_file_state {
	uint64_t device, inode, len, changed_ns; /* since 1970 */
};

bool pl_file_state_read(int fd, struct pl_file_state *ret);
bool pl_file_state_equal(const struct pl_file_state *a, const struct pl_file_state *b);
/** Was it changed after a process was started at @p start_real_ns (since 1970; 0: unknown, and no)? */
bool pl_file_state_younger(const struct pl_file_state *f, uint64_t start_real_ns);

enum pl_file_text { PL_FILE_TEXT_NONE, PL_FILE_TEXT_READ, PL_FILE_TEXT_NO_MEMORY };
/** All f->len bytes into *ret, for pl_file_text_free. Not by malloc: whoever reads may be the child of a fork, and
 * another thread may have held the allocator then. */
enum pl_file_text pl_file_text_read(int fd, const struct pl_file_state *f, char **ret);
void pl_file_text_free(char *text, const struct pl_file_state *f);

#endif
