/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles made by hand, outputs caught in memory, and comparison with golden files. */
#ifndef TEST_EXPORT_BUILD_H
#define TEST_EXPORT_BUILD_H

#include "export.h"

struct build {
	struct plumb_profile *p;
	uint64_t now_ns; /* time of the next sample */
};

/** A profile of "python app.py", pid 4242, one main thread (tid 4242), 1 ms period, wall clock, complete. */
void build_start(struct build *b);
void build_end(struct build *b);
uint32_t build_string(struct build *b, const char *s);
uint32_t build_thread(struct build *b, uint64_t tid, const char *name, double cpu_share);
/** A process with its main thread; that one's id. */
uint32_t build_process(struct build *b, uint32_t pid, uint32_t parent, const char *name);
/** One more frame on @p parent; first line of the function is @p line - 1. A name in <> without a file is a marker. */
uint32_t build_frame(struct build *b, uint32_t parent, const char *name, const char *file, int line);
/** As build_frame for names with any bytes. */
uint32_t build_frame_n(struct build *b, uint32_t parent, const char *name, size_t len, const char *file,
		       size_t file_len, int line);
/** @p count samples, one period apart. */
void build_samples(struct build *b, uint32_t thread, uint32_t stack, int state, int quality, int count);
/** Round-robin over what a program with three hot spots does: 10,000 samples in 10 s. */
void build_example(struct build *b);

struct pl_export_options build_options(int width);
/** What format @p name writes. Owner: the caller, free(). */
char *build_output(const struct plumb_profile *p, const char *name, const struct pl_export_options *o, size_t *len_ret);
/** Compare with tests/golden/report/@p file; PLUMB_UPDATE_GOLDEN=1 in the environment writes it instead. */
void build_assert_golden(const char *file, const char *got, size_t len);
/** Lines of @p text, and columns of the longest; U+3000 to U+DFFF take two. */
int build_lines(const char *text, int *columns_ret);

#endif
