/* SPDX-License-Identifier: Apache-2.0 */
/* Small files under /proc, read whole. Inside the layer only. */
#ifndef PL_PROC_FILE_H
#define PL_PROC_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define PL_STATUS_MAX 4096

/** Read /proc/@p pid/@p name (/proc/self/... for pid 0), at most @p size - 1 bytes, and append a NUL. -1: see errno. */
ssize_t pl_proc_file(pid_t pid, const char *name, char *buf, size_t size);
/** The same, but of what is longer the middle is left out, and the end of it is there. */
ssize_t pl_proc_file_ends(pid_t pid, const char *name, char *buf, size_t size);
/** The same of a status file, without its list of groups, which may have 65,536: what is left fits into
 * PL_STATUS_MAX bytes, and those on the stack of a thread of a program, which may be small. */
ssize_t pl_proc_status(pid_t pid, const char *name, char *buf, size_t size);
/** What is behind a link of /proc, or a descriptor's: only what the kernel knows by itself, as device, number and kind
 * are. The file may be on a server that does not answer, and whoever asks it waits where no signal helps. */
bool pl_proc_look_behind(const char *link, struct statx *ret);
/** Which file that is. */
bool pl_proc_identify(const char *link, uint64_t *dev, uint64_t *ino);
/** Did a call fail because we, or the machine, have no file descriptor left? */
bool pl_out_of_descriptors(int errnum);
/** The text behind "@p key:" and its blanks in a status file, up to the end of its line; NULL if there is none. */
const char *pl_proc_status_field(const char *status, const char *key);
/** The number behind @p key in @p base (10 or 16), @p fallback if there is none. */
uint64_t pl_proc_status_number(const char *status, const char *key, int base, uint64_t fallback);
/** Field @p n (1-based, 3 and up) of a stat file, whose comm may hold blanks and brackets; false if there is none.
 * Of one below 0 (a nice value) the two's complement. */
bool pl_proc_stat_field(const char *stat, int n, uint64_t *ret);
/**
 * Whose files under /proc tell of the memory, the files and the root of process @p pid: those of a main thread that has
 * ended are empty while other threads live on. @p pid itself as long as it lives, else the first thread that does.
 */
pid_t pl_proc_live_task(pid_t pid);
/** The last part of a path; "" for one that ends with a slash. */
const char *pl_base_name(const char *path);

#endif
