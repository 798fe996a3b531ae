/* SPDX-License-Identifier: Apache-2.0 */
/* native_rate PID [STACKS [PASSES]]: how fast native stacks are made in memory, as JSON. The main thread of PID is
 * stopped so many times, at moments that follow no rhythm of its own; its registers, its stack and its Python frames
 * are kept. Of these, in passes over all of them: native frames are found (`unwind`); stacks are made, and nodes of the
 * trie, as sampling does (`merge`). The first pass has to read tables, of the others the fastest one counts. `tables`:
 * all descriptions in the interpreter's image are read to their end, as who makes a table of them beforehand has to.
 * CPU time: other programs do not count, but for caches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "c_stack.h"
#include "cfi.h"
#include "clock.h"
#include "native_reader.h"
#include "pause.h"
#include "python_process.h"

#define STACKS_MAX 2000u
#define AWAIT_NS   1000000000u
#define STEPS	   1000000u

struct kept {
	struct pl_native_taken taken;
	struct pl_stack_reader stack;
	pl_addr *anchors;
	size_t anchor_count, frames;
};

struct rate {
	struct pl_python_process *process;
	struct pl_native_reader *reader;
	struct kept *kept;
	unsigned count, passes;
	struct pl_stack_reader stack; /* of the thread, as a sampler has it */
};

/* The stack as it was kept, and of what is mapped the tables. */
struct view {
	struct pl_mem mem;
	const struct pl_native_taken *taken;
	struct pl_mem *tables;
};

static struct plumb_error *view_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct view *v = (struct view *)mem;
	const struct pl_native_taken *t = v->taken;

	if (addr < t->at || addr - t->at > t->len || len > t->len - (addr - t->at))
		return pl_mem_read(v->tables, addr, dst, len);
	memcpy(dst, t->stack + (addr - t->at), len);
	return NULL;
}

static const struct pl_mem_ops view_ops = {.read = view_read};

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double least(double a, double b)
{
	return a != 0 && a < b ? a : b;
}

/* ---- taking ------------------------------------------------------------------------------------------------------ */

static struct plumb_error *main_thread(struct pl_python_process *p, const struct pl_thread_sampler **ret)
{
	struct plumb_error *err = pl_thread_list_refresh(p, pl_clock_monotonic_ns());

	*ret = NULL;
	for (size_t i = 0; i < p->threads.samplers.len && !err; i++)
		if (p->threads.samplers.data[i]->tid == p->pid)
			*ret = p->threads.samplers.data[i];
	return err;
}

/* While it stands still; all that is read of it is in r->reader->taken then. */
static struct plumb_error *read_stopped(struct rate *r, struct pl_stack_reader *s)
{
	struct pl_reading reading = {0};
	struct plumb_error *err = NULL;

	for (int i = 0; i < 4 && !reading.complete && !err; i++)
		err = pl_stack_read(&r->process->reader, s, &reading);
	if (!err && reading.complete)
		(void)pl_native_reader_take(r->reader, s, r->process->pid, NULL);
	return err;
}

static struct plumb_error *take(struct rate *r, struct pl_stack_reader *s)
{
	const pid_t pid = r->process->pid;
	struct pl_pause pause;
	struct plumb_error *err = NULL;
	enum pl_pause_result result = pl_pause_stop(&pause, pid, pid);

	r->reader->taken.taken = false;
	if (result != PL_PAUSE_STOPPED && result != PL_PAUSE_HELD)
		return &pl_err_target_exited;
	if (pl_pause_await(&pause, AWAIT_NS))
		err = read_stopped(r, s);
	while (!pl_pause_release(&pause))
		;
	return err;
}

static void rest(void)
{
	const struct timespec t = {0, 300000 + rand() % 3000000};

	nanosleep(&t, NULL);
}

static struct plumb_error *take_all(struct rate *r, unsigned wanted)
{
	const struct pl_thread_sampler *main;
	struct plumb_error *err = main_thread(r->process, &main);

	if (!err && !main)
		err = &pl_err_target_exited;
	for (unsigned i = 0; i < wanted && !err; i++) {
		struct kept *k = &r->kept[r->count];

		rest();
		pl_stack_reader_init(&k->stack, &r->process->reader, main->stack.tstate, &main->stack.interp);
		err = take(r, &k->stack);
		k->taken = r->reader->taken;
		r->reader->taken = (struct pl_native_taken){0};
		if (k->taken.taken)
			r->count++;
		else
			pl_stack_reader_deinit(&k->stack);
	}
	if (!err)
		pl_stack_reader_init(&r->stack, &r->process->reader, main->stack.tstate, &main->stack.interp);
	return err;
}

/* ---- unwinding --------------------------------------------------------------------------------------------------- */

static struct plumb_error *find_anchors(struct rate *r, struct kept *k, struct view *v)
{
	pl_eval_vec evals = {0};
	struct plumb_error *err =
		pl_evals_find(&v->mem, &r->process->reader.py, k->taken.cframe, &k->taken.frames, &evals);

	k->anchors = calloc(evals.len + 1, sizeof *k->anchors);
	for (size_t i = 0; i < evals.len && k->anchors; i++)
		if (evals.data[i].anchor &&
		    (!k->anchor_count || evals.data[i].anchor > k->anchors[k->anchor_count - 1]))
			k->anchors[k->anchor_count++] = evals.data[i].anchor;
	pl_vec_deinit(&evals);
	return err || k->anchors ? err : &pl_err_no_memory;
}

/* Returns how many of them reach the root. */
static size_t unwind_all(struct rate *r, struct view *v, pl_native_frame_vec *frames)
{
	struct pl_native *n = r->reader->native;
	struct pl_native_place *p = &n->place;
	size_t whole = 0;

	for (unsigned i = 0; i < r->count; i++) {
		struct kept *k = &r->kept[i];
		struct pl_unwinder u = {&v->mem, &pl_unwind_x86_64, p->images.data, p->images.len, STEPS, p->rules,
					NULL};
		struct pl_registers regs = k->taken.regs;

		v->taken = &k->taken;
		frames->len = 0;
		whole += pl_unwind_on(&u, &regs, k->anchors, k->anchor_count, &n->landing, frames) == PL_UNWIND_ROOT;
		k->frames = frames->len;
	}
	return whole;
}

static struct plumb_error *measure_unwind(struct rate *r)
{
	struct view v = {.mem = {&view_ops}, .tables = pl_mem_pages_mem(r->reader->native->place.pages)};
	pl_native_frame_vec frames = {0};
	double first = 0, best = 0;
	size_t whole = 0, total = 0;
	struct plumb_error *err = NULL;

	for (unsigned i = 0; i < r->count && !err; i++) {
		v.taken = &r->kept[i].taken;
		err = find_anchors(r, &r->kept[i], &v);
	}
	for (unsigned pass = 0; pass <= r->passes && !err; pass++) {
		const double began = cpu_seconds();

		whole = unwind_all(r, &v, &frames);
		const double seconds = cpu_seconds() - began;
		first = pass ? first : seconds;
		best = pass ? least(best, seconds) : 0;
	}
	for (unsigned i = 0; i < r->count; i++)
		total += r->kept[i].frames;
	pl_vec_deinit(&frames);
	printf("\"stacks\":%u,\"to_root\":%zu,\"frames\":%zu,\"unwind_first_us\":%.2f,\"unwind_us\":%.3f,"
	       "\"frame_ns\":%.1f,\"unwinds_of_40_per_s\":%.0f,",
	       r->count, whole, total, 1e6 * first / r->count, 1e6 * best / r->count, 1e9 * best / (double)total,
	       (double)total / best / 40);
	return err;
}

/* ---- joining them with Python frames, and nodes ------------------------------------------------------------------ */

static struct plumb_error *merge_all(struct rate *r, size_t *joined_ret)
{
	struct plumb_error *err = NULL;
	uint32_t node;

	*joined_ret = 0;
	for (unsigned i = 0; i < r->count && !err; i++) {
		r->reader->taken = r->kept[i].taken;
		err = pl_native_reader_node(r->reader, &r->process->reader, &r->kept[i].stack, &node);
		*joined_ret += node != 0;
	}
	r->reader->taken = (struct pl_native_taken){0};
	return err;
}

static struct plumb_error *measure_merge(struct rate *r)
{
	double first = 0, best = 0;
	size_t joined = 0;
	struct plumb_error *err = NULL;

	for (unsigned pass = 0; pass <= r->passes && !err; pass++) {
		const double began = cpu_seconds();

		err = merge_all(r, &joined);
		const double seconds = cpu_seconds() - began;
		first = pass ? first : seconds;
		best = pass ? least(best, seconds) : 0;
	}
	printf("\"merged\":%zu,\"merge_first_us\":%.2f,\"merge_us\":%.2f,\"merged_per_s\":%.0f,", joined,
	       1e6 * first / r->count, 1e6 * best / r->count, r->count / best);
	return err;
}

/* With the stop, and all that is read while it lasts, one sample after the other. */
static struct plumb_error *measure_sampling(struct rate *r)
{
	double seconds = 0, best = 0;
	struct plumb_error *err = NULL;
	unsigned joined = 0;
	uint32_t node;

	for (unsigned i = 0; i < 2 * r->count && !err; i++) {
		const double began = cpu_seconds();
		err = take(r, &r->stack);
		err = err ? err : pl_native_reader_node(r->reader, &r->process->reader, &r->stack, &node);
		const double one = cpu_seconds() - began;
		seconds += err || !node ? 0 : one;
		joined += !err && node;
		best = err || !node ? best : least(best, one);
	}
	pl_stack_reader_deinit(&r->stack);
	if (joined)
		printf("\"sampled\":%u,\"sample_us\":%.1f,\"sample_least_us\":%.1f,\"samples_per_s\":%.0f,", joined,
		       1e6 * seconds / joined, 1e6 * best, joined / seconds);
	return err;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* Returns how many descriptions it has. */
static size_t read_tables(const struct pl_unwind_image *i, struct pl_mem *mem)
{
	size_t n = 0, steps;
	struct pl_cfi_row row;
	struct pl_fde f;
	int32_t distance;

	for (uint32_t k = 0; k < i->count; k++) {
		steps = STEPS;
		if (pl_mem_get(mem, i->table + 8u * k, &distance, sizeof distance) &&
		    pl_fde_find(i, mem, i->index + (uint64_t)(int64_t)distance, &f) && f.end > f.start)
			n += pl_cfi_row_at(&f, mem, f.end - 1, &steps, &row);
	}
	return n;
}

static struct plumb_error *measure_tables(struct rate *r)
{
	struct pl_native_place *p = &r->reader->native->place;
	const uint32_t python = pl_native_image_of_python(r->reader->native);
	double opening = 0, reading = 0;
	struct plumb_error *err = python == PL_NO_IMAGE ? &pl_err_unreadable : NULL;
	size_t functions = 0;

	for (unsigned pass = 0; pass < r->passes && !err; pass++) {
		struct pl_unwind_image i = p->images.data[python];
		struct pl_mem_pages *pages;

		err = pl_mem_pages_create(p->live, &pages);
		if (err)
			break;
		double began = cpu_seconds();
		i.opened = false;
		pl_unwind_image_open(&i, pl_mem_pages_mem(pages), &pl_unwind_x86_64);
		opening = least(opening, cpu_seconds() - began);
		began = cpu_seconds();
		functions = read_tables(&i, pl_mem_pages_mem(pages));
		reading = least(reading, cpu_seconds() - began);
		pl_mem_pages_destroy(pages);
	}
	printf("\"open_us\":%.1f,\"functions\":%zu,\"tables_ms\":%.2f}\n", 1e6 * opening, functions, 1e3 * reading);
	return err;
}

/* ------------------------------------------------------------------------------------------------------------------ */

static struct plumb_error *measure(struct rate *r, pid_t pid, unsigned wanted)
{
	struct plumb_error *err = pl_python_process_open(pid, PL_STOP_ALWAYS, &r->process);

	err = err ? err
		  : pl_native_reader_create(pid, pl_python_process_mem(r->process), &r->process->reader.py, &r->reader);
	err = err ? err : take_all(r, wanted);
	if (!err && !r->count)
		err = &pl_err_unreadable;
	if (!err)
		printf("{");
	err = err ? err : measure_unwind(r);
	err = err ? err : measure_merge(r);
	err = err ? err : measure_sampling(r);
	return err ? err : measure_tables(r);
}

static void clean_up(struct rate *r)
{
	for (unsigned i = 0; i < r->count; i++) {
		pl_native_taken_deinit(&r->kept[i].taken);
		pl_stack_reader_deinit(&r->kept[i].stack);
		free(r->kept[i].anchors);
	}
	free(r->kept);
	pl_native_reader_destroy(r->reader);
	pl_python_process_close(r->process);
}

int main(int argc, char **argv)
{
	const unsigned wanted = argc > 2 ? (unsigned)atoi(argv[2]) : 300;
	struct rate r = {.passes = argc > 3 ? (unsigned)atoi(argv[3]) : 20};

	if (argc < 2 || !wanted || wanted > STACKS_MAX || !r.passes) {
		fprintf(stderr, "usage: native_rate PID [STACKS [PASSES]]\n");
		return 2;
	}
	r.kept = calloc(wanted, sizeof *r.kept);
	struct plumb_error *err = r.kept ? measure(&r, atoi(argv[1]), wanted) : &pl_err_no_memory;
	clean_up(&r);
	if (err)
		fprintf(stderr, "native_rate: %s\n", plumb_error_message(err));
	const int status = err ? 1 : 0;
	plumb_error_destroy(err);
	return status;
}
