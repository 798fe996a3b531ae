/* SPDX-License-Identifier: Apache-2.0 */
/* Samples a running Python program for some seconds and tells where its time went, through libplumb:
 *
 *     cc in_c.c -o in_c $(pkg-config --cflags --libs plumb)
 *     ./in_c PID [SECONDS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <plumb/plumb.h>

static int fail(struct plumb_error *err)
{
	const char *hint = plumb_error_hint(err);

	fprintf(stderr, "in_c: %s\n", plumb_error_message(err));
	if (*hint)
		fprintf(stderr, "hint: %s\n", hint);
	plumb_error_destroy(err);
	return 1;
}

/* What was sampled is told by the session also where something went wrong at its end. */
static struct plumb_error *report(struct plumb_session *session)
{
	struct plumb_report_options look = PLUMB_REPORT_OPTIONS_INIT;

	look.ascii = true;
	return plumb_profile_write(plumb_session_profile(session), &look, STDOUT_FILENO);
}

int main(int argc, char **argv)
{
	struct plumb_session_options options = PLUMB_SESSION_OPTIONS_INIT;
	struct plumb_session *session;
	struct plumb_status status;
	struct plumb_result result;
	struct plumb_error *err;

	if (argc < 2) {
		fprintf(stderr, "usage: in_c PID [SECONDS]\n");
		return 2;
	}
	options.duration_ns = (uint64_t)((argc > 2 ? atof(argv[2]) : 2) * 1e9);
	options.no_recording = true;
	err = plumb_session_attach(&options, atoi(argv[1]), &session);
	if (err)
		return fail(err);
	plumb_session_wait(session, -1, &status);
	err = plumb_session_finish(session, &result);
	if (!err)
		err = report(session);
	plumb_session_destroy(session);
	return err ? fail(err) : 0;
}
