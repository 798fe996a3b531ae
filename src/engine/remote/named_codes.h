/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the profile for the codes of records: of Python, native, of the kernel. Consumer thread only. */
#ifndef PL_NAMED_CODES_H
#define PL_NAMED_CODES_H

#include "codes.h"
#include "lines.h"
#include "native_symbols.h"
#include "profile.h"
#include "source_texts.h"
#include "vec.h"

struct pl_code_row {
	const struct pl_known_code *code;
	struct pl_lines lines; /* of its line table */
	uint32_t function;
	bool hidden; /* no frame for those who read the profile */
};

/** All zero at first. */
struct pl_named_codes {
	PL_VEC(struct pl_code_row) rows; /* by the number in the records */
	struct pl_native_symbols symbols;
};

void pl_named_codes_deinit(struct pl_named_codes *c);
/** The next one. Of Python: the text of its file is wanted. */
struct plumb_error *pl_named_codes_add(struct pl_named_codes *c, const struct pl_known_code *code,
				       struct pl_texts *texts, struct plumb_profile *p) PLUMB_MUST_CHECK;

#endif
