/* SPDX-License-Identifier: Apache-2.0 */
/* What threads wait for in terms of Python, in words (layer export). Pure; any thread. */
#include <inttypes.h>

#include "dump_words.h"
#include "words.h"

#define NAMED_MAX 16 /* threads in one sentence */

static void put(struct pl_dump_text t, FILE *out)
{
	fwrite(t.s, 1, t.len, out);
}

void pl_dump_words_thread(const struct pl_dump_process *p, uint64_t tid, FILE *out)
{
	const struct pl_dump_thread *t = pl_dump_find_thread(p, tid);

	if (t)
		put(t->name, out);
	fprintf(out, t ? " (%" PRIu64 ")" : "(%" PRIu64 ")", tid);
}

void pl_dump_words_awaited(const struct pl_dump_process *p, const struct pl_dump_awaited *a, FILE *out)
{
	if (a->what == PL_DUMP_FOR_LOCK) {
		fprintf(out, "for lock 0x%" PRIx64 " (", a->object);
		put(a->type, out);
		fputc(')', out);
		return;
	}
	fprintf(out, "for %s", pl_awaited_words[a->what].before);
	if (a->what == PL_DUMP_FOR_THREAD && a->holder) {
		pl_dump_words_thread(p, a->holder, out);
	} else {
		put(a->type, out);
		fprintf(out, " 0x%" PRIx64, a->object);
	}
	fputs(pl_awaited_words[a->what].after, out);
}

void pl_dump_words_holder(const struct pl_dump_process *p, const struct pl_dump_awaited *a, uint64_t tid, FILE *out)
{
	if (a->what != PL_DUMP_FOR_LOCK || !a->lock_known || !a->held)
		return;
	fputs(a->holder ? ", held by " : ", held; by whom is not known", out);
	if (a->holder && a->holder == tid)
		fputs("itself", out);
	else if (a->holder)
		pl_dump_words_thread(p, a->holder, out);
	if (a->holder && a->count > 1)
		fprintf(out, " (taken %" PRIu64 " times)", a->count);
}

static void put_link(const struct pl_dump_process *p, uint32_t thread, FILE *out)
{
	const struct pl_dump_thread *t = &p->threads.data[thread];
	const struct pl_dump_awaited *a = pl_dump_awaited_of(p, t);

	fputs(" waits ", out);
	pl_dump_words_awaited(p, a, out);
	pl_dump_words_holder(p, a, t->tid, out);
}

void pl_dump_words_deadlock(const struct pl_dump_process *p, size_t i, FILE *out)
{
	const struct pl_dump_deadlock *d = &p->deadlocks.data[i];

	fputs("deadlock: ", out);
	pl_dump_words_thread(p, p->threads.data[d->members.data[0]].tid, out);
	for (size_t k = 0; k < d->members.len && k < NAMED_MAX; k++) {
		fputs(k ? ", which" : "", out);
		put_link(p, d->members.data[k], out);
	}
	if (d->members.len > NAMED_MAX)
		fprintf(out, ", and so on: a cycle of %zu threads", d->members.len);
}

void pl_dump_words_waiters(const struct pl_dump_process *p, size_t i, FILE *out)
{
	const struct pl_dump_awaited *a = &p->awaited.data[i];
	uint32_t named = 0;

	fprintf(out, "%" PRIu32 " threads wait ", a->waiters);
	pl_dump_words_awaited(p, a, out);
	pl_dump_words_holder(p, a, 0, out);
	for (size_t k = 0; k < p->threads.len && named < NAMED_MAX; k++) {
		const struct pl_dump_thread *t = &p->threads.data[k];
		if (!t->waits_on || t->awaited != i + 1)
			continue;
		fputs(named++ ? ", " : ": ", out);
		pl_dump_words_thread(p, t->tid, out);
	}
	if (a->waiters > named)
		fprintf(out, " and %" PRIu32 " more", a->waiters - named);
}
