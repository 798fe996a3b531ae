/* SPDX-License-Identifier: Apache-2.0 */
/* A file that is written, so that nothing is lost by it: what has the name already keeps it until the new one is worth
 * having, and keeps it for good unless plumb wrote it. Files are their owner's alone (0600), as they hold source texts
 * and command lines. */
#ifndef PL_NEW_FILE_H
#define PL_NEW_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "error.h"
#include "older_file.h"
#include "own_fd.h"

/** What may be replaced. A pipe, a device or a terminal is written to and not replaced. */
enum pl_replace {
	PL_REPLACE_NONE, /* the name is free, or it is an error */
	/* what plumb wrote, or is empty, and nobody has open to write; links are not followed: the name is plumb's
	 * choice */
	PL_REPLACE_OURS,
	PL_REPLACE_NAMED, /* the same, and links are followed: the name was given */
	PL_REPLACE_ALL,	  /* whatever has the name when it is opened */
};

struct pl_new_file {
	int fd;			/* to write to and to read from; until it is discarded */
	struct pl_file_id file; /* which it is open for: it can be another one's by now */
	char *path;		/* as it is to be called */
	int dir;		/* where it is: its path can lead elsewhere by now; -1: nowhere */
	char *beside;		/* as it is called until it is published; NULL: as it is to be called */
	enum pl_replace replace;
	bool tried; /* it is only asked whether it could be written */
	struct pl_older_file older;
	bool made;   /* by plumb; else it was there, as a pipe or a device */
	bool kept;   /* whatever happens: it was published, under its name or beside it */
	bool shared; /* a file, and the place in it, with whoever has opened it: what is before and after is theirs */
	const atomic_bool *hurry; /* pl_new_file_heed() */
	bool deserted;		  /* a write was given up: nobody reads it */
};

#define PL_NEW_FILE_NONE ((struct pl_new_file){.fd = -1, .dir = -1})

/** Make it, beside its name; with PL_REPLACE_NONE under it, so that it is taken. The file is empty, and locked. What
 * leads to a file that plumb was started with (/dev/stdout, /dev/fd/N) is written through that. Links and pipes that
 * somebody else has made are not followed and not written to, but for root's. A pipe that nobody reads is given some
 * seconds. Errors: PLUMB_ERR_EXISTS, PLUMB_ERR_WRITE_FAILED; both name @p path, or where its links lead. */
struct plumb_error *pl_new_file_open(const char *path, enum pl_replace replace,
				     struct pl_new_file *ret) PLUMB_MUST_CHECK;
/** What is open already as @p fd, with a descriptor of its own; @p name is what it is called. Errors:
 * PLUMB_ERR_WRITE_FAILED. */
struct plumb_error *pl_new_file_share(int fd, const char *name, struct pl_new_file *ret) PLUMB_MUST_CHECK;
/** From now on pl_new_file_write() does not wait for ever for who reads a pipe or the like: from when @p hurry is true,
 * who wants to end has waited enough when nothing was read for some seconds. @p hurry lives as long as the file. */
void pl_new_file_heed(struct pl_new_file *f, const atomic_bool *hurry);
/** As write(2), but what a signal interrupts goes on. What is given up sets f->deserted. */
ssize_t pl_new_file_write(struct pl_new_file *f, const void *bytes, size_t len);
/** Nothing more is written. If somebody has taken the file away from its place, its content is beside its name again.
 * Errors: PLUMB_ERR_WRITE_FAILED. */
struct plumb_error *pl_new_file_finish(struct pl_new_file *f) PLUMB_MUST_CHECK;
/** Give it its name, for good; again: nothing. What it replaces is what had the name when it was opened, as it was
 * then, and nothing else, be it another plumb's, unless all is to be replaced. After an error the new file stays beside
 * it, as the error says, and it may be tried again. Errors: PLUMB_ERR_EXISTS, something else has the name;
 * PLUMB_ERR_WRITE_FAILED. */
struct plumb_error *pl_new_file_publish(struct pl_new_file *f) PLUMB_MUST_CHECK;
/** It cannot be written to or from: the program that we are in has closed it, and its number may be another file's.
 * NULL: it is open. Errors: PLUMB_ERR_WRITE_FAILED. */
struct plumb_error *pl_new_file_check(const struct pl_new_file *f) PLUMB_MUST_CHECK;
/** Where it is found: under its name, be it that it has it or will; beside it, if it could not be published. Owner:
 * @p f. */
const char *pl_new_file_path(const struct pl_new_file *f);
/** Give it another name, a free one. False: it is taken, or cannot be had. */
bool pl_new_file_rename(struct pl_new_file *f, const char *path);
/** Close and free; it was never there, unless it is published, or could not be. */
void pl_new_file_discard(struct pl_new_file *f);
/** Whether a file could be made beside @p path. Nothing is left of it. Errors: PLUMB_ERR_WRITE_FAILED. */
struct plumb_error *pl_new_file_try(const char *path) PLUMB_MUST_CHECK;
/** Whether pl_new_file_open() could open it, as far as that is known without opening a pipe or a device: who reads it
 * would come to its end. Nothing is left of it. Errors: as there. */
struct plumb_error *pl_new_file_try_open(const char *path, enum pl_replace replace) PLUMB_MUST_CHECK;

#endif
