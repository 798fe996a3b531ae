/* SPDX-License-Identifier: Apache-2.0 */
/* The recording: an append-only file of checksummed chunks, more than one a second. Format:
 * docs/internals/recording.md. Each chunk carries the table rows that are new since the last one, the samples of its
 * time and the running totals of the meta data, so that a file cut at any byte opens with all its whole chunks. A
 * writer belongs to one thread at a time. */
#ifndef PL_CAPTURE_H
#define PL_CAPTURE_H

#include "new_file.h"
#include "profile.h"

/* A profiler that is killed loses at most a second: this, and the time until the writer is asked again. */
#define PL_CAPTURE_CHUNK_NS 800000000ull

struct pl_capture_writer;

/** Whether a file that begins with these bytes is a recording, perhaps a damaged one: PL_CAPTURE_BEGINNING of them, or
 * as many as it has. */
#define PL_CAPTURE_BEGINNING 72
bool pl_capture_is(const uint8_t *bytes, size_t len);
/** Write the file header into @p file, which is taken over; after an error it is gone. p->meta.period_ns must be
 * known: it sets the unit of time. Errors: PLUMB_ERR_WRITE_FAILED naming path and reason. */
struct plumb_error *pl_capture_create_in(struct pl_new_file *file, const struct plumb_profile *p,
					 struct pl_capture_writer **ret) PLUMB_MUST_CHECK;
/** The same into a file that has its name at once (PL_REPLACE_NAMED). Errors: PLUMB_ERR_EXISTS, too. */
struct plumb_error *pl_capture_create(const char *path, const struct plumb_profile *p,
				      struct pl_capture_writer **ret) PLUMB_MUST_CHECK;
/** The same into @p fd, which stays the caller's; @p name is for messages. */
struct plumb_error *pl_capture_create_at(int fd, const char *name, const struct plumb_profile *p,
					 struct pl_capture_writer **ret) PLUMB_MUST_CHECK;
/** Remember a sample, which may stand for several, for the next chunk. Its time is kept to an eighth of the period (1
 * us at best), the rest exactly. Errors: PLUMB_ERR_NO_MEMORY; PLUMB_ERR_LIMIT after 4 million samples without a flush.
 */
struct plumb_error *pl_capture_add(struct pl_capture_writer *w, const struct pl_sample *s) PLUMB_MUST_CHECK;
/** Remember an event for the next chunk. Errors: PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_capture_event(struct pl_capture_writer *w, const struct pl_event *e) PLUMB_MUST_CHECK;
/** Whether a chunk is due: its samples span PL_CAPTURE_CHUNK_NS, or there are very many of them. */
bool pl_capture_wants_flush(const struct pl_capture_writer *w);
/** Whether there are so many samples that a chunk is due whatever their time. */
bool pl_capture_is_full(const struct pl_capture_writer *w);
/** How many chunks were written. */
uint64_t pl_capture_chunks(const struct pl_capture_writer *w);
/** Write a chunk: new table rows of @p p, the samples, p->meta. One write(2) where possible. After an error nothing is
 * lost: a later call writes it all. Errors: PLUMB_ERR_WRITE_FAILED naming path and reason. */
struct plumb_error *pl_capture_flush(struct pl_capture_writer *w, const struct plumb_profile *p) PLUMB_MUST_CHECK;
/** The file takes its name now, whatever is in it; if it has it: nothing. Errors: PLUMB_ERR_EXISTS,
 * PLUMB_ERR_WRITE_FAILED; it is kept beside its name. */
struct plumb_error *pl_capture_publish(struct pl_capture_writer *w) PLUMB_MUST_CHECK;
/** Whether the file stays when the writer is freed: it was published. */
bool pl_capture_is_kept(const struct pl_capture_writer *w);
/** Whether it has its name already. */
bool pl_capture_is_named(const struct pl_capture_writer *w);
/** Whether samples were written, and not only remembered. */
bool pl_capture_has_samples(const struct pl_capture_writer *w);
/** To read what was written. Owner: the writer. */
int pl_capture_fd(const struct pl_capture_writer *w);
/** Write the last chunk (marks the recording complete). Nothing may be added afterwards. If somebody has taken the file
 * away from its name, what was written is beside that. */
struct plumb_error *pl_capture_finish(struct pl_capture_writer *w, const struct plumb_profile *p) PLUMB_MUST_CHECK;
/** Give the file another name, a free one; false: it keeps the one it has. */
bool pl_capture_rename(struct pl_capture_writer *w, const char *path);
/** What it is called, or is to be; if it could not take its name, what it is called instead. Owner: the writer. */
const char *pl_capture_path(const struct pl_capture_writer *w);
/** Free, and close without the last chunk if pl_capture_finish was not called. A file that was not published is gone.
 * NULL-safe. */
void pl_capture_destroy(struct pl_capture_writer *w);

struct pl_capture_info {
	uint32_t version;
	uint64_t chunks, damaged_chunks; /* damaged: also the header of the file */
	uint64_t ignored_bytes;		 /* after the last whole chunk */
	bool complete;
	bool another; /* begins in these bytes: files were put together */
};
typedef struct plumb_error *pl_capture_sample_fn(void *ctx, const struct pl_sample *s);

/** Read @p fd to the end into @p p (empty). @p fn (may be NULL) sees each sample in order; its error ends the reading.
 * What a damaged chunk held is counted in PL_LOSS_DAMAGED; frames and threads that were described only there are shown
 * as "<lost>". The recording may still be growing. After an error @p p is usable but incomplete.
 * Errors: PLUMB_ERR_NOT_A_RECORDING, PLUMB_ERR_NEWER_RECORDING, PLUMB_ERR_EMPTY (a header and no whole chunk),
 * PLUMB_ERR_LIMIT (it would take far more memory than its length is worth), PLUMB_ERR_SYSTEM (read(2) failed). */
struct plumb_error *pl_capture_read(int fd, struct plumb_profile *p, pl_capture_sample_fn *fn, void *ctx,
				    struct pl_capture_info *ret) PLUMB_MUST_CHECK;
/** Give the samples of @p fd, which stands at its beginning again, to @p fn. @p p has all of it from pl_capture_read,
 * which returned @p first: nothing of it changes, and it is held meanwhile (pl_profile_hold). What was appended since
 * is not read. Errors: as above, PLUMB_ERR_CORRUPT if it is not what it was. */
struct plumb_error *pl_capture_read_again(int fd, struct plumb_profile *p, const struct pl_capture_info *first,
					  pl_capture_sample_fn *fn, void *ctx) PLUMB_MUST_CHECK;

#endif
