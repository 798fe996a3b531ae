/* SPDX-License-Identifier: Apache-2.0 */
/* A program, a library or the vDSO as it is mapped in the target: where its unwind tables are. All of it is read from
 * the target's memory, so a file that was deleted or replaced, or that lies in a container, is no special case. */
#ifndef PL_UNWIND_IMAGE_H
#define PL_UNWIND_IMAGE_H

#include "arch.h"
#include "mem.h"
#include "vec.h"

#define PL_BUILD_ID_MAX 32

/** Where the description (FDE) of a function is. */
struct pl_fde_place {
	pl_addr start, at; /* start: of its code; at: 0, it has none */
};
typedef PL_VEC(struct pl_fde_place) pl_fde_place_vec;

struct pl_unwind_image {
	/* Given: */
	pl_addr start, end; /* of all that is mapped of it */
	pl_addr head;	    /* of its ELF header; 0: no image, code of nobody's */
	/* Code that no file has, of a JIT compiler: where it is described, in order (fde.h). It is `opened` already. */
	const struct pl_fde_place *listed;
	size_t listed_count;
	/* Found by pl_unwind_image_open: */
	bool opened;
	uint64_t bias; /* address = bias + that in the file */
	pl_addr index; /* .eh_frame_hdr; 0: there is none that we can use */
	pl_addr table; /* its sorted table, of `count` entries */
	uint32_t count;
	uint8_t build_id[PL_BUILD_ID_MAX];
	uint8_t build_id_len; /* 0: none */
};

/** Once for each image; what cannot be read is not there. */
void pl_unwind_image_open(struct pl_unwind_image *i, struct pl_mem *mem, const struct pl_unwind_arch *arch);

/** The image that has @p addr; @p images are sorted and do not overlap. NULL: none. */
struct pl_unwind_image *pl_unwind_image_at(struct pl_unwind_image *images, size_t n, pl_addr addr);

/** Where the function begins that has @p pc, as far as images of code that is in no file tell; 0: it is not known. */
pl_addr pl_unwind_image_function(const struct pl_unwind_image *i, pl_addr pc);

/** Where the description (FDE) of the function begins that has @p pc, or would have it. */
bool pl_unwind_image_search(const struct pl_unwind_image *i, struct pl_mem *mem, pl_addr pc, pl_addr *ret);

#endif
