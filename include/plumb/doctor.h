/* SPDX-License-Identifier: Apache-2.0 */
/* What of plumb works here and now, and the one change that makes the next thing work. */
#ifndef PLUMB_DOCTOR_H
#define PLUMB_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include <plumb/error.h>

#ifdef __cplusplus
extern "C" {
#endif

enum plumb_finding_status {
	PLUMB_FINDING_OK,
	PLUMB_FINDING_NO,   /* something that plumb can use does not work */
	PLUMB_FINDING_NOTE, /* not there or not known, and not needed for what was asked */
};

/** One thing that was looked at. Strings live as long as the doctor; "" where there is nothing to say. */
struct plumb_finding {
	const char *id;	 /* stable name, such as "yama" */
	bool of_process; /* about the process, else about this machine and ourselves */
	enum plumb_finding_status status;
	const char *fact;   /* what was found */
	const char *cost;   /* what does not work because of it */
	const char *remedy; /* the one command or setting that changes it */
};

struct plumb_doctor;

/**
 * Look at this machine and, unless @p pid is 0, at that process. What does not work is a finding, not an error, and so
 * is a process that does not exist. Starts a child of its own to try things on; stops nothing and writes to nothing.
 * Errors: PLUMB_ERR_NO_MEMORY, PLUMB_ERR_SYSTEM (no child can be made). Owner of *ret: caller.
 */
PLUMB_API struct plumb_error *plumb_doctor_examine(int pid, struct plumb_doctor **ret) PLUMB_MUST_CHECK;
PLUMB_API void plumb_doctor_destroy(struct plumb_doctor *d);

/** The @p i-th finding, from 0; false past the last. */
PLUMB_API bool plumb_doctor_at(const struct plumb_doctor *d, size_t i, struct plumb_finding *ret);
/** Can the process be sampled; without one: can a program that plumb starts be sampled? */
PLUMB_API bool plumb_doctor_works(const struct plumb_doctor *d);
/** All of it in one sentence. */
PLUMB_API const char *plumb_doctor_summary(const struct plumb_doctor *d);
/** All of it as JSON, schema plumb.doctor/1 (docs/user/doctor.md), one line. */
PLUMB_API const char *plumb_doctor_json(const struct plumb_doctor *d);

#ifdef __cplusplus
}
#endif
#endif
