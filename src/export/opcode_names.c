/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions by number, as CPython's collectors tell them (layer export). */
#include "opcode_names.h"

static void key_number(struct pl_json *j, size_t number)
{
	char key[24];

	snprintf(key, sizeof key, "%zu", number);
	pl_json_key(j, key);
}

/* What has no name has its number in brackets: Python's `opcode.opname`. */
static void put_names(struct pl_json *j, const struct pl_opcodes *known)
{
	char none[24];

	for (size_t i = 0; i < known->count; i++) {
		snprintf(none, sizeof none, "<%zu>", i);
		key_number(j, i);
		pl_json_str(j, known->rows[i].name ? known->rows[i].name : none);
	}
}

static void put_bases(struct pl_json *j, const struct pl_opcodes *known)
{
	for (size_t i = 0; i < known->count; i++) {
		if (!known->rows[i].name || known->rows[i].base == i)
			continue;
		key_number(j, i);
		pl_json_u64(j, known->rows[i].base);
	}
}

void pl_opcode_mapping_write(struct pl_json *j, const struct pl_opcodes *known)
{
	pl_json_object(j);
	pl_json_key(j, "names");
	pl_json_object(j);
	if (known)
		put_names(j, known);
	pl_json_object_end(j);
	pl_json_key(j, "deopt");
	pl_json_object(j);
	if (known)
		put_bases(j, known);
	pl_json_object_end(j);
	pl_json_object_end(j);
}
