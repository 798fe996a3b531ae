/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a program, found by rules. Each rule tells of a share of the time, and only where the whole of its
 * interval is above what the rule asks for. */
#ifndef PL_FAULTS_H
#define PL_FAULTS_H

#include "view.h"

struct pl_fault_figure {
	const char *name; /* "waited"; what each means: docs/user/json.md */
	double value;	  /* a share from 0 to 1, a number of things, or seconds */
};

struct pl_fault {
	const char *rule; /* "gil" */
	double cost;	  /* what it costs the program, a share of time; see pl_fault_add */
	char sentence[320];
	size_t name_at, name_len; /* the name of the program's that is in the sentence; 0 bytes: none */
	struct pl_fault_figure figures[4];
	int figure_count;
};

#define PL_FAULTS_MAX 7 /* one of each rule */

struct pl_faults {
	struct pl_fault list[PL_FAULTS_MAX];
	int count;
};

/** What the rules are asked about. */
struct pl_fault_case {
	const struct plumb_profile *p;
	const struct pl_filter *filter;
	const struct pl_totals *totals;	      /* of what passes the filter */
	double gil_held, gil_held_half_width; /* share of the time; 0 where it is not known */
	bool unicode;			      /* names are shown with more than ASCII */
};

/** Ask all rules; the one that costs most is the first of @p ret. Errors: PLUMB_ERR_NO_MEMORY. */
struct plumb_error *pl_faults_find(const struct pl_fault_case *c, struct pl_faults *ret) PLUMB_MUST_CHECK;

/* ---- between the files of it: each rule adds what it finds ---- */

/** Whether all of the interval of @p s is at least @p least. */
static inline bool pl_fault_is_sure(const struct pl_share *s, double least)
{
	return s->share - s->half_width >= least;
}
/** A new row of @p faults, which has room for one of each rule. Faults are told by what they cost, the dearest first,
 * as the text has room for two: @p cost is the share of the time that could be gained at most if there were no such
 * fault.
 * - What keeps threads from working (a lock, the GIL, no CPU) and what they do for nothing (garbage, imports): the
 * share of the time of all threads that are shown.
 * - An event loop that is held: the share of the time of the threads that run loops, whatever other threads do
 *   meanwhile. Whoever came to it had to wait.
 * - An event loop that waits costs nothing; to make it faster gains what the function that is told took. */
struct pl_fault *pl_fault_add(struct pl_faults *faults, const char *rule, double cost);
void pl_fault_figure(struct pl_fault *fault, const char *name, double value);
/** Append to the sentence, as far as there is room. */
void pl_fault_say(struct pl_fault *fault, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** Append the name of a function, and with @p line its place: "update (app.py:10)". At most one to a sentence. */
void pl_fault_name(struct pl_fault *fault, const struct pl_fault_case *c, uint32_t function, int32_t line);

struct plumb_error *pl_fault_rule_import(const struct pl_fault_case *c, struct pl_faults *faults) PLUMB_MUST_CHECK;
struct plumb_error *pl_fault_rule_event_loop(const struct pl_fault_case *c, struct pl_faults *faults) PLUMB_MUST_CHECK;
struct plumb_error *pl_fault_rule_loop_holds(const struct pl_fault_case *c, struct pl_faults *faults) PLUMB_MUST_CHECK;
struct plumb_error *pl_fault_rule_lock(const struct pl_fault_case *c, struct pl_faults *faults) PLUMB_MUST_CHECK;

#endif
