/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an ELF file: every question that attaching asks of one. */
#include <stdint.h>
#include <string.h>

#include "elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"_PyRuntime", "Py_Version", "PyCode_Type", "_PyThreadState_Current",
					    "interp_head"};
	const uint64_t biases[] = {0, 0x7f0000000000};
	for (int i = 0; i < 2; i++) {
		struct pl_elf_symbol s[5] = {0}, section;
		struct pl_elf *e;
		uint64_t bias;
		struct plumb_error *err = pl_elf_open_loaded(data, size, biases[i], NULL, &e);
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
		pl_elf_close(e);
	}
	return 0;
}
