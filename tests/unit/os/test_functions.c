/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of this very program and its libraries; then hostile files: this one with bytes changed and cut off. */
#include "unit.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "debug_file.h"
#include "elf.h"
#include "elf_load.h"
#include "fake.h"
#include "filed_functions.h"
#include "mapped_functions.h"
#include "mem_live.h"
#include "perf_map.h"
#include "xz.h"

static struct pl_work work = {.most = 1u << 30};
static pl_mapping_vec maps;
static struct pl_mem_live *live;
static struct pl_file_view own;

static int set_up(void **state)
{
	(void)state;
	assert_ok(pl_maps_read(getpid(), &maps));
	assert_ok(pl_mem_live_create(getpid(), &live));
	assert_true(pl_file_view_of(getpid(), &own));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	pl_maps_deinit(&maps);
	pl_mem_live_destroy(live);
	return 0;
}

static const struct pl_mapping *mapping_of(uint64_t addr)
{
	for (size_t i = 0; i < maps.len; i++)
		if (addr >= maps.data[i].start && addr < maps.data[i].end)
			return &maps.data[i];
	fail_msg("nothing is mapped at %#lx", (unsigned long)addr);
	return NULL;
}

/* Of the file that has @p addr in this process; what to add to its addresses. */
static struct pl_functions *functions_of(uint64_t addr, uint64_t *bias)
{
	const struct pl_mapped_place place = {getpid(), &own, &maps, pl_mem_live_mem(live), &work, NULL};
	const struct pl_mapping *m = mapping_of(addr);
	struct pl_functions *f;
	struct pl_elf *e;

	assert_ok(pl_mapped_functions(&place, m, NULL, 0, &f));
	*bias = m->start - m->offset;
	if (m->path[0] == '/') {
		int fd = open(m->path, O_RDONLY | O_CLOEXEC);

		assert_ok(pl_elf_open_fd(fd, NULL, &e));
		assert_true(pl_elf_bias(e, m->start, m->offset, m->executable, bias));
		pl_elf_close(e);
		close(fd);
	}
	return f;
}

static __attribute__((noinline)) int a_function_of_this_test(int i)
{
	__asm__ volatile("" : "+r"(i));
	return i;
}

/* No symbol of its own says how long it is. */
void without_size(void);
__asm__(".text\n.globl without_size\n.type without_size, @function\nwithout_size:\n	ret\n	ret\n	nop\n");

static void functions_have_their_names(void **state)
{
	uint64_t bias, at = (uintptr_t)a_function_of_this_test, unsized = (uintptr_t)without_size;
	struct pl_functions *f = functions_of(at, &bias);

	(void)state;
	assert_string_equal(pl_functions_find(f, at - bias, 0), "a_function_of_this_test");
	assert_string_equal(pl_functions_find(f, at - bias + 1, 0), "a_function_of_this_test");
	assert_null(pl_functions_find(f, 1, 0));
	assert_null(pl_functions_find(f, UINT64_MAX, 0));
	/* Where another source tells the beginning. */
	assert_null(pl_functions_find(f, unsized - bias + 1, 0));
	assert_string_equal(pl_functions_find(f, unsized - bias + 1, unsized - bias), "without_size");
	pl_functions_destroy(f);
}

/* Of the many names of one function that which programs call; in the libraries and in what the kernel maps. */
static void libraries_have_names_that_programs_call(void **state)
{
	uint64_t bias, at = (uintptr_t)read;
	struct pl_functions *f = functions_of(at, &bias);

	(void)state;
	assert_string_equal(pl_functions_find(f, at - bias, 0), "read");
	pl_functions_destroy(f);
	for (size_t i = 0; i < maps.len; i++) {
		if (strcmp(maps.data[i].path, "[vdso]") != 0)
			continue;
		f = functions_of(maps.data[i].start, &bias);
		bool any = false;
		for (uint64_t a = 0; a < maps.data[i].end - maps.data[i].start; a += 16) {
			const char *name = pl_functions_find(f, a, 0);

			any |= name && strstr(name, "clock_gettime");
		}
		assert_true(any);
		pl_functions_destroy(f);
	}
}

/* In a file that may be loaded anywhere both are for the loader to fill in. */
static const struct {
	const char *text;
	int (*function)(int);
} table = {"a text of this test", a_function_of_this_test};

static const void *at(const struct pl_elf_image *i, uint64_t addr)
{
	assert_true(addr >= i->base && addr - i->base < i->len);
	return i->bytes + (addr - i->base);
}

static void data_is_laid_out_as_the_loader_does(void **state)
{
	static const char *const used[] = {"getpid"}, *const unused[] = {"getpi", "no_such_function"};
	uint64_t bias, words[2];
	struct pl_functions *f = functions_of((uintptr_t)a_function_of_this_test, &bias);
	struct pl_elf_image i;
	struct pl_elf *e;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_ok(pl_elf_open_fd(fd, NULL, &e));
	close(fd);
	assert_true(pl_elf_mentions(e, used, 1));
	assert_false(pl_elf_mentions(e, unused, 2));
	assert_false(pl_elf_load(e, 4096, &i)); /* it is larger */
	assert_true(pl_elf_load(e, 64u << 20, &i));
	memcpy(words, at(&i, (uintptr_t)&table - bias), sizeof words);
	assert_int_equal(words[1], (uintptr_t)a_function_of_this_test - bias);
	assert_true(words[1] >= i.code && words[1] < i.code_end);
	assert_string_equal(at(&i, words[0]), table.text);
	pl_elf_image_deinit(&i);
	pl_elf_close(e);
	assert_true(pl_functions_add_one(f, 1, "_json.Scanner.__call__"));
	assert_string_equal(pl_functions_find(f, 5, 1), "_json.Scanner.__call__");
	pl_functions_destroy(f);
}

/* The folders of @p path below @p top are made; and removed. */
static void make_folders(char *path, size_t top)
{
	for (char *slash = path + top; (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		assert_int_equal(mkdir(path, 0700), 0);
		*slash = '/';
	}
}

static void remove_folders(char *path, size_t top)
{
	for (char *slash; (slash = strrchr(path, '/')) > path + top;) {
		*slash = '\0';
		assert_int_equal(rmdir(path), 0);
	}
}

static const struct pl_mapping *vdso(void)
{
	for (size_t i = 0; i < maps.len; i++)
		if (strcmp(maps.data[i].path, "[vdso]") == 0)
			return &maps.data[i];
	return NULL;
}

/* What readelf shows as the build-id of this program; 0: the linker gave it none. */
static size_t own_build_id(uint8_t ret[64])
{
	const struct pl_mapping *m = mapping_of((uintptr_t)a_function_of_this_test);
	int fd = open(m->path, O_RDONLY | O_CLOEXEC);
	struct pl_elf *e;
	size_t len;

	assert_ok(pl_elf_open_fd(fd, NULL, &e));
	uint8_t *note = pl_elf_copy_section(e, ".note.gnu.build-id", 256, &len);
	if (!note) {
		pl_elf_close(e);
		close(fd);
		return 0;
	}
	assert_true(len > 16 && len - 16 <= 64);
	memcpy(ret, note + 16, len - 16);
	assert_true(pl_elf_has_build_id(e, ret, len - 16));
	assert_false(pl_elf_has_build_id(e, ret, len - 17));
	assert_false(pl_elf_has_build_id(e, ret, 0));
	ret[3]++;
	assert_false(pl_elf_has_build_id(e, ret, len - 16));
	ret[3]--;
	free(note);
	pl_elf_close(e);
	close(fd);
	return len - 16;
}

/* Where symbols of a build are kept: as a package has them, or (@p fetched) as clients of debuginfod. */
static void debug_path(char ret[512], const char *directory, bool fetched, const uint8_t *id, size_t len)
{
	int at = snprintf(ret, 512, fetched ? "%s/" : "%s/.build-id/", directory);

	for (size_t i = 0; i < len; i++)
		at += snprintf(ret + at, 512 - (size_t)at, fetched || i != 1 ? "%02x" : "/%02x", id[i]);
	snprintf(ret + at, 512 - (size_t)at, fetched ? "/debuginfo" : ".debug");
}

/* What the vDSO is told to have where our function is, when @p file is what lies at @p path. Caller frees. */
static char *name_with(const char *file, char *path, size_t top, const uint8_t *id, size_t len, uint64_t address)
{
	const struct pl_mapped_place place = {getpid(), &own, &maps, pl_mem_live_mem(live), &work, NULL};
	struct pl_functions *f;

	make_folders(path, top);
	assert_int_equal(symlink(file, path), 0);
	assert_ok(pl_mapped_functions(&place, vdso(), id, len, &f));
	const char *name = pl_functions_find(f, address, 0);
	char *ret = name ? strdup(name) : NULL;
	pl_functions_destroy(f);
	assert_int_equal(unlink(path), 0);
	remove_folders(path, top);
	return ret;
}

/* The symbols of this program stand for those of the vDSO, which is stripped, and small: its own functions lie before
 * ours. What lies where they should be and is of another build is not asked. */
static void symbols_are_found_by_build_id(void **state)
{
	char directory[] = "/tmp/plumb-symbols-XXXXXX", path[512], value[64];
	uint8_t id[64];
	const size_t len = own_build_id(id), top = strlen(directory);
	uint64_t bias;
	struct pl_functions *f = functions_of((uintptr_t)a_function_of_this_test, &bias);
	const uint64_t address = (uintptr_t)a_function_of_this_test - bias;

	(void)state;
	pl_functions_destroy(f);
	if (!vdso() || !len)
		skip();
	assert_true(address > vdso()->end - vdso()->start);
	assert_non_null(mkdtemp(directory));
	snprintf(value, sizeof value, ":/nowhere:%s", directory);
	assert_int_equal(setenv("PLUMB_DEBUG_PATH", value, 1), 0);
	for (int fetched = 0; fetched < 2; fetched++) {
		debug_path(path, directory, fetched, id, len);
		char *name = name_with("/proc/self/exe", path, top, id, len, address);
		assert_non_null(name);
		assert_string_equal(name, "a_function_of_this_test");
		free(name);
		id[3]++;
		debug_path(path, directory, fetched, id, len);
		assert_null(name_with("/proc/self/exe", path, top, id, len, address));
		id[3]--;
	}
	assert_null(name_with("/proc/self/exe", path, top, id, 2, address));
	assert_int_equal(rmdir(directory), 0);
	assert_int_equal(unsetenv("PLUMB_DEBUG_PATH"), 0);
}

/* A program may write over it: as much as another file may have symbols then, and more of them packed. */
static void names_of_a_vdso_count_as_work(void **state)
{
	struct pl_work counted = {.most = 1u << 30};
	const struct pl_mapped_place place = {getpid(), &own, &maps, pl_mem_live_mem(live), &counted, NULL};
	struct pl_functions *f;

	(void)state;
	if (!vdso())
		skip();
	assert_ok(pl_mapped_functions(&place, vdso(), NULL, 0, &f));
	assert_true(pl_functions_count(f) > 0);
	assert_true(counted.spent > 64 * pl_functions_count(f));
	pl_functions_destroy(f);
}

/* Nobody has it mapped: by its path, and by its build-id, and never a file with another one. */
static void a_file_is_asked_by_its_build_id(void **state)
{
	const uint64_t code = (uintptr_t)a_function_of_this_test;
	char directory[] = "/tmp/plumb-filed-XXXXXX", path[512];
	uint8_t id[64];
	size_t len = own_build_id(id);
	uint64_t bias;
	struct pl_functions *f = functions_of(code, &bias);

	(void)state;
	pl_functions_destroy(f);
	if (!len)
		skip();
	assert_ok(pl_filed_functions(mapping_of(code)->path, id, len, NULL, &work, &f));
	assert_string_equal(pl_functions_find(f, code - bias, code - bias), "a_function_of_this_test");
	pl_functions_destroy(f);
	assert_code(pl_filed_functions("/nowhere", id, len, NULL, &work, &f), PLUMB_ERR_NOT_FOUND);
	assert_code(pl_filed_functions("/dev/null", id, len, NULL, &work, &f), PLUMB_ERR_NOT_FOUND);
	assert_code(pl_filed_functions("/", id, len, NULL, &work, &f), PLUMB_ERR_NOT_FOUND);
	assert_non_null(mkdtemp(directory));
	assert_int_equal(setenv("PLUMB_DEBUG_PATH", directory, 1), 0);
	debug_path(path, directory, true, id, len);
	make_folders(path, strlen(directory));
	assert_int_equal(symlink("/proc/self/exe", path), 0);
	assert_ok(pl_filed_functions("/nowhere", id, len, NULL, &work, &f));
	assert_string_equal(pl_functions_find(f, code - bias, code - bias), "a_function_of_this_test");
	pl_functions_destroy(f);
	/* What lies there is not what it is called. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/bin/sh", path), 0);
	assert_code(pl_filed_functions("/nowhere", id, len, NULL, &work, &f), PLUMB_ERR_NOT_FOUND);
	assert_int_equal(unlink(path), 0);
	remove_folders(path, strlen(directory));
	assert_int_equal(rmdir(directory), 0);
	assert_int_equal(unsetenv("PLUMB_DEBUG_PATH"), 0);
}

/* Is @p file opened for more than to see what it is, when names are looked for by its path, and where @p link is? */
static bool is_opened(const char *file, const char *link, const uint8_t *id, size_t len)
{
	const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	char event[sizeof(struct inotify_event) + NAME_MAX + 1];
	struct pl_functions *f;

	assert_true(inotify_add_watch(watch, file, IN_OPEN) >= 0);
	assert_int_equal(symlink(file, link), 0);
	assert_code(pl_filed_functions(file, id, len, NULL, &work, &f), PLUMB_ERR_NOT_FOUND);
	const bool opened = read(watch, event, sizeof event) > 0;
	assert_int_equal(unlink(link), 0);
	assert_int_equal(close(watch), 0);
	return opened;
}

/* A directory of debug information can be another user's: of root, who looks there, a link may lead to anything. Who
 * opens a device starts it, who opens a FIFO lets its writer go on, and what the kernel makes up can be gone once read.
 */
static void what_is_no_plain_file_is_not_opened(void **state)
{
	char directory[] = "/tmp/plumb-no-file-XXXXXX", path[512], fifo[64];
	const uint8_t id[20] = {1};

	(void)state;
	assert_non_null(mkdtemp(directory));
	assert_int_equal(setenv("PLUMB_DEBUG_PATH", directory, 1), 0);
	snprintf(fifo, sizeof fifo, "%s/fifo", directory);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	for (int fetched = 0; fetched < 2; fetched++) {
		debug_path(path, directory, fetched, id, sizeof id);
		make_folders(path, strlen(directory));
		assert_false(is_opened(fifo, path, id, sizeof id));
		assert_false(is_opened("/proc/self/limits", path, id, sizeof id));
		remove_folders(path, strlen(directory));
	}
	assert_int_equal(unlink(fifo), 0);
	assert_int_equal(rmdir(directory), 0);
	assert_int_equal(unsetenv("PLUMB_DEBUG_PATH"), 0);
}

static void try(const uint8_t *bytes, size_t len)
{
	struct pl_functions *f;
	struct pl_elf *e;
	bool stripped;
	struct plumb_error *err = pl_elf_open_bytes(bytes, len, &e);

	if (err) {
		plumb_error_destroy(err);
		return;
	}
	assert_ok(pl_functions_create(&f));
	assert_ok(pl_functions_add(f, e, &stripped));
	for (uint64_t a = 0; a < 65536; a += 4096) {
		const char *name = pl_functions_find(f, a, a);

		assert_true(!name || strlen(name) < len);
	}
	struct pl_elf_image image;
	if (pl_elf_load(e, 64u << 20, &image))
		pl_elf_image_deinit(&image);
	pl_functions_destroy(f);
	pl_elf_close(e);
}

static int open_fake(const char *name)
{
	char path[4096];

	return open(fake_path(name, path, sizeof path), O_RDONLY | O_CLOEXEC);
}

static struct pl_elf *open_elf(const char *name)
{
	int fd = open_fake(name);
	struct pl_elf *e;

	if (fd < 0)
		return NULL;
	assert_ok(pl_elf_open_fd(fd, &work, &e));
	close(fd);
	return e;
}

/* What a stripped file does not export has its name where this is packed in the file. */
static void packed_names_are_found(void **state)
{
	struct pl_elf *whole = open_elf("liblocal.so"), *packed = open_elf("packed.so");
	struct plumb_error *no_xz = pl_unxz(NULL, 0, 0, NULL, NULL);
	struct pl_elf_symbol local = {0}, exported = {0};
	struct pl_functions *f;
	bool stripped, skipped = !packed || plumb_error_code(no_xz) == PLUMB_ERR_NOT_SUPPORTED;

	(void)state;
	plumb_error_destroy(no_xz);
	if (!skipped) {
		assert_true(pl_elf_symbol(whole, "local_one", &local));
		assert_false(pl_elf_symbol(packed, "local_one", &exported));
		assert_true(pl_elf_symbol(packed, "exported_one", &exported));
		assert_ok(pl_functions_create(&f));
		assert_ok(pl_functions_add(f, packed, &stripped));
		assert_false(stripped);
		assert_string_equal(pl_functions_find(f, local.value, 0), "local_one");
		assert_string_equal(pl_functions_find(f, exported.value, 0), "exported_one");
		pl_functions_destroy(f);
	}
	pl_elf_close(packed);
	pl_elf_close(whole);
	if (skipped)
		skip();
}

/* What is in the file; closes it. */
static uint8_t *read_whole(int fd, size_t *len)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	*len = (size_t)st.st_size;
	uint8_t *whole = malloc(*len);
	assert_int_equal(read(fd, whole, *len), *len);
	close(fd);
	return whole;
}

/* The file that is packed is damaged, cut off, or would be too much. */
static void damaged_packed_names_do_no_harm(void **state)
{
	int fd = open_fake("packed.so");
	unsigned seed = 20261126;
	size_t len;

	(void)state;
	if (fd < 0)
		skip();
	uint8_t *whole = read_whole(fd, &len), *bytes = malloc(len);
	for (int i = 0; i < 300; i++) {
		memcpy(bytes, whole, len);
		for (int k = 0; k < 4; k++)
			bytes[len - 1 - (size_t)rand_r(&seed) % 4096] = (uint8_t)rand_r(&seed);
		try(bytes, len);
	}
	free(whole);
	free(bytes);
}

static void damaged_files_do_no_harm(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	unsigned seed = 20261125;
	size_t len;

	(void)state;
	uint8_t *whole = read_whole(fd, &len), *bytes = malloc(len);
	for (int i = 0; i < 300; i++) {
		memcpy(bytes, whole, len);
		for (int k = 0; k < 8; k++) /* its header, and its section headers at the end */
			bytes[(i % 2 ? (size_t)rand_r(&seed) % 64 : len - 1 - (size_t)rand_r(&seed) % 2560)] =
				(uint8_t)rand_r(&seed);
		try(bytes, i % 3 ? len : (size_t)rand_r(&seed) % len);
	}
	free(whole);
	free(bytes);
}

static bool is_wanted(const char *name)
{
	return strcmp(name, "a_function_of_this_test") == 0;
}

static void functions_are_kept_that_are_wanted(void **state)
{
	uint64_t bias, at = (uintptr_t)a_function_of_this_test, other = (uintptr_t)functions_are_kept_that_are_wanted;
	struct pl_functions *f = functions_of(at, &bias);

	(void)state;
	assert_non_null(pl_functions_find(f, other - bias, 0));
	pl_functions_keep(f, is_wanted);
	assert_string_equal(pl_functions_find(f, at - bias, 0), "a_function_of_this_test");
	assert_null(pl_functions_find(f, other - bias, 0));
	pl_functions_destroy(f);
}

static void assert_named(const char *text, size_t len, uint64_t addr, const char *want)
{
	struct pl_functions *f;

	assert_ok(pl_functions_create(&f));
	assert_ok(pl_perf_map_parse(text, len, f));
	const char *name = pl_functions_find(f, addr, 0);
	if (want)
		assert_string_equal(name, want);
	else
		assert_null(name);
	pl_functions_destroy(f);
}

#define ASSERT_NAMED(text, addr, want) assert_named(text, sizeof text - 1, addr, want)

static void perf_maps_name_functions(void **state)
{
	(void)state;
	ASSERT_NAMED("1000 20 one\n1020 10 two words \n", 0x1000, "one");
	ASSERT_NAMED("1000 20 one\n1020 10 two words \n", 0x102f, "two words");
	ASSERT_NAMED("1000 20 one\n1020 10 two words \n", 0x1030, NULL);
	ASSERT_NAMED("1000 20 before\n1000 10 now", 0x1000, "now"); /* the place was used again */
	ASSERT_NAMED("1000 20 before\n1000 10 now", 0x1010, NULL);
	ASSERT_NAMED("\n\nx 1 a\n1000 0 a\n1000 20\n1000\n0 20 a\nffffffffffffffff 20 a\n1000 20 \0\n", 0x1000, NULL);
	ASSERT_NAMED("", 0x1000, NULL);
}

static bool has_perf_map(void)
{
	struct pl_functions *f = NULL;
	struct plumb_error *err = pl_perf_map_functions(getpid(), &own, &work, &f);
	bool found = !err && pl_functions_find(f, 0x1000, 0);

	plumb_error_destroy(err);
	pl_functions_destroy(f);
	return found;
}

static void a_perf_map_is_of_the_process_itself(void **state)
{
	const struct timespec long_ago[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	char path[40];

	(void)state;
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
	(void)unlink(path);
	assert_false(has_perf_map());
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "1000 10 f\n", 10), 10);
	assert_true(has_perf_map());
	assert_int_equal(futimens(fd, long_ago), 0); /* of one that had its number before */
	assert_false(has_perf_map());
	assert_int_equal(close(fd), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0644), 0); /* nobody waits for it */
	assert_false(has_perf_map());
	assert_int_equal(unlink(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_have_their_names),
		cmocka_unit_test(functions_are_kept_that_are_wanted),
		cmocka_unit_test(libraries_have_names_that_programs_call),
		cmocka_unit_test(data_is_laid_out_as_the_loader_does),
		cmocka_unit_test(symbols_are_found_by_build_id),
		cmocka_unit_test(names_of_a_vdso_count_as_work),
		cmocka_unit_test(a_file_is_asked_by_its_build_id),
		cmocka_unit_test(what_is_no_plain_file_is_not_opened),
		cmocka_unit_test(packed_names_are_found),
		cmocka_unit_test(damaged_packed_names_do_no_harm),
		cmocka_unit_test(damaged_files_do_no_harm),
		cmocka_unit_test(perf_maps_name_functions),
		cmocka_unit_test(a_perf_map_is_of_the_process_itself),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
