/* SPDX-License-Identifier: Apache-2.0 */
/* A dump as JSON, schema plumb.dump/1 (layer export; docs/user/dump.md). Any thread. */
#include <time.h>

#include "dump_export.h"
#include "json.h"
#include "profile.h"

static const char *const doings[PL_DOINGS] = {[PL_DOING_UNKNOWN] = "unknown",
					      [PL_DOING_RUNNING] = "running",
					      [PL_DOING_GIL] = "gil",
					      [PL_DOING_BLOCKED] = "blocked",
					      [PL_DOING_UNWAKEABLE] = "uninterruptible",
					      [PL_DOING_STOPPED] = "stopped",
					      [PL_DOING_TRACED] = "traced"};

static const char *const waits[PL_WAITS] = {
	[PL_WAITS_NOTHING] = NULL,	    [PL_WAITS_FD] = "fd",	  [PL_WAITS_FDS] = "fds",
	[PL_WAITS_TIME] = "time",	    [PL_WAITS_LOCK] = "lock",	  [PL_WAITS_CHILD] = "child",
	[PL_WAITS_FILE_LOCK] = "file-lock", [PL_WAITS_SIGNAL] = "signal", [PL_WAITS_PATH] = "path"};

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
	pl_json_key(j, key);
	pl_json_strn(j, t.s, t.len);
}

static void text_or_null(struct pl_json *j, const char *key, struct pl_dump_text t)
{
	if (t.len) {
		text(j, key, t);
		return;
	}
	pl_json_key(j, key);
	pl_json_null(j);
}

static void word_or_null(struct pl_json *j, const char *key, const char *word)
{
	pl_json_key(j, key);
	if (word && *word)
		pl_json_str(j, word);
	else
		pl_json_null(j);
}

static void number(struct pl_json *j, const char *key, uint64_t v)
{
	pl_json_key(j, key);
	pl_json_u64(j, v);
}

static void integer(struct pl_json *j, const char *key, int64_t v)
{
	pl_json_key(j, key);
	pl_json_i64(j, v);
}

static void number_or_null(struct pl_json *j, const char *key, bool known, uint64_t v)
{
	pl_json_key(j, key);
	if (known)
		pl_json_u64(j, v);
	else
		pl_json_null(j);
}

static void flag(struct pl_json *j, const char *key, bool v)
{
	pl_json_key(j, key);
	pl_json_bool(j, v);
}

static void other_or_null(struct pl_json *j, const char *key, const struct pl_dump_other *o)
{
	pl_json_key(j, key);
	if (!o->pid) {
		pl_json_null(j);
		return;
	}
	pl_json_object(j);
	number(j, "pid", o->pid);
	text(j, "name", o->name);
	pl_json_object_end(j);
}

/* ---- waits ------------------------------------------------------------------------------------------------------- */

static void fd_object(struct pl_json *j, const struct pl_dump_fd *f)
{
	pl_json_object(j);
	integer(j, "fd", f->fd);
	word_or_null(j, "kind", f->kind);
	text_or_null(j, "path", f->path);
	flag(j, "deleted", f->deleted);
	number_or_null(j, "inode", f->inode, f->inode);
	text_or_null(j, "protocol", f->protocol);
	word_or_null(j, "state", f->state);
	text_or_null(j, "local", f->local);
	text_or_null(j, "peer", f->peer);
	other_or_null(j, "process", &f->other);
	pl_json_object_end(j);
}

static void wait_object(struct pl_json *j, const struct pl_dump_wait *w)
{
	pl_json_object(j);
	text_or_null(j, "call", w->call);
	integer(j, "number", w->number);
	word_or_null(j, "on", waits[w->on]);
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
	number(j, "watched_total", w->watched_total);
	number_or_null(j, "lock", w->lock, w->lock);
	other_or_null(j, "child", &w->child);
	other_or_null(j, "holder", &w->holder);
	text_or_null(j, "path", w->path);
	number_or_null(j, "limit_ns", w->limited && !w->left_known, w->limit_ns);
	pl_json_key(j, "left_ns");
	if (w->left_known)
		pl_json_i64(j, w->left_ns);
	else
		pl_json_null(j);
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
		word_or_null(j, "kind", l->argument ? "argument" : l->closure ? "closure" : "local");
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
	integer(j, "line", f->line);
	integer(j, "end_line", f->end_line);
	integer(j, "column", f->column);
	integer(j, "end_column", f->end_column);
	pl_json_key(j, "source");
	if (f->has_source)
		pl_json_strn(j, f->source.s, f->source.len);
	else
		pl_json_null(j);
	flag(j, "source_changed", f->source_changed);
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

static void thread_object(struct pl_json *j, const struct pl_dump_thread *t)
{
	pl_json_object(j);
	number(j, "tid", t->tid);
	number_or_null(j, "ident", t->ident, t->ident);
	text(j, "name", t->name);
	flag(j, "main", t->main);
	flag(j, "python", t->python);
	number(j, "interpreter", t->interpreter);
	word_or_null(j, "doing", doings[t->doing]);
	number_or_null(j, "signal", t->signal, (uint64_t)t->signal);
	flag(j, "has_gil", t->has_gil);
	flag(j, "wants_gil", t->wants_gil);
	number_or_null(j, "gil_holder", t->gil_holder, t->gil_holder);
	flag(j, "in_gc", t->in_gc);
	flag(j, "exception", t->exception);
	pl_json_key(j, "wait");
	if (t->in_call)
		wait_object(j, &t->wait);
	else
		pl_json_null(j);
	word_or_null(j, "quality", t->read ? qualities[t->quality] : NULL);
	frames_member(j, &t->frames);
	pl_json_object_end(j);
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

static void task_object(struct pl_json *j, const struct pl_dump_task *t)
{
	pl_json_object(j);
	number(j, "id", t->id);
	text(j, "name", t->name);
	number(j, "interpreter", t->interpreter);
	number_or_null(j, "tid", t->tid, t->tid);
	word_or_null(j, "doing", task_doings[t->doing]);
	word_or_null(j, "waits_on", task_waits[t->wait]);
	number_or_null(j, "waits_for", t->waits_for, t->waits_for);
	text_or_null(j, "awaits", t->awaits);
	pl_json_key(j, "awaited_by");
	pl_json_array(j);
	for (size_t i = 0; i < t->awaited_by.len; i++)
		pl_json_u64(j, t->awaited_by.data[i]);
	pl_json_array_end(j);
	flag(j, "cut", t->cut);
	frames_member(j, &t->frames);
	pl_json_object_end(j);
}

static void process_object(struct pl_json *j, const struct pl_dump_process *p)
{
	pl_json_object(j);
	number(j, "pid", p->pid);
	text(j, "command", p->command);
	text(j, "python", p->python);
	text_or_null(j, "core", p->core);
	number_or_null(j, "age_ns", p->age_ns, p->age_ns);
	number(j, "took_ns", p->took_ns);
	number_or_null(j, "gil_holder", p->gil_holder, p->gil_holder);
	other_or_null(j, "tracer", &p->tracer);
	number(j, "threads_unread", p->unread);
	pl_json_key(j, "threads");
	pl_json_array(j);
	for (size_t i = 0; i < p->threads.len; i++)
		thread_object(j, &p->threads.data[i]);
	pl_json_array_end(j);
	number(j, "tasks_lost", p->tasks_lost);
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
	number_or_null(j, "pid", f->pid, f->pid);
	pl_json_key(j, "code");
	pl_json_str(j, plumb_error_name(f->code));
	text(j, "message", f->message);
	text_or_null(j, "hint", f->hint);
	pl_json_object_end(j);
}

static void time_member(struct pl_json *j, const char *key, uint64_t real_ns)
{
	char buf[40], date[24];
	time_t s = (time_t)(real_ns / 1000000000);
	struct tm tm;

	gmtime_r(&s, &tm);
	strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf, sizeof buf, "%s.%06uZ", date, (unsigned)(real_ns / 1000 % 1000000));
	word_or_null(j, key, buf);
}

void pl_dump_write_json(const struct pl_dump *d, const char *plumb_version, FILE *out)
{
	struct pl_json j;

	pl_json_init(&j, out, 0);
	pl_json_object(&j);
	word_or_null(&j, "schema", "plumb.dump/1");
	word_or_null(&j, "plumb_version", plumb_version);
	time_member(&j, "taken", d->taken_real_ns);
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
