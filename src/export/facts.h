/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile tells, and what a format has no room for. */
#ifndef PL_FACTS_H
#define PL_FACTS_H

#include "export.h"

/** The facts (enum pl_fact) that @p p tells: two threads, a state, a line ... */
unsigned pl_facts_of(const struct plumb_profile *p);
/** The name of the lowest of @p facts, "threads"; NULL: there is none. */
const char *pl_fact_name(unsigned facts);

#endif
