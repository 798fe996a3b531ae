/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of C that an interpreter or an extension offers to Python, by its tables: what Python calls them, where
 * a file has no symbols. Pure over the bytes of a file; they are hostile. */
#ifndef PL_C_FUNCTIONS_H
#define PL_C_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A file as it is laid out in memory, with pointers in its data to itself. */
struct pl_c_file {
	const uint8_t *bytes;
	size_t len;
	uint64_t base;		 /* address of the first byte */
	uint64_t code, code_end; /* what may be executed */
};

/** Who takes a function: `sorted`, `str.join`, `map.__next__`; @p name is valid until it returns. False: no more. */
struct pl_c_function_sink {
	bool (*take)(struct pl_c_function_sink *sink, uint64_t addr, const char *name);
	size_t tries; /* told at the end: how many places were looked at; some 50 ns each */
};

/** Each function once. A function that several types have as their own has no type in its name. */
void pl_c_functions_find(const struct pl_c_file *f, struct pl_c_function_sink *sink);

#endif
