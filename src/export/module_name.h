/* SPDX-License-Identifier: Apache-2.0 */
/* The module that a source file is, as far as its path tells. Inside the layer only. */
#ifndef PL_MODULE_NAME_H
#define PL_MODULE_NAME_H

#include "buf.h"
#include "frame_name.h"

/** Append the dotted name: of "/usr/lib/python3.15/json/decoder.py" it is "json.decoder", of a file elsewhere it is its
 * whole path, of no file "unknown". */
struct plumb_error *pl_module_name_add(struct pl_buf *b, struct pl_text file) PLUMB_MUST_CHECK;
/** The package that it is of, or the module if it is of none: "json", a part of @p file. Of a frozen module, too; of a
 * file elsewhere its name without ".py". */
struct pl_text pl_module_package(struct pl_text file);

#endif
