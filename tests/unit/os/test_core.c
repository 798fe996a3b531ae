/* SPDX-License-Identifier: Apache-2.0 */
/* A core file made by hand: segments, notes, and the files that were mapped. Real cores:
 * tests/integration/test_dump.py. */
#include "unit.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core.h"

#define PAGE	 4096
#define FILE_AT	 0x10000ull /* three pages of the file; the first is in the core */
#define HEAP_AT	 0x30000ull
#define HEAP_LEN 100

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

static char dir[] = "/tmp/plumb-core-XXXXXX", core_path[64], file_path[64];

struct notes {
	uint8_t bytes[4096];
	size_t len;
};

static void add_note(struct notes *n, uint32_t type, const void *desc, size_t len)
{
	const uint32_t head[3] = {5, (uint32_t)len, type};

	memcpy(n->bytes + n->len, head, sizeof head);
	memcpy(n->bytes + n->len + 12, "CORE\0\0\0", 8);
	memcpy(n->bytes + n->len + 20, desc, len);
	n->len += 20 + ((len + 3) & ~(size_t)3);
}

static void add_thread(struct notes *n, pid_t tid, short sig)
{
	struct elf_prstatus s;

	memset(&s, 0, sizeof s);
	memset(&s.pr_reg, 0xff, sizeof s.pr_reg); /* in no system call */
	s.pr_pid = tid;
	s.pr_cursig = sig;
	add_note(n, NT_PRSTATUS, &s, sizeof s);
}

static void add_files(struct notes *n)
{
	uint8_t desc[256];
	const uint64_t rows[] = {1, PAGE, FILE_AT, FILE_AT + 3 * PAGE, 0};

	memcpy(desc, rows, sizeof rows);
	strcpy((char *)desc + sizeof rows, file_path);
	add_note(n, NT_FILE, desc, sizeof rows + strlen(file_path) + 1);
}

static void make_notes(struct notes *n)
{
	const uint64_t auxv[] = {AT_ENTRY, FILE_AT + 64, AT_NULL, 0};
	struct elf_prpsinfo info;

	memset(&info, 0, sizeof info);
	info.pr_pid = 77;
	strcpy(info.pr_psargs, "python app.py ");
	n->len = 0;
	add_thread(n, 78, 11);
	add_note(n, NT_PRPSINFO, &info, sizeof info);
	add_note(n, NT_AUXV, auxv, sizeof auxv);
	add_files(n);
	add_thread(n, 77, 11);
}

static void write_file(const char *path, const void *bytes, size_t len)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
}

/* Every page of the file is full of its own number, from 1. */
static void write_mapped_file(uint8_t first)
{
	uint8_t bytes[3 * PAGE];

	for (int i = 0; i < 3; i++)
		memset(bytes + i * PAGE, first + i, PAGE);
	write_file(file_path, bytes, sizeof bytes);
}

/* With one header for the notes, or two for the same ones. */
static void write_core_of(Elf64_Half type, int note_headers)
{
	static uint8_t bytes[32768];
	struct notes n;
	make_notes(&n);
	size_t at = sizeof(Elf64_Ehdr) + 4 * sizeof(Elf64_Phdr);
	Elf64_Ehdr e = {.e_type = type,
			.e_machine = MACHINE,
			.e_phoff = sizeof e + (size_t)(2 - note_headers) * sizeof(Elf64_Phdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = (Elf64_Half)(2 + note_headers)};
	Elf64_Phdr p[4] = {
		{.p_type = PT_NOTE, .p_offset = at, .p_filesz = n.len},
		{.p_type = PT_NOTE, .p_offset = at, .p_filesz = n.len},
		{.p_type = PT_LOAD, .p_offset = at + n.len, .p_vaddr = HEAP_AT, .p_filesz = HEAP_LEN, .p_memsz = PAGE},
		{.p_type = PT_LOAD,
		 .p_offset = at + n.len + HEAP_LEN,
		 .p_vaddr = FILE_AT,
		 .p_filesz = PAGE,
		 .p_memsz = PAGE}};

	memcpy(e.e_ident, ELFMAG, SELFMAG);
	e.e_ident[EI_CLASS] = ELFCLASS64;
	e.e_ident[EI_DATA] = ELFDATA2LSB;
	memcpy(bytes, &e, sizeof e);
	memcpy(bytes + sizeof e, p, sizeof p);
	memcpy(bytes + at, n.bytes, n.len);
	memset(bytes + at + n.len, 0xee, HEAP_LEN);
	memset(bytes + at + n.len + HEAP_LEN, 1, PAGE);
	write_file(core_path, bytes, at + n.len + HEAP_LEN + PAGE);
}

static void write_core(Elf64_Half type)
{
	write_core_of(type, 1);
}

static struct pl_core *open_core(void)
{
	struct pl_core *c;

	write_core(ET_CORE);
	assert_ok(pl_core_open(core_path, NULL, true, &c)); /* its files are ours alone */
	return c;
}

static void test_notes(void **state)
{
	write_mapped_file(1);
	struct pl_core *c = open_core();

	assert_int_equal(pl_core_pid(c), 77);
	assert_string_equal(pl_core_command(c), "python app.py");
	assert_string_equal(pl_core_exe(c), file_path);
	assert_int_equal(pl_core_threads(c)->len, 2);
	assert_int_equal(pl_core_threads(c)->data[0].tid, 78);
	assert_int_equal(pl_core_threads(c)->data[0].signal, 11);
	assert_int_equal(pl_core_threads(c)->data[1].signal, 0);
	assert_false(pl_core_threads(c)->data[0].in_call);
	assert_ptr_equal(pl_core_thread_of(c, 78), &pl_core_threads(c)->data[0]);
	assert_null(pl_core_thread_of(c, 1));
	assert_int_equal(pl_core_maps(c)->len, 2); /* the file and the heap */
	assert_string_equal(pl_core_maps(c)->data[0].path, file_path);
	pl_core_close(c);
}

/* Each time they would take memory again. */
static void test_notes_with_many_headers_are_read_once(void **state)
{
	struct pl_core *c;

	write_mapped_file(1);
	write_core_of(ET_CORE, 2);
	assert_ok(pl_core_open(core_path, NULL, true, &c));
	assert_int_equal(pl_core_threads(c)->len, 2);
	assert_int_equal(pl_core_maps(c)->len, 2);
	pl_core_close(c);
}

static void test_memory(void **state)
{
	uint8_t buf[2 * PAGE];
	write_mapped_file(1);
	struct pl_core *c = open_core();
	struct pl_mem *mem = pl_core_mem(c);

	assert_ok(pl_mem_read(mem, HEAP_AT, buf, HEAP_LEN));
	assert_int_equal(buf[HEAP_LEN - 1], 0xee);
	assert_ptr_equal(pl_mem_read(mem, HEAP_AT, buf, HEAP_LEN + 1), &pl_err_unreadable);
	assert_ptr_equal(pl_mem_read(mem, HEAP_AT - 1, buf, 2), &pl_err_unreadable);
	/* From the core into the file, in one read. */
	assert_ok(pl_mem_read(mem, FILE_AT + PAGE - 4, buf, 8));
	assert_memory_equal(buf, "\1\1\1\1\2\2\2\2", 8);
	assert_ok(pl_mem_read(mem, FILE_AT + 3 * PAGE - 1, buf, 1));
	assert_int_equal(buf[0], 3);
	assert_ptr_equal(pl_mem_read(mem, FILE_AT + 3 * PAGE - 1, buf, 2), &pl_err_unreadable);
	assert_ptr_equal(pl_mem_read(mem, UINT64_MAX - 3, buf, 8), &pl_err_unreadable);
	pl_core_close(c);
}

static void test_a_file_that_was_replaced_is_not_used(void **state)
{
	uint8_t byte;
	write_mapped_file(7);
	struct pl_core *c = open_core();

	assert_ptr_equal(pl_mem_read(pl_core_mem(c), FILE_AT + PAGE, &byte, 1), &pl_err_unreadable);
	assert_ok(pl_mem_read(pl_core_mem(c), FILE_AT, &byte, 1));
	pl_core_close(c);
}

static void test_what_is_no_core(void **state)
{
	struct pl_core *c;

	write_core(ET_DYN);
	assert_code(pl_core_open(core_path, NULL, false, &c), PLUMB_ERR_NOT_A_CORE);
	write_file(core_path, "hello", 5);
	assert_code(pl_core_open(core_path, NULL, false, &c), PLUMB_ERR_NOT_A_CORE);
	assert_code(pl_core_open(dir, NULL, false, &c), PLUMB_ERR_NOT_A_CORE);
	assert_code(pl_core_open("/nowhere/at/all", NULL, false, &c), PLUMB_ERR_NOT_FOUND);
}

/* A core that was cut off anywhere opens or is refused; it is never read past its end. */
static void test_cut_anywhere(void **state)
{
	struct stat st;
	struct pl_core *c;
	uint8_t byte;

	write_core(ET_CORE);
	assert_int_equal(stat(core_path, &st), 0);
	for (off_t len = st.st_size; len >= 0; len -= 61) {
		assert_int_equal(truncate(core_path, len), 0);
		struct plumb_error *err = pl_core_open(core_path, NULL, false, &c);
		plumb_error_destroy(err);
		if (err)
			continue;
		plumb_error_destroy(pl_mem_read(pl_core_mem(c), HEAP_AT + HEAP_LEN - 1, &byte, 1));
		pl_core_close(c);
	}
}

static void test_how_much_was_cut(void **state)
{
	struct stat st;
	struct pl_core *c;
	uint64_t whole;

	write_core(ET_CORE);
	assert_int_equal(stat(core_path, &st), 0);
	assert_ok(pl_core_open(core_path, NULL, false, &c));
	assert_int_equal(pl_core_length(c, &whole), st.st_size);
	assert_int_equal(whole, st.st_size);
	pl_core_close(c);
	assert_int_equal(truncate(core_path, st.st_size - 1), 0);
	assert_ok(pl_core_open(core_path, NULL, false, &c));
	assert_int_equal(pl_core_length(c, &whole), st.st_size - 1);
	assert_int_equal(whole, st.st_size);
	assert_null(pl_core_blame(c, NULL));
	assert_ptr_equal(pl_core_blame(c, &pl_err_no_memory), &pl_err_no_memory);
	struct plumb_error *err = pl_core_blame(c, &pl_err_unreadable);
	assert_int_equal(plumb_error_code(err), PLUMB_ERR_TRUNCATED);
	plumb_error_destroy(err);
	pl_core_close(c);
}

static int set_up(void **state)
{
	assert_non_null(mkdtemp(dir));
	snprintf(core_path, sizeof core_path, "%s/core", dir);
	snprintf(file_path, sizeof file_path, "%s/file", dir);
	return 0;
}

static int tear_down(void **state)
{
	unlink(core_path);
	unlink(file_path);
	rmdir(dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_notes_with_many_headers_are_read_once),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_a_file_that_was_replaced_is_not_used),
		cmocka_unit_test(test_what_is_no_core),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_how_much_was_cut),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
