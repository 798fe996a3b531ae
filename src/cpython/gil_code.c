/* SPDX-License-Identifier: Apache-2.0 */
/* Where the GIL of a stripped 2.7 is. Layer: cpython. Pure; any thread.
 *
 * `interpreter_lock` is a static variable. PyEval_ThreadsInitialized is exported, and all it does is
 * `return interpreter_lock != 0`: the one word of memory that it names is the variable. */
#include "gil_code.h"

#include <string.h>

static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
static const uint8_t clear_eax[] = {0x31, 0xc0};
static const uint8_t compare_word[] = {0x48, 0x83, 0x3d}; /* cmpq $0, displacement(%rip) */
static const uint8_t load_word[] = {0x48, 0x8b, 0x05};	  /* mov displacement(%rip), %rax */
static const uint8_t test_rax[] = {0x48, 0x85, 0xc0};
static const uint8_t set_not_equal[] = {0x0f, 0x95, 0xc0}; /* setne %al */

/* Step over @p bytes at *at if they are there. */
static bool skip(const uint8_t *code, size_t *at, const uint8_t *bytes, size_t n)
{
	if (*at + n > PL_GIL_CODE_BYTES || memcmp(code + *at, bytes, n) != 0)
		return false;
	*at += n;
	return true;
}

static int32_t displacement(const uint8_t *code, size_t *at)
{
	int32_t value;

	memcpy(&value, code + *at, sizeof value);
	*at += sizeof value;
	return value;
}

pl_addr pl_gil_lock_in_code(const uint8_t code[static PL_GIL_CODE_BYTES], pl_addr function)
{
	static const uint8_t zero = 0;
	pl_addr next; /* a displacement counts from the next instruction */
	int32_t away;
	size_t at = 0;
	bool tested;

	skip(code, &at, endbr64, sizeof endbr64);
	skip(code, &at, clear_eax, sizeof clear_eax);
	if (skip(code, &at, compare_word, sizeof compare_word)) {
		away = displacement(code, &at);
		tested = skip(code, &at, &zero, 1);
		next = function + at;
	} else if (skip(code, &at, load_word, sizeof load_word)) {
		away = displacement(code, &at);
		next = function + at;
		tested = skip(code, &at, test_rax, sizeof test_rax);
	} else {
		return 0;
	}
	return tested && skip(code, &at, set_not_equal, sizeof set_not_equal) ? next + (pl_addr)(int64_t)away : 0;
}
