/* SPDX-License-Identifier: Apache-2.0 */
/* What the sampling thread keeps and what the consumer makes of it, with its first allocation failing, then its second,
 * ...: it stays whole, what was in it stays, and what is read is true. */
#include "unit.h"

#include <plumb/tags.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codes.h"
#include "failing.h"
#include "proc.h"
#include "queue.h"
#include "resolve.h"
#include "snapshot.h"
#include "thread_sampler.h"
#include "trie.h"

static bool well(struct plumb_error *err)
{
	assert_true(!err || plumb_error_code(err) == PLUMB_ERR_NO_MEMORY);
	plumb_error_destroy(err);
	return !err;
}

static void use_trie(void *ctx)
{
	struct pl_trie t;
	uint32_t id;

	if (!well(pl_trie_init(&t)))
		return;
	for (uint32_t i = 0; i < 500; i++) {
		size_t before = t.nodes.len;
		if (!well(pl_trie_child(&t, i, i, (int32_t)i, 0, &id))) {
			assert_int_equal(t.nodes.len, before);
			assert_ok(pl_trie_child(&t, i, i, (int32_t)i, 0, &id));
		}
		assert_int_equal(id, i + 1);
	}
	for (uint32_t i = 0; i < 500; i++) {
		assert_ok(pl_trie_child(&t, i, i, (int32_t)i, 0, &id));
		assert_int_equal(id, i + 1);
	}
	pl_trie_deinit(&t);
}

/* What could not be added is nowhere, and can be later. */
static void use_code_modules(void *ctx)
{
	static char path[] = "/lib/one.so";
	const struct pl_code_module *one;
	struct pl_code_modules m = {0};
	const struct pl_file_view seen = {0};

	for (uint32_t i = 0; i < 200; i++) {
		const struct pl_mapping map = {.inode = i / 2, .dev_minor = i % 2, .path = path};

		if (!well(pl_code_modules_find(&m, &(struct pl_code_file){42, &seen, &map, NULL, 0}, &one)))
			assert_int_equal(m.all.len, i);
		assert_ok(pl_code_modules_find(&m, &(struct pl_code_file){42, &seen, &map, NULL, 0}, &one));
		assert_true(one->id == i && m.all.len == i + 1);
	}
	pl_code_modules_deinit(&m);
}

static void use_queue(void *ctx)
{
	struct pl_queue q;
	struct pl_record r = {.kind = PL_RECORD_SAMPLE}, got;

	if (well(pl_queue_init(&q))) {
		pl_queue_push(&q, &r);
		assert_true(pl_queue_pop(&q, &got));
	}
	pl_queue_deinit(&q);
}

/* The target is ourselves. A plan or a copy that cannot be had costs the proof, never the truth. */
static void use_snapshot(void *ctx)
{
	static uint8_t area[64 * 1024];
	struct pl_mem_live *live = NULL;
	struct pl_snapshot s;
	uint8_t got[64];

	if (!well(pl_mem_live_create(getpid(), &live)))
		return;
	for (size_t i = 0; i < sizeof area; i++)
		area[i] = (uint8_t)(i * 7 + i / 251);
	pl_snapshot_init(&s, live);
	for (int round = 0; round < 6; round++) {
		if (!well(pl_snapshot_fetch(&s)))
			pl_snapshot_bypass(&s);
		for (size_t i = 0; i < 40; i++) {
			const uint8_t *p = area + i * 1500 + (size_t)round;
			if (!well(pl_mem_read(&s.mem, (pl_addr)(uintptr_t)p, got, sizeof got)))
				continue;
			assert_memory_equal(got, p, sizeof got);
			if (i == 0)
				pl_snapshot_anchor_touched(&s);
		}
		pl_snapshot_learn(&s);
	}
	pl_snapshot_deinit(&s);
	pl_mem_live_destroy(live);
}

static struct plumb_error *no_sample(void *ctx, const struct pl_sample *s)
{
	return NULL;
}

static bool take(struct pl_resolver *r, struct plumb_profile *p, struct pl_record rec)
{
	return well(pl_resolver_take(r, &rec, p, no_sample, NULL));
}

#define VIEW 1 /* its number */

static bool take_infos(struct pl_resolver *r, struct plumb_profile *p)
{
	struct pl_record process = {.kind = PL_RECORD_PROCESS}, thread = {.kind = PL_RECORD_THREAD};

	process.process.info = calloc(1, sizeof *process.process.info); /* the resolver frees them */
	if (!process.process.info)
		return false;
	process.process.info->pid = (uint32_t)getpid();
	process.process.info->start_ns = pl_proc_started_ns(getpid());
	process.process.info->view_number = VIEW;
	assert_true(pl_file_view_of(getpid(), &process.process.info->view));
	if (!take(r, p, process))
		return false;
	thread.thread.info = calloc(1, sizeof *thread.thread.info);
	return thread.thread.info && take(r, p, thread);
}

static bool tag_text(void *ctx, uint32_t id, char *ret, size_t size)
{
	snprintf(ret, size, "[id=%u]", id);
	return true;
}

/* Of two files, some samples with a tag. */
static void use_resolver(void *ctx)
{
	static uint8_t long_table[2000];
	const char *const *files = ctx;
	struct pl_known_code code = {.lines = PL_LINES_LNOTAB, .view = VIEW};
	struct pl_resolver *r = NULL;
	struct plumb_profile *p = NULL;
	const struct plumb_tags tags = {.text = tag_text};

	const struct pl_engine_options options = {.sources = true, .own = true, .tags = &tags};

	bool ok = well(pl_profile_create(&p)) && well(pl_resolver_create(&options, &r)) && take_infos(r, p);
	for (uint32_t i = 0; ok && i < 200; i++) {
		struct pl_record sample = {
			.kind = PL_RECORD_SAMPLE, .marker = i % 2 ? PL_MARKER_GC : PL_MARKER_NONE, .tag = i % 3};

		code.code.filename.data = (uint8_t *)(uintptr_t)files[i % 2];
		code.code.filename.len = strlen(files[i % 2]);
		code.code.linetable.data = long_table;
		code.code.linetable.len = sizeof long_table;
		code.code.firstlineno = i + 1;
		sample.sample.node = i + 1;
		ok = take(r, p, (struct pl_record){.kind = PL_RECORD_CODE, .code = {&code}}) &&
		     take(r, p, (struct pl_record){.kind = PL_RECORD_NODE, .node = {.parent = i, .code = i}}) &&
		     take(r, p, sample) && well(pl_resolver_read_texts(r, p, false));
	}
	ok = ok && well(pl_resolver_read_texts(r, p, true));
	assert_true(ok || failing_happened());
	assert_true(!ok || p->source_count + p->meta.sources_left_out == 2);
	assert_true(failing_happened() || p->source_count == 2);
	pl_resolver_destroy(r);
	pl_profile_destroy(p);
}

static void tries_stay_whole(void **state)
{
	failing_each(use_trie, NULL, 6);
}

static void files_of_native_functions_stay_whole(void **state)
{
	failing_each(use_code_modules, NULL, 10);
}

static void queues_are_made_or_not(void **state)
{
	failing_each(use_queue, NULL, 1);
}

static void snapshots_are_true_or_not_there(void **state)
{
	failing_each(use_snapshot, NULL, 4);
}

static void a_resolver_ends_at_what_it_cannot_take_over(void **state)
{
	char one[] = "/tmp/plumb-one-XXXXXX", two[] = "/tmp/plumb-two-XXXXXX";
	char *const names[] = {one, two};

	for (size_t i = 0; i < 2; i++) {
		int fd = mkstemp(names[i]);
		assert_int_equal(write(fd, "pass\n", 5), 5);
		close(fd);
	}
	failing_each(use_resolver, (void *)(uintptr_t)names, 20);
	unlink(one);
	unlink(two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tries_stay_whole),
		cmocka_unit_test(files_of_native_functions_stay_whole),
		cmocka_unit_test(queues_are_made_or_not),
		cmocka_unit_test(snapshots_are_true_or_not_there),
		cmocka_unit_test(a_resolver_ends_at_what_it_cannot_take_over),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
