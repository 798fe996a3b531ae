/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "maps.h"

static pl_mapping_vec parse(const char *text)
{
	pl_mapping_vec maps;
	assert_ok(pl_maps_parse(text, strlen(text), &maps));
	return maps;
}

static void all_fields_are_read(void **state)
{
	pl_mapping_vec m =
		parse("55d0c0a00000-55d0c0a28000 r--p 00001000 fe:0a 1234567                    /usr/bin/vim\n"
		      "7ffc0000-7ffd0000 rwxs 00000000 00:00 0 \n"
		      "7fff0000-7fff1000 ---p 00000000 00:00 0                          [stack]\n");
	assert_int_equal(m.len, 3);
	assert_true(m.data[0].start == 0x55d0c0a00000 && m.data[0].end == 0x55d0c0a28000);
	assert_true(m.data[0].offset == 0x1000 && m.data[0].inode == 1234567);
	assert_true(m.data[0].dev_major == 0xfe && m.data[0].dev_minor == 0xa);
	assert_true(m.data[0].readable && !m.data[0].writable && !m.data[0].executable && !m.data[0].deleted);
	assert_string_equal(m.data[0].path, "/usr/bin/vim");
	assert_true(m.data[1].readable && m.data[1].writable && m.data[1].executable);
	assert_string_equal(m.data[1].path, "");
	assert_string_equal(m.data[2].path, "[stack]");
	pl_maps_deinit(&m);
}

static void paths_may_hold_blanks_newlines_and_be_deleted(void **state)
{
	pl_mapping_vec m = parse("1000-2000 r-xp 00000000 08:01 7    /tmp/a b \\012c\\01 (deleted)\n"
				 "2000-3000 r-xp 00000000 08:01 7    /tmp/x (deleted) y\n"
				 "3000-4000 r-xp 00000000 08:01 7     (deleted)\n");
	assert_int_equal(m.len, 3);
	assert_string_equal(m.data[0].path, "/tmp/a b \nc\\01");
	assert_true(m.data[0].deleted);
	assert_string_equal(m.data[1].path, "/tmp/x (deleted) y");
	assert_false(m.data[1].deleted);
	assert_string_equal(m.data[2].path, "(deleted)");
	pl_maps_deinit(&m);
}

static void lines_without_sense_are_skipped(void **state)
{
	pl_mapping_vec m = parse("\n"
				 "hello\n"
				 "1000-1000 r-xp 00000000 08:01 7 /empty\n"
				 "2000-1000 r-xp 00000000 08:01 7 /backwards\n"
				 "1000-11111111111111111 r-xp 00000000 08:01 7 /too-wide\n"
				 "1000-2000 r-x\n"
				 "1000-2000 r-xp 00000000 08:01 7/glued\n"
				 "1000-2000 r-xp 00000000 08 7 /no-minor\n"
				 "5000-6000 r-xp 00000000 08:01 7 /good");
	assert_int_equal(m.len, 1);
	assert_string_equal(m.data[0].path, "/good");
	pl_maps_deinit(&m);
	m = parse("");
	assert_int_equal(m.len, 0);
	pl_maps_deinit(&m);
}

static void the_own_maps_hold_what_was_mapped(void **state)
{
	pl_mapping_vec maps;
	char path[] = "/tmp/plumb maps XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 8192), 0);
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 4096);
	assert_ptr_not_equal(at, MAP_FAILED);
	unlink(path);
	assert_ok(pl_maps_read(getpid(), &maps));
	const struct pl_mapping *found = NULL;
	for (size_t i = 0; i < maps.len; i++)
		if (maps.data[i].start == (uintptr_t)at)
			found = &maps.data[i];
	assert_non_null(found);
	assert_string_equal(found->path, path);
	assert_true(found->deleted && found->executable && !found->writable && found->offset == 4096);
	pl_maps_deinit(&maps);
	munmap(at, 4096);
	close(fd);
}

#define DEPTH	 15
#define MAPPINGS 4000

/* In directories with names as long as can be: a file that is gone. */
static int deep_file(void)
{
	char top[] = "/tmp/plumb maps XXXXXX", name[251] = {0};
	int dirs[DEPTH + 1];

	memset(name, 'd', sizeof name - 1);
	assert_non_null(mkdtemp(top));
	assert_true((dirs[0] = open(top, O_PATH | O_DIRECTORY)) >= 0);
	for (int i = 0; i < DEPTH; i++) {
		assert_int_equal(mkdirat(dirs[i], name, 0700), 0);
		assert_true((dirs[i + 1] = openat(dirs[i], name, O_PATH | O_DIRECTORY)) >= 0);
	}
	int fd = openat(dirs[DEPTH], name, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 4096), 0);
	unlinkat(dirs[DEPTH], name, 0);
	for (int i = DEPTH; i >= 0; i--) {
		close(dirs[i]);
		if (i)
			unlinkat(dirs[i - 1], name, AT_REMOVEDIR);
	}
	rmdir(top);
	return fd;
}

/* The most memory that this process had since the last call, in kB. */
static long peak_kb(void)
{
	char line[128];
	long kb = 0;
	FILE *f = fopen("/proc/self/status", "re");

	while (fgets(line, sizeof line, f))
		(void)sscanf(line, "VmHWM: %ld", &kb);
	fclose(f);
	f = fopen("/proc/self/clear_refs", "we");
	fputs("5", f);
	fclose(f);
	return kb;
}

/* A program can have 65,530 mappings with names of 4 kB. */
static void long_names_are_held_once(void **state)
{
	int fd = deep_file();
	char *at[MAPPINGS];
	pl_mapping_vec maps;
	long names = 0;

	for (int i = 0; i < MAPPINGS; i++)
		at[i] = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	peak_kb();
	long before = peak_kb();
	assert_ok(pl_maps_read(getpid(), &maps));
	for (size_t i = 0; i < maps.len; i++)
		names += (long)strlen(maps.data[i].path);
	assert_true(maps.len >= MAPPINGS && names > MAPPINGS * DEPTH * 250L);
	/* twice would be more, whatever an allocator adds: with the address sanitizer one is 1.48 of them */
	assert_in_range(peak_kb() - before, 0, names / 1024 * 7 / 4);
	pl_maps_deinit(&maps);
	for (int i = 0; i < MAPPINGS; i++)
		munmap(at[i], 4096);
	close(fd);
}

static void no_process_is_said_so(void **state)
{
	pl_mapping_vec maps;
	assert_code(pl_maps_read(0x3ffffff0, &maps), PLUMB_ERR_NO_PROCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_fields_are_read),
		cmocka_unit_test(paths_may_hold_blanks_newlines_and_be_deleted),
		cmocka_unit_test(lines_without_sense_are_skipped),
		cmocka_unit_test(the_own_maps_hold_what_was_mapped),
		cmocka_unit_test(long_names_are_held_once),
		cmocka_unit_test(no_process_is_said_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
