/* SPDX-License-Identifier: Apache-2.0 */
/* From facts to findings. Pure: facts in, words out. Inside the layer only. */
#ifndef PL_FINDINGS_H
#define PL_FINDINGS_H

#include <plumb/doctor.h>

#include "error.h"
#include "examine.h"
#include "vec.h"

struct pl_finding {
	const char *id;
	bool of_process;
	enum plumb_finding_status status;
	char fact[640], cost[256], remedy[320];
	const char *unlocks; /* what the remedy would let the user do, "" if nothing that counts; after "to " */
};

struct plumb_doctor {
	int pid; /* 0: none */
	PL_VEC(struct pl_finding) findings;
	struct pl_finding spare; /* written to when there is no memory for another */
	bool no_memory, works;
	const char *reach; /* what can be sampled, if it works */
	char summary[1400];
	char *json;
};

/** A new finding; never NULL. */
struct pl_finding *pl_finding_add(struct plumb_doctor *d, const char *id, bool of_process,
				  enum plumb_finding_status status, const char *fmt, ...) PL_PRINTF(5, 6);
/** What it costs and what changes it, each "" if there is nothing to say. */
void pl_finding_costs(struct pl_finding *f, const char *cost, const char *remedy, const char *unlocks);

/* Each sets d->works and d->reach to what follows from its facts. */
void pl_findings_host(struct plumb_doctor *d, const struct pl_host_facts *f);
void pl_findings_process(struct plumb_doctor *d, const struct pl_process_facts *f);
void pl_findings_no_process(struct plumb_doctor *d, const struct plumb_error *why);
void pl_findings_python(struct plumb_doctor *d, const struct pl_python_facts *f);

/** The summary, once all findings are there. */
void pl_findings_conclude(struct plumb_doctor *d);

#endif
