/* SPDX-License-Identifier: Apache-2.0 */
/* What Python calls the functions of C of a stripped interpreter or extension. docs/design/013-native-stacks.md */
#ifndef PL_NATIVE_METHODS_H
#define PL_NATIVE_METHODS_H

#include "elf_functions.h"

/** Add those that the tables of @p e for Python name, if it has any: as pl_mapped_place.more. */
void pl_native_methods_add(const struct pl_elf *e, struct pl_functions *f);

#endif
