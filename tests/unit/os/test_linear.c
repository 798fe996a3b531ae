/* SPDX-License-Identifier: Apache-2.0 */
/* What a core file and the names of a program cost follows their length, whatever is in them; what a table of sockets
 * costs, its rows. */
#include "unit.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "core.h"
#include "counted.h"
#include "elf_functions.h"
#include "peers.h"
#include "sockets.h"

#define ITEMS 400
#define PAIRS 100 /* and four times that: two descriptors each */
#define PAGE  4096
#define FIRST 0x10000ull

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

static void add(struct pl_buf *b, const void *bytes, size_t len)
{
	assert_ok(pl_buf_add(b, bytes, len));
}

static uint64_t address_of(unsigned item)
{
	return FIRST + 2ull * PAGE * item;
}

/* As many files as there are mappings. */
static void add_files(struct pl_buf *b, unsigned items)
{
	const uint64_t head[2] = {items, PAGE};
	char name[32];

	add(b, head, sizeof head);
	for (unsigned i = 0; i < items; i++) {
		const uint64_t row[3] = {address_of(i), address_of(i) + PAGE, 0};

		add(b, row, sizeof row);
	}
	for (unsigned i = 0; i < items; i++)
		add(b, name, (size_t)snprintf(name, sizeof name, "/nowhere/%016x", i) + 1);
	while (b->len % 4)
		add(b, "", 1);
}

static void add_note(struct pl_buf *b, unsigned items)
{
	struct pl_buf files = PL_BUF_INIT(UINT32_MAX);

	add_files(&files, items);
	const uint32_t head[3] = {5, (uint32_t)files.len, NT_FILE};
	add(b, head, sizeof head);
	add(b, "CORE\0\0\0", 8);
	add(b, files.data, files.len);
	pl_buf_deinit(&files);
}

/* None of the pages is in the core. */
static void write_core(const char *path, unsigned items)
{
	struct pl_buf notes = PL_BUF_INIT(UINT32_MAX), b = PL_BUF_INIT(UINT32_MAX);
	Elf64_Ehdr e = {.e_type = ET_CORE,
			.e_machine = MACHINE,
			.e_phoff = sizeof e,
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = (Elf64_Half)(items + 1)};
	const size_t at = sizeof e + (items + 1) * sizeof(Elf64_Phdr);

	add_note(&notes, items);
	memcpy(e.e_ident, ELFMAG, SELFMAG);
	e.e_ident[EI_CLASS] = ELFCLASS64;
	e.e_ident[EI_DATA] = ELFDATA2LSB;
	add(&b, &e, sizeof e);
	add(&b, &(Elf64_Phdr){.p_type = PT_NOTE, .p_offset = at, .p_filesz = notes.len}, sizeof(Elf64_Phdr));
	for (unsigned i = 0; i < items; i++)
		add(&b, &(Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = address_of(i), .p_memsz = PAGE},
		    sizeof(Elf64_Phdr));
	add(&b, notes.data, notes.len);
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, b.data, b.len), b.len);
	close(fd);
	pl_buf_deinit(&notes);
	pl_buf_deinit(&b);
}

/* Opened, and each mapping read once: the files are not there. */
static void read_core(void *ctx, unsigned items)
{
	struct pl_core *c;
	char byte;

	write_core(ctx, items);
	counted_begin();
	assert_ok(pl_core_open(ctx, NULL, true, &c));
	for (unsigned i = 0; i < items; i++) {
		assert_ptr_equal(pl_mem_read(pl_core_mem(c), address_of(i), &byte, 1), &pl_err_unreadable);
		counted_step();
	}
	assert_int_equal(pl_core_maps(c)->len, items);
	pl_core_close(c);
	counted_end();
}

static void a_core_costs_what_is_in_it(void **state)
{
	char path[] = "/tmp/plumb-linear-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	counted_linear(read_core, path, ITEMS);
	unlink(path);
}

/* Each of the sockets is looked for twice, as by two threads. */
static void find_sockets(void *ctx, unsigned items)
{
	struct pl_buf text = PL_BUF_INIT(UINT32_MAX);
	char row[128];

	add(&text, "heading\n", 8);
	for (unsigned i = 0; i < items; i++)
		add(&text, row,
		    (size_t)snprintf(row, sizeof row, "%4u: 0100007F:1F90 0200000A:0050 01 0:0 0:0 0 0 0 %u 1\n", i,
				     1000 + i));
	add(&text, "", 1);
	struct pl_net net = {
		.tables[PL_NET_TCP] = {
			.text = (char *)text.data, .len = text.len - 1, .fd = -1, .opened = true, .ended = true}};
	counted_begin();
	for (unsigned i = 0; i < 2 * items; i++) {
		struct pl_socket_facts s;

		pl_net_find(&net, 1000 + i % items, "TCP", &s);
		assert_string_equal(s.peer, "10.0.0.2:80");
		counted_step();
	}
	counted_end();
	pl_net_deinit(&net); /* with the text */
}

static void a_socket_costs_the_same_among_many(void **state)
{
	counted_linear(find_sockets, NULL, ITEMS);
}

static void begin_elf(struct pl_buf *b, unsigned items, size_t names_len)
{
	const size_t symbols_at = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Shdr),
		     symbols_len = (items + 1) * sizeof(Elf64_Sym);
	Elf64_Ehdr e = {.e_shoff = sizeof e, .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3};
	const Elf64_Shdr sections[3] = {
		{0},
		{.sh_type = SHT_SYMTAB, .sh_offset = symbols_at, .sh_size = symbols_len, .sh_link = 2},
		{.sh_type = SHT_STRTAB, .sh_offset = symbols_at + symbols_len, .sh_size = names_len},
	};

	memcpy(e.e_ident, ELFMAG, SELFMAG);
	e.e_ident[EI_CLASS] = ELFCLASS64;
	e.e_ident[EI_DATA] = ELFDATA2LSB;
	add(b, &e, sizeof e);
	add(b, sections, sizeof sections);
	add(b, &(Elf64_Sym){0}, sizeof(Elf64_Sym));
}

/* All of one place, and each with a name that is the end of the one before: a long one in all. */
static void read_functions(void *ctx, unsigned items)
{
	struct pl_buf b = PL_BUF_INIT(UINT32_MAX);
	const size_t names_len = 16 * (size_t)items + 1;
	struct pl_functions *f;
	struct pl_elf *e;
	bool stripped;

	begin_elf(&b, items, names_len);
	for (unsigned i = 0; i < items; i++)
		add(&b,
		    &(Elf64_Sym){.st_name = 1 + 16 * (i * 7919 % items),
				 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				 .st_shndx = 1,
				 .st_value = 4096,
				 .st_size = 16},
		    sizeof(Elf64_Sym));
	for (size_t i = 0; i + 1 < names_len; i++)
		add(&b, ctx, 1);
	add(&b, "", 1);
	counted_begin();
	assert_ok(pl_elf_open_bytes(b.data, b.len, &e));
	assert_ok(pl_functions_create(&f));
	assert_ok(pl_functions_add(f, e, &stripped));
	assert_non_null(pl_functions_find(f, 4100, 0));
	pl_functions_destroy(f);
	pl_elf_close(e);
	counted_end();
	pl_buf_deinit(&b);
}

static void names_of_functions_cost_what_is_in_them(void **state)
{
	char letter[] = "x", underscore[] = "_"; /* which is looked at by itself */

	(void)state;
	counted_linear(read_functions, letter, ITEMS);
	counted_linear(read_functions, underscore, ITEMS);
}

static uint64_t work_of_reading(const char *filled_with)
{
	const uint64_t before = counted_now().work;

	read_functions((void *)filled_with, 16 * ITEMS);
	return counted_now().work - before;
}

/* Underscores are counted once a name: a program chooses how often names are compared when they are sorted. */
static void underscores_are_counted_once_a_name(void **state)
{
	(void)state;
	assert_in_range(work_of_reading("_"), 0, 3 * work_of_reading("x"));
}

/* Of each pair one end is asked for: a process may have so many, and a thread that waits for each. */
static void find_peers(void *unused, unsigned items)
{
	struct pl_peers p = {.pid = getpid()};
	int(*pairs)[2] = calloc(items, sizeof *pairs);
	struct stat st;

	assert_non_null(pairs);
	for (unsigned i = 0; i < items; i++)
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]), 0);
	counted_begin();
	for (unsigned i = 0; i < items; i++) {
		assert_int_equal(fstat(pairs[i][0], &st), 0);
		assert_int_equal(pl_peers_of_socket(&p, st.st_ino), getpid());
	}
	counted_end();
	for (unsigned i = 0; i < items; i++) {
		close(pairs[i][0]);
		close(pairs[i][1]);
	}
	pl_peers_deinit(&p);
	free(pairs);
}

static void an_end_is_found_without_a_look_at_all(void **state)
{
	counted_linear(find_peers, NULL, PAIRS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_end_is_found_without_a_look_at_all),
		cmocka_unit_test(a_core_costs_what_is_in_it),
		cmocka_unit_test(a_socket_costs_the_same_among_many),
		cmocka_unit_test(names_of_functions_cost_what_is_in_them),
		cmocka_unit_test(underscores_are_counted_once_a_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
