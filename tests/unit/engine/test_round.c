/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds, and what is told of them; linked so that the test sees each record go into the queue, and keeps the clock. */
#include "unit.h"

#include "clock.h"
#include "python.h"
#include "queue.h"
#include "remote_engine.h"
#include "round.h"
#include "task_looks.h"
#include "sampled.h"
#include "target.h"

/* One more thread for each byte. */
static const char script[] = "import os, threading, time\n"
			     "def wait(): time.sleep(3600)\n"
			     "os.write(1, b'ready\\n')\n"
			     "while os.read(0, 1):\n"
			     "    t = threading.Thread(target=wait)\n"
			     "    t.daemon = True\n"
			     "    t.start()\n"
			     "    os.write(1, b'started\\n')\n";

#define PERIOD_NS 1000000

static struct pl_engine *engine;
static uint32_t samples;
static bool threads_go;		 /* so that the number of one may be beyond how many there are */
static _Atomic uint64_t late_ns; /* with each sample the machine does something else for so long */
static _Atomic uint64_t ahead_ns;
static bool stop_at_a_sample;
static uint32_t task_looks;

uint64_t __real_pl_clock_monotonic_ns(void);
uint64_t __wrap_pl_clock_monotonic_ns(void);

uint64_t __wrap_pl_clock_monotonic_ns(void)
{
	return __real_pl_clock_monotonic_ns() + atomic_load(&ahead_ns);
}

/* The instant at which a thread has a state and does not run yet, for as long as a test needs. */
static bool being_born;

bool __real_pl_proc_thread_alive(pid_t pid, pid_t tid);
bool __wrap_pl_proc_thread_alive(pid_t pid, pid_t tid);

bool __wrap_pl_proc_thread_alive(pid_t pid, pid_t tid)
{
	return !(being_born && tid != pid) && __real_pl_proc_thread_alive(pid, tid);
}

void __real_pl_queue_push(struct pl_queue *q, const struct pl_record *r);
void __wrap_pl_queue_push(struct pl_queue *q, const struct pl_record *r);

/* Once it is in the queue it can be seen. */
void __wrap_pl_queue_push(struct pl_queue *q, const struct pl_record *r)
{
	struct pl_engine_stats st;

	if (r->kind == PL_RECORD_SAMPLE) {
		pl_engine_remote.stats(engine, &st);
		assert_true(st.found_python && st.processes == 1 && (threads_go || st.threads > r->sample.thread));
		assert_true(st.ticks > 0 && st.elapsed_ns > 0);
		samples++;
		atomic_fetch_add(&ahead_ns, atomic_load(&late_ns));
		if (stop_at_a_sample)
			atomic_store(&engine->stopping, true);
	}
	task_looks += r->kind == PL_RECORD_LOOK;
	__real_pl_queue_push(q, r);
}

/* How often the process is read by single calls. */
static struct pl_mem counted_live;
static struct pl_mem *live;
static _Atomic uint64_t reads;

struct pl_mem *__real_pl_mem_live_mem(struct pl_mem_live *m);
struct pl_mem *__wrap_pl_mem_live_mem(struct pl_mem_live *m);

static struct plumb_error *counted_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	atomic_fetch_add(&reads, 1);
	return pl_mem_read(live, addr, dst, len);
}

struct pl_mem *__wrap_pl_mem_live_mem(struct pl_mem_live *m)
{
	static const struct pl_mem_ops ops = {.read = counted_read};

	live = __real_pl_mem_live_mem(m);
	counted_live.ops = &ops;
	return &counted_live;
}

/* A C library that keeps the numbers of threads where nobody looks. */
static bool offset_hidden;
static size_t offset_asked;

struct plumb_error *__real_pl_pthread_tid_offset(struct pl_mem *mem, pl_addr pthread, const pid_t *tids, size_t n,
						 uint32_t *ret);
struct plumb_error *__wrap_pl_pthread_tid_offset(struct pl_mem *mem, pl_addr pthread, const pid_t *tids, size_t n,
						 uint32_t *ret);

struct plumb_error *__wrap_pl_pthread_tid_offset(struct pl_mem *mem, pl_addr pthread, const pid_t *tids, size_t n,
						 uint32_t *ret)
{
	offset_asked++;
	return offset_hidden ? &pl_err_corrupt : __real_pl_pthread_tid_offset(mem, pthread, tids, n, ret);
}

/* An interpreter that makes no sense for so many looks. */
static int senseless;

struct plumb_error *__real_pl_which_python(struct pl_mem *mem, const struct pl_python_image *image,
					   struct pl_work *work, struct pl_py *ret);
struct plumb_error *__wrap_pl_which_python(struct pl_mem *mem, const struct pl_python_image *image,
					   struct pl_work *work, struct pl_py *ret);

struct plumb_error *__wrap_pl_which_python(struct pl_mem *mem, const struct pl_python_image *image,
					   struct pl_work *work, struct pl_py *ret)
{
	if (senseless > 0 && senseless--)
		return &pl_err_corrupt;
	return __real_pl_which_python(mem, image, work, ret);
}

/* The program has said that it is ready; @p ret_o: its rounds are the test's to begin. */
static void begin_with(struct python *p, const char *exe, const char *program, struct pl_engine_options *ret_o)
{
	char line[16];

	python_start(p, exe, program);
	python_hear(p, line, sizeof line);
	*ret_o = (struct pl_engine_options){
		.pids = &p->pid, .pid_count = 1, .period_ns = PERIOD_NS, .stop = PL_STOP_NEVER};
	assert_ok(pl_engine_remote.open(ret_o, &engine));
	engine->start_ns = pl_clock_monotonic_ns() - 1;
}

static void begin(struct python *p, const char *program, struct pl_engine_options *ret_o)
{
	begin_with(p, python_exe(0), program, ret_o);
}

static void end(struct python *p)
{
	pl_engine_remote.close(engine);
	python_end(p);
}

static void start_a_thread(struct python *p)
{
	char line[16];

	python_say(p, "x");
	python_hear(p, line, sizeof line);
}

/* So looks one that is being set up, or another program than the one that was found: it is looked at again. */
static void what_makes_no_sense_for_a_moment_is_looked_at_again(void **state)
{
	struct python p;
	struct pl_engine_options o;

	for (int looks = 1; looks <= 64; looks *= 4) {
		senseless = looks;
		begin(&p, script, &o);
		assert_int_equal(senseless, 0);
		assert_true(engine->targets.data[0]->attached);
		end(&p);
	}
}

static void a_thread_is_told_before_its_first_sample(void **state)
{
	struct python p;
	struct pl_engine_options o;

	begin(&p, script, &o);
	for (uint32_t threads = 1; threads <= 3; threads++) {
		samples = 0;
		engine->targets.data[0]->python.threads.next_list_ns = 0;
		pl_round(engine, pl_clock_monotonic_ns(), o.period_ns);
		assert_int_equal(engine->room.threads, threads);
		assert_int_equal(samples, threads);
		start_a_thread(&p);
	}
	end(&p);
}

static void round_after(uint64_t ns)
{
	atomic_fetch_add(&ahead_ns, ns);
	pl_round(engine, pl_clock_monotonic_ns(), PERIOD_NS);
}

/* From the last list to the next one; 0: at once, for there was reason to doubt it. */
static uint64_t until_next_list(void)
{
	const struct pl_thread_list *r = &engine->targets.data[0]->python.threads;

	return r->next_list_ns ? r->next_list_ns - r->listed_ns : 0;
}

static void a_thread_is_seen_soon_after_its_birth(void **state)
{
	threads_go = true;
	struct python p;
	struct pl_engine_options o;

	begin(&p, script, &o);
	round_after(0);
	start_a_thread(&p);
	being_born = true;
	engine->targets.data[0]->python.threads.next_list_ns = 0;
	round_after(PERIOD_NS);
	assert_int_equal(engine->room.threads, 1);
	engine->targets.data[0]->python.threads.next_list_ns = UINT64_MAX; /* two rounds that do not look */
	round_after(0);
	round_after(0);
	uint64_t lost = engine->now.losses[PL_LOSS_UNREADABLE],
		 unseen = engine->now.ticks - engine->targets.data[0]->listed_tick;
	engine->targets.data[0]->python.threads.next_list_ns = 0;
	being_born = false;
	round_after(3 * PERIOD_NS);
	assert_int_equal(engine->room.threads, 2);
	assert_true(engine->now.losses[PL_LOSS_UNREADABLE] >= lost + unseen); /* the rounds since the last list */
	end(&p);
}

/* A state that never has a thread costs lists for a quarter of a second only. */
static void what_is_not_born_in_time_is_left_alone(void **state)
{
	struct python p;
	struct pl_engine_options o;

	begin(&p, script, &o);
	being_born = true;
	start_a_thread(&p);
	engine->targets.data[0]->python.threads.next_list_ns = 0;
	round_after(0);
	assert_true(until_next_list() < 10 * PERIOD_NS);
	await (until_next_list() == 100 * PERIOD_NS)
		round_after(200 * PERIOD_NS);
	being_born = false;
	end(&p);
}

/* A thread is named by Python a moment after it starts, and may live for less than the time between two usual lists. */
static void a_name_is_looked_for_again_soon(void **state)
{
	static const char nameless[] = "import _thread, os, time\n"
				       "_thread.start_new_thread(time.sleep, (3600,))\n"
				       "os.write(1, b'ready\\n')\n"
				       "time.sleep(3600)\n";
	struct python p;
	struct pl_engine_options o;

	begin(&p, nameless, &o);
	const struct pl_thread_list *r = &engine->targets.data[0]->python.threads;
	await (engine->room.threads == 2) /* it may still have been in birth */
		round_after(10 * PERIOD_NS);
	for (int i = 0; i < 20; i++) {
		for (size_t k = 0; k < r->samplers.len; k++)
			assert_true(r->next_list_ns <= r->samplers.data[k]->name_next_ns);
		round_after(20 * PERIOD_NS);
	}
	await (until_next_list() == 100 * PERIOD_NS) /* it seems to have none */
		round_after(1000 * PERIOD_NS);
	end(&p);
}

/* Each entry of threading._active is looked up among tens of thousands of attributes. */
static void names_cost_no_more_than_a_ration(void **state)
{
	static const char hostile[] = "import os, threading, time\n"
				      "class T(object): pass\n"
				      "o = T()\n"
				      "for i in range(20000): o.__dict__['k%d' % i] = 0\n"
				      "threading._active = dict((i, o) for i in range(300))\n"
				      "os.write(1, b'ready\\n')\n"
				      "time.sleep(3600)\n";
	struct python p;
	struct pl_engine_options o;

	begin(&p, hostile, &o);
	struct pl_thread_list *r = &engine->targets.data[0]->python.threads;
	r->names.at_ns = UINT64_MAX; /* no time passes */
	reads = 0;
	round_after(0);
	assert_int_equal(engine->room.threads, 1);
	assert_true(r->names.spent > PL_RATION_MOST / 2 && reads < PL_RATION_MOST / PL_WORK_CALL + 10000);
	uint64_t so_far = reads;
	for (int i = 0; i < 5; i++) {
		r->next_list_ns = r->samplers.data[0]->name_next_ns = 0;
		round_after(0);
	}
	assert_true(reads - so_far < 10000);
	assert_string_equal(r->samplers.data[0]->name, "MainThread");
	end(&p);
}

static void lists_are_read_when_there_is_a_ration_for_them(void **state)
{
	struct python p;
	struct pl_engine_options o;

	begin(&p, script, &o);
	struct pl_thread_list *r = &engine->targets.data[0]->python.threads;
	round_after(0);
	assert_int_equal(engine->room.threads, 1);
	assert_true(r->list_work > 0 && r->lists.spent >= r->list_work);
	start_a_thread(&p);
	r->lists = (struct pl_ration){.spent = PL_RATION_MOST - r->list_work / 2, .at_ns = UINT64_MAX};
	r->next_list_ns = 0;
	round_after(0);
	assert_int_equal(engine->room.threads, 1); /* what is known stays */
	assert_int_equal(r->interps.len, 1);
	r->lists = (struct pl_ration){0};
	await (engine->room.threads == 2)
		round_after(100 * PERIOD_NS);
	end(&p);
}

/* However many processes it is time to look at, and however long that takes of each. */
static void looks_at_tasks_have_a_share_of_the_time(void **state)
{
	struct python p;
	struct pl_engine_options o;

	begin(&p, script, &o);
	engine->options.tasks = true;
	task_looks = 0;
	uint64_t now = pl_clock_monotonic_ns();
	pl_task_looks_take(engine, now); /* begins */
	for (int i = 1; i <= 4; i++) {
		now = (engine->waits_ns > now ? engine->waits_ns : now) + 1;
		engine->targets.data[0]->waits.next_ns = 0;
		pl_task_looks_take(engine, now);
		assert_int_equal(task_looks, i);
		assert_true(engine->waits_ns > now);
		engine->targets.data[0]->waits.next_ns = 0;
		pl_task_looks_take(engine, engine->waits_ns - 1);
		assert_int_equal(task_looks, i);
	}
	end(&p);
}

/* Up to 3.10: where the C library keeps the number of a thread is asked of one or two, however many there are. */
static void where_numbers_are_is_asked_once_a_list(void **state)
{
	const char *exe;

	for (size_t i = 0; (exe = python_exe(i)); i++) {
		struct python p;
		struct pl_engine_options o;

		begin_with(&p, exe, script, &o);
		for (int k = 0; k < 20; k++)
			start_a_thread(&p);
		offset_hidden = true;
		offset_asked = 0;
		round_after(0);
		assert_true(offset_asked <= 2);
		offset_hidden = false;
		await (engine->room.threads == 21)
			round_after(100 * PERIOD_NS);
		end(&p);
	}
}

static void begin_with_four_threads(struct python *p, struct pl_engine_options *o)
{
	begin(p, script, o);
	for (int i = 0; i < 3; i++)
		start_a_thread(p);
	await (engine->room.threads == 4)
		round_after(100 * PERIOD_NS);
}

/* A round over many threads whose stacks take long must not be waited for. */
static void a_round_ends_when_sampling_is_to_stop(void **state)
{
	struct python p;
	struct pl_engine_options o;

	begin_with_four_threads(&p, &o);
	samples = 0;
	stop_at_a_sample = true;
	round_after(PERIOD_NS);
	assert_int_equal(samples, 1);
	round_after(PERIOD_NS);
	assert_int_equal(samples, 1);
	stop_at_a_sample = false;
	end(&p);
}

/* Nor when the time is over for long: nobody tells the sampling thread of that. */
static void a_round_ends_a_second_after_the_time_is_over(void **state)
{
	struct python p;
	struct pl_engine_options o;

	begin_with_four_threads(&p, &o);
	engine->options.duration_ns = 1;
	engine->start_ns = pl_clock_monotonic_ns() - 2000000000;
	samples = 0;
	round_after(PERIOD_NS);
	assert_int_equal(samples, 0);
	engine->options.duration_ns = 1000000000000;
	round_after(PERIOD_NS);
	assert_int_equal(samples, 4);
	end(&p);
}

static void what_is_told_is_of_one_moment(void **state)
{
	threads_go = false;
	struct python p;
	struct pl_engine_stats st = {0};
	struct pl_engine_options o;

	begin(&p, script, &o);
	atomic_store(&late_ns, 50 * PERIOD_NS);
	assert_ok(pl_engine_remote.start(engine));
	await (st.ticks >= 5) {
		pl_engine_remote.stats(engine, &st);
		assert_true(st.ticks + st.losses[PL_LOSS_MISSED] <= st.elapsed_ns / PERIOD_NS + 2);
	}
	atomic_store(&late_ns, 0);
	end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_makes_no_sense_for_a_moment_is_looked_at_again),
		cmocka_unit_test(a_thread_is_told_before_its_first_sample),
		cmocka_unit_test(a_thread_is_seen_soon_after_its_birth),
		cmocka_unit_test(what_is_not_born_in_time_is_left_alone),
		cmocka_unit_test(a_name_is_looked_for_again_soon),
		cmocka_unit_test(names_cost_no_more_than_a_ration),
		cmocka_unit_test(lists_are_read_when_there_is_a_ration_for_them),
		cmocka_unit_test(looks_at_tasks_have_a_share_of_the_time),
		cmocka_unit_test(where_numbers_are_is_asked_once_a_list),
		cmocka_unit_test(a_round_ends_when_sampling_is_to_stop),
		cmocka_unit_test(a_round_ends_a_second_after_the_time_is_over),
		cmocka_unit_test(what_is_told_is_of_one_moment),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
