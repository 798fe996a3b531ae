/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling a program: launch it or attach to it, watch, stop, take the profile. */
#ifndef PLUMB_SESSION_H
#define PLUMB_SESSION_H

#include <plumb/profile.h>
#include <plumb/signals.h>
#include <plumb/tags.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What is sampled when: PLUMB_MODE_WALL, _CPU, _GIL. */
enum plumb_mode {
#define PLUMB_MODE(name, ...) PLUMB_MODE_##name,
#include <plumb/words.def>
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

/** Frames of C, C++ and Rust. Each thread that runs is stopped at each sample then, for as long as its registers and
 * its stack take to copy; those that are blocked are not. All are recorded; which are shown if nothing else is asked
 * for (enum plumb_native_shown): */
enum plumb_native {
	PLUMB_NATIVE_NONE,
	PLUMB_NATIVE_CALLED, /* without those of the interpreter that only pass a call on, or run Python code */
	PLUMB_NATIVE_ALL,
	PLUMB_NATIVE_LEAF, /* of those that are called only where the stack ends: no Python frame is inside of them */
};

#define PLUMB_MAX_NODES ((size_t)4 << 20)

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
	 * more than this share of a core; 0.01 is one percent. 0: a fifth of a core for the samples
	 * alone, or a twentieth of the quota of our cgroup if that is less, and, unless each is to be stopped for, 2.5
	 * % of the program's time; as fast as possible only the latter, and neither if none is to be stopped. INFINITY:
	 * no limit. */
	double max_overhead;
	bool priority; /* sample at nice -10 (root, CAP_SYS_NICE) instead of what the caller has */
	bool opcodes;  /* record which instruction each frame runs (3.11+), for the formats that show it */
	bool tasks;    /* show asyncio tasks below the coroutines that await them, not below the event loop, and for how
			* long they wait (3.7+) */
	enum plumb_native native; /* show the frames of C, C++ and Rust code between those of Python */
	bool no_sources;	  /* do not keep the texts of the files that sampled functions come from */
	bool force;		  /* the recording may replace a file that plumb did not write */
	bool no_recording; /* nothing is written: plumb_session_snapshot() is all there is, and at the end the profile
			    */
	/* So many different places in stacks, functions and threads are told apart; 0: PLUMB_MAX_NODES. A sample of a
	 * further one counts at the outer part of its stack that is known, below a frame "<folded>". What is kept of
	 * functions takes 128 bytes for each at most, and 4 MB. */
	size_t max_nodes;
	/* What each stretch of so much time counted, for plumb_session_cycle(); 0: none is kept. */
	uint64_t cycle_ns;
	size_t max_cycles; /* of those that have ended, the oldest goes; at least 1 */
	const int *hidden; /* kernel tids of threads that are not sampled. Borrowed until the session begins */
	size_t hidden_count;
	const int *tids; /* only these; NULL: all. Borrowed until the session begins */
	size_t tid_count;
	const struct plumb_tags *tags; /* plumb_session_own() only; NULL: none. It lives as long as the session */
	/* plumb_session_launch() only: what the program begins with; NULL: what is ignored in this process and blocked
	 * in this thread at the call. Borrowed until the program runs */
	const struct plumb_signals *signals;
	/* What counts as the program's own code though it lies where libraries do: modules, packages, files or folders.
	 * The recording keeps it. NULL: nothing. Borrowed until the session begins */
	const char *const *own;
	size_t own_count;
	/* End the sampling when the shares that the report's tree shows are known to this, half the width of their 95 %
	 * interval: 0.01 is one point. 0: it goes on */
	double until;
	/* What takes the samples: "remote" reads the memory of the program from outside. NULL, "auto": whatever can do
	 * what is asked for here. Borrowed until the session begins */
	const char *engine;
	/* With cycle_ns: the oldest cycle goes, too, when those that have ended have counted more different stacks than
	 * this, those of each cycle added up: 32 bytes for each. 0: no limit */
	size_t max_cycle_stacks;
	bool kernel; /* with `native`: also where in the kernel threads are that are blocked */
	/* plumb_session_attach() only: where the program has its struct plumb_tag_table, which is ready; 0: no tags are
	 * shown */
	uint64_t tags_at;
	/* With `native`: threads that run no Python, too, such as those of OpenBLAS, OpenMP and Rust's runtimes. Their
	 * samples have native frames alone. Not with PLUMB_MODE_GIL */
	bool native_threads;
	/* plumb_session_attach_all() only: is told of each process that is left out because it cannot be sampled,
	 * before that returns; NULL: nobody is told */
	void (*refused)(void *ctx, int pid, const struct plumb_error *why);
	void *refused_ctx;
};

#define PLUMB_SESSION_OPTIONS_INIT                                                                                     \
	{                                                                                                              \
		.size = sizeof(struct plumb_session_options), .rate_hz = 1000.0                                        \
	}

/**
 * A session holds a thread of the program for some microseconds now and then. If this process were suspended just then,
 * that thread would stand still as long. So block SIGTSTP, SIGTTIN and SIGTTOU in all your threads while a session
 * runs: its own thread takes them when it holds nothing. Nobody can do that for SIGSTOP. A program that is launched is
 * to begin without that: note plumb_signals_now() before, and give it as plumb_session_options.signals.
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
	bool paused;
	bool forked;		    /* this is a child of the process that began it: nothing happens here */
	double rate_hz;		    /* as it is now; 0: as fast as possible */
	uint64_t ticks, missed;	    /* rounds, and those that came too late */
	uint64_t unreadable, queue; /* samples lost */
	uint64_t exact, stopped, doubtful, partial; /* samples by how sure their stacks are */
	uint64_t folded;			    /* samples beyond max_nodes */
	uint64_t cpu_ns; /* what it cost: CPU time of its threads; of the process if that is plumb's own */
	bool unrecorded; /* nothing is written, as was asked for, or no more, as it could not be */
};

/** How it ended. Strings live as long as the session. */
struct plumb_result {
	int pid;	       /* of several, the first that was sampled */
	const char *recording; /* path; NULL if none could be made, or it has no samples and an older one stays */
	bool target_ended;     /* the program itself, or all that were attached to; false: stopped by duration or
				  plumb_session_stop() */
	bool launched;
	int wait_status; /* launched and ended: as from waitpid(2) */
	/* With plumb_session_options.until: whether the sampling ended for it, and how well the shares are known. */
	bool known;
	double half_width;
	bool found_python; /* false: the program never ran a Python that could be sampled */
};

/**
 * Start @p argv (searched in PATH) with our stdin, stdout and stderr, and sample it from its first moment. Its exit
 * status can be had only while SIGCHLD is not ignored here.
 * Errors: PLUMB_ERR_NOT_FOUND (exit 127), PLUMB_ERR_NOT_EXECUTABLE (126), PLUMB_ERR_WRITE_FAILED (recording), ...
 */
PLUMB_API struct plumb_error *plumb_session_launch(const struct plumb_session_options *o, char *const argv[],
						   struct plumb_session **ret) PLUMB_MUST_CHECK;
/** Sample a running process. Errors: PLUMB_ERR_NO_PROCESS, PLUMB_ERR_NOT_PERMITTED (hint: the cause that was checked),
 * PLUMB_ERR_NOT_PYTHON (says what it is), PLUMB_ERR_NOT_SUPPORTED, PLUMB_ERR_WRITE_FAILED. */
PLUMB_API struct plumb_error *plumb_session_attach(const struct plumb_session_options *o, int pid,
						   struct plumb_session **ret) PLUMB_MUST_CHECK;
/** Sample @p count running processes in one recording, which knows each of them, until all have ended; with
 * PLUMB_SUBPROCESSES_YES their descendants, too. One that is named twice is sampled once. What cannot be sampled is
 * told to `refused` and left out. Errors: those of plumb_session_attach() for the last one, if none can be sampled;
 * PLUMB_ERR_INVALID: no process is named. */
PLUMB_API struct plumb_error *plumb_session_attach_all(const struct plumb_session_options *o, const int *pids,
						       size_t count, struct plumb_session **ret) PLUMB_MUST_CHECK;
/** Sample the calling process, which is a Python: without a stop, by two threads that are none of Python's. A guest: it
 * leaves the limits of the process as they are and takes a quarter of the free descriptors at most. In a child that the
 * process forks later the session is not there: its functions do nothing, wait for nothing and say so (struct
 * plumb_status, PLUMB_ERR_FORKED), and plumb_session_destroy() closes its descriptors. Errors: as
 * plumb_session_attach(). */
PLUMB_API struct plumb_error *plumb_session_own(const struct plumb_session_options *o,
						struct plumb_session **ret) PLUMB_MUST_CHECK;
/** No sample is taken until plumb_session_resume(), nothing wakes up, and time does not run; no thread of the program
 * is held, so that all of the calling process may be stopped. That can take seconds, where a thread that was to stand
 * still waits for a CPU. Any thread; again: nothing changes. */
PLUMB_API void plumb_session_pause(struct plumb_session *s);
PLUMB_API void plumb_session_resume(struct plumb_session *s);
/** Note that something happened in this process at this moment, in the calling thread: a mark with a @p name and
 * @p count labels, names and values in turn (at most 16). Nothing happens when the session has ended, or in the child
 * of a fork; those that are too many are counted (plumb_profile_info.events). Any thread; it waits for nobody but who
 * gives an order (pause, rate) just now. */
PLUMB_API void plumb_session_event(struct plumb_session *s, const char *name, const char *const *labels, size_t count);
/** Go on at @p rate_hz. Any thread. Errors: PLUMB_ERR_INVALID, PLUMB_ERR_FORKED. */
PLUMB_API struct plumb_error *plumb_session_set_rate(struct plumb_session *s, double rate_hz) PLUMB_MUST_CHECK;
/** Forget all counts, also those of cycles, and begin anew with time at 0; what is recorded stays, and so does what
 * max_nodes has been used up for. Cycles end when they would have. Any thread. */
PLUMB_API void plumb_session_reset(struct plumb_session *s);
/** A copy of the profile as it is at this moment. Any thread, also after plumb_session_finish(). Errors:
 * PLUMB_ERR_NO_MEMORY, PLUMB_ERR_FORKED. Owner of *ret: caller, plumb_profile_destroy(). */
PLUMB_API struct plumb_error *plumb_session_snapshot(struct plumb_session *s,
						     struct plumb_profile **ret) PLUMB_MUST_CHECK;
/** What the oldest cycle counted that has ended and was not asked for yet, and when it ended (ns of CLOCK_REALTIME);
 * *ret is NULL if there is none. A sample belongs to the cycle of its own time; one that is known only later (CPU mode)
 * to the oldest that is left. plumb_session_finish() ends the last one. Any thread. Errors and owner: as above. */
PLUMB_API struct plumb_error *plumb_session_cycle(struct plumb_session *s, uint64_t *end_real_ns,
						  struct plumb_profile **ret) PLUMB_MUST_CHECK;
/** What the cycle has counted that has not ended. */
PLUMB_API struct plumb_error *plumb_session_recent(struct plumb_session *s,
						   struct plumb_profile **ret) PLUMB_MUST_CHECK;
/** What the cycles counted that ended in the last @p ns, and the one that has not ended; none of them is taken. Its
 * samples have no times; idle are those threads that have been since the start. */
PLUMB_API struct plumb_error *plumb_session_last(struct plumb_session *s, uint64_t ns,
						 struct plumb_profile **ret) PLUMB_MUST_CHECK;
/**
 * What the cycles counted of which most lies between *from_ns and *to_ns, in time of the session as
 * plumb_status.elapsed_ns tells it, of those that have ended and are kept; none of them is taken. The times become
 * those of these cycles, the same one twice if there is none. Its samples have no times. With @p ret NULL nothing but
 * the times is told. Errors and owner: as above.
 */
PLUMB_API struct plumb_error *plumb_session_between(struct plumb_session *s, uint64_t *from_ns, uint64_t *to_ns,
						    struct plumb_profile **ret) PLUMB_MUST_CHECK;
/** Open the file of the recording once more, to read what was written so far and what will be, whatever has its name by
 * now. -1: it is no file, it could not be written to its end, or plumb_session_finish() was called. Any thread. Owner
 * of the descriptor: caller. */
PLUMB_API int plumb_session_recording(struct plumb_session *s);
/** Return after @p timeout_ms (-1: no limit) or when sampling has ended. */
PLUMB_API void plumb_session_wait(struct plumb_session *s, int timeout_ms, struct plumb_status *ret);
/** Ask the sampling to end; the target lives on. Async-signal-safe, any thread; of plumb_session_own() not while
 * plumb_session_finish() runs. */
PLUMB_API void plumb_session_stop(struct plumb_session *s);
/** Signal the launched program, if it has not ended. Async-signal-safe. */
PLUMB_API void plumb_session_signal(struct plumb_session *s, int signo);
/** What Ctrl-C means to us, beside what it means to the launched program: after that has ended, as
 * plumb_session_stop(): do not wait for the processes that it left. Async-signal-safe. */
PLUMB_API void plumb_session_interrupt(struct plumb_session *s);
/** End sampling, write the last chunk, detach. Call once. The error tells what was lost (e.g. disk full); *ret is set
 * all the same. What is kept of plumb_session_own() holds no descriptor. PLUMB_ERR_TIMEOUT: it was to end, and a
 * process that was sampled held its thread up in the kernel for seconds; that is left behind with what it needs, and
 * what was sampled is there. */
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
