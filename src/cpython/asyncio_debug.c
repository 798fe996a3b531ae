/* SPDX-License-Identifier: Apache-2.0 */
/* Where the words of tasks are. Layer: cpython. Pure over pl_mem; any thread; allocates nothing.
 *
 * Up to 3.13 the structs of _asyncio are fixed for a minor. 3.6 keeps the set of its tasks in a static variable of the
 * library, which nothing leads to: its tasks are not read. 3.14+ describes them in a section of the library or the
 * program that holds _asyncio: 13 words, among them the size of the interpreter's state, which _Py_DebugOffsets gives
 * too. The section is data, loaded right behind the module's own: so it is searched for from there, without any file.
 */
#include "asyncio_parts.h"

#include "minors.h"
#include "pick.h"

#define SCAN_UP_BYTES	(4u << 20)
#define SCAN_DOWN_BYTES (1u << 20)
#define SCAN_NEAR_BYTES (64u << 10)
#define HEADER_BYTES	16 /* of an object with a GIL */
#define PAGE_BYTES	4096

/* The words, in their order. */
enum word {
	TASK_SIZE,
	TASK_NAME,
	TASK_AWAITED_BY,
	TASK_IS_TASK,
	TASK_AWAITED_BY_IS_SET,
	TASK_CORO,
	TASK_NODE,
	INTERP_SIZE,
	INTERP_TASKS,
	THREAD_SIZE,
	THREAD_LOOP,
	THREAD_TASK,
	THREAD_TASKS,
	WORDS
};

#define WORDS_BYTES (WORDS * 8)

static bool fits(const uint64_t *w, enum word at, uint64_t width, enum word size)
{
	return w[at] < w[size] && width <= w[size] - w[at] && w[at] % width == 0;
}

/* Are these the 13 words? The size of the interpreter's state is known; the rest must fit together. */
static bool is_section(const struct pl_layout *lay, const uint64_t *w)
{
	if (w[INTERP_SIZE] != lay->interp.size || w[TASK_SIZE] < 100 || w[TASK_SIZE] > 1024 || w[THREAD_SIZE] < 200 ||
	    w[THREAD_SIZE] > 1 << 20)
		return false;
	/* The waited-for future is the word before the coroutine, the state that before is_task. */
	return fits(w, TASK_NAME, 8, TASK_SIZE) && fits(w, TASK_AWAITED_BY, 8, TASK_SIZE) &&
	       fits(w, TASK_IS_TASK, 1, TASK_SIZE) && fits(w, TASK_AWAITED_BY_IS_SET, 1, TASK_SIZE) &&
	       fits(w, TASK_CORO, 8, TASK_SIZE) && fits(w, TASK_NODE, 8, TASK_SIZE) &&
	       fits(w, INTERP_TASKS, 8, INTERP_SIZE) && fits(w, THREAD_LOOP, 8, THREAD_SIZE) &&
	       fits(w, THREAD_TASK, 8, THREAD_SIZE) && fits(w, THREAD_TASKS, 8, THREAD_SIZE) &&
	       w[TASK_CORO] >= lay->object.size + 16u && w[TASK_IS_TASK] >= lay->object.size + 16u &&
	       w[TASK_IS_TASK] % 4 == 0;
}

/* Look in one page; the words may reach into the next one. */
static struct plumb_error *scan_page(struct pl_mem *mem, const struct pl_layout *lay, pl_addr page,
				     uint64_t found[static WORDS], bool *ret)
{
	uint64_t words[(PAGE_BYTES + WORDS_BYTES) / 8];
	size_t n = sizeof words / 8;
	struct plumb_error *err = pl_mem_read(mem, page, words, sizeof words);

	if (err) { /* the last page of its mapping */
		n = PAGE_BYTES / 8;
		err = pl_mem_read(mem, page, words, PAGE_BYTES);
	}
	for (size_t i = 0; !err && !*ret && i + WORDS <= n; i++) {
		*ret = words[i + INTERP_SIZE] == lay->interp.size && is_section(lay, words + i);
		if (*ret)
			memcpy(found, words + i, WORDS_BYTES);
	}
	return err;
}

/* Page after page, up or down (@p step). Unreadable memory ends it. */
static bool scan(struct pl_mem *mem, const struct pl_layout *lay, pl_addr from, uint64_t bytes, int64_t step,
		 uint64_t found[static WORDS])
{
	pl_addr page = from & ~(pl_addr)(PAGE_BYTES - 1);
	struct plumb_error *err = NULL;
	bool ret = false;

	for (uint64_t done = 0; !err && !ret && done < bytes && page >= PAGE_BYTES; done += PAGE_BYTES) {
		err = scan_page(mem, lay, page, found, &ret);
		page += (pl_addr)step;
	}
	plumb_error_destroy(err);
	return ret;
}

/* Linkers put the section behind the data of its file, and behind .PyRuntime if that is the same file. */
static struct plumb_error *find_section(struct pl_mem *mem, const struct pl_py *py, pl_addr data,
					uint64_t found[static WORDS])
{
	const struct pl_layout *lay = &py->layout;
	bool same_file = data - py->runtime + SCAN_UP_BYTES < 2 * (uint64_t)SCAN_UP_BYTES;

	if ((same_file && scan(mem, lay, py->runtime + lay->runtime_size, SCAN_NEAR_BYTES, PAGE_BYTES, found)) ||
	    scan(mem, lay, data, SCAN_UP_BYTES, PAGE_BYTES, found) ||
	    scan(mem, lay, data, SCAN_DOWN_BYTES, -PAGE_BYTES, found))
		return NULL;
	return pl_error(PLUMB_ERR_NOT_SUPPORTED, "the debug section of _asyncio was not found in the process");
}

/* An address in the data of the file that holds _asyncio: the table of its functions. A builtin function begins with
 * the pointer to its entry there. */
static struct plumb_error *find_data(const struct pl_asyncio *a, pl_addr *ret)
{
	pl_addr function;
	struct plumb_error *err = pl_dict_get(a->mem, a->py, &a->c_module, "_get_running_loop", &function);

	if (!err && !function)
		return pl_error(PLUMB_ERR_NOT_SUPPORTED, "asyncio without its C module is not read on 3.14 and later");
	if (!err)
		err = pl_mem_read_u64(a->mem, function + a->py->layout.object.size, ret);
	if (!err && !pl_pointer_ok(*ret))
		err = &pl_err_corrupt;
	return err;
}

static struct plumb_error *find_described(struct pl_asyncio *a)
{
	uint64_t w[WORDS] = {0};
	pl_addr data = 0;
	struct plumb_error *err = find_data(a, &data);

	if (!err)
		err = find_section(a->mem, a->py, data, w);
	if (err)
		return err;
	a->layout = (struct pl_task_layout){
		.state = (uint32_t)w[TASK_IS_TASK] - 4,
		.fut_waiter = (uint32_t)w[TASK_CORO] - 8,
		.coro = (uint32_t)w[TASK_CORO],
		.name = (uint32_t)w[TASK_NAME],
		.node = (uint32_t)w[TASK_NODE],
		.awaited_by = (uint32_t)w[TASK_AWAITED_BY],
		.awaited_by_is_set = (uint32_t)w[TASK_AWAITED_BY_IS_SET],
		.interp_tasks = (uint32_t)w[INTERP_TASKS],
		.tstate_loop = (uint32_t)w[THREAD_LOOP],
		.tstate_task = (uint32_t)w[THREAD_TASK],
		.tstate_tasks = (uint32_t)w[THREAD_TASKS],
	};
	return NULL;
}

/* @p more: how much larger than usual the header of objects is (free-threaded builds). */
static struct pl_task_layout layout_of(const struct pl_minor *minor, uint32_t more)
{
	return (struct pl_task_layout){
		.state = minor->task.state + more,
		.fut_waiter = minor->task.fut_waiter + more,
		.coro = minor->task.coro + more,
		.name = minor->task.name == PL_NONE ? PL_NONE : minor->task.name + more,
		.node = PL_NONE,
		.awaited_by = PL_NONE,
		.awaited_by_is_set = PL_NONE,
		.interp_tasks = PL_NONE,
		.tstate_loop = PL_NONE,
		.tstate_task = PL_NONE,
		.tstate_tasks = PL_NONE,
	};
}

struct plumb_error *pl_task_layout_find(struct pl_asyncio *a)
{
	const struct pl_layout *lay = &a->py->layout;
	const struct pl_minor *minor = pl_minor_of(lay->version);
	char version[PL_VERSION_TEXT];

	if (minor && minor->tasks_described && lay->interp.size != PL_NONE)
		return find_described(a);
	if (minor && minor->task.state) {
		a->layout = layout_of(minor, lay->object.size - HEADER_BYTES);
		return NULL;
	}
	return pl_error(PLUMB_ERR_NOT_SUPPORTED, "asyncio tasks of CPython %s are not read",
			pl_py_version_text(a->py, version));
}
