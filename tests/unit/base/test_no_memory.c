/* SPDX-License-Identifier: Apache-2.0 */
/* Linked with --wrap=malloc,calloc,realloc: every scenario runs with its first allocation failing, then its second, ...
 * until it needs no more. Whatever fails, nothing may crash, leak (the sanitizer build looks) or lose what was there.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "failing.h"
#include "map.h"
#include "mem_image.h"
#include "strtab.h"
#include "vec.h"

static void use_buf(void *ctx)
{
	struct pl_buf b = PL_BUF_INIT(1 << 20);
	size_t len = 0;
	for (int i = 0; i < 300; i++) {
		struct plumb_error *err = i % 2 ? pl_buf_printf(&b, "%08d", i) : pl_buf_add(&b, "abcdefgh", 8);
		assert_true(!err || err == &pl_err_no_memory);
		len += err ? 0 : 8;
		assert_int_equal(b.len, len);
	}
	const char *text = pl_buf_str(&b);
	assert_true(*text == '\0' || strlen(text) == len);
	pl_buf_deinit(&b);
}

static void use_map(void *ctx)
{
	struct pl_map m = PL_MAP_INIT;
	uint32_t v;
	for (uint32_t i = 0; i < 300; i++) {
		size_t len = m.len;
		bool set = pl_map_set(&m, i, i, i);
		assert_int_equal(m.len, len + set);
		assert_int_equal(pl_map_get(&m, i, i, &v), set);
		if (!set)
			assert_true(pl_map_set(&m, i, i, i));
	}
	for (uint32_t i = 0; i < 300; i++)
		assert_true(pl_map_get(&m, i, i, &v) && v == i);
	pl_map_deinit(&m);
}

static uint32_t add_until_it_works(struct pl_strtab *t, const char *text, size_t len)
{
	uint32_t id = UINT32_MAX, count = pl_strtab_count(t);
	struct plumb_error *err = pl_strtab_add(t, text, len, &id);
	if (err) {
		assert_ptr_equal(err, &pl_err_no_memory);
		assert_int_equal(id, UINT32_MAX);
		assert_int_equal(pl_strtab_count(t), count);
		assert_ok(pl_strtab_add(t, text, len, &id));
	}
	return id;
}

static void use_strtab(void *ctx)
{
	static char large[100000];
	struct pl_strtab *t = NULL;
	char name[16];
	struct plumb_error *err = pl_strtab_create(&t);
	if (err) {
		assert_ptr_equal(err, &pl_err_no_memory);
		assert_null(t);
		return;
	}
	for (uint32_t i = 0; i < 400; i++)
		assert_int_equal(add_until_it_works(t, name, (size_t)snprintf(name, sizeof name, "name%u", i)), i + 1);
	assert_int_equal(add_until_it_works(t, large, sizeof large), 401);
	for (uint32_t i = 0; i < 400; i++) {
		snprintf(name, sizeof name, "name%u", i);
		assert_string_equal(pl_strtab_get(t, i + 1, NULL), name);
	}
	pl_strtab_destroy(t);
}

static void use_error(void *ctx)
{
	struct plumb_error *err = pl_error_errno(PLUMB_ERR_NO_PROCESS, 2, "no %d", 1);
	err = pl_error_hint(err, "try %d", 2);
	if (plumb_error_code(err) == PLUMB_ERR_NO_MEMORY)
		assert_string_equal(plumb_error_message(err), "out of memory");
	else if (failing_happened())
		assert_string_equal(plumb_error_hint(err), "list running programs with 'ps -e'");
	else
		assert_string_equal(plumb_error_hint(err), "try 2");
	plumb_error_destroy(err);
}

static void use_vec(void *ctx)
{
	PL_VEC(int) v = {0};
	for (int i = 0; i < 100; i++)
		if (!pl_vec_push(&v, i))
			assert_true(pl_vec_push(&v, i));
	for (int i = 0; i < 100; i++)
		assert_int_equal(v.data[i], i);
	pl_vec_deinit(&v);
}

static struct plumb_error *zeros_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	memset(dst, 0, len);
	return NULL;
}

static const struct pl_mem_ops zeros_ops = {.read = zeros_read};

static void use_record(void *ctx)
{
	struct pl_mem zeros = {.ops = &zeros_ops};
	struct pl_mem_record *rec = NULL;
	char some[512];
	if (pl_mem_record_create(&zeros, &rec)) {
		assert_null(rec);
		return;
	}
	for (pl_addr addr = 0; addr < 40; addr++)
		assert_ok(pl_mem_read(pl_mem_record_mem(rec), addr * 1000, some, sizeof some));
	/* Reading went on; what is missing is told at the end. */
	failing_off();
	if (failing_happened())
		assert_ptr_equal(pl_mem_record_save(rec, -1), &pl_err_no_memory);
	else
		assert_code(pl_mem_record_save(rec, -1), PLUMB_ERR_WRITE_FAILED);
	pl_mem_record_destroy(rec);
}

static void use_image(void *ctx)
{
	static char file[7 + 50 * (12 + 300)] = "PLIMG1\n";
	struct pl_mem_image *img = NULL;
	for (uint64_t i = 0; i < 50; i++) {
		uint64_t addr = i * 5000;
		uint32_t len = 300;
		memcpy(file + 7 + i * 312, &addr, 8);
		memcpy(file + 15 + i * 312, &len, 4);
	}
	struct plumb_error *err = pl_mem_image_create(file, sizeof file, &img);
	assert_true(failing_happened() ? err == &pl_err_no_memory && !img : !err);
	pl_mem_image_destroy(img);
}

static void buffers_stay_whole(void **state)
{
	failing_each(use_buf, NULL, 6);
}

static void maps_stay_whole(void **state)
{
	failing_each(use_map, NULL, 6);
}

static void string_tables_stay_whole(void **state)
{
	failing_each(use_strtab, NULL, 10);
}

static void errors_become_out_of_memory(void **state)
{
	failing_each(use_error, NULL, 2);
}

static void vectors_stay_whole(void **state)
{
	failing_each(use_vec, NULL, 5);
}

static void recorders_read_on(void **state)
{
	failing_each(use_record, NULL, 5);
}

static void images_are_all_or_nothing(void **state)
{
	failing_each(use_image, NULL, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffers_stay_whole),	     cmocka_unit_test(maps_stay_whole),
		cmocka_unit_test(string_tables_stay_whole),  cmocka_unit_test(errors_become_out_of_memory),
		cmocka_unit_test(vectors_stay_whole),	     cmocka_unit_test(recorders_read_on),
		cmocka_unit_test(images_are_all_or_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
