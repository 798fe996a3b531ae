/* SPDX-License-Identifier: Apache-2.0 */
/* Who has to wait for a file system is told what for. One thread. */
#ifndef PATIENCE_H
#define PATIENCE_H

/** From now on @p what (a name, which stays) may be waited for. If that is so for some seconds, in which we do nothing
 * else, it is said, once. */
void patience_begin(const char *what);
/** No more. */
void patience_end(void);

#endif
