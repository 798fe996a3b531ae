/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a file, as its debug information tells them: those of addr2line for instructions all over a library; hostile
 * files, and little work. The library is tests/unit/os/lines.c. */
#include "file_lines.h"

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST	  (512u << 20)
#define CHANGES	  300
#define QUESTIONS 64

static const uint8_t build_id[] = {0xc0, 0xff, 0xee, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18};

static struct pl_file_lines *opened(const char *path, uint64_t most)
{
	struct pl_file_lines *l = pl_file_lines_of_build(path, build_id, sizeof build_id, most);

	assert_non_null(l);
	return l;
}

/* "function file:line\n" of each, the innermost first, as addr2line -i writes it. */
struct told {
	char text[8192];
	size_t len, count;
};

/* addr2line leaves "build/.." in a path, and a build may have its own folder's name left out. */
static const char *below_root(const char *path)
{
	const char *found = path ? strstr(path, "tests/unit/os/") : "??";

	return found ? found : path;
}

static void tell(void *ctx, const struct pl_dwarf_place *p)
{
	struct told *t = ctx;

	t->count++;
	t->len += (size_t)snprintf(t->text + t->len, sizeof t->text - t->len, "%s %s:%u\n",
				   p->function ? p->function : "??", below_root(p->file), p->line);
	assert_true(t->len < sizeof t->text);
}

static void read_line(FILE *f, char *ret, size_t size)
{
	assert_non_null(fgets(ret, (int)size, f));
	ret[strcspn(ret, "\n")] = '\0';
}

/* What addr2line says of @p addr is compared line by line: a name, then a place, for each function there is. */
static void compare(struct pl_file_lines *l, uint64_t addr)
{
	char command[512], name[1024], place[1024], want[8192] = "";
	struct told t = {.len = 0};
	bool left_out;

	snprintf(command, sizeof command, "addr2line -i -f -e '%s' %#llx", LINES_LIBRARY, (unsigned long long)addr);
	FILE *f = popen(command, "r");
	assert_non_null(f);
	for (size_t at = 0; fgets(name, sizeof name, f);) {
		name[strcspn(name, "\n")] = '\0';
		read_line(f, place, sizeof place);
		char *more = strstr(place, " (discriminator");
		if (more)
			*more = '\0';
		at += (size_t)snprintf(want + at, sizeof want - at, "%s %s\n", name, below_root(place));
	}
	assert_int_equal(pclose(f), 0);
	const size_t count = pl_file_lines_places(l, addr, MOST, tell, &t, &left_out);
	assert_int_equal(count, t.count);
	assert_false(left_out);
	if (t.count || strncmp(want, "??", 2) != 0)
		assert_string_equal(t.text, want);
}

/* Of the function with others compiled into it, and the one before. */
static void each_instruction_is_that_of_addr2line(void **state)
{
	struct pl_file_lines *l = opened(LINES_LIBRARY, MOST);
	char line[256];
	size_t compared = 0;

	(void)state;
	FILE *f = popen("objdump -d --no-show-raw-insn -j .text '" LINES_LIBRARY "' 2>/dev/null", "r");
	assert_non_null(f);
	bool ours = false;
	while (fgets(line, sizeof line, f)) {
		char *end;
		const uint64_t addr = strtoull(line, &end, 16);

		if (strchr(line, '<') && strstr(line, ">:"))
			ours = strstr(line, "<lines_") != NULL;
		else if (ours && end != line && *end == ':' && !strstr(line, "nop")) { /* between functions */
			compare(l, addr);
			compared++;
		}
	}
	assert_int_equal(pclose(f), 0); /* objdump comes with the compiler's linker */
	assert_true(compared >= 10);
	pl_file_lines_destroy(l);
}

static void another_build_is_not_asked(void **state)
{
	struct pl_file_lines *l = pl_file_lines_of_build(LINES_LIBRARY, build_id, sizeof build_id - 1, MOST);

	(void)state;
	assert_non_null(l);
	assert_true(!l->dwarf && !l->partly);
	pl_file_lines_destroy(l);
}

static void ignore(void *ctx, const struct pl_dwarf_place *p)
{
}

/* With any amount of work it is used up at most, and what is not told is said to be left out. */
static void little_work_is_kept_to_and_told(void **state)
{
	struct pl_file_lines *whole = opened(LINES_LIBRARY, MOST);
	const uint64_t to_open = whole->work.spent;

	(void)state;
	assert_true(whole->dwarf && !whole->partly);
	for (uint64_t most = 0; most < to_open; most += to_open / 50 + 1) {
		struct pl_file_lines *l = opened(LINES_LIBRARY, most);
		bool left_out;

		assert_true(l->work.spent <= most && l->partly);
		if (!pl_file_lines_places(l, 0, 0, ignore, NULL, &left_out))
			assert_true(left_out);
		pl_file_lines_destroy(l);
	}
	pl_file_lines_destroy(whole);
}

static uint8_t *bytes_of(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	struct stat st;

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	*len = (size_t)st.st_size;
	uint8_t *bytes = malloc(*len);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *len, f), *len);
	assert_int_equal(fclose(f), 0);
	return bytes;
}

static void write_file(const char *path, const uint8_t *bytes, size_t len)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

/* Whatever is in the file, no more work is done than may be. */
static void hostile_files(void **state)
{
	char path[] = "/tmp/plumb-file-lines-XXXXXX";
	const int fd = mkstemp(path);
	uint32_t random = 1;
	size_t len;
	uint8_t *bytes = bytes_of(LINES_LIBRARY, &len), *changed = malloc(len);
	const uint64_t most = 16u << 20;

	(void)state;
	assert_true(fd >= 0 && changed);
	close(fd);
	for (int i = 0; i < CHANGES; i++) {
		bool left_out;

		memcpy(changed, bytes, len);
		for (int k = 0; k < 1 + i % 8; k++) {
			random = random * 1664525u + 1013904223u;
			changed[(random >> 3) % len] = (uint8_t)(k % 2 ? 0xff : random >> 24);
		}
		write_file(path, changed, i % 16 ? len : random % len);
		struct pl_file_lines *l = opened(path, most);
		assert_true(l->work.spent <= most);
		for (uint64_t at = 0; at < QUESTIONS; at++)
			pl_file_lines_places(l, 0x1000 + 4 * at, most / QUESTIONS, ignore, NULL, &left_out);
		assert_true(l->work.spent <= 2 * most);
		pl_file_lines_destroy(l);
	}
	free(bytes);
	free(changed);
	assert_int_equal(unlink(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_instruction_is_that_of_addr2line),
		cmocka_unit_test(another_build_is_not_asked),
		cmocka_unit_test(little_work_is_kept_to_and_told),
		cmocka_unit_test(hostile_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
