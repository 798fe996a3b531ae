/* SPDX-License-Identifier: Apache-2.0 */
/* Layer unwind. Pure; allocates only when it is made. Each place has a pair of slots where its rule may be, the one
 * that was kept later first. With a single one two frames that always come together may have to be read from the tables
 * with each sample (Debian's CPython 3.14: half of the time of unwinding). */
#include "rules.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS 4096u /* only those that are used take memory */

struct pl_unwind_rules {
	struct pl_unwind_rule slots[SLOTS];
};

struct plumb_error *pl_unwind_rules_create(struct pl_unwind_rules **ret)
{
	struct pl_unwind_rules *r = calloc(1, sizeof *r);

	if (!r)
		return &pl_err_no_memory;
	*ret = r;
	return NULL;
}

void pl_unwind_rules_destroy(struct pl_unwind_rules *r)
{
	free(r);
}

void pl_unwind_rules_forget(struct pl_unwind_rules *r)
{
	memset(r, 0, sizeof *r);
}

/* The first of the pair. */
static size_t slot_of(pl_addr place)
{
	return (place * UINT64_C(0x9e3779b97f4a7c15)) >> 53 << 1;
}

_Static_assert(SLOTS == 2u << (64 - 53), "the upper bits number the pairs");

const struct pl_unwind_rule *pl_unwind_rules_get(const struct pl_unwind_rules *r, pl_addr place)
{
	if (!r || !place)
		return NULL;
	const struct pl_unwind_rule *pair = &r->slots[slot_of(place)];
	if (pair[0].place == place)
		return &pair[0];
	return pair[1].place == place ? &pair[1] : NULL;
}

static bool fits(int64_t offset)
{
	return offset >= INT32_MIN && offset <= INT32_MAX;
}

static bool add_saved(struct pl_unwind_rule *to, unsigned n, int64_t offset)
{
	if (to->saved == PL_RULE_SAVED || !fits(offset))
		return false;
	to->at[to->saved].reg = (uint8_t)n;
	to->at[to->saved++].offset = (int32_t)offset;
	return true;
}

/* False: it is not of the plain form. */
static bool take_registers(struct pl_unwind_rule *to, const struct pl_unwind_arch *arch, const struct pl_cfi_row *row)
{
	to->root = row->regs[arch->pc].kind == PL_CFI_UNDEFINED;
	for (unsigned n = 0; n < arch->count; n++) {
		const struct pl_cfi_rule *rule = &row->regs[n];
		bool stays = rule->kind == PL_CFI_UNSAID || (to->root && n == arch->pc) ||
			     (rule->kind == PL_CFI_SAME && arch->preserved >> n & 1 && n != arch->sp);

		if (!stays && (rule->kind != PL_CFI_AT || !add_saved(to, n, rule->offset)))
			return false;
	}
	return to->root || row->regs[arch->pc].kind == PL_CFI_AT;
}

void pl_unwind_rules_keep(struct pl_unwind_rules *r, const struct pl_unwind_arch *arch, pl_addr place, uint32_t image,
			  const struct pl_fde *f, const struct pl_cfi_row *row)
{
	struct pl_unwind_rule rule = {.place = place, .function = f->start, .image = image, .signal = f->signal};

	if (!r || row->cfa.kind != PL_CFI_IS || !fits(row->cfa.offset) || f->pc_column != arch->pc)
		return;
	rule.cfa_register = row->cfa.reg;
	rule.cfa_offset = (int32_t)row->cfa.offset;
	if (!take_registers(&rule, arch, row))
		return;
	struct pl_unwind_rule *pair = &r->slots[slot_of(place)];
	pair[1] = pair[0];
	pair[0] = rule;
}
