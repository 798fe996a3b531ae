/* SPDX-License-Identifier: Apache-2.0 */
/* A dump as JSON, schema plumb.dump/1 (layer export; docs/user/dump.md). Any thread. */
#include "dump_export.h"
#include "json.h"
#include "profile.h"

static const char *const doings[PL_DOINGS] = {[PL_DOING_UNKNOWN] = "unknown",
					      [PL_DOING_RUNNING] = "running",
					      [PL_DOING_GIL] = "gil",
					      [PL_DOING_BLOCKED] = "blocked",
					      [PL_DOING_UNWAKEABLE] = "uninterruptible",
					      [PL_DOING_STOPPED] = "stopped",
					      [PL_DOING_TRACED] = "traced",
					      [PL_DOING_ENDED] = "ended"};

static const char *const waits[PL_WAITS] = {
	[PL_WAITS_NOTHING] = NULL,	    [PL_WAITS_FD] = "fd",	  [PL_WAITS_FDS] = "fds",
	[PL_WAITS_TIME] = "time",	    [PL_WAITS_LOCK] = "lock",	  [PL_WAITS_CHILD] = "child",
	[PL_WAITS_FILE_LOCK] = "file-lock", [PL_WAITS_SIGNAL] = "signal", [PL_WAITS_PATH] = "path"};

static const char *const purposes[PL_DUMP_FORS] = {
	[PL_DUMP_FOR_UNKNOWN] = NULL,	 [PL_DUMP_FOR_LOCK] = "lock",	    [PL_DUMP_FOR_NOTICE] = "notice",
	[PL_DUMP_FOR_EVENT] = "event",	 [PL_DUMP_FOR_BARRIER] = "barrier", [PL_DUMP_FOR_PERMIT] = "permit",
	[PL_DUMP_FOR_ITEM] = "item",	 [PL_DUMP_FOR_ROOM] = "room",	    [PL_DUMP_FOR_DONE] = "done",
	[PL_DUMP_FOR_RESULT] = "result", [PL_DUMP_FOR_THREAD] = "thread",
};

static const char *const qualities[PL_QUALITIES] = {
	[PL_EXACT] = "exact", [PL_STOPPED] = "stopped", [PL_DOUBTFUL] = "doubtful", [PL_PARTIAL] = "partial"};

static const char *const task_doings[PL_TASK_DOINGS] = {
	[PL_TASK_DOES_RUN] = "running", [PL_TASK_DOES_WAIT] = "waiting", [PL_TASK_IS_READY] = "ready"};

static const char *const task_waits[PL_TASK_WAITS] = {[PL_TASK_WAITS_NOTHING] = NULL,
						      [PL_TASK_WAITS_TASK] = "task",
						      [PL_TASK_WAITS_GATHER] = "gather",
						      [PL_TASK_WAITS_FUTURE] = "future"};

/* ---- members ----------------------------------------------------------------------------------------------------- */

static void text(struct pl_json *j, const char *key, struct pl_dump_text t)
{
	pl_json_key_strn(j, key, t.s, t.len);
}

static void text_or_null(struct pl_json *j, const char *key, struct pl_dump_text t)
{
	if (t.len)
		text(j, key, t);
	else
		pl_json_key_null(j, key);
}

static void other_or_null(struct pl_json *j, const char *key, const struct pl_dump_other *o)
{
	pl_json_key(j, key);
	if (!o->pid) {
		pl_json_null(j);
		return;
	}
	pl_json_object(j);
	pl_json_key_u64(j, "pid", o->pid);
	text(j, "name", o->name);
	pl_json_object_end(j);
}

/* ---- waits ------------------------------------------------------------------------------------------------------- */

static void fd_object(struct pl_json *j, const struct pl_dump_fd *f)
{
	pl_json_object(j);
	pl_json_key_i64(j, "fd", f->fd);
	pl_json_key_str_or_null(j, "kind", f->kind);
	text_or_null(j, "path", f->path);
	pl_json_key_bool(j, "deleted", f->deleted);
	pl_json_key_u64_or_null(j, "inode", f->inode, f->inode);
	text_or_null(j, "protocol", f->protocol);
	pl_json_key_str_or_null(j, "state", f->state);
	text_or_null(j, "local", f->local);
	text_or_null(j, "peer", f->peer);
	other_or_null(j, "process", &f->other);
	pl_json_object_end(j);
}

static void wait_object(struct pl_json *j, const struct pl_dump_wait *w, const struct pl_dump_awaited *a)
{
	pl_json_object(j);
	text_or_null(j, "call", w->call);
	pl_json_key_i64(j, "number", w->number);
	pl_json_key_str_or_null(j, "on", waits[w->on]);
	pl_json_key(j, "fd");
	if (w->fd.fd >= 0)
		fd_object(j, &w->fd);
	else
		pl_json_null(j);
	pl_json_key(j, "watched");
	pl_json_array(j);
	for (size_t i = 0; i < w->watched.len; i++)
		fd_object(j, &w->watched.data[i]);
	pl_json_array_end(j);
	pl_json_key_u64(j, "watched_total", w->watched_total);
	pl_json_key_u64_or_null(j, "lock", w->lock, w->lock);
	pl_json_key_str_or_null(j, "what", a ? purposes[a->what] : NULL);
	pl_json_key_u64_or_null(j, "object", a != NULL, a ? a->object : 0);
	other_or_null(j, "child", &w->child);
	other_or_null(j, "holder", &w->holder);
	text_or_null(j, "path", w->path);
	pl_json_key_u64_or_null(j, "limit_ns", w->limited && !w->left_known, w->limit_ns);
	if (w->left_known)
		pl_json_key_i64(j, "left_ns", w->left_ns);
	else
		pl_json_key_null(j, "left_ns");
	pl_json_object_end(j);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void locals_member(struct pl_json *j, const struct pl_dump_frame *f)
{
	pl_json_key(j, "locals");
	if (!f->has_locals) {
		pl_json_null(j);
		return;
	}
	pl_json_array(j);
	for (size_t i = 0; i < f->locals.len; i++) {
		const struct pl_dump_local *l = &f->locals.data[i];

		pl_json_object(j);
		text(j, "name", l->name);
		text(j, "value", l->value);
		pl_json_key_str_or_null(j, "kind", l->argument ? "argument" : l->closure ? "closure" : "local");
		pl_json_object_end(j);
	}
	pl_json_array_end(j);
}

static void frame_object(struct pl_json *j, const struct pl_dump_frame *f)
{
	pl_json_object(j);
	text(j, "name", f->name);
	text(j, "qualname", f->qualname);
	text(j, "file", f->file);
	pl_json_key_i64(j, "line", f->line);
	pl_json_key_i64(j, "end_line", f->end_line);
	pl_json_key_i64(j, "column", f->column);
	pl_json_key_i64(j, "end_column", f->end_column);
	if (f->has_source)
		pl_json_key_strn(j, "source", f->source.s, f->source.len);
	else
		pl_json_key_null(j, "source");
	pl_json_key_bool(j, "source_changed", f->source_changed);
	locals_member(j, f);
	pl_json_object_end(j);
}

static void frames_member(struct pl_json *j, const pl_dump_frame_vec *frames)
{
	pl_json_key(j, "frames");
	pl_json_array(j);
	for (size_t i = 0; i < frames->len; i++)
		frame_object(j, &frames->data[i]);
	pl_json_array_end(j);
}

static void thread_object(struct pl_json *j, const struct pl_dump_process *p, const struct pl_dump_thread *t)
{
	pl_json_object(j);
	pl_json_key_u64(j, "tid", t->tid);
	pl_json_key_u64_or_null(j, "ident", t->ident, t->ident);
	text(j, "name", t->name);
	pl_json_key_bool(j, "main", t->main);
	if (t->beyond)
		pl_json_key_null(j, "python");
	else
		pl_json_key_bool(j, "python", t->python);
	pl_json_key_u64(j, "interpreter", t->interpreter);
	pl_json_key_str_or_null(j, "doing", doings[t->doing]);
	pl_json_key_u64_or_null(j, "signal", t->signal, (uint64_t)t->signal);
	pl_json_key_bool(j, "has_gil", t->has_gil);
	pl_json_key_bool(j, "wants_gil", t->wants_gil);
	if (t->jit_known)
		pl_json_key_bool(j, "jit", t->jit);
	else
		pl_json_key_null(j, "jit");
	pl_json_key_u64_or_null(j, "idle_ns", t->idle_known, t->idle_ns);
	pl_json_key_u64_or_null(j, "gil_holder", t->gil_holder, t->gil_holder);
	pl_json_key_bool(j, "in_gc", t->in_gc);
	pl_json_key_bool(j, "exception", t->exception);
	pl_json_key(j, "wait");
	if (t->in_call)
		wait_object(j, &t->wait, pl_dump_awaited_of(p, t));
	else
		pl_json_null(j);
	pl_json_key_str_or_null(j, "quality", t->read ? qualities[t->quality] : NULL);
	frames_member(j, &t->frames);
	pl_json_object_end(j);
}

/* ---- locks ------------------------------------------------------------------------------------------------------- */

static void awaited_object(struct pl_json *j, const struct pl_dump_process *p, size_t i)
{
	const struct pl_dump_awaited *a = &p->awaited.data[i];

	pl_json_object(j);
	pl_json_key_str_or_null(j, "what", purposes[a->what]);
	pl_json_key_u64(j, "object", a->object);
	text(j, "type", a->type);
	if (a->lock_known)
		pl_json_key_bool(j, "held", a->held);
	else
		pl_json_key_null(j, "held");
	pl_json_key_u64_or_null(j, "holder", a->holder, a->holder);
	pl_json_key_u64_or_null(j, "count", a->count, a->count);
	pl_json_key(j, "waiters");
	pl_json_array(j);
	for (size_t k = 0; k < p->threads.len; k++)
		if (p->threads.data[k].waits_on && p->threads.data[k].awaited == i + 1)
			pl_json_u64(j, p->threads.data[k].tid);
	pl_json_array_end(j);
	pl_json_object_end(j);
}

static void locks_members(struct pl_json *j, const struct pl_dump_process *p)
{
	pl_json_key(j, "awaited");
	pl_json_array(j);
	for (size_t i = 0; i < p->awaited.len; i++)
		awaited_object(j, p, i);
	pl_json_array_end(j);
	pl_json_key(j, "deadlocks");
	pl_json_array(j);
	for (size_t i = 0; i < p->deadlocks.len; i++) {
		pl_json_array(j);
		for (size_t k = 0; k < p->deadlocks.data[i].threads.len; k++)
			pl_json_u64(j, p->threads.data[p->deadlocks.data[i].threads.data[k]].tid);
		pl_json_array_end(j);
	}
	pl_json_array_end(j);
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

static void task_object(struct pl_json *j, const struct pl_dump_task *t)
{
	pl_json_object(j);
	pl_json_key_u64(j, "id", t->id);
	text(j, "name", t->name);
	pl_json_key_u64(j, "interpreter", t->interpreter);
	pl_json_key_u64_or_null(j, "tid", t->tid, t->tid);
	pl_json_key_str_or_null(j, "doing", task_doings[t->doing]);
	pl_json_key_str_or_null(j, "waits_on", task_waits[t->wait]);
	pl_json_key_u64_or_null(j, "waits_for", t->waits_for, t->waits_for);
	text_or_null(j, "awaits", t->awaits);
	pl_json_key(j, "awaited_by");
	pl_json_array(j);
	for (size_t i = 0; i < t->awaited_by.len; i++)
		pl_json_u64(j, t->awaited_by.data[i]);
	pl_json_array_end(j);
	pl_json_key_bool(j, "cut", t->cut);
	frames_member(j, &t->frames);
	pl_json_object_end(j);
}

static void process_object(struct pl_json *j, const struct pl_dump_process *p)
{
	const struct pl_dump_thread_counts n = pl_dump_count_threads(p);

	pl_json_object(j);
	pl_json_key_u64(j, "pid", p->pid);
	text(j, "command", p->command);
	text(j, "python", p->python);
	text_or_null(j, "core", p->core);
	pl_json_key_u64_or_null(j, "age_ns", p->age_ns, p->age_ns);
	pl_json_key_u64(j, "took_ns", p->took_ns);
	pl_json_key_u64_or_null(j, "gil_holder", p->gil_holder, p->gil_holder);
	other_or_null(j, "tracer", &p->tracer);
	text_or_null(j, "stop_refused", p->refused);
	text_or_null(j, "source_silent", p->silent);
	text_or_null(j, "source_barred", p->barred);
	pl_json_key_u64(j, "threads_unread", p->unread);
	pl_json_key_u64(j, "threads_beyond", n.beyond);
	pl_json_key_u64(j, "os_threads", n.python + n.native + n.beyond);
	pl_json_key(j, "threads");
	pl_json_array(j);
	for (size_t i = 0; i < p->threads.len; i++)
		thread_object(j, p, &p->threads.data[i]);
	pl_json_array_end(j);
	locks_members(j, p);
	pl_json_key_u64(j, "tasks_lost", p->tasks_lost);
	pl_json_key(j, "tasks");
	pl_json_array(j);
	for (size_t i = 0; i < p->tasks.len; i++)
		task_object(j, &p->tasks.data[i]);
	pl_json_array_end(j);
	pl_json_object_end(j);
}

static void failure_object(struct pl_json *j, const struct pl_dump_failure *f)
{
	pl_json_object(j);
	pl_json_key_u64_or_null(j, "pid", f->pid, f->pid);
	pl_json_key_str(j, "code", plumb_error_name(f->code));
	text(j, "message", f->message);
	text_or_null(j, "hint", f->hint);
	pl_json_object_end(j);
}

void pl_dump_write_json(const struct pl_dump *d, const char *plumb_version, FILE *out)
{
	struct pl_json j;

	pl_json_init(&j, out, 0);
	pl_json_object(&j);
	pl_json_key_str(&j, "schema", "plumb.dump/1");
	pl_json_key_str(&j, "plumb_version", plumb_version);
	pl_json_key_time(&j, "taken", d->taken_real_ns);
	pl_json_key(&j, "processes");
	pl_json_array(&j);
	for (size_t i = 0; i < d->processes.len; i++)
		process_object(&j, &d->processes.data[i]);
	pl_json_array_end(&j);
	pl_json_key(&j, "failures");
	pl_json_array(&j);
	for (size_t i = 0; i < d->failures.len; i++)
		failure_object(&j, &d->failures.data[i]);
	pl_json_array_end(&j);
	pl_json_object_end(&j);
	fputc('\n', out);
}
