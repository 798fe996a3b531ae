/* SPDX-License-Identifier: Apache-2.0 */
/* How a failure is told: once, on stderr, in one sentence and a hint. Layer cli. */
#include "cli.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "shown.h"

void complain(const char *message, const char *hint)
{
	fputs("plumb: ", stderr);
	put_shown(message, SIZE_MAX, stderr); /* messages quote file names and arguments */
	fputc('\n', stderr);
	if (hint && *hint) {
		fputs("hint: ", stderr);
		put_shown(hint, SIZE_MAX, stderr);
		fputc('\n', stderr);
	}
}

void tell_note(void *ctx, const char *message)
{
	fputs("note: ", stderr);
	put_shown(message, SIZE_MAX, stderr);
	fputc('\n', stderr);
}

int complain_failure(const struct failure *why)
{
	complain(why->message, why->hint);
	return EXIT_OWN_FAILURE;
}

int complain_error(struct plumb_error *err)
{
	complain(plumb_error_message(err), plumb_error_hint(err));
	plumb_error_destroy(err);
	return EXIT_OWN_FAILURE;
}

int complain_input_error(struct plumb_error *err)
{
	enum plumb_error_code code = plumb_error_code(err);
	int failed = complain_error(err);

	switch (code) {
	case PLUMB_ERR_NOT_FOUND:
	case PLUMB_ERR_NOT_A_RECORDING:
	case PLUMB_ERR_NEWER_RECORDING:
	case PLUMB_ERR_EMPTY:
	case PLUMB_ERR_CORRUPT:
	case PLUMB_ERR_TRUNCATED:
	case PLUMB_ERR_LIMIT:
		return EXIT_BAD_INPUT;
	default:
		return failed;
	}
}

int finish_stdout(void)
{
	char message[256];
	int failed = ferror(stdout);

	/* A write that failed before leaves nothing to flush: errno still says why. */
	if (fflush(stdout) == 0 && !failed)
		return 0;
	if (errno != EPIPE) {
		snprintf(message, sizeof message, "cannot write to standard output: %s",
			 errno ? strerror(errno) : "write error");
		complain(message, "");
	}
	return EXIT_OWN_FAILURE;
}
