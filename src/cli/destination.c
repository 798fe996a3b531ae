/* SPDX-License-Identifier: Apache-2.0 */
/* Where a command that reads recordings writes to. Layer cli. */
#include "destination.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "patience.h"

static bool look(const char *name, int standard, struct stat *ret)
{
	return (strcmp(name, "-") == 0 ? fstat(standard, ret) : stat(name, ret)) == 0;
}

bool destination_is_input(const char *output, const char *input)
{
	struct stat in, out;

	return look(input, STDIN_FILENO, &in) && look(output, STDOUT_FILENO, &out) && S_ISREG(in.st_mode) &&
	       in.st_dev == out.st_dev && in.st_ino == out.st_ino;
}

static bool open_standard(struct failure *why)
{
	return (fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) != O_RDONLY ||
	       refuse(why, "give '-o OUT' to write a file", "cannot write to standard output: it is closed");
}

bool destination_open(const char *output, enum plumb_output_name name, char *const *inputs, size_t count,
		      struct destination *ret, struct failure *why)
{
	const bool standard = !output || strcmp(output, "-") == 0;
	const char *shown = standard ? "standard output" : output;

	*ret = (struct destination){.fd = STDOUT_FILENO};
	patience_begin(shown);
	for (size_t i = 0; i < count; i++) {
		if (!destination_is_input(standard ? "-" : output, inputs[i]))
			continue;
		patience_end();
		return refuse(why, "give another name with '-o'", "'%s' is the recording itself", shown);
	}
	patience_end();
	if (standard)
		return open_standard(why);
	patience_for_output(output);
	struct plumb_error *err = plumb_output_open(output, name, &ret->file);
	if (err) {
		patience_end();
		refuse(why, plumb_error_hint(err), "%s", plumb_error_message(err));
		plumb_error_destroy(err);
		return false;
	}
	ret->fd = plumb_output_fd(ret->file);
	return true;
}

void destination_drop(struct destination *t)
{
	plumb_output_discard(t->file);
	t->file = NULL;
	patience_end();
}

bool destination_takes(const struct destination *t, const char *format, struct failure *why)
{
	return !plumb_format_is_binary(format) || !isatty(t->fd) ||
	       refuse(why, "give the name of a file, or let another program read it",
		      "%s is not for a terminal: it is binary", format);
}

bool destination_for_recording(const char **output, struct failure *why)
{
	const struct destination standard = {.fd = STDOUT_FILENO};

	if (strcmp(*output, "-") != 0)
		return true;
	*output = "/dev/stdout";
	return open_standard(why) && destination_takes(&standard, "plumb", why);
}

void destination_note_skipped(const char *path, const struct plumb_recording_info *info)
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

int destination_close(struct destination *t, struct plumb_error *err)
{
	if (err && reader_left(t->fd)) {
		plumb_error_destroy(err);
		destination_drop(t);
		return EXIT_OWN_FAILURE;
	}
	if (!err && t->file) {
		err = plumb_output_publish(t->file);
		t->file = NULL;
	}
	destination_drop(t);
	return err ? complain_error(err) : 0;
}

void destination_warn_incomplete(const char *path, const struct plumb_recording_info *info)
{
	char message[512];

	if (info->damaged_chunks) {
		snprintf(message, sizeof message, "%s: %" PRIu64 " damaged part%s left out", path, info->damaged_chunks,
			 info->damaged_chunks == 1 ? "" : "s");
		complain(message, "");
	}
	if (info->another) {
		snprintf(message, sizeof message, "%s: another recording follows in the file and is left out", path);
		complain(message, "'plumb merge' adds up recordings, 'cat' does not");
	}
	if (info->missing) {
		snprintf(message, sizeof message, "%s is incomplete: %s", path, info->missing);
		complain(message, "");
	}
}
