/* SPDX-License-Identifier: Apache-2.0 */
/* Names of instructions as CPython's own collectors write them. Inside the layer only. */
#ifndef PL_OPCODE_NAMES_H
#define PL_OPCODE_NAMES_H

#include "json.h"
#include "opcodes.h"

/** {"names": {number: name}, "deopt": {number: number}}, by number; both empty if @p known is NULL. */
void pl_opcode_mapping_write(struct pl_json *j, const struct pl_opcodes *known);

#endif
