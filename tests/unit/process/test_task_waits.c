/* SPDX-License-Identifier: Apache-2.0 */
/* What the tasks of a real interpreter wait for, which rests; the time is the test's. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "dump_model.h"
#include "python.h"
#include "stage.h"
#include "task_waits.h"

#define STEP_NS	 100000000ull /* more than there is between two looks */
#define LOOKS	 400
#define SLEEPERS 20 /* more than are read in one look */

static const char script[] = "import asyncio, os, sys\n"
			     "async def rest(): await asyncio.sleep(3600)\n"
			     "async def inner(): await rest()\n"
			     "async def gathers(): await asyncio.gather(inner(), inner())\n"
			     "async def shields(): await asyncio.shield(inner())\n"
			     "async def locks(lock):\n"
			     "    async with lock: pass\n"
			     "async def gets(): await asyncio.Queue().get()\n"
			     "async def waits(future): await future\n"
			     "async def top(loop):\n"
			     "    lock = asyncio.Lock()\n"
			     "    await lock.acquire()\n"
			     "    work = [gathers(), shields(), locks(lock), gets(), waits(loop.create_future())]\n"
			     "    kept = [asyncio.ensure_future(c) for c in work + [rest() for _ in range(20)]]\n"
			     "    for _ in range(5): await asyncio.sleep(0)\n"
			     "    os.write(1, b'ready\\n')\n"
			     "    await asyncio.sleep(3600)\n"
			     "if sys.version_info < (3, 7):\n"
			     "    os.write(1, b'old\\n')\n"
			     "else:\n"
			     "    loop = asyncio.new_event_loop()\n"
			     "    loop.run_until_complete(top(loop))\n";

struct expected {
	const char *chain; /* of the program's own coroutines */
	enum pl_dump_for what;
	uint32_t tasks;
};
static const struct expected all[] = {
	{"gathers inner rest", PL_DUMP_FOR_TIME, 2},
	{"shields inner rest", PL_DUMP_FOR_TIME, 1},
	{"locks", PL_DUMP_FOR_LOCK, 1},
	{"gets", PL_DUMP_FOR_ITEM, 1},
	{"waits", PL_DUMP_FOR_RESULT, 1},
	{"rest", PL_DUMP_FOR_TIME, SLEEPERS},
	{"top", PL_DUMP_FOR_TIME, 1},
};
#define ALL (sizeof all / sizeof *all)

/* Those that are called so in the script. */
static void own_chain(const struct pl_python_process *p, uint32_t node, char *ret, size_t size)
{
	uint32_t parent = p->reader.trie->nodes.data[node].parent;
	const struct pl_code *c = &p->reader.codes.store->known.data[p->reader.trie->nodes.data[node].code]->code;

	if (parent)
		own_chain(p, parent, ret, size);
	else
		*ret = '\0';
	if (c->filename.len != 8 || memcmp(c->filename.data, "<string>", 8) != 0)
		return;
	size_t len = strlen(ret);
	snprintf(ret + len, size - len, "%s%.*s", len ? " " : "", (int)c->name.len, (const char *)c->name.data);
}

static size_t index_of(const struct pl_python_process *p, const struct pl_tasks_waiting *w)
{
	char chain[256];

	assert_true(w->node != 0); /* nothing is lost */
	own_chain(p, w->node, chain, sizeof chain);
	for (size_t i = 0; i < ALL; i++)
		if (strcmp(chain, all[i].chain) == 0) {
			assert_int_equal(w->what, all[i].what);
			return i;
		}
	fail_msg("%s", chain);
	return 0;
}

/* What each task waits for is the same in each look, which is at some of them; all together are met as often as they
 * should be: the bounds are eight standard errors and more. */
static void check_looks(struct pl_python_process *p)
{
	struct pl_task_waits t = {.rng = {1}};
	uint64_t now = 1, stands_ns = 0, task_ns[ALL] = {0};

	assert_false(pl_task_waits_due(&t, p, now));
	for (int n = 0; n < LOOKS; n++) {
		now += STEP_NS;
		assert_true(pl_task_waits_due(&t, p, now));
		pl_task_waits_look(&t, p, now);
		assert_false(pl_task_waits_due(&t, p, now));
		assert_int_equal(t.lost_ns, 0);
		stands_ns += t.stands_ns;
		for (size_t i = 0; i < t.waits.len; i++)
			task_ns[index_of(p, &t.waits.data[i])] += t.waits.data[i].task_ns;
	}
	assert_true(stands_ns == now - 1);
	for (size_t i = 0; i < ALL; i++) {
		double tasks = (double)task_ns[i] / (double)stands_ns, far = all[i].tasks > 2 ? 6 : 2;
		assert_true(tasks > 0 && tasks > all[i].tasks - far && tasks < all[i].tasks + far);
	}
	pl_task_waits_deinit(&t);
}

/* Of a process that says it has so many interpreters a look is as short as of one that has one, and stands for all. */
static void check_many_interpreters(struct pl_python_process *p)
{
	struct pl_task_waits t = {.rng = {1}};
	uint64_t task_ns = 0;
	uint32_t tasks = 0;

	assert_int_equal(p->threads.interps.len, 1);
	while (p->threads.interps.len < PL_MAX_INTERPRETERS)
		assert_true(pl_vec_push(&p->threads.interps, p->threads.interps.data[0]));
	assert_false(pl_task_waits_due(&t, p, 1));
	pl_task_waits_look(&t, p, 1 + STEP_NS);
	for (size_t i = 0; i < t.waits.len; i++) {
		tasks += t.waits.data[i].tasks;
		task_ns += t.waits.data[i].task_ns;
	}
	assert_in_range(tasks, 1, PL_WAITS_TASKS);
	assert_true(task_ns == STEP_NS * PL_MAX_INTERPRETERS * t.list.len / PL_WAITS_TASKS * tasks);
	p->threads.interps.len = 1;
	pl_task_waits_deinit(&t);
}

/* A process may say that it has ever new ones. */
static void check_new_interpreters(struct pl_python_process *p)
{
	struct pl_task_finders finders = {.looks.at_ns = UINT64_MAX}; /* no time passes */
	struct pl_interp interp = p->threads.interps.data[0];

	for (int i = 0; i < 10 * PL_MAX_INTERPRETERS; i++) {
		struct pl_task_stacks *stacks;

		/* What lies there is no interpreter: it cannot be read, or has no asyncio. */
		plumb_error_destroy(pl_task_finders_get(&finders, &p->reader.py, p->reader.live, &interp, &stacks));
		interp.addr += 8;
	}
	assert_in_range(finders.list.len, 1, PL_MAX_INTERPRETERS);
	assert_in_range(finders.looks.spent, PL_RATION_MOST / 2, PL_RATION_MOST + PL_WORK_CALL);
	pl_task_finders_deinit(&finders);
}

static void check_shared_attributes(struct pl_python_process *p)
{
	struct pl_task_waits t = {.rng = {1}};

	assert_false(pl_task_waits_due(&t, p, 1));
	pl_task_waits_look(&t, p, 1 + STEP_NS);
	assert_true(t.lister.work.ran_out);
	assert_true(t.lost_ns >= STEP_NS);
	pl_task_waits_deinit(&t);
}

static void check_all(struct pl_python_process *p)
{
	check_looks(p);
	check_many_interpreters(p);
	check_new_interpreters(p);
}

/* @p check each interpreter whose tasks are read, while it sleeps in the script. */
static void each_sleeping(const char *text, void (*check)(struct pl_python_process *p))
{
	struct pl_python_process *process;
	struct python p;
	const char *exe;

	for (size_t i = 0; (exe = python_exe(i)); i++) {
		if (python_sleeps(&p, exe, text)) {
			assert_ok(pl_python_process_open(p.pid, PL_STOP_NEVER, &process));
			await (process->threads.samplers.len == 1)
				assert_ok(pl_thread_list_refresh(process, pl_clock_monotonic_ns()));
			check(process);
			pl_python_process_close(process);
		}
		python_end(&p);
	}
}

static void what_tasks_wait_for_is_found_by_looks(void **state)
{
	each_sleeping(script, check_all);
}

static void attributes_that_are_read_again_and_again_are_work(void **state)
{
	each_sleeping(python_like_tasks, check_shared_attributes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_tasks_wait_for_is_found_by_looks),
		cmocka_unit_test(attributes_that_are_read_again_and_again_are_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
