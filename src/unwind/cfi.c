/* SPDX-License-Identifier: Apache-2.0 */
/* Layer unwind. Pure over pl_mem; allocates nothing. Source: DWARF 5, 6.4.2; GNU extensions: LSB core. */
#include "cfi.h"

#include "bytes.h"
#include "steps.h"

#define REMEMBERED_MAX 8 /* rows; compilers nest one, hand-written code a few */

/* The first three have their operand in the lower six bits. */
enum instruction {
	ADVANCE = 0x40,
	OFFSET = 0x80,
	RESTORE = 0xc0,
	HIGH_BITS = 0xc0,
	NOP = 0x00,
	SET_LOC = 0x01,
	ADVANCE1 = 0x02,
	ADVANCE2 = 0x03,
	ADVANCE4 = 0x04,
	OFFSET_EXTENDED = 0x05,
	RESTORE_EXTENDED = 0x06,
	UNDEFINED = 0x07,
	SAME_VALUE = 0x08,
	REGISTER = 0x09,
	REMEMBER = 0x0a,
	RESTORE_STATE = 0x0b,
	DEF_CFA = 0x0c,
	DEF_CFA_REGISTER = 0x0d,
	DEF_CFA_OFFSET = 0x0e,
	DEF_CFA_EXPRESSION = 0x0f,
	EXPRESSION = 0x10,
	OFFSET_EXTENDED_SF = 0x11,
	DEF_CFA_SF = 0x12,
	DEF_CFA_OFFSET_SF = 0x13,
	VAL_OFFSET = 0x14,
	VAL_OFFSET_SF = 0x15,
	VAL_EXPRESSION = 0x16,
	GNU_ARGS_SIZE = 0x2e,
	GNU_NEGATIVE_OFFSET = 0x2f,
};

struct run {
	const struct pl_fde *f;
	struct pl_bytes b;
	pl_addr location, pc;
	struct pl_cfi_row *row;
	const struct pl_cfi_row *initial; /* what "restore" goes back to; NULL: not there yet */
	struct pl_cfi_row remembered[REMEMBERED_MAX];
	unsigned depth;
	bool beyond; /* what follows holds for later addresses */
	size_t *steps;
};

static bool advance(struct run *r, uint64_t n)
{
	pl_addr to = r->location + n * r->f->code_align;

	if (to < r->location)
		return false;
	r->beyond = to > r->pc;
	r->location = to;
	return true;
}

static bool advance_by(struct run *r, unsigned len)
{
	uint64_t n;

	return pl_bytes_uint(&r->b, len, &n) && advance(r, n);
}

static bool set_location(struct run *r)
{
	pl_addr to;

	if (!pl_bytes_pointer(&r->b, r->f->encoding, 0, &to) || to < r->location)
		return false;
	r->beyond = to > r->pc;
	r->location = to;
	return true;
}

/* One that we do not know (vector registers, the shadow stack pointer) has a rule that nobody asks for: NULL. */
static bool read_register(struct run *r, struct pl_cfi_rule **ret)
{
	uint64_t n;

	if (!pl_bytes_uleb(&r->b, &n))
		return false;
	*ret = n < PL_REGISTERS_MAX ? &r->row->regs[n] : NULL;
	return true;
}

static void set(struct pl_cfi_rule *to, struct pl_cfi_rule rule)
{
	if (to)
		*to = rule;
}

/* An offset in units of the CIE. */
static bool read_factored(struct run *r, bool with_sign, int64_t *ret)
{
	uint64_t n;

	if (with_sign ? !pl_bytes_sleb(&r->b, (int64_t *)&n) : !pl_bytes_uleb(&r->b, &n))
		return false;
	*ret = (int64_t)(n * (uint64_t)r->f->data_align);
	return true;
}

static bool saved(struct run *r, enum pl_cfi_kind kind, bool with_sign, bool negative)
{
	struct pl_cfi_rule *to;
	int64_t offset;

	if (!read_register(r, &to) || !read_factored(r, with_sign, &offset))
		return false;
	set(to, (struct pl_cfi_rule){.kind = kind, .offset = negative ? (int64_t) - (uint64_t)offset : offset});
	return true;
}

static bool saved_in_short(struct run *r, unsigned reg)
{
	int64_t offset;

	if (!read_factored(r, false, &offset))
		return false;
	set(reg < PL_REGISTERS_MAX ? &r->row->regs[reg] : NULL,
	    (struct pl_cfi_rule){.kind = PL_CFI_AT, .offset = offset});
	return true;
}

static void restore(struct run *r, struct pl_cfi_rule *to)
{
	if (to)
		*to = r->initial ? r->initial->regs[to - r->row->regs] : (struct pl_cfi_rule){0};
}

static bool plain(struct run *r, enum pl_cfi_kind kind)
{
	struct pl_cfi_rule *to;

	if (!read_register(r, &to))
		return false;
	set(to, (struct pl_cfi_rule){.kind = kind});
	return true;
}

static bool restore_extended(struct run *r)
{
	struct pl_cfi_rule *to;

	if (!read_register(r, &to))
		return false;
	restore(r, to);
	return true;
}

static bool in_register(struct run *r)
{
	struct pl_cfi_rule *to;
	uint64_t from;

	if (!read_register(r, &to) || !pl_bytes_uleb(&r->b, &from))
		return false;
	set(to, from < PL_REGISTERS_MAX ? (struct pl_cfi_rule){.kind = PL_CFI_REGISTER, .reg = (uint8_t)from}
					: (struct pl_cfi_rule){.kind = PL_CFI_UNDEFINED});
	return true;
}

static bool read_expression(struct run *r, enum pl_cfi_kind kind, struct pl_cfi_rule *to)
{
	uint64_t len;

	if (!pl_bytes_uleb(&r->b, &len))
		return false;
	pl_addr from = r->b.at;
	if (!pl_bytes_skip(&r->b, len))
		return false;
	set(to, (struct pl_cfi_rule){.kind = kind, .expression = {from, from + len}});
	return true;
}

static bool by_expression(struct run *r, enum pl_cfi_kind kind)
{
	struct pl_cfi_rule *to;

	return read_register(r, &to) && read_expression(r, kind, to);
}

/* Register and offset, or one of them; the other stays. */
static bool define_cfa(struct run *r, bool reg, bool offset, bool with_sign)
{
	struct pl_cfi_rule *cfa = &r->row->cfa;
	uint64_t n = cfa->reg, plain_offset;
	int64_t o = cfa->offset;

	if (reg && (!pl_bytes_uleb(&r->b, &n) || n >= PL_REGISTERS_MAX))
		return false;
	if (offset && with_sign && !read_factored(r, true, &o))
		return false;
	if (offset && !with_sign) {
		if (!pl_bytes_uleb(&r->b, &plain_offset))
			return false;
		o = (int64_t)plain_offset;
	}
	if (!(reg && offset) && cfa->kind != PL_CFI_IS)
		return false;
	*cfa = (struct pl_cfi_rule){.kind = PL_CFI_IS, .reg = (uint8_t)n, .offset = o};
	return true;
}

static bool remember(struct run *r)
{
	if (r->depth == REMEMBERED_MAX)
		return false;
	r->remembered[r->depth++] = *r->row;
	return true;
}

static bool recall(struct run *r)
{
	if (r->depth == 0)
		return false;
	*r->row = r->remembered[--r->depth];
	return true;
}

static bool skip_uleb(struct run *r)
{
	uint64_t ignored;

	return pl_bytes_uleb(&r->b, &ignored);
}

static bool cfa_instruction(struct run *r, uint8_t op)
{
	switch (op) {
	case DEF_CFA:
		return define_cfa(r, true, true, false);
	case DEF_CFA_SF:
		return define_cfa(r, true, true, true);
	case DEF_CFA_REGISTER:
		return define_cfa(r, true, false, false);
	case DEF_CFA_OFFSET:
		return define_cfa(r, false, true, false);
	case DEF_CFA_OFFSET_SF:
		return define_cfa(r, false, true, true);
	case DEF_CFA_EXPRESSION:
		return read_expression(r, PL_CFI_IS_EXPRESSION, &r->row->cfa);
	default:
		return false;
	}
}

static bool register_instruction(struct run *r, uint8_t op)
{
	switch (op) {
	case OFFSET_EXTENDED:
		return saved(r, PL_CFI_AT, false, false);
	case OFFSET_EXTENDED_SF:
		return saved(r, PL_CFI_AT, true, false);
	case GNU_NEGATIVE_OFFSET:
		return saved(r, PL_CFI_AT, false, true);
	case VAL_OFFSET:
		return saved(r, PL_CFI_IS, false, false);
	case VAL_OFFSET_SF:
		return saved(r, PL_CFI_IS, true, false);
	case RESTORE_EXTENDED:
		return restore_extended(r);
	case UNDEFINED:
		return plain(r, PL_CFI_UNDEFINED);
	case SAME_VALUE:
		return plain(r, PL_CFI_SAME);
	case REGISTER:
		return in_register(r);
	case EXPRESSION:
		return by_expression(r, PL_CFI_AT_EXPRESSION);
	case VAL_EXPRESSION:
		return by_expression(r, PL_CFI_IS_EXPRESSION);
	default:
		return cfa_instruction(r, op);
	}
}

static bool instruction(struct run *r, uint8_t op)
{
	const uint8_t operand = op & (uint8_t)~HIGH_BITS;

	switch (op & HIGH_BITS) {
	case ADVANCE:
		return advance(r, operand);
	case OFFSET:
		return saved_in_short(r, operand);
	case RESTORE:
		restore(r, operand < PL_REGISTERS_MAX ? &r->row->regs[operand] : NULL);
		return true;
	default:
		break;
	}
	switch (op) {
	case NOP:
		return true;
	case SET_LOC:
		return set_location(r);
	case ADVANCE1:
	case ADVANCE2:
		return advance_by(r, op - ADVANCE1 + 1u);
	case ADVANCE4:
		return advance_by(r, 4);
	case REMEMBER:
		return remember(r);
	case RESTORE_STATE:
		return recall(r);
	case GNU_ARGS_SIZE:
		return skip_uleb(r);
	default:
		return register_instruction(r, op);
	}
}

static bool run(struct run *r, struct pl_mem *mem, const struct pl_cfi_program *p)
{
	uint8_t op;

	pl_bytes_init(&r->b, mem, p->from, p->to);
	while (r->b.at < r->b.end && !r->beyond)
		if (!pl_steps_take(r->steps, 1) || !pl_bytes_u8(&r->b, &op) || !instruction(r, op))
			return false;
	return true;
}

bool pl_cfi_row_at(const struct pl_fde *f, struct pl_mem *mem, pl_addr pc, size_t *steps, struct pl_cfi_row *ret)
{
	struct pl_cfi_row initial;
	struct run r = {.f = f, .location = f->start, .pc = pc, .row = ret};

	r.steps = steps;
	*ret = (struct pl_cfi_row){0};
	if (!run(&r, mem, &f->shared))
		return false;
	initial = *ret;
	r.initial = &initial;
	r.beyond = false;
	r.location = f->start;
	return run(&r, mem, &f->own);
}
