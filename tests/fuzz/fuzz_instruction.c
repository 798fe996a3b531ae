/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as instructions, and as a function that has no table, with the bytes as its stack, too. */
#include <stdint.h>
#include <string.h>

#include "effect.h"
#include "require.h"
#include "return_path.h"

#define STEPS 20000

struct bytes {
	struct pl_mem mem;
	const uint8_t *data;
	size_t size;
};

/* At 4096. */
static struct plumb_error *bytes_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	const struct bytes *b = (const struct bytes *)mem;

	if (addr < 4096 || addr - 4096 > b->size || len > b->size - (addr - 4096))
		return &pl_err_unreadable;
	memcpy(dst, b->data + (addr - 4096), len);
	return NULL;
}

static void read_all(const uint8_t *data, size_t size)
{
	uint8_t code[PL_INSTRUCTION_MAX];
	struct pl_instruction in;
	uint64_t n;

	for (size_t at = 0; at < size; at += in.len) {
		const size_t left = size - at < sizeof code ? size - at : sizeof code;

		memset(code, 0, sizeof code);
		memcpy(code, data + at, left);
		if (!pl_instruction_read(code, &in))
			return;
		REQUIRE(in.len > 0 && in.len <= PL_INSTRUCTION_MAX);
		REQUIRE(in.reg < 16 && in.rm < 16 && in.other < 16);
		REQUIRE(pl_effect_of(&in, &n) <= PL_EFFECT_UNTOLD);
		(void)pl_effect_written(&in);
	}
}

static void return_from(const uint8_t *data, size_t size)
{
	static const struct pl_mem_ops ops = {.read = bytes_read};
	struct bytes b = {.mem = {&ops}, .data = data, .size = size};
	struct pl_unwinder u = {.mem = &b.mem, .code = &b.mem, .arch = &pl_unwind_x86_64, .steps = STEPS};
	const struct pl_native_frame f = {.pc = 4096, .flags = PL_NATIVE_EXACT_PC};
	struct pl_registers regs = {0};
	uint64_t sp;

	pl_register_set(&regs, PL_X86_64_RSP, 4096 + size / 2);
	pl_register_set(&regs, PL_X86_64_RBP, 4096 + size / 2);
	if (pl_return_path_follow(&u, &f, &regs))
		REQUIRE(pl_register_get(&regs, PL_X86_64_RSP, &sp) && sp > 4096 + size / 2 && sp <= 4096 + size);
	REQUIRE(u.steps <= STEPS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_all(data, size);
	return_from(data, size);
	return 0;
}
