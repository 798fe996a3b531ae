/* SPDX-License-Identifier: Apache-2.0 */
/* A file that a process has mapped, opened by us. Inside the layer only. */
#ifndef PL_IMAGE_FILE_H
#define PL_IMAGE_FILE_H

#include "elf.h"
#include "maps.h"
#include "rights.h"
#include "target_file.h"
#include "work.h"

enum pl_image_rank {
	PL_IMAGE_EXE,	 /* the program itself */
	PL_IMAGE_PYTHON, /* its name says so */
	PL_IMAGE_OTHER,
};

/* Whose file it is. */
struct pl_image_place {
	pid_t pid;		    /* 0: a process that has ended, whose files are */
	const char *root;	    /* below this directory, */
	const struct pl_rights *as; /* opened with these rights. Both borrowed */
	const pl_mapping_vec *maps; /* all that it has mapped */
	/* Something of the files is shown: of the mapped ones alone, opened with the rights of this view of theirs,
	 * under which they were seen to be mapped. NULL: nothing is. Borrowed. */
	const struct pl_file_view *shown_to;
	struct pl_work *work; /* that may be done for all files together */
};

struct pl_image_file {
	const struct pl_mapping *map; /* one mapping of it, an executable one if there is any */
	enum pl_image_rank rank;
	struct pl_elf *elf; /* NULL until opened */
	bool failed;	    /* no route leads to it: asked only once */
	bool loaded;	    /* whatever its name: if no route leads to it, it may come from the process's memory */
	void *copy;	    /* its bytes, if they had to come from the process's memory */
};

/** Open @p f unless it is open or has failed before. Errors: as pl_elf_open_fd, PLUMB_ERR_NOT_FOUND: also if it
 * would take more work than is left. */
struct plumb_error *pl_image_file_open(const struct pl_image_place *place, struct pl_image_file *f) PLUMB_MUST_CHECK;
/** What to add to the file's symbols in this process. */
bool pl_image_file_bias(const struct pl_image_file *f, uint64_t *ret);
/** May be opened again afterwards. */
void pl_image_file_close(struct pl_image_file *f);

#endif
