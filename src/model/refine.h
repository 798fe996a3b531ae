/* SPDX-License-Identifier: Apache-2.0 */
/* Filters: a part of a profile as a profile of its own, so that no exporter has to know of them. */
#ifndef PL_REFINE_H
#define PL_REFINE_H

#include "profile.h"

/* What a thread was doing; a sample passes if one of those asked for is true of it. */
enum pl_pass {
#define PLUMB_DOING(name, bit, ...) PL_PASS_##name = (bit),
#include <plumb/words.def>
};

/** A frame that debug information tells of, of an instruction whose line was not known. */
struct pl_told_frame {
	const char *name; /* of a function that was compiled into the one before; NULL: it is that of the location */
	const char *source;
	int32_t line;  /* 0: not told, as is `source` then */
	bool plumbing; /* of one with a name */
};
/** What is told of one location; 0: nothing. */
struct pl_told {
	const struct pl_told_frame *frames; /* the outermost first */
	size_t count;
};

/** Zeros ask for nothing. Texts and lists are needed during pl_refine only. */
struct pl_refine {
	const char *const *threads; /* as those of struct pl_filter (view.h) */
	size_t thread_count;
	const char *const *processes;
	size_t process_count;
	uint64_t from_ns, to_ns;     /* samples of this time since the start; to_ns 0: to the end */
	unsigned doing;		     /* set of enum pl_pass */
	bool skip_idle;		     /* only samples on a CPU or holding the GIL */
	enum pl_native_shown native; /* with it no function is plumbing any more; AS_RECORDED: they stay as they are */
	unsigned kinds;		     /* set of 1 << enum pl_frame_origin; other frames are left out of the stacks */
	const char *const *modules;  /* samples with a frame of one of them: pl_refine_is_module */
	size_t module_count;
	const char *const *tags; /* samples with these labels: pl_labels_match */
	size_t tag_count;
	const char *focus, *ignore; /* POSIX extended; samples with, without a frame whose "function file" matches */
	bool functions;		    /* without lines, columns and opcodes */
	bool no_addresses;	    /* places of a function whose lines are not known are one */
	double min_share;	    /* subtrees with a smaller share of the weight are counted at their parent; 0..1 */
	const char *const
		*named; /* names for those that had none (pl_function.unnamed), by function; NULL: still none */
	const struct pl_told *told; /* lines for those that had none (pl_location.address), by location */
};

bool pl_refine_asks(const struct pl_refine *o);
/** What passes. It has the rows that are needed and no others, and begins at from_ns. Its stream, if @p p has one,
 * gives only what passes, and reads @p p, which must live as long. Errors: PLUMB_ERR_INVALID (a regular expression that
 * is none, a time where there are none), those of the stream, PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_refine(const struct plumb_profile *p, const struct pl_refine *o,
			      struct plumb_profile **ret) PLUMB_MUST_CHECK;

/** Is @p file, a path as in a profile, the module or in the package @p name? With a '/' or the suffix ".py" @p name is
 * a path: the file itself, its end, or a folder it is in. Else it is dotted: "json.decoder" is ".../json/decoder.py"
 * and all in ".../json/decoder/"; where the path has a folder that modules are found in (site-packages, lib/python3.12)
 * the name begins right behind it. */
bool pl_refine_is_module(const char *file, const char *name);

#endif
