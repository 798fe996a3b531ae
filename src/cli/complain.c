/* SPDX-License-Identifier: Apache-2.0 */
/* How a failure is told: once, on stderr, in one sentence and a hint. Layer cli. */
#include "cli.h"

#include <errno.h>
#include <string.h>

/* Messages quote file names and arguments. */
static void put_clean(const char *s)
{
	for (; *s; s++)
		fputc((unsigned char)*s < ' ' || *s == 0x7f ? '?' : *s, stderr);
}

void complain(const char *message, const char *hint)
{
	fputs("plumb: ", stderr);
	put_clean(message);
	fputc('\n', stderr);
	if (hint && *hint) {
		fputs("hint: ", stderr);
		put_clean(hint);
		fputc('\n', stderr);
	}
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

int finish_stdout(void)
{
	char message[256];
	int failed = ferror(stdout);

	errno = 0;
	if (fflush(stdout) == 0 && !failed)
		return 0;
	if (errno != EPIPE) {
		snprintf(message, sizeof message, "cannot write to standard output: %s",
			 errno ? strerror(errno) : "write error");
		complain(message, "");
	}
	return EXIT_OWN_FAILURE;
}
