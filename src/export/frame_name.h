/* SPDX-License-Identifier: Apache-2.0 */
/* What a frame is called in an output. */
#ifndef PL_FRAME_NAME_H
#define PL_FRAME_NAME_H

#include "profile.h"

struct pl_text {
	const char *s; /* in the profile's string table */
	size_t len;
};

struct pl_text pl_text_of(const struct plumb_profile *p, uint32_t string);
/** What follows the last '/'. */
struct pl_text pl_text_basename(struct pl_text path);
/** As pl_text_basename, with the folder for files whose name says nothing: "json/__init__.py". */
struct pl_text pl_text_short_path(struct pl_text path);
/** Bytes of the line break that begins at @p s, @p len > 0 bytes; 0 if none. Readers differ in what they take for one:
 * all of Unicode's. */
size_t pl_text_line_break(const unsigned char *s, size_t len);
/** A command line without the folder of its program. */
struct pl_text pl_text_without_folder(struct pl_text command);
/** The command line, without the folder of the program unless @p full. */
struct pl_text pl_text_command(const struct plumb_profile *p, bool full);
/** Qualified name, or the plain one where there is none. */
struct pl_text pl_frame_qualname(const struct plumb_profile *p, const struct pl_function *f);
/** A frame without a place: a marker, or file "~" or no file at all with line 0. Shown by its name alone. */
bool pl_frame_is_bare(const struct plumb_profile *p, const struct pl_function *f, int32_t line);
bool pl_text_ends_with(struct pl_text t, const char *end);
/** Whether it is the function called @p name, without its class, of a file whose path ends with @p file. */
bool pl_frame_is(const struct plumb_profile *p, const struct pl_function *f, const char *name, const char *file);
/** A frame of the launcher of CPython's own profiler, which its outputs leave out. */
bool pl_frame_is_launcher(const struct plumb_profile *p, const struct pl_function *f);
/** What the frames on it were working for: "[route=/x]". */
bool pl_frame_is_tag(const struct plumb_profile *p, const struct pl_function *f);
/** What stands where the innermost frames could not be proved. */
bool pl_frame_is_unresolved(const struct plumb_profile *p, const struct pl_function *f);

#endif
