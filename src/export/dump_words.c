/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread is doing, in words (layer export). Pure; any thread. */
#include "dump_words.h"

#include <inttypes.h>
#include <string.h>

#include "profile.h"
#include "units.h"

#define LONG_NS 100000000ull

static void put(struct pl_dump_text t, FILE *out)
{
	fwrite(t.s, 1, t.len, out);
}

static void put_other(const struct pl_dump_other *o, FILE *out)
{
	fprintf(out, "%" PRIu32, o->pid);
	if (!o->name.len)
		return;
	fputs(" (", out);
	put(o->name, out);
	fputc(')', out);
}

static void put_socket(const struct pl_dump_fd *f, FILE *out)
{
	put(f->protocol, out);
	fputs(f->protocol.len ? " socket" : "socket", out);
	if (f->local.len) {
		fputc(' ', out);
		put(f->local, out);
	}
	if (f->peer.len) {
		fputs(" -> ", out);
		put(f->peer, out);
	}
	if (*f->state)
		fprintf(out, " (%s)", f->state);
}

static void put_fd(const struct pl_dump_fd *f, FILE *out)
{
	fprintf(out, "fd %d", f->fd);
	if (strcmp(f->kind, "unknown") == 0)
		return;
	fputs(", ", out);
	if (strcmp(f->kind, "socket") == 0)
		put_socket(f, out);
	else if (f->path.len)
		put(f->path, out);
	else
		fputs(f->kind, out);
	if (f->deleted)
		fputs(" (deleted)", out);
	if (f->other.pid) {
		fputs(strcmp(f->kind, "pidfd") == 0 ? " of " : " to ", out);
		put_other(&f->other, out);
	}
}

/* One alone stands in the sentence; several have lines of their own. */
static void put_watched(const struct pl_dump_wait *w, FILE *out)
{
	if (w->watched_total == 1 && w->watched.len == 1)
		put_fd(&w->watched.data[0], out);
	else
		fprintf(out, "%" PRIu32 " descriptor%s", w->watched_total, w->watched_total == 1 ? "" : "s");
}

size_t pl_dump_rows(const struct pl_dump_thread *t)
{
	const struct pl_dump_wait *w = &t->wait;

	if (w->watched_total < 2 || !w->watched.len)
		return 0;
	return w->watched.len + (w->watched_total > w->watched.len);
}

void pl_dump_row(const struct pl_dump_thread *t, size_t i, FILE *out)
{
	const struct pl_dump_wait *w = &t->wait;

	if (i < w->watched.len)
		put_fd(&w->watched.data[i], out);
	else
		fprintf(out, "%" PRIu32 " more", w->watched_total - (uint32_t)w->watched.len);
}

static void put_call(const struct pl_dump_wait *w, FILE *out)
{
	if (w->call.len)
		put(w->call, out);
	else if (w->number >= 0)
		fprintf(out, "system call %d", w->number);
	else
		fputs("the kernel", out);
}

static void put_child(const struct pl_dump_wait *w, FILE *out)
{
	if (w->fd.fd >= 0) {
		fputs(" for ", out);
		put_fd(&w->fd, out);
	} else if (w->child.pid) {
		fputs(" for child ", out);
		put_other(&w->child, out);
	} else if (w->child_group) {
		fprintf(out, " for a child of group %" PRId32, w->child_group);
	} else {
		fputs(" for a child", out);
	}
}

static void put_file_lock(const struct pl_dump_wait *w, FILE *out)
{
	fputs(" for a lock on ", out);
	put_fd(&w->fd, out);
	if (w->holder.pid) {
		fputs(", held by ", out);
		put_other(&w->holder, out);
	}
}

/* ---- waits ------------------------------------------------------------------------------------------------------- */

static void put_lock(const struct pl_dump_process *p, const struct pl_dump_thread *t, FILE *out)
{
	const struct pl_dump_awaited *a = pl_dump_awaited_of(p, t);

	if (!a) {
		fputs("for a lock", out);
		return;
	}
	pl_dump_words_awaited(p, a, out);
	if (t->waits_on)
		pl_dump_words_holder(p, a, t->tid, out);
}

static void put_object(const struct pl_dump_process *p, const struct pl_dump_thread *t, FILE *out)
{
	const struct pl_dump_wait *w = &t->wait;

	switch (w->on) {
	case PL_WAITS_FD:
		fputs(" on ", out);
		put_fd(&w->fd, out);
		if (w->watched_total) {
			fputs(" of ", out);
			put_watched(w, out);
		}
		break;
	case PL_WAITS_FDS:
		fputs(" on ", out);
		put_watched(w, out);
		break;
	case PL_WAITS_LOCK:
		fputc(' ', out);
		put_lock(p, t, out);
		break;
	case PL_WAITS_CHILD:
		put_child(w, out);
		break;
	case PL_WAITS_FILE_LOCK:
		put_file_lock(w, out);
		break;
	case PL_WAITS_SIGNAL:
		fputs(" for a signal", out);
		break;
	case PL_WAITS_PATH:
		fputs(w->path.len ? " of " : "", out);
		put(w->path, out);
		break;
	case PL_WAITS_NOTHING:
	case PL_WAITS_TIME:
	case PL_WAITS:
		break;
	}
}

static void put_time(const struct pl_dump_wait *w, FILE *out)
{
	if (!w->limited)
		return;
	if (!w->left_known && !w->limit_ns)
		fputs(w->on == PL_WAITS_TIME ? "" : ", with a time limit", out);
	else if (!w->left_known)
		fprintf(out, ", for %s%s", w->on == PL_WAITS_TIME ? "" : "up to ",
			pl_units_time((double)w->limit_ns).s);
	else if (w->left_ns > 0)
		fprintf(out, ", %s left", pl_units_time((double)w->left_ns).s);
	else
		fputs(", its time limit is over", out);
}

static void put_wait(const char *verb, const struct pl_dump_process *p, const struct pl_dump_thread *t, FILE *out)
{
	fputs(verb, out);
	put_call(&t->wait, out);
	put_object(p, t, out);
	put_time(&t->wait, out);
}

/* What is shorter is nothing that one looks for. */
static bool idle_for_long(const struct pl_dump_thread *t)
{
	return t->idle_known && t->idle_ns >= LONG_NS;
}

static void put_idle(const struct pl_dump_thread *t, FILE *out)
{
	if (!idle_for_long(t) || (t->wait.limited && t->wait.left_known))
		return;
	fprintf(out, t->wait.limited ? ", at least %s of it so far" : ", for at least %s",
		pl_units_time((double)t->idle_ns).s);
}

/* Returns the holder, where it is known and another thread. */
static uint64_t put_gil(const struct pl_dump_process *p, const struct pl_dump_thread *t, FILE *out)
{
	uint64_t holder = t->gil_holder ? t->gil_holder : p->gil_holder;

	fputs("for the GIL", out);
	if (!holder || holder == t->tid)
		return 0;
	fputs(", held by ", out);
	pl_dump_words_thread(p, holder, out);
	return holder;
}

static void put_gil_wait(const struct pl_dump_process *p, const struct pl_dump_thread *t, FILE *out)
{
	fputs("waiting ", out);
	const struct pl_dump_thread *h = pl_dump_find_thread(p, put_gil(p, t, out));
	/* Who has not run since then has had the GIL since then. */
	if (h && idle_for_long(h) && h->has_gil)
		fprintf(out, " for at least %s", pl_units_time((double)h->idle_ns).s);
}

static void put_tracer(const struct pl_dump_process *p, FILE *out)
{
	fputs("stopped by a debugger", out);
	if (!p->tracer.pid)
		return;
	fputs(": ", out);
	put_other(&p->tracer, out);
}

static void put_doing(const struct pl_dump_process *p, const struct pl_dump_thread *t, FILE *out)
{
	bool sleeping = t->wait.on == PL_WAITS_TIME;

	switch (t->doing) {
	case PL_DOING_RUNNING:
		fputs("running", out);
		break;
	case PL_DOING_GIL:
		put_gil_wait(p, t, out);
		break;
	case PL_DOING_BLOCKED:
		put_wait(sleeping ? "sleeping in " : "blocked in ", p, t, out);
		put_idle(t, out);
		break;
	case PL_DOING_UNWAKEABLE:
		put_wait("blocked, uninterruptible, in ", p, t, out);
		put_idle(t, out);
		break;
	case PL_DOING_STOPPED:
	case PL_DOING_TRACED:
		if (t->doing == PL_DOING_STOPPED)
			fputs("stopped by a signal", out);
		else
			put_tracer(p, out);
		if (t->in_call && t->wait.number >= 0)
			put_wait(" in ", p, t, out);
		break;
	case PL_DOING_ENDED:
		fputs("has ended", out);
		break;
	case PL_DOING_UNKNOWN:
	case PL_DOINGS:
		fputs("doing something unknown", out);
		break;
	}
}

static void put_quality(const struct pl_dump_thread *t, FILE *out)
{
	if (!t->read)
		fputs("; its stack could not be read", out);
	else if (t->quality == PL_PARTIAL)
		fputs("; the stack changes too fast: only its outer part is shown", out);
	else if (t->quality == PL_DOUBTFUL)
		fputs("; the stack may have moved while it was read", out);
}

void pl_dump_words(const struct pl_dump_process *p, const struct pl_dump_thread *t, FILE *out)
{
	put_doing(p, t, out);
	if (t->signal)
		fprintf(out, ", received signal %d (%s)", t->signal, strsignal(t->signal));
	if (t->has_gil)
		fputs(", holds the GIL", out);
	if (t->wants_gil && t->doing != PL_DOING_GIL)
		fputs(", wants the GIL", out);
	if (t->in_gc)
		fputs(", collects garbage", out);
	if (t->exception)
		fputs(", handles an exception", out);
	if (t->jit)
		fputs(", runs compiled code (JIT): the line of its innermost frame may be behind", out);
	if (t->python)
		put_quality(t, out);
}

void pl_dump_words_wait(const struct pl_dump_process *p, const struct pl_dump_thread *t, FILE *out)
{
	if (t->doing == PL_DOING_GIL) {
		put_gil(p, t, out);
	} else if (t->doing != PL_DOING_BLOCKED && t->doing != PL_DOING_UNWAKEABLE) {
		return;
	} else if (t->wait.on == PL_WAITS_TIME) {
		fputs("sleeping", out);
	} else if (t->wait.on == PL_WAITS_LOCK) {
		put_lock(p, t, out);
	} else {
		put_call(&t->wait, out);
		put_object(p, t, out);
	}
}

bool pl_dump_is_suspect(const struct pl_dump_thread *t)
{
	return t->doing == PL_DOING_UNWAKEABLE || (t->has_gil && t->doing == PL_DOING_BLOCKED);
}
