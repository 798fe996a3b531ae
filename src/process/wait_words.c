/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; any thread. */
#include "wait_words.h"

static const enum pl_dump_for words[] = {
	[PL_FOR_UNKNOWN] = PL_DUMP_FOR_UNKNOWN, [PL_FOR_LOCK] = PL_DUMP_FOR_LOCK,
	[PL_FOR_NOTICE] = PL_DUMP_FOR_NOTICE,	[PL_FOR_EVENT] = PL_DUMP_FOR_EVENT,
	[PL_FOR_BARRIER] = PL_DUMP_FOR_BARRIER, [PL_FOR_PERMIT] = PL_DUMP_FOR_PERMIT,
	[PL_FOR_ITEM] = PL_DUMP_FOR_ITEM,	[PL_FOR_ROOM] = PL_DUMP_FOR_ROOM,
	[PL_FOR_DONE] = PL_DUMP_FOR_DONE,	[PL_FOR_RESULT] = PL_DUMP_FOR_RESULT,
	[PL_FOR_THREAD] = PL_DUMP_FOR_THREAD,	[PL_FOR_TIME] = PL_DUMP_FOR_TIME,
	[PL_FOR_TASKS] = PL_DUMP_FOR_UNKNOWN,
};

enum pl_dump_for pl_wait_word(enum pl_wait_for what)
{
	return words[what];
}
