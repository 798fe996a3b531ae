/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a recording (layer capture). One thread at a time.
 *
 * Front to back through a window, chunk after chunk; the file may be cut, damaged, hostile, a pipe, or still growing.
 * At anything that is not a whole chunk the next one is searched for; what was in between is known from the numbers
 * that the next one carries. Where another recording begins, as cat(1) puts them together, it ends: chunks do not say
 * whose they are. Payload decoding is restore*.c. */
#include "capture.h"

#include <string.h>

#include "axis.h"
#include "format.h"
#include "intake.h"
#include "last_time.h"
#include "restore.h"

/* While searching, a payload is summed for every header that looks right. Made-up headers could each claim the whole
 * file; so the search ends after so many bytes, plus a few times what the file has. */
#define SEARCH_BYTES	      (256ull << 20)
#define SEARCH_BYTES_PER_BYTE 4

#define SAMPLES_ALWAYS (64ull << 20)
#define SAMPLES_A_BYTE 512

struct reader {
	struct pl_intake intake;
	struct pl_restore restore;
	struct pl_buf raw;
	struct pl_capture_info info;
	uint64_t next_sequence;
	uint64_t samples_before; /* in all chunks before that one */
	uint64_t samples_taken;
	uint64_t searched_bytes;
	uint64_t most_chunks; /* 0: all */
	bool ended;
};

/* What stands at the current position. */
enum found {
	FOUND_CHUNK,   /* a whole one with good sums */
	FOUND_END,     /* nothing */
	FOUND_CUT,     /* the beginning of a chunk, up to the end of the file */
	FOUND_DAMAGED, /* anything else; h->samples is right if h->kind is not 0 */
};

_Static_assert(PL_CAPTURE_BEGINNING == PL_FILE_HEADER_LEN + PL_CHUNK_HEADER_LEN, "a chunk can be seen in it");

#define BEFORE_LINE_ENDS 6 /* of the magic: what a transfer as text leaves of it */

static bool begins_as_recording(const uint8_t *bytes, size_t len)
{
	return len >= BEFORE_LINE_ENDS && memcmp(bytes, PL_FILE_MAGIC, BEFORE_LINE_ENDS) == 0;
}

/* The header of the file holds next to nothing: what follows can be read without it. */
static bool has_a_chunk(const uint8_t *bytes, size_t len)
{
	struct pl_chunk_header h = {0};

	return len >= PL_CAPTURE_BEGINNING && pl_chunk_header_decode(bytes + PL_FILE_HEADER_LEN, &h);
}

bool pl_capture_is(const uint8_t *bytes, size_t len)
{
	return begins_as_recording(bytes, len) || has_a_chunk(bytes, len);
}

static struct plumb_error *not_a_recording(const uint8_t *bytes, size_t len)
{
	if (!begins_as_recording(bytes, len))
		return pl_error(PLUMB_ERR_NOT_A_RECORDING, "the file is not a plumb recording");
	return pl_error_hint(pl_error(PLUMB_ERR_NOT_A_RECORDING, "it is what is left of a recording that was copied as "
								 "text: its line ends were changed"),
			     "copy it again as binary data; of this copy nothing can be read");
}

static struct plumb_error *read_file_header(struct reader *r)
{
	const uint8_t *bytes;
	size_t len;
	uint16_t version = PL_RECORDING_VERSION;
	struct plumb_error *err = pl_intake_look(&r->intake, PL_CAPTURE_BEGINNING, &bytes, &len);
	if (err)
		return err;
	if (len == 0)
		return pl_error(PLUMB_ERR_NOT_A_RECORDING, "the file is empty");
	if (len < PL_FILE_HEADER_LEN)
		return pl_error(PLUMB_ERR_NOT_A_RECORDING, "the file is too short for a plumb recording");
	enum pl_file_header_status status = pl_file_header_decode(bytes, &version);
	if (status == PL_FILE_HEADER_FOREIGN && !has_a_chunk(bytes, len))
		return not_a_recording(bytes, len);
	r->info.damaged_chunks += status != PL_FILE_HEADER_GOOD; /* nothing is lost with it, but it is told */
	if (version > PL_RECORDING_VERSION)
		return pl_error(PLUMB_ERR_NEWER_RECORDING, "the recording has format %u; this plumb reads up to %d",
				version, PL_RECORDING_VERSION);
	r->info.version = version;
	pl_intake_skip(&r->intake, PL_FILE_HEADER_LEN);
	return NULL;
}

/* On FOUND_CHUNK *payload_ret points into the window. */
static struct plumb_error *look_at_chunk(struct reader *r, struct pl_chunk_header *h, const uint8_t **payload_ret,
					 enum found *ret)
{
	const uint8_t *bytes;
	size_t len;
	*h = (struct pl_chunk_header){0};
	struct plumb_error *err = pl_intake_look(&r->intake, PL_CHUNK_HEADER_LEN, &bytes, &len);
	if (err)
		return err;
	if (len < PL_CHUNK_HEADER_LEN) {
		*ret = len ? FOUND_CUT : FOUND_END;
		return NULL;
	}
	*ret = FOUND_DAMAGED;
	if (!pl_chunk_header_decode(bytes, h))
		return NULL;
	size_t whole = PL_CHUNK_HEADER_LEN + (size_t)h->payload_len;
	err = pl_intake_look(&r->intake, whole, &bytes, &len);
	if (err)
		return err;
	*payload_ret = bytes + PL_CHUNK_HEADER_LEN;
	if (len < whole)
		*ret = FOUND_CUT;
	else if (pl_checksum(*payload_ret, h->payload_len) == h->payload_sum)
		*ret = FOUND_CHUNK;
	return NULL;
}

/* The next magic number, of a chunk or, *file_ret, of a file before that, which is looked for once; NULL: none. */
static const uint8_t *next_magic(const struct reader *r, const uint8_t *bytes, size_t len, bool *file_ret)
{
	const uint8_t *chunk = memmem(bytes, len, PL_CHUNK_MAGIC, PL_CHUNK_MAGIC_LEN), *file = NULL;

	if (!r->info.another)
		file = memmem(bytes, chunk ? (size_t)(chunk - bytes) : len, PL_FILE_MAGIC, PL_FILE_MAGIC_LEN);
	*file_ret = file != NULL;
	return file ? file : chunk;
}

/* Step to the next magic number of a chunk, or to where not even that has room any more. Before it another recording
 * may begin. */
static struct plumb_error *skip_to_magic(struct reader *r, bool *ret)
{
	for (;;) {
		const uint8_t *bytes;
		size_t len;
		bool file = false;
		struct plumb_error *err = pl_intake_look(&r->intake, PL_CHUNK_HEADER_LEN, &bytes, &len);
		if (err)
			return err;
		*ret = len >= PL_CHUNK_HEADER_LEN;
		if (!*ret)
			return NULL;
		const uint8_t *magic = next_magic(r, bytes, len, &file);
		/* Without one, its beginning may still be in the last bytes. */
		size_t before = magic ? (size_t)(magic - bytes) : len - PL_FILE_MAGIC_LEN + 1;
		pl_intake_skip(&r->intake, before + (file ? PL_FILE_MAGIC_LEN : 0));
		r->info.another = r->info.another || file;
		if (magic && !file)
			return NULL;
	}
}

static bool search_goes_on(struct reader *r, const struct pl_chunk_header *h)
{
	r->searched_bytes += h->payload_len;
	return r->searched_bytes <= SEARCH_BYTES + SEARCH_BYTES_PER_BYTE * r->intake.consumed;
}

/* Move to the next whole chunk behind the current position. False: there is none. */
static struct plumb_error *search_chunk(struct reader *r, bool *ret)
{
	struct pl_chunk_header h = {0};
	*ret = false;
	do {
		const uint8_t *payload;
		enum found found;
		bool magic = false;
		struct plumb_error *err = skip_to_magic(r, &magic);
		if (err || !magic || r->info.another)
			return err;
		err = look_at_chunk(r, &h, &payload, &found);
		if (err)
			return err;
		if (found == FOUND_CHUNK && h.sequence >= r->next_sequence) {
			*ret = true;
			return NULL;
		}
		pl_intake_skip(&r->intake, 1);
	} while (search_goes_on(r, &h));
	return NULL;
}

/* To the end; nobody needs these bytes. */
static struct plumb_error *drain(struct reader *r)
{
	for (;;) {
		const uint8_t *bytes;
		size_t len;
		struct plumb_error *err = pl_intake_look(&r->intake, 1, &bytes, &len);
		if (err)
			return err;
		if (!len)
			return NULL;
		pl_intake_skip(&r->intake, len);
	}
}

/* What no more is read of, from here to the end: its samples are counted. */
static struct plumb_error *leave_out(struct reader *r)
{
	struct pl_chunk_header h = {0};
	do {
		const uint8_t *payload;
		enum found found;
		bool magic = false;
		struct plumb_error *err = skip_to_magic(r, &magic);
		if (!err && magic)
			err = look_at_chunk(r, &h, &payload, &found);
		if (err || !magic)
			return err ? err : drain(r);
		if (found == FOUND_CHUNK)
			pl_sum_up(&r->restore.lost_samples, h.samples);
		pl_intake_skip(&r->intake, found == FOUND_CHUNK ? PL_CHUNK_HEADER_LEN + h.payload_len : 1);
	} while (search_goes_on(r, &h));
	return drain(r);
}

static void count_gap(struct reader *r, const struct pl_chunk_header *h)
{
	pl_sum_up(&r->info.damaged_chunks, h->sequence - r->next_sequence);
	if (h->samples_before > r->samples_before)
		pl_sum_up(&r->restore.lost_samples, h->samples_before - r->samples_before);
}

/* Samples cost time to read and to write again, and zeros are packed 30,000 to one. 4,000 threads that wait, at 1 kHz,
 * are 170 samples a byte: what is beyond is no recording. */
static bool are_too_many(const struct reader *r, const struct pl_chunk_header *h)
{
	uint64_t bytes = r->intake.consumed + PL_CHUNK_HEADER_LEN + h->payload_len;

	return r->samples_taken + h->samples > SAMPLES_ALWAYS + SAMPLES_A_BYTE * bytes;
}

static struct plumb_error *restore(struct reader *r, const struct pl_chunk_header *h, const uint8_t *payload)
{
	struct plumb_error *err = are_too_many(r, h) ? &pl_err_corrupt : pl_chunk_unseal(h, payload, &r->raw);

	if (err == &pl_err_corrupt)
		pl_sum_up(&r->restore.lost_samples, h->samples);
	if (err)
		return err;
	r->samples_taken += h->samples;
	return pl_restore_chunk(&r->restore, h, &r->raw);
}

/* A chunk with good sums, in its place or behind a gap. One of a kind we do not know is stepped over. */
static struct plumb_error *take_chunk(struct reader *r, const struct pl_chunk_header *h, const uint8_t *payload)
{
	count_gap(r, h);
	r->next_sequence = (uint64_t)h->sequence + 1;
	r->samples_before = h->samples_before;
	pl_sum_up(&r->samples_before, h->samples);
	r->info.chunks++;
	r->info.complete = h->kind == PL_CHUNK_LAST;
	r->ended = r->info.complete || r->info.chunks == r->most_chunks;
	struct plumb_error *err = NULL;
	if (h->kind == PL_CHUNK_LAST || h->kind == PL_CHUNK_MORE)
		err = restore(r, h, payload);
	if (err == &pl_err_corrupt && !r->restore.stopped) {
		r->info.damaged_chunks++;
		err = NULL;
	}
	pl_intake_skip(&r->intake, PL_CHUNK_HEADER_LEN + (size_t)h->payload_len);
	return err;
}

/* No whole chunk here. Either there is one further on, or all the rest is left out. */
static struct plumb_error *take_damage(struct reader *r, const struct pl_chunk_header *h, enum found found)
{
	uint64_t from = r->intake.consumed;
	bool more = false;
	struct plumb_error *err = search_chunk(r, &more);
	if (err || more)
		return err; /* its number tells how many chunks and samples are missing */
	err = r->info.another ? leave_out(r) : drain(r);
	if (err)
		return err;
	r->ended = true;
	r->info.ignored_bytes = r->intake.consumed - from;
	if (found == FOUND_DAMAGED || r->info.another) {
		r->info.damaged_chunks++;
		if (h->sequence >= r->next_sequence)
			pl_sum_up(&r->restore.lost_samples, h->samples);
	}
	return NULL;
}

static struct plumb_error *read_chunks(struct reader *r)
{
	while (!r->ended) {
		struct pl_chunk_header h;
		const uint8_t *payload = NULL;
		enum found found = FOUND_END;
		struct plumb_error *err = look_at_chunk(r, &h, &payload, &found);
		if (err || found == FOUND_END)
			return err;
		/* A chunk that was there already must not count twice. */
		if (found == FOUND_CHUNK && h.sequence < r->next_sequence)
			found = FOUND_DAMAGED;
		err = found == FOUND_CHUNK ? take_chunk(r, &h, payload) : take_damage(r, &h, found);
		if (err)
			return err;
	}
	return NULL;
}

/* Behind its last chunk a recording has nothing: whatever is there was put there by somebody. */
static struct plumb_error *read_behind(struct reader *r)
{
	uint64_t from = r->intake.consumed;
	struct plumb_error *err = leave_out(r);
	r->info.ignored_bytes = r->intake.consumed - from;
	r->info.damaged_chunks += r->info.ignored_bytes != 0;
	return err;
}

static struct plumb_error *read_all(struct reader *r)
{
	struct plumb_error *err = read_file_header(r);
	if (!err)
		err = read_chunks(r);
	if (!err && r->info.complete && !r->restore.again)
		err = read_behind(r);
	if (err)
		return err;
	if (r->info.chunks)
		return NULL;
	return pl_error(PLUMB_ERR_EMPTY, r->info.damaged_chunks ? "every part of the recording is damaged"
								: "the recording ends before its first samples");
}

struct plumb_error *pl_capture_read_again(int fd, struct plumb_profile *p, const struct pl_capture_info *first,
					  pl_capture_sample_fn *fn, void *ctx)
{
	struct reader r = {.raw = PL_BUF_INIT((size_t)PL_CHUNK_MAX_BYTES + 1), .most_chunks = first->chunks};
	pl_intake_init(&r.intake, fd);
	pl_restore_init(&r.restore, p, fn, ctx);
	r.restore.again = true;
	pl_profile_hold(p, true);
	struct plumb_error *err = read_all(&r);
	pl_profile_hold(p, false);
	/* Also if it has become another file, which has rows that the first one had not. */
	if ((!err && r.info.chunks != first->chunks) || (err == &pl_err_stale && !r.restore.stopped))
		err = pl_error(PLUMB_ERR_CORRUPT, "the recording was changed while it was read");
	pl_restore_deinit(&r.restore);
	pl_intake_deinit(&r.intake);
	pl_buf_deinit(&r.raw);
	return err;
}

/* One that cannot be the time of these samples is damage, and they have the time that they tell. */
static struct plumb_error *give_axis(struct reader *r, struct plumb_profile *p)
{
	struct plumb_error *err = NULL;
	if (r->restore.axis.merged)
		err = pl_axis_set(p, r->restore.axis_shift, &r->restore.axis);
	if (err != &pl_err_corrupt)
		return err;
	r->info.damaged_chunks++;
	return NULL;
}

struct plumb_error *pl_capture_read(int fd, struct plumb_profile *p, pl_capture_sample_fn *fn, void *ctx,
				    struct pl_capture_info *ret)
{
	struct reader r = {.raw = PL_BUF_INIT((size_t)PL_CHUNK_MAX_BYTES + 1)};
	uint64_t last_ns = 0;
	pl_intake_init(&r.intake, fd);
	pl_restore_init(&r.restore, p, fn, ctx);
	struct plumb_error *err = pl_last_time(fd, &last_ns);
	if (!err)
		err = pl_profile_expect_time(p, last_ns);
	if (!err)
		err = read_all(&r);
	if (!err)
		err = pl_profile_check_names(p, r.intake.consumed, PL_MEMORY_PER_BYTE);
	if (!err)
		err = give_axis(&r, p);
	if (!err) {
		pl_sum_up(&p->meta.losses[PL_LOSS_DAMAGED], r.restore.lost_samples);
		pl_sum_up(&p->meta.losses[PL_LOSS_EVENTS], r.restore.lost_events);
		pl_sum_up(&p->meta.damaged_parts, r.info.damaged_chunks);
		p->meta.another = r.info.another;
		p->meta.complete = r.info.complete && !r.restore.incomplete;
		p->meta.derived = r.info.complete && r.restore.incomplete;
		p->meta.file_bytes = r.intake.consumed;
		*ret = r.info;
	}
	pl_restore_deinit(&r.restore);
	pl_intake_deinit(&r.intake);
	pl_buf_deinit(&r.raw);
	return err;
}
