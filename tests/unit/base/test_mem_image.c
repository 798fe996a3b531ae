/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "mem_image.h"

static void put_range(struct pl_buf *b, uint64_t addr, const void *bytes, uint32_t len)
{
	assert_ok(pl_buf_add(b, &addr, sizeof addr));
	assert_ok(pl_buf_add(b, &len, sizeof len));
	assert_ok(pl_buf_add(b, bytes, len));
}

static struct pl_buf new_file(void)
{
	struct pl_buf b = PL_BUF_INIT(1 << 20);
	assert_ok(pl_buf_add_str(&b, "PLIMG1\n"));
	return b;
}

static struct pl_mem_image *open_file(struct pl_buf *b)
{
	struct pl_mem_image *img;
	assert_ok(pl_mem_image_create(b->data, b->len, &img));
	pl_buf_deinit(b);
	return img;
}

static void reads_span_ranges_and_the_first_of_two_wins(void **state)
{
	struct pl_buf b = new_file();
	char got[8] = "";
	put_range(&b, 0x1fe, "cdef", 4); /* over the edge of an internal block */
	put_range(&b, 0x1fc, "abXY", 4);
	put_range(&b, 0x300, "z", 1);
	struct pl_mem_image *img = open_file(&b);
	struct pl_mem *mem = pl_mem_image_mem(img);
	assert_ok(pl_mem_read(mem, 0x1fc, got, 6));
	assert_string_equal(got, "abcdef");
	assert_ptr_equal(pl_mem_read(mem, 0x1fb, got, 2), &pl_err_unreadable);
	assert_ptr_equal(pl_mem_read(mem, 0x1fc, got, 7), &pl_err_unreadable);
	assert_ptr_equal(pl_mem_read(mem, 0x2ff, got, 2), &pl_err_unreadable);
	assert_ok(pl_mem_read(mem, 0x300, got, 1));
	assert_ok(pl_mem_read(mem, 0x9999, got, 0));
	pl_mem_image_destroy(img);
}

static void the_ends_of_the_address_space_are_addresses_like_others(void **state)
{
	struct pl_buf b = new_file();
	char got[8] = "";
	put_range(&b, 0, "ab", 2);
	put_range(&b, UINT64_MAX - 2, "yz", 2);
	struct pl_mem_image *img = open_file(&b);
	struct pl_mem *mem = pl_mem_image_mem(img);
	assert_ok(pl_mem_read(mem, 0, got, 2));
	assert_string_equal(got, "ab");
	assert_ok(pl_mem_read(mem, UINT64_MAX - 2, got, 2));
	assert_string_equal(got, "yz");
	assert_ptr_equal(pl_mem_read(mem, UINT64_MAX - 2, got, 5), &pl_err_unreadable);
	pl_mem_image_destroy(img);
}

static void broken_files_are_refused(void **state)
{
	struct pl_mem_image *img = NULL;
	struct pl_buf b = new_file();
	assert_ptr_equal(pl_mem_image_create("", 0, &img), &pl_err_corrupt);
	assert_ptr_equal(pl_mem_image_create("PLIMG2\n", 7, &img), &pl_err_corrupt);
	put_range(&b, 0x1000, "abcdef", 6);
	for (size_t len = 8; len < b.len; len++)
		assert_ptr_equal(pl_mem_image_create(b.data, len, &img), &pl_err_truncated);
	pl_buf_clear(&b);
	assert_ok(pl_buf_add_str(&b, "PLIMG1\n"));
	put_range(&b, UINT64_MAX, "ab", 2);
	assert_ptr_equal(pl_mem_image_create(b.data, b.len, &img), &pl_err_corrupt);
	assert_null(img);
	pl_buf_deinit(&b);
}

/* An image of everything, whose bytes follow from their address, and which counts. */
struct counting {
	struct pl_mem mem;
	unsigned reads, prefetches;
};

static struct plumb_error *counting_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	((struct counting *)mem)->reads++;
	for (size_t i = 0; i < len; i++)
		((uint8_t *)dst)[i] = (uint8_t)((addr + i) * 13);
	return addr > 0x100000 ? &pl_err_unreadable : NULL;
}

static void counting_prefetch(struct pl_mem *mem, pl_addr addr, size_t len)
{
	((struct counting *)mem)->prefetches++;
}

static const struct pl_mem_ops counting_ops = {.read = counting_read, .prefetch = counting_prefetch};

static struct pl_mem_image *save_and_open(struct pl_mem_record *rec)
{
	struct pl_mem_image *img;
	int fd = memfd_create("image", MFD_CLOEXEC);
	assert_ok(pl_mem_record_save(rec, fd));
	off_t len = lseek(fd, 0, SEEK_END);
	char *bytes = malloc((size_t)len);
	assert_int_equal(pread(fd, bytes, (size_t)len, 0), len);
	assert_ok(pl_mem_image_create(bytes, (size_t)len, &img));
	free(bytes);
	close(fd);
	return img;
}

static void what_was_recorded_reads_the_same_again(void **state)
{
	struct counting source = {.mem.ops = &counting_ops};
	struct pl_mem_record *rec;
	uint8_t a[300], b[300];
	assert_ok(pl_mem_record_create(&source.mem, &rec));
	struct pl_rng rng = {.state = 3};
	struct {
		pl_addr addr;
		size_t len;
	} asked[500];
	for (int i = 0; i < 500; i++) {
		asked[i].addr = pl_rng_next(&rng) % 0x8000;
		asked[i].len = pl_rng_next(&rng) % sizeof a;
		assert_ok(pl_mem_read(pl_mem_record_mem(rec), asked[i].addr, a, asked[i].len));
	}
	assert_ptr_equal(pl_mem_read(pl_mem_record_mem(rec), 0x200000, a, 8), &pl_err_unreadable);
	pl_mem_prefetch(pl_mem_record_mem(rec), 0, 8);
	assert_int_equal(source.reads, 501);
	assert_int_equal(source.prefetches, 1);
	struct pl_mem_image *img = save_and_open(rec);
	for (int i = 0; i < 500; i++) {
		assert_ok(pl_mem_read(pl_mem_image_mem(img), asked[i].addr, a, asked[i].len));
		plumb_error_destroy(counting_read(&source.mem, asked[i].addr, b, asked[i].len));
		assert_memory_equal(a, b, asked[i].len);
	}
	assert_ptr_equal(pl_mem_read(pl_mem_image_mem(img), 0x200000, a, 8), &pl_err_unreadable);
	pl_mem_image_destroy(img);
	pl_mem_record_destroy(rec);
}

static void saving_to_a_full_disk_says_so(void **state)
{
	struct counting source = {.mem.ops = &counting_ops};
	struct pl_mem_record *rec;
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_ok(pl_mem_record_create(&source.mem, &rec));
	assert_code(pl_mem_record_save(rec, fd), PLUMB_ERR_WRITE_FAILED);
	pl_mem_record_destroy(rec);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_span_ranges_and_the_first_of_two_wins),
		cmocka_unit_test(the_ends_of_the_address_space_are_addresses_like_others),
		cmocka_unit_test(broken_files_are_refused),
		cmocka_unit_test(what_was_recorded_reads_the_same_again),
		cmocka_unit_test(saving_to_a_full_disk_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
