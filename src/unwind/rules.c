/* SPDX-License-Identifier: Apache-2.0 */
/* Layer unwind. Pure; allocates only when it is made. Each place has one slot where its rule may be: one that needs the
 * slot takes the place of the other. */
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

static size_t slot_of(pl_addr place)
{
	return (place * UINT64_C(0x9e3779b97f4a7c15)) >> 52;
}

_Static_assert(SLOTS == 1u << (64 - 52), "the upper bits number the slots");

const struct pl_unwind_rule *pl_unwind_rules_get(const struct pl_unwind_rules *r, pl_addr place)
{
	const struct pl_unwind_rule *rule = r ? &r->slots[slot_of(place)] : NULL;

	return rule && rule->place == place && place ? rule : NULL;
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
	for (unsigned n = 0; n < arch->count; n++) {
		const struct pl_cfi_rule *rule = &row->regs[n];
		bool stays = rule->kind == PL_CFI_UNSAID ||
			     (rule->kind == PL_CFI_SAME && arch->preserved >> n & 1 && n != arch->sp);

		if (!stays && (rule->kind != PL_CFI_AT || !add_saved(to, n, rule->offset)))
			return false;
	}
	return row->regs[arch->pc].kind == PL_CFI_AT;
}

void pl_unwind_rules_keep(struct pl_unwind_rules *r, const struct pl_unwind_arch *arch, pl_addr place, uint32_t image,
			  const struct pl_fde *f, const struct pl_cfi_row *row)
{
	struct pl_unwind_rule rule = {.place = place, .function = f->start, .image = image, .signal = f->signal};

	if (!r || row->cfa.kind != PL_CFI_IS || !fits(row->cfa.offset) || f->pc_column != arch->pc)
		return;
	rule.cfa_register = row->cfa.reg;
	rule.cfa_offset = (int32_t)row->cfa.offset;
	if (take_registers(&rule, arch, row))
		r->slots[slot_of(place)] = rule;
}
