/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the text of /proc/PID/maps: what comes out must make sense. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	pl_mapping_vec maps;
	struct plumb_error *err = pl_maps_parse((const char *)data, size, &maps);
	if (err) {
		plumb_error_destroy(err);
		return 0;
	}
	for (size_t i = 0; i < maps.len; i++)
		if (maps.data[i].start >= maps.data[i].end || strlen(maps.data[i].path) > size)
			abort();
	pl_maps_deinit(&maps);
	return 0;
}
