/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles made by hand for the tests of the exporters. Any failure here is a failed test. */
#include "build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PERIOD_NS 1000000u

static void ok(struct plumb_error *err)
{
	if (err)
		fail_msg("%s", plumb_error_message(err));
}

uint32_t build_string(struct build *b, const char *s)
{
	uint32_t id;

	ok(pl_profile_string(b->p, s, strlen(s), &id));
	return id;
}

uint32_t build_thread(struct build *b, uint64_t tid, const char *name, double cpu_share)
{
	struct pl_thread t = {.tid = tid, .name = build_string(b, name), .main = tid == 4242, .cpu_known = true};
	uint32_t id;

	t.cpu_ns = (uint64_t)(cpu_share * (double)b->p->meta.duration_ns);
	ok(pl_profile_thread(b->p, &t, &id));
	return id;
}

uint32_t build_process(struct build *b, uint32_t pid, uint32_t parent, const char *name)
{
	struct pl_process proc = {.pid = pid,
				  .parent = parent,
				  .start_ns = pid * 10000000ull,
				  .came_ns = b->p->meta.duration_ns / 2,
				  .ended = true,
				  .ended_ns = b->p->meta.duration_ns};
	struct pl_thread t = {.tid = pid, .name = build_string(b, "MainThread"), .main = true};
	uint32_t id;

	proc.program = build_string(b, name);
	proc.name = build_string(b, name);
	proc.python = build_string(b, "3.12.1");
	ok(pl_profile_process(b->p, &proc, &t.process));
	ok(pl_profile_thread(b->p, &t, &id));
	return id;
}

void build_start(struct build *b)
{
	struct pl_process proc = {.pid = 4242};
	struct pl_meta *m;
	uint32_t id;

	memset(b, 0, sizeof *b);
	ok(pl_profile_create(&b->p));
	m = &b->p->meta;
	m->start_real_ns = 1700000000123456789u;
	m->duration_ns = 10000000000u;
	m->period_ns = PERIOD_NS;
	m->seed = UINT64_MAX;
	m->mode = PL_MODE_WALL;
	m->jitter = m->complete = true;
	m->ticks = 10000;
	m->profiler_cpu_ns = 180000000;
	m->command = build_string(b, "/usr/bin/python app.py --x=/a b");
	m->engine = build_string(b, "remote");
	m->plumb_version = build_string(b, "0.1.0");
	m->host = build_string(b, "box");
	proc.program = build_string(b, "/usr/bin/python3.12 app.py --x=/a b");
	proc.python = build_string(b, "3.12.1");
	ok(pl_profile_process(b->p, &proc, &id));
	build_thread(b, 4242, "MainThread", 0.8);
}

void build_end(struct build *b)
{
	pl_profile_destroy(b->p);
}

uint32_t build_frame_n(struct build *b, uint32_t parent, const char *name, size_t len, const char *file,
		       size_t file_len, int line)
{
	struct pl_function f = {.origin = PL_ORIGIN_PYTHON};
	struct pl_location l = {.line = line, .end_line = line, .column = 4, .end_column = 9};
	const char *dot = memrchr(name, '.', len);
	const char *plain = dot ? dot + 1 : name;
	uint32_t id;

	f.firstline = line > 0 ? (uint32_t)line - (line > 1) : 0;
	ok(pl_profile_string(b->p, plain, len - (size_t)(plain - name), &f.name));
	ok(pl_profile_string(b->p, name, len, &f.qualname));
	ok(pl_profile_string(b->p, file, file_len, &f.file));
	ok(pl_profile_function(b->p, &f, &l.function));
	ok(pl_profile_location(b->p, &l, &id));
	ok(pl_profile_stack(b->p, parent, id, &id));
	return id;
}

uint32_t build_frame(struct build *b, uint32_t parent, const char *name, const char *file, int line)
{
	uint32_t id;

	if (file)
		return build_frame_n(b, parent, name, strlen(name), file, strlen(file), line);
	ok(pl_profile_marker(b->p, parent, name, &id));
	return id;
}

void build_samples(struct build *b, uint32_t thread, uint32_t stack, int state, int quality, int count)
{
	struct pl_sample s = {.thread = thread, .stack = stack, .state = (uint16_t)state, .quality = (uint8_t)quality};

	for (int i = 0; i < count; i++) {
		s.time_ns = b->now_ns;
		s.weight_ns = PERIOD_NS;
		ok(pl_profile_add(b->p, &s));
		b->now_ns += PERIOD_NS;
	}
}

void build_example(struct build *b)
{
	const int run = PL_STATE_ON_CPU | PL_STATE_HAS_GIL;
	uint32_t root, orders, loads, decode, get, pool, poll, idle, runpy;

	build_start(b);
	runpy = build_frame(b, 0, "_run_module_as_main", "<frozen runpy>", 198);
	runpy = build_frame(b, runpy, "_run_code", "<frozen runpy>", 88);
	root = build_frame(b, runpy, "<module>", "/srv/app/app.py", 90);
	orders = build_frame(b, root, "Shop.load_orders", "/srv/app/app.py", 31);
	loads = build_frame(b, orders, "loads", "/usr/lib/python3.12/json/__init__.py", 346);
	decode = build_frame(b, loads, "JSONDecoder.decode", "/usr/lib/python3.12/json/decoder.py", 337);
	decode = build_frame(b, decode, "JSONDecoder.raw_decode", "/usr/lib/python3.12/json/decoder.py", 353);
	get = build_frame(b, root, "Session.get", "/srv/venv/lib/python3.12/site-packages/requests/sessions.py", 602);
	pool = build_frame(b, get, "wait_for_read", "/srv/venv/lib/python3.12/site-packages/urllib3/util/wait.py", 123);
	poll = build_frame(b, orders, "<moving>", NULL, 0);
	build_thread(b, 4243, "pool-1", 0);
	idle = build_frame(b, 0, "Thread._bootstrap", "/usr/lib/python3.12/threading.py", 1030);
	for (int i = 0; i < 1000; i++) {
		build_samples(b, 0, decode, run, PL_EXACT, 5);
		build_samples(b, 0, orders, run, PL_EXACT, 1);
		build_samples(b, 0, loads, run | PL_STATE_IN_GC, PL_STOPPED, 1);
		build_samples(b, 0, poll, run, PL_PARTIAL, i % 20 == 0);
		build_samples(b, 0, pool, PL_REASON_SOCKET << PL_STATE_BITS, PL_EXACT, 2 - (i % 20 == 0));
		build_samples(b, 0, root, run, PL_EXACT, 1);
		b->now_ns -= 10u * PERIOD_NS;
		build_samples(b, 1, idle, PL_REASON_LOCK << PL_STATE_BITS, PL_EXACT, 10);
	}
	b->p->meta.stops = 1000;
	b->p->meta.stopped_ns = 5200000;
}

struct pl_export_options build_options(int width)
{
	struct pl_export_options o = {.escape = true, .width = width, .unicode = true, .max_lines = 25};

	o.recording = "plumb.app.4242.plumb";
	o.page_option = "--open";
	return o;
}

char *build_output(const struct plumb_profile *p, const char *name, const struct pl_export_options *o, size_t *len_ret)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	ok(pl_format_by_name(name)->write(p, o, out));
	assert_int_equal(fclose(out), 0);
	if (len_ret)
		*len_ret = len;
	return text;
}

static char *read_file(const char *path, size_t *len_ret)
{
	FILE *f = fopen(path, "rb");
	char *text = calloc(1, 1u << 20);

	assert_non_null(text);
	*len_ret = f ? fread(text, 1, (1u << 20) - 1, f) : 0;
	if (f)
		fclose(f);
	return text;
}

void build_assert_golden(const char *file, const char *got, size_t len)
{
	char path[4096];
	size_t want_len;
	char *want;
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", GOLDEN_DIR, file);
	if (getenv("PLUMB_UPDATE_GOLDEN")) {
		f = fopen(path, "wb");
		assert_non_null(f);
		assert_int_equal(fwrite(got, 1, len, f), len);
		assert_int_equal(fclose(f), 0);
	}
	want = read_file(path, &want_len);
	if (want_len != len || memcmp(want, got, len) != 0)
		fail_msg("differs from %s; got:\n%s", path, got);
	free(want);
}

int build_lines(const char *text, int *columns_ret)
{
	int lines = 0, columns = 0;

	*columns_ret = 0;
	for (; *text; text++) {
		if (*text == '\n') {
			lines++;
			columns = 0;
		} else {
			unsigned char c = (unsigned char)*text;

			/* E3 to ED begin U+3000 to U+DFFF: wide. */
			columns += c >= 0xe3 && c <= 0xed ? 2 : (c & 0xc0) != 0x80;
			*columns_ret = columns > *columns_ret ? columns : *columns_ret;
		}
	}
	return lines;
}
