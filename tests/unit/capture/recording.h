/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings for tests: made by the writer, read from memory. */
#ifndef TEST_CAPTURE_RECORDING_H
#define TEST_CAPTURE_RECORDING_H

#include "capture.h"
#include "support.h"

#define MAX_CHUNKS 64

/** A recording in memory, and what it was made of. */
struct recording {
	uint8_t *bytes;
	size_t len;
	size_t chunks;
	size_t end[MAX_CHUNKS];	       /* where chunk i ends */
	uint64_t samples[MAX_CHUNKS];  /* in chunks 0 ... i */
	char *dump[MAX_CHUNKS];	       /* of the profile up to chunk i, as far as it was recorded */
	struct plumb_profile *profile; /* as it was at the end */
};

/** Write @p chunks chunks of @p samples_each random samples, the last one by pl_capture_finish. */
void recording_make(struct recording *r, uint64_t seed, size_t chunks, unsigned samples_each);
/** The same with opcodes, tags, samples that stand for several, texts of files, and events. */
void recording_make_rich(struct recording *r, uint64_t seed, size_t chunks, unsigned samples_each);
void recording_free(struct recording *r);

/** A profile, the recording that is written of it, and what comes back of that. */
struct kept {
	char *path;
	struct plumb_profile *p, *back;
	struct pl_capture_writer *w;
	struct pl_capture_info info;
};

void kept_init(struct kept *s);
/** The recording is finished, and read. */
void kept_read(struct kept *s);
void kept_deinit(struct kept *s);

/** Name of a new empty file; the caller unlinks and frees. */
char *temp_file(void);
/** Content of a file; the caller frees. */
uint8_t *file_bytes(const char *path, size_t *len_ret);
/** A descriptor at the beginning of @p len bytes. */
int fd_of(const void *bytes, size_t len);
/** pl_capture_read of @p len bytes into a new profile, which is the caller's whatever is returned. */
struct plumb_error *read_bytes(const void *bytes, size_t len, struct plumb_profile **p, struct pl_capture_info *info);
uint64_t samples_in(const struct plumb_profile *p);

#endif
