/* SPDX-License-Identifier: Apache-2.0 */
/* The profile: interned tables, one trie of stacks, and counts. docs/design/001-the-house.md has the picture.
 *
 *   function (kind, name, qualname, file, first line)  <-  location (function, line, columns)  <-  stack node (parent,
 * location)
 *
 * Ids are dense, start at 0, never change and never go away, so that a writer can emit "everything new since id n".
 * A stack id names the whole stack; node 0 is the empty stack. Counts live in cells keyed by (stack, thread, state,
 * quality, batch): every total, share and interval is a sum over cells, and merging profiles is adding cells.
 *
 * Batches: time since the start cut in at most PL_BATCHES equal pieces; when the recording outgrows them the piece
 * doubles and neighbours are added up. They give the confidence intervals (base/stats.h). Not thread-safe: one owner at
 * a time. */
#ifndef PL_PROFILE_H
#define PL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strtab.h"

#include "error.h"
#include "reason.h"

/* Frames of a stack. The engine reads 65,536 of a thread at most, and puts a few of its own on them; files of others
 * are refused beyond it, recordings are damaged. What is written of a stack follows its depth. */
#define PL_STACK_MAX_DEPTH (1u << 17)
#define PL_TOGETHER	   32 /* stacks or samples that one call takes */

/* Rows of waits. */
#define PL_MAX_WAITS (1u << 16)
/* Events, in all and of one process. */
#define PL_MAX_EVENTS	      (1u << 16)
#define PL_MAX_PROCESS_EVENTS (1u << 14)
/* Bytes of their names and labels, of each event as if no other had the same. */
#define PL_MAX_EVENT_TEXT (64u << 20)

#define PL_BATCHES	64
#define PL_BATCH_MIN_NS (1ull << 24) /* first batch length, 16.8 ms; always a power of two */

/* The file of functions of the kernel. */
#define PL_KERNEL_FILE "[kernel]"

/* What these enums list, and how it is called everywhere: <plumb/words.def>. */
enum pl_frame_origin {
#define PLUMB_KIND(name, number, ...) PL_ORIGIN_##name = (number),
#include <plumb/words.def>
	PL_ORIGINS,
};

/* What the thread was doing; a set. Neither ON_CPU nor UNKNOWN: it was waiting. Above these bits stands for what, as
 * pl_reason_of tells. */
enum pl_state {
#define PLUMB_STATE(name, bit, ...) PL_STATE_##name = (bit),
#include <plumb/words.def>
};
#define PL_STATE_BITS	 8
#define PL_STATE_REASONS (15 << PL_STATE_BITS)

/* How sure we are of the stack. Only EXACT and STOPPED promise that the whole stack existed at one instant. */
enum pl_quality {
#define PLUMB_QUALITY(name, ...) PL_##name,
#include <plumb/words.def>
	PL_QUALITIES,
};

/* Which native frames, and of the kernel, are shown. Numbers are part of recordings. */
enum pl_native_shown {
	PL_NATIVE_AS_RECORDED, /* as whoever recorded it has asked; in a recording: without plumbing */
	PL_NATIVE_OFF,
	PL_NATIVE_LEAF,	    /* without plumbing, those that no Python frame is inside of */
	PL_NATIVE_CALLABLE, /* without plumbing */
	PL_NATIVE_ALL,
	PL_NATIVE_CHOICES,
};

enum pl_loss {
#define PLUMB_LOSS(name, ...) PL_LOSS_##name,
#include <plumb/words.def>
	PL_LOSSES,
};

/* Why the kernel did not let us stop a thread. */
enum pl_event_kind {
#define PLUMB_EVENT(name, number, ...) PL_EVENT_##name = (number),
#include <plumb/words.def>
	PL_EVENTS,
};

enum pl_refused {
#define PLUMB_REFUSAL(name, ...) PL_REFUSED_##name,
#include <plumb/words.def>
	PL_REFUSALS,
};

enum pl_mode {
#define PLUMB_MODE(name, ...) PL_MODE_##name,
#include <plumb/words.def>
	PL_MODES,
};

struct pl_function {
	uint32_t name, qualname, file; /* string ids */
	uint32_t firstline;
	uint32_t labels;  /* string id; not 0: it is no function, but the tag that stacks stand on (labels.h) */
	uint32_t unnamed; /* string id; not 0: a native one that no symbol named when it was sampled; where it is, for
			     whoever has symbols later: BUILD-ID+0xADDRESS. It has no labels then */
	uint32_t source;  /* string id; of a native one with debug information: the file that its lines are in, while
			     `file`  is the library. 0: not known. It has neither labels nor is it unnamed then */
	uint8_t origin;	  /* enum pl_frame_origin */
	bool plumbing;	  /* a native one that only passes a call on; it is hidden unless all is asked for */
};
struct pl_location {
	uint32_t function;
	int32_t line, end_line, column, end_column; /* line 0: none; columns from 0, -1: none */
	uint16_t opcode;  /* 1 + the opcode that the interpreter ran there, specialised or not; 0: not recorded */
	bool inlined;	  /* the function was compiled into the one that calls it */
	uint64_t address; /* not 0: in the file of a native one; nobody has told the line there, so whoever has debug
			     information later may. Of such a location nothing else is known but the function */
};
struct pl_stack {
	uint32_t parent, location; /* node 0: parent 0, location 0, not a frame */
	uint32_t depth;		   /* frames from the root; node 0: 0 */
};
struct pl_thread {
	uint32_t process; /* index into processes */
	uint64_t tid;	  /* as the kernel of the profiler numbers it */
	uint32_t name;	  /* string id, 0 unknown */
	bool main;
	uint64_t cpu_ns; /* CPU time it used while it was sampled, from the kernel's counters; 0 if unknown */
	bool cpu_known;
};
struct pl_process {
	uint32_t pid, parent; /* parent: pid, 0 unknown */
	uint64_t start_ns;    /* since boot, to 10 ms: with the pid it names the process; 0 unknown */
	uint32_t program;     /* string ids: command line, */
	uint32_t name;	      /* a short name, */
	uint32_t python;      /* "3.11.7" */
	uint64_t came_ns;     /* when it was seen first, since meta.start */
	bool ended;	      /* while it was sampled, */
	uint64_t ended_ns;    /* then */
	uint32_t host;	      /* string id; 0: that of the recording (meta.host). Only merged profiles name it */
	uint32_t before;      /* processes with its pid before it: numbers are used again. The profile sets it */
};
/* The text of a file that functions come from, as it was while they were sampled. */
struct pl_source {
	uint32_t file; /* string id, as in struct pl_function */
	char *text;    /* owned, ends with a NUL that is not part of it; any bytes */
	size_t len;
	bool changed;	   /* what ran may have been another text: the file is younger than its process, or had two */
	uint32_t revision; /* from 1; grows when the row changes */
};
#define PL_SOURCE_MAX_BYTES (1u << 20)

/* A build of a file that native functions are in. */
struct pl_module {
	uint32_t file, build_id; /* string ids; in hexadecimal */
};
#define PL_BUILD_ID_TEXT_MAX 128
#define PL_ADDRESS_MAX	     INT64_MAX /* of a location */

struct pl_cell {
	uint32_t stack, thread;
	uint16_t state;
	uint8_t quality, batch;
	uint64_t samples, weight_ns;
};

/* What asyncio tasks waited for, on one stack. That is no time of the thread: of ten tasks that wait for a second it is
 * ten seconds. */
struct pl_wait {
	uint32_t stack, thread; /* the thread runs their loop */
	uint8_t what;		/* enum pl_dump_for */
	uint64_t tasks;		/* so often was one seen */
	uint64_t task_ns;
};
struct pl_waited {
	uint64_t looks;	     /* at tasks; 0: nobody asked for that */
	uint64_t covered_ns; /* the time that they stand for; of several processes all of it */
	uint64_t lost_ns;    /* task seconds of which it is not known whether they waited */
};

/* What happened at a moment: docs/design/022-events.md. */
struct pl_event {
	uint64_t time_ns;	  /* since the start; in what was added up real time, from 2^63 on an unknown one */
	uint64_t duration_ns;	  /* 0: it took none, or that is not known */
	uint32_t process, thread; /* 1 + row; 0: of none */
	uint32_t name, labels;	  /* string ids; labels as those of a function */
	uint8_t kind;		  /* enum pl_event_kind; a newer plumb may know more */
};

/* A lock that was waited for when a sample was taken, and who held it then. */
enum pl_lock_holder {
	PL_LOCK_UNKNOWN, /* who holds it is not known */
	PL_LOCK_FREE,	 /* nobody: it is being passed on */
	PL_LOCK_HELD,
	PL_LOCK_HOLDERS,
};
struct pl_lock_state {
	uint64_t object;   /* its id() */
	uint8_t holder;	   /* enum pl_lock_holder */
	bool recursive;	   /* an RLock */
	uint64_t tid;	   /* of the thread that held it; 0 unless that is known, as all below */
	uint32_t name;	   /* string id, of the thread */
	uint32_t location; /* 1 + where that was, in Python; 0: not known */
	uint32_t inside;   /* 1 + where it stood inside `with` of the lock; 0: not known */
};
/* Rows of them; what is beyond is row 0: of a lock that is not known. */
#define PL_MAX_LOCK_STATES (1u << 16)

struct pl_sample {
	uint64_t time_ns; /* since meta.start */
	uint32_t thread, stack;
	uint16_t state;
	uint8_t quality;
	uint64_t weight_ns; /* wall, gil: the sampling period; cpu: CPU time since the thread's last sample */
	uint64_t extra;	    /* samples that it stands for beyond itself; weight_ns is that of all of them */
	uint32_t
		held_by; /* pl_gil_each (gil_waits.h): 1 + the function that held the GIL for which it waited; else 0 */
	uint32_t lock;	 /* 1 + the lock state that it waited for; 0: it waited for none, or that is not known */
};

typedef struct plumb_error *pl_sample_fn(void *ctx, const struct pl_sample *s);

/** Where the samples of a profile can be read again, one by one. */
struct pl_stream {
	/** Give all samples to @p fn, in the order in which they were recorded, with ids of the profile; the first
	 * error of @p fn ends it. Counts nothing. NULL: there are only counts. */
	struct plumb_error *(*each)(void *ctx, pl_sample_fn *fn, void *fn_ctx);
	/** The same for pl_gil_each; NULL: it is found of what `each` gives. */
	struct plumb_error *(*each_held)(void *ctx, pl_sample_fn *fn, void *fn_ctx);
	void (*destroy)(void *ctx); /* NULL-safe for ctx; NULL: nothing to do */
	void *ctx;
};

/** What a collector of CPython was told about its run; only where the profile is made of its samples
 * (import/from_samples.c). Figures that were not given are NaN. */
struct pl_collector {
	bool known;	/* the rest means something */
	bool skip_idle; /* stacks of threads that neither run nor hold the GIL are left out, but not of its statistics
			 */
	bool measured;	/* it was given the figures of the run */
	double interval_usec;
	double run_interval_usec, duration_sec, sample_rate, error_rate, missed_samples, mode; /* of the run */
};

/** Facts about the recording as a whole. */
struct pl_meta {
	uint64_t start_real_ns; /* CLOCK_REALTIME */
	uint64_t duration_ns;
	uint64_t period_ns; /* 0: as fast as possible */
	uint64_t seed;
	uint8_t mode;	     /* enum pl_mode */
	uint8_t native;	     /* enum pl_native_shown: what of the native frames is shown if nothing else is asked for */
	bool native_threads; /* threads that run no Python were sampled, too */
	bool jitter;
	bool untimed;	/* its samples have no instants: it was added up, or read from a format without times */
	bool counted;	/* weights are numbers of samples: nothing is known of how long they took */
	bool selected;	/* samples were left out for what they show: ticks are not the whole of what is left */
	bool imported;	/* read from a file of another tool; `engine` says of which kind */
	bool complete;	/* false: the recording ends without its last chunk (profiler killed), or one it is made of */
	bool growing;	/* it was being written when it was read */
	bool derived;	/* it has its last chunk: what it is made of is not complete */
	uint64_t ticks; /* rounds taken */
	uint64_t losses[PL_LOSSES];
	uint64_t taken_ns, missed_ns;  /* what the ticks stand for, taken and missed; 0: only their numbers are known */
	uint64_t stops;		       /* threads stopped, times */
	uint64_t stopped_ns;	       /* for which threads stood still, by stops or because we had their processor */
	uint64_t used_cpu_ns;	       /* by the processes while they were sampled, also in no sample; 0: not known */
	uint64_t halted_ns;	       /* for which a signal or a debugger had stopped the process asked for */
	uint64_t refused[PL_REFUSALS]; /* stops that were tried and refused, by enum pl_refused */
	uint64_t profiler_cpu_ns;
	uint64_t damaged_parts;	   /* of the recording, which were left out */
	bool another;		   /* recording follows in the file, and was left out, too */
	uint64_t sources_left_out; /* files whose text is not there because it is too much */
	uint64_t file_bytes; /* of the one recording that it was read from; of a file of another tool as many as it
				may have as much written for; 0: it was not read, or is a sum */
	uint32_t max_overhead_ppm; /* the rate was lowered to cost no more than this millionth share; 0: no limit */
	uint32_t max_still_ppm;	   /* and to have the program stand still for no more than this one; 0: no limit */
	uint32_t command, engine, plumb_version, host; /* string ids */
	struct pl_collector collector;
	uint32_t refused_why; /* string id: the last of the refusals in words */
	uint32_t own;	      /* string id: what was named as own code, each with a NUL behind it */
};

/** The string ids of @p m by number, from 0; NULL past the last. In another profile each has another id. */
uint32_t *pl_meta_text(struct pl_meta *m, size_t i);

struct pl_recorded {
	uint64_t from_ns, to_ns; /* real time */
};

/** The time of a profile that was added up: what was recorded when, without the pauses between
 * (docs/design/017-absolute-time.md). Of any other profile it is empty: batch i begins i * batch_ns after meta.start.
 */
struct pl_axis {
	bool merged;
	uint32_t count;		    /* batches, with samples or without, and of each which piece of real time it is: */
	uint64_t piece[PL_BATCHES]; /* it begins piece * batch_ns after 1970; they ascend */
	struct pl_recorded *spans;  /* owned; when it was recorded: ascending, with time between them */
	size_t span_count;
};

struct plumb_profile {
	struct pl_meta meta;
	struct pl_strtab *strings;
	struct pl_function *functions;
	uint32_t function_count;
	struct pl_location *locations;
	uint32_t location_count;
	struct pl_stack *stacks;
	uint32_t stack_count;
	struct pl_thread *threads;
	uint32_t thread_count;
	struct pl_process *processes;
	uint32_t process_count;
	struct pl_source *sources; /* one for each file whose text is known */
	uint32_t source_count;
	struct pl_module *modules;
	uint32_t module_count;
	struct pl_cell *cells;
	uint32_t cell_count;
	struct pl_wait *waits;
	uint32_t wait_count;
	struct pl_waited waited;
	struct pl_lock_state *locks;
	uint32_t lock_count;
	struct pl_event *events; /* in no order; events.h */
	uint32_t event_count;
	uint64_t batch_ns;
	struct pl_axis axis;
	struct pl_stream stream;	/* owned */
	struct pl_profile_index *index; /* private: hash maps behind the tables */
};

struct plumb_error *pl_profile_create(struct plumb_profile **ret) PLUMB_MUST_CHECK;
/** While it is held no table gets a new row and so none moves: what would add one fails with PLUMB_ERR_STALE. For
 * reading a file again, which may have changed, while others look at the tables. */
void pl_profile_hold(struct plumb_profile *p, bool held);
void pl_profile_destroy(struct plumb_profile *p);

/* Interning: equal input, equal id. */
struct plumb_error *pl_profile_string(struct plumb_profile *p, const void *s, size_t len,
				      uint32_t *ret) PLUMB_MUST_CHECK;
struct plumb_error *pl_profile_function(struct plumb_profile *p, const struct pl_function *f,
					uint32_t *ret) PLUMB_MUST_CHECK;
struct plumb_error *pl_profile_location(struct plumb_profile *p, const struct pl_location *l,
					uint32_t *ret) PLUMB_MUST_CHECK;
/** Errors: PLUMB_ERR_LIMIT beyond PL_STACK_MAX_DEPTH. */
struct plumb_error *pl_profile_stack(struct plumb_profile *p, uint32_t parent, uint32_t location,
				     uint32_t *ret) PLUMB_MUST_CHECK;
/** Fetch what pl_profile_stack will need, which is a lot of memory away: for loops, some stacks ahead. Ids that do not
 * exist do no harm. */
void pl_profile_expect_stack(const struct plumb_profile *p, uint32_t parent, uint32_t location);
/** A stack and the frames on top of it, the outermost first: locations. */
struct pl_stack_path {
	uint32_t stack;
	const uint32_t *frames;
	size_t count;
};
/** Make each the stack with its frames: as pl_profile_stack() does frame by frame, ids and all, but for at most
 * PL_TOGETHER of them, which fetches memory for one while it looks for others. Errors: those of pl_profile_stack(). */
struct plumb_error *pl_profile_stack_paths(struct plumb_profile *p, struct pl_stack_path *paths,
					   size_t count) PLUMB_MUST_CHECK;
/** A marker frame such as "<moving>" on top of @p parent: origin PL_ORIGIN_MARKER, file "~", no line. */
struct plumb_error *pl_profile_marker(struct plumb_profile *p, uint32_t parent, const char *name,
				      uint32_t *ret) PLUMB_MUST_CHECK;
/** The same with `labels`: what pl_profile_tag (labels.h) makes. */
struct plumb_error *pl_profile_labelled(struct plumb_profile *p, uint32_t parent, const char *name, uint32_t labels,
					uint32_t *ret) PLUMB_MUST_CHECK;
/** Threads are equal by (process, tid). For a known thread a name that is not empty and a known CPU time replace the
 * old ones; `main` stays once it is set. */
struct plumb_error *pl_profile_thread(struct plumb_profile *p, const struct pl_thread *t,
				      uint32_t *ret) PLUMB_MUST_CHECK;
/** Processes are equal by (host, pid, start); without a start by (host, pid, program, python). For a known process what
 * is not empty replaces the old: a process can execute another program. `came_ns` stays, `ended` stays once it is set.
 */
struct plumb_error *pl_profile_process(struct plumb_profile *p, const struct pl_process *proc,
				       uint32_t *ret) PLUMB_MUST_CHECK;

/** Keep a copy of the text of @p file. Of two texts of one file one is kept, the same one whichever came first, and it
 * is marked as changed. Errors: PLUMB_ERR_LIMIT beyond PL_SOURCE_MAX_BYTES. */
struct plumb_error *pl_profile_source(struct plumb_profile *p, uint32_t file, const void *text, size_t len,
				      bool changed) PLUMB_MUST_CHECK;
/** The text of the file that is named by string @p file, NULL if it is not known. Until the next pl_profile_source. */
const struct pl_source *pl_profile_source_of(const struct plumb_profile *p, uint32_t file);

/** Whether it is a build-id as profiles have it. */
bool pl_is_build_id(const char *text, size_t len);
/** Note which build a file of native functions was; its ids are of @p p. A text that is no build-id is not noted. */
struct plumb_error *pl_profile_module(struct plumb_profile *p, const struct pl_module *m) PLUMB_MUST_CHECK;
/** String id of the build-id of @p file; 0: it is not known, or there were several. */
uint32_t pl_profile_build_id(const struct plumb_profile *p, uint32_t file);

/** The file that the lines of @p f are in; a string id. */
static inline uint32_t pl_function_source(const struct pl_function *f)
{
	return f->source ? f->source : f->file;
}

/** Whether frames of @p f are not shown unless plumbing is asked for: of a profile that nothing was chosen of. */
static inline bool pl_profile_hides(const struct plumb_profile *p, const struct pl_function *f)
{
	return f->plumbing && p->meta.native != PL_NATIVE_ALL;
}

/** How long the names are that stand at a location. */
uint64_t pl_profile_location_bytes(const struct plumb_profile *p, uint32_t location);
/** How long the names in all rows are together, each as often as a row has it; of threads those of their processes,
 * too.
 */
uint64_t pl_profile_name_bytes(const struct plumb_profile *p);
/** Whether they are no more than a file of @p file_bytes may tell, @p a_byte for each of its bytes and some more.
 * Errors: PLUMB_ERR_LIMIT. */
struct plumb_error *pl_profile_check_names(const struct plumb_profile *p, uint64_t file_bytes,
					   uint64_t a_byte) PLUMB_MUST_CHECK;

/** Whether all samples and their times can be counted: else shares mean nothing. Errors: PLUMB_ERR_LIMIT. */
struct plumb_error *pl_profile_check_sums(const struct plumb_profile *p) PLUMB_MUST_CHECK;

/** A lock state; its ids are of @p p. */
struct plumb_error *pl_profile_lock(struct plumb_profile *p, const struct pl_lock_state *l,
				    uint32_t *ret) PLUMB_MUST_CHECK;
/** Add these. */
void pl_profile_waited(struct plumb_profile *p, const struct pl_waited *more);
/** Count waits of tasks; their ids must be of @p p. Beyond PL_MAX_WAITS rows they are lost, and count there. */
struct plumb_error *pl_profile_wait(struct plumb_profile *p, const struct pl_wait *w) PLUMB_MUST_CHECK;
/** *ret is @p p with its waits in the place of its samples, for the questions of view.h: task seconds are weights then.
 * It is none to be destroyed: free(ret->cells) is all, before @p p changes. */
struct plumb_error *pl_profile_waits_only(const struct plumb_profile *p, struct plumb_profile *ret) PLUMB_MUST_CHECK;

/** Count a sample; its ids must be of @p p. About 20 ns if it falls into the last sample's cell, 100 ns if not. */
struct plumb_error *pl_profile_add(struct plumb_profile *p, const struct pl_sample *s) PLUMB_MUST_CHECK;
/** Count at most PL_TOGETHER of them, each as pl_profile_add would, but several times as fast where they fall into many
 * cells: what one needs from memory is fetched while the others are counted. After an error some are counted. */
struct plumb_error *pl_profile_add_all(struct plumb_profile *p, const struct pl_sample *s,
				       size_t count) PLUMB_MUST_CHECK;
/** Make batches as long as a sample at @p time_ns will need: it costs nothing as long as there are none. */
struct plumb_error *pl_profile_expect_time(struct plumb_profile *p, uint64_t time_ns) PLUMB_MUST_CHECK;
/** When there are more cells than @p max, neighbouring batches are added up; 0: no limit. */
void pl_profile_limit_cells(struct plumb_profile *p, uint32_t max);
/** Forget all counts, and what the batches were; tables and ids stay. */
void pl_profile_forget(struct plumb_profile *p);
/** Whether pl_profile_each gives the instant of each sample; else only the batch that it fell in, or nothing. */
bool pl_profile_is_timed(const struct plumb_profile *p);
/** Whether a part of its time can be chosen, if only in whole batches. */
bool pl_profile_has_time(const struct plumb_profile *p);
/** Give all samples to @p fn: those of the stream, where there is one, else one for each cell, in the order of the
 * cells and with the beginning of its batch as its time. The first error of @p fn ends it and is returned. */
struct plumb_error *pl_profile_each(const struct plumb_profile *p, pl_sample_fn *fn, void *ctx) PLUMB_MUST_CHECK;
/** Note the files of @p names (pl_refine_is_module) as the program's own code, instead of what was noted before.
 * Errors: PLUMB_ERR_LIMIT, PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_profile_set_own(struct plumb_profile *p, const char *const *names,
				       size_t count) PLUMB_MUST_CHECK;
/** Whether the file named by string @p file is one of them. */
bool pl_profile_is_own(const struct plumb_profile *p, uint32_t file);
/** Give every process without a host that of the recording, "?" if that is unknown. */
struct plumb_error *pl_profile_name_hosts(struct plumb_profile *p) PLUMB_MUST_CHECK;
/** A copy whose ids follow from what the profile says and not from how it came to be: equal profiles have equal copies,
 * and equal recordings are written of them. There is no stream. Caller destroys *ret. */
struct plumb_error *pl_profile_in_order(const struct plumb_profile *p, struct plumb_profile **ret) PLUMB_MUST_CHECK;
/** A copy; without the stream. Caller destroys *ret. */
struct plumb_error *pl_profile_copy(const struct plumb_profile *p, struct plumb_profile **ret) PLUMB_MUST_CHECK;
/** What @p count cells of @p p say, as a profile of its own: with the rows that they need, and how it was sampled, but
 * not what was lost meanwhile. Their batches are @p batch_ns long, a power of two from PL_BATCH_MIN_NS on. With
 * @p same_idle those threads are idle that are in @p p; else none is. Caller destroys *ret. */
struct plumb_error *pl_profile_part(const struct plumb_profile *p, const struct pl_cell *cells, size_t count,
				    uint64_t batch_ns, bool same_idle, struct plumb_profile **ret) PLUMB_MUST_CHECK;
/** Add all of @p from to @p into, what was recorded at the same time to the same batch. Associative and commutative up
 * to the numbering of ids; an empty profile changes nothing. If the hosts differ, or processes of @p from name theirs,
 * all processes name theirs afterwards: those of two machines stay two however equal their numbers are. Texts and the
 * start are those of the recording that began first. A thread's CPU time is known if it is known for both. Errors:
 * PLUMB_ERR_INVALID for two modes (wall and CPU time do not add up), PLUMB_ERR_NO_MEMORY: @p into is then usable, but
 * may hold a part of @p from. */
struct plumb_error *pl_profile_merge(struct plumb_profile *into, const struct plumb_profile *from) PLUMB_MUST_CHECK;
/** The same, and @p from is destroyed, also after an error: where there is nothing in *into it takes its place, and
 * nothing has to be copied. After an error *into is as pl_profile_merge leaves it. */
struct plumb_error *pl_profile_merge_last(struct plumb_profile **into, struct plumb_profile *from) PLUMB_MUST_CHECK;

#endif
