/* SPDX-License-Identifier: Apache-2.0 */
/* Where a command that reads recordings writes to. Layer cli. */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool target_open(const char *output, char *const *inputs, size_t count, struct target *ret, struct failure *why)
{
	*ret = (struct target){.path = "standard output", .fd = STDOUT_FILENO};
	if (!output)
		return (fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) != O_RDONLY ||
		       refuse(why, "give '-o OUT' to write a file", "cannot write to standard output: it is closed");
	for (size_t i = 0; i < count; i++) {
		if (is_same_file(inputs[i], output))
			return refuse(why, "give another name with '-o'", "'%s' is the recording itself", output);
	}
	ret->path = output;
	ret->fd = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return ret->fd >= 0 || refuse(why, "", "cannot write %s: %s", output, strerror(errno));
}

bool target_takes(const struct target *t, const char *format, struct failure *why)
{
	return !plumb_format_is_binary(format) || !isatty(t->fd) ||
	       refuse(why, "give the name of a file, or let another program read it",
		      "%s is not for a terminal: it is binary", format);
}

void target_note_skipped(const char *path, const struct plumb_recording_info *info)
{
	char message[512];

	if (!info->skipped)
		return;
	snprintf(message, sizeof message, "%s: %" PRIu64 " line%s or record%s held no sample: left out", path,
		 info->skipped, info->skipped == 1 ? "" : "s", info->skipped == 1 ? "" : "s");
	tell_note(NULL, message);
}

static bool reader_left(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	return poll(&p, 1, 0) == 1 && (p.revents & POLLERR);
}

int target_close(struct target *t, struct plumb_error *err)
{
	struct failure why;
	int status = 0;

	if (err && reader_left(t->fd)) {
		plumb_error_destroy(err);
		status = EXIT_OWN_FAILURE;
	} else if (err) {
		status = complain_error(err);
	}
	if (t->fd == STDOUT_FILENO || close(t->fd) == 0)
		return status;
	refuse(&why, "", "cannot write %s: %s", t->path, strerror(errno));
	return complain_failure(&why);
}

void target_warn_incomplete(const char *path, const struct plumb_recording_info *info)
{
	char message[512];

	if (info->damaged_chunks) {
		snprintf(message, sizeof message, "%s: %" PRIu64 " damaged part%s left out", path, info->damaged_chunks,
			 info->damaged_chunks == 1 ? "" : "s");
		complain(message, "");
	}
	if (!info->complete) {
		snprintf(message, sizeof message,
			 "%s is incomplete: the profiler was killed; up to its last second is missing", path);
		complain(message, "");
	}
}
