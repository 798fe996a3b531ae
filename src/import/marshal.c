/* SPDX-License-Identifier: Apache-2.0 */
/* Layer import; any thread. The codes are those of Python/marshal.c: each object is one byte that says what it is, with
 * the highest bit set (from version 3 on) if the object has a number by which it is referred to later. Containers get
 * their number before what they hold. Nothing is nested here: a token is one object or the head of a container. */
#include "marshal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLAG_REF 0x80

void pl_marshal_init(struct pl_marshal *m, const uint8_t *bytes, size_t len)
{
	*m = (struct pl_marshal){.in = {.p = bytes, .end = bytes + len}, .start = bytes};
}

void pl_marshal_deinit(struct pl_marshal *m)
{
	pl_vec_deinit(&m->refs);
	pl_vec_deinit(&m->interned);
}

struct plumb_error *pl_marshal_fail(const struct pl_marshal *m, const char *what)
{
	return pl_error(PLUMB_ERR_CORRUPT, "byte %zu: %s", (size_t)(m->in.p - m->start), what);
}

static struct plumb_error *ends(const struct pl_marshal *m)
{
	return pl_error(PLUMB_ERR_TRUNCATED, "byte %zu: the data ends in the middle of an object",
			(size_t)(m->in.p - m->start));
}

static struct plumb_error *read_text(struct pl_marshal *m, bool is_short, struct pl_marshal_token *t)
{
	uint8_t byte = 0;

	t->kind = PL_MARSHAL_TEXT;
	if (is_short ? !pl_cursor_u8(&m->in, &byte) : !pl_cursor_u32(&m->in, &t->count))
		return ends(m);
	t->count = is_short ? byte : t->count;
	return pl_cursor_bytes(&m->in, t->count, &t->text) ? NULL : ends(m);
}

static struct plumb_error *read_tuple(struct pl_marshal *m, bool is_short, struct pl_marshal_token *t)
{
	uint8_t byte = 0;

	t->kind = PL_MARSHAL_TUPLE;
	if (is_short ? !pl_cursor_u8(&m->in, &byte) : !pl_cursor_u32(&m->in, &t->count))
		return ends(m);
	t->count = is_short ? byte : t->count;
	/* An item is at least a byte. */
	return t->count <= pl_cursor_left(&m->in) ? NULL : ends(m);
}

static struct plumb_error *read_int(struct pl_marshal *m, bool is_64, struct pl_marshal_token *t)
{
	uint32_t low, high;

	t->kind = PL_MARSHAL_INT;
	if (!pl_cursor_u32(&m->in, &low) || (is_64 && !pl_cursor_u32(&m->in, &high)))
		return ends(m);
	t->number = is_64 ? (double)(int64_t)((uint64_t)high << 32 | low) : (double)(int32_t)low;
	return NULL;
}

/* Digits of 15 bits, the lowest first; a negative count is the sign. */
static struct plumb_error *read_long(struct pl_marshal *m, struct pl_marshal_token *t)
{
	uint32_t raw, count;
	const uint8_t *digits;

	t->kind = PL_MARSHAL_INT;
	if (!pl_cursor_u32(&m->in, &raw))
		return ends(m);
	count = raw & 0x80000000u ? -raw : raw;
	if (!pl_cursor_bytes(&m->in, (size_t)count * 2, &digits))
		return ends(m);
	for (uint32_t i = 0; i < count && i < 64; i++)
		t->number += ldexp((double)(digits[2 * i] | digits[2 * i + 1] << 8), (int)(15 * i));
	if (count > 64)
		return pl_marshal_fail(m, "a number has more than 64 digits");
	t->number = raw & 0x80000000u ? -t->number : t->number;
	return NULL;
}

static struct plumb_error *read_float(struct pl_marshal *m, struct pl_marshal_token *t)
{
	uint64_t bits;

	t->kind = PL_MARSHAL_FLOAT;
	if (!pl_cursor_u64(&m->in, &bits))
		return ends(m);
	memcpy(&t->number, &bits, sizeof t->number);
	return NULL;
}

/* Of versions 0 and 1: decimal digits. */
static struct plumb_error *read_float_text(struct pl_marshal *m, struct pl_marshal_token *t)
{
	uint8_t len;
	const uint8_t *digits;
	char text[256], *end;

	t->kind = PL_MARSHAL_FLOAT;
	if (!pl_cursor_u8(&m->in, &len) || !pl_cursor_bytes(&m->in, len, &digits))
		return ends(m);
	memcpy(text, digits, len);
	text[len] = '\0';
	t->number = strtod(text, &end);
	return len && end == text + len ? NULL : pl_marshal_fail(m, "a number is none");
}

static struct plumb_error *read_again(struct pl_marshal *m, bool interned, struct pl_marshal_token *t)
{
	size_t known = interned ? m->interned.len : m->refs.len;
	uint32_t number;

	if (!pl_cursor_u32(&m->in, &number))
		return ends(m);
	if (number >= known)
		return pl_marshal_fail(m, "an object refers to one that has not come yet");
	*t = interned ? m->interned.data[number] : m->refs.data[number];
	t->ref = PL_MARSHAL_NO_REF;
	t->interned = false; /* if it has a number itself, that is one of `refs` */
	/* A container that its reader did not keep cannot be read twice. */
	if (t->kind == PL_MARSHAL_TUPLE || t->kind == PL_MARSHAL_DICT)
		t->kind = PL_MARSHAL_OTHER;
	return NULL;
}

static struct plumb_error *read_object(struct pl_marshal *m, uint8_t code, struct pl_marshal_token *t)
{
	switch (code) {
	case '0':
		t->kind = PL_MARSHAL_END;
		return NULL;
	case 'N':
	case 'T':
	case 'F':
	case 'S':
	case '.':
		return NULL;
	case 'i':
		return read_int(m, false, t);
	case 'I':
		return read_int(m, true, t);
	case 'l':
		return read_long(m, t);
	case 'g':
		return read_float(m, t);
	case 'f':
		return read_float_text(m, t);
	case 's':
	case 't':
	case 'u':
	case 'a':
	case 'A':
		return read_text(m, false, t);
	case 'z':
	case 'Z':
		return read_text(m, true, t);
	case '(':
	case '[':
		return read_tuple(m, false, t);
	case ')':
		return read_tuple(m, true, t);
	case '{':
		t->kind = PL_MARSHAL_DICT;
		return NULL;
	case 'r':
	case 'R':
		return read_again(m, code == 'R', t);
	default:
		return pl_marshal_fail(m, "an object of a kind that profiles do not have");
	}
}

struct plumb_error *pl_marshal_next(struct pl_marshal *m, struct pl_marshal_token *ret)
{
	struct pl_marshal_token t = {.ref = PL_MARSHAL_NO_REF};
	struct plumb_error *err;
	uint8_t code;

	if (!pl_cursor_u8(&m->in, &code))
		return ends(m);
	err = read_object(m, code & ~FLAG_REF, &t);
	if (err)
		return err;
	if (code & FLAG_REF && (code & ~FLAG_REF) != 'r') {
		t.ref = (uint32_t)m->refs.len;
		if (!pl_vec_push(&m->refs, t))
			return &pl_err_no_memory;
	} else if (code == 't') {
		t.ref = (uint32_t)m->interned.len;
		t.interned = true;
		if (!pl_vec_push(&m->interned, t))
			return &pl_err_no_memory;
	}
	*ret = t;
	return NULL;
}

void pl_marshal_keep(struct pl_marshal *m, uint32_t ref, uint32_t kept)
{
	if (ref < m->refs.len)
		m->refs.data[ref] = (struct pl_marshal_token){.kind = PL_MARSHAL_KEPT, .kept = kept, .ref = ref};
}

void pl_marshal_keep_text(struct pl_marshal *m, const struct pl_marshal_token *t, uint32_t kept)
{
	size_t known = t->interned ? m->interned.len : m->refs.len;
	struct pl_marshal_token *there = t->interned ? m->interned.data : m->refs.data;

	if (t->ref >= known)
		return;
	there[t->ref].kept = kept;
	there[t->ref].has_kept = true;
}
