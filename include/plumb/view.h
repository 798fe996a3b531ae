/* SPDX-License-Identifier: Apache-2.0 */
/* Questions asked of a profile: what the reports are made of, for front ends that show it their own way. */
#ifndef PLUMB_VIEW_H
#define PLUMB_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <plumb/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A profile, seen through filters. Rows are numbered from 0, and told by functions `..._at`, which give false past the
 * last; they are there once they were asked for, until they are asked for again. Strings live as long as the view, end
 * with a NUL and may contain others; what of them may be shown in a terminal: <plumb/text.h>. One thread at a time.
 *
 * Each struct that is filled in has its size in its first member, which the caller sets: members that are newer than
 * the caller are left out.
 */
struct plumb_view;

/** See @p p through the filters of @p o: threads, processes, idle, from_ns, to_ns, states, kinds, modules, focus,
 * ignore, own, tags. A name of a thread or process that nobody bears shows nothing. @p p and the lists of @p o must
 * outlive it, as they are. Errors: as plumb_profile_refine(). Owner of *ret: caller, plumb_view_close(). */
PLUMB_API struct plumb_error *plumb_view_open(const struct plumb_profile *p, const struct plumb_report_options *o,
					      struct plumb_view **ret) PLUMB_MUST_CHECK;
/** NULL-safe. */
PLUMB_API void plumb_view_close(struct plumb_view *v);

/** A part of all that is seen. */
struct plumb_share {
	uint64_t samples, weight_ns, on_cpu_ns; /* on_cpu_ns: of weight_ns, that of samples on a CPU */
	double share, half_width;		/* 0..1; of its 95 % interval, docs/internals/statistics.md */
};

struct plumb_view_totals {
	size_t size;
	uint64_t samples, weight_ns, duration_ns;
	uint64_t on_cpu, has_gil, wants_gil, in_gc, exception, unknown; /* samples of which that is true */
	uint32_t threads, idle_threads_hidden;
	double on_cpu_half_width, has_gil_half_width, wants_gil_half_width; /* of their shares of the time */
	double gil_held;   /* share of the time; 0 where it is not known */
	double missed;	   /* share of the time that was not sampled */
	double time_scale; /* what times are multiplied by in reports, to allow for that: 1 or more */
	double on_cpu_share, has_gil_share, wants_gil_share; /* of the time, as the reports tell them; the half widths
								are of these */
};
/** Errors: PLUMB_ERR_NO_MEMORY, as of all below. */
PLUMB_API struct plumb_error *plumb_view_totals(struct plumb_view *v, struct plumb_view_totals *ret) PLUMB_MUST_CHECK;

/** What threads waited for. "cpu", that of those that were ready, is a part of on_cpu_share; all others are not. */
struct plumb_view_reason {
	size_t size;
	const char *word, *text; /* "socket", that of JSON; "sockets", as reports have it */
	uint64_t samples;
	double share, half_width; /* of the time, as on_cpu_share */
	double of_waiting;	  /* of all that was waited */
};
/** The most first; none if nothing is known but waits for the GIL. */
PLUMB_API struct plumb_error *plumb_view_reasons(struct plumb_view *v, size_t *count) PLUMB_MUST_CHECK;
PLUMB_API bool plumb_view_reason_at(const struct plumb_view *v, size_t i, struct plumb_view_reason *ret);

/** What is wrong with the program, by the rules of the reports: the gravest in one sentence, "" if nothing is. The
 * text is as safe in a terminal as plumb's own; with @p ascii it has no other characters. It lives until the next call.
 */
PLUMB_API struct plumb_error *plumb_view_sentence(struct plumb_view *v, bool ascii, const char **ret) PLUMB_MUST_CHECK;

struct plumb_view_function {
	size_t size;
	const char *name, *qualname, *file; /* qualname: the name where there is none */
	size_t name_len, qualname_len, file_len;
	const char *short_file; /* the end of `file`: "app.py", "json/__init__.py" */
	uint32_t firstline;
	enum plumb_kind kind;
	bool library;			/* not the program's own code */
	bool bare;			/* it has no place: a marker */
	struct plumb_share self, total; /* total: with what it called, once for each stack */
};
/** Functions that have samples, heaviest self first. */
PLUMB_API struct plumb_error *plumb_view_functions(struct plumb_view *v, size_t *count) PLUMB_MUST_CHECK;
PLUMB_API bool plumb_view_function_at(const struct plumb_view *v, size_t i, struct plumb_view_function *ret);
/** The function of another profile: the one of that qualname, file and first line. False, *ret untouched: none. */
PLUMB_API bool plumb_view_function_like(const struct plumb_view *v, const struct plumb_view_function *like,
					struct plumb_view_function *ret);

/** Which call tree. */
enum plumb_view_tree {
	PLUMB_VIEW_TREE_OWN, /* the program's own functions, as the text report shows them; that of all where next to
				nothing is its own */
	PLUMB_VIEW_TREE_ALL,
};
/** What a row of a tree stands for; all but the first in PLUMB_VIEW_TREE_OWN alone. */
enum plumb_view_tree_kind {
	PLUMB_VIEW_ROW_FUNCTION,
	PLUMB_VIEW_ROW_LIBRARY, /* frames of libraries, together: the function is the one that own code called */
	PLUMB_VIEW_ROW_SELF,	/* a function without what it calls, below the row of it with all that it calls */
};
struct plumb_view_tree_row {
	size_t size;
	uint32_t depth; /* 0: a root */
	enum plumb_view_tree_kind kind;
	struct plumb_view_function function; /* with the shares of this row; it stays the last member */
};
/** Depth first, the heaviest first; rows whose total is at least @p min_share. */
PLUMB_API struct plumb_error *plumb_view_tree(struct plumb_view *v, enum plumb_view_tree which, double min_share,
					      size_t *count) PLUMB_MUST_CHECK;
PLUMB_API bool plumb_view_tree_at(const struct plumb_view *v, size_t i, struct plumb_view_tree_row *ret);

/** What asyncio tasks waited for, where they were looked at (plumb_session_options.tasks). */
struct plumb_view_waited {
	size_t size;
	uint64_t looks;	     /* 0: nobody looked at tasks */
	uint64_t covered_ns; /* the time that the looks stand for */
	uint64_t task_ns;    /* task seconds: of ten tasks that wait for a second it is ten */
	uint64_t lost_ns;    /* those of which it is not known whether they waited */
};
PLUMB_API struct plumb_error *plumb_view_waited(struct plumb_view *v, struct plumb_view_waited *ret) PLUMB_MUST_CHECK;
/** The stacks of tasks that waited, as a tree: each coroutine below the one that awaits it, and the one that waits at
 * the end. In its shares `weight_ns` is task seconds, `samples` how often a task was seen so, and half_width is 0. What
 * is of some states or times has none: these are sums. */
PLUMB_API struct plumb_error *plumb_view_waits(struct plumb_view *v, enum plumb_view_tree which, double min_share,
					       size_t *count) PLUMB_MUST_CHECK;
PLUMB_API bool plumb_view_wait_at(const struct plumb_view *v, size_t i, struct plumb_view_tree_row *ret);

struct plumb_view_thread {
	size_t size;
	uint64_t tid;
	int pid;
	const char *name; /* "" if not known */
	bool main, idle;
	uint64_t samples, weight_ns, on_cpu, has_gil, wants_gil; /* samples of which that is true */
	double on_cpu_share, has_gil_share, wants_gil_share;	 /* of its time */
	const char *process;					 /* short name of its process; "" if not known */
};
/** Threads with samples, the busiest first, also the idle ones. */
PLUMB_API struct plumb_error *plumb_view_threads(struct plumb_view *v, size_t *count) PLUMB_MUST_CHECK;
PLUMB_API bool plumb_view_thread_at(const struct plumb_view *v, size_t i, struct plumb_view_thread *ret);

struct plumb_view_process {
	size_t size;
	int pid, parent;
	const char *name, *command, *python; /* python: "3.11.7"; "" if not known */
	struct plumb_share total;
};
/** Processes with samples, the heaviest first. */
PLUMB_API struct plumb_error *plumb_view_processes(struct plumb_view *v, size_t *count) PLUMB_MUST_CHECK;
PLUMB_API bool plumb_view_process_at(const struct plumb_view *v, size_t i, struct plumb_view_process *ret);

/** What the program said a thread worked for (plumb.tag): a name with a value, whatever others there were beside. */
struct plumb_view_label {
	size_t size;
	const char *name, *value;
	struct plumb_share total;
};
/** Labels with samples: by name, the heaviest value first. */
PLUMB_API struct plumb_error *plumb_view_labels(struct plumb_view *v, size_t *count) PLUMB_MUST_CHECK;
PLUMB_API bool plumb_view_label_at(const struct plumb_view *v, size_t i, struct plumb_view_label *ret);

struct plumb_view_line {
	size_t size;
	int32_t line;
	struct plumb_share self, total;
};
/** The lines of the function @p f, of this profile or another, that have samples, the heaviest self first. */
PLUMB_API struct plumb_error *plumb_view_lines(struct plumb_view *v, const struct plumb_view_function *f,
					       size_t *count) PLUMB_MUST_CHECK;
PLUMB_API bool plumb_view_line_at(const struct plumb_view *v, size_t i, struct plumb_view_line *ret);
/** The text of the file that @p f comes from, as it was sampled; NULL if it is not known. Any bytes. Lives as long as
 * the view. @p changed: what ran may have been another text; may be NULL. */
PLUMB_API const char *plumb_view_source(const struct plumb_view *v, const struct plumb_view_function *f, size_t *len,
					bool *changed);

#ifdef __cplusplus
}
#endif
#endif
