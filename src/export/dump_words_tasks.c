/* SPDX-License-Identifier: Apache-2.0 */
/* What asyncio tasks wait for, in words (layer export). Pure; any thread. */
#include <inttypes.h>
#include <string.h>

#include "dump_words.h"

#define NAMED_MAX 16 /* tasks in one sentence */

static void put(struct pl_dump_text t, FILE *out)
{
	fwrite(t.s, 1, t.len, out);
}

/* A function of asyncio's own. */
static bool is_of_asyncio(const struct pl_dump_frame *f)
{
	static const char folder[] = "/asyncio";
	const char *slash = memrchr(f->file.s, '/', f->file.len);
	size_t n = sizeof folder - 1;

	return slash && (size_t)(slash - f->file.s) >= n && memcmp(slash - n, folder, n) == 0;
}

/* " (Orders.load, orders.py:31)": what awaits asyncio. */
static void put_place(const struct pl_dump_task *t, FILE *out)
{
	size_t i = 0;

	while (i < t->frames.len && is_of_asyncio(&t->frames.data[i]))
		i++;
	if (i == t->frames.len)
		return;
	const struct pl_dump_frame *f = &t->frames.data[i];
	const char *slash = memrchr(f->file.s, '/', f->file.len);
	size_t dir = slash ? (size_t)(slash + 1 - f->file.s) : 0;

	fputs(" (", out);
	put(f->qualname, out);
	fputs(", ", out);
	fwrite(f->file.s + dir, 1, f->file.len - dir, out);
	fprintf(out, ":%" PRId32 ")", f->line);
}

static void put_holder(const struct pl_dump_process *p, const struct pl_dump_task_awaited *a,
		       const struct pl_dump_task *waiter, FILE *out)
{
	const struct pl_dump_task *holder = a->holder ? &p->tasks.data[a->holder - 1] : NULL;

	if (a->thing.what != PL_DUMP_FOR_LOCK || !a->thing.lock_known || !a->thing.held)
		return;
	fputs(holder ? ", held by " : ", held; by whom is not known", out);
	if (holder && holder == waiter)
		fputs("itself", out);
	else if (holder)
		put(holder->name, out);
}

void pl_dump_words_task_wait(const struct pl_dump_process *p, const struct pl_dump_task *t, pl_others_fn *others,
			     void *ctx, FILE *out)
{
	const struct pl_dump_task_awaited *a = pl_dump_task_awaited_of(p, t);

	fputs(t->what == PL_DUMP_FOR_TIME ? "sleeping" : "waiting", out);
	if (a) {
		fputc(' ', out);
		pl_dump_words_awaited(p, &a->thing, out);
		put_holder(p, a, t, out);
	} else if (t->what != PL_DUMP_FOR_TIME && !others(ctx, out) && t->awaits.len) {
		fputs(" for ", out);
		put(t->awaits, out);
	}
	if (t->limited)
		fputs(", with a time limit", out);
}

/* From one task of a ring to the next. */
static void put_link(const struct pl_dump_process *p, const struct pl_dump_task *t, const struct pl_dump_task *next,
		     FILE *out)
{
	const struct pl_dump_task_awaited *a = pl_dump_task_awaited_of(p, t);

	fputs(" waits", out);
	if (a) {
		fputc(' ', out);
		pl_dump_words_awaited(p, &a->thing, out);
		put_holder(p, a, t, out);
	} else {
		fputs(" for ", out);
		if (next == t)
			fputs("itself", out);
		else
			put(next->name, out);
	}
}

void pl_dump_words_task_deadlock(const struct pl_dump_process *p, size_t i, FILE *out)
{
	const struct pl_dump_deadlock *d = &p->task_deadlocks.data[i];
	size_t n = d->members.len;

	fputs("deadlock: ", out);
	put(p->tasks.data[d->members.data[0]].name, out);
	for (size_t k = 0; k < n && k < NAMED_MAX; k++) {
		const struct pl_dump_task *t = &p->tasks.data[d->members.data[k]];

		put_place(t, out);
		fputs(k ? ", which" : "", out);
		put_link(p, t, &p->tasks.data[d->members.data[(k + 1) % n]], out);
	}
	if (n > NAMED_MAX)
		fprintf(out, ", and so on: a cycle of %zu tasks", n);
}

void pl_dump_words_task_waiters(const struct pl_dump_process *p, size_t i, FILE *out)
{
	const struct pl_dump_task_awaited *a = &p->task_awaited.data[i];
	uint32_t named = 0;

	fprintf(out, "%" PRIu32 " tasks wait ", a->thing.waiters);
	pl_dump_words_awaited(p, &a->thing, out);
	put_holder(p, a, NULL, out);
	for (uint32_t at = a->first_waiter; at && named < NAMED_MAX; at = p->tasks.data[at - 1].next_waiter) {
		fputs(named++ ? ", " : ": ", out);
		put(p->tasks.data[at - 1].name, out);
	}
	if (a->thing.waiters > named)
		fprintf(out, " and %" PRIu32 " more", a->thing.waiters - named);
}
