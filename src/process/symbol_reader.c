/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process. See symbol_reader.h. The process that reads allocates, so this is not for the program itself: who
 * kills it alone could leave a lock behind. */
#include "symbol_reader.h"

#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "mapped_functions.h"
#include "mem_live.h"

#define WORK_MAX (8ull * PL_IMAGE_WORK) /* for all files of a session */

struct pl_symbol_job {
	struct pl_aside aside; /* first */
	pid_t pid;
	struct pl_mapping map; /* its path is ours */
	uint8_t build_id[64];
	size_t build_id_len;
	struct pl_work work;
	struct pl_functions *functions; /* the answer */
};

static struct plumb_error *read_functions(struct pl_symbol_job *j, const pl_mapping_vec *maps, struct pl_mem_live *live)
{
	const struct pl_mapped_place place = {j->pid, maps, live ? pl_mem_live_mem(live) : NULL, &j->work};
	struct plumb_error *err = pl_mapped_functions(&place, &j->map, j->build_id, j->build_id_len, &j->functions);

	if (!err)
		pl_functions_sort(j->functions);
	return err;
}

/* What a process has mapped, and its memory, are asked only where a file is in them alone. */
static void read_symbols(struct pl_aside *a)
{
	struct pl_symbol_job *j = (struct pl_symbol_job *)a;
	struct pl_mem_live *live = NULL;
	pl_mapping_vec maps = {0};
	struct plumb_error *err = NULL;

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
	free(j->map.path);
	free(j);
}

static const struct pl_aside_ops ops = {.name = "plumb-symbols", .process = read_symbols, .free = free_job};

static struct pl_symbol_job *job_create(const struct pl_symbol_reader *r, const struct pl_symbol_question *q)
{
	struct pl_symbol_job *j = calloc(1, sizeof *j);

	if (!j)
		return NULL;
	pl_aside_init(&j->aside, &ops);
	j->pid = q->pid;
	j->map = *q->map;
	j->map.path = strdup(q->map->path);
	j->build_id_len = q->build_id_len <= sizeof j->build_id ? q->build_id_len : 0;
	if (j->build_id_len)
		memcpy(j->build_id, q->build_id, j->build_id_len);
	j->work = (struct pl_work){.most = WORK_MAX - r->spent < PL_IMAGE_WORK ? WORK_MAX - r->spent : PL_IMAGE_WORK};
	if (j->map.path)
		return j;
	pl_aside_leave(&j->aside);
	return NULL;
}

bool pl_symbol_ask(struct pl_symbol_reader *r, const struct pl_symbol_question *q)
{
	bool may = pl_asker_may(&r->asker) && r->spent < WORK_MAX;
	struct pl_symbol_job *j = may ? job_create(r, q) : NULL;

	return j && pl_asker_begin(&r->asker, &j->aside);
}

static struct pl_functions *take_answer(struct pl_symbol_reader *r)
{
	struct pl_symbol_job *j = (struct pl_symbol_job *)r->asker.asked;
	struct pl_functions *answer = j->functions;

	r->spent += j->work.spent < WORK_MAX - r->spent ? j->work.spent : WORK_MAX - r->spent;
	j->functions = NULL;
	return answer;
}

bool pl_symbol_answered(struct pl_symbol_reader *r, int timeout_ms, int patience_ms, struct pl_functions **ret)
{
	enum pl_asked asked = pl_asker_wait(&r->asker, timeout_ms, patience_ms);

	*ret = asked == PL_ASKED_DONE ? take_answer(r) : NULL;
	if (asked == PL_ASKED_PENDING)
		return false;
	pl_symbol_reader_end(r);
	return true;
}

void pl_symbol_reader_end(struct pl_symbol_reader *r)
{
	pl_asker_end(&r->asker);
}
