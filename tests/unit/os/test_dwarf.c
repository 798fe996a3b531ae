/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and inlined functions of a library (lines.c) whose debug information is of each version; then hostile ones: the
 * same with bytes changed and cut off. */
#include "unit.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dwarf.h"
#include "dwarf_read.h"
#include "failing.h"

#define CHANGES	 400
#define WORK_MAX (64u << 20)

/* What is told of an instruction. */
struct told {
	size_t count;
	struct {
		char function[64], file[256];
		uint32_t line;
		bool inlined;
	} all[8];
};

static void tell(void *ctx, const struct pl_dwarf_place *p)
{
	struct told *t = ctx;

	assert_true(t->count < 8);
	snprintf(t->all[t->count].function, sizeof t->all[0].function, "%s", p->function ? p->function : "");
	snprintf(t->all[t->count].file, sizeof t->all[0].file, "%s", p->file ? p->file : "");
	t->all[t->count].line = p->line;
	t->all[t->count].inlined = p->inlined;
	t->count++;
}

static uintptr_t called_from;

static __attribute__((noinline)) uintptr_t called(void)
{
	called_from = (uintptr_t)__builtin_return_address(0);
	return 0;
}

static unsigned number(void *library, const char *name)
{
	const unsigned *n = dlsym(library, name);

	assert_non_null(n);
	return *n;
}

/* Call into the library; *addr: the instruction in it that calls back, as in its file. */
static void *load(const char *path, uint64_t *addr)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	struct link_map *map;

	assert_non_null(library);
	uintptr_t (*outer)(uintptr_t(*)(void)) = (uintptr_t(*)(uintptr_t(*)(void)))dlsym(library, "lines_outer");
	assert_non_null(outer);
	assert_int_equal(outer(called), 3);
	assert_int_equal(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
	*addr = called_from - 1 - map->l_addr;
	return library;
}

static void check(const struct told *t, size_t i, const char *function, unsigned line)
{
	const char *file = strrchr(t->all[i].file, '/');

	assert_string_equal(t->all[i].function, function);
	assert_string_equal(file ? file : "", "/lines.c");
	assert_null(strstr(t->all[i].file, "/../"));
	assert_int_equal(t->all[i].line, line);
	assert_int_equal(t->all[i].inlined, i < 2);
}

static void an_instruction_has_its_functions_and_lines(const char *path)
{
	struct told t = {.count = 0};
	struct pl_elf *e;
	struct pl_dwarf *d;
	uint64_t addr;
	void *library = load(path, &addr);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_ok(pl_elf_open_fd(fd, NULL, &e));
	close(fd);
	assert_ok(pl_dwarf_open(e, NULL, &d));
	pl_elf_close(e);
	assert_non_null(d);
	assert_int_equal(pl_dwarf_places(d, addr, tell, &t), 3);
	assert_int_equal(t.count, 3);
	check(&t, 0, "inner", number(library, "lines_inner_at"));
	check(&t, 1, "middle", number(library, "lines_middle_at"));
	check(&t, 2, "lines_outer", number(library, "lines_outer_at"));
	assert_int_equal(pl_dwarf_places(d, 0, tell, &t), 0);
	assert_int_equal(pl_dwarf_places(d, UINT64_MAX, tell, &t), 0);
	pl_dwarf_close(d);
	dlclose(library);
}

static void lines_of_each_version(void **state)
{
	(void)state;
	for (const char *const *path = (const char *const[]){LINES_LIBRARIES, NULL}; *path; path++)
		an_instruction_has_its_functions_and_lines(*path);
}

static void a_file_without_debug_information(void **state)
{
	struct pl_elf *e;
	struct pl_dwarf *d = (struct pl_dwarf *)&e;
	int fd = open(STRIPPED_LIBRARY, O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_ok(pl_elf_open_fd(fd, NULL, &e));
	close(fd);
	assert_ok(pl_dwarf_open(e, NULL, &d));
	assert_null(d);
	pl_elf_close(e);
	pl_dwarf_close(d);
}

/* ---- a want of memory ---------------------------------------------------------------------------------------------
 */

struct asked {
	const char *path;
	uint64_t addr;
	unsigned long whole;
};

static void ask_once(void *ctx)
{
	struct asked *a = ctx;
	struct told t = {.count = 0};
	struct pl_elf *e = NULL;
	struct pl_dwarf *d = NULL;
	int fd = open(a->path, O_RDONLY | O_CLOEXEC);
	struct plumb_error *err = pl_elf_open_fd(fd, NULL, &e);

	close(fd);
	err = err ? err : pl_dwarf_open(e, NULL, &d);
	assert_true(!err || err == &pl_err_no_memory);
	if (d)
		pl_dwarf_places(d, a->addr, tell, &t);
	assert_true(t.count == 3 || (t.count < 3 && failing_happened()));
	a->whole += t.count == 3;
	pl_dwarf_close(d);
	pl_elf_close(e);
}

static void without_memory_less_is_told(void **state)
{
	(void)state;
	for (const char *const *path = (const char *const[]){LINES_LIBRARIES, NULL}; *path; path++) {
		struct asked a = {.path = *path};
		void *library = load(*path, &a.addr);

		failing_each(ask_once, &a, 10);
		assert_true(a.whole > 0);
		failing_some(ask_once, &a, 1, FAILING_ALL_AFTER);
		dlclose(library);
	}
}

/* ---- hostile files ----------------------------------------------------------------------------------------------- */

static void count(void *ctx, const struct pl_dwarf_place *p)
{
	*(size_t *)ctx += 1 + (p->file ? strlen(p->file) : 0) + (p->function ? strlen(p->function) : 0);
}

static void ask_all(const uint8_t *bytes, size_t len, uint64_t addr)
{
	struct pl_work work = {.most = WORK_MAX};
	struct pl_elf *e;
	struct pl_dwarf *d;
	struct plumb_error *err = pl_elf_open_loaded(bytes, len, 0, &work, &e);
	size_t sum = 0;

	if (err) {
		plumb_error_destroy(err);
		return;
	}
	assert_ok(pl_dwarf_open(e, NULL, &d));
	if (d)
		pl_dwarf_places(d, addr, count, &sum);
	pl_dwarf_close(d);
	pl_elf_close(e);
	assert_true(work.spent <= WORK_MAX);
}

static uint8_t *bytes_of(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");

	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	*len = (size_t)ftell(f);
	rewind(f);
	uint8_t *bytes = malloc(*len);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *len, f), *len);
	assert_int_equal(fclose(f), 0);
	return bytes;
}

static void hostile_files(void **state)
{
	(void)state;
	for (const char *const *path = (const char *const[]){LINES_LIBRARIES, NULL}; *path; path++) {
		uint32_t random = 1;
		uint64_t addr;
		size_t len;
		void *library = load(*path, &addr);
		uint8_t *bytes = bytes_of(*path, &len), *changed = malloc(len);

		assert_non_null(changed);
		for (int i = 0; i < CHANGES; i++) {
			memcpy(changed, bytes, len);
			for (int k = 0; k < 1 + i % 4; k++) {
				random = random * 1664525u + 1013904223u;
				changed[(random >> 3) % len] = (uint8_t)(k % 2 ? 0xff : random >> 24);
			}
			ask_all(changed, i % 16 ? len : random % len, addr);
		}
		free(bytes);
		free(changed);
		dlclose(library);
	}
}

struct made {
	const char *name;
	const uint8_t *bytes;
	size_t len;
};

/* A file of those sections and nothing else. */
static uint8_t *make_file(const struct made *sections, size_t count, size_t *len)
{
	char names[256] = "";
	Elf64_Shdr heads[8] = {{0}};
	size_t end = sizeof(Elf64_Ehdr), names_len = 1;

	for (size_t i = 0; i < count; end += sections[i++].len) {
		heads[1 + i] = (Elf64_Shdr){.sh_name = (Elf64_Word)names_len,
					    .sh_type = SHT_PROGBITS,
					    .sh_offset = end,
					    .sh_size = sections[i].len};
		strcpy(names + names_len, sections[i].name);
		names_len += strlen(sections[i].name) + 1;
	}
	heads[1 + count] = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = end, .sh_size = names_len};
	*len = end + names_len + (2 + count) * sizeof *heads;
	uint8_t *file = calloc(1, *len);
	assert_non_null(file);
	Elf64_Ehdr *e = (Elf64_Ehdr *)file;
	memcpy(e->e_ident, ELFMAG "\2\1\1", SELFMAG + 3);
	e->e_type = ET_DYN;
	e->e_machine = EM_X86_64;
	e->e_version = EV_CURRENT;
	e->e_ehsize = sizeof *e;
	e->e_shoff = end + names_len;
	e->e_shentsize = sizeof *heads;
	e->e_shnum = (Elf64_Half)(2 + count);
	e->e_shstrndx = (Elf64_Half)(1 + count);
	for (size_t i = 0; i < count; i++)
		memcpy(file + heads[1 + i].sh_offset, sections[i].bytes, sections[i].len);
	memcpy(file + end, names, names_len);
	memcpy(file + e->e_shoff, heads, (2 + count) * sizeof *heads);
	return file;
}

/* One abbreviation that never ends, from which the next of many units begins to read a byte later. What there was no
 * room for in the work that may be done was looked at all the same, and would be for each unit. */
static void an_abbreviation_without_end_is_read_as_far_as_work_goes(void **state)
{
	static const uint8_t unit[] = {8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1};
	static uint8_t info[100 * sizeof unit], abbrev[1 << 20];
	const struct made sections[] = {{".debug_info", info, sizeof info}, {".debug_abbrev", abbrev, sizeof abbrev}};
	struct pl_work work = {.most = sizeof abbrev + sizeof abbrev / 2};
	struct pl_elf *e;
	struct pl_dwarf *d;
	size_t len;

	(void)state;
	memset(abbrev, 1, sizeof abbrev);
	for (size_t i = 0; i < 100; i++) {
		memcpy(info + i * sizeof unit, unit, sizeof unit);
		info[i * sizeof unit + 6] = (uint8_t)i;
	}
	uint8_t *file = make_file(sections, 2, &len);
	assert_ok(pl_elf_open_loaded(file, len, 0, &work, &e));
	assert_ok(pl_dwarf_open(e, NULL, &d));
	assert_non_null(d);
	assert_true(work.ran_out);
	assert_true(work.most - work.spent < 1024);
	pl_dwarf_close(d);
	pl_elf_close(e);
	free(file);
}

/* Whoever is told keeps it: a million times 64 functions that are compiled into each other would be a lot. */
static void what_is_told_counts_as_work(const char *path)
{
	struct pl_work work = {.most = WORK_MAX};
	struct pl_elf *e;
	struct pl_dwarf *d;
	uint64_t addr;
	size_t len, sum = 0;
	void *library = load(path, &addr);
	uint8_t *bytes = bytes_of(path, &len);

	assert_ok(pl_elf_open_loaded(bytes, len, 0, &work, &e));
	assert_ok(pl_dwarf_open(e, NULL, &d));
	assert_int_equal(pl_dwarf_places(d, addr, count, &sum), 3);
	const uint64_t before = work.spent;
	sum = 0;
	assert_int_equal(pl_dwarf_places(d, addr, count, &sum), 3);
	assert_true(work.spent - before > 3 * 1024 + sum);
	work.spent = work.most - 2048;
	assert_in_range(pl_dwarf_places(d, addr, count, &sum), 0, 1);
	pl_dwarf_close(d);
	pl_elf_close(e);
	free(bytes);
	dlclose(library);
}

static void places_take_from_the_work_that_may_be_done(void **state)
{
	(void)state;
	for (const char *const *path = (const char *const[]){LINES_LIBRARIES, NULL}; *path; path++)
		what_is_told_counts_as_work(*path);
}

/* ---- what is kept of a file: its bytes are fewer than what is made of them --------------------------------------- */

#define PIECES 20000u /* of code, each with lines of its own */

struct put {
	uint8_t bytes[PIECES * 16 + 64];
	size_t len;
};

static void put(struct put *to, uint64_t number, size_t size)
{
	assert_true(to->len + size <= sizeof to->bytes);
	memcpy(to->bytes + to->len, &number, size);
	to->len += size;
}

/* A unit (abbreviation 1) whose code is 0x1000 to 0x2000, and below it functions (2), all at one place. */
static void put_unit(struct put *info, size_t functions)
{
	put(info, 0, 4);
	put(info, 4, 2);
	put(info, 0, 4);
	put(info, 8, 1);
	put(info, 1, 1);
	put(info, 0, 4);
	put(info, 0x1000, 8);
	put(info, 0x1000, 4);
	for (size_t i = 0; i < functions; i++) {
		put(info, 2, 1);
		put(info, 0x1000, 8);
		put(info, 0x10, 4);
	}
	put(info, 0, 1);
	const uint32_t len = (uint32_t)info->len - 4;
	memcpy(info->bytes, &len, sizeof len);
}

/* A table of lines: in five bytes a row at an address, and the end of a sequence behind it. */
static void put_lines(struct put *line, size_t sequences)
{
	static const uint8_t head[] = {0, 0,  0, 0, 4, 0, 17, 0, 0, 0, 1, 1, 1, 0,
				       1, 10, 0, 1, 1, 1, 1,  0, 0, 0, 1, 0, 0},
			     sequence[] = {10, 8, 0, 1, 1};

	memcpy(line->bytes, head, sizeof head);
	line->len = sizeof head;
	for (size_t i = 0; i < sequences; i++, line->len += sizeof sequence)
		memcpy(line->bytes + line->len, sequence, sizeof sequence);
	const uint32_t len = (uint32_t)line->len - 4;
	memcpy(line->bytes, &len, sizeof len);
}

static uint64_t work_for(size_t functions, size_t sequences)
{
	static const uint8_t abbrev[] = {1, 0x11, 1, 0x10, 0x17, 0x11, 1, 0x12, 6, 0, 0,
					 2, 0x2e, 0, 0x11, 1,	 0x12, 6, 0,	0, 0};
	static struct put info, line;
	struct pl_work work = {.most = WORK_MAX};
	struct pl_elf *e;
	struct pl_dwarf *d;
	size_t len, sum = 0;

	info.len = line.len = 0;
	put_unit(&info, functions);
	put_lines(&line, sequences);
	const struct made sections[] = {{".debug_info", info.bytes, info.len},
					{".debug_abbrev", abbrev, sizeof abbrev},
					{".debug_line", line.bytes, line.len}};
	uint8_t *file = make_file(sections, 3, &len);
	assert_ok(pl_elf_open_loaded(file, len, 0, &work, &e));
	assert_ok(pl_dwarf_open(e, NULL, &d));
	assert_non_null(d);
	pl_dwarf_places(d, 0x1000, count, &sum);
	assert_int_equal(sum > 0, functions > 0);
	pl_dwarf_close(d);
	pl_elf_close(e);
	free(file);
	return work.spent;
}

static void pieces_of_code_and_of_lines_count_as_work(void **state)
{
	const size_t range = 24, sequence = 16, row = 16, to_sort = 48;
	const uint64_t none = work_for(0, 0);

	(void)state;
	assert_true(work_for(PIECES, 0) - none > PIECES * (range + to_sort));
	assert_true(work_for(0, PIECES) - none > PIECES * (row + sequence + range + to_sort));
}

static void numbers_end_where_the_bytes_do(void **state)
{
	static const uint8_t long_number[32] = {[0 ... 31] = 0x80}, minus_one[] = {0x7f}, padded[] = {0x81, 0x80, 0x00};
	struct pl_dwarf_reader r = {long_number, long_number + sizeof long_number, false};

	(void)state;
	assert_int_equal(pl_dwarf_uleb(&r), 0);
	assert_true(r.bad);
	r = (struct pl_dwarf_reader){minus_one, minus_one + 1, false};
	assert_int_equal(pl_dwarf_sleb(&r), -1);
	assert_false(r.bad);
	assert_int_equal(pl_dwarf_uint(&r, 1), 0);
	assert_true(r.bad);
	r = (struct pl_dwarf_reader){padded, padded + sizeof padded, false};
	assert_int_equal(pl_dwarf_uleb(&r), 1);
	assert_false(r.bad);
	r = (struct pl_dwarf_reader){minus_one, minus_one + 1, false};
	assert_string_equal(pl_dwarf_text(&r), "");
	assert_true(r.bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_each_version),
		cmocka_unit_test(a_file_without_debug_information),
		cmocka_unit_test(without_memory_less_is_told),
		cmocka_unit_test(hostile_files),
		cmocka_unit_test(an_abbreviation_without_end_is_read_as_far_as_work_goes),
		cmocka_unit_test(places_take_from_the_work_that_may_be_done),
		cmocka_unit_test(pieces_of_code_and_of_lines_count_as_work),
		cmocka_unit_test(numbers_end_where_the_bytes_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
