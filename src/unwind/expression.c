/* SPDX-License-Identifier: Apache-2.0 */
/* Layer unwind. Pure over pl_mem; allocates nothing. Source: DWARF 5, 2.5 and 7.7.1. */
#include "expression.h"

#include "bytes.h"

#define STACK_MAX 64
#define STEPS_MAX 1000 /* jumps may go back */

enum op {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST8S = 0x0f,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_PICK = 0x15,
	OP_SWAP = 0x16,
	OP_ROT = 0x17,
	OP_ABS = 0x19,
	OP_AND = 0x1a,
	OP_DIV = 0x1b,
	OP_MINUS = 0x1c,
	OP_MOD = 0x1d,
	OP_MUL = 0x1e,
	OP_NEG = 0x1f,
	OP_NOT = 0x20,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_XOR = 0x27,
	OP_BRA = 0x28,
	OP_EQ = 0x29,
	OP_GE = 0x2a,
	OP_GT = 0x2b,
	OP_LE = 0x2c,
	OP_LT = 0x2d,
	OP_NE = 0x2e,
	OP_SKIP = 0x2f,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
};

struct machine {
	struct pl_mem *mem;
	const struct pl_registers *regs;
	struct pl_bytes b;
	pl_addr from; /* of the expression */
	uint64_t stack[STACK_MAX];
	unsigned depth;
};

static bool push(struct machine *m, uint64_t v)
{
	if (m->depth == STACK_MAX)
		return false;
	m->stack[m->depth++] = v;
	return true;
}

static bool pop(struct machine *m, uint64_t *ret)
{
	if (m->depth == 0)
		return false;
	*ret = m->stack[--m->depth];
	return true;
}

/* The one that is @p down below the topmost. */
static bool pick(struct machine *m, uint64_t down)
{
	return down < m->depth && push(m, m->stack[m->depth - 1 - down]);
}

static bool swap(struct machine *m)
{
	uint64_t a, b;

	return pop(m, &a) && pop(m, &b) && push(m, a) && push(m, b);
}

/* The topmost becomes the third. */
static bool rotate(struct machine *m)
{
	uint64_t a, b, c;

	return pop(m, &a) && pop(m, &b) && pop(m, &c) && push(m, a) && push(m, c) && push(m, b);
}

static bool deref(struct machine *m, unsigned len)
{
	uint64_t addr, v = 0;

	if (len > sizeof v || !pop(m, &addr))
		return false;
	return pl_mem_get(m->mem, addr, &v, len) && push(m, v);
}

static bool with_register(struct machine *m, uint64_t n)
{
	uint64_t v;
	int64_t offset;

	return pl_bytes_sleb(&m->b, &offset) && n < PL_REGISTERS_MAX && pl_register_get(m->regs, (unsigned)n, &v) &&
	       push(m, v + (uint64_t)offset);
}

/* const1u, const1s, const2u, ... const8s */
static bool constant(struct machine *m, uint8_t op)
{
	unsigned len = 1u << (op - OP_CONST1U) / 2;
	uint64_t v;

	if ((op - OP_CONST1U) % 2 ? !pl_bytes_int(&m->b, len, (int64_t *)&v) : !pl_bytes_uint(&m->b, len, &v))
		return false;
	return push(m, v);
}

static bool jump(struct machine *m, bool conditional)
{
	uint64_t condition = 1;
	int64_t distance;

	if (!pl_bytes_int(&m->b, 2, &distance) || (conditional && !pop(m, &condition)))
		return false;
	if (!condition)
		return true;
	pl_addr to = m->b.at + (uint64_t)distance;
	if (to < m->from || to > m->b.end)
		return false;
	m->b.at = to;
	return true;
}

static bool unary(struct machine *m, uint8_t op)
{
	uint64_t v, n = 0;

	if ((op == OP_PLUS_UCONST && !pl_bytes_uleb(&m->b, &n)) || !pop(m, &v))
		return false;
	switch (op) {
	case OP_ABS:
		return push(m, (int64_t)v < 0 ? -v : v);
	case OP_NEG:
		return push(m, -v);
	case OP_NOT:
		return push(m, ~v);
	default:
		return push(m, v + n);
	}
}

static bool divide(struct machine *m, bool modulo, uint64_t a, uint64_t b)
{
	if (b == 0)
		return false;
	if (modulo)
		return push(m, a % b);
	return push(m, b == UINT64_MAX ? -a : (uint64_t)((int64_t)a / (int64_t)b));
}

static bool compare(struct machine *m, uint8_t op, int64_t a, int64_t b)
{
	switch (op) {
	case OP_EQ:
		return push(m, a == b);
	case OP_GE:
		return push(m, a >= b);
	case OP_GT:
		return push(m, a > b);
	case OP_LE:
		return push(m, a <= b);
	case OP_LT:
		return push(m, a < b);
	default:
		return push(m, a != b);
	}
}

static bool binary(struct machine *m, uint8_t op)
{
	uint64_t a, b;

	if (!pop(m, &b) || !pop(m, &a))
		return false;
	switch (op) {
	case OP_AND:
		return push(m, a & b);
	case OP_DIV:
	case OP_MOD:
		return divide(m, op == OP_MOD, a, b);
	case OP_MINUS:
		return push(m, a - b);
	case OP_MUL:
		return push(m, a * b);
	case OP_OR:
		return push(m, a | b);
	case OP_PLUS:
		return push(m, a + b);
	case OP_SHL:
		return push(m, b < 64 ? a << b : 0);
	case OP_SHR:
		return push(m, b < 64 ? a >> b : 0);
	case OP_SHRA:
		return push(m, (uint64_t)((int64_t)a >> (b < 64 ? b : 63)));
	case OP_XOR:
		return push(m, a ^ b);
	default:
		return compare(m, op, (int64_t)a, (int64_t)b);
	}
}

static bool with_operand(struct machine *m, uint8_t op)
{
	uint64_t n;
	uint8_t small;

	switch (op) {
	case OP_ADDR:
		return pl_bytes_uint(&m->b, 8, &n) && push(m, n);
	case OP_CONSTU:
		return pl_bytes_uleb(&m->b, &n) && push(m, n);
	case OP_CONSTS:
		return pl_bytes_sleb(&m->b, (int64_t *)&n) && push(m, n);
	case OP_PICK:
		return pl_bytes_u8(&m->b, &small) && pick(m, small);
	case OP_BREGX:
		return pl_bytes_uleb(&m->b, &n) && with_register(m, n);
	case OP_DEREF_SIZE:
		return pl_bytes_u8(&m->b, &small) && deref(m, small);
	default:
		return false;
	}
}

static bool step(struct machine *m, uint8_t op)
{
	uint64_t dropped;

	if (op >= OP_LIT0 && op <= OP_LIT31)
		return push(m, op - OP_LIT0);
	if (op >= OP_BREG0 && op <= OP_BREG31)
		return with_register(m, op - OP_BREG0);
	if (op >= OP_CONST1U && op <= OP_CONST8S)
		return constant(m, op);
	switch (op) {
	case OP_NOP:
		return true;
	case OP_DEREF:
		return deref(m, 8);
	case OP_DUP:
		return pick(m, 0);
	case OP_OVER:
		return pick(m, 1);
	case OP_DROP:
		return pop(m, &dropped);
	case OP_SWAP:
		return swap(m);
	case OP_ROT:
		return rotate(m);
	case OP_SKIP:
	case OP_BRA:
		return jump(m, op == OP_BRA);
	case OP_ABS:
	case OP_NEG:
	case OP_NOT:
	case OP_PLUS_UCONST:
		return unary(m, op);
	default:
		return op >= OP_AND && op <= OP_NE ? binary(m, op) : with_operand(m, op);
	}
}

bool pl_expression_eval(const struct pl_expression *e, struct pl_mem *mem, const struct pl_registers *regs,
			const uint64_t *start, size_t *steps, uint64_t *ret)
{
	struct machine m = {.mem = mem, .regs = regs, .from = e->from};
	uint8_t op;

	pl_bytes_init(&m.b, mem, e->from, e->to);
	if (start)
		(void)push(&m, *start);
	for (int i = 0; m.b.at < m.b.end; i++)
		if (i == STEPS_MAX || !pl_steps_take(steps, 1) || !pl_bytes_u8(&m.b, &op) || !step(&m, op))
			return false;
	return pop(&m, ret);
}
