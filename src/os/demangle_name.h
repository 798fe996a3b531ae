/* SPDX-License-Identifier: Apache-2.0 */
/* One name, read here and now, without a bound on time. Inside the layer only. */
#ifndef PL_DEMANGLE_NAME_H
#define PL_DEMANGLE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/** As pl_demangle. */
bool pl_demangle_name(const char *symbol, char *buf, size_t size);
/** Leave out of a name of C++ what says nothing: arguments of templates that nobody wrote, versions of the library. */
void pl_shorten_cpp_name(char *name);

#endif
