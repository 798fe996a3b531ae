/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: recordings, as pieces.h makes them. What was read must be a profile like any other: it is asked all
 * questions and merged. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture.h"
#include "index.h"
#include "pieces.h"
#include "view.h"

static void must(struct plumb_error *err)
{
	if (err)
		abort();
}

static void check_share(const struct pl_share *s)
{
	assert(s->share >= 0 && s->share <= 1.000001);
	assert(s->half_width >= 0 && s->half_width <= 1);
}

static void ask(const struct plumb_profile *p, bool lines)
{
	struct pl_filter f = {.lines = lines, .idle = PL_IDLE_KEEP};
	struct pl_totals totals;
	pl_function_rows functions = {0};
	pl_tree_rows tree = {0};
	pl_thread_rows threads = {0};
	pl_stack_rows stacks = {0};
	pl_process_rows processes = {0};
	must(pl_view_totals(p, &f, &totals));
	must(pl_view_functions(p, &f, &functions));
	must(pl_view_tree(p, &f, 0.01, &tree));
	must(pl_view_threads(p, &f, &threads));
	must(pl_view_stacks(p, &f, &stacks));
	must(pl_view_processes(p, &f, &processes));
	for (size_t i = 0; i < processes.len; i++)
		check_share(&processes.data[i].total);
	for (size_t i = 0; i < functions.len; i++) {
		check_share(&functions.data[i].self);
		check_share(&functions.data[i].total);
	}
	for (size_t i = 0; i < tree.len; i++)
		check_share(&tree.data[i].total);
	pl_vec_deinit(&functions);
	pl_vec_deinit(&tree);
	pl_vec_deinit(&threads);
	pl_vec_deinit(&stacks);
	pl_vec_deinit(&processes);
}

static struct plumb_error *add_up(void *ctx, const struct pl_sample *s)
{
	uint64_t *sum = ctx;

	*sum = pl_sum_u64(pl_sum_u64(*sum, 1), s->extra);
	return NULL;
}

/* The same samples a second time, and nothing new. */
static void read_again(int fd, struct plumb_profile *p, const struct pl_capture_info *info)
{
	uint32_t stacks = p->stack_count, threads = p->thread_count, processes = p->process_count;
	uint32_t sources = p->source_count;
	uint64_t counted = 0, again = 0;
	for (uint32_t i = 0; i < p->cell_count; i++)
		counted = pl_sum_u64(counted, p->cells[i].samples);
	if (lseek(fd, 0, SEEK_SET))
		abort();
	must(pl_capture_read_again(fd, p, info, add_up, &again));
	assert(again == counted);
	assert(p->stack_count == stacks && p->thread_count == threads && p->process_count == processes);
	assert(p->source_count == sources);
}

static void read_file(int fd)
{
	struct plumb_profile *p = NULL, *sum = NULL;
	struct pl_capture_info info;
	must(pl_profile_create(&p));
	must(pl_profile_create(&sum));
	struct plumb_error *err = pl_capture_read(fd, p, NULL, NULL, &info);
	if (!err) {
		assert(info.chunks > 0);
		read_again(fd, p, &info);
		ask(p, false);
		ask(p, true);
		must(pl_profile_merge(sum, p));
		must(pl_profile_merge(sum, p));
	}
	plumb_error_destroy(err);
	pl_profile_destroy(p);
	pl_profile_destroy(sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pl_buf file = PL_BUF_INIT((size_t)1 << 28);
	recording_of_pieces(data, size, &file);
	int fd = recording_file(&file);
	read_file(fd);
	close(fd);
	pl_buf_deinit(&file);
	return 0;
}
