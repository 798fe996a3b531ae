/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling a program: launch it or attach to it, watch, stop, take the profile. */
#ifndef PLUMB_SESSION_H
#define PLUMB_SESSION_H

#include <plumb/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

enum plumb_mode {
	PLUMB_MODE_WALL, /* every thread at every tick */
	PLUMB_MODE_CPU,	 /* CPU time, from the kernel's run-time counters */
	PLUMB_MODE_GIL,	 /* the thread that holds the GIL */
};

enum plumb_stop {
	PLUMB_STOP_AUTO,   /* stop a running thread only when its stack cannot be proved otherwise, within a budget */
	PLUMB_STOP_NEVER,  /* never; what cannot be proved is shown as doubtful or partial */
	PLUMB_STOP_ALWAYS, /* stop each running thread at each sample */
};

enum plumb_subprocesses {
	PLUMB_SUBPROCESSES_AUTO, /* those of a launched program, not those of one that is attached to */
	PLUMB_SUBPROCESSES_YES,
	PLUMB_SUBPROCESSES_NO,
};

struct plumb_session_options {
	size_t size;	/* sizeof(struct plumb_session_options) */
	double rate_hz; /* samples per second and thread; 0: as fast as possible */
	enum plumb_mode mode;
	enum plumb_stop stop;
	bool no_jitter; /* sample in the middle of each period instead of at a random point of it */
	bool has_seed;
	uint64_t seed;		    /* of the random points */
	uint64_t duration_ns;	    /* 0: until the target ends or plumb_session_stop() */
	const char *const *threads; /* only these, by name or decimal tid; NULL: all */
	size_t thread_count;
	const char *output; /* path of the recording; NULL: plumb.PROG.PID.plumb in the current directory */
	enum plumb_subprocesses subprocesses;
	/* Lower the rate until the program is stopped for no more than this share of its time and the profiler uses no
	 * more than this share of a core; 0.01 is one percent, 0: no limit. */
	double max_overhead;
	bool opcodes; /* record which instruction each frame runs (3.11+), for the formats that show it */
};

#define PLUMB_SESSION_OPTIONS_INIT                                                                                     \
	{                                                                                                              \
		.size = sizeof(struct plumb_session_options), .rate_hz = 1000.0                                        \
	}

/**
 * A session holds a thread of the program for some microseconds now and then. If this process were suspended just then,
 * that thread would stand still as long. So block SIGTSTP, SIGTTIN and SIGTTOU in all your threads while a session
 * runs: its own thread takes them when it holds nothing. Nobody can do that for SIGSTOP.
 */
struct plumb_session;

/** What a session is doing now; for a status line. Strings live until the next call on the session. */
struct plumb_status {
	bool ended;
	bool found_python;
	bool program_ended; /* sampling goes on for the processes that it left */
	uint64_t elapsed_ns, samples, threads, processes;
	const char *hottest; /* function with the largest self share of the last seconds, "" if none */
	double hottest_share;
};

/** How it ended. Strings live as long as the session. */
struct plumb_result {
	int pid;
	const char *recording; /* path; NULL if none could be made */
	bool target_ended;     /* the program itself; false: stopped by duration or plumb_session_stop() */
	bool launched;
	int wait_status;   /* launched and ended: as from waitpid(2) */
	bool found_python; /* false: the program never ran a Python that could be sampled */
};

/**
 * Start @p argv (searched in PATH) with our stdin, stdout and stderr, and sample it from its first moment.
 * Errors: PLUMB_ERR_NOT_FOUND (exit 127), PLUMB_ERR_NOT_EXECUTABLE (126), PLUMB_ERR_WRITE_FAILED (recording), ...
 */
PLUMB_API struct plumb_error *plumb_session_launch(const struct plumb_session_options *o, char *const argv[],
						   struct plumb_session **ret) PLUMB_MUST_CHECK;
/** Sample a running process. Errors: PLUMB_ERR_NO_PROCESS, PLUMB_ERR_NOT_PERMITTED (hint: the cause that was checked),
 * PLUMB_ERR_NOT_PYTHON (says what it is), PLUMB_ERR_NOT_SUPPORTED, PLUMB_ERR_WRITE_FAILED. */
PLUMB_API struct plumb_error *plumb_session_attach(const struct plumb_session_options *o, int pid,
						   struct plumb_session **ret) PLUMB_MUST_CHECK;
/** Return after @p timeout_ms (-1: no limit) or when sampling has ended. */
PLUMB_API void plumb_session_wait(struct plumb_session *s, int timeout_ms, struct plumb_status *ret);
/** Ask the sampling to end; the target lives on. Async-signal-safe, any thread. */
PLUMB_API void plumb_session_stop(struct plumb_session *s);
/** Signal the launched program; after it has ended: stop waiting for the processes it left. Async-signal-safe. */
PLUMB_API void plumb_session_signal(struct plumb_session *s, int signo);
/** What Ctrl-C means, which the launched program gets from the terminal itself: after it has ended, as
 * plumb_session_stop(). Async-signal-safe. */
PLUMB_API void plumb_session_interrupt(struct plumb_session *s);
/** End sampling, write the last chunk, detach. Call once. The error tells what was lost (e.g. disk full); *ret is set
 * all the same. */
PLUMB_API struct plumb_error *plumb_session_finish(struct plumb_session *s, struct plumb_result *ret) PLUMB_MUST_CHECK;
/** Wait for the launched program to end (after a session that ended by duration); its wait status. */
PLUMB_API int plumb_session_reap(struct plumb_session *s);
/** The profile so far; after plumb_session_finish only. Owner: the session. */
PLUMB_API const struct plumb_profile *plumb_session_profile(const struct plumb_session *s);
PLUMB_API void plumb_session_destroy(struct plumb_session *s);

#ifdef __cplusplus
}
#endif
#endif
