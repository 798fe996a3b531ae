/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a file that a process has mapped, read aside (aside.h): whoever asks never waits for longer than he
 * is told. One question at a time; used by one thread, not in the program itself. */
#ifndef PL_SYMBOL_READER_H
#define PL_SYMBOL_READER_H

#include "aside.h"
#include "code_modules.h"
#include "elf_functions.h"
#include "file_lines.h"
#include "map.h"
#include "ration.h"

struct pl_symbol_job; /* private */

struct pl_symbol_reader {
	struct pl_asker asker;	  /* its question is open */
	uint64_t spent;		  /* of the work that may be done for all files together */
	struct pl_map by_process; /* pid -> what was spent for its files, in pages; it may take no more than its part */
	struct pl_file_lines *lines; /* of the last answer; NULL: there is none, or it was taken */
	uint64_t lines_spent;	     /* as `spent`, for debug information */
	struct pl_map lines_by_process;
	struct pl_ration perf_maps; /* these grow, and are read again: whoever asks keeps one of a process */
};

/** False: nobody can be asked any more. @p q is not kept. */
bool pl_symbol_ask(struct pl_symbol_reader *r, const struct pl_code_file *q);
/** The same for the debug information of the file: pl_symbol_take_lines. */
bool pl_symbol_ask_lines(struct pl_symbol_reader *r, const struct pl_code_file *q);
/** Wait for the answer, for @p timeout_ms at most; false: not yet. One that does not come in @p patience_ms after the
 * question is none. *ret: NULL if there is none; owner: caller. */
bool pl_symbol_answered(struct pl_symbol_reader *r, int timeout_ms, int patience_ms, struct pl_functions **ret);
/** The debug information of the file that the last answer was about; NULL: there is none, and none was left out. Owner:
 * caller. */
struct pl_file_lines *pl_symbol_take_lines(struct pl_symbol_reader *r);
/** What a question about lines of a file of @p pid may cost, and what it has cost. */
uint64_t pl_symbol_lines_left(const struct pl_symbol_reader *r, pid_t pid);
void pl_symbol_lines_note(struct pl_symbol_reader *r, pid_t pid, uint64_t spent);
/** A question about lines. */
struct pl_symbol_places {
	pid_t pid; /* whose file it is */
	uint64_t address;
	void (*tell)(void *ctx, const struct pl_dwarf_place *p);
	void *ctx;
	bool left_out; /* out: as of pl_file_lines_places; also where nothing more may be asked of files of `pid` */
};
/** pl_file_lines_places of @p l, NULL for none, with what is left for files of its process. */
size_t pl_symbol_places(struct pl_symbol_reader *r, struct pl_file_lines *l, struct pl_symbol_places *q);
/** Nothing more is asked: who still reads is left behind. */
void pl_symbol_reader_deinit(struct pl_symbol_reader *r);

#endif
