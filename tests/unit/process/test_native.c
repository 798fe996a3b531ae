/* SPDX-License-Identifier: Apache-2.0 */
/* Joining native frames with those of Python, which functions are plumbing, what is an image, and functions as codes.
 */
#include "native_join.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "codes.h"
#include "mem_live.h"
#include "native_names.h"
#include "native_place.h"
#include "unit.h"

static pl_native_frame_vec native;
static pl_eval_vec evals;
static pl_join_vec entries;
static bool is_eval[16];
static struct pl_join join;

static int set_up(void **state)
{
	(void)state;
	pl_vec_clear(&native);
	pl_vec_clear(&evals);
	memset(is_eval, 0, sizeof is_eval);
	join = (struct pl_join){
		.native = &native, .to_root = true, .evals = &evals, .anchors = true, .is_eval = is_eval};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	pl_vec_deinit(&native);
	pl_vec_deinit(&evals);
	pl_vec_deinit(&entries);
	return 0;
}

/* Each from the end of the one before; to 0: it could not be unwound. */
static void add_native(pl_addr from, pl_addr to, uint8_t flags)
{
	assert_true(pl_vec_push(&native, ((struct pl_native_frame){.sp = from, .cfa = to, .flags = flags})));
}

static void add_eval(pl_addr anchor, uint32_t count)
{
	struct pl_eval e = {.anchor = anchor, .count = count};

	if (evals.len)
		e.first = evals.data[evals.len - 1].first + evals.data[evals.len - 1].count;
	assert_true(pl_vec_push(&evals, e));
}

/* The entries in short: n1 a native frame, e2 one that runs the Python frames before it, p0 one of Python, - a gap. */
static void assert_joined(enum pl_joined joined, const char *want)
{
	char got[256] = "";
	size_t at = 0;
	enum pl_joined result;

	pl_vec_clear(&entries);
	assert_ok(pl_native_join(&join, &entries, &result));
	for (size_t i = 0; i < entries.len; i++) {
		const struct pl_join_entry *e = &entries.data[i];

		if (e->kind == PL_JOIN_MISSING)
			at += (size_t)snprintf(got + at, sizeof got - at, " -");
		else
			at += (size_t)snprintf(got + at, sizeof got - at, " %c%u", "nep"[e->kind], e -> index);
	}
	assert_string_equal(*got ? got + 1 : got, want);
	assert_int_equal(result, joined);
}

static void anchors_place_python_frames(void **state)
{
	(void)state;
	add_native(100, 200, 0);
	add_native(200, 300, 0);
	add_native(300, 400, 0);
	add_native(400, 500, 0);
	add_native(500, 600, 0);
	add_eval(250, 2);
	add_eval(400, 1);
	assert_joined(PL_JOINED_WHOLE, "n0 p0 p1 e1 n2 p2 e3 n4");
	evals.data[1].anchor = 399; /* the last byte of the frame before */
	assert_joined(PL_JOINED_WHOLE, "n0 p0 p1 e1 p2 e2 n3 n4");
	evals.len = 0;
	assert_joined(PL_JOINED_WHOLE, "n0 n1 n2 n3 n4");
	native.len = 0;
	assert_joined(PL_JOINED_WHOLE, "");
}

static void what_does_not_fit_is_not_mixed(void **state)
{
	(void)state;
	add_native(100, 200, 0);
	add_native(200, 300, 0);
	add_eval(250, 1);
	add_eval(260, 1); /* two in one frame */
	assert_joined(PL_JOINED_APART, "p0 p1 n0 n1");
	evals.data[1].anchor = 150; /* not in the order of the stack */
	assert_joined(PL_JOINED_APART, "p0 p1 n0 n1");
	evals.data[1].anchor = 700; /* beyond the root */
	assert_joined(PL_JOINED_APART, "p0 p1 n0 n1");
	evals.data[1].anchor = 0;
	assert_joined(PL_JOINED_APART, "p0 p1 n0 n1");
	evals.len = 1;
	evals.data[0].anchor = 50;
	assert_joined(PL_JOINED_APART, "p0 n0 n1");
}

static void gaps_are_told(void **state)
{
	(void)state;
	add_native(100, 200, 0);
	add_native(200, 0, 0);			 /* no table */
	add_native(400, 500, PL_NATIVE_RESUMED); /* by its anchor */
	add_native(500, 600, 0);
	add_eval(420, 1);
	assert_joined(PL_JOINED_IN_PART, "n0 n1 - p0 n3");
	evals.data[0].anchor = 300; /* in the gap */
	add_eval(420, 1);
	assert_joined(PL_JOINED_IN_PART, "n0 n1 - p0 - p1 n3");
	evals.data[0].anchor = 420;
	evals.len = 1;
	join.to_root = false;
	add_eval(900, 2);
	assert_joined(PL_JOINED_IN_PART, "n0 n1 - p0 n3 - p1 p2");
	evals.len = 0;
	native.len = 2;
	assert_joined(PL_JOINED_IN_PART, "n0 n1 -");
}

static void names_place_them_where_there_are_no_anchors(void **state)
{
	(void)state;
	join.anchors = false;
	for (pl_addr i = 1; i <= 5; i++)
		add_native(i * 100, i * 100 + 100, 0);
	is_eval[1] = is_eval[3] = true;
	add_eval(0, 1);
	add_eval(0, 1);
	assert_joined(PL_JOINED_WHOLE, "n0 p0 e1 n2 p1 e3 n4");
	add_eval(0, 1);
	assert_joined(PL_JOINED_APART, "p0 p1 p2 n0 n1 n2 n3 n4");
	/* One that has just begun, or is about to return, has no frame. */
	evals.len = 2;
	is_eval[0] = true;
	assert_joined(PL_JOINED_WHOLE, "p0 e1 n2 p1 e3 n4");
	is_eval[0] = false;
	is_eval[4] = true;
	assert_joined(PL_JOINED_WHOLE, "n0 p0 e1 n2 p1 e3 n4");
}

static void plumbing_is_known_by_name(void **state)
{
	(void)state;
	assert_true(pl_native_is_eval("_PyEval_EvalFrameDefault"));
	assert_true(pl_native_is_eval("_PyEval_EvalFrameDefault.cold"));
	assert_true(pl_native_is_eval("PyEval_EvalFrameEx"));
	assert_false(pl_native_is_eval("_PyEval_EvalCode"));
	assert_true(pl_native_is_plumbing("_PyEval_Vector"));
	assert_true(pl_native_is_plumbing("cfunction_vectorcall_FASTCALL_KEYWORDS.lto_priv.0"));
	assert_false(pl_native_is_plumbing("builtin_sorted"));
	assert_false(pl_native_is_plumbing("take_gil"));
	assert_true(pl_native_is_start("__libc_start_main_impl"));
	assert_false(pl_native_is_start("main"));
}

static void an_image_is_a_file_mapped_in_a_row(void **state)
{
	static const char text[] = "1000-2000 r--p 00000000 08:01 7 /bin/app\n"
				   "2000-3000 r-xp 00001000 08:01 7 /bin/app\n"
				   "3000-4000 rw-p 00002000 08:01 7 /bin/app\n"
				   "4000-5000 rw-p 00000000 00:00 0 \n"
				   "6000-7000 r--p 00000000 08:01 8 /usr/share/data\n"
				   "7000-8000 r-xp 00000000 00:00 0 \n"
				   "8000-9000 r-xp 00000000 08:01 9 /lib/small.so\n"
				   "9000-a000 rw-p 00000000 08:01 9 /lib/small.so\n"
				   "b000-c000 rw-p 00000000 00:00 0 [stack]\n"
				   "c000-d000 r-xp 00000000 00:00 0 [vdso]\n"
				   "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n";
	struct pl_native_place p = {0};

	(void)state;
	assert_ok(pl_maps_parse(text, sizeof text - 1, &p.maps));
	assert_true(pl_native_images_of(&p.maps, &p));
	assert_int_equal(p.images.len, 3);
	assert_int_equal(p.images.data[0].start, 0x1000);
	assert_int_equal(p.images.data[0].end, 0x4000);
	assert_int_equal(p.images.data[0].head, 0x1000);
	assert_int_equal(p.images.data[1].start, 0x8000);
	assert_int_equal(p.images.data[1].end, 0xa000);
	assert_int_equal(p.images.data[2].head, 0xc000);
	assert_int_equal(pl_native_place_owner(&p, 0x4800), 0); /* .bss */
	assert_int_equal(pl_native_place_owner(&p, 0x5000), PL_NO_IMAGE);
	assert_int_equal(pl_native_place_room(&p, 0xb800), 0x800);
	assert_int_equal(pl_native_place_room(&p, 0x5800), 0);
	pl_native_place_deinit(&p);
}

/* This process loads one more library. */
static void what_is_mapped_is_looked_at_again(void **state)
{
	struct pl_mem_live *live;
	struct pl_native_place p;
	bool changed;

	assert_ok(pl_mem_live_create(getpid(), &live));
	assert_ok(pl_native_place_init(&p, getpid(), pl_mem_live_mem(live)));
	uint32_t own = pl_native_place_owner(&p, (pl_addr)(uintptr_t)what_is_mapped_is_looked_at_again);
	assert_int_not_equal(own, PL_NO_IMAGE);
	pl_unwind_image_open(&p.images.data[own], pl_mem_live_mem(live), &pl_unwind_x86_64);
	pl_addr head = p.images.data[own].head;
	assert_ok(pl_native_place_look(&p, &changed));
	assert_false(changed);
	void *library = dlopen("libthread_db.so.1", RTLD_LAZY);
	assert_non_null(library);
	pl_addr inside = (pl_addr)(uintptr_t)dlsym(library, "td_init");
	assert_int_equal(pl_native_place_owner(&p, inside), PL_NO_IMAGE);
	assert_ok(pl_native_place_look(&p, &changed));
	assert_true(changed);
	assert_int_not_equal(pl_native_place_owner(&p, inside), PL_NO_IMAGE);
	own = pl_native_place_owner(&p, (pl_addr)(uintptr_t)what_is_mapped_is_looked_at_again);
	assert_true(p.images.data[own].opened && p.images.data[own].head == head);
	pl_native_place_deinit(&p);
	pl_mem_live_destroy(live);
	dlclose(library);
}

static void functions_of_c_are_codes_of_their_own(void **state)
{
	struct pl_code_store store = {.max = 3, .max_bytes = 1 << 20};
	uint32_t id, again, other, third;

	assert_ok(pl_code_store_native(&store, "deflate", "/lib/libz.so.1", 0, &id));
	assert_ok(pl_code_store_native(&store, "deflate", "/lib/libz.so.1", 5, &again));
	assert_ok(pl_code_store_native(&store, "inflate", "/lib/libz.so.1", 0, &other));
	assert_ok(pl_code_store_native(&store, "deflate", "/lib/other.so", 0, &third));
	assert_true(id == again && other != id && third != id && third != other);
	assert_true(store.known.data[id]->native && store.known.len == 3);
	assert_ptr_equal(pl_code_store_native(&store, "crc32", "/lib/libz.so.1", 0, &id), &pl_err_limit);
	pl_code_store_deinit(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(anchors_place_python_frames, set_up),
		cmocka_unit_test_setup(what_does_not_fit_is_not_mixed, set_up),
		cmocka_unit_test_setup(gaps_are_told, set_up),
		cmocka_unit_test_setup(names_place_them_where_there_are_no_anchors, set_up),
		cmocka_unit_test(plumbing_is_known_by_name),
		cmocka_unit_test(an_image_is_a_file_mapped_in_a_row),
		cmocka_unit_test(what_is_mapped_is_looked_at_again),
		cmocka_unit_test(functions_of_c_are_codes_of_their_own),
	};
	return cmocka_run_group_tests(tests, NULL, tear_down);
}
