/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an ELF file with debug information. */
#include <stdint.h>
#include <string.h>

#include "dwarf.h"
#include "require.h"

#define WORK_MAX (64u << 20)
#define ASKED	 0x2000 /* addresses, from 0 on */
#define STEP	 7

static void tell(void *ctx, const struct pl_dwarf_place *p)
{
	REQUIRE(!p->file || (*p->file && strlen(p->file) < 4096));
	REQUIRE(!p->function || strlen(p->function) < 65536);
	REQUIRE(p->file || !p->line);
	++*(size_t *)ctx;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pl_work work = {.most = WORK_MAX};
	struct pl_dwarf *d = NULL;
	struct pl_elf *e;
	struct plumb_error *err = pl_elf_open_loaded(data, size, 0, &work, &e);

	if (err) {
		plumb_error_destroy(err);
		return 0;
	}
	err = pl_dwarf_open(e, NULL, &d);
	REQUIRE(!err || err == &pl_err_no_memory);
	pl_elf_close(e);
	for (uint64_t addr = 0; d && addr < ASKED; addr += STEP) {
		size_t told = 0;

		REQUIRE(pl_dwarf_places(d, addr, tell, &told) == told);
	}
	pl_dwarf_close(d);
	REQUIRE(work.spent <= WORK_MAX);
	return 0;
}
