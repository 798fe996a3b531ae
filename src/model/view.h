/* SPDX-License-Identifier: Apache-2.0 */
/* Questions asked of a profile. All shares are of the weight of the samples that pass the filter; what their intervals
 * mean: docs/internals/statistics.md. Rows are for the caller to release with pl_vec_deinit; *ret must not own memory
 * yet and is untouched on error. A profile that nobody changes may be asked by several threads. Errors:
 * PLUMB_ERR_NO_MEMORY. */
#ifndef PL_VIEW_H
#define PL_VIEW_H

#include "labels.h"
#include "profile.h"
#include "vec.h"

/* A thread is idle if it used less than this share of a CPU while it was sampled. The main thread of a program never
 * is, but that of a process which another sampled one has started can be. */
#define PL_IDLE_CPU_SHARE 0.001

enum pl_idle {
	PL_IDLE_HIDE_THREADS, /* default: threads that did nothing all along are left out, and counted */
	PL_IDLE_KEEP,	      /* --idle: everything */
	PL_IDLE_SKIP_SAMPLES, /* --skip-idle: only samples on a CPU or holding the GIL */
};

struct pl_filter {
	enum pl_idle idle;
	const char *const *threads; /* names or decimal tids; a sample passes if its thread matches one; NULL: all.
				     * Threads asked for by name are shown even if they are idle. */
	size_t thread_count;
	const char *const *processes; /* likewise names or decimal pids */
	size_t process_count;
	bool lines; /* rows are lines, not functions */
};

/** What part of the time threads were in a state: of the weight of their samples, as those of a lower rate stand for
 * more; but of their number unless the mode is wall, as CPU time does not tell for how long a thread waited. */
struct pl_part {
	double share, half_width; /* 0..1; 95 % confidence */
};
struct pl_state_parts {
	struct pl_part waiting; /* neither on_cpu nor unknown: those three add up to one */
#define PLUMB_STATE(name, bit, member, ...) struct pl_part member;
#include <plumb/words.def>
};

/** What was waited for: part of the time of threads. All but the CPU together are `waiting`. */
struct pl_reason_part {
	uint64_t samples;
	struct pl_part part;
};

struct pl_totals {
	uint64_t samples, weight_ns;
	uint64_t by_quality[PL_QUALITIES];
	/* Samples of each state. */
#define PLUMB_STATE(name, bit, member, ...) uint64_t member;
#include <plumb/words.def>
	uint32_t threads, idle_threads_hidden;
	struct pl_state_parts doing;
	struct pl_reason_part waits[PL_REASONS];
	double waited;	    /* share of all of these together */
	bool reasons_known; /* of anything but the GIL: recordings of old versions have no reasons */
};

/** What was waited for, the most first: how many of them. 0 also if nothing but the GIL is known. */
unsigned pl_view_reasons(const struct pl_totals *t, enum pl_reason ret[PL_REASONS]);

struct pl_share {
	uint64_t samples, weight_ns, on_cpu_ns; /* on_cpu_ns: of weight_ns, that of samples on a CPU */
	double share, half_width;		/* 0..1; 95 % confidence */
};

/** What a cell is to a question. */
enum pl_cell_kind {
	PL_CELL_OUT,  /* nothing: it is not of what is shared */
	PL_CELL_REST, /* a part of it, */
	PL_CELL_HIT,  /* that is asked for */
};
typedef enum pl_cell_kind pl_cell_kind_fn(const void *ctx, const struct pl_cell *c);

struct pl_function_row {
	uint32_t function;
	int32_t line;		     /* with filter.lines; else 0 */
	struct pl_share self, total; /* total: inclusive, once per stack even under recursion */
};
typedef PL_VEC(struct pl_function_row) pl_function_rows;

/** What a row of a call tree stands for; all but the first in pl_view_own_tree alone. */
enum pl_tree_kind {
	PL_TREE_FUNCTION,
	PL_TREE_LIBRARY, /* frames of libraries, together: `function` is the one that own code called, */
	PL_TREE_SELF,	 /* a function without what it calls, below the row of it with all that it calls */
};

/** A call tree node, in depth-first order, heaviest child first. */
struct pl_tree_row {
	uint32_t function;
	int32_t line;
	uint32_t depth; /* 0: a root */
	struct pl_share self, total;
	enum pl_tree_kind kind;
	uint32_t last;	    /* PL_TREE_LIBRARY: the function in which most of that time was itself; */
	uint32_t recursion; /* PL_TREE_FUNCTION: how often it is below itself at most, with no other own one between */
};
typedef PL_VEC(struct pl_tree_row) pl_tree_rows;
typedef struct plumb_error *pl_tree_row_fn(void *ctx, const struct pl_tree_row *row);

struct pl_thread_row {
	uint32_t thread;
	bool idle;
	uint64_t samples, weight_ns, on_cpu, has_gil, wants_gil;
	uint64_t on_cpu_ns, has_gil_ns, wants_gil_ns; /* likewise of weight_ns */
};
typedef PL_VEC(struct pl_thread_row) pl_thread_rows;

struct pl_process_row {
	uint32_t process;
	struct pl_share total;
};
typedef PL_VEC(struct pl_process_row) pl_process_rows;

struct pl_label_row {
	struct pl_label label;
	struct pl_share total;
};
typedef PL_VEC(struct pl_label_row) pl_label_rows;

/** One aggregated stack: what collapsed output needs. */
struct pl_stack_row {
	uint32_t stack, thread;
	uint64_t samples, weight_ns;
	uint64_t by_quality[PL_QUALITIES]; /* of samples */
};
typedef PL_VEC(struct pl_stack_row) pl_stack_rows;

/** The share of the time that was missed. */
double pl_view_missed(const struct pl_meta *m);
/** Whether times can be scaled for that: what is known of next to no time is not known. CPU time is read from counters
 * and misses nothing. */
bool pl_view_scalable(const struct pl_meta *m);
/** What times have to be multiplied by to allow for what was missed: 1 or more, and no more than 10; 1 if they cannot
 * be scaled. */
double pl_view_scale(const struct pl_meta *m);
/** Both cost a few nanoseconds (with filter.threads or .processes: a few comparisons of strings). */
bool pl_view_passes(const struct plumb_profile *p, const struct pl_filter *f, const struct pl_cell *cell);
bool pl_view_thread_idle(const struct plumb_profile *p, uint32_t thread);
struct plumb_error *pl_view_totals(const struct plumb_profile *p, const struct pl_filter *f,
				   struct pl_totals *ret) PLUMB_MUST_CHECK;
/** Heaviest self first; ties by total, then name. */
struct plumb_error *pl_view_functions(const struct plumb_profile *p, const struct pl_filter *f,
				      pl_function_rows *ret) PLUMB_MUST_CHECK;
/** Nodes whose total is at least @p min_share; functions merged over lines unless filter.lines. */
struct plumb_error *pl_view_tree(const struct plumb_profile *p, const struct pl_filter *f, double min_share,
				 pl_tree_rows *ret) PLUMB_MUST_CHECK;
/** The same of the program's own functions: each hangs on the own function that called it, whatever frames of libraries
 * are between. What such frames lead to and is no own function is one row for each function that own code called,
 * and what a function with rows below it takes itself is a row, too. @p library tells of each function of @p p whether
 * it is one of a library. */
struct plumb_error *pl_view_own_tree(const struct plumb_profile *p, const struct pl_filter *f, const bool *library,
				     double min_share, pl_tree_rows *ret) PLUMB_MUST_CHECK;
/** All nodes as pl_view_tree has them, one by one and without half widths; the first error of @p fn ends it. For trees
 * of millions of nodes. */
struct plumb_error *pl_view_tree_each(const struct plumb_profile *p, const struct pl_filter *f, pl_tree_row_fn *fn,
				      void *ctx) PLUMB_MUST_CHECK;
/** Threads with samples, the busiest first: also the idle ones, marked as such, unless filter.threads leaves them out.
 */
struct plumb_error *pl_view_threads(const struct plumb_profile *p, const struct pl_filter *f,
				    pl_thread_rows *ret) PLUMB_MUST_CHECK;
/** What part of its time the thread was in the state that @p samples and @p ns of @p row tell, by the rule of pl_part.
 */
double pl_view_thread_share(const struct plumb_profile *p, const struct pl_thread_row *row, uint64_t samples,
			    uint64_t ns);
/** Processes with samples that pass, the heaviest first. */
struct plumb_error *pl_view_processes(const struct plumb_profile *p, const struct pl_filter *f,
				      pl_process_rows *ret) PLUMB_MUST_CHECK;
/** The labels of the samples that pass: by name, the heaviest value first. Names and values live until the profile is
 * changed. */
struct plumb_error *pl_view_labels(const struct plumb_profile *p, const struct pl_filter *f,
				   pl_label_rows *ret) PLUMB_MUST_CHECK;
/** The share that the hits have of hits and rest, of the cells that pass @p f; 0 where there are none. */
struct plumb_error *pl_view_share(const struct plumb_profile *p, const struct pl_filter *f, pl_cell_kind_fn *kind_of,
				  const void *ctx, struct pl_share *ret) PLUMB_MUST_CHECK;
/** In the order of stack ids, then thread ids. */
struct plumb_error *pl_view_stacks(const struct plumb_profile *p, const struct pl_filter *f,
				   pl_stack_rows *ret) PLUMB_MUST_CHECK;

#endif
