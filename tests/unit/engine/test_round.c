/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds one by one, in the test's own thread; linked so that it sees each record go into the queue. */
#include "unit.h"

#include "clock.h"
#include "python.h"
#include "remote.h"

/* One more thread for each byte. */
static const char script[] = "import os, threading, time\n"
			     "def wait(): time.sleep(3600)\n"
			     "os.write(1, b'ready\\n')\n"
			     "while os.read(0, 1):\n"
			     "    t = threading.Thread(target=wait)\n"
			     "    t.daemon = True\n"
			     "    t.start()\n"
			     "    os.write(1, b'started\\n')\n";

static struct pl_engine *engine;
static uint32_t samples;

void __real_pl_queue_push(struct pl_queue *q, const struct pl_record *r);
void __wrap_pl_queue_push(struct pl_queue *q, const struct pl_record *r);

/* Once it is in the queue it can be seen. */
void __wrap_pl_queue_push(struct pl_queue *q, const struct pl_record *r)
{
	struct pl_engine_stats st;

	if (r->kind == PL_RECORD_SAMPLE) {
		pl_engine_remote.stats(engine, &st);
		assert_true(st.found_python && st.processes == 1 && st.threads > r->sample.thread);
		assert_true(st.ticks > 0 && st.elapsed_ns > 0);
		samples++;
	}
	__real_pl_queue_push(q, r);
}

static void a_thread_is_told_before_its_first_sample(void **state)
{
	struct python p;
	char line[16];

	python_start(&p, python_exe(0), script);
	python_hear(&p, line, sizeof line);
	struct pl_engine_options o = {.pid = p.pid, .period_ns = 1000000, .stop = PL_STOP_NEVER};
	assert_ok(pl_engine_remote.open(&o, &engine));
	engine->start_ns = pl_clock_monotonic_ns() - 1;
	for (uint32_t threads = 1; threads <= 3; threads++) {
		samples = 0;
		engine->root->roster.next_list_ns = 0;
		pl_round(engine, pl_clock_monotonic_ns(), o.period_ns);
		assert_int_equal(engine->watch_count, threads);
		assert_int_equal(samples, threads);
		python_say(&p, "x");
		python_hear(&p, line, sizeof line);
	}
	pl_engine_remote.close(engine);
	python_end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_is_told_before_its_first_sample),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
