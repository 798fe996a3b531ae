/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/capture: the bytes of a recording outside of the compressed payloads. Every byte is described in
 * docs/internals/recording.md; all numbers are little endian. */
#ifndef PL_CAPTURE_FORMAT_H
#define PL_CAPTURE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "new_file.h"
#include "buf.h"
#include "cursor.h"
#include "error.h"
#include "profile.h"

#define PL_RECORDING_VERSION 1

/* Like PNG's: the NUL says "binary" to whoever guesses, and a transfer that rewrites line ends destroys the magic. */
#define PL_FILE_HEADER_LEN  24
#define PL_CHUNK_MAGIC	    "\x89PLC"
#define PL_CHUNK_MAGIC_LEN  4
#define PL_CHUNK_HEADER_LEN 48

/* Limits of one chunk. The writer stays far below them; the reader takes what exceeds them for damage. */
#define PL_CHUNK_MAX_BYTES   (64u << 20) /* compressed, and uncompressed */
#define PL_CHUNK_MAX_SAMPLES (4u << 20)
/* No zstd block holds more than 128 KiB in its 3 bytes of header and 1 byte of content. */
#define PL_CHUNK_MAX_RATIO (32u << 10)
/* Longer ones are cut: a name as it is read from a program, and "..." behind it. */
#define PL_STRING_MAX_BYTES ((64u << 10) + 8)
#define PL_MAX_TIME_SHIFT   24 /* the shortest batch of a profile: PL_BATCH_MIN_NS */

enum pl_chunk_kind {
	PL_CHUNK_MORE = 1, /* others follow */
	PL_CHUNK_LAST = 2, /* the recording was ended in order */
};

/* Parts of a payload. Numbers are for ever; a reader skips those it does not know. */
enum pl_section {
	PL_SECTION_STRINGS = 1,
	PL_SECTION_FUNCTIONS = 2,
	PL_SECTION_LOCATIONS = 3,
	PL_SECTION_STACKS = 4,
	PL_SECTION_PROCESSES = 5,
	PL_SECTION_THREADS = 6,
	PL_SECTION_META = 7,
	PL_SECTION_UNITS = 8,	   /* of the columns that follow */
	PL_SECTION_PLACES = 9,	   /* the distinct (thread, stack) of the chunk */
	PL_SECTION_TIMES = 10,	   /* the distinct instants */
	PL_SECTION_RUNS = 11,	   /* how many samples each instant has */
	PL_SECTION_SAMPLES = 12,   /* the place of each sample */
	PL_SECTION_STATES = 13,	   /* state and quality of each sample */
	PL_SECTION_WEIGHTS = 14,   /* the weight of each sample */
	PL_SECTION_LIVES = 15,	   /* all about processes; rows that are new or changed */
	PL_SECTION_COUNTS = 16,	   /* what each sample stands for beyond itself */
	PL_SECTION_OPCODES = 17,   /* of each location of the chunk */
	PL_SECTION_HOSTS = 18,	   /* of the processes in `lives`, where they are named */
	PL_SECTION_COLLECTOR = 19, /* what a collector of CPython was told about its run */
	PL_SECTION_SOURCES = 20,   /* texts of files; rows that are new or changed */
	PL_SECTION_WAITS = 21,	   /* of tasks: what has come since the last chunk */
	PL_SECTION_AXIS = 22,	   /* the real time of what was added up */
	PL_SECTION_LABELS = 23,	   /* of each function of the chunk */
	PL_SECTION_UNNAMED = 24,   /* where it is that has no name, likewise */
	PL_SECTION_PLUMBING = 25,  /* whether it only passes calls on, likewise */
	PL_SECTION_LOCKS = 26,	   /* the distinct lock states */
	PL_SECTION_AWAITED = 27,   /* of each sample, the one that it waited for */
	PL_SECTION_MODULES = 28,   /* the builds of files of machine code */
	PL_SECTION_REASONS = 29,   /* of each sample, for what it waited */
	PL_SECTION_EVENTS = 30,	   /* what happened since the last chunk */
	PL_SECTION_DEBUG = 31,	   /* what debug information says of functions and locations of the chunk */
	PL_SECTION_ADDRESSES = 32, /* of its locations, where nobody has told the line */
	PL_SECTIONS,
};

/* Flags of the meta section. */
enum {
	PL_META_UNTIMED = 1,
	PL_META_COUNTED = 2,
	PL_META_IMPORTED = 4,
	PL_META_SELECTED = 8,
	PL_META_NATIVE_THREADS = 16,
	PL_META_INCOMPLETE = 32,
};
/* Flags of a row of the sources. */
enum { PL_SOURCE_CHANGED = 1 };
/* Flags of the collector section. */
enum { PL_RUN_SKIP_IDLE = 1, PL_RUN_MEASURED = 2, PL_RUN_KNOWN = 4 };
/** The figures of @p c in the order of the file, from 0; NULL past the last. */
double *pl_collector_figure(struct pl_collector *c, size_t i);

/* State and quality of a sample in one number. */
#define PL_QUALITY_BITS 2
_Static_assert(PL_QUALITIES <= 1 << PL_QUALITY_BITS, "a quality more needs a new format version");

struct pl_chunk_header {
	uint8_t kind; /* enum pl_chunk_kind */
	uint32_t sequence;
	uint32_t samples;	 /* in this chunk */
	uint64_t samples_before; /* in all chunks before it */
	uint32_t payload_len;	 /* bytes that follow the header */
	uint32_t raw_len;	 /* bytes they decompress to */
	uint64_t payload_sum;
};

/** FNV-1a, 64 bits. Any change within one byte changes the sum; other damage stays unseen once in 2^64 times. */
uint64_t pl_checksum(const void *bytes, size_t len);

void pl_file_header_encode(uint8_t ret[PL_FILE_HEADER_LEN], uint16_t version);

enum pl_file_header_status { PL_FILE_HEADER_GOOD, PL_FILE_HEADER_DAMAGED, PL_FILE_HEADER_FOREIGN };
/** What the first PL_FILE_HEADER_LEN bytes of a file are. *version_ret is set if they are good. */
enum pl_file_header_status pl_file_header_decode(const uint8_t *bytes, uint16_t *version_ret);

/** Compress @p raw and append a whole chunk to @p out. Fills in payload_len, raw_len and payload_sum of @p h. */
struct plumb_error *pl_chunk_seal(struct pl_chunk_header *h, const struct pl_buf *raw,
				  struct pl_buf *out) PLUMB_MUST_CHECK;
/** False: not a chunk header, or a damaged one, or one that breaks a limit. */
bool pl_chunk_header_decode(const uint8_t *bytes, struct pl_chunk_header *ret);
/** Replace the content of @p raw by the decompressed payload. Errors: PLUMB_ERR_CORRUPT, PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_chunk_unseal(const struct pl_chunk_header *h, const uint8_t *payload,
				    struct pl_buf *raw) PLUMB_MUST_CHECK;

/* Writing with the check at the end: after a failed call the rest do nothing. */
struct pl_encoder {
	struct pl_buf *buf;
	struct plumb_error *err;
};
static inline void pl_encode(struct pl_encoder *e, uint64_t v)
{
	if (!e->err)
		e->err = pl_buf_add_varint(e->buf, v);
}
static inline void pl_encode_signed(struct pl_encoder *e, int64_t v)
{
	if (!e->err)
		e->err = pl_buf_add_svarint(e->buf, v);
}
static inline void pl_encode_bytes(struct pl_encoder *e, const void *bytes, size_t len)
{
	if (!e->err)
		e->err = pl_buf_add(e->buf, bytes, len);
}
/** Difference of two ids or counters, for any values of them. */
static inline void pl_encode_delta(struct pl_encoder *e, uint64_t v, uint64_t from)
{
	pl_encode_signed(e, (int64_t)(v - from));
}
/** Tag, length, content. An empty section is left out. */
void pl_encode_section(struct pl_encoder *e, enum pl_section tag, const struct pl_buf *content);

/* Reading with the check at the end: after a failed call everything is 0 and `bad` stays set. */
struct pl_decoder {
	struct pl_cursor cursor;
	bool bad;
};
static inline struct pl_decoder pl_decoder_of(const uint8_t *bytes, size_t len)
{
	return (struct pl_decoder){.cursor = {.p = bytes, .end = bytes + len}};
}
/** Where each section of the payload @p raw lies; those that are not there stay as they are. False: it is damaged. */
bool pl_find_sections(const struct pl_buf *raw, struct pl_decoder sections[PL_SECTIONS]);
/** A number of more than one byte, or none. */
uint64_t pl_decode_long(struct pl_decoder *d);
/* Most numbers have one byte, and there are six for each sample. */
static inline uint64_t pl_decode(struct pl_decoder *d)
{
	bool is_short = !d->bad && d->cursor.p < d->cursor.end && *d->cursor.p < 0x80;
	return is_short ? *d->cursor.p++ : pl_decode_long(d);
}
static inline int64_t pl_decode_signed(struct pl_decoder *d)
{
	uint64_t v = pl_decode(d);
	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}
/** A number of at most 32 bits; a larger one is bad. */
uint32_t pl_decode_u32(struct pl_decoder *d);
/** What pl_encode_delta wrote, as a number of at most 32 bits. */
uint32_t pl_decode_delta_u32(struct pl_decoder *d, uint32_t from);

#endif
