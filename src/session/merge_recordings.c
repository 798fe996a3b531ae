/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: <plumb/merge.h>, on top of model (adding) and capture (reading and writing). */
#include <plumb/merge.h>

#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "map.h"
#include "save.h"
#include "vec.h"
#include "words.h"

/* What two recordings of one and the same session agree in, and hardly any two others. */
struct fingerprint {
	uint64_t start_real_ns, seed, ticks, duration_ns, samples, weight_ns;
};

struct plumb_merge {
	struct plumb_profile *sum;
	PL_VEC(struct fingerprint) added;
};

struct plumb_error *plumb_merge_create(struct plumb_merge **ret)
{
	struct plumb_merge *m = calloc(1, sizeof *m);

	if (!m)
		return &pl_err_no_memory;
	struct plumb_error *err = pl_profile_create(&m->sum);
	if (err) {
		free(m);
		return err;
	}
	*ret = m;
	return NULL;
}

void plumb_merge_destroy(struct plumb_merge *m)
{
	if (!m)
		return;
	pl_profile_destroy(m->sum);
	pl_vec_deinit(&m->added);
	free(m);
}

static uint64_t samples_of(const struct plumb_profile *p, uint64_t *weight_ret)
{
	uint64_t samples = 0, weight = 0;

	for (uint32_t i = 0; i < p->cell_count; i++) {
		samples += p->cells[i].samples;
		weight += p->cells[i].weight_ns;
	}
	*weight_ret = weight;
	return samples;
}

static struct plumb_error *note(struct plumb_merge *m, const struct plumb_profile *p, bool *again_ret)
{
	struct fingerprint f;

	memset(&f, 0, sizeof f);
	f.start_real_ns = p->meta.start_real_ns;
	f.seed = p->meta.seed;
	f.ticks = p->meta.ticks;
	f.duration_ns = p->meta.duration_ns;
	f.samples = samples_of(p, &f.weight_ns);
	*again_ret = false;
	for (size_t i = 0; i < m->added.len; i++)
		*again_ret = *again_ret || memcmp(&m->added.data[i], &f, sizeof f) == 0;
	return pl_vec_push(&m->added, f) ? NULL : &pl_err_no_memory;
}

/* Which of the two is which is known only here. */
static struct plumb_error *explain(struct plumb_error *err, const struct plumb_merge *m, uint8_t mode, const char *path)
{
	if (plumb_error_code(err) != PLUMB_ERR_INVALID || mode == m->sum->meta.mode)
		return err;
	plumb_error_destroy(err);
	return pl_error(PLUMB_ERR_INVALID, "%s: it holds %s and those before it %s, which do not add up", path,
			pl_mode_time(mode), pl_mode_time(m->sum->meta.mode));
}

struct plumb_error *plumb_merge_add(struct plumb_merge *m, const char *path, struct plumb_recording_info *info,
				    bool *again_ret)
{
	struct plumb_profile *p;
	struct plumb_error *err = plumb_profile_open(path, info, &p);

	if (err)
		return err;
	err = note(m, p, again_ret);
	if (err) {
		plumb_profile_destroy(p);
		return err;
	}
	uint8_t mode = p->meta.mode;
	err = pl_profile_merge_last(&m->sum, p);
	return err ? explain(err, m, mode, path) : NULL;
}

struct plumb_error *plumb_merge_write(const struct plumb_merge *m, const char *path, bool force)
{
	struct plumb_profile *sorted;
	struct plumb_error *err = pl_profile_in_order(m->sum, &sorted);

	if (err)
		return err;
	sorted->meta.untimed = true;
	err = pl_save_as(sorted, path, force);
	pl_profile_destroy(sorted);
	return err;
}

void plumb_merge_totals(const struct plumb_merge *m, uint64_t *samples_ret, uint64_t *stacks_ret, size_t *processes_ret,
			size_t *hosts_ret)
{
	const struct plumb_profile *p = m->sum;
	struct pl_map hosts = PL_MAP_INIT;
	uint64_t weight_ns;

	for (uint32_t i = 0; i < p->process_count; i++)
		(void)pl_map_set(&hosts, p->processes[i].host, 0, 0); /* without memory: fewer than there are */
	*samples_ret = samples_of(p, &weight_ns);
	*stacks_ret = p->stack_count - 1;
	*processes_ret = p->process_count;
	*hosts_ret = hosts.len;
	pl_map_deinit(&hosts);
}
