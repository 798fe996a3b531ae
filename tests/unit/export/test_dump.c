/* SPDX-License-Identifier: Apache-2.0 */
/* The two forms of a dump, against golden files. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "dump_export.h"
#include "profile.h"

#define S 1000000000ull

static struct pl_dump *d;

static struct pl_dump_text text(const char *s)
{
	return pl_dump_str(d, s);
}

static struct pl_dump_frame frame(const char *name, const char *file, int32_t line, const char *source, int32_t column,
				  int32_t end_column)
{
	return (struct pl_dump_frame){.name = text(name),
				      .qualname = text(name),
				      .file = text(file),
				      .line = line,
				      .end_line = line,
				      .column = column,
				      .end_column = end_column,
				      .source = text(source),
				      .has_source = source != NULL};
}

static struct pl_dump_frame native_frame(const char *name, const char *module)
{
	struct pl_dump_frame f = frame(name, "", 0, NULL, -1, -1);

	f.kind = PL_DUMP_FRAME_NATIVE;
	f.native = (struct pl_dump_native_frame){.module = text(module),
						 .build_id = text(*module ? "00ff10" : ""),
						 .address = 0x7f0000012345,
						 .offset = *module ? 0x12345 : 0,
						 .function = *module ? 0x12300 : 0};
	return f;
}

/* With a place in its source. */
static struct pl_dump_frame lined_frame(const char *name, const char *file, int32_t line, const char *source,
					bool inlined)
{
	struct pl_dump_frame f = native_frame(name, "/usr/lib/x86_64-linux-gnu/libz.so.1.2.13");

	f.file = text(file);
	f.line = line;
	f.source = text(source);
	f.has_source = source != NULL;
	f.native.inlined = inlined;
	return f;
}

static void add_local(struct pl_dump_frame *f, const char *name, const char *value, bool argument)
{
	struct pl_dump_local l = {.name = text(name), .value = text(value), .argument = argument};

	f->has_locals = true;
	assert_true(pl_vec_push(&f->locals, l));
}

static struct pl_dump_fd no_fd(void)
{
	return (struct pl_dump_fd){.fd = -1, .kind = "unknown", .state = ""};
}

static struct pl_dump_fd fd_of(int number, const char *kind, const char *path)
{
	return (struct pl_dump_fd){.fd = number, .kind = kind, .path = text(path), .state = ""};
}

static struct pl_dump_fd tcp(int number)
{
	struct pl_dump_fd f = fd_of(number, "socket", "");

	f.inode = 99;
	f.protocol = text("tcp");
	f.local = text("10.0.0.5:40312");
	f.peer = text("10.0.0.9:5432");
	f.state = "connected";
	return f;
}

static struct pl_dump_wait wait_in(const char *call, enum pl_waits_on on, struct pl_dump_fd fd)
{
	return (struct pl_dump_wait){.call = text(call), .number = 7, .on = on, .fd = fd};
}

static void add(struct pl_dump_process *p, struct pl_dump_thread t, const struct pl_dump_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_true(pl_vec_push(&t.frames, frames[i]));
	assert_true(pl_vec_push(&p->threads, t));
}

static struct pl_dump_thread thread_of(const char *name, uint64_t tid, enum pl_doing doing)
{
	return (struct pl_dump_thread){.tid = tid,
				       .ident = tid << 20,
				       .name = text(name),
				       .python = true,
				       .doing = doing,
				       .in_call = doing == PL_DOING_BLOCKED || doing == PL_DOING_UNWAKEABLE,
				       .read = true,
				       .quality = PL_EXACT,
				       .wait = {.number = -1, .fd = no_fd()}};
}

static void add_main(struct pl_dump_process *p)
{
	struct pl_dump_thread t = thread_of("MainThread", 4242, PL_DOING_BLOCKED);
	struct pl_dump_frame frames[] = {
		frame("Connection.read", "/srv/app/db.py", 88, "\t    data = self.sock.recv(65536)\t", 12, 34),
		frame("Orders.load", "/srv/app/größer/orders.py", 31, "        größe = self.db.größer(ü, day)  # ä", 17,
		      42),
		frame("Orders.all", "/srv/app/größer/orders.py", 35, "return self.load()", 0, 18),
		frame("main", "<string>", 7, NULL, -1, -1),
		frame("<module>", "/srv/app/app.py", 12, "main()", -1, -1),
	};

	add_local(&frames[0], "self", "<app.Connection host='db', password=***>", true);
	add_local(&frames[0], "größe\n",
		  "'a text that is longer than a narrow terminal is wide, and then some more of it'", false);
	t.main = t.has_gil = true;
	t.wait = wait_in("recv", PL_WAITS_FD, tcp(7));
	add(p, t, frames, sizeof frames / sizeof frames[0]);
}

static void add_waiters(struct pl_dump_process *p)
{
	struct pl_dump_thread t = thread_of("worker\033[2J\nevil", 4250, PL_DOING_GIL);
	struct pl_dump_frame lines[] = {
		frame("lies", "a.py", 1, "x = y", 3, 99),
		frame("backwards", "a.py", 2, "x = y", 4, 2),
		frame("inside_a_character", "a.py", 3, "xä = y", 2, 5),
		frame("negative", "a.py", -4, "x = y", -1, 2),
		frame("", "", 0, NULL, -1, -1),
		frame("long", "/a/very/long/path/that/does/not/fit/into/a/narrow/terminal/at/all/module.py", 12345,
		      "result = first_function_with_a_long_name(argument_number_one, argument_number_two) + "
		      "second_function(x)",
		      85, 103),
	};

	t.gil_holder = 4242;
	t.wants_gil = true;
	t.quality = PL_DOUBTFUL;
	lines[4].source_changed = false;
	lines[5].source_changed = true;
	add(p, t, lines, sizeof lines / sizeof lines[0]);

	t = thread_of("poller", 4251, PL_DOING_BLOCKED);
	t.wait = wait_in("epoll_wait", PL_WAITS_FD, fd_of(3, "epoll", ""));
	assert_true(pl_vec_push(&t.wait.watched, tcp(9)));
	assert_true(pl_vec_push(&t.wait.watched, fd_of(4, "eventfd", "")));
	t.wait.watched_total = 7;
	t.wait.limited = true;
	t.wait.limit_ns = 2 * S + S / 2;
	add(p, t, NULL, 0);
}

static void add_others(struct pl_dump_process *p)
{
	struct pl_dump_thread t = thread_of("sleeper", 4252, PL_DOING_BLOCKED);

	t.wait = wait_in("clock_nanosleep", PL_WAITS_TIME, no_fd());
	t.wait.limited = t.wait.left_known = true;
	t.wait.left_ns = 58 * S;
	t.exception = true;
	add(p, t, NULL, 0);

	t = thread_of("parent", 4253, PL_DOING_BLOCKED);
	t.wait = wait_in("wait4", PL_WAITS_CHILD, no_fd());
	t.wait.child = (struct pl_dump_other){.pid = 77, .name = text("make")};
	t.read = false;
	add(p, t, NULL, 0);

	t = thread_of("locker", 4254, PL_DOING_UNWAKEABLE);
	t.wait = wait_in("flock", PL_WAITS_FILE_LOCK, fd_of(5, "file", "/var/lock/x"));
	t.wait.holder = (struct pl_dump_other){.pid = 78, .name = text("python3")};
	t.quality = PL_PARTIAL;
	add(p, t, NULL, 0);

	t = thread_of("stopped", 4255, PL_DOING_STOPPED);
	t.in_call = true;
	t.interpreter = 1;
	t.wait = wait_in("futex", PL_WAITS_LOCK, no_fd());
	t.wait.lock = 0x7f00;
	add(p, t, NULL, 0);

	t = thread_of("in C", 4258, PL_DOING_RUNNING);
	struct pl_dump_frame mixed[] = {
		native_frame("a_name_that_is_quite_long::and<of, Cxx>::which_has\nno_end_at_all(int, char **)",
			     "/usr/lib/x86_64-linux-gnu/libz.so.1.2.13"),
		native_frame("", "/usr/lib/libwith_a_name_that_is_wider_than_the_page_may_be_at_all_so_it_is_cut.so.1"),
		lined_frame("insert_string", "/usr/src/zlib-1:1.2.13/contrib/optimizations/insert_string.h", 87,
			    "\t\treturn insert_string_simd(s, str);", true),
		lined_frame("deflate_slow", "/usr/src/zlib/deflate.c", 1843, NULL, false),
		frame("compress", "/srv/app/pack.py", 3, "zlib.compress(data)", -1, -1),
		native_frame("__restore_rt", "/lib/libc.so.6"),
		native_frame("", ""),
		frame("", "", 0, NULL, -1, -1),
		frame("<module>", "/srv/app/pack.py", 9, NULL, -1, -1),
	};
	mixed[5].native.signal = true;
	mixed[6].native.guessed = true;
	mixed[7].kind = PL_DUMP_FRAME_MISSING;
	t.native = PL_DUMP_NATIVE_IN_PART;
	add(p, t, mixed, sizeof mixed / sizeof mixed[0]);

	t = thread_of("does not fit", 4259, PL_DOING_RUNNING);
	struct pl_dump_frame apart[] = {frame("f", "a.py", 1, NULL, -1, -1), frame("g", "a.py", 2, NULL, -1, -1),
					native_frame("read", "/lib/libc.so.6"),
					native_frame("main", "/usr/bin/python3")};
	t.native = PL_DUMP_NATIVE_APART;
	add(p, t, apart, sizeof apart / sizeof apart[0]);

	t = thread_of("unread", 4260, PL_DOING_RUNNING);
	struct pl_dump_frame only = frame("f", "a.py", 1, NULL, -1, -1);
	t.native = PL_DUMP_NATIVE_UNREAD;
	add(p, t, &only, 1);

	t = thread_of("jemalloc_bg", 4256, PL_DOING_BLOCKED);
	t.python = t.read = false;
	t.wait = (struct pl_dump_wait){.number = 318, .fd = no_fd()};
	add(p, t, NULL, 0);
	t = thread_of("blas", 4257, PL_DOING_RUNNING);
	t.signal = 11;
	t.python = t.read = false;
	add(p, t, NULL, 0);
}

static struct pl_dump_task *add_task(struct pl_dump_process *p, const char *name, uint64_t id, uint64_t outer)
{
	struct pl_dump_task t = {
		.id = id, .tid = 4242, .name = text(name), .awaits = text(""), .doing = PL_TASK_DOES_WAIT};

	if (outer)
		assert_true(pl_vec_push(&t.awaited_by, outer));
	struct pl_dump_frame f = frame(name, "/srv/app/tasks.py", (int32_t)id, "await something_else()", 6, 22);
	assert_true(pl_vec_push(&t.frames, f));
	assert_true(pl_vec_push(&p->tasks, t));
	return &p->tasks.data[p->tasks.len - 1];
}

/* A tree, a ring, and what is neither. */
static void add_tasks(struct pl_dump_process *p)
{
	add_task(p, "Task-1", 1, 0);
	struct pl_dump_task *t = add_task(p, "left", 2, 1);
	t->wait = PL_TASK_WAITS_TASK;
	t->waits_for = 4;
	add_task(p, "right", 3, 1)->awaits = text("Future");
	add_task(p, "shared", 4, 3)->cut = true;
	add_task(p, "ring-a", 5, 6);
	add_task(p, "ring-b", 6, 5);
	add_task(p, "itself\033[0m", 7, 7);
	add_task(p, "ready", 8, 99)->doing = PL_TASK_IS_READY;
	add_task(p, "busy", 9, 0)->doing = PL_TASK_DOES_RUN;
	p->tasks_lost = 2;
}

/* Threads that wait for one another: thread @p i for the thing number @p awaited of the process. */
static void add_waiting(struct pl_dump_process *p, const char *name, uint64_t tid, uint32_t awaited, bool stood)
{
	struct pl_dump_thread t = thread_of(name, tid, PL_DOING_BLOCKED);

	t.wait = wait_in("futex", PL_WAITS_LOCK, no_fd());
	t.wait.lock = 0x7e00 + tid;
	t.awaited = awaited + 1;
	t.waits_on = stood;
	add(p, t, NULL, 0);
}

static void add_awaited(struct pl_dump_process *p, struct pl_dump_awaited a, const char *type)
{
	a.object = 0x7f1234500000 + p->awaited.len * 16;
	a.type = text(type);
	assert_true(pl_vec_push(&p->awaited, a));
}

static void add_locked_process(void)
{
	struct pl_dump_process p = {.pid = 70, .command = text("python locked.py"), .python = text("3.13.0")};

	add_awaited(&p,
		    (struct pl_dump_awaited){.what = PL_DUMP_FOR_LOCK, .lock_known = true, .held = true, .holder = 72},
		    "threading.Lock");
	add_awaited(&p,
		    (struct pl_dump_awaited){
			    .what = PL_DUMP_FOR_LOCK, .lock_known = true, .held = true, .holder = 71, .count = 3},
		    "threading.RLock");
	add_awaited(&p, (struct pl_dump_awaited){.what = PL_DUMP_FOR_ITEM}, "queue.Queue");
	add_awaited(&p, (struct pl_dump_awaited){.what = PL_DUMP_FOR_LOCK, .lock_known = true, .held = true},
		    "threading.Lock");
	add_awaited(&p, (struct pl_dump_awaited){.what = PL_DUMP_FOR_THREAD, .holder = 79}, "app.Thread");
	add_awaited(&p,
		    (struct pl_dump_awaited){.what = PL_DUMP_FOR_LOCK, .lock_known = true, .held = true, .holder = 77},
		    "threading.Lock");
	add_awaited(&p, (struct pl_dump_awaited){.what = PL_DUMP_FOR_EVENT}, "threading.Event");
	add_waiting(&p, "writer\033[1m", 71, 0, true);
	add_waiting(&p, "reader", 72, 1, true);
	add_waiting(&p, "taker", 73, 2, true);
	add_waiting(&p, "taker", 74, 2, true);
	add_waiting(&p, "free?", 75, 3, true);
	add_waiting(&p, "joiner", 76, 4, true);
	add_waiting(&p, "itself", 77, 5, true);
	add_waiting(&p, "gone on", 78, 5, false);
	add_waiting(&p, "listener", 79, 6, true);
	assert_ok(pl_dump_find_deadlocks(&p));
	assert_true(pl_vec_push(&d->processes, p));
}

/* A task that waits in a function of asyncio, which one of the program's awaits. @p thing: position + 1; 0: none. */
static struct pl_dump_task *add_locked_task(struct pl_dump_process *p, const char *name, uint32_t thing)
{
	const struct pl_dump_frame frames[] = {
		frame("Lock.acquire", "/usr/lib/python3.13/asyncio/locks.py", 113, "await fut", 0, 9),
		frame("Bank.move", "/srv/app/bank.py", 31, "async with lock:", -1, -1),
	};
	struct pl_dump_task t = {.id = 0x7f00 + 16 * p->tasks.len,
				 .name = text(name),
				 .awaits = text("_asyncio.Future"),
				 .doing = PL_TASK_DOES_WAIT,
				 .wait = PL_TASK_WAITS_FUTURE,
				 .waits_for = 0xf00};

	for (size_t i = 0; i < 2; i++)
		assert_true(pl_vec_push(&t.frames, frames[i]));
	assert_true(pl_vec_push(&p->tasks, t));
	if (thing) {
		p->tasks.data[p->tasks.len - 1].what = p->task_awaited.data[thing - 1].thing.what;
		pl_dump_add_task_waiter(p, (uint32_t)p->tasks.len - 1, thing - 1);
	}
	return &p->tasks.data[p->tasks.len - 1];
}

/* @p holder: position + 1 of a task. */
static void add_task_lock(struct pl_dump_process *p, bool held, uint32_t holder)
{
	const struct pl_dump_task_awaited a = {.thing = {.what = PL_DUMP_FOR_LOCK,
							 .object = 0x7f1234500000 + p->task_awaited.len * 16,
							 .type = text("asyncio.Lock"),
							 .lock_known = true,
							 .held = held,
							 .holder = holder ? 0x7f00 + 16 * (holder - 1) : 0},
					       .holder = holder};

	assert_true(pl_vec_push(&p->task_awaited, a));
}

static void add_locked_tasks(void)
{
	struct pl_dump_process p = {.pid = 80, .command = text("python tasks.py"), .python = text("3.13.0")};
	const struct pl_dump_task_awaited queue = {
		.thing = {.what = PL_DUMP_FOR_ITEM, .object = 0x7f1234501000, .type = text("asyncio.Queue")}};

	add_task_lock(&p, true, 2);
	add_task_lock(&p, true, 1);
	add_task_lock(&p, true, 0);
	add_task_lock(&p, true, 4);
	add_task_lock(&p, false, 0);
	assert_true(pl_vec_push(&p.task_awaited, queue));
	add_locked_task(&p, "mover", 1);
	add_locked_task(&p, "payer\033[1m", 2);
	add_locked_task(&p, "stranger's", 3);
	add_locked_task(&p, "itself", 4);
	add_locked_task(&p, "free", 5)->limited = true;
	add_locked_task(&p, "taker", 6);
	add_locked_task(&p, "taker", 6)->limited = true;
	add_locked_task(&p, "sleeper", 0)->what = PL_DUMP_FOR_TIME;
	add_locked_task(&p, "one", 0);
	add_locked_task(&p, "other", 0);
	assert_true(pl_vec_push(&p.tasks.data[8].needs, p.tasks.data[9].id));
	assert_true(pl_vec_push(&p.tasks.data[9].needs, p.tasks.data[8].id));
	p.tasks.data[8].wait = p.tasks.data[9].wait = PL_TASK_WAITS_TASK;
	p.tasks.data[8].waits_for = p.tasks.data[9].id;
	p.tasks.data[9].waits_for = p.tasks.data[8].id;
	assert_ok(pl_dump_find_task_deadlocks(&p));
	assert_true(pl_vec_push(&d->processes, p));
}

static int set_up(void **state)
{
	struct pl_dump_process p = {.pid = 4242, .age_ns = 7380 * S, .took_ns = 1500000, .gil_holder = 4242};

	assert_ok(pl_dump_create(&d));
	d->taken_real_ns = 1700000000 * S + 123456000;
	p.command = text("python3.12 app.py --name 'a b'");
	p.python = text("3.12.1");
	add_main(&p);
	add_waiters(&p);
	add_others(&p);
	add_tasks(&p);
	assert_true(pl_vec_push(&d->processes, p));
	struct pl_dump_process small = {.pid = 5, .command = text("python x.py"), .python = text("3.8")};
	struct pl_dump_thread t = thread_of("MainThread", 5, PL_DOING_TRACED);
	small.tracer = (struct pl_dump_other){.pid = 6, .name = text("gdb")};
	small.unread = 1;
	small.late = 40;
	small.locals_late = 1;
	t.main = true;
	add(&small, t, NULL, 0);
	assert_true(pl_vec_push(&d->processes, small));
	add_locked_process();
	add_locked_tasks();
	struct pl_dump_failure f = {
		.pid = 9, .code = PLUMB_ERR_NO_PROCESS, .message = text("there is no process 9"), .hint = text("")};
	assert_true(pl_vec_push(&d->failures, f));
	return 0;
}

static int tear_down(void **state)
{
	pl_dump_destroy(d);
	return 0;
}

static char *text_of(struct pl_dump *dump, const struct pl_dump_look *look)
{
	char *got = NULL;
	size_t len;
	FILE *out = open_memstream(&got, &len);

	pl_dump_write_text(dump, look, out);
	fclose(out);
	return got;
}

static char *as_text(int width, bool color, bool unicode)
{
	const struct pl_dump_look look = {.width = width, .color = color, .unicode = unicode};

	return text_of(d, &look);
}

static void check_text(const char *file, int width, bool color, bool unicode)
{
	char *got = as_text(width, color, unicode);

	build_assert_golden(file, got, strlen(got));
	free(got);
}

static void test_text(void **state)
{
	check_text("../dump/wide.txt", 0, false, true);
	check_text("../dump/80.txt", 80, false, true);
	check_text("../dump/40-ascii.txt", 40, false, false);
	check_text("../dump/80-color.txt", 80, true, true);
}

/* Whatever the width, and whatever the names: no line is wider, and no control character gets out. */
static void test_every_width(void **state)
{
	for (int width = 1; width < 130; width++) {
		char *got = as_text(width, false, false), *save = NULL;

		for (char *line = strtok_r(got, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
			assert_true(strlen(line) <= (size_t)(width < 20 ? 20 : width));
			for (const char *c = line; *c; c++)
				assert_true(*c >= ' ' && *c < 0x7f);
		}
		free(got);
	}
}

/* There may be none, nor asyncio. */
static void test_tasks_that_were_not_looked_for(void **state)
{
	const struct pl_dump_look look = {.width = 40};
	struct pl_dump_process p = {.pid = 1, .tasks_lost = 1};
	struct pl_dump *one;

	assert_ok(pl_dump_create(&one));
	p.command = pl_dump_str(one, "command");
	assert_true(pl_vec_push(&one->processes, p));
	char *got = text_of(one, &look);
	assert_non_null(strstr(got, "\nasyncio: tasks, if any, not read\n"));
	free(got);
	pl_dump_destroy(one);
}

/* As that of a core, whose end is a time of a clock that has gone on. */
static void test_a_limit_that_is_not_known(void **state)
{
	const struct pl_dump_look look = {.width = 80};
	struct pl_dump_process p = {.pid = 1, .command = text("command")};
	struct pl_dump_thread sleeper = thread_of("sleeper", 2, PL_DOING_BLOCKED);
	struct pl_dump_thread waiter = thread_of("waiter", 3, PL_DOING_BLOCKED);
	struct pl_dump *one;

	sleeper.wait = wait_in("clock_nanosleep", PL_WAITS_TIME, no_fd());
	waiter.wait = wait_in("read", PL_WAITS_FD, fd_of(3, "file", "/x"));
	sleeper.wait.limited = waiter.wait.limited = true;
	assert_ok(pl_dump_create(&one));
	add(&p, sleeper, NULL, 0);
	add(&p, waiter, NULL, 0);
	assert_true(pl_vec_push(&one->processes, p));
	char *got = text_of(one, &look);
	assert_non_null(strstr(got, "sleeper (2): sleeping in clock_nanosleep\n"));
	assert_non_null(strstr(got, ", with a time limit\n"));
	free(got);
	pl_dump_destroy(one);
}

static void test_json(void **state)
{
	char *got = NULL;
	size_t len;
	FILE *out = open_memstream(&got, &len);

	pl_dump_write_json(d, "0.1.0", out);
	fclose(out);
	build_assert_golden("../dump/dump.json", got, len);
	free(got);
}

/* The processes of one dump outlive it in another. */
static void test_adopt(void **state)
{
	struct pl_dump *all, *one;
	struct pl_dump_process p = {.pid = 1};

	assert_ok(pl_dump_create(&all));
	assert_ok(pl_dump_create(&one));
	p.command = pl_dump_str(one, "command");
	assert_true(pl_vec_push(&one->processes, p));
	assert_ok(pl_dump_adopt(all, one));
	assert_int_equal(one->processes.len, 0);
	pl_dump_destroy(one);
	assert_string_equal(all->processes.data[0].command.s, "command");
	pl_dump_destroy(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_text),
					   cmocka_unit_test(test_every_width),
					   cmocka_unit_test(test_tasks_that_were_not_looked_for),
					   cmocka_unit_test(test_a_limit_that_is_not_known),
					   cmocka_unit_test(test_json),
					   cmocka_unit_test(test_adopt)};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
