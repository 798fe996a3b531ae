/* SPDX-License-Identifier: Apache-2.0 */
/* The rule of locks: several threads wait for a lock at one line. Layer export; pure.
 *
 * That a thread waits, and at which line, is in its samples; that it is a lock that it waits for is in the text of the
 * line: nothing but the lock itself can wait in "with self.lock:", because its __enter__ would be a frame if it were
 * Python, and in "lock.acquire()". The queues and events of the standard library, which wait by a lock for something
 * to do, are none: threading.py and queue.py. Without the text of the file nothing is said.
 *
 * Who waits for a lock is not idle, however little of a CPU it used: threads that are left out for that count here. */
#include "faults.h"

#include <stdlib.h>
#include <string.h>

#include "frame_name.h"
#include "glyph.h"
#include "lock_waits.h"
#include "own_code.h"
#include "source_lines.h"

#define THREADS_LEAST 2
#define WAITED_MUCH   0.3  /* of the time of the threads that wait there */
#define ALL_MUCH      0.25 /* of the time of all threads */
#define HOLDER_MUCH   0.5  /* of what was waited for one lock */
#define ALONE	      0.9  /* of the time for which a function held it: that is one thread's */
#define ONE_WORKS     1.2  /* threads that do not wait there, in the middle */

#define NAME_BYTES   80
#define THREAD_BYTES 32

struct locks {
	const struct pl_fault_case *c;
	struct pl_filter filter; /* that of the case, with idle threads */
	struct pl_sources *sources;
	uint64_t *waited_ns; /* at each location */
	bool *threads;	     /* that wait at the worst of them */
	uint32_t thread_count;
	const struct pl_location *worst;
};

static const struct pl_location *location_of(const struct plumb_profile *p, uint32_t stack)
{
	return &p->locations[p->stacks[stack].location];
}

/* "with self.lock:", "with a, b[0]: f()"; not "with open(name):", in which anything can wait. */
static bool enters_a_plain_name(struct pl_text line)
{
	const char *end;

	line = pl_text_without_blanks_before(line);
	if (line.len < 5 || memcmp(line.s, "with ", 5) != 0)
		return false;
	end = memchr(line.s, ':', line.len);
	return end && !memchr(line.s, '(', (size_t)(end - line.s));
}

/* In a library it can be the inside of a queue. */
static bool may_acquire(const struct plumb_profile *p, const struct pl_function *f)
{
	return !pl_own_code_is_library(p, f) || pl_text_ends_with(pl_text_of(p, f->file), "/logging/__init__.py");
}

static bool is_at_lock(const struct locks *l, const struct pl_location *at)
{
	const struct plumb_profile *p = l->c->p;
	const struct pl_function *f = &p->functions[at->function];
	struct pl_text file = pl_text_of(p, f->file), line;

	if (pl_text_ends_with(file, "/threading.py") || pl_text_ends_with(file, "/queue.py") ||
	    !pl_sources_line(l->sources, f->file, at->line, &line))
		return false;
	return enters_a_plain_name(line) || (memmem(line.s, line.len, ".acquire(", 9) && may_acquire(p, f));
}

/* It is on no CPU, and not because of the GIL. */
static bool is_waiting(const struct pl_cell *c)
{
	return c->stack && !(c->state & (PL_STATE_ON_CPU | PL_STATE_UNKNOWN | PL_STATE_WANTS_GIL | PL_STATE_HAS_GIL));
}

static void add_up(struct locks *l)
{
	const struct plumb_profile *p = l->c->p;

	for (uint32_t i = 0; i < p->cell_count; i++) {
		const struct pl_cell *c = &p->cells[i];

		if (is_waiting(c) && pl_view_passes(p, &l->filter, c))
			l->waited_ns[p->stacks[c->stack].location] += c->weight_ns;
	}
}

/* Texts are looked at for those alone at which there is much waiting. */
static void find_worst(struct locks *l)
{
	const struct plumb_profile *p = l->c->p;
	double much = ALL_MUCH / 2 * (double)l->c->totals->weight_ns;
	uint64_t most = 0;

	for (uint32_t i = 0; i < p->location_count; i++) {
		if (l->waited_ns[i] <= most || (double)l->waited_ns[i] < much || !is_at_lock(l, &p->locations[i]))
			continue;
		most = l->waited_ns[i];
		l->worst = &p->locations[i];
	}
}

static bool waits_at_worst(const struct locks *l, const struct pl_cell *c)
{
	const struct pl_location *at = location_of(l->c->p, c->stack);

	return is_waiting(c) && at->function == l->worst->function && at->line == l->worst->line;
}

static void find_threads(struct locks *l)
{
	const struct plumb_profile *p = l->c->p;

	for (uint32_t i = 0; i < p->cell_count; i++) {
		const struct pl_cell *c = &p->cells[i];

		if (l->threads[c->thread] || !waits_at_worst(l, c) || !pl_view_passes(p, &l->filter, c))
			continue;
		l->threads[c->thread] = true;
		l->thread_count++;
	}
}

/* Of those that wait there and those that are shown. */
static enum pl_cell_kind of_all(const void *ctx, const struct pl_cell *c)
{
	const struct locks *l = ctx;

	if (!l->threads[c->thread] && !pl_view_passes(l->c->p, l->c->filter, c))
		return PL_CELL_OUT;
	return waits_at_worst(l, c) ? PL_CELL_HIT : PL_CELL_REST;
}

static enum pl_cell_kind of_threads(const void *ctx, const struct pl_cell *c)
{
	const struct locks *l = ctx;

	if (!l->threads[c->thread])
		return PL_CELL_OUT;
	return waits_at_worst(l, c) ? PL_CELL_HIT : PL_CELL_REST;
}

/* The lock that was waited for there. */
static const struct pl_lock_row *lock_at_worst(const struct locks *l, const struct pl_lock_blame *b)
{
	for (size_t i = 0; i < b->rows.len; i++)
		for (size_t k = 0; k < b->rows.data[i].places.len; k++)
			if (b->rows.data[i].places.data[k].function == l->worst->function &&
			    b->rows.data[i].places.data[k].line == l->worst->line)
				return &b->rows.data[i];
	return NULL;
}

/* The thread in which a function held it all but alone; NULL: several did. */
static const struct pl_lock_holding *one_thread(const struct plumb_profile *p, const struct pl_lock_row *lock,
						const struct pl_lock_place *held)
{
	const struct pl_lock_holding *h = &lock->holders.data[0];
	uint64_t ns = 0;

	for (size_t i = 0; i < lock->holders.len; i++) {
		const struct pl_lock_holding *other = &lock->holders.data[i];

		if (other->tid == h->tid && other->inside && p->locations[other->inside - 1].function == held->function)
			ns += other->held.weight_ns;
	}
	return (double)ns >= ALONE * (double)held->share.weight_ns ? h : NULL;
}

/* "; for 97 % of that wait it was held by main in work (app.py:20)" */
static void say_holder(const struct locks *l, const struct pl_lock_row *lock, struct pl_fault *fault)
{
	const struct plumb_profile *p = l->c->p;
	const struct pl_lock_place *held = lock->held_in.len ? &lock->held_in.data[0] : NULL;
	char thread[THREAD_BYTES] = "", name[NAME_BYTES] = "", file[NAME_BYTES] = "";

	if (!held || !pl_fault_is_sure(&held->share, HOLDER_MUCH))
		return;
	const struct pl_function *f = &p->functions[held->function];
	const struct pl_lock_holding *h = one_thread(p, lock, held);
	pl_glyph_add(name, sizeof name, pl_frame_qualname(p, f), l->c->unicode);
	pl_glyph_add(file, sizeof file, pl_text_short_path(pl_text_of(p, f->file)), l->c->unicode);
	if (h)
		pl_glyph_add(thread, sizeof thread, pl_text_of(p, h->name), l->c->unicode);
	pl_fault_say(fault, "; for %.0f %% of that wait it was held", held->share.share * 100);
	if (*thread)
		pl_fault_say(fault, " by %s", thread);
	pl_fault_say(fault, " in %s (%s:%d)", name, file, (int)held->line);
	pl_fault_figure(fault, "holder", held->share.share);
}

static struct plumb_error *tell_holder(const struct locks *l, struct pl_fault *fault)
{
	struct pl_lock_blame blame;
	struct plumb_error *err = pl_lock_blame_find(l->c->p, &l->filter, &blame);
	const struct pl_lock_row *lock = err ? NULL : lock_at_worst(l, &blame);

	if (lock)
		say_holder(l, lock, fault);
	pl_lock_blame_deinit(&blame);
	return err;
}

static struct plumb_error *tell(const struct locks *l, const struct pl_share *waited, const struct pl_share *all,
				struct pl_faults *faults)
{
	struct pl_fault *fault = pl_fault_add(faults, "lock", all->share);

	pl_fault_say(fault, "%u threads waited for a lock for %.0f %% of their time, in ", l->thread_count,
		     waited->share * 100);
	pl_fault_name(fault, l->c, l->worst->function, l->worst->line);
	if ((1 - waited->share) * l->thread_count <= ONE_WORKS)
		pl_fault_say(fault, ": one works while the others wait");
	pl_fault_figure(fault, "waited", waited->share);
	pl_fault_figure(fault, "threads", l->thread_count);
	return tell_holder(l, fault);
}

static struct plumb_error *judge(struct locks *l, struct pl_faults *faults)
{
	const struct pl_fault_case *c = l->c;
	struct pl_share waited, all;
	struct plumb_error *err;

	add_up(l);
	find_worst(l);
	if (!l->worst)
		return NULL;
	find_threads(l);
	if (l->thread_count < THREADS_LEAST)
		return NULL;
	err = pl_view_share(c->p, &l->filter, of_all, l, &all);
	if (!err)
		err = pl_view_share(c->p, &l->filter, of_threads, l, &waited);
	if (!err && pl_fault_is_sure(&all, ALL_MUCH) && pl_fault_is_sure(&waited, WAITED_MUCH))
		err = tell(l, &waited, &all, faults);
	return err;
}

struct plumb_error *pl_fault_rule_lock(const struct pl_fault_case *c, struct pl_faults *faults)
{
	struct locks l = {.c = c,
			  .filter = *c->filter,
			  .sources = pl_sources_create(c->p),
			  .waited_ns = calloc((size_t)c->p->location_count + 1, sizeof *l.waited_ns),
			  .threads = calloc((size_t)c->p->thread_count + 1, sizeof *l.threads)};
	struct plumb_error *err = &pl_err_no_memory;

	if (l.filter.idle == PL_IDLE_HIDE_THREADS)
		l.filter.idle = PL_IDLE_KEEP;
	if (l.sources && l.waited_ns && l.threads)
		err = judge(&l, faults);
	pl_sources_destroy(l.sources);
	free(l.waited_ns);
	free(l.threads);
	return err;
}
