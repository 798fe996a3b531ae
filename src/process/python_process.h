/* SPDX-License-Identifier: Apache-2.0 */
/* A process that runs Python, open for reading: which Python it is, its threads, their stacks, and having them stand
 * still. Used by one thread at a time, and what is stopped by that one alone (ptrace's rule).
 * docs/design/012-one-process.md */
#ifndef PL_PYTHON_PROCESS_H
#define PL_PYTHON_PROCESS_H

#include "reading.h"
#include "roster.h"
#include "stopper.h"

struct pl_python_process {
	pid_t pid;
	struct pl_reader reader;
	struct pl_roster roster;
	struct pl_stopper stopper;
};

#endif
