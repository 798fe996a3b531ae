/* SPDX-License-Identifier: Apache-2.0 */
/* A dump as JSON, schema plumb.dump/1 (layer export; docs/user/dump.md). Any thread. */
#include "dump_export.h"
#include "dump_json_parts.h"
#include "json.h"
#include "profile.h"
#include "words.h"

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

static const char *const natives[PL_DUMP_NATIVES] = {[PL_DUMP_NATIVE_UNASKED] = NULL,
						     [PL_DUMP_NATIVE_WHOLE] = "whole",
						     [PL_DUMP_NATIVE_IN_PART] = "part",
						     [PL_DUMP_NATIVE_APART] = "apart",
						     [PL_DUMP_NATIVE_UNREAD] = "unread"};

/* ---- members ----------------------------------------------------------------------------------------------------- */

static void other_or_null(struct pl_json *j, const char *key, const struct pl_dump_other *o)
{
	pl_json_key(j, key);
	if (!o->pid) {
		pl_json_null(j);
		return;
	}
	pl_json_object(j);
	pl_json_key_u64(j, "pid", o->pid);
	pl_dump_json_text(j, "name", o->name);
	pl_json_object_end(j);
}

/* ---- waits ------------------------------------------------------------------------------------------------------- */

static void fd_object(struct pl_json *j, const struct pl_dump_fd *f)
{
	pl_json_object(j);
	pl_json_key_i64(j, "fd", f->fd);
	pl_json_key_str_or_null(j, "kind", f->kind);
	pl_dump_json_text_or_null(j, "path", f->path);
	pl_json_key_bool(j, "deleted", f->deleted);
	pl_json_key_u64_or_null(j, "inode", f->inode, f->inode);
	pl_dump_json_text_or_null(j, "protocol", f->protocol);
	pl_json_key_str_or_null(j, "state", f->state);
	pl_dump_json_text_or_null(j, "local", f->local);
	pl_dump_json_text_or_null(j, "peer", f->peer);
	other_or_null(j, "process", &f->other);
	pl_json_object_end(j);
}

static void wait_object(struct pl_json *j, const struct pl_dump_wait *w, const struct pl_dump_awaited *a)
{
	pl_json_object(j);
	pl_dump_json_text_or_null(j, "call", w->call);
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
	pl_json_key_str_or_null(j, "what", a ? pl_dump_json_purpose(a->what) : NULL);
	pl_json_key_u64_or_null(j, "object", a != NULL, a ? a->object : 0);
	other_or_null(j, "child", &w->child);
	other_or_null(j, "holder", &w->holder);
	pl_dump_json_text_or_null(j, "path", w->path);
	pl_json_key_u64_or_null(j, "limit_ns", w->limited && w->limit_ns, w->limit_ns);
	if (w->left_known)
		pl_json_key_i64(j, "left_ns", w->left_ns);
	else
		pl_json_key_null(j, "left_ns");
	pl_json_object_end(j);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void thread_object(struct pl_json *j, const struct pl_dump_process *p, const struct pl_dump_thread *t)
{
	pl_json_object(j);
	pl_json_key_u64(j, "tid", t->tid);
	pl_json_key_u64_or_null(j, "ident", t->ident, t->ident);
	pl_dump_json_text(j, "name", t->name);
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
	pl_json_key_str_or_null(j, "quality", t->read ? pl_quality_name(t->quality) : NULL);
	pl_json_key_str_or_null(j, "native", natives[t->native]);
	pl_dump_json_frames(j, &t->frames);
	pl_json_object_end(j);
}

/* ---- processes -----------------------------------------------------------------------------------------------------
 */

static void process_object(struct pl_json *j, const struct pl_dump_process *p)
{
	const struct pl_dump_thread_counts n = pl_dump_count_threads(p);

	pl_json_object(j);
	pl_json_key_u64(j, "pid", p->pid);
	pl_dump_json_text(j, "command", p->command);
	pl_dump_json_text(j, "python", p->python);
	pl_dump_json_text_or_null(j, "core", p->core);
	pl_json_key_u64(j, "core_missing_bytes", p->core_whole_bytes - p->core_bytes);
	pl_json_key_u64_or_null(j, "age_ns", p->age_ns, p->age_ns);
	pl_json_key_u64(j, "took_ns", p->took_ns);
	pl_json_key_u64_or_null(j, "gil_holder", p->gil_holder, p->gil_holder);
	other_or_null(j, "tracer", &p->tracer);
	pl_dump_json_text_or_null(j, "stop_refused", p->refused);
	pl_dump_json_text_or_null(j, "source_silent", p->silent);
	pl_dump_json_text_or_null(j, "source_barred", p->barred);
	pl_json_key_u64(j, "sources_left_out", p->sources_left_out);
	pl_json_key_u64(j, "threads_unread", p->unread);
	pl_json_key_u64(j, "threads_beyond", n.beyond);
	pl_json_key_u64(j, "threads_left_out", p->left_out);
	pl_json_key_u64(j, "threads_late", p->late);
	pl_json_key_u64(j, "locals_late", p->locals_late);
	pl_json_key_u64(j, "os_threads", n.python + n.native + n.beyond + p->left_out + p->late);
	pl_json_key(j, "threads");
	pl_json_array(j);
	for (size_t i = 0; i < p->threads.len; i++)
		thread_object(j, p, &p->threads.data[i]);
	pl_json_array_end(j);
	pl_dump_json_waits(j, p);
	pl_dump_json_tasks(j, p);
	pl_json_object_end(j);
}

static void failure_object(struct pl_json *j, const struct pl_dump_failure *f)
{
	pl_json_object(j);
	pl_json_key_u64_or_null(j, "pid", f->pid, f->pid);
	pl_json_key_str(j, "code", plumb_error_name(f->code));
	pl_dump_json_text(j, "message", f->message);
	pl_dump_json_text_or_null(j, "hint", f->hint);
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
