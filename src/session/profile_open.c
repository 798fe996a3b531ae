/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: <plumb/profile.h>, opening: a recording, or what an importer understands. */
#include <plumb/profile.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "again.h"
#include "input.h"
#include "sample_log.h"
#include "save.h"
#include "view.h"
#include "words.h"

/* What reads knows what is wrong; only we know with which file. */
static struct plumb_error *name_file(struct plumb_error *err, const char *path)
{
	enum plumb_error_code code = plumb_error_code(err);

	if (code == PLUMB_ERR_NO_MEMORY || code == PLUMB_ERR_NOT_FOUND || code == PLUMB_ERR_UNKNOWN_FORMAT)
		return err; /* says it all, or is not about the file */
	struct plumb_error *named = pl_error_hint(
		pl_error(code, "%s: %s", strcmp(path, "-") == 0 ? "standard input" : path, plumb_error_message(err)),
		"%s", plumb_error_hint(err));
	plumb_error_destroy(err);
	return named;
}

/* ---- a recording ------------------------------------------------------------------------------------------------- */

static struct plumb_error *read_recording(struct pl_input *in, struct plumb_profile *p,
					  struct plumb_recording_info *info)
{
	struct pl_capture_info ci = {0};
	bool growing = pl_input_is_being_written(in); /* asked first: it may have its end by then */
	struct plumb_error *err = pl_capture_read(in->fd, p, NULL, NULL, &ci);

	if (err && growing && plumb_error_code(err) == PLUMB_ERR_EMPTY) {
		plumb_error_destroy(err);
		return pl_error(PLUMB_ERR_EMPTY, "it is still being written, and has no samples yet");
	}
	if (err)
		return err;
	p->meta.growing = growing && !ci.complete;
	*info = (struct plumb_recording_info){.complete = p->meta.complete,
					      .missing = pl_meta_missing(&p->meta),
					      .ignored_bytes = ci.ignored_bytes,
					      .another = ci.another,
					      .damaged_chunks = ci.damaged_chunks,
					      .format = PL_RECORDING_FORMAT};
	int fd = in->fd;
	in->fd = -1;
	return pl_again_from_recording(p, fd, &ci);
}

/* ---- a file of another tool -------------------------------------------------------------------------------------- */

static bool ends_with(const char *s, size_t len, const char *end)
{
	size_t end_len = strlen(end);

	return len > end_len && memcmp(s + len - end_len, end, end_len) == 0;
}

/* By the end of its name, for content that could be anything: the longest one that fits. */
static const struct pl_importer *importer_by_path(const char *path)
{
	const struct pl_importer *best = NULL;
	size_t best_len = 0, len = strlen(path);

	len -= ends_with(path, len, ".gz") ? strlen(".gz") : 0;
	for (const struct pl_importer *i = pl_importers; i->name; i++) {
		for (const char *const *s = i->suffixes; *s; s++) {
			if (!ends_with(path, len, *s) || strlen(*s) <= best_len)
				continue;
			best = i;
			best_len = strlen(*s);
		}
	}
	return best;
}

static const struct pl_importer *find_importer(const struct pl_import_input *bytes, const char *path, const char *from)
{
	if (from)
		return pl_importer_by_name(from);
	if (!bytes->len)
		return NULL;
	const struct pl_importer *known = pl_importer_for(bytes);
	return known ? known : importer_by_path(path);
}

static struct plumb_error *unknown_format(bool empty)
{
	return pl_error_hint(
		pl_error(PLUMB_ERR_NOT_A_RECORDING, "this is %s",
			 empty ? "an empty file" : "neither a plumb recording nor a format that plumb knows"),
		"%s", "'plumb help formats' lists what can be read; '--from FORMAT' says what it is");
}

/* As much as a recording of that length may have (docs/internals/recording.md): a few bytes of gzip data can stand for
 * millions of frames. In a file that is not packed each takes a byte at least. */
#define ROWS_BASE   ((uint64_t)2 << 20)
#define ROWS_A_BYTE 32
/* Of what is told by number texts can be made that stand nowhere in the file, such as labels in other combinations. */
#define TEXT_BASE   ((uint64_t)16 << 20)
#define TEXT_A_BYTE 64

/* What may be written of a profile follows the length of its recording (export/size_limit.h), where a byte can be a
 * sample. Other tools write a name once and its number in each stack, or that a function was called, in some tens of
 * bytes for what is a line of some kilobytes: of each byte of theirs 200 may be written. Packed they are a tenth, a
 * hundredth where a program does the same for hours. */
#define BYTES_A_RECORDING_HAS_ONE_FOR 500
#define BYTES_FOR_A_PACKED_ONE	      100

struct importing {
	struct pl_sink sink;
	struct pl_sample_log log;
	uint64_t end_ns, samples; /* when the last sample was, and how many there are */
	uint64_t most_rows;	  /* of stacks */
	uint64_t most_text;	  /* bytes of names and labels */
};

static struct plumb_error *too_much(uint64_t most, const char *of_what)
{
	return pl_error_hint(
		pl_error(PLUMB_ERR_LIMIT, "it is gzip data of more than %" PRIu64 " million %s for a file of its size",
			 most / 1000000, of_what),
		"a file made to fill the memory does that; if it is a profile, unpack it with 'gunzip' first");
}

static struct plumb_error *check_size(const struct importing *x)
{
	if (x->sink.profile->stack_count > x->most_rows)
		return too_much(x->most_rows, "frames, too many");
	if (pl_strtab_bytes(x->sink.profile->strings) > x->most_text)
		return too_much(x->most_text, "bytes of names and labels, too many");
	return NULL;
}

static void set_limits(struct importing *x, uint64_t packed_len, uint64_t len)
{
	x->most_rows = packed_len ? ROWS_BASE + ROWS_A_BYTE * packed_len : UINT64_MAX;
	x->most_text = packed_len ? TEXT_BASE + TEXT_A_BYTE * packed_len + len : UINT64_MAX;
}

static uint64_t as_of_a_recording(uint64_t packed_len, uint64_t len)
{
	bool far = packed_len && packed_len < len / BYTES_FOR_A_PACKED_ONE;

	return 1 + (far ? packed_len * BYTES_FOR_A_PACKED_ONE : len) / BYTES_A_RECORDING_HAS_ONE_FOR;
}

static struct plumb_error *note_sample(void *ctx, const struct pl_sample *s)
{
	struct importing *x = ctx;
	struct plumb_error *err = check_size(x);

	if (err)
		return err;
	x->end_ns = s->time_ns > x->end_ns ? s->time_ns : x->end_ns;
	x->samples++;
	return x->sink.timed ? pl_sample_log_add(&x->log, s) : NULL;
}

/* The heaviest thread lasted as long as the recording, where nothing else tells. */
static struct plumb_error *longest_thread(const struct plumb_profile *p, uint64_t *ret)
{
	const struct pl_filter all = {.idle = PL_IDLE_KEEP};
	pl_thread_rows rows = {0};
	struct plumb_error *err = pl_view_threads(p, &all, &rows);

	for (size_t i = 0; i < rows.len && !err; i++)
		*ret = rows.data[i].weight_ns > *ret ? rows.data[i].weight_ns : *ret;
	pl_vec_deinit(&rows);
	return err;
}

static struct plumb_error *fill_meta(struct plumb_profile *p, const struct pl_importer *importer,
				     const struct importing *x)
{
	const struct pl_sink *sink = &x->sink;
	p->meta.untimed = !sink->timed;
	p->meta.counted = sink->counted;
	p->meta.imported = true;
	struct plumb_error *err = pl_profile_string(p, importer->name, strlen(importer->name), &p->meta.engine);
	if (err || p->meta.duration_ns || (sink->counted && !sink->timed))
		return err;
	p->meta.duration_ns = sink->timed ? x->end_ns : 0;
	return p->meta.duration_ns ? NULL : longest_thread(p, &p->meta.duration_ns);
}

/* A name can stand once in a file and be told by number in each of its rows. */
#define NAMES_A_BYTE 1024

static struct plumb_error *import_into(struct importing *x, struct pl_input *in, const char *path, const char *from,
				       struct plumb_recording_info *info)
{
	struct plumb_profile *p = x->sink.profile;
	struct pl_import_input bytes;
	struct plumb_error *err = pl_input_map(in, &bytes);

	if (err)
		return err;
	const struct pl_importer *importer = find_importer(&bytes, path, from);
	if (!importer)
		return unknown_format(bytes.len == 0);
	set_limits(x, in->packed_len, bytes.len);
	err = pl_importer_run(importer, &bytes, &x->sink);
	if (!err)
		err = pl_profile_check_names(p, bytes.len, NAMES_A_BYTE);
	if (err)
		return err;
	/* Who says what it is may have nothing, and so may a run of a collector; a guess that finds nothing was wrong.
	 */
	if (!x->samples && !p->meta.collector.known && (!from || x->sink.skipped))
		return pl_error(PLUMB_ERR_EMPTY, "there is no sample in it");
	err = fill_meta(p, importer, x);
	if (err)
		return err;
	p->meta.file_bytes = as_of_a_recording(in->packed_len, bytes.len);
	*info = (struct plumb_recording_info){
		.complete = p->meta.complete, .format = importer->name, .skipped = x->sink.skipped};
	return x->sink.timed ? pl_sample_log_stream(&x->log, &p->stream) : NULL;
}

static struct plumb_error *import(struct pl_input *in, const char *path, const char *from, struct plumb_profile *p,
				  struct plumb_recording_info *info)
{
	struct importing x = {.sink = {.profile = p, .fn = note_sample, .ctx = &x}};

	pl_sample_log_init(&x.log);
	struct plumb_error *err = import_into(&x, in, path, from, info);
	pl_sample_log_deinit(&x.log);
	return err;
}

/* ---- either ------------------------------------------------------------------------------------------------------ */

static struct plumb_error *check_from(const char *from)
{
	if (!from || strcmp(from, PL_RECORDING_FORMAT) == 0 || pl_importer_by_name(from))
		return NULL;
	return pl_error_hint(pl_error(PLUMB_ERR_UNKNOWN_FORMAT, "there is no input format '%s'", from), "%s",
			     "'plumb help formats' lists them");
}

static struct plumb_error *read_input(struct pl_input *in, const char *path, const char *from, struct plumb_profile *p,
				      struct plumb_recording_info *info)
{
	if (from ? strcmp(from, PL_RECORDING_FORMAT) == 0 : pl_input_is_recording(in))
		return read_recording(in, p, info);
	return import(in, path, from, p, info);
}

/* What a file was asked to be. */
struct request {
	const char *path, *from;
};

/* Could more of it make it a profile? JSON may tell at its end what it is. */
static bool may_be_known(void *ctx, const uint8_t *bytes, size_t len)
{
	const struct request *r = ctx;

	if (r->from || pl_capture_is(bytes, len) || importer_by_path(r->path) || memchr("{[ \t\r\n", bytes[0], 6))
		return true;
	uint8_t *copy = malloc(len + 1); /* importers find a NUL behind their bytes */
	if (!copy)
		return true;
	memcpy(copy, bytes, len);
	copy[len] = '\0';
	struct pl_import_input beginning = {.bytes = copy, .len = len};
	bool known = pl_importer_for(&beginning) != NULL;
	free(copy);
	return known;
}

static struct plumb_error *open_profile(const char *path, const char *from, struct plumb_recording_info *info,
					struct plumb_profile **ret)
{
	struct pl_input in;
	struct plumb_profile *p;
	struct plumb_error *err = check_from(from);

	if (err || (err = pl_input_open(path, may_be_known, &(struct request){path, from}, &in)))
		return err;
	err = pl_profile_create(&p);
	if (!err) {
		err = read_input(&in, path, from, p, info);
		if (!err)
			err = pl_profile_check_sums(p);
		if (err)
			pl_profile_destroy(p);
	}
	pl_input_close(&in);
	if (!err)
		*ret = p;
	return err;
}

struct plumb_error *plumb_profile_open_as(const char *path, const char *from, struct plumb_recording_info *info,
					  struct plumb_profile **ret)
{
	struct plumb_recording_info found;
	struct plumb_error *err = open_profile(path, from, &found, ret);

	if (err)
		return name_file(err, path);
	if (info)
		*info = found;
	return NULL;
}

struct plumb_error *plumb_profile_open(const char *path, struct plumb_recording_info *info, struct plumb_profile **ret)
{
	return plumb_profile_open_as(path, NULL, info, ret);
}

struct plumb_error *plumb_profile_set_own(struct plumb_profile *p, const char *const *names, size_t count)
{
	return pl_profile_set_own(p, names, count);
}

void plumb_profile_destroy(struct plumb_profile *p)
{
	pl_profile_destroy(p);
}

bool plumb_input_format_at(size_t i, struct plumb_format *ret)
{
	static const struct plumb_format recording = {PL_RECORDING_FORMAT, ".plumb",
						      "what 'plumb run' and 'plumb attach' write"};

	if (i == 0) {
		*ret = recording;
		return true;
	}
	for (size_t k = 0; pl_importers[k].name; k++) {
		if (k + 1 < i)
			continue;
		const char *suffix = pl_importers[k].suffixes[0];
		*ret = (struct plumb_format){pl_importers[k].name, suffix ? suffix : "", pl_importers[k].summary};
		return true;
	}
	return false;
}
