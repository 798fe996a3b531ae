/* SPDX-License-Identifier: Apache-2.0 */
/* A core file: the memory of a process that has ended, and what the kernel noted of its threads. The file is hostile
 * input: every offset is checked, every loop is bounded. */
#ifndef PL_CORE_H
#define PL_CORE_H

#include "maps.h"
#include "mem.h"
#include "rights.h"
#include "thread_clock.h"
#include "vec.h"

struct pl_core_thread {
	pid_t tid;  /* in the process's own pid namespace */
	int signal; /* that it received; 0: none */
	bool in_call;
	struct pl_activity_info call; /* the system call it was in, if in_call */
};
typedef PL_VEC(struct pl_core_thread) pl_core_thread_vec;

struct pl_core;

/** @p root: the directory that was the process's root, NULL: ours. @p trusted: what it names is opened with our own
 * rights. Errors: PLUMB_ERR_NOT_FOUND, PLUMB_ERR_NOT_A_CORE
 * (says what it is), PLUMB_ERR_NOT_SUPPORTED (32 bits, another machine), PLUMB_ERR_SYSTEM. */
struct plumb_error *pl_core_open(const char *path, const char *root, bool trusted,
				 struct pl_core **ret) PLUMB_MUST_CHECK;
void pl_core_close(struct pl_core *c);

/** What the core holds, and what it leaves out because it is in the files that were mapped, if they are still the same.
 */
struct pl_mem *pl_core_mem(struct pl_core *c);
/** All of them; equal paths have equal inodes, which mean nothing else, what is no file has 0. Owner: the core. */
const pl_mapping_vec *pl_core_maps(const struct pl_core *c);
/** The one that received the signal first. Owner: the core. */
const pl_core_thread_vec *pl_core_threads(const struct pl_core *c);
/** The first of that number; NULL: there is none. */
const struct pl_core_thread *pl_core_thread_of(const struct pl_core *c, pid_t tid);
pid_t pl_core_pid(const struct pl_core *c);
/** Command line, at most 79 bytes. */
const char *pl_core_command(const struct pl_core *c);
/** Path of the program, "" unknown. */
const char *pl_core_exe(const struct pl_core *c);
/** How long the file is; @p whole: how long it is when all is there that it says it holds, more if it was cut. */
uint64_t pl_core_length(const struct pl_core *c, uint64_t *whole);
/** Takes and returns what went wrong with the core, told as what it is if the core does not hold what was sought: it
 * was cut, or the kernel was told to leave it out. NULL stays NULL. */
struct plumb_error *pl_core_blame(const struct pl_core *c, struct plumb_error *err);
/** When the file was written, CLOCK_REALTIME. */
uint64_t pl_core_written_ns(const struct pl_core *c);
/** With which the files are opened that it names: those of the owner of the file, which the kernel makes the user of
 * the process. Of a file of root's, which may be anybody's process, those of the user that systemd-coredump has noted
 * at the file, unless that is root, else those that everybody has. */
void pl_core_rights(const struct pl_core *c, struct pl_rights *ret);

#endif
