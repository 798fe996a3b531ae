/* SPDX-License-Identifier: Apache-2.0 */
/* Source files are opened and read by somebody else: a file system that does not answer (a network's, one in user
 * space) holds up whoever asks it, and no signal helps. So that is a process of its own, which can be left behind, and
 * whoever asks never waits for longer than he is told. One question at a time; used by one thread. */
#ifndef PL_SOURCE_READER_H
#define PL_SOURCE_READER_H

#include <sys/types.h>

#include "aside.h"
#include "file_text.h"
#include "target_file.h"

struct pl_source_question {
	pid_t pid;		  /* who names the file; 0: it is below `root` */
	struct pl_file_view view; /* with whose rights */
	const char *root, *path;
	struct pl_file_state known; /* is not read again; all 0: none is known */
	uint64_t max_len;	    /* in bytes */
};

enum pl_source_outcome {
	PL_SOURCE_NONE,	  /* no such file, or no plain one */
	PL_SOURCE_BARRED, /* not for those rights */
	PL_SOURCE_READ,
	PL_SOURCE_KNOWN,
	PL_SOURCE_TOO_LONG,
	PL_SOURCE_NO_MEMORY,
	PL_SOURCE_SILENT, /* no answer; whoever should give it was left behind */
};

struct pl_source_answer {
	enum pl_source_outcome outcome;
	struct pl_file_state state;
	bool moving; /* it was written to while it was read */
	char *text;  /* state.len bytes, the caller's to free; NULL: not read */
};

struct pl_source_job; /* private */

struct pl_source_reader {
	struct pl_asker asker; /* its question is open */
};

/** False: nobody can be asked any more. @p q is not kept. */
bool pl_source_ask(struct pl_source_reader *r, const struct pl_source_question *q);
/** Wait for the answer, for @p timeout_ms at most; false: not yet. One that does not come in @p patience_ms after the
 * question is PL_SOURCE_SILENT. */
bool pl_source_answered(struct pl_source_reader *r, int timeout_ms, int patience_ms, struct pl_source_answer *ret);
/** Nothing more is asked: who still reads is left behind. */
void pl_source_reader_end(struct pl_source_reader *r);

#endif
