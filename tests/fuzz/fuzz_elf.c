/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an ELF file: every question that attaching asks of one. */
#include <stdint.h>
#include <string.h>

#include "elf.h"
#include "elf_functions.h"
#include "elf_load.h"
#include "require.h"

static bool is_wanted(const char *name)
{
	return *name == '_';
}

static void ask_for_functions(const struct pl_elf *e)
{
	struct pl_functions *f;
	bool stripped;

	if (pl_functions_create(&f))
		return;
	plumb_error_destroy(pl_functions_add(f, e, &stripped));
	for (uint64_t at = 0; at < 0x4000; at += 0x40)
		pl_functions_find(f, 0x400000 + at, at % 0x80 ? 0x400000 + at : 0);
	pl_functions_keep(f, is_wanted);
	pl_functions_find(f, UINT64_MAX, 0);
	pl_functions_destroy(f);
}

static void lay_out(const struct pl_elf *e)
{
	static const char *const names[] = {"PyType_Ready"};
	struct pl_elf_image i;

	pl_elf_mentions(e, names, 1);
	if (!pl_elf_load(e, 1u << 20, &i))
		return;
	REQUIRE(i.len <= 1u << 20 && i.base % 8 == 0);
	pl_elf_image_deinit(&i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"_PyRuntime", "Py_Version", "PyCode_Type", "_PyThreadState_Current",
					    "interp_head"};
	const uint64_t biases[] = {0, 0x7f0000000000};
	for (int i = 0; i < 2; i++) {
		struct pl_elf_symbol s[5] = {0}, section;
		struct pl_elf *e;
		uint64_t bias;
		struct pl_work work = {.most = 64u << 20};
		struct plumb_error *err = pl_elf_open_loaded(data, size, biases[i], &work, &e);
		if (err) {
			plumb_error_destroy(err);
			continue;
		}
		pl_elf_symbols(e, PL_ELF_DYNAMIC, names, 5, s);
		memset(s, 0, sizeof s);
		pl_elf_symbols(e, PL_ELF_STATIC, names, 5, s);
		pl_elf_section(e, ".PyRuntime", &section);
		pl_elf_bias(e, 0x400000, 0, false, &bias);
		pl_elf_bias(e, 0x400000, 0x1000, true, &bias);
		pl_elf_load_base(e);
		pl_elf_needs(e, "libpython");
		ask_for_functions(e);
		lay_out(e);
		pl_elf_close(e);
	}
	return 0;
}
