/* SPDX-License-Identifier: Apache-2.0 */
/* A captured image: what a set of reads returned, kept in a file, served again later. Golden tests and the fuzzer read
 * images; pl_mem_record makes them from any other reader.
 *
 * File: "PLIMG1\n", then per range: u64 addr, u32 len, bytes; little endian. Overlaps are allowed, the first wins. */
#ifndef PL_MEM_IMAGE_H
#define PL_MEM_IMAGE_H

#include "mem.h"

struct pl_mem_image;

/** Parse @p len bytes (hostile input). Copies. */
struct plumb_error *pl_mem_image_create(const void *bytes, size_t len, struct pl_mem_image **ret) PLUMB_MUST_CHECK;
void pl_mem_image_destroy(struct pl_mem_image *img);
struct pl_mem *pl_mem_image_mem(struct pl_mem_image *img);

/** A reader that passes everything to @p inner and remembers each range read. */
struct pl_mem_record;
struct plumb_error *pl_mem_record_create(struct pl_mem *inner, struct pl_mem_record **ret) PLUMB_MUST_CHECK;
void pl_mem_record_destroy(struct pl_mem_record *rec);
struct pl_mem *pl_mem_record_mem(struct pl_mem_record *rec);
/** Write the image file to @p fd. */
struct plumb_error *pl_mem_record_save(struct pl_mem_record *rec, int fd) PLUMB_MUST_CHECK;

#endif
