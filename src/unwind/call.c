/* SPDX-License-Identifier: Apache-2.0 */
/* Layer unwind. Pure over pl_mem. Source: Intel SDM, volume 2: CALL (e8, ff /2). */
#include "call.h"

#include <string.h>

#include "epilogue.h"
#include "steps.h"

#define CALL_BYTES   7 /* the longest call: a prefix, opcode, ModRM, displacement */
#define DIRECT_BYTES 5 /* e8 and how far it is */
#define BETWEEN_MAX  512
#define STEPS	     100 /* a read of memory that nobody has a copy of */

static bool read_before(struct pl_mem *mem, pl_addr pc, uint8_t *ret, size_t len)
{
	return pc > len && pl_mem_get(mem, pc - len, ret, len);
}

bool pl_call_before(struct pl_mem *mem, pl_addr pc)
{
	uint8_t b[CALL_BYTES];

	if (!read_before(mem, pc, b, sizeof b))
		return false;
	if (b[CALL_BYTES - DIRECT_BYTES] == 0xe8)
		return true;
	for (int len = 2; len <= CALL_BYTES; len++) {
		uint8_t opcode = b[CALL_BYTES - len], modrm = b[CALL_BYTES - len + 1];

		if (opcode == 0xff && (modrm >> 3 & 7) == 2)
			return true;
	}
	return false;
}

bool pl_call_leads_to(struct pl_mem *mem, pl_addr pc, pl_addr function)
{
	uint8_t b[DIRECT_BYTES];
	int32_t distance;

	if (!read_before(mem, pc, b, sizeof b) || b[0] != 0xe8)
		return false;
	memcpy(&distance, b + 1, sizeof distance);
	return pc + (uint64_t)(int64_t)distance == function;
}

/* Of the word at @p word: it has to do nothing but return, by the one at @p at. */
static bool returns_by(struct pl_unwinder *u, pl_addr word, pl_addr pc, pl_addr at)
{
	const struct pl_native_frame f = {.pc = pc, .sp = word + 8};
	struct pl_registers regs = {0};
	uint64_t sp;

	pl_register_set(&regs, u->arch->sp, f.sp);
	return pl_epilogue_follow(u, &f, &regs) && pl_register_get(&regs, u->arch->sp, &sp) && sp == at + 8;
}

bool pl_call_is_only(struct pl_unwinder *u, pl_addr sp, pl_addr at)
{
	uint64_t pc;

	if (!u->code || sp % 8 || at < sp || at - sp > BETWEEN_MAX)
		return false;
	for (pl_addr word = sp; word < at; word += 8) {
		if (!pl_steps_take(&u->steps, STEPS) || !pl_mem_get_u64(u->mem, word, &pc))
			return false;
		if (pl_call_before(u->code, pc) && !returns_by(u, word, pc, at))
			return false;
	}
	return true;
}
