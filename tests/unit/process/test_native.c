/* SPDX-License-Identifier: Apache-2.0 */
/* Joining native frames with those of Python, which functions are plumbing, what is an image, and functions as codes.
 */
#include "native_join.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "aside.h"
#include "codes.h"
#include "image.h"
#include "mem_live.h"
#include "native_names.h"
#include "native_place.h"
#include "native_reader.h"
#include "symbol_reader.h"
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
	is_eval[4] = true; /* the innermost one calls what checks its result, its frame is gone */
	assert_joined(PL_JOINED_WHOLE, "n2 p0 e3 p1 e4");
}

static void what_others_left_on_the_c_stack_is_not_of_a_greenlet(void **state)
{
	static const bool greenlets[] = {true, false, true, true, false};

	(void)state;
	for (pl_addr i = 1; i <= 5; i++)
		add_native(i * 100, i * 100 + 100, 0);
	assert_int_equal(pl_native_join_own(&join, greenlets), 5); /* no Python frame: it may be about to switch */
	add_eval(250, 1);
	assert_int_equal(pl_native_join_own(&join, greenlets), 3);
	add_eval(350, 1);
	assert_int_equal(pl_native_join_own(&join, greenlets), 4);
	evals.data[1].anchor = 450; /* it was called from Python */
	assert_int_equal(pl_native_join_own(&join, greenlets), 5);
	join.anchors = false;
	is_eval[1] = true;
	assert_int_equal(pl_native_join_own(&join, greenlets), 5);
	evals.len = 1;
	assert_int_equal(pl_native_join_own(&join, greenlets), 3);
	assert_true(pl_native_has_greenlets("/lib/greenlet/_greenlet.cpython-312-x86_64-linux-gnu.so"));
	assert_false(pl_native_has_greenlets("/lib/gevent/_gevent_cgreenlet.cpython-312-x86_64-linux-gnu.so"));
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
	assert_true(pl_native_is_plumbing("_Py_CallBuiltinClass_StackRef"));
	assert_true(pl_native_is_plumbing("method-wrapper.__call__"));
	assert_false(pl_native_is_plumbing("builtin_sorted"));
	assert_false(pl_native_is_plumbing("functools.partial.__call__"));
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

/* More images than one read has room for, and one of them, the last, is no longer there. */
static void a_library_that_is_closed_is_missed_among_others(void **state)
{
	uint32_t images[PL_NATIVE_ASKED];
	struct pl_mem_live *live;
	struct pl_native_place p;

	assert_ok(pl_mem_live_create(getpid(), &live));
	void *library = dlopen("libthread_db.so.1", RTLD_LAZY);
	assert_non_null(library);
	pl_addr inside = (pl_addr)(uintptr_t)dlsym(library, "td_init");
	assert_ok(pl_native_place_init(&p, getpid(), pl_mem_live_mem(live)));
	for (uint32_t i = 0; i < PL_NATIVE_ASKED; i++)
		images[i] = i % (uint32_t)p.images.len;
	images[PL_NATIVE_ASKED - 1] = pl_native_place_owner(&p, inside);
	assert_true(pl_native_place_holds(&p, images, PL_NATIVE_ASKED));
	assert_true(pl_native_place_holds(&p, images, 0));
	dlclose(library);
	assert_false(pl_native_place_holds(&p, &images[PL_NATIVE_ASKED - 1], 1));
	assert_false(pl_native_place_holds(&p, images, PL_NATIVE_ASKED));
	pl_native_place_deinit(&p);
	pl_mem_live_destroy(live);
}

static void one_frame_in(uint32_t image, pl_addr pc)
{
	pl_vec_clear(&native);
	assert_true(pl_vec_push(&native, ((struct pl_native_frame){.pc = pc, .image = image})));
}

static void code_in_no_file_is_looked_for_a_few_times(void **state)
{
	const uint64_t ms = 1000000, begun = 1000000 * ms;
	struct pl_native_look l = {0};

	(void)state;
	one_frame_in(3, 0x1234);
	assert_false(pl_native_look_wanted(&l, &native, begun));
	one_frame_in(PL_NO_IMAGE, 0);
	native.data[0].flags = PL_NATIVE_RESUMED; /* no code at all */
	assert_false(pl_native_look_wanted(&l, &native, begun));
	one_frame_in(PL_NO_IMAGE, 0x10123);
	assert_true(pl_native_look_wanted(&l, &native, begun));
	pl_native_look_ended(&l, true, begun); /* a library; and a second one at once */
	one_frame_in(PL_NO_IMAGE, 0x20123);
	assert_true(pl_native_look_wanted(&l, &native, begun));
	pl_native_look_ended(&l, false, begun); /* made by a JIT compiler, or its library was closed meanwhile */
	pl_native_look_missed(&l, &native);
	pl_native_look_missed(&l, &native);
	assert_true(pl_native_look_wanted(&l, &native, begun + 10 * ms));
	pl_native_look_missed(&l, &native); /* by a compiler */
	assert_false(pl_native_look_wanted(&l, &native, begun + 10 * ms));
	one_frame_in(PL_NO_IMAGE, 0x30123);
	assert_false(pl_native_look_wanted(&l, &native, begun + 9 * ms));
	assert_true(pl_native_look_wanted(&l, &native, begun + 10 * ms));
	pl_native_look_ended(&l, false, begun + 10 * ms);
	assert_false(pl_native_look_wanted(&l, &native, begun + 29 * ms));
	assert_true(pl_native_look_wanted(&l, &native, begun + 30 * ms));
	one_frame_in(PL_NO_IMAGE, 0x20fff); /* the same page as above */
	assert_false(pl_native_look_wanted(&l, &native, begun + 9999 * ms));
	assert_true(pl_native_look_wanted(&l, &native, begun + 10000 * ms));
	for (int i = 0; i < 100; i++)
		pl_native_look_ended(&l, false, begun);
	assert_false(pl_native_look_wanted(&l, &native, begun + 9999 * ms));
	assert_true(pl_native_look_wanted(&l, &native, begun + 10000 * ms)); /* no longer than that */
	pl_native_look_deinit(&l);
}

static void functions_of_c_are_codes_of_their_own(void **state)
{
	static char path[] = "/lib/libz.so.1";
	const struct pl_mapping libz = {.inode = 7, .dev_minor = 1, .path = path};
	const struct pl_mapping other_libz = {.inode = 7, .dev_minor = 2, .path = path};
	struct pl_code_store store = {.max = 4, .max_bytes = 1 << 20};
	struct pl_native_code n = {.place = 0x1010, .begin = 0x1000, .role = {.outer = true}};
	const struct pl_file_view seen = {.rights.uid = 1000}, roots = {0};
	const struct pl_code_module *again, *other;
	uint32_t id, same, third, fourth, fifth;

	(void)state;
	assert_ok(pl_code_modules_find(&store.modules, &(struct pl_code_file){42, &seen, &libz, NULL, 0}, &n.module));
	assert_ok(pl_code_modules_find(&store.modules, &(struct pl_code_file){43, &seen, &libz, NULL, 0}, &again));
	assert_ptr_equal(again, n.module); /* of another process, too */
	assert_int_equal(n.module->pid, 42);
	assert_ok(pl_code_modules_find(&store.modules, &(struct pl_code_file){44, &roots, &libz, NULL, 0}, &other));
	assert_ptr_not_equal(other, n.module); /* who has other rights reads no names for it */
	assert_ok(pl_code_modules_find(&store.modules,
				       &(struct pl_code_file){43, &seen, &libz, (const uint8_t *)"abc", 3}, &other));
	assert_ptr_not_equal(other, n.module);
	assert_ok(
		pl_code_modules_find(&store.modules, &(struct pl_code_file){43, &seen, &other_libz, NULL, 0}, &other));
	assert_ptr_not_equal(other, n.module);

	assert_ok(pl_code_store_native(&store, &n, "", 0, &id));
	n.place = 0x1020; /* the same function */
	assert_ok(pl_code_store_native(&store, &n, "", 5, &same));
	assert_int_equal(same, id);
	n.begin = 0x1020;
	assert_ok(pl_code_store_native(&store, &n, "", 0, &third));
	n.role.inner = true;
	assert_ok(pl_code_store_native(&store, &n, "", 0, &fourth));
	n.module = other;
	assert_ok(pl_code_store_native(&store, &n, "", 0, &fifth));
	assert_true(third != id && fourth != id && fourth != third && fifth != fourth && store.known.len == 4);
	assert_true(store.known.data[id]->is_native);
	n.begin = 0x1030;
	assert_ptr_equal(pl_code_store_native(&store, &n, "", 0, &id), &pl_err_limit);
	pl_code_store_deinit(&store);
}

/* A file system gives the number of a file that is gone to the next one. */
static void many_files_can_have_one_inode_number(void **state)
{
	const struct pl_file_view seen = {0};
	const struct pl_code_module *first[200], *again;
	struct pl_code_modules all = {0};
	char path[32];

	for (unsigned i = 0; i < 400; i++) {
		const struct pl_mapping map = {.inode = 7, .path = path};
		const struct pl_code_file f = {42, &seen, &map, NULL, 0};

		snprintf(path, sizeof path, "/tmp/module%u.so", i % 200);
		assert_ok(pl_code_modules_find(&all, &f, i < 200 ? &first[i] : &again));
		if (i >= 200)
			assert_ptr_equal(again, first[i - 200]);
	}
	assert_int_equal(all.all.len, 200);
	pl_code_modules_deinit(&all);
}

static void what_is_shown_depends_on_where_it_stands(void **state)
{
	const struct pl_native_role between = {.interpreter = true, .inner = true, .outer = true};
	const struct pl_native_role leaf = {.interpreter = true, .outer = true};
	const struct pl_native_role root = {.interpreter = true, .inner = true};
	const struct pl_native_role library = {.inner = true, .outer = true}, below = {.inner = true}, alone = {false};

	const struct pl_native_role eval = {.inner = true, .outer = true, .passes_on = true}, start = {.root = true};

	(void)state;
	assert_false(pl_native_is_shown(&eval, "/lib/libx.so", "run_frame")); /* an evaluator of its own */
	assert_true(pl_native_is_shown(&between, "/bin/python3", "list_sort"));
	assert_false(pl_native_is_shown(&between, "/bin/python3", "_PyEval_Vector"));
	assert_false(pl_native_is_shown(&between, "/bin/python3", NULL));
	assert_true(pl_native_is_shown(&leaf, "/bin/python3", NULL));
	assert_false(pl_native_is_shown(&leaf, "/bin/python3", "_PyEval_EvalFrameDefault"));
	assert_false(pl_native_is_shown(&root, "/bin/python3", "Py_RunMain"));
	assert_true(pl_native_is_shown(&library, "/lib/libx.so", "_PyEval_Vector")); /* its own business */
	assert_true(pl_native_is_shown(&library, "/lib/libx.so", NULL));
	assert_false(pl_native_is_shown(&library, "/lib/libx.so", "__Pyx_PyObject_FastCallDict"));
	assert_true(pl_native_is_shown(&below, "/lib/libx.so", "run_all"));
	assert_false(pl_native_is_shown(&below, "/lib/libc.so.6", "__libc_start_call_main"));
	assert_false(pl_native_is_shown(&below, "/lib/libc.so.6", NULL));
	assert_true(pl_native_is_shown(&alone, "/lib/libc.so.6", NULL)); /* a thread without Python */
	assert_false(pl_native_is_shown(&start, "/lib/libc.so.6", "start_thread"));
	assert_false(pl_native_is_shown(&start, "/lib/libc.so.6", NULL));
	assert_true(pl_native_is_shown(&start, "/lib/libc.so.6", "pause"));
	assert_true(pl_native_is_shown(&start, "/lib/libx.so", "clone_of"));
	assert_false(pl_native_is_shown(&library, PL_JIT_FILE, "py::main:/app/main.py")); /* python -X perf */
	assert_true(pl_native_is_shown(&library, PL_JIT_FILE, "compiled"));
}

/* ---- what one process may cost ----------------------------------------------------------------------------------- */

#define STOPPED_CLOCK UINT64_MAX /* as the moment of the last ration: no time passes */

/* This one, as one whose native frames are read. */
struct own_process {
	struct pl_py py;
	struct pl_native_reader *n;
	struct pl_mem_live *live;
	struct pl_tables tables;
	struct pl_reader r;
};

static struct pl_native_reader *open_own_process(struct own_process *own)
{
	own->py = (struct pl_py){.layout.frame_model = PL_FRAME_CURRENT};
	assert_ok(pl_tables_init(&own->tables));
	pl_reader_init(&own->r, &own->tables);
	assert_ok(pl_mem_live_create(getpid(), &own->live));
	assert_ok(pl_native_reader_create(getpid(), pl_mem_live_mem(own->live), &own->py, &own->n));
	return own->n;
}

static void close_own_process(struct own_process *own)
{
	pl_native_reader_destroy(own->n);
	pl_mem_live_destroy(own->live);
	pl_reader_deinit(&own->r);
	pl_tables_deinit(&own->tables);
}

static void native_frames_of_a_process_have_a_ration(void **state)
{
	const struct pl_activity_info blocked = {
		.sp = (pl_addr)(uintptr_t)__builtin_frame_address(0),
		.pc = (pl_addr)(uintptr_t)native_frames_of_a_process_have_a_ration,
	};
	const struct pl_stack_reader thread = {0};
	struct own_process own;
	uint32_t node;

	(void)state;
	struct pl_native_reader *n = open_own_process(&own);
	n->ration.at_ns = STOPPED_CLOCK;
	pl_native_reader_take(n, &thread, getpid(), &blocked);
	assert_true(n->taken.taken);
	const uint64_t copied = n->ration.spent;
	assert_ok(pl_native_reader_node(n, &own.r, &thread, &node));
	assert_true(node != 0 && copied > 0 && n->ration.spent > copied);
	n->ration.spent = PL_RATION_MOST;
	pl_native_reader_take(n, &thread, getpid(), &blocked);
	assert_false(n->taken.taken);
	assert_ok(pl_native_reader_node(n, &own.r, &thread, &node));
	assert_true(node == 0 && n->ration.spent == PL_RATION_MOST);
	n->ration.at_ns = 1; /* long ago */
	pl_native_reader_take(n, &thread, getpid(), &blocked);
	assert_true(n->taken.taken);
	close_own_process(&own);
}

/* Of the stack that this thread has here, when the rules that were found before are forgotten. */
static uint64_t cost_of_stack(struct own_process *own, const struct pl_activity_info *blocked)
{
	const struct pl_stack_reader thread = {0};
	uint32_t node;

	pl_unwind_rules_forget(own->n->native->place.rules);
	own->n->ration.spent = 0;
	pl_native_reader_take(own->n, &thread, getpid(), blocked);
	assert_true(own->n->taken.taken);
	assert_ok(pl_native_reader_node(own->n, &own->r, &thread, &node));
	assert_int_not_equal(node, 0);
	return own->n->ration.spent;
}

/* Tables can have expressions that read here and there, and so can a frame its registers: a page that nobody has a copy
 * of takes a system call, and two of them can be such that one takes the place of the other. */
static void pages_that_are_read_to_unwind_are_counted(void **state)
{
	const struct pl_activity_info blocked = {
		.sp = (pl_addr)(uintptr_t)__builtin_frame_address(0),
		.pc = (pl_addr)(uintptr_t)pages_that_are_read_to_unwind_are_counted,
	};
	struct own_process own;

	(void)state;
	open_own_process(&own)->ration.at_ns = STOPPED_CLOCK;
	(void)cost_of_stack(&own, &blocked); /* its images are opened */
	const uint64_t known = cost_of_stack(&own, &blocked);
	assert_int_equal(cost_of_stack(&own, &blocked), known);
	pl_mem_pages_forget(own.n->native->place.pages);
	assert_true(cost_of_stack(&own, &blocked) >= known + PL_WORK_CALL);
	assert_int_equal(cost_of_stack(&own, &blocked), known);
	close_own_process(&own);
}

#define IMAGES	     5000u
#define IMAGE_BYTES  4096u
#define LOOK_AT_MOST 1024u /* nanoseconds, of one line of what is mapped: it takes more */

/* One file in a row is one image: two of them by turns are as many as there are mappings. */
static uint8_t *map_images(void)
{
	uint8_t *at = mmap(NULL, (size_t)IMAGES * IMAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const int files[2] = {memfd_create("one", MFD_CLOEXEC), memfd_create("other", MFD_CLOEXEC)};

	assert_true(at != MAP_FAILED);
	for (int i = 0; i < 2; i++)
		assert_int_equal(ftruncate(files[i], IMAGE_BYTES), 0);
	for (size_t i = 0; i < IMAGES; i++)
		assert_true(mmap(at + i * IMAGE_BYTES, IMAGE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
				 files[i % 2], 0) != MAP_FAILED);
	for (int i = 0; i < 2; i++)
		close(files[i]);
	return at;
}

static uint32_t beginnings_of(const struct pl_native_place *p)
{
	uint32_t n = 0;

	for (size_t i = 0; i < p->files.len; i++)
		n += p->files.data[i].beginning != 0;
	return n;
}

static void what_is_mapped_is_looked_at_within_the_ration(void **state)
{
	const struct pl_activity_info blocked = {
		.sp = (pl_addr)(uintptr_t)__builtin_frame_address(0),
		.pc = (pl_addr)(uintptr_t)what_is_mapped_is_looked_at_within_the_ration,
	};
	const struct pl_stack_reader thread = {0};
	struct own_process own;
	uint32_t node;

	(void)state;
	uint8_t *images = map_images();
	struct pl_native_reader *n = open_own_process(&own);
	struct pl_native_place *p = &n->native->place;
	assert_true(p->files.len > IMAGES);
	const uint32_t read = beginnings_of(p);
	assert_true(read > 0 && read < IMAGES); /* of no more images than programs have */
	const uint64_t look = (uint64_t)IMAGES * LOOK_AT_MOST + (uint64_t)read * PL_WORK_CALL;
	assert_true(n->ration.spent >= look); /* the first one, too */
	assert_true(pl_native_reader_work(n) >= look);

	n->ration = (struct pl_ration){.at_ns = STOPPED_CLOCK};
	pl_native_reader_take(n, &thread, getpid(), &blocked);
	const uint64_t copied = n->ration.spent;
	assert_ok(pl_native_reader_node(n, &own.r, &thread, &node));
	assert_true(n->looks > 0 || n->ration.spent >= copied + PL_WORK_CALL); /* it was asked whether they are there */

	const uint32_t looks = n->looks;
	n->ration.spent = 0;
	for (size_t i = 0; i < p->files.len; i++) /* another library is where each was */
		p->files.data[i].beginning ^= p->files.data[i].beginning != 0;
	pl_native_reader_take(n, &thread, getpid(), &blocked);
	assert_ok(pl_native_reader_node(n, &own.r, &thread, &node));
	assert_true(n->looks == looks + 1 && n->ration.spent >= look);
	assert_int_equal(beginnings_of(p), read);
	close_own_process(&own);
	munmap(images, (size_t)IMAGES * IMAGE_BYTES);
}

/* ---- names, read aside ------------------------------------------------------------------------------------------- */

static const struct pl_file_view *own_view(void)
{
	static struct pl_file_view own;

	assert_true(pl_file_view_of(getpid(), &own));
	return &own;
}

static const struct pl_mapping *mapping_of(const pl_mapping_vec *maps, const void *function)
{
	for (size_t i = 0; i < maps->len; i++)
		if ((pl_addr)(uintptr_t)function - maps->data[i].start < maps->data[i].end - maps->data[i].start)
			return &maps->data[i];
	fail_msg("%p is not mapped", function);
	return NULL;
}

static struct pl_functions *functions_of(struct pl_symbol_reader *r, const struct pl_mapping *m)
{
	const struct pl_code_file q = {.pid = getpid(), .seen = own_view(), .map = m};
	struct pl_functions *ret;

	assert_true(pl_symbol_ask(r, &q));
	await (pl_symbol_answered(r, 100, 1000000, &ret))
		;
	assert_null(r->asker.asked);
	return ret;
}

static void names_are_read_aside(void **state)
{
	struct pl_symbol_reader r = {0};
	pl_mapping_vec maps = {0};

	(void)state;
	assert_ok(pl_maps_read(getpid(), &maps));
	struct pl_functions *own = functions_of(&r, mapping_of(&maps, names_are_read_aside));
	assert_non_null(own);
	assert_true(r.spent > 0 && r.asker.left_behind == 0);
	pl_functions_destroy(own);
	/* Another file has its name by now: who makes one could have the names of any file told. */
	struct pl_mapping replaced = *mapping_of(&maps, names_are_read_aside);
	replaced.inode++;
	replaced.start = replaced.end - 1; /* the kernel has no link to that */
	assert_null(functions_of(&r, &replaced));
	const struct pl_mapping nothing = {.inode = 1, .executable = true, .path = (char[]){"/nowhere/at/all.so"}};
	assert_null(functions_of(&r, &nothing));
	pl_maps_deinit(&maps);
	pl_symbol_reader_deinit(&r);
}

static void names_of_a_process_take_no_more_than_its_part(void **state)
{
	struct pl_symbol_reader r = {0};
	pl_mapping_vec maps = {0};

	(void)state;
	assert_ok(pl_maps_read(getpid(), &maps));
	struct pl_code_file q = {.pid = getpid(), .seen = own_view(), .map = mapping_of(&maps, names_are_read_aside)};
	struct pl_functions *ret = functions_of(&r, q.map);
	assert_non_null(ret);
	pl_functions_destroy(ret);
	assert_true(pl_map_set(&r.by_process, (uint64_t)getpid(), 0, PL_IMAGE_WORK / 4096));
	assert_false(pl_symbol_ask(&r, &q));
	/* A perf map is read again and again: it has a part of the time. */
	const struct pl_mapping perf_map = {.inode = 1, .path = (char[]){PL_JIT_FILE}};
	const struct pl_code_file grows = {.pid = getpid(), .seen = own_view(), .map = &perf_map};
	for (int i = 0; i < 2; i++) {
		assert_true(pl_symbol_ask(&r, &grows));
		await (pl_symbol_answered(&r, 100, 1000000, &ret))
			;
		pl_functions_destroy(ret);
	}
	r.perf_maps = (struct pl_ration){.spent = UINT64_MAX / 2, .at_ns = UINT64_MAX};
	assert_false(pl_symbol_ask(&r, &grows));
	q.pid = getppid(); /* the others have theirs */
	assert_true(pl_symbol_ask(&r, &q));
	await (pl_symbol_answered(&r, 100, 1000000, &ret))
		;
	pl_functions_destroy(ret);
	pl_maps_deinit(&maps);
	pl_symbol_reader_deinit(&r);
}

static void who_does_not_answer_is_left_behind(void **state)
{
	struct pl_symbol_reader r = {0};
	pl_mapping_vec maps = {0};
	struct pl_functions *ret;

	(void)state;
	assert_ok(pl_maps_read(getpid(), &maps));
	const struct pl_code_file q = {
		.pid = getpid(), .seen = own_view(), .map = mapping_of(&maps, names_are_read_aside)};
	for (int i = 0; i < PL_ASIDE_MOST_LEFT; i++) {
		assert_true(pl_symbol_ask(&r, &q));
		assert_true(pl_symbol_answered(&r, 0, 0, &ret)); /* no patience at all */
		assert_int_equal(r.asker.left_behind, ret ? i : i + 1);
		if (ret) /* it was quicker */
			i--;
		pl_functions_destroy(ret);
	}
	assert_false(pl_symbol_ask(&r, &q));
	pl_maps_deinit(&maps);
	pl_symbol_reader_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(anchors_place_python_frames, set_up),
		cmocka_unit_test_setup(what_does_not_fit_is_not_mixed, set_up),
		cmocka_unit_test_setup(gaps_are_told, set_up),
		cmocka_unit_test_setup(names_place_them_where_there_are_no_anchors, set_up),
		cmocka_unit_test_setup(what_others_left_on_the_c_stack_is_not_of_a_greenlet, set_up),
		cmocka_unit_test(plumbing_is_known_by_name),
		cmocka_unit_test(an_image_is_a_file_mapped_in_a_row),
		cmocka_unit_test(what_is_mapped_is_looked_at_again),
		cmocka_unit_test(a_library_that_is_closed_is_missed_among_others),
		cmocka_unit_test(code_in_no_file_is_looked_for_a_few_times),
		cmocka_unit_test(functions_of_c_are_codes_of_their_own),
		cmocka_unit_test(many_files_can_have_one_inode_number),
		cmocka_unit_test(what_is_shown_depends_on_where_it_stands),
		cmocka_unit_test(native_frames_of_a_process_have_a_ration),
		cmocka_unit_test(pages_that_are_read_to_unwind_are_counted),
		cmocka_unit_test(what_is_mapped_is_looked_at_within_the_ration),
		cmocka_unit_test(names_are_read_aside),
		cmocka_unit_test(names_of_a_process_take_no_more_than_its_part),
		cmocka_unit_test(who_does_not_answer_is_left_behind),
	};
	return cmocka_run_group_tests(tests, NULL, tear_down);
}
