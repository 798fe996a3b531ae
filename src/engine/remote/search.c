/* SPDX-License-Identifier: Apache-2.0 */
/* Layer engine, sampling thread only: the Python of one process. A process may run none, be about to run one, execute
 * another program at any moment, or map an interpreter late.
 *
 * Looking into the files of a process takes far longer than a sample, so it is done when the process has become another
 * program, and again only if its memory has grown. How long it takes is up to whoever made the files. So each look is
 * short, which is enough for nearly all programs, and the longer looks are, the fewer there are. What takes longer
 * waits for its turn. However many processes there are, a fifth of the time and a twentieth is what both take. */
#include "search.h"

#include <errno.h>
#include <string.h>

#include "clock.h"
#include "debug.h"
#include "mode.h"
#include "proc_file.h"
#include "remote_engine.h"
#include "send.h"
#include "target.h"

#define PAUSE_MIN_NS 500000ull
#define PAUSE_MAX_NS 20000000ull

#define LITTLE_PAUSE 10		  /* to the next look at this process: so many times as long as the last one took */
#define ALL_PAUSE    5		  /* between all looks at all processes, on average */
#define COSTLY_PAUSE 20		  /* between turns */
#define AHEAD_NS     500000000ull /* many processes may begin at once */
#define FULL_PAUSES  4		  /* a program that grows all the time is looked into at every fourth look only */

static struct plumb_error *check_mode(const struct pl_engine *e, const struct pl_target *t, const struct pl_py *py)
{
	const struct pl_mode_rules *mode = pl_mode_rules(e->options.mode);

	return mode->check ? mode->check(t->python.pid, pl_mem_live_mem(t->search.find.live), py) : NULL;
}

static void attach(struct pl_engine *e, struct pl_target *t, const struct pl_py *py, struct pl_work *work)
{
	if (!t->python.stopper.started_ns) /* an exec gives nothing back */
		pl_stood_still_begin(&t->still, pl_clock_monotonic_ns());
	pl_python_process_attach(&t->python, py, t->search.find.live, e->options.stop, &e->beside, work);
	t->search.find.live = NULL;
	t->search.pause_ns = PAUSE_MIN_NS;
	t->forked = t->search.seen.forked;
	t->attached = true;
	pl_used_cpu_begin(t);
	t->announced = false; /* as the program it is now */
	pl_send_look_at_view(e, t);
	e->attached_count++;
	e->now.found_python = true;
	pl_debug(PL_DEBUG_ENGINE, "process %d is sampled", (int)t->python.pid);
}

struct plumb_error *pl_search_attach(struct pl_engine *e, struct pl_target *t, struct pl_work *work)
{
	struct pl_find *f = &t->search.find;
	struct pl_py py;
	struct plumb_error *err = pl_find_python(f, t->python.pid, work, &py);

	if (err)
		return err;
	if ((err = check_mode(e, t, &py)))
		pl_find_failed(f, err);
	else
		attach(e, t, &py, work);
	return err;
}

void pl_search_detach(struct pl_engine *e, struct pl_target *t)
{
	pl_find_forget(&t->search.find);
	t->search.wanted = t->search.costly = false;
	t->search.next_ns = 0;
	t->search.dev = t->search.ino = 0; /* what it runs next is looked into, also if it is the same program again */
	t->search.pause_ns = PAUSE_MIN_NS;
	if (!t->attached)
		return;
	t->attached = false;
	pl_used_cpu_end(e, t);
	e->attached_count--;
	pl_task_waits_forget(&t->waits);
	t->said = (struct pl_said_events){0};
	pl_python_process_detach(&t->python);
}

void pl_search_inherit(struct pl_target *t, const struct pl_target *parent)
{
	if (!parent->attached || !t->search.seen.forked)
		return;
	t->search.find.image = parent->search.find.image;
	t->search.dev = parent->search.dev;
	t->search.ino = parent->search.ino;
	t->search.find.image_known = t->search.inherited = true;
}

static bool same_program(const struct pl_search *s, const struct pl_proc_stat *now, uint64_t dev, uint64_t ino)
{
	return s->dev == dev && s->ino == ino && s->seen.forked == now->forked && strcmp(s->seen.comm, now->comm) == 0;
}

/* One that has ended is no error: its descriptor tells. */
static struct plumb_error *cannot_look(pid_t pid, int errnum)
{
	return pl_out_of_descriptors(errnum)
		       ? pl_error_errno(PLUMB_ERR_SYSTEM, errnum, "cannot look at pid %d", (int)pid)
		       : NULL;
}

/* Look at it; true if it should be looked into. */
static bool has_changed(struct pl_target *t, uint64_t now, struct plumb_error **ret_err)
{
	struct pl_search *s = &t->search;
	struct pl_proc_stat st;
	uint64_t dev = 0, ino = 0;

	errno = 0;
	if (!pl_proc_stat_read(t->python.pid, &st)) {
		*ret_err = cannot_look(t->python.pid, errno);
		return false;
	}
	(void)pl_proc_exe_id(t->python.pid, &dev, &ino);
	bool same = same_program(s, &st, dev, ino), grown = st.vsize != s->seen.vsize;

	s->costly &= s->dev == dev && s->ino == ino;
	s->seen = st;
	s->dev = dev;
	s->ino = ino;
	if (!same) {
		pl_find_forget(&s->find);
		s->pause_ns = PAUSE_MIN_NS;
		return true;
	}
	return s->find.image_known || (grown && now >= s->full_ns);
}

static void pause_longer(struct pl_search *s, uint64_t now, uint64_t looked_ns, bool starting)
{
	uint64_t least_ns = LITTLE_PAUSE * looked_ns;

	s->next_ns = now + (s->pause_ns > least_ns ? s->pause_ns : least_ns);
	s->pause_ns = starting ? s->pause_ns * 11 / 10 : s->pause_ns * 3 / 2;
	if (s->pause_ns > PAUSE_MAX_NS)
		s->pause_ns = PAUSE_MAX_NS;
}

/* A child of vfork has its parent's memory until it executes a program; its threads are the parent's, and none of them
 * is watched. What it executes can be the very same interpreter. */
static void check_borrowed(struct pl_engine *e, struct pl_target *t, uint64_t now)
{
	struct pl_proc_stat st;

	if (pl_proc_stat_read(t->python.pid, &st) && !st.forked)
		pl_search_detach(e, t);
	else
		pause_longer(&t->search, now, 0, true);
}

static bool may_look(const struct pl_engine *e, const struct pl_search *s, uint64_t now)
{
	return s->costly ? now >= e->costly_ns : s->find.image_known || now + AHEAD_NS > e->looks_ns;
}

/* A unit of work takes a nanosecond at most. */
static void note_look(struct pl_engine *e, bool turn, uint64_t now, uint64_t took_ns)
{
	if (turn)
		e->costly_ns = now + COSTLY_PAUSE * took_ns;
	else
		e->looks_ns = (now > e->looks_ns ? now : e->looks_ns) + ALL_PAUSE * took_ns;
}

/* A stack that was torn tells nothing as long as it is looked at again: a program that ends meanwhile was not met in
 * time, and nothing is wrong with it. */
static bool is_told(const struct pl_search *s, const struct plumb_error *err)
{
	return !s->find.image_known || plumb_error_code(err) == PLUMB_ERR_NOT_READY;
}

static struct plumb_error *look_into(struct pl_engine *e, struct pl_target *t, uint64_t now, uint64_t *looked_ns)
{
	struct pl_search *s = &t->search;
	bool turn = s->costly;
	struct pl_work work = {.most = turn ? PL_IMAGE_WORK : PL_LITTLE_WORK};
	struct plumb_error *err = pl_search_attach(e, t, &work);

	*looked_ns = turn ? 0 : work.spent;
	s->costly |= work.ran_out;
	s->wanted = s->costly && !turn && !t->attached;
	note_look(e, turn, now, work.spent);
	if (!s->wanted && is_told(s, err))
		return err;
	plumb_error_destroy(err);
	return NULL;
}

void pl_search_step(struct pl_engine *e, struct pl_target *t, uint64_t now, struct plumb_error **ret)
{
	*ret = NULL;
	if (now < t->search.next_ns || (t->attached && !(t->forked && t->python.threads.samplers.len == 0)))
		return;
	if (t->attached)
		check_borrowed(e, t, now);
	if (t->attached)
		return;
	struct pl_search *s = &t->search;
	uint64_t looked_ns = 0;

	(void)pl_beside_leave(&e->beside); /* that can take milliseconds */
	s->wanted |= s->inherited || has_changed(t, now, ret);
	s->inherited = false;
	bool tried = s->wanted && may_look(e, s, now);
	if (tried) {
		plumb_error_destroy(*ret); /* it could be looked into all the same */
		*ret = look_into(e, t, now, &looked_ns);
	}
	if (t->attached)
		return;
	pause_longer(s, now, looked_ns, plumb_error_code(*ret) == PLUMB_ERR_NOT_READY);
	if (!tried)
		return;
	s->full_ns = now + FULL_PAUSES * s->pause_ns;
	pl_debug(PL_DEBUG_ENGINE, "process %d: no Python yet; looked at again in %.1f ms%s", (int)t->python.pid,
		 (double)(s->next_ns - now) / 1e6, s->costly ? ", when it is its turn" : "");
}

/* Does @p err tell less about why nothing was sampled than what is known? A process that could not be looked at, for
 * want of memory or descriptors, may have been the one. */
static bool tells_less(const struct plumb_error *known, const struct plumb_error *err)
{
	enum plumb_error_code code = plumb_error_code(err), had = plumb_error_code(known);

	if (code == PLUMB_ERR_NO_PROCESS || code == PLUMB_ERR_TARGET_EXITED)
		return true;
	return (code == PLUMB_ERR_NOT_PYTHON || code == PLUMB_ERR_NOT_READY || code == PLUMB_ERR_STALE) &&
	       (had == PLUMB_ERR_NOT_PERMITTED || had == PLUMB_ERR_NOT_SUPPORTED || had == PLUMB_ERR_NO_MEMORY ||
		had == PLUMB_ERR_SYSTEM);
}

void pl_search_keep(struct pl_engine *e, struct plumb_error *err)
{
	pthread_mutex_lock(&e->lock);
	if (tells_less(e->error, err)) {
		plumb_error_destroy(err);
	} else {
		plumb_error_destroy(e->error);
		e->error = err;
	}
	pthread_mutex_unlock(&e->lock);
}

void pl_search_all(struct pl_engine *e, uint64_t now)
{
	int left = PL_SEARCHES_A_STEP;

	for (size_t k = e->targets.len; k > 0 && left > 0; k--) {
		size_t i = e->search_first < e->targets.len ? e->search_first : 0;
		struct pl_target *t = e->targets.data[i];
		struct plumb_error *err;

		left -= !t->attached && now >= t->search.next_ns;
		e->search_first = i + 1;
		pl_search_step(e, t, now, &err);
		if (err)
			pl_search_keep(e, err);
	}
}
