/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: recordings. An input that begins like a recording is read as it is. Any other is cut into pieces, each
 * of which becomes the payload of a chunk with good sums: a fuzzer does not find two checksums by itself. A piece is
 *
 *   u8 flags (1: last chunk, 2: one is missing before it), u16 number of samples, u16 length, content
 *
 * What was read must be a profile like any other: it is asked all questions and merged. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture.h"
#include "format.h"
#include "index.h"
#include "view.h"

static void must(struct plumb_error *err)
{
	if (err)
		abort();
}

static void wrap_pieces(const uint8_t *data, size_t size, struct pl_buf *file)
{
	uint8_t header[PL_FILE_HEADER_LEN];
	struct pl_chunk_header h = {0};
	pl_file_header_encode(header, PL_RECORDING_VERSION);
	must(pl_buf_add(file, header, sizeof header));
	while (size >= 5) {
		size_t len = (size_t)(data[3] | data[4] << 8);
		struct pl_buf raw = PL_BUF_INIT(1 << 16);
		if (len > size - 5)
			len = size - 5;
		h.kind = data[0] & 1 ? PL_CHUNK_LAST : PL_CHUNK_MORE;
		h.sequence += data[0] & 2 ? 1 : 0;
		h.samples = (uint32_t)(data[1] | data[2] << 8);
		must(pl_buf_add(&raw, data + 5, len));
		must(pl_chunk_seal(&h, &raw, file));
		pl_buf_deinit(&raw);
		h.sequence++;
		h.samples_before += h.samples;
		data += 5 + len;
		size -= 5 + len;
	}
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

static void read_file(const uint8_t *bytes, size_t len)
{
	struct plumb_profile *p = NULL, *sum = NULL;
	struct pl_capture_info info;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET))
		abort();
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
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pl_buf file = PL_BUF_INIT((size_t)1 << 28);
	if (size >= PL_FILE_MAGIC_LEN && memcmp(data, PL_FILE_MAGIC, PL_FILE_MAGIC_LEN) == 0) {
		read_file(data, size);
		return 0;
	}
	wrap_pieces(data, size, &file);
	read_file(file.data, file.len);
	pl_buf_deinit(&file);
	return 0;
}
