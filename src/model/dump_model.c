/* SPDX-License-Identifier: Apache-2.0 */
/* Making and freeing dumps (layer model). One owner at a time. */
#include "dump_model.h"

#include <stdlib.h>
#include <string.h>

struct plumb_error *pl_dump_create(struct pl_dump **ret)
{
	struct pl_dump *d = calloc(1, sizeof *d);

	if (!d)
		return &pl_err_no_memory;
	struct plumb_error *err = pl_strtab_create(&d->strings);
	if (err) {
		free(d);
		return err;
	}
	*ret = d;
	return NULL;
}

struct plumb_error *pl_dump_adopt(struct pl_dump *into, struct pl_dump *from)
{
	if (!pl_vec_reserve(&into->processes, from->processes.len) || !pl_vec_push(&into->adopted, from->strings))
		return &pl_err_no_memory;
	for (size_t i = 0; i < from->processes.len; i++)
		into->processes.data[into->processes.len++] = from->processes.data[i];
	pl_vec_clear(&from->processes);
	from->strings = NULL; /* the texts of the processes are in it */
	return NULL;
}

struct pl_dump_text pl_dump_text(struct pl_dump *d, const char *s, size_t len)
{
	struct pl_dump_text text;
	uint32_t id = 0;
	struct plumb_error *err = len ? pl_strtab_add(d->strings, s, len, &id) : NULL;

	d->no_memory |= err == &pl_err_no_memory;
	plumb_error_destroy(err);
	text.s = pl_strtab_get(d->strings, id, &text.len);
	return text;
}

struct pl_dump_text pl_dump_str(struct pl_dump *d, const char *s)
{
	return pl_dump_text(d, s, s ? strlen(s) : 0);
}

void pl_dump_frames_deinit(pl_dump_frame_vec *frames)
{
	for (size_t i = 0; i < frames->len; i++)
		pl_vec_deinit(&frames->data[i].locals);
	pl_vec_deinit(frames);
}

void pl_dump_thread_deinit(struct pl_dump_thread *t)
{
	pl_dump_frames_deinit(&t->frames);
	pl_vec_deinit(&t->wait.watched);
}

void pl_dump_task_deinit(struct pl_dump_task *t)
{
	pl_dump_frames_deinit(&t->frames);
	pl_vec_deinit(&t->awaited_by);
	pl_vec_deinit(&t->needs);
}

void pl_dump_deadlocks_deinit(pl_dump_deadlock_vec *v)
{
	for (size_t i = 0; i < v->len; i++)
		pl_vec_deinit(&v->data[i].members);
	pl_vec_deinit(v);
}

void pl_dump_process_deinit(struct pl_dump_process *p)
{
	for (size_t i = 0; i < p->threads.len; i++)
		pl_dump_thread_deinit(&p->threads.data[i]);
	pl_vec_deinit(&p->threads);
	pl_vec_deinit(&p->awaited);
	pl_dump_deadlocks_deinit(&p->deadlocks);
	for (size_t i = 0; i < p->tasks.len; i++)
		pl_dump_task_deinit(&p->tasks.data[i]);
	pl_vec_deinit(&p->tasks);
	pl_vec_deinit(&p->task_awaited);
	pl_dump_deadlocks_deinit(&p->task_deadlocks);
}

void pl_dump_destroy(struct pl_dump *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->processes.len; i++)
		pl_dump_process_deinit(&d->processes.data[i]);
	pl_vec_deinit(&d->processes);
	pl_vec_deinit(&d->failures);
	for (size_t i = 0; i < d->adopted.len; i++)
		pl_strtab_destroy(d->adopted.data[i]);
	pl_vec_deinit(&d->adopted);
	pl_strtab_destroy(d->strings);
	free(d);
}

static int compare_threads(const void *a, const void *b)
{
	const struct pl_dump_thread *x = a, *y = b;

	if (x->main != y->main)
		return x->main ? -1 : 1;
	if (x->python != y->python)
		return x->python ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid > y->tid ? 1 : -1;
	return (x->interpreter > y->interpreter) - (x->interpreter < y->interpreter);
}

void pl_dump_sort_threads(struct pl_dump_process *p)
{
	if (p->threads.len)
		qsort(p->threads.data, p->threads.len, sizeof *p->threads.data, compare_threads);
}

struct pl_dump_thread_counts pl_dump_count_threads(const struct pl_dump_process *p)
{
	struct pl_dump_thread_counts n = {0};

	for (size_t i = 0; i < p->threads.len; i++) {
		const struct pl_dump_thread *t = &p->threads.data[i];

		n.beyond += t->beyond;
		n.native += !t->python && !t->beyond;
		n.states += t->python;
		n.python += t->python && (i == 0 || t->tid != t[-1].tid);
	}
	return n;
}
