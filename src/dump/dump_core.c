/* SPDX-License-Identifier: Apache-2.0 */
/* Layer dump: a dump of a core file. The same readers as for a living process, over another memory; nothing moves, so
 * every stack that can be walked to its end is exact. One thread. */
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "core.h"
#include "dump.h"
#include "dump_locals.h"
#include "dump_locks.h"
#include "dump_parts.h"
#include "dump_tasks.h"
#include "dump_wait.h"
#include "exceptions.h"
#include "frame.h"
#include "image.h"
#include "profile.h"
#include "which_python.h"

struct core_dumper {
	const struct pl_dump_options *o;
	struct pl_core *core;
	struct pl_mem *mem;
	struct pl_py py;
	struct pl_dump *d;
	struct pl_dump_process p;
	struct pl_sources sources;
	struct pl_values values;
	struct pl_lock_finder locks;
	pl_interp_vec interps;
	struct pl_map notes, known; /* tid -> position of its note; those that are among the threads */
	uint64_t end_ns;	    /* until when names and holders of locks are looked for */
	uint32_t tid_offset;	    /* <= 3.10: of tid in struct pthread; 0 not known yet */
};

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static struct plumb_error *add_frame(struct core_dumper *u, const struct pl_frame *f, struct pl_code *code,
				     struct pl_dump_thread *t)
{
	struct plumb_error *err = pl_code_read(u->mem, &u->py, f->code, code);

	if (err || code->hidden)
		return err;
	struct pl_dump_frame frame = pl_dump_frame_of(u->d, u->o->source ? &u->sources : NULL, &u->py, code,
						      pl_code_offset(&u->py, code, f));
	if (u->o->locals)
		pl_dump_add_locals(u->d, &u->values, f, &frame);
	if (pl_vec_push(&t->frames, frame))
		return NULL;
	pl_vec_deinit(&frame.locals);
	return &pl_err_no_memory;
}

/* As far as it goes: a stack whose outer part is damaged is shown as partial. */
static void walk(struct core_dumper *u, const struct pl_tstate *ts, pl_frame_vec *ret, struct pl_dump_thread *t)
{
	pl_addr root;
	struct plumb_error *err = ts->frame ? pl_frame_walk(u->mem, &u->py, ts, NULL, ret, &root) : NULL;

	t->quality = err ? PL_PARTIAL : PL_EXACT;
	plumb_error_destroy(err);
}

static void add_frames(struct core_dumper *u, const struct pl_tstate *ts, const pl_frame_vec *frames,
		       struct pl_dump_thread *t)
{
	struct plumb_error *err = NULL;
	struct pl_code code;

	pl_code_init(&code);
	for (size_t i = 0; i < frames->len && !err; i++)
		if (frames->data[i].kind == PL_FRAME_PYTHON)
			err = add_frame(u, &frames->data[i], &code, t);
	pl_code_deinit(&code);
	t->quality = err ? PL_PARTIAL : t->quality;
	t->read = t->frames.len || !ts->frame;
	plumb_error_destroy(err);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static uint64_t tid_of(struct core_dumper *u, const struct pl_tstate *ts)
{
	uint32_t tid;

	if (ts->native_id)
		return ts->native_id;
	if (!u->tid_offset) {
		pid_t main_tid = pl_core_pid(u->core);
		struct plumb_error *err = pl_pthread_tid_offset(u->mem, ts->thread_id, &main_tid, 1, &u->tid_offset);
		plumb_error_destroy(err);
	}
	if (!u->tid_offset || pl_mem_read(u->mem, ts->thread_id + u->tid_offset, &tid, sizeof tid))
		return 0;
	return tid;
}

static struct plumb_error *index_notes(struct core_dumper *u)
{
	const pl_core_thread_vec *notes = pl_core_threads(u->core);

	for (size_t i = notes->len; i-- > 0;) /* of several the first */
		if (!pl_map_set(&u->notes, (uint64_t)notes->data[i].tid, 0, (uint32_t)i))
			return &pl_err_no_memory;
	return NULL;
}

static const struct pl_core_thread *note_of(const struct core_dumper *u, uint64_t tid)
{
	uint32_t at;

	return pl_map_get(&u->notes, tid, 0, &at) ? &pl_core_threads(u->core)->data[at] : NULL;
}

static struct plumb_error *add_thread(struct core_dumper *u, struct pl_dump_thread *t)
{
	if (pl_map_set(&u->known, t->tid, 0, 1) && pl_vec_push(&u->p.threads, *t))
		return NULL;
	pl_dump_thread_deinit(t);
	return &pl_err_no_memory;
}

/* What the kernel noted of it. */
static void tell_note(struct core_dumper *u, const struct pl_core_thread *n, const struct pl_interp *interp,
		      struct pl_dump_thread *t)
{
	struct pl_surroundings none = {.locks = PL_FILE_LOCKS_INIT};

	t->doing = PL_DOING_RUNNING;
	t->signal = n->signal;
	if (!n->in_call)
		return;
	t->doing = PL_DOING_BLOCKED;
	if (interp && n->call.syscall == SYS_futex && pl_interp_gil_has(interp, n->call.args[0])) {
		t->doing = PL_DOING_GIL;
		t->wants_gil = true;
		return;
	}
	t->in_call = true;
	pl_dump_wait(u->d, &none, u->mem, &n->call, &t->wait);
}

static uint64_t holder_tid(struct core_dumper *u, const struct pl_interp *interp, const pl_tstate_vec *list)
{
	for (size_t i = 0; i < list->len && interp->gil_holder; i++)
		if (list->data[i].addr == interp->gil_holder)
			return tid_of(u, &list->data[i]);
	return 0;
}

static void tell_awaited(struct core_dumper *u, const pl_frame_vec *frames, struct pl_dump_thread *t)
{
	struct pl_lock_wait wait;

	if (!t->in_call || t->wait.on != PL_WAITS_LOCK)
		return;
	pl_lock_wait_find(&u->locks.values, frames, t->wait.lock, &wait);
	pl_lock_finder_add(&u->locks, &wait, t);
	t->waits_on = t->awaited; /* nothing moves any more */
}

static struct plumb_error *dump_thread(struct core_dumper *u, const struct pl_interp *interp,
				       const struct pl_tstate *ts, uint64_t holder, uint64_t number)
{
	uint64_t tid = tid_of(u, ts);
	const struct pl_core_thread *note = note_of(u, tid);
	struct pl_dump_thread t = {.tid = tid,
				   .ident = ts->thread_id,
				   .main = number == 0 && tid == (uint64_t)pl_core_pid(u->core),
				   .python = true,
				   .interpreter = number,
				   .gil_holder = holder,
				   .exception = pl_exception_handled(u->mem, &u->py, ts),
				   .has_gil = pl_tstate_has_gil(ts, interp),
				   .wait = {.number = -1, .fd = {.fd = -1, .kind = "unknown", .state = ""}}};
	pl_frame_vec frames = {0};

	t.name = pl_dump_str(u->d, t.main ? "MainThread" : "");
	t.in_gc = t.has_gil && interp->gc_collecting;
	if (note)
		tell_note(u, note, interp, &t);
	walk(u, ts, &frames, &t);
	add_frames(u, ts, &frames, &t);
	tell_awaited(u, &frames, &t);
	pl_vec_deinit(&frames);
	return add_thread(u, &t);
}

static struct plumb_error *dump_interpreter(struct core_dumper *u, const struct pl_interp *interp, uint64_t number)
{
	pl_tstate_vec list = {0};
	struct plumb_error *err = pl_tstate_list(u->mem, &u->py, interp, &list, NULL);

	plumb_error_destroy(err); /* a list that is damaged comes out short */
	err = NULL;
	/* <= 3.10: numbers are known once the main thread, which is last, has been met. */
	for (size_t i = list.len; i-- > 0 && !u->tid_offset;)
		(void)tid_of(u, &list.data[i]);
	uint64_t holder = holder_tid(u, interp, &list);
	if (number == 0)
		u->p.gil_holder = holder;
	for (size_t i = 0; i < list.len && !err; i++)
		err = dump_thread(u, interp, &list.data[i], holder, number);
	pl_vec_deinit(&list);
	return err;
}

static struct plumb_error *dump_without_python(struct core_dumper *u)
{
	const pl_core_thread_vec *notes = pl_core_threads(u->core);
	struct plumb_error *err = NULL;
	uint32_t any;

	for (size_t i = 0; i < notes->len && !err; i++) {
		struct pl_dump_thread t = {.tid = (uint64_t)notes->data[i].tid,
					   .main = notes->data[i].tid == pl_core_pid(u->core),
					   .name = pl_dump_str(u->d, "")};

		if (pl_map_get(&u->known, t.tid, 0, &any))
			continue;
		tell_note(u, &notes->data[i], NULL, &t);
		err = add_thread(u, &t);
	}
	return err;
}

static void take_name(void *ctx, uint64_t ident, const char *name, size_t len)
{
	struct core_dumper *u = ctx;

	if (pl_clock_monotonic_ns() >= u->end_ns)
		return;
	for (size_t i = 0; i < u->p.threads.len; i++)
		if (u->p.threads.data[i].python && u->p.threads.data[i].ident == ident)
			u->p.threads.data[i].name = pl_dump_text(u->d, name, len);
}

static struct plumb_error *dump_threads(struct core_dumper *u)
{
	struct plumb_error *err = pl_interp_list(u->mem, &u->py, &u->interps, NULL);

	if (err == &pl_err_no_memory)
		return err;
	plumb_error_destroy(err);
	err = NULL;
	for (size_t i = 0; i < u->interps.len && !err; i++)
		err = dump_interpreter(u, &u->interps.data[i], u->interps.len - 1 - i);
	for (size_t i = 0; i < u->interps.len && !err; i++)
		plumb_error_destroy(pl_thread_names(u->mem, &u->py, &u->interps.data[i], take_name, u));
	return err ? err : dump_without_python(u);
}

/* ---- locks ------------------------------------------------------------------------------------------------------- */

/* What each thread has of what is waited for, which is known only now. */
static void take_holds(struct core_dumper *u, const struct pl_interp *interp)
{
	pl_tstate_vec list = {0};
	struct plumb_error *err = pl_tstate_list(u->mem, &u->py, interp, &list, NULL);

	plumb_error_destroy(err);
	for (size_t i = 0; i < list.len && !u->locks.in_part; i++) {
		struct pl_dump_thread none = {0};
		pl_frame_vec frames = {0};

		walk(u, &list.data[i], &frames, &none);
		pl_lock_finder_holds(&u->locks, &frames, tid_of(u, &list.data[i]), &u->locks.holds);
		pl_vec_deinit(&frames);
	}
	pl_vec_deinit(&list);
}

static struct plumb_error *find_locks(struct core_dumper *u)
{
	for (size_t i = 0; i < u->interps.len && u->p.awaited.len; i++)
		take_holds(u, &u->interps.data[i]);
	pl_lock_finder_tell(&u->locks);
	return pl_dump_find_deadlocks(&u->p);
}

/* ---- the process ------------------------------------------------------------------------------------------------- */

static struct plumb_error *find_python(struct core_dumper *u, const char *path)
{
	struct pl_work work = {.most = PL_IMAGE_WORK};
	struct pl_python_image image;
	struct pl_rights as;

	pl_core_rights(u->core, &as);
	struct plumb_error *err = pl_python_image_find_mapped(pl_core_maps(u->core), pl_core_exe(u->core),
							      u->o->root ? u->o->root : "/", &as, &work, &image);

	if (plumb_error_code(err) == PLUMB_ERR_NOT_PYTHON && as.anybody)
		return pl_error_hint(err, "root keeps this core, which may be anybody's: only files that are open to "
					  "everybody were looked into; '--trust-core' looks into all, for a core that "
					  "nobody has made up");
	if (err)
		return err;
	return pl_which_python(u->mem, &image, &work, &u->py);
}

static struct plumb_error *dump_tasks(struct core_dumper *u)
{
	const struct pl_task_dumper tasks = {.d = u->d,
					     .p = &u->p,
					     .mem = u->mem,
					     .py = &u->py,
					     .sources = u->o->source ? &u->sources : NULL,
					     .values = u->o->locals ? &u->values : NULL};

	return pl_dump_tasks(&tasks, &u->interps);
}

static void tell_header(struct core_dumper *u, const char *path)
{
	uint64_t written = pl_core_written_ns(u->core), now = pl_clock_real_ns();
	char version[PL_VERSION_TEXT];

	u->p.pid = (uint32_t)pl_core_pid(u->core);
	u->p.command = pl_dump_str(u->d, pl_core_command(u->core));
	u->p.python = pl_dump_str(u->d, pl_py_version_text(&u->py, version));
	u->p.core = pl_dump_str(u->d, path);
	u->p.tracer = pl_dump_other(u->d, 0);
	u->p.refused = pl_dump_str(u->d, "");
	/* Files of this machine; those that are younger than the core may be others than those that ran. */
	u->sources.root = u->o->root ? u->o->root : "/";
	pl_core_rights(u->core, &u->sources.view.rights);
	u->sources.age_ns = now > written ? now - written : 0;
}

static struct plumb_error *dump_core(struct core_dumper *u, const char *path)
{
	struct plumb_error *err = pl_core_open(path, u->o->root, u->o->trust_core, &u->core);

	if (err)
		return err;
	u->mem = pl_core_mem(u->core);
	if ((err = index_notes(u)) || (err = find_python(u, path)))
		return err;
	pl_values_init(&u->values, u->mem, &u->py, NULL);
	pl_lock_finder_init(&u->locks, u->d, &u->p, u->mem, &u->py, u->end_ns);
	tell_header(u, path);
	if ((err = dump_threads(u)) || (err = dump_tasks(u)))
		return err;
	pl_dump_sort_threads(&u->p);
	return find_locks(u);
}

struct plumb_error *pl_dump_core(const char *path, const struct pl_dump_options *o, struct pl_dump *d)
{
	uint64_t start = pl_clock_monotonic_ns();
	struct core_dumper u = {.o = o,
				.d = d,
				.sources = {.patience_ms = pl_sources_patience_ms(pl_dump_limit_ns(o))},
				.notes = PL_MAP_INIT,
				.known = PL_MAP_INIT,
				.end_ns = start + pl_dump_limit_ns(o)};
	struct plumb_error *err = dump_core(&u, path);

	pl_lock_finder_deinit(&u.locks);
	pl_map_deinit(&u.notes);
	pl_map_deinit(&u.known);
	pl_core_close(u.core);
	pl_vec_deinit(&u.interps);
	u.p.silent = pl_dump_str(d, u.sources.silent ? u.sources.silent : "");
	u.p.barred = pl_dump_str(d, u.sources.barred ? u.sources.barred : "");
	u.p.sources_left_out = u.sources.left_out;
	pl_sources_deinit(&u.sources);
	u.p.took_ns = pl_clock_monotonic_ns() - start;
	if (!err && (d->no_memory || u.sources.no_memory))
		err = &pl_err_no_memory; /* a part that looks like the whole would be worse than nothing */
	if (!err && pl_vec_push(&d->processes, u.p))
		return NULL;
	pl_dump_process_deinit(&u.p);
	return err ? err : &pl_err_no_memory;
}
