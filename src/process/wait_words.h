/* SPDX-License-Identifier: Apache-2.0 */
/* What is waited for: in the words of the model, what src/cpython has found. */
#ifndef PL_WAIT_WORDS_H
#define PL_WAIT_WORDS_H

#include "dump_model.h"
#include "lock_wait.h"

enum pl_dump_for pl_wait_word(enum pl_wait_for what);

#endif
