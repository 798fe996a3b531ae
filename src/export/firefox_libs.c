/* SPDX-License-Identifier: Apache-2.0 */
/* The Firefox Profiler's list of libraries: those whose build is known, as it is for whoever looks for their symbols.
 * Layer export; any thread. */
#include <ctype.h>
#include <string.h>

#include "firefox_parts.h"

#define GUID_DIGITS 32

/* Digits of the build-id in the order of a GUID, whose first three numbers are little endian in memory; 0: its age. */
static void put_breakpad_id(const char *build_id, size_t len, char ret[static GUID_DIGITS + 2])
{
	static const uint8_t bytes[GUID_DIGITS / 2] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};

	for (size_t i = 0; i < GUID_DIGITS; i++) {
		const size_t at = 2 * (size_t)bytes[i / 2] + i % 2;

		ret[i] = at < len ? (char)toupper((unsigned char)build_id[at]) : '0';
	}
	memcpy(ret + GUID_DIGITS, "0", sizeof "0");
}

static void write_lib(struct pl_firefox *w, uint32_t file)
{
	const struct pl_text path = pl_text_of(w->p, file), name = pl_text_basename(path),
			     build_id = pl_text_of(w->p, pl_profile_build_id(w->p, file));
	char breakpad_id[GUID_DIGITS + 2];

	put_breakpad_id(build_id.s, build_id.len, breakpad_id);
	pl_json_object(&w->j);
	pl_json_key_str(&w->j, "arch", "");
	pl_json_key_strn(&w->j, "name", name.s, name.len);
	pl_json_key_strn(&w->j, "path", path.s, path.len);
	pl_json_key_strn(&w->j, "debugName", name.s, name.len);
	pl_json_key_strn(&w->j, "debugPath", path.s, path.len);
	pl_json_key_str(&w->j, "breakpadId", breakpad_id);
	pl_json_key_strn(&w->j, "codeId", build_id.s, build_id.len);
	pl_json_object_end(&w->j);
}

void pl_firefox_write_libs(struct pl_firefox *w)
{
	pl_json_key(&w->j, "libs");
	pl_json_array(&w->j);
	for (size_t i = 0; i < w->library_files.len; i++)
		if (w->libs.data[i])
			write_lib(w, w->library_files.data[i]);
	pl_json_array_end(&w->j);
}
