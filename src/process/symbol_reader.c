/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process. See symbol_reader.h. The process that reads allocates, so this is not for the program itself: who
 * kills it alone could leave a lock behind. */
#include "symbol_reader.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "filed_functions.h"
#include "image.h"
#include "mapped_functions.h"
#include "mem_live.h"
#include "native_methods.h"
#include "perf_map.h"

/* What is read stays in memory, so work is a measure of that, too. */
#define WORK_MAX (2ull * PL_IMAGE_WORK) /* for all files of a session; those of one process get half of it */
#define PAGE	 4096u

struct pl_symbol_job {
	struct pl_aside aside; /* first */
	pid_t pid;
	struct pl_file_view seen;
	struct pl_mapping map; /* its path is ours */
	uint8_t build_id[64];
	size_t build_id_len;
	struct pl_work work;
	bool of_lines;			/* debug information is asked for, and no functions */
	struct pl_functions *functions; /* the answer */
	struct pl_file_lines *lines;
};

static bool is_perf_map(pid_t pid, const struct pl_mapping *map)
{
	return pid && pl_code_module_is_perf_map(map);
}

static struct plumb_error *read_perf_map(struct pl_symbol_job *j)
{
	struct plumb_error *err = pl_perf_map_functions(j->pid, &j->seen, &j->work, &j->functions);

	if (!err)
		pl_functions_sort(j->functions);
	return err;
}

static struct plumb_error *read_functions(struct pl_symbol_job *j, const pl_mapping_vec *maps, struct pl_mem_live *live)
{
	const struct pl_mapped_place place = {
		j->pid, &j->seen, maps, live ? pl_mem_live_mem(live) : NULL, &j->work, pl_native_methods_add};
	struct plumb_error *err = NULL;

	if (j->of_lines) {
		j->lines = pl_file_lines_of_mapping(&place, &j->map, j->build_id, j->build_id_len, j->work.most);
		return NULL;
	}
	err = pl_mapped_functions(&place, &j->map, j->build_id, j->build_id_len, &j->functions);

	if (!err)
		pl_functions_sort(j->functions);
	return err;
}

/* Of a file that nobody has mapped. */
static void read_filed(struct pl_symbol_job *j)
{
	if (j->of_lines) {
		j->lines = pl_file_lines_of_build(j->map.path, j->build_id, j->build_id_len, j->work.most);
		return;
	}
	struct plumb_error *err = pl_filed_functions(j->map.path, j->build_id, j->build_id_len, pl_native_methods_add,
						     &j->work, &j->functions);

	if (!err)
		pl_functions_sort(j->functions);
	plumb_error_destroy(err);
}

/* What a process has mapped, and its memory, are asked only where a file is in them alone. */
static void read_symbols(struct pl_aside *a)
{
	struct pl_symbol_job *j = (struct pl_symbol_job *)a;
	struct pl_mem_live *live = NULL;
	pl_mapping_vec maps = {0};
	struct plumb_error *err = NULL;

	if (j->pid == 0) {
		read_filed(j);
		return;
	}
	if (is_perf_map(j->pid, &j->map)) {
		plumb_error_destroy(read_perf_map(j));
		return;
	}
	if (j->map.inode == 0)
		err = pl_mem_live_create(j->pid, &live);
	else if (j->map.deleted)
		err = pl_maps_read(j->pid, &maps);
	err = err ? err : read_functions(j, &maps, live);
	plumb_error_destroy(err);
	pl_maps_deinit(&maps);
	pl_mem_live_destroy(live);
}

static void free_job(struct pl_aside *a)
{
	struct pl_symbol_job *j = (struct pl_symbol_job *)a;

	pl_functions_destroy(j->functions);
	pl_file_lines_destroy(j->lines);
	free(j->map.path);
	free(j);
}

static const struct pl_aside_ops ops = {.name = "plumb-symbols", .process = read_symbols, .free = free_job};

/* What may be spent for a file of @p pid. */
static uint64_t left_of(uint64_t spent, const struct pl_map *by_process, pid_t pid)
{
	uint64_t left = WORK_MAX - spent, of_process;
	uint32_t pages = 0;

	(void)pl_map_get(by_process, (uint64_t)pid, 0, &pages);
	of_process = (uint64_t)pages * PAGE;
	of_process = of_process < PL_IMAGE_WORK ? PL_IMAGE_WORK - of_process : 0;
	return left < of_process ? left : of_process;
}

static void note_spent(uint64_t *all, struct pl_map *by_process, pid_t pid, uint64_t spent)
{
	uint32_t pages = 0;

	*all += spent < WORK_MAX - *all ? spent : WORK_MAX - *all;
	(void)pl_map_get(by_process, (uint64_t)pid, 0, &pages);
	/* Without memory for that it counts for all of them alone. */
	(void)pl_map_set(by_process, (uint64_t)pid, 0, pages + (uint32_t)(spent / PAGE) + 1);
}

uint64_t pl_symbol_lines_left(const struct pl_symbol_reader *r, pid_t pid)
{
	return left_of(r->lines_spent, &r->lines_by_process, pid);
}

void pl_symbol_lines_note(struct pl_symbol_reader *r, pid_t pid, uint64_t spent)
{
	note_spent(&r->lines_spent, &r->lines_by_process, pid, spent);
}

size_t pl_symbol_places(struct pl_symbol_reader *r, struct pl_file_lines *l, struct pl_symbol_places *q)
{
	const uint64_t left = l ? pl_symbol_lines_left(r, q->pid) : 0;

	q->left_out = l != NULL;
	if (!left)
		return 0;
	const uint64_t before = l->work.spent;
	size_t count = pl_file_lines_places(l, q->address, left, q->tell, q->ctx, &q->left_out);
	pl_symbol_lines_note(r, q->pid, l->work.spent - before);
	return count;
}

static struct pl_symbol_job *job_create(const struct pl_code_file *q, uint64_t most)
{
	struct pl_symbol_job *j = calloc(1, sizeof *j);

	if (!j)
		return NULL;
	pl_aside_init(&j->aside, &ops);
	j->pid = q->pid;
	if (q->seen)
		j->seen = *q->seen;
	j->map = *q->map;
	j->map.path = strdup(q->map->path);
	j->build_id_len = q->build_id_len <= sizeof j->build_id ? q->build_id_len : 0;
	if (j->build_id_len)
		memcpy(j->build_id, q->build_id, j->build_id_len);
	j->work = (struct pl_work){.most = most};
	if (j->map.path)
		return j;
	pl_aside_leave(&j->aside);
	return NULL;
}

static uint64_t left(struct pl_symbol_reader *r, const struct pl_code_file *q)
{
	return is_perf_map(q->pid, q->map) ? pl_ration_begin(&r->perf_maps, pl_clock_monotonic_ns()).most
					   : left_of(r->spent, &r->by_process, q->pid);
}

bool pl_symbol_ask(struct pl_symbol_reader *r, const struct pl_code_file *q)
{
	uint64_t most = pl_asker_may(&r->asker) ? left(r, q) : 0;
	struct pl_symbol_job *j = most ? job_create(q, most) : NULL;

	return j && pl_asker_begin(&r->asker, &j->aside);
}

bool pl_symbol_ask_lines(struct pl_symbol_reader *r, const struct pl_code_file *q)
{
	uint64_t most = pl_asker_may(&r->asker) ? pl_symbol_lines_left(r, q->pid) : 0;
	struct pl_symbol_job *j = most ? job_create(q, most) : NULL;

	if (j)
		j->of_lines = true;
	return j && pl_asker_begin(&r->asker, &j->aside);
}

static void take_lines(struct pl_symbol_reader *r, struct pl_symbol_job *j)
{
	struct pl_file_lines *l = j->lines;

	if (l)
		pl_symbol_lines_note(r, j->pid, l->work.spent);
	if (!l || (!l->dwarf && !l->partly))
		return; /* it goes with the job */
	r->lines = l;
	j->lines = NULL;
}

static struct pl_functions *take_answer(struct pl_symbol_reader *r)
{
	struct pl_symbol_job *j = (struct pl_symbol_job *)r->asker.asked;
	struct pl_functions *answer = j->functions;

	if (j->of_lines)
		take_lines(r, j);
	else if (is_perf_map(j->pid, &j->map))
		pl_ration_end(&r->perf_maps, &j->work);
	else
		note_spent(&r->spent, &r->by_process, j->pid, j->work.spent);
	j->functions = NULL;

	return answer;
}

struct pl_file_lines *pl_symbol_take_lines(struct pl_symbol_reader *r)
{
	struct pl_file_lines *lines = r->lines;

	r->lines = NULL;
	return lines;
}

bool pl_symbol_answered(struct pl_symbol_reader *r, int timeout_ms, int patience_ms, struct pl_functions **ret)
{
	enum pl_asked asked = pl_asker_wait(&r->asker, timeout_ms, patience_ms);

	pl_file_lines_destroy(pl_symbol_take_lines(r)); /* nobody wanted it */

	*ret = asked == PL_ASKED_DONE ? take_answer(r) : NULL;
	if (asked == PL_ASKED_PENDING)
		return false;
	pl_asker_end(&r->asker);
	return true;
}

void pl_symbol_reader_deinit(struct pl_symbol_reader *r)
{
	pl_asker_end(&r->asker);
	pl_file_lines_destroy(pl_symbol_take_lines(r));
	pl_map_deinit(&r->by_process);
	pl_map_deinit(&r->lines_by_process);
}
