/* SPDX-License-Identifier: Apache-2.0 */
/* Who may put another file in the place of one. For plumb-top, and for plumb that becomes it. */
#ifndef WRITERS_H
#define WRITERS_H

#include <stdbool.h>
#include <sys/types.h>

/** Whether nobody but root, @p uid and @p gid may write the file @p path, put another in its place, or lay one beside
 * it. @p path: absolute and without links, as of realpath(3). */
bool nobody_else_writes(const char *path, uid_t uid, gid_t gid);
/** The same of the file and its folder alone, whoever may put another folder in the place of that. */
bool nobody_else_writes_beside(const char *path, uid_t uid, gid_t gid);

#endif
