/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: <plumb/profile.h>, the public face of profiles, on top of capture (reading) and export (writing). */
#include <plumb/profile.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "capture.h"
#include "export.h"

#define MAX_TEXT_LINES 25

static struct plumb_error *open_error(const char *path, int errnum)
{
	if (errnum == ENOENT || errnum == ENOTDIR)
		return pl_error_hint(pl_error(PLUMB_ERR_NOT_FOUND, "there is no file %s", path), "%s",
				     "recordings are named plumb.PROGRAM.PID.plumb");
	return pl_error_errno(PLUMB_ERR_SYSTEM, errnum, "cannot open %s", path);
}

/* The reader knows what is wrong; only we know with which file. */
static struct plumb_error *name_file(struct plumb_error *err, const char *path)
{
	struct plumb_error *named = pl_error_hint(
		pl_error(plumb_error_code(err), "%s: %s", path, plumb_error_message(err)), "%s", plumb_error_hint(err));

	plumb_error_destroy(err);
	return named;
}

struct plumb_error *plumb_profile_open(const char *path, struct plumb_recording_info *info, struct plumb_profile **ret)
{
	struct pl_capture_info ci = {0};
	struct plumb_profile *p;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return open_error(path, errno);
	struct plumb_error *err = pl_profile_create(&p);
	if (err) {
		close(fd);
		return err;
	}
	err = pl_capture_read(fd, p, NULL, NULL, &ci);
	close(fd);
	if (err) {
		pl_profile_destroy(p);
		return name_file(err, path);
	}
	if (info)
		*info = (struct plumb_recording_info){ci.complete, ci.ignored_bytes, ci.damaged_chunks, "plumb", 0};
	*ret = p;
	return NULL;
}

void plumb_profile_destroy(struct plumb_profile *p)
{
	pl_profile_destroy(p);
}

static struct pl_export_options export_options(const struct plumb_report_options *o)
{
	static const enum pl_idle idle[] = {[PLUMB_IDLE_HIDE_THREADS] = PL_IDLE_HIDE_THREADS,
					    [PLUMB_IDLE_KEEP] = PL_IDLE_KEEP,
					    [PLUMB_IDLE_SKIP_SAMPLES] = PL_IDLE_SKIP_SAMPLES};

	return (struct pl_export_options){
		.filter = {.idle = idle[o->idle],
			   .threads = o->threads,
			   .thread_count = o->thread_count,
			   .processes = o->processes,
			   .process_count = o->process_count,
			   .lines = o->lines},
		.full_names = o->full_names,
		.escape = !o->no_escape,
		.width = o->width ? o->width : 80,
		.color = o->color,
		.unicode = !o->ascii,
		.max_lines = MAX_TEXT_LINES,
		.recording = o->recording,
	};
}

static struct plumb_error *write_to(const struct pl_format *format, const struct plumb_profile *p,
				    const struct pl_export_options *o, FILE *out)
{
	struct plumb_error *err = format->write(p, o, out);
	bool failed = ferror(out) != 0;

	if (fclose(out) || failed) {
		if (err)
			return err;
		return pl_error_errno(PLUMB_ERR_WRITE_FAILED, errno, "cannot write the report");
	}
	return err;
}

struct plumb_error *plumb_profile_write(const struct plumb_profile *p, const struct plumb_report_options *o, int fd)
{
	const struct pl_format *format = pl_format_by_name(o->format ? o->format : "text");
	struct pl_export_options eo = export_options(o);

	if (!format)
		return pl_error(PLUMB_ERR_UNKNOWN_FORMAT, "there is no output format '%s'", o->format);
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	FILE *out = copy < 0 ? NULL : fdopen(copy, "w");
	if (!out) {
		struct plumb_error *err = pl_error_errno(PLUMB_ERR_WRITE_FAILED, errno, "cannot write the report");
		if (copy >= 0)
			close(copy);
		return err;
	}
	return write_to(format, p, &eo, out);
}

const char *plumb_format_for_path(const char *path)
{
	const struct pl_format *f = pl_format_by_path(path);

	return f ? f->name : NULL;
}

bool plumb_format_at(size_t i, struct plumb_format *ret)
{
	for (size_t k = 0; pl_formats[k].name; k++) {
		if (k < i)
			continue;
		const char *suffix = pl_formats[k].suffixes[0];
		*ret = (struct plumb_format){pl_formats[k].name, suffix ? suffix : "", pl_formats[k].summary};
		return true;
	}
	return false;
}
