/* SPDX-License-Identifier: Apache-2.0 */
/* A dump: what the threads of some processes are doing, at one moment. Owns all its text; points to nothing of a
 * target. Filled in by an engine, written by export. docs/design/004-dump.md. Not thread-safe. */
#ifndef PL_DUMP_MODEL_H
#define PL_DUMP_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "strtab.h"
#include "vec.h"

/** Bytes that may hold anything; owned by the dump. */
struct pl_dump_text {
	const char *s; /* NUL-terminated, too */
	size_t len;
};

enum pl_doing {
	PL_DOING_UNKNOWN,
	PL_DOING_RUNNING,    /* on a CPU or ready to run */
	PL_DOING_GIL,	     /* waits for the GIL */
	PL_DOING_BLOCKED,    /* in a system call, or in the kernel for another reason (a page) */
	PL_DOING_UNWAKEABLE, /* the same, and no signal can end it (disk, network file system) */
	PL_DOING_STOPPED,    /* by a signal */
	PL_DOING_TRACED,     /* stopped by a debugger */
	PL_DOING_ENDED,	     /* a main thread that has ended while others go on */
	PL_DOINGS,
};

enum pl_waits_on {
	PL_WAITS_NOTHING,
	PL_WAITS_FD,
	PL_WAITS_FDS,
	PL_WAITS_TIME,
	PL_WAITS_LOCK,
	PL_WAITS_CHILD,
	PL_WAITS_FILE_LOCK,
	PL_WAITS_SIGNAL,
	PL_WAITS_PATH,
	PL_WAITS,
};

/** A process that is named by what a thread waits for. */
struct pl_dump_other {
	uint32_t pid; /* 0: none */
	struct pl_dump_text name;
};

struct pl_dump_fd {
	int fd;
	const char *kind;	  /* "file", "pipe", "socket", ...; static */
	struct pl_dump_text path; /* "" if it has none */
	bool deleted;
	uint64_t inode; /* of pipes and sockets; 0 unknown */
	/* sockets */
	struct pl_dump_text protocol, local, peer;
	const char *state;	    /* static, "" unknown */
	struct pl_dump_other other; /* who has the other end, or what a pidfd is of */
};
typedef PL_VEC(struct pl_dump_fd) pl_dump_fd_vec;

/** What a blocked thread waits for. */
struct pl_dump_wait {
	struct pl_dump_text call; /* "epoll_wait"; "" if its number is not known to us */
	int number;		  /* -1: in no system call */
	enum pl_waits_on on;
	struct pl_dump_fd fd;	/* fd < 0: none */
	pl_dump_fd_vec watched; /* those an epoll, poll or select waits for, as far as they are listed */
	uint32_t watched_total;
	uint64_t lock;		    /* its address; 0 unknown */
	struct pl_dump_other child; /* pid 0: any */
	int32_t child_group;	    /* > 0: any of that process group */
	struct pl_dump_other holder;
	struct pl_dump_text path;
	bool limited, left_known;
	uint64_t limit_ns;
	int64_t left_ns;
};

/** What a thread or a task waits for in terms of Python. */
enum pl_dump_for {
#define PLUMB_AWAITED(name, ...) PL_DUMP_FOR_##name,
#include <plumb/words.def>
	PL_DUMP_FORS,
};

/** Something that threads or tasks wait for. */
struct pl_dump_awaited {
	enum pl_dump_for what;
	uint64_t object; /* as Python's id() has it */
	struct pl_dump_text type;
	bool lock_known, held; /* of a lock: held is known */
	uint64_t holder;       /* tid of who has the lock, or of the thread itself; of a task its id; 0 not known */
	uint64_t count;	       /* of an RLock: how often it was taken */
	uint32_t waiters;      /* threads that have `waits_on`, or tasks */
};

struct pl_dump_local {
	struct pl_dump_text name, value;
	bool argument, closure; /* closure: of an enclosing function */
};
typedef PL_VEC(struct pl_dump_local) pl_dump_local_vec;

enum pl_dump_frame_kind {
	PL_DUMP_FRAME_PYTHON,
	PL_DUMP_FRAME_NATIVE,
	PL_DUMP_FRAME_KERNEL,  /* it has a name, and no more */
	PL_DUMP_FRAME_MISSING, /* in its place there are native frames that are not known */
};

/** What a native frame has beside its name, which is "" if it has none. */
struct pl_dump_native_frame {
	struct pl_dump_text module, build_id; /* path of the file that it is code of, "" if of none; in hexadecimal */
	uint64_t address;		      /* where it goes on */
	uint64_t offset, function; /* that, and the beginning of the function, as addresses of the file; 0: none */
	bool guessed;		   /* found by a frame pointer */
	bool signal;		   /* the kernel's, which has called a signal handler */
	bool inlined;		   /* compiled into the next one, so the addresses are those of that */
};

struct pl_dump_frame {
	enum pl_dump_frame_kind kind;
	struct pl_dump_text name, qualname, file;
	int32_t line, end_line, column, end_column; /* line 0: none; columns from 0 in bytes, -1: none */
	struct pl_dump_text source;		    /* of the line, without its line break; "" if it cannot be had */
	bool has_source, source_changed;	    /* changed: the file is younger than the process */
	bool has_locals;			    /* they were asked for and could be read */
	pl_dump_local_vec locals;
	struct pl_dump_native_frame native; /* of PL_DUMP_FRAME_NATIVE */
};
typedef PL_VEC(struct pl_dump_frame) pl_dump_frame_vec;
void pl_dump_frames_deinit(pl_dump_frame_vec *frames);

/** For each Python frame of a thread 1 + its position among those that are shown; 0: it is hidden. */
typedef PL_VEC(uint32_t) pl_dump_shown_vec;

/** How far native frames could be put between those of Python. */
enum pl_dump_native {
	PL_DUMP_NATIVE_UNASKED,
	PL_DUMP_NATIVE_WHOLE,
	PL_DUMP_NATIVE_IN_PART, /* some are missing: PL_DUMP_FRAME_MISSING tells where */
	PL_DUMP_NATIVE_APART,	/* the two do not fit together: those of Python come first, then the native ones */
	PL_DUMP_NATIVE_UNREAD,	/* it ran, and could not or must not be stopped; or there was no time left */
	PL_DUMP_NATIVES,
};

struct pl_dump_thread {
	uint64_t tid, ident; /* ident: as threading.get_ident(); 0 unknown */
	struct pl_dump_text name;
	bool main, python;    /* python: it has run Python; else only `doing` and `wait` are known */
	bool beyond;	      /* there were too many to look at this one: whether it has run Python is not known */
	uint64_t interpreter; /* 0: the main one */
	enum pl_doing doing;
	bool in_call; /* wait is filled in */
	bool idle_known;
	uint64_t idle_ns; /* blocked ones: so long at least it has not run, and so waits where it does */
	struct pl_dump_wait wait;
	uint32_t awaited; /* 1 + position in the process's `awaited`; 0: not known to be waiting for any of it */
	bool waits_on;	  /* and it had not run since, when all threads had been read */
	int signal;	  /* core: that it received; 0 none */
	bool has_gil, wants_gil, in_gc, exception;
	bool jit, jit_known; /* runs code that a JIT compiler made: the line of its innermost frame may be behind */
	uint64_t gil_holder; /* tid of who held it when this thread was read; 0 nobody, or not known */
	bool read;	     /* the stack came out */
	uint8_t quality;     /* enum pl_quality */
	enum pl_dump_native native;
	pl_dump_frame_vec frames; /* innermost first */
};
typedef PL_VEC(struct pl_dump_thread) pl_dump_thread_vec;
void pl_dump_thread_deinit(struct pl_dump_thread *t);

enum pl_task_doing { PL_TASK_DOES_RUN, PL_TASK_DOES_WAIT, PL_TASK_IS_READY, PL_TASK_DOINGS };
enum pl_task_wait {
	PL_TASK_WAITS_NOTHING,
	PL_TASK_WAITS_TASK,
	PL_TASK_WAITS_GATHER,
	PL_TASK_WAITS_FUTURE,
	PL_TASK_WAITS
};

/** An unfinished asyncio task. */
struct pl_dump_task {
	uint64_t id; /* as Python's id() has it */
	uint64_t interpreter;
	uint64_t tid; /* of the thread that runs its loop; 0: none does, or not known */
	struct pl_dump_text name;
	struct pl_dump_text awaits; /* type of what it waits for in the end, if that is no frame: "Future" */
	enum pl_task_doing doing;
	enum pl_task_wait wait;
	uint64_t waits_for;	     /* id of the task or future */
	enum pl_dump_for what;	     /* in terms of asyncio; unknown also where it is other tasks */
	uint32_t awaited;	     /* 1 + position in the process's `task_awaited`; 0: nothing to name */
	uint32_t next_waiter;	     /* 1 + position of the next one that waits for the same; 0: none */
	bool limited;		     /* it waits no longer than some time */
	PL_VEC(uint64_t) needs;	     /* ids of tasks and futures that must all end before it goes on */
	PL_VEC(uint64_t) awaited_by; /* ids of tasks */
	pl_dump_frame_vec frames;    /* the await chain, innermost first; of a running task only the outermost */
	bool cut;		     /* the chain is longer */
};
void pl_dump_task_deinit(struct pl_dump_task *t);

/** Something that tasks wait for. */
struct pl_dump_task_awaited {
	struct pl_dump_awaited thing;
	uint32_t holder;		    /* 1 + position of the task that has the lock; 0 not known */
	uint32_t first_waiter, last_waiter; /* 1 + positions of tasks, in the order of the process */
};

/** Threads, or tasks, that wait for one another for ever: each for the next one, the last for the first; one alone for
 * itself. */
struct pl_dump_deadlock {
	PL_VEC(uint32_t) members; /* positions in the process's `threads` or `tasks` */
};
typedef PL_VEC(struct pl_dump_deadlock) pl_dump_deadlock_vec;
void pl_dump_deadlocks_deinit(pl_dump_deadlock_vec *v);

struct pl_dump_process {
	uint32_t pid;
	struct pl_dump_text command, python, core; /* core: file it was read from, "" if it lives */
	uint64_t age_ns;			   /* from its start until it was looked at; 0 unknown */
	uint64_t took_ns;			   /* to look at it */
	uint64_t gil_holder;			   /* tid; 0 nobody, or not known */
	struct pl_dump_other tracer;
	struct pl_dump_text refused; /* why the kernel did not let us stop a thread; "" if it did, or none had to be */
	struct pl_dump_text silent;  /* a source file that is not answered for, so lines are missing; "": all were */
	struct pl_dump_text barred;  /* a source file that was not read for want of rights, of a core; "": none */
	uint64_t core_bytes, core_whole_bytes; /* of the core: how long it is, and would be if it had not been cut */
	uint32_t sources_left_out;	       /* source files that were not read: too many, too long or too slow */
	uint32_t unread;		       /* threads that came or went meanwhile */
	uint32_t left_out;		       /* threads that were not asked for, and that none of them waits for */
	uint32_t late, locals_late; /* threads that there was no time to look at, and to read the variables of */
	pl_dump_thread_vec threads;
	PL_VEC(struct pl_dump_awaited) awaited;
	pl_dump_deadlock_vec deadlocks; /* of threads */
	PL_VEC(struct pl_dump_task) tasks;
	PL_VEC(struct pl_dump_task_awaited) task_awaited;
	pl_dump_deadlock_vec task_deadlocks;
	uint64_t tasks_lost; /* that could not be read, at least: a list that was read in part is one */
};

/** A process that could not be looked at. */
struct pl_dump_failure {
	uint32_t pid;
	enum plumb_error_code code;
	struct pl_dump_text message, hint;
};

struct pl_dump {
	struct pl_strtab *strings;
	PL_VEC(struct pl_strtab *) adopted; /* with the processes of other dumps */
	uint64_t taken_real_ns;		    /* CLOCK_REALTIME */
	PL_VEC(struct pl_dump_process) processes;
	PL_VEC(struct pl_dump_failure) failures;
	bool no_memory; /* texts are missing */
};

struct plumb_error *pl_dump_create(struct pl_dump **ret) PLUMB_MUST_CHECK;
void pl_dump_destroy(struct pl_dump *d);

/** Take over the processes of @p from, which is then empty. */
struct plumb_error *pl_dump_adopt(struct pl_dump *into, struct pl_dump *from) PLUMB_MUST_CHECK;

/** The dump's own copy of some text; @p s may be NULL for "". Without memory it is "". */
struct pl_dump_text pl_dump_text(struct pl_dump *d, const char *s, size_t len);
struct pl_dump_text pl_dump_str(struct pl_dump *d, const char *s);

/** Free what a process holds (not its texts). */
void pl_dump_process_deinit(struct pl_dump_process *p);

/** The main thread first, those without Python last, else by number. */
void pl_dump_sort_threads(struct pl_dump_process *p);

/** How many threads there are: one that has been in several interpreters is there as often. Of sorted threads. */
struct pl_dump_thread_counts {
	size_t python, native, beyond; /* threads */
	size_t states;		       /* entries of the first of these */
};
struct pl_dump_thread_counts pl_dump_count_threads(const struct pl_dump_process *p);

/** What a thread waits for; NULL if that is not known. */
const struct pl_dump_awaited *pl_dump_awaited_of(const struct pl_dump_process *p, const struct pl_dump_thread *t);

/** The thread; NULL if there is none. */
const struct pl_dump_thread *pl_dump_find_thread(const struct pl_dump_process *p, uint64_t tid);

/** Count the waiters and find the deadlocks among the threads, which are sorted. A wait that ends by itself is in none.
 */
struct plumb_error *pl_dump_find_deadlocks(struct pl_dump_process *p) PLUMB_MUST_CHECK;

/** Add the rings of one way through @p count members: @p next is for each of them the one that it leads to,
 * PL_DUMP_NOBODY: none; @p seen as many zeros. */
#define PL_DUMP_NOBODY UINT32_MAX
struct plumb_error *pl_dump_find_rings(const uint32_t *next, uint32_t *seen, uint32_t count,
				       pl_dump_deadlock_vec *ret) PLUMB_MUST_CHECK;

/** What a task waits for; NULL if there is nothing to name. */
const struct pl_dump_task_awaited *pl_dump_task_awaited_of(const struct pl_dump_process *p,
							   const struct pl_dump_task *t);
/** Note that task @p task waits for thing @p thing of `task_awaited`. */
void pl_dump_add_task_waiter(struct pl_dump_process *p, uint32_t task, uint32_t thing);
/** Find the deadlocks among the tasks, in place of those that were found before: each waits for the end of the next
 * one, or for a lock that it holds. A wait that ends by itself is in none. */
struct plumb_error *pl_dump_find_task_deadlocks(struct pl_dump_process *p) PLUMB_MUST_CHECK;

#endif
