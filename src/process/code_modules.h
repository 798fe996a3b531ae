/* SPDX-License-Identifier: Apache-2.0 */
/* The files that native functions are in. Those of all processes that have mapped the same file,
 * and have the same rights to files, are one. */
#ifndef PL_CODE_MODULES_H
#define PL_CODE_MODULES_H

#include "map.h"
#include "maps.h"
#include "target_file.h"

#define PL_MODULE_ID_MAX 64
#define PL_JIT_FILE	 "[jit]" /* what code of a JIT compiler is said to be in */
#define PL_NO_FILE	 "<code that is in no file>"

/** A file that a process has mapped. All borrowed. */
struct pl_code_file {
	pid_t pid;			 /* 0: nobody has it mapped; it is what is here by its path and build-id */
	const struct pl_file_view *seen; /* under which it had the file mapped; NULL: nobody has */
	const struct pl_mapping *map;	 /* an executable one of the file */
	const uint8_t *build_id;	 /* its own, may be empty */
	size_t build_id_len;
};

/** Immutable and at a fixed address once it is there: the consumer reads it. */
struct pl_code_module {
	uint32_t id;
	pid_t pid;		  /* the first process that had it mapped */
	struct pl_file_view seen; /* and how it saw files then */
	struct pl_mapping map;	  /* there: one that holds code */
	uint8_t build_id[PL_MODULE_ID_MAX];
	uint8_t build_id_len; /* 0: none */
	uint32_t same;	      /* the next one with this inode and hash; UINT32_MAX: none */
};

struct pl_code_modules {
	PL_VEC(struct pl_code_module *) all; /* by id */
	struct pl_map by_file;
};

void pl_code_modules_deinit(struct pl_code_modules *m);
/** The functions that a JIT compiler in process @p pid names in its perf map (os/perf_map.h), as that is after look
 * @p look. Errors: as pl_code_modules_find. */
struct plumb_error *pl_code_modules_perf_map(struct pl_code_modules *m, pid_t pid, const struct pl_file_view *seen,
					     uint32_t look, const struct pl_code_module **ret) PLUMB_MUST_CHECK;
bool pl_code_module_is_perf_map(const struct pl_mapping *map);

/** That of @p f, which is not kept. Errors: pl_err_limit, PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_code_modules_find(struct pl_code_modules *m, const struct pl_code_file *f,
					 const struct pl_code_module **ret) PLUMB_MUST_CHECK;

#endif
