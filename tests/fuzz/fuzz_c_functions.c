/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a file with tables of functions of C for Python. */
#include <string.h>

#include "c_functions.h"
#include "require.h"

#define BASE	 UINT64_C(0x10000)
#define CODE	 (BASE + 0x8000)
#define CODE_END (BASE + 0x9000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct teller {
	struct pl_c_function_sink sink; /* first */
	uint64_t last;
};

static bool tell(struct pl_c_function_sink *sink, uint64_t addr, const char *name)
{
	struct teller *t = (struct teller *)sink;

	REQUIRE(addr >= CODE && addr < CODE_END && addr > t->last);
	REQUIRE(*name && strlen(name) < 300);
	t->last = addr;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pl_c_file f = {.bytes = data, .len = size, .base = BASE, .code = CODE, .code_end = CODE_END};
	struct teller t = {.sink.take = tell};

	pl_c_functions_find(&f, &t.sink);
	return 0;
}
