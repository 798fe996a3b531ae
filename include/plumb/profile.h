/* SPDX-License-Identifier: Apache-2.0 */
/* A profile: what was recorded, ready to be written in any output format. */
#ifndef PLUMB_PROFILE_H
#define PLUMB_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <plumb/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct plumb_profile;

/** Which samples of waiting threads count. */
enum plumb_idle {
	PLUMB_IDLE_HIDE_THREADS, /* leave out threads (not the main one) that did nothing all along; the header says how
				    many */
	PLUMB_IDLE_KEEP,	 /* count everything */
	PLUMB_IDLE_SKIP_SAMPLES, /* count only samples on a CPU or holding the GIL */
};

/** What a thread was doing; a set: PLUMB_DOING_ON_CPU, _WAITING, ... */
enum plumb_doing {
#define PLUMB_DOING(name, bit, ...) PLUMB_DOING_##name = (bit),
#include <plumb/words.def>
};

/** Kinds of frames; a set: PLUMB_KIND_PYTHON, _NATIVE, ... */
enum plumb_kind {
#define PLUMB_KIND(name, number, ...) PLUMB_KIND_##name = 1 << (number),
#include <plumb/words.def>
};

/** Which native frames, and of the kernel, are shown of those that a recording has. */
enum plumb_native_shown {
	PLUMB_NATIVE_SHOWN_AS_RECORDED, /* as was asked for when it was recorded */
	PLUMB_NATIVE_SHOWN_OFF,
	PLUMB_NATIVE_SHOWN_LEAF,     /* those that no Python frame is inside of */
	PLUMB_NATIVE_SHOWN_CALLABLE, /* without those of the interpreter that only pass a call on, or run Python code */
	PLUMB_NATIVE_SHOWN_ALL,
};

struct plumb_report_options {
	size_t size;	    /* sizeof(struct plumb_report_options) */
	const char *format; /* "text", "json", "markdown", "collapsed", "plumb" (a recording); see plumb_format_at() */
	enum plumb_idle idle;
	const char *const *threads; /* only these, by name or decimal tid; NULL: all */
	size_t thread_count;
	const char *const *processes; /* only these, by name or decimal pid; NULL: all */
	size_t process_count;
	bool lines; /* rows are lines instead of functions */
	bool full_names;
	bool no_escape;	       /* collapsed: leave names as they are */
	bool color, ascii;     /* text */
	int width;	       /* text; 0: 80 */
	const char *recording; /* text: shown in the next commands; NULL: none */

	/* What of the profile is written. Zeros: all. */
	uint64_t from_ns, to_ns;    /* the samples of this time since the start; to_ns 0: to the end */
	unsigned states;	    /* set of enum plumb_doing: samples of which one is true */
	unsigned kinds;		    /* set of enum plumb_kind: other frames are left out of the stacks */
	const char *const *modules; /* samples with a frame of one of these modules, packages, files or folders */
	size_t module_count;
	const char *focus, *ignore; /* POSIX extended: samples with, without a frame whose "function file" matches */
	bool functions;		    /* leave out lines, columns and opcodes */
	double min_share;	    /* lighter subtrees are counted at their parent; 0.01 is one percent */

	bool seed_flavour;   /* flamegraph-json: as CPython's collector was at first, not as in 3.15.2 */
	const char *made_by; /* named in the output where it has a place for it: "plumb 0.1.0: plumb convert a b" */
	/* Told what the format has no room for and the like, in whole sentences; NULL: nobody. */
	void (*note)(void *ctx, const char *message);
	void *note_ctx;

	const char *program;	 /* text: how plumb is called, in the next commands; NULL: "plumb" */
	const char *page_option; /* text: "--open" or "--html", the next command that makes the page; NULL: none */

	int top; /* text, Markdown: rows of each table, however light or unsure, up to PLUMB_TOP_MAX; 0: 25 lines in all
		  */
	bool quality; /* text: the details behind its line of quality, too */

	/* Counts as the program's own code, as plumb_profile_set_own() takes it, for what is written now; 0: as there.
	 */
	const char *const *own;
	size_t own_count;

	/* Nothing but `threads` and `processes` was sampled: one that there was not is told of in what is written. Else
	 * it is PLUMB_ERR_INVALID. */
	bool chosen_before;

	/* Samples with these labels: "name=value", or "name" for any value. Of each name that is given, one has to be
	 * there. */
	const char *const *tags;
	size_t tag_count;

	bool annotate; /* collapsed: functions of the kernel end with _[k] */

	/* A recording that is written keeps all if nothing is asked for. */
	enum plumb_native_shown native;

	/* Of a recording that is written: the file whose place it is to take, which stays if it is a recording with
	 * samples, and there is none to write (PLUMB_ERR_EXISTS). NULL: whatever is there may go. */
	const char *replaces;
};
#define PLUMB_TOP_MAX 100

#define PLUMB_REPORT_OPTIONS_INIT                                                                                      \
	{                                                                                                              \
		.size = sizeof(struct plumb_report_options), .format = "text"                                          \
	}

/** How a recording file ended. */
struct plumb_recording_info {
	bool complete;		/* false: all whole chunks were read */
	const char *missing;	/* why it is not complete, and what is missing, in words; NULL: it is */
	uint64_t ignored_bytes; /* after the last whole chunk */
	bool another;		/* recording begins in these bytes: files were put together */
	uint64_t damaged_chunks;
	const char *format; /* what it is: "plumb", or a format of plumb_input_format_at() */
	uint64_t skipped;   /* lines or records of another format that were no samples */
};

/**
 * Read a recording or, by its content or else its name, a file of another tool, compressed by gzip or not; "-" is
 * standard input. @param info may be NULL. Errors: PLUMB_ERR_NOT_FOUND, PLUMB_ERR_NOT_A_RECORDING,
 * PLUMB_ERR_NEWER_RECORDING, PLUMB_ERR_EMPTY, PLUMB_ERR_CORRUPT, PLUMB_ERR_LIMIT, PLUMB_ERR_SYSTEM,
 * PLUMB_ERR_WRITE_FAILED (a temporary file). Owner of *ret: caller, plumb_profile_destroy().
 */
PLUMB_API struct plumb_error *plumb_profile_open(const char *path, struct plumb_recording_info *info,
						 struct plumb_profile **ret) PLUMB_MUST_CHECK;
/** The same; @p from names the format, NULL: to be found out. Errors: PLUMB_ERR_UNKNOWN_FORMAT also. */
PLUMB_API struct plumb_error *plumb_profile_open_as(const char *path, const char *from,
						    struct plumb_recording_info *info,
						    struct plumb_profile **ret) PLUMB_MUST_CHECK;
PLUMB_API void plumb_profile_destroy(struct plumb_profile *p);

/** Take the code of @p names (modules, packages, files or folders) for the program's own though it lies where libraries
 * do, in all that is written of @p p from now on; it replaces what the recording has. Errors: PLUMB_ERR_NO_MEMORY,
 * PLUMB_ERR_LIMIT. */
PLUMB_API struct plumb_error *plumb_profile_set_own(struct plumb_profile *p, const char *const *names,
						    size_t count) PLUMB_MUST_CHECK;

/** What passes the filters of @p o, with its own code, but for those that every comparison and text makes itself
 * (threads, processes, idle), as a profile of its own, which must go before @p p does. *ret is NULL if there is nothing
 * to filter. Errors: PLUMB_ERR_INVALID, PLUMB_ERR_CORRUPT (see below), PLUMB_ERR_NO_MEMORY. Owner of *ret: caller. */
PLUMB_API struct plumb_error *plumb_profile_refine(const struct plumb_profile *p, const struct plumb_report_options *o,
						   struct plumb_profile **ret) PLUMB_MUST_CHECK;

/** What came of looking for the names of native functions that had none when they were sampled, and for lines. */
struct plumb_symbolized {
	size_t unnamed, named;	       /* functions without a name, and how many of them have one now */
	size_t files, files_missing;   /* that these are in, and of how many nothing is here */
	size_t places, told, left_out; /* instructions without a line, how many of them have one now, and how many were
					  left out: there was too much debug information to look through */
};
/** Names of the native functions of @p p that no symbol named, and where debug information is here lines and functions
 * that were compiled into others, by their build-id: of what PLUMB_DEBUG_PATH and /usr/lib/debug have, and of the very
 * file, if it is here. *ret has them, is a profile of its own, and must go before @p p does; NULL: nothing was found.
 * @p missing (may be NULL) is told each file of which nothing is here. Errors: those of plumb_profile_refine(). Owner
 * of *ret: caller. */
PLUMB_API struct plumb_error *plumb_profile_symbolize(
	const struct plumb_profile *p, void (*missing)(void *ctx, const char *path, const char *build_id), void *ctx,
	struct plumb_symbolized *info, struct plumb_profile **ret) PLUMB_MUST_CHECK;

/** Write what @p o chooses of @p p to the file descriptor @p fd (not closed). Errors: PLUMB_ERR_UNKNOWN_FORMAT,
 * PLUMB_ERR_WRITE_FAILED, PLUMB_ERR_INVALID (a choice that cannot be made), PLUMB_ERR_CORRUPT (the file that @p p was
 * read from has changed), PLUMB_ERR_NOT_BUILT (see plumb_format_check). */
PLUMB_API struct plumb_error *plumb_profile_write(const struct plumb_profile *p, const struct plumb_report_options *o,
						  int fd) PLUMB_MUST_CHECK;

/** The same in the format "plumb" to the file @p path, which is made or replaced. Errors: PLUMB_ERR_EXISTS (there is a
 * file that plumb did not write, or a recording with samples, and @p p has none), too. */
PLUMB_API struct plumb_error *plumb_profile_save(const struct plumb_profile *p, const char *path) PLUMB_MUST_CHECK;
/** The same; @p force: whatever file is there is replaced. Until all is written it is there, and @p p may be read from
 * it. */
PLUMB_API struct plumb_error *plumb_profile_save_as(const struct plumb_profile *p, const char *path,
						    bool force) PLUMB_MUST_CHECK;

/** A function in the tree of calls. Strings live as long as the profile, end with a NUL and may contain others. */
struct plumb_tree_node {
	uint32_t depth; /* 0: the root */
	const char *name, *qualname, *file;
	size_t name_len, qualname_len, file_len;
	uint32_t firstline;
	int32_t line;	  /* where it was first seen; 0: none */
	uint64_t samples; /* with all below it */
	enum plumb_kind kind;
	const char *text; /* of that line, see plumb_profile_walk_lines(); NULL: none */
	size_t text_len;
};
/** Called for each node; an error ends the walk. */
typedef struct plumb_error *plumb_tree_fn(void *ctx, const struct plumb_tree_node *node);
/** All of @p p as one tree of functions, told apart by name, file and first line: threads and lines are added up. Nodes
 * come before what is below them, siblings as they were first seen; the first is the root, whose texts are empty.
 * Errors: of @p fn, PLUMB_ERR_NO_MEMORY, PLUMB_ERR_LIMIT (it is of a file that is far too small for so many). */
PLUMB_API struct plumb_error *plumb_profile_walk(const struct plumb_profile *p, plumb_tree_fn *fn,
						 void *ctx) PLUMB_MUST_CHECK;

struct plumb_lines;

/** Lines of the source texts that @p p has. Not those of files of the disk, which a recording may name as it likes.
 * NULL: no memory. */
PLUMB_API struct plumb_lines *plumb_lines_create(const struct plumb_profile *p);
PLUMB_API void plumb_lines_destroy(struct plumb_lines *l);
/** As plumb_profile_walk(), and nodes have the texts of their lines, without what is blank at the beginning and without
 * the line break. They live as long as @p lines, which are of @p p. */
PLUMB_API struct plumb_error *plumb_profile_walk_lines(const struct plumb_profile *p, struct plumb_lines *lines,
						       plumb_tree_fn *fn, void *ctx) PLUMB_MUST_CHECK;

/** Figures of a profile. Strings live as long as the profile. */
struct plumb_profile_info {
	uint64_t start_real_ns, duration_ns;
	uint64_t period_ns; /* 0: as fast as possible, or unknown */
	uint64_t samples, weight_ns;
	uint32_t threads, processes;
	uint64_t ticks, missed, unreadable, queue, damaged, unseen, beyond, folded, task, native, events,
		lines;				    /* rounds; what was lost, see struct plumb_status */
	uint64_t exact, stopped, doubtful, partial; /* samples by how sure their stacks are */
	uint64_t profiler_cpu_ns;
	const char *mode; /* "wall", "cpu", "gil" */
	const char *engine, *command, *plumb_version;
};
PLUMB_API void plumb_profile_info(const struct plumb_profile *p, struct plumb_profile_info *ret);

/** A format. */
struct plumb_format {
	const char *name, *suffix /* "" if none */, *summary;
};
/** The @p i-th format, from 0; false past the last. */
PLUMB_API bool plumb_format_at(size_t i, struct plumb_format *ret);
/** The format that the suffix of @p path names, NULL if none. */
PLUMB_API const char *plumb_format_for_path(const char *path);
/** Not for terminals. */
PLUMB_API bool plumb_format_is_binary(const char *name);
/** NULL if it can be written, else why this plumb cannot: PLUMB_ERR_NOT_BUILT. */
PLUMB_API struct plumb_error *plumb_format_check(const char *name) PLUMB_MUST_CHECK;
/** What is not lost in that format: "threads, lines, times"; false for reports, which are no profiles. */
PLUMB_API bool plumb_format_keeps(const char *name, char *ret, size_t size);
/** The @p i-th format that can be read, from 0; false past the last. */
PLUMB_API bool plumb_input_format_at(size_t i, struct plumb_format *ret);

#ifdef __cplusplus
}
#endif
#endif
