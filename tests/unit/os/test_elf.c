/* SPDX-License-Identifier: Apache-2.0 */
/* Real files: the fakes, as linked. Hostile files: real ones with bytes changed and cut off. */
#include "unit.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "elf.h"
#include "fake.h"

struct bytes {
	uint8_t *data;
	size_t len;
};

static struct bytes load(const char *name)
{
	char path[512];
	struct stat st;
	int fd = open(fake_path(name, path, sizeof path), O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	struct bytes b = {.data = malloc((size_t)st.st_size), .len = (size_t)st.st_size};
	assert_int_equal(read(fd, b.data, b.len), b.len);
	close(fd);
	return b;
}

static struct pl_elf *open_name(const char *name)
{
	char path[512];
	struct pl_elf *e;
	int fd = open(fake_path(name, path, sizeof path), O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_ok(pl_elf_open_fd(fd, NULL, &e));
	close(fd);
	return e;
}

static const char *const names[] = {"_PyRuntime", "PyCode_Type", "no_such_symbol", "Py_Version"};

static void assert_has_runtime(const struct pl_elf *e, unsigned tables)
{
	struct pl_elf_symbol s[4] = {0};
	assert_int_equal(pl_elf_symbols(e, tables, names, 4, s), 3);
	assert_int_equal(s[0].size, 512);
	assert_int_equal(s[1].size, 64);
	assert_true(s[2].value == 0);
	assert_int_equal(s[3].size, 8);
}

static void exported_symbols_are_found_by_hash(void **state)
{
	struct pl_elf *e = open_name("fake_exported");
	assert_has_runtime(e, PL_ELF_DYNAMIC);
	assert_has_runtime(e, PL_ELF_STATIC);
	pl_elf_close(e);
}

static void both_tables_agree(void **state)
{
	struct pl_elf *e = open_name("fake_exported");
	struct pl_elf_symbol a[4] = {0}, b[4] = {0};
	pl_elf_symbols(e, PL_ELF_DYNAMIC, names, 4, a);
	pl_elf_symbols(e, PL_ELF_STATIC, names, 4, b);
	assert_memory_equal(a, b, sizeof a);
	pl_elf_close(e);
}

static void a_table_with_the_old_hash_is_searched_too(void **state)
{
	struct pl_elf *e = open_name("libsysv.so");
	assert_has_runtime(e, PL_ELF_DYNAMIC);
	pl_elf_close(e);
}

static void hidden_symbols_are_only_in_the_full_table(void **state)
{
	struct pl_elf *e = open_name("fake_hidden");
	struct pl_elf_symbol s = {0};
	assert_int_equal(pl_elf_symbols(e, PL_ELF_DYNAMIC, names, 1, &s), 0);
	assert_true(pl_elf_symbol(e, "_PyRuntime", &s));
	assert_int_equal(s.size, 512);
	pl_elf_close(e);
}

static void references_are_no_definitions(void **state)
{
	/* It links against the library that has them. */
	struct pl_elf *e = open_name("fake_shared");
	struct pl_elf_symbol s = {0};
	assert_false(pl_elf_symbol(e, "_PyRuntime", &s));
	assert_true(pl_elf_needs(e, "libpython"));
	assert_false(pl_elf_needs(e, "libruby"));
	pl_elf_close(e);
}

static void a_section_is_found_in_a_stripped_file(void **state)
{
	struct pl_elf *e = open_name("fake_section");
	struct pl_elf_symbol s = {0};
	assert_false(pl_elf_symbol(e, "_PyRuntime", &s));
	assert_true(pl_elf_section(e, ".PyRuntime", &s));
	assert_int_equal(s.size, 512);
	assert_true(s.value > pl_elf_load_base(e));
	assert_false(pl_elf_section(e, ".PyRuntim", &s));
	pl_elf_close(e);
}

static void without_section_headers_the_loaders_tables_serve(void **state)
{
	struct bytes b = load("fake_exported");
	struct pl_elf *e;
	Elf64_Ehdr *h = (Elf64_Ehdr *)b.data;
	h->e_shoff = h->e_shnum = h->e_shstrndx = 0;
	assert_ok(pl_elf_open_bytes(b.data, b.len, &e));
	assert_has_runtime(e, PL_ELF_DYNAMIC);
	pl_elf_close(e);
	free(b.data);
}

static void what_was_found_before_is_kept(void **state)
{
	struct pl_elf *e = open_name("fake_exported");
	struct pl_elf_symbol s[2] = {{.value = 1, .size = 2}};
	assert_int_equal(pl_elf_symbols(e, PL_ELF_DYNAMIC | PL_ELF_STATIC, names, 2, s), 2);
	assert_true(s[0].value == 1 && s[0].size == 2 && s[1].size == 64);
	pl_elf_close(e);
}

static void the_bias_follows_from_the_code_and_from_the_first_mapping(void **state)
{
	struct bytes b = load("fake_exported");
	struct pl_elf *e;
	uint64_t bias;
	assert_ok(pl_elf_open_bytes(b.data, b.len, &e));
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)b.data;
	const Elf64_Phdr *p = (const Elf64_Phdr *)(b.data + h->e_phoff);
	for (int i = 0; i < h->e_phnum; i++) {
		if (p[i].p_type != PT_LOAD || (p[i].p_offset && !(p[i].p_flags & PF_X)))
			continue;
		/* The kernel maps the segment at the page of its address plus the bias. */
		uint64_t start = 0x7f0000000000 + (p[i].p_vaddr & ~0xfffull), offset = p[i].p_offset & ~0xfffull;
		assert_true(pl_elf_bias(e, start, offset, p[i].p_flags & PF_X, &bias));
		assert_true(bias == 0x7f0000000000);
	}
	assert_false(pl_elf_bias(e, 0x1000, b.len + 0x10000, true, &bias));
	pl_elf_close(e);
	free(b.data);
}

static void other_files_are_refused(void **state)
{
	struct pl_elf *e = NULL;
	struct bytes b = load("fake_exported");
	assert_ptr_equal(pl_elf_open_bytes("", 0, &e), &pl_err_corrupt);
	assert_ptr_equal(
		pl_elf_open_bytes("#!/bin/sh\necho this is a script, longer than a header is\nexit 0\n", 64, &e),
		&pl_err_corrupt);
	b.data[EI_CLASS] = ELFCLASS32;
	assert_code(pl_elf_open_bytes(b.data, b.len, &e), PLUMB_ERR_NOT_SUPPORTED);
	b.data[EI_CLASS] = ELFCLASS64;
	b.data[EI_DATA] = ELFDATA2MSB;
	assert_code(pl_elf_open_bytes(b.data, b.len, &e), PLUMB_ERR_NOT_SUPPORTED);
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_ptr_equal(pl_elf_open_fd(fd, NULL, &e), &pl_err_corrupt);
	close(fd);
	assert_null(e);
	free(b.data);
}

/* Ask everything there is to ask; the answers do not matter. */
static void ask_all(const uint8_t *data, size_t len)
{
	struct pl_elf *e;
	struct pl_elf_symbol s[4] = {0}, one;
	uint64_t bias;
	struct plumb_error *err = pl_elf_open_bytes(data, len, &e);
	if (err) {
		plumb_error_destroy(err);
		return;
	}
	pl_elf_symbols(e, PL_ELF_DYNAMIC | PL_ELF_STATIC, names, 4, s);
	pl_elf_section(e, ".PyRuntime", &one);
	pl_elf_bias(e, 0x400000, 0x1000, true, &bias);
	pl_elf_needs(e, "libpython");
	pl_elf_close(e);
}

static void files_cut_anywhere_do_no_harm(void **state)
{
	struct bytes b = load("libpython9.9.so");
	struct pl_rng rng = {.state = 1};
	for (size_t len = 0; len < b.len; len += 1 + pl_rng_next(&rng) % 97) {
		uint8_t *copy = malloc(len + 1); /* of this size, so that a sanitizer sees reads past it */
		memcpy(copy, b.data, len);
		ask_all(copy, len);
		free(copy);
	}
	free(b.data);
}

static void damaged_files_do_no_harm(void **state)
{
	static const char *const files[] = {"fake_exported", "libpython9.9.so", "libsysv.so", "fake_section"};
	struct pl_rng rng = {.state = 2};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		struct bytes b = load(files[i]), copy = {.data = malloc(b.len), .len = b.len};
		for (int round = 0; round < 1000; round++) {
			memcpy(copy.data, b.data, b.len);
			for (uint64_t n = 1 + pl_rng_next(&rng) % 16; n > 0; n--) {
				/* Half of the damage goes to the headers, where it hurts. */
				size_t at = pl_rng_next(&rng) % (n % 2 ? 1024 : copy.len);
				copy.data[at] = (uint8_t)pl_rng_next(&rng);
			}
			ask_all(copy.data, copy.len);
		}
		free(b.data);
		free(copy.data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exported_symbols_are_found_by_hash),
		cmocka_unit_test(both_tables_agree),
		cmocka_unit_test(a_table_with_the_old_hash_is_searched_too),
		cmocka_unit_test(hidden_symbols_are_only_in_the_full_table),
		cmocka_unit_test(references_are_no_definitions),
		cmocka_unit_test(a_section_is_found_in_a_stripped_file),
		cmocka_unit_test(without_section_headers_the_loaders_tables_serve),
		cmocka_unit_test(what_was_found_before_is_kept),
		cmocka_unit_test(the_bias_follows_from_the_code_and_from_the_first_mapping),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(files_cut_anywhere_do_no_harm),
		cmocka_unit_test(damaged_files_do_no_harm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
