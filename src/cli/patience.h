/* SPDX-License-Identifier: Apache-2.0 */
/* Who has to wait for a file system is told what for. One thread. */
#ifndef PATIENCE_H
#define PATIENCE_H

/** From now on @p what (a name, which stays) may be waited for. If that is so for some seconds, in which we do nothing
 * else, it is said, once. */
void patience_begin(const char *what);
/** The same of a file @p path that is written, but not of one whose reader is waited for: a pipe, a device. */
void patience_for_output(const char *path);
/** No more. */
void patience_end(void);

#endif
