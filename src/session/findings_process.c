/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: what the facts about one process mean for the user, and the summary of all findings. Pure. */
#include "findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NAMES_SHOWN 8

struct pl_finding *pl_finding_add(struct plumb_doctor *d, const char *id, bool of_process,
				  enum plumb_finding_status status, const char *fmt, ...)
{
	struct pl_finding f = {.id = id, .of_process = of_process, .status = status, .unlocks = ""};
	va_list args;

	va_start(args, fmt);
	vsnprintf(f.fact, sizeof f.fact, fmt, args);
	va_end(args);
	if (pl_vec_push(&d->findings, f))
		return &d->findings.data[d->findings.len - 1];
	d->no_memory = true;
	d->spare = f;
	return &d->spare;
}

void pl_finding_costs(struct pl_finding *f, const char *cost, const char *remedy, const char *unlocks)
{
	snprintf(f->cost, sizeof f->cost, "%s", cost);
	snprintf(f->remedy, sizeof f->remedy, "%s", remedy);
	f->unlocks = unlocks;
}

static struct pl_finding *add(struct plumb_doctor *d, const char *id, enum plumb_finding_status status,
			      const char *fact)
{
	return pl_finding_add(d, id, true, status, "%s", fact);
}

void pl_findings_no_process(struct plumb_doctor *d, const struct plumb_error *why)
{
	struct pl_finding *p = add(d, "process", PLUMB_FINDING_NO, plumb_error_message(why));

	pl_finding_costs(p, "there is nothing to sample", plumb_error_hint(why), "");
	d->works = false;
}

static void tell_access(struct plumb_doctor *d, const struct pl_process_facts *f)
{
	static const char cost[] = "it cannot be sampled";
	struct pl_finding *a;

	if (!f->refused) {
		add(d, "access", PLUMB_FINDING_OK, "plumb may read its memory");
	} else if (*f->cause) {
		a = pl_finding_add(d, "access", true, PLUMB_FINDING_NO, "the kernel does not let plumb read it: %s",
				   f->cause);
		pl_finding_costs(a, cost, f->remedy, "");
	} else {
		a = add(d, "access", PLUMB_FINDING_NO, plumb_error_message(f->refused));
		pl_finding_costs(a, cost, plumb_error_hint(f->refused), "");
	}
}

static void tell_tracer(struct plumb_doctor *d, const struct pl_process_facts *f)
{
	char remedy[64];
	const char *name = *f->tracer_name ? f->tracer_name : "a debugger";
	struct pl_finding *t;

	if (!f->tracer) {
		add(d, "tracer", PLUMB_FINDING_OK, "nobody traces it");
		return;
	}
	t = pl_finding_add(d, "tracer", true, PLUMB_FINDING_NO, "%s (pid %d) traces it", name, (int)f->tracer);
	snprintf(remedy, sizeof remedy, "end %s (pid %d)", name, (int)f->tracer);
	pl_finding_costs(
		t, "its threads cannot be stopped: a stack that changes too fast to be proved is shown in part only",
		remedy, "prove every stack");
}

static void tell_namespaces(struct plumb_doctor *d, const struct pl_process_facts *f)
{
	static const char unknown[] = "not known: that needs the right to read the process";
	static const char *const words[] = {
		[PL_UNKNOWN] = unknown, [PL_YES] = "the same as that of plumb", [PL_NO] = "another"};
	struct pl_finding *u;

	if (f->same_pid_ns == PL_NO && f->inner_pid)
		pl_finding_add(d, "pid-namespace", true, PLUMB_FINDING_OK, "another, where it is pid %d",
			       (int)f->inner_pid);
	else
		add(d, "pid-namespace", f->same_pid_ns == PL_UNKNOWN ? PLUMB_FINDING_NOTE : PLUMB_FINDING_OK,
		    words[f->same_pid_ns]);
	add(d, "mount-namespace", f->same_mnt_ns == PL_UNKNOWN ? PLUMB_FINDING_NOTE : PLUMB_FINDING_OK,
	    words[f->same_mnt_ns]);
	u = add(d, "user-namespace", f->same_user_ns == PL_YES ? PLUMB_FINDING_OK : PLUMB_FINDING_NOTE,
		words[f->same_user_ns]);
	if (f->same_user_ns == PL_NO)
		pl_finding_costs(u, "only rights that plumb has in that namespace count", "", "");
}

void pl_findings_process(struct plumb_doctor *d, const struct pl_process_facts *f)
{
	static const char *const modes[] = {"none", "strict", "a filter checks its system calls, not plumb's"};
	struct pl_finding *n;

	pl_finding_add(d, "process", true, PLUMB_FINDING_OK, "%d (%s) of user %s%s", (int)f->pid, f->comm, f->user,
		       f->descendant ? ", a descendant of plumb" : "");
	tell_access(d, f);
	n = add(d, "dumpable", f->not_dumpable ? PLUMB_FINDING_NOTE : PLUMB_FINDING_OK, f->not_dumpable ? "no" : "yes");
	if (f->not_dumpable)
		pl_finding_costs(n, "only root, or CAP_SYS_PTRACE, may read it", "", "");
	tell_tracer(d, f);
	tell_namespaces(d, f);
	add(d, "seccomp", PLUMB_FINDING_OK, f->seccomp >= 0 && f->seccomp <= 2 ? modes[f->seccomp] : "not known");
	d->works = !f->refused;
}

/* "python" is the file, "layout" what we know of what is in it. */
static bool tell_interpreter(struct plumb_doctor *d, const struct pl_python_facts *f)
{
	static const char cost[] = "it cannot be sampled";
	struct pl_finding *p;

	if (!f->found) {
		p = add(d, "python", PLUMB_FINDING_NO, f->error ? plumb_error_message(f->error) : "it has ended");
		pl_finding_costs(p, cost, f->error ? plumb_error_hint(f->error) : "", "");
		return false;
	}
	pl_finding_add(d, "python", true, PLUMB_FINDING_OK, "%s (%s), found by %s", f->path,
		       f->shared ? "a shared library" : "the program itself",
		       f->by_symbol ? "its symbols" : "its section .PyRuntime");
	if (f->verified) {
		p = pl_finding_add(d, "layout", true, *f->read_as ? PLUMB_FINDING_NOTE : PLUMB_FINDING_OK,
				   "CPython %s, by %s, verified on its threads", f->version,
				   f->from_debug_offsets ? "its own debug offsets" : "the built-in table");
		if (*f->read_as)
			pl_finding_costs(p,
					 "this Python is newer than this plumb knows: what it does in a new way is not "
					 "seen",
					 "update plumb", "");
		return true;
	}
	p = add(d, "layout", PLUMB_FINDING_NO, plumb_error_message(f->error));
	pl_finding_costs(p, cost, plumb_error_hint(f->error), "");
	return false;
}

static void tell_threads(struct plumb_doctor *d, const struct pl_python_facts *f)
{
	char names[512] = "";
	size_t len = 0, n = f->threads.len;

	for (size_t i = 0; i < n && i < NAMES_SHOWN && len < sizeof names; i++)
		len += (size_t)snprintf(names + len, sizeof names - len, "%s%.40s (%d)", i ? ", " : ": ",
					f->threads.data[i].name, (int)f->threads.data[i].tid);
	if (n > NAMES_SHOWN && len < sizeof names)
		snprintf(names + len, sizeof names - len, " and %zu more", n - NAMES_SHOWN);
	struct pl_finding *t = pl_finding_add(d, "threads", true, n ? PLUMB_FINDING_OK : PLUMB_FINDING_NO,
					      "%zu thread%s with Python%s", n, n == 1 ? "" : "s", names);
	if (!n)
		pl_finding_costs(t, "there is nothing to sample", "", "");
}

/* Told only if it is so: a thread runs compiled code at one moment and none at the next. */
static void tell_jit(struct plumb_doctor *d, const struct pl_python_facts *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->threads.len; i++)
		n += f->threads.data[i].jit;
	if (!n)
		return;
	struct pl_finding *j =
		pl_finding_add(d, "jit", true, PLUMB_FINDING_NOTE,
			       "%zu of %zu threads run code of Python's JIT compiler", n, f->threads.len);
	pl_finding_costs(
		j,
		"the line of an innermost frame may be behind, and functions compiled into their caller are not seen",
		"PYTHON_JIT=0 in the environment of the program", "");
}

static void tell_sample(struct plumb_doctor *d, const struct pl_python_facts *f)
{
	size_t read = 0, n = f->threads.len;
	uint32_t deepest = 0;
	struct pl_finding *s;

	for (size_t i = 0; i < n; i++) {
		read += f->threads.data[i].read;
		if (f->threads.data[i].depth > deepest)
			deepest = f->threads.data[i].depth;
	}
	s = pl_finding_add(d, "sample", true,
			   read && read == n ? PLUMB_FINDING_OK
			   : read	     ? PLUMB_FINDING_NOTE
					     : PLUMB_FINDING_NO,
			   "%zu of %zu stacks read without stopping a thread, the deepest of %u frame%s", read, n,
			   deepest, deepest == 1 ? "" : "s");
	if (!read)
		pl_finding_costs(s, "it cannot be sampled", f->error ? plumb_error_message(f->error) : "", "");
	else if (read < n)
		pl_finding_costs(s,
				 "the others change too fast or have just ended; sampling stops a thread where it must",
				 "", "");
	d->works = read > 0;
}

void pl_findings_python(struct plumb_doctor *d, const struct pl_python_facts *f)
{
	d->works = false;
	if (!tell_interpreter(d, f))
		return;
	tell_threads(d, f);
	tell_jit(d, f);
	tell_sample(d, f);
}

/* ---- the summary ------------------------------------------------------------------------------------------------- */

/* The first finding of @p status that can be changed to the user's good; what is asked about a process is answered from
 * what was found of it. */
static const struct pl_finding *next_step(const struct plumb_doctor *d, enum plumb_finding_status status)
{
	for (size_t i = 0; i < d->findings.len; i++) {
		const struct pl_finding *f = &d->findings.data[i];

		if (f->of_process == (d->pid != 0) && f->status == status && *f->remedy && *f->unlocks)
			return f;
	}
	return NULL;
}

static const struct pl_finding *first_no(const struct plumb_doctor *d, bool of_process)
{
	for (size_t i = 0; i < d->findings.len; i++)
		if (d->findings.data[i].of_process == of_process && d->findings.data[i].status == PLUMB_FINDING_NO)
			return &d->findings.data[i];
	return NULL;
}

void pl_findings_conclude(struct plumb_doctor *d)
{
	const struct pl_finding *next = next_step(d, PLUMB_FINDING_NO);
	char what[64] = "here";
	int len;

	if (d->pid)
		snprintf(what, sizeof what, "pid %d", d->pid);
	if (d->works) {
		if (!next)
			next = next_step(d, PLUMB_FINDING_NOTE);
		len = snprintf(d->summary, sizeof d->summary, "plumb can sample %s now", d->pid ? what : d->reach);
		if (next)
			snprintf(d->summary + len, sizeof d->summary - (size_t)len, "; to %s: %s", next->unlocks,
				 next->remedy);
		return;
	}
	next = first_no(d, d->pid != 0);
	len = snprintf(d->summary, sizeof d->summary, "plumb cannot sample %s", what);
	if (next)
		snprintf(d->summary + len, sizeof d->summary - (size_t)len, ": %s%s%s", next->fact,
			 *next->remedy ? "; " : "", next->remedy);
}
