/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; any thread. */
#include "wait_words.h"

_Static_assert(PL_FOR_TASKS == (int)PL_DUMP_FORS && PL_FOR_UNKNOWN == (int)PL_DUMP_FOR_UNKNOWN,
	       "both are made of one table");

enum pl_dump_for pl_wait_word(enum pl_wait_for what)
{
	return what < PL_FOR_TASKS ? (enum pl_dump_for)what : PL_DUMP_FOR_UNKNOWN;
}
