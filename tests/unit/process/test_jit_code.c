/* SPDX-License-Identifier: Apache-2.0 */
/* Code that a JIT compiler tells of: this process keeps such a list itself. */
#include "jit_code.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mem_live.h"
#include "unit.h"

#define OBJECTS 3
#define CODE	0x10000u /* where objects say that they are; never read */

/* What LLVM has in such a program. */
struct jit_code_entry {
	struct jit_code_entry *next, *prev;
	const char *file;
	uint64_t size;
};
static struct {
	uint32_t version, action;
	struct jit_code_entry *relevant, *first;
} head = {.version = 1};

static const char strings[] = "\0.text\0.eh_frame\0first\0second";

/* Two functions, which lie behind one another, and an unwind table of the second one. */
struct object {
	Elf64_Ehdr header;
	Elf64_Sym symbols[3];
	uint8_t table[64];
	char strings[sizeof strings];
	Elf64_Shdr sections[5];
};

static struct object objects[OBJECTS];
static struct jit_code_entry list[OBJECTS];
static struct pl_jit_code *jit; /* on the heap, which is not searched: it has copies of heads */
static struct pl_mem_live *live;
static pl_mapping_vec maps;

static uint64_t place_in(const struct object *o, const void *part)
{
	return (uint64_t)((const char *)part - (const char *)o);
}

/* A CIE as LLVM writes it; and a description whose place is told from its own. */
static void write_table(struct object *o, uint64_t start, uint64_t len)
{
	static const uint8_t shared[] = {16, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1c, 0, 0, 0};
	uint8_t *own = o->table + sizeof shared;
	const uint32_t size = 24, back = sizeof shared + 4;
	const uint64_t from = start - (uintptr_t)(own + 8);

	memcpy(o->table, shared, sizeof shared);
	memcpy(own, &size, 4);
	memcpy(own + 4, &back, 4);
	memcpy(own + 8, &from, 8);
	memcpy(own + 16, &len, 8);
}

static void write_object(int i, uint64_t code)
{
	struct object *o = &objects[i];

	*o = (struct object){.header = {.e_type = ET_REL,
					.e_machine = EM_X86_64,
					.e_shoff = offsetof(struct object, sections),
					.e_shentsize = sizeof(Elf64_Shdr),
					.e_shnum = 5,
					.e_shstrndx = 4}};
	memcpy(o->header.e_ident, ELFMAG "\2\1\1", 7);
	memcpy(o->strings, strings, sizeof strings);
	o->symbols[1] = (Elf64_Sym){17, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0, 64};
	o->symbols[2] = (Elf64_Sym){23, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 64, 64};
	write_table(o, code + 64, 64);
	o->sections[1] = (Elf64_Shdr){.sh_name = 1,
				      .sh_type = SHT_PROGBITS,
				      .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				      .sh_addr = code,
				      .sh_size = 128};
	o->sections[2] = (Elf64_Shdr){
		.sh_name = 7, .sh_type = SHT_PROGBITS, .sh_addr = (uintptr_t)o->table, .sh_size = sizeof o->table};
	o->sections[3] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
				      .sh_offset = place_in(o, o->symbols),
				      .sh_size = sizeof o->symbols,
				      .sh_link = 4,
				      .sh_entsize = sizeof(Elf64_Sym)};
	o->sections[4] =
		(Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = place_in(o, o->strings), .sh_size = sizeof o->strings};
}

/* In front of the others, as LLVM does. */
static void add_object(int i)
{
	list[i] = (struct jit_code_entry){head.first, NULL, (const char *)&objects[i], sizeof objects[i]};
	if (head.first)
		head.first->prev = &list[i];
	head.first = head.relevant = &list[i];
	head.action = 1;
}

static int set_up(void **state)
{
	(void)state;
	head.first = head.relevant = NULL;
	jit = calloc(1, sizeof *jit);
	assert_non_null(jit);
	assert_ok(pl_mem_live_create(getpid(), &live));
	assert_ok(pl_maps_read(getpid(), &maps));
	for (int i = 0; i < OBJECTS; i++)
		write_object(i, CODE * (uint64_t)(i + 1));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	pl_jit_code_deinit(jit);
	free(jit);
	pl_maps_deinit(&maps);
	pl_mem_live_destroy(live);
	return 0;
}

static bool look(bool search)
{
	uint64_t work;
	bool changed;

	assert_ok(pl_jit_code_look(jit, pl_mem_live_mem(live), &maps, search, &changed, &work));
	assert_false(pl_jit_code_moved(jit, pl_mem_live_mem(live)));
	return changed;
}

static const char *name_at(pl_addr addr)
{
	for (size_t i = 0; i < jit->pieces.len; i++)
		if (addr >= jit->pieces.data[i].start && addr < jit->pieces.data[i].end)
			return pl_functions_find(pl_jit_piece_functions(&jit->pieces.data[i]), addr, 0);
	return NULL;
}

static void the_list_is_found_and_read(void **state)
{
	(void)state;
	assert_false(look(true)); /* nothing is in it */
	assert_int_equal(jit->list_count, 0);
	add_object(0);
	add_object(1);
	assert_true(look(true));
	assert_int_equal(jit->list_count, 1);
	assert_int_equal(jit->lists[0].at, (uintptr_t)&head);
	assert_int_equal(jit->pieces.len, 2);
	assert_string_equal(name_at(CODE), "first");
	assert_string_equal(name_at(CODE + 64), "second");
	assert_string_equal(name_at(2 * CODE + 127), "second");
	assert_null(name_at(CODE + 128));
	assert_false(look(true));
	assert_int_equal(jit->list_count, 1);
}

/* As if this program's memory were that of a file with data. */
static void data_files_are_not_searched(void **state)
{
	(void)state;
	add_object(0);
	for (size_t i = 0; i < maps.len; i++)
		maps.data[i].executable = false;
	assert_false(look(true));
	assert_int_equal(jit->list_count, 0);
}

static void tables_are_listed_and_copied(void **state)
{
	uint8_t copy[sizeof objects[0].table];
	const uintptr_t at = (uintptr_t)objects[0].table;

	(void)state;
	add_object(0);
	assert_true(look(true));
	const struct pl_unwind_image i = pl_jit_piece_image(&jit->pieces.data[0]);
	assert_true(i.opened && i.head && i.start == CODE && i.end == CODE + 128);
	assert_int_equal(i.listed_count, 3);
	pl_addr found;
	assert_false(pl_unwind_image_search(&i, NULL, CODE + 63, &found)); /* the first one has none */
	assert_int_equal(pl_unwind_image_function(&i, CODE + 63), CODE);
	assert_true(pl_unwind_image_search(&i, NULL, CODE + 64, &found));
	assert_int_equal(found, at + 20);
	assert_int_equal(pl_unwind_image_function(&i, CODE + 100), CODE + 64);
	assert_int_equal(pl_unwind_image_function(&i, CODE - 1), 0);
	memset(objects[0].table, 0, sizeof objects[0].table);
	assert_true(pl_jit_code_read(jit, at + 9, copy, 2));
	assert_memory_equal(copy, "zR", 2);
	assert_true(pl_jit_code_read(jit, at, copy, sizeof copy));
	assert_false(pl_jit_code_read(jit, at + 1, copy, sizeof copy));
	assert_false(pl_jit_code_read(jit, at - 1, copy, 1));
}

static void what_is_made_and_dropped_is_noticed(void **state)
{
	(void)state;
	add_object(0);
	assert_true(look(true));
	add_object(1);
	assert_true(pl_jit_code_moved(jit, pl_mem_live_mem(live)));
	assert_true(look(false));
	assert_int_equal(jit->pieces.len, 2);
	/* Another object takes the place of the first one, in the same entry. */
	write_object(0, 3 * CODE);
	head.action = 2;
	assert_true(pl_jit_code_moved(jit, pl_mem_live_mem(live)));
	assert_true(look(false));
	assert_null(name_at(CODE));
	assert_string_equal(name_at(3 * CODE), "first");
	head.first = NULL;
	assert_true(look(false));
	assert_int_equal(jit->pieces.len, 0);
	assert_int_equal(jit->list_count, 1);
	head.version = 2; /* of something that we know nothing of */
	assert_false(look(false));
	assert_int_equal(jit->list_count, 0);
	head.version = 1;
}

static void what_makes_no_sense_is_not_there(void **state)
{
	(void)state;
	add_object(0);
	add_object(1);
	add_object(2);
	list[0].next = &list[2]; /* back to the beginning */
	assert_true(look(true));
	assert_int_equal(jit->pieces.len, 3);
	list[0].next = (struct jit_code_entry *)(uintptr_t)12; /* nowhere */
	list[1].size = UINT64_MAX;
	head.action = 2;
	assert_true(look(false));
	assert_int_equal(jit->pieces.len, 2);
	list[1].size = sizeof objects[1];
	objects[1].header.e_shnum = UINT16_MAX; /* beyond its end */
	head.action = 1;
	assert_false(look(false));
	assert_int_equal(jit->pieces.len, 2);
	write_object(1, CODE + 100); /* two claim the same place */
	head.action = 2;
	assert_true(look(false));
	assert_null(name_at(CODE));
	assert_null(name_at(CODE + 100));
	assert_int_equal(jit->pieces.len, 1);
	objects[2].header.e_ident[0] = 0;
	list[2].size--; /* so that it is read again */
	head.action = 1;
	assert_true(look(false));
	assert_int_equal(jit->pieces.len, 0);
}

#define MANY 500000u /* symbols: 24 MB of memory at least */

/* An object of nothing but functions, which lie one behind the other. Owner: the caller. */
static void *many_functions(uint64_t code, size_t *len_ret)
{
	const size_t at = sizeof(struct object), len = at + MANY * sizeof(Elf64_Sym);
	struct object *o = calloc(1, len);
	Elf64_Sym *symbols = (Elf64_Sym *)(o + 1);

	assert_non_null(o);
	*o = objects[0];
	for (uint32_t i = 1; i < MANY; i++)
		symbols[i] = (Elf64_Sym){17, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, i, 1};
	o->sections[1].sh_addr = code;
	o->sections[1].sh_size = MANY;
	o->sections[3].sh_offset = at;
	o->sections[3].sh_size = MANY * sizeof(Elf64_Sym);
	*len_ret = len;
	return o;
}

/* The work of a look has a limit, so that a list is read by and by; but what is there already stays,
 * as long as there is room for it. */
static void what_is_held_has_a_limit(void **state)
{
	void *files[OBJECTS];

	(void)state;
	for (int i = 0; i < OBJECTS; i++) {
		size_t len;

		files[i] = many_functions((uint64_t)MANY * (uint64_t)(i + 1), &len);
		add_object(i);
		list[i].file = files[i];
		list[i].size = len;
	}
	for (int looks = 0; looks < 2 * OBJECTS; looks++) {
		head.action ^= 3; /* it is as if there were something new */
		(void)look(looks == 0);
	}
	assert_in_range(jit->pieces.len, 1, OBJECTS - 1);
	assert_string_equal(name_at((uint64_t)MANY * OBJECTS + 1), "first"); /* the beginning of the list */
	for (int i = 0; i < OBJECTS; i++)
		free(files[i]);
}

/* A description or a function takes longer to read than its bytes. */
static void entries_are_work(void **state)
{
	uint64_t work;
	size_t len;
	bool changed;
	void *file = many_functions(CODE, &len);

	(void)state;
	add_object(0);
	list[0].file = file;
	list[0].size = len;
	assert_ok(pl_jit_code_look(jit, pl_mem_live_mem(live), &maps, true, &changed, &work));
	assert_int_equal(jit->pieces.len, 1);
	assert_true(work > 500ull * MANY);
	free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_list_is_found_and_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(data_files_are_not_searched, set_up, tear_down),
		cmocka_unit_test_setup_teardown(tables_are_listed_and_copied, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_made_and_dropped_is_noticed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_makes_no_sense_is_not_there, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_held_has_a_limit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(entries_are_work, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
