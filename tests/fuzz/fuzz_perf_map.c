/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the file that a JIT compiler has written for perf. */
#include <string.h>

#include "perf_map.h"
#include "require.h"

#define ASKED 64 /* of the functions */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pl_functions *f;

	if (pl_functions_create(&f))
		return 0;
	struct plumb_error *err = pl_perf_map_parse((const char *)data, size, f);
	const size_t n = pl_functions_count(f);

	REQUIRE(!err && n <= size);
	for (size_t i = 0; i < n && i < ASKED; i++) {
		const char *name = pl_functions_find(f, pl_functions_begin(f, i), 0);

		REQUIRE(name && *name && strlen(name) <= size);
	}
	pl_functions_destroy(f);
	return 0;
}
