/* SPDX-License-Identifier: Apache-2.0 */
/* Python str and bytes objects. */
#ifndef PL_TEXT_H
#define PL_TEXT_H

#include "buf.h"
#include "detect.h"

/** Append a str as UTF-8 (lone surrogates as their 3 bytes), all kinds, compact or not; of 2.7 its bytes. More than @p
 * max_bytes: cut at a character, "..." appended to at most @p max_bytes of it. Errors: pl_err_unreadable,
 * pl_err_corrupt (impossible kind or length), PLUMB_ERR_LIMIT or PLUMB_ERR_NO_MEMORY from @p ret, which then is as
 * before. */
struct plumb_error *pl_text_read_str(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, size_t max_bytes,
				     struct pl_buf *ret) PLUMB_MUST_CHECK;
/** What is known of a str of which the start was read. */
struct pl_text_start {
	uint64_t chars; /* of the whole str */
	bool cut;	/* there is more of it */
};
/** As above, of 2.7 a unicode instead of a str, and nothing is appended when it is cut. */
struct plumb_error *pl_text_read_start(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, size_t max_bytes,
				       struct pl_buf *ret, struct pl_text_start *start_ret) PLUMB_MUST_CHECK;
/** Where the last 8 bytes of a str's characters are (of 2.7 of its bytes), as they are kept; 0 if it has fewer. */
struct plumb_error *pl_text_end(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, pl_addr *ret) PLUMB_MUST_CHECK;
/** Append the contents of a bytes object; longer than @p max_bytes: PLUMB_ERR_LIMIT. */
struct plumb_error *pl_text_read_bytes(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, size_t max_bytes,
				       struct pl_buf *ret) PLUMB_MUST_CHECK;

#endif
