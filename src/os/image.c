/* SPDX-License-Identifier: Apache-2.0 */
/* The Python inside a process (layer os). Any thread. Decides which mapped file holds the interpreter; how that file is
 * opened is in image_file.c. It reads no interpreter state: whether what it finds is alive is for src/cpython to prove.
 *
 * A library may merely contain copies of the symbols (an extension that links its own libpython, a trampoline). So the
 * executable and files called libpython are asked in full before any other file is asked at all. */
#include "image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf.h"
#include "image_file.h"
#include "map.h"
#include "maps.h"
#include "proc.h"
#include "proc_file.h"

#define MAX_FILES     4096
#define GIL_MAX_BYTES 512 /* four neighbours of 40 and 48 bytes */
#define PF_KTHREAD    0x00200000u

#define WORK_A_MAPPING 512 /* to read its line */

/* The first two decide whether a file is an interpreter. */
enum symbol {
	RUNTIME,
	CURRENT,
	VERSION,
	CODE_TYPE,
	THREADS_BEGUN,
	/* never exported */
	HEAD,
	GIL_LOCK,
	GIL_FIRST,
	GIL_LAST = GIL_FIRST + 3,
	SYMBOLS,
	DECISIVE = VERSION,
	EXPORTED = HEAD
};

static const char *const symbol_names[SYMBOLS] = {
	[RUNTIME] = "_PyRuntime",
	[CURRENT] = "_PyThreadState_Current",
	[VERSION] = "Py_Version",
	[CODE_TYPE] = "PyCode_Type",
	[THREADS_BEGUN] = "PyEval_ThreadsInitialized",
	[HEAD] = "interp_head",
	[GIL_LOCK] = "interpreter_lock",
	[GIL_FIRST] = "gil_mutex",
	[GIL_FIRST + 1] = "gil_cond",
	[GIL_FIRST + 2] = "switch_mutex",
	[GIL_LAST] = "switch_cond",
};

struct search {
	pid_t pid; /* 0: that of a process that has ended */
	const char *root;
	const struct pl_rights *as;
	struct pl_work *work;
	pl_mapping_vec maps;
	PL_VEC(struct pl_image_file) files; /* in the order of asking */
	struct pl_map known;		    /* inode and device -> where in `files` before they are in order */
	char exe[512];
	bool wrong_class;	   /* the executable is a 32-bit program */
	bool not_ready;		   /* it, or the libpython that it needs, is not mapped yet */
	struct plumb_error *error; /* of ours, with a file that might have been it: the first */
};

static bool is_python_file(const char *path)
{
	return strstr(pl_base_name(path), "python") != NULL;
}

static bool add_file(struct search *s, const struct pl_mapping *m, enum pl_image_rank rank)
{
	uint32_t at = (uint32_t)s->files.len;
	return pl_vec_push(&s->files, ((struct pl_image_file){.map = m, .rank = rank})) &&
	       pl_map_set(&s->known, m->inode, pl_mapping_device(m), at);
}

/* Note the file of @p m if it can hold an interpreter; false without memory. */
static bool note_file(struct search *s, const struct pl_mapping *m)
{
	enum pl_image_rank rank = strcmp(m->path, s->exe) == 0 ? PL_IMAGE_EXE
				  : is_python_file(m->path)    ? PL_IMAGE_PYTHON
							       : PL_IMAGE_OTHER;
	/* A program may have moved its code to huge pages: its own files count even if nothing of them is executable.
	 */
	if (!m->inode || m->path[0] != '/' || (!m->executable && rank == PL_IMAGE_OTHER))
		return true;
	uint32_t at;
	if (pl_map_get(&s->known, m->inode, pl_mapping_device(m), &at)) {
		struct pl_image_file *known = &s->files.data[at];

		if (m->executable && !known->map->executable)
			known->map = m;
		return true;
	}
	return s->files.len >= MAX_FILES || add_file(s, m, rank);
}

static int compare_files(const void *a, const void *b)
{
	const struct pl_image_file *x = a, *y = b;
	if (x->rank != y->rank)
		return (int)x->rank - (int)y->rank;
	return (x->map->start > y->map->start) - (x->map->start < y->map->start);
}

static bool collect_files(struct search *s)
{
	for (size_t i = 0; i < s->maps.len; i++)
		if (!note_file(s, &s->maps.data[i]))
			return false;
	if (s->files.len)
		qsort(s->files.data, s->files.len, sizeof *s->files.data, compare_files);
	return true;
}

static bool is_mapped(const struct search *s, pl_addr addr)
{
	for (size_t i = 0; i < s->maps.len; i++)
		if (addr >= s->maps.data[i].start && addr < s->maps.data[i].end)
			return true;
	return false;
}

/* "libpython3.11.so.1.0", "python3.13t" -> 0x030b00, 0x030d00 */
static uint32_t version_of_name(const char *path)
{
	unsigned major, minor;
	for (const char *p = pl_base_name(path); (p = strstr(p, "python")); p++)
		if (sscanf(p, "python%1u.%3u", &major, &minor) == 2 && minor < 256)
			return major << 16 | minor << 8;
	return 0;
}

/* Everything that @p e knows; true if it holds an interpreter. Reading the full symbol table takes longer than all the
 * rest. */
static bool look_up(const struct pl_elf *e, unsigned tables, struct pl_elf_symbol found[SYMBOLS])
{
	pl_elf_symbols(e, PL_ELF_DYNAMIC, symbol_names, EXPORTED, found);
	if (!found[RUNTIME].value)
		pl_elf_section(e, ".PyRuntime", &found[RUNTIME]);
	if (!found[RUNTIME].value && !found[CURRENT].value)
		pl_elf_symbols(e, tables & PL_ELF_STATIC, symbol_names, DECISIVE, found);
	if (!found[RUNTIME].value && !found[CURRENT].value)
		return false;
	/* Up to 3.6 the words of the interpreter are never exported; the rest is missing only if this build exports
	 * nothing at all. That there is no Py_Version (3.11+) means nothing. */
	if (!found[RUNTIME].value)
		pl_elf_symbols(e, PL_ELF_STATIC, symbol_names, SYMBOLS, found);
	else if (!found[CODE_TYPE].value)
		pl_elf_symbols(e, PL_ELF_STATIC, symbol_names, EXPORTED, found);
	return true;
}

static pl_addr at_run_time(const struct search *s, const struct pl_elf_symbol *symbol, uint64_t bias)
{
	pl_addr addr = symbol->value + bias;
	return symbol->value && is_mapped(s, addr) ? addr : 0;
}

/* 3.6 waits for its GIL in four static variables, neighbours in one file of its source. */
static void find_gil(const struct search *s, const struct pl_elf_symbol found[SYMBOLS], uint64_t bias,
		     struct pl_python_image *ret)
{
	uint64_t start = UINT64_MAX, end = 0;

	for (int i = GIL_FIRST; i <= GIL_LAST; i++) {
		const struct pl_elf_symbol *symbol = &found[i];
		if (!symbol->value || symbol->size > GIL_MAX_BYTES)
			return;
		start = symbol->value < start ? symbol->value : start;
		end = symbol->value + symbol->size > end ? symbol->value + symbol->size : end;
	}
	if (end - start > GIL_MAX_BYTES || !is_mapped(s, start + bias))
		return;
	ret->gil = start + bias;
	ret->gil_bytes = (uint32_t)(end - start);
}

/* A file that we could not look at, for want of memory or descriptors, may have been the interpreter. */
static void note_error(struct search *s, struct plumb_error *err)
{
	enum plumb_error_code code = plumb_error_code(err);
	if (!s->error && (code == PLUMB_ERR_SYSTEM || code == PLUMB_ERR_NO_MEMORY))
		s->error = err;
	else
		plumb_error_destroy(err);
}

/* An exec maps one segment after the other: the one that counts may still be to come. */
static void note_unmapped(struct search *s, const struct pl_image_file *f)
{
	s->not_ready |= f->rank == PL_IMAGE_EXE;
}

static bool open_file(struct search *s, struct pl_image_file *f)
{
	const struct pl_image_place place = {
		.pid = s->pid, .root = s->root, .as = s->as, .maps = &s->maps, .work = s->work};
	struct plumb_error *err = pl_image_file_open(&place, f);
	if (!err)
		return true;
	s->wrong_class |= f->rank == PL_IMAGE_EXE && plumb_error_code(err) == PLUMB_ERR_NOT_SUPPORTED;
	note_error(s, err);
	return false;
}

/* Ask one file; true if it holds an interpreter and *ret is filled in. */
static bool ask_file(struct search *s, struct pl_image_file *f, unsigned tables, struct pl_python_image *ret)
{
	struct pl_elf_symbol found[SYMBOLS] = {0};
	uint64_t bias;
	if (!open_file(s, f))
		return false;
	if (f->rank == PL_IMAGE_EXE && pl_elf_needs(f->elf, "libpython"))
		s->not_ready = true;
	if (!look_up(f->elf, tables, found))
		return false;
	pl_work_note(s->work, SYMBOLS * s->maps.len);
	if (!pl_image_file_bias(f, &bias)) {
		note_unmapped(s, f);
		return false;
	}
	*ret = (struct pl_python_image){
		.runtime = at_run_time(s, &found[RUNTIME], bias),
		.runtime_size = found[RUNTIME].size,
		.version = at_run_time(s, &found[VERSION], bias),
		.code_type = at_run_time(s, &found[CODE_TYPE], bias),
		.tstate_current = at_run_time(s, &found[CURRENT], bias),
		.interp_head = at_run_time(s, &found[HEAD], bias),
		.gil_lock = at_run_time(s, &found[GIL_LOCK], bias),
		.threads_begun = at_run_time(s, &found[THREADS_BEGUN], bias),
		.name_version = version_of_name(f->map->path),
	};
	snprintf(ret->path, sizeof ret->path, "%s", f->map->path);
	find_gil(s, found, bias, ret);
	bool here = ret->runtime || ret->tstate_current;
	if (!here)
		note_unmapped(s, f);
	return here;
}

/* A symbol of the executable comes before the same one of a library: if a non-PIE program refers to PyCode_Type, the
 * linker gave it a copy (R_X86_64_COPY), and that is the one the whole process uses. */
static void prefer_executable(struct search *s, struct pl_python_image *ret)
{
	struct pl_image_file *exe = &s->files.data[0];
	struct pl_elf_symbol found[SYMBOLS] = {0};
	uint64_t bias;
	if (exe->rank != PL_IMAGE_EXE || !open_file(s, exe) || !pl_image_file_bias(exe, &bias))
		return;
	pl_elf_symbols(exe->elf, PL_ELF_DYNAMIC, symbol_names, EXPORTED, found);
	pl_addr version = at_run_time(s, &found[VERSION], bias), code_type = at_run_time(s, &found[CODE_TYPE], bias);
	ret->version = version ? version : ret->version;
	ret->code_type = code_type ? code_type : ret->code_type;
}

/* Ask the files of ranks @p from to @p to. */
static bool ask_files(struct search *s, enum pl_image_rank from, enum pl_image_rank to, unsigned tables,
		      struct pl_python_image *ret)
{
	for (size_t i = 0; i < s->files.len; i++) {
		struct pl_image_file *f = &s->files.data[i];
		if (f->rank < from || f->rank > to)
			continue;
		if (ask_file(s, f, tables, ret)) {
			if (i > 0)
				prefer_executable(s, ret);
			return true;
		}
		if (f->rank == PL_IMAGE_OTHER || f->copy)
			pl_image_file_close(f); /* there may be more of them than we may open, or have memory for */
	}
	return false;
}

/* The files whose names say nothing, and to which no route leads any more; false if there are none. */
static bool take_from_memory(struct search *s)
{
	bool any = false;
	for (size_t i = 0; i < s->files.len; i++) {
		struct pl_image_file *f = &s->files.data[i];
		if (f->rank != PL_IMAGE_OTHER || !f->failed || !f->map->deleted)
			continue;
		f->loaded = any = true;
		f->failed = false;
	}
	return any;
}

/* Reading files out of a process takes long. So that comes last, and only if the program needs a libpython: whatever
 * that is called, it is then one of the files that were deleted or replaced since. If the first were not asked in full,
 * what the others hold may be a copy. */
static bool find_interpreter(struct search *s, struct pl_python_image *ret)
{
	const unsigned all = PL_ELF_DYNAMIC | PL_ELF_STATIC;
	if (ask_files(s, PL_IMAGE_EXE, PL_IMAGE_PYTHON, PL_ELF_DYNAMIC, ret) ||
	    ask_files(s, PL_IMAGE_EXE, PL_IMAGE_PYTHON, all, ret))
		return true;
	if (s->work->ran_out)
		return false;
	return ask_files(s, PL_IMAGE_OTHER, PL_IMAGE_OTHER, PL_ELF_DYNAMIC, ret) ||
	       ask_files(s, PL_IMAGE_OTHER, PL_IMAGE_OTHER, all, ret) ||
	       (s->not_ready && take_from_memory(s) && ask_files(s, PL_IMAGE_OTHER, PL_IMAGE_OTHER, all, ret));
}

/* No mapping at all, or none of a file: between two programs, or on its way out. */
static struct plumb_error *no_memory_map(pid_t pid)
{
	char comm[16];
	struct plumb_error *gone = pl_proc_check(pid);
	if (gone)
		return gone;
	pl_proc_comm(pid, pid, comm);
	return pl_error(PLUMB_ERR_NOT_READY, "pid %d (%s) is just starting a program", (int)pid, comm);
}

static struct plumb_error *take_error(struct search *s)
{
	struct plumb_error *err = s->error;
	s->error = NULL;
	return err;
}

static struct plumb_error *too_much(pid_t pid, const char *runs)
{
	return pl_error_hint(
		pl_error(PLUMB_ERR_NOT_PYTHON,
			 "pid %d runs %s; its files are too many or too large to look all through them for a Python",
			 (int)pid, runs),
		"a Python is found at once if it is the program itself, or a libpython of it");
}

static struct plumb_error *not_python(struct search *s)
{
	char comm[24] = "[";
	const char *runs = s->exe;
	if (!*runs) {
		pl_proc_comm(s->pid, s->pid, comm + 1);
		runs = strcat(comm, "]");
	}
	struct plumb_error *gone = pl_proc_check(s->pid);
	if (gone)
		return gone;
	if (s->error)
		return take_error(s);
	if (s->wrong_class)
		return pl_error_hint(
			pl_error(PLUMB_ERR_NOT_SUPPORTED, "pid %d runs the 32-bit program %s", (int)s->pid, runs),
			"plumb reads 64-bit programs");
	if (strstr(pl_base_name(runs), "pypy"))
		return pl_error(PLUMB_ERR_NOT_PYTHON, "pid %d runs PyPy (%s), not CPython", (int)s->pid, runs);
	if (s->work->ran_out)
		return too_much(s->pid, runs);
	if (s->not_ready)
		return pl_error(PLUMB_ERR_NOT_READY, "pid %d (%s) has not loaded its Python yet", (int)s->pid, runs);
	return pl_error_hint(pl_error(PLUMB_ERR_NOT_PYTHON, "pid %d runs %s, not Python", (int)s->pid, runs),
			     "if it has started a Python: 'plumb attach %d --subprocesses', or the number of that one",
			     (int)s->pid);
}

static struct plumb_error *run_search(struct search *s, struct pl_python_image *ret)
{
	struct pl_python_image found;
	struct plumb_error *err = pl_maps_read(s->pid, &s->maps);
	if (err)
		return err;
	if (!s->maps.len)
		return no_memory_map(s->pid);
	pl_work_note(s->work, WORK_A_MAPPING * s->maps.len);
	pl_proc_exe(s->pid, s->exe, sizeof s->exe);
	if (!collect_files(s))
		return &pl_err_no_memory;
	if (!s->files.len)
		return no_memory_map(s->pid);
	if (!find_interpreter(s, &found))
		return not_python(s);
	*ret = found;
	return NULL;
}

/* Asked first: without privileges, the kernel's answer for one would be "not permitted". */
static struct plumb_error *check_user_process(pid_t pid)
{
	char stat[1024], comm[16];
	uint64_t flags;
	struct plumb_error *err = pl_proc_check(pid);
	if (err || pl_proc_file(pid, "stat", stat, sizeof stat) <= 0 || !pl_proc_stat_field(stat, 9, &flags))
		return err;
	if (!(flags & PF_KTHREAD))
		return NULL;
	pl_proc_comm(pid, pid, comm);
	return pl_error(PLUMB_ERR_NOT_PYTHON, "pid %d is the kernel thread %s, not a program", (int)pid, comm);
}

static void close_files(struct search *s)
{
	for (size_t i = 0; i < s->files.len; i++)
		pl_image_file_close(&s->files.data[i]);
	pl_vec_deinit(&s->files);
	pl_map_deinit(&s->known);
	plumb_error_destroy(s->error);
}

/* Without a process the files are found by their names alone. */
struct plumb_error *pl_python_image_find_mapped(const pl_mapping_vec *maps, const char *exe, const char *root,
						const struct pl_rights *as, struct pl_work *work,
						struct pl_python_image *ret)
{
	struct search s = {.maps = *maps, .root = root, .as = as, .work = work};
	struct plumb_error *err = NULL;
	snprintf(s.exe, sizeof s.exe, "%s", exe);
	if (!collect_files(&s))
		err = &pl_err_no_memory;
	else if (!find_interpreter(&s, ret))
		err = pl_error_hint(pl_error(PLUMB_ERR_NOT_PYTHON, "no Python was found in the files of %s%s",
					     strcmp(root, "/") != 0 ? root : "", *exe ? exe : "the program"),
				    "the program and its libraries must still be where they were, and unchanged");
	close_files(&s);
	return err;
}

struct plumb_error *pl_python_image_find(pid_t pid, struct pl_work *work, struct pl_python_image *ret)
{
	struct search s = {.pid = pid, .work = work};
	struct plumb_error *err = check_user_process(pid);
	if (!err)
		err = run_search(&s, ret);
	close_files(&s);
	pl_maps_deinit(&s.maps);
	return err;
}
