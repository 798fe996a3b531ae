/* SPDX-License-Identifier: Apache-2.0 */
/* What the threads of some processes are doing right now: stacks, and what each of them waits for. */
#ifndef PLUMB_DUMP_H
#define PLUMB_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <plumb/error.h>
#include <plumb/session.h>

#ifdef __cplusplus
extern "C" {
#endif

struct plumb_dump_options {
	size_t size; /* sizeof(struct plumb_dump_options) */
	enum plumb_stop stop;
	bool no_source;	   /* do not read source lines */
	bool locals;	   /* show arguments and local variables; a running thread is stopped for up to 5 ms */
	uint64_t limit_ns; /* for one process; 0: five seconds */
	const char *root;  /* of cores: the directory that was the process's root; NULL: ours */
	bool trust_core;   /* of cores: nobody has made it up, so files that it names are opened with our own rights */
	bool native;	   /* of processes: show native frames between those of Python; a running thread is stopped */
	bool native_all;   /* and those of the interpreter that only pass calls on */
	bool kernel;	   /* and where in the kernel a blocked thread is; `native`, too */
	/* Of processes: only the threads of these numbers, and those that they wait for, and no tasks; NULL: all. */
	const uint64_t *threads;
	size_t thread_count;
	/* The same by name, by the number that the kernel has or by that of threading; each must be there. */
	const char *const *thread_words;
	size_t thread_word_count;
};

#define PLUMB_DUMP_OPTIONS_INIT                                                                                        \
	{                                                                                                              \
		.size = sizeof(struct plumb_dump_options)                                                              \
	}

struct plumb_dump_look {
	size_t size; /* sizeof(struct plumb_dump_look) */
	bool json;   /* schema plumb.dump/1 (docs/user/dump.md), one line; else text: */
	int width;   /* columns; 0: as wide as it gets */
	bool color, ascii;
};

#define PLUMB_DUMP_LOOK_INIT                                                                                           \
	{                                                                                                              \
		.size = sizeof(struct plumb_dump_look)                                                                 \
	}

struct plumb_dump;

/** An empty dump. Errors: PLUMB_ERR_NO_MEMORY. Owner of *ret: caller. */
PLUMB_API struct plumb_error *plumb_dump_create(const struct plumb_dump_options *o,
						struct plumb_dump **ret) PLUMB_MUST_CHECK;
PLUMB_API void plumb_dump_destroy(struct plumb_dump *d);

/**
 * Look at process @p pid and add it. The process may be hung or stopped; a thread that waits is not disturbed, one that
 * runs may be stopped for microseconds (see the option `stop`). Returns within the limit. Errors are also noted in the
 * dump: those of plumb_session_attach(), PLUMB_ERR_TIMEOUT, and PLUMB_ERR_NO_THREAD if a word of `thread_words` is
 * none. May be called for many processes; one thread at a time.
 */
PLUMB_API struct plumb_error *plumb_dump_add(struct plumb_dump *d, int pid) PLUMB_MUST_CHECK;

/**
 * Add the process that the core file @p path was written of. The program and its libraries must still be where they
 * were, below the option `root`, and open to the owner of the core, or, if that is root, to everybody (see the option
 * `trust_core`). Errors: PLUMB_ERR_NOT_FOUND, PLUMB_ERR_NOT_A_CORE, PLUMB_ERR_NOT_PYTHON,
 * PLUMB_ERR_NOT_SUPPORTED, PLUMB_ERR_TIMEOUT.
 */
PLUMB_API struct plumb_error *plumb_dump_add_core(struct plumb_dump *d, const char *path) PLUMB_MUST_CHECK;

/** Write what was added to the file descriptor @p fd (not closed). Errors: PLUMB_ERR_WRITE_FAILED. */
PLUMB_API struct plumb_error *plumb_dump_write(const struct plumb_dump *d, const struct plumb_dump_look *look,
					       int fd) PLUMB_MUST_CHECK;

struct plumb_dump_thread {
	size_t size; /* sizeof(struct plumb_dump_thread) */
	int pid;
	uint64_t tid;
	const char *name;  /* "" if not known */
	const char *doing; /* as the text says it: "blocked in recv on fd 7, tcp socket ..., for at least 2.0 s" */
	const char
		*waits; /* what it waits for, without times: "recv on fd 7, ...", "for lock 0x7f..., held by w (4251)";
			   "": it does not wait */
};

/** The threads of all processes that were added. They are there until more is added; strings may contain what a
 * terminal must not be sent (<plumb/text.h>). Errors: PLUMB_ERR_NO_MEMORY. */
PLUMB_API struct plumb_error *plumb_dump_threads(struct plumb_dump *d, size_t *count) PLUMB_MUST_CHECK;
/** False past the last. Members that are newer than the caller's struct are left out. */
PLUMB_API bool plumb_dump_thread_at(const struct plumb_dump *d, size_t i, struct plumb_dump_thread *ret);

#ifdef __cplusplus
}
#endif
#endif
