/* SPDX-License-Identifier: Apache-2.0 */
/* The code that a process has mapped: images for src/unwind, and the names of their functions. */
#ifndef PL_NATIVE_PLACE_H
#define PL_NATIVE_PLACE_H

#include <sys/types.h>

#include "jit_code.h"
#include "mapped_lines.h"
#include "maps.h"
#include "mem_pages.h"
#include "rules.h"
#include "target_file.h"
#include "unwind.h"

struct pl_code_module;

/** What is known of an image beside what src/unwind knows. */
struct pl_native_file {
	const struct pl_mapping *map;	     /* one of it that holds code */
	const struct pl_jit_piece *jit;	     /* it is in no file, but code of a JIT compiler; NULL: it is not */
	const struct pl_code_module *module; /* of whoever samples; NULL: not asked for yet */
	struct pl_functions *functions;
	struct pl_dwarf *lines;	 /* its debug information */
	bool asked, lines_asked; /* whether there are any */
	bool greenlets;		 /* it is the library of greenlets */
	pl_addr data_end;	 /* of the data behind it that is in no file, but its own (.bss) */
	bool begun;		 /* `beginning` was read: not of more images than programs have */
	uint64_t beginning;	 /* a hash of what it begins with; 0: that could not be read */
};

struct pl_native_place {
	pid_t pid;
	struct pl_mem *live;
	struct pl_mem_pages *pages;    /* over it: of tables, which do not change */
	struct pl_unwind_rules *rules; /* that were found in them */
	struct pl_file_view seen;      /* of files by the process, under which it had `maps` */
	pl_mapping_vec maps;
	PL_VEC(struct pl_unwind_image) images; /* sorted */
	PL_VEC(struct pl_native_file) files;   /* of each image */
	struct pl_jit_code jit;
	uint64_t look_work;	       /* of the last look at all of it, in units of struct pl_work */
	struct pl_functions *perf_map; /* of code that is in no image */
	bool perf_map_asked;
	struct pl_work work;
	struct pl_work lines_work; /* names are not to be missing for lines */
};

/** Errors: PLUMB_ERR_NO_MEMORY, those of pl_maps_read. Release with pl_native_place_deinit, also after an error. */
struct plumb_error *pl_native_place_init(struct pl_native_place *p, pid_t pid, struct pl_mem *live) PLUMB_MUST_CHECK;
void pl_native_place_deinit(struct pl_native_place *p);
/** Look again at what is mapped. *changed_ret: other images than before; what is known of those that stay is kept.
 * Errors: as pl_native_place_init; it is as it was then. */
struct plumb_error *pl_native_place_look(struct pl_native_place *p, bool *changed_ret) PLUMB_MUST_CHECK;

/** Has a JIT compiler made or dropped code since the last look? */
bool pl_native_place_has_new_jit(const struct pl_native_place *p);

#define PL_NATIVE_ASK_WORK (PL_WORK_CALL + 1024u) /* units of struct pl_work, of each image below */
#define PL_NATIVE_ASKED	   64			  /* images at once */
/** Are all of these still there? A library that was closed may have given its place to another one. At most
 * PL_NATIVE_ASKED of them. */
bool pl_native_place_holds(const struct pl_native_place *p, const uint32_t *images, uint32_t count);

/** Images are what is mapped of one file in a row, if some of it is code; sorted, appended to @p images and @p files.
 * Pure. False without memory. */
bool pl_native_images_of(const pl_mapping_vec *maps, struct pl_native_place *p);

/** Bytes that can be read from @p addr on as one stack: to the end of what is mapped there; 0: nothing is known of it.
 */
uint64_t pl_native_place_room(const struct pl_native_place *p, pl_addr addr);

/** Is all of it code in one mapping, as far as that is known? */
bool pl_native_place_is_code(const struct pl_native_place *p, pl_addr addr, uint64_t len);

/** The image whose code or data @p addr is; PL_NO_IMAGE: none. */
uint32_t pl_native_place_owner(const struct pl_native_place *p, pl_addr addr);

/** Read the functions of image @p i, which is done when the first one is asked for, and keep no names but those of the
 * eval loop. */
void pl_native_place_read_evals(struct pl_native_place *p, uint32_t i);
/** The name of the function that runs at @p place in image @p i, by the tables beginning at @p begin (0: not known).
 * NULL: it has none. */
const char *pl_native_place_name(struct pl_native_place *p, uint32_t i, pl_addr place, pl_addr begin);

/** The same of code that is in no image, by the process's perf map. */
const char *pl_native_place_perf_name(struct pl_native_place *p, pl_addr place);

/** Tell where in its source code the instruction at @p place in image @p i is from, as pl_dwarf_places. */
void pl_native_place_lines(struct pl_native_place *p, uint32_t i, pl_addr place,
			   void (*tell)(void *ctx, const struct pl_dwarf_place *p), void *ctx);

#endif
