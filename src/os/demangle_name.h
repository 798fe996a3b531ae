/* SPDX-License-Identifier: Apache-2.0 */
/* One name, read here and now, without a bound on time. Inside the layer only. */
#ifndef PL_DEMANGLE_NAME_H
#define PL_DEMANGLE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/** As pl_demangle. */
bool pl_demangle_name(const char *symbol, char *buf, size_t size);
#define PL_CYTHON_NAME 512 /* bytes of a name, with its end; longer ones are cut */

/** Of a function that Cython made, what Python calls it, with its module and class: "__pyx_pw_5shape_6Circle_3area" is
 * shape.Circle.area. In time that follows its length. False: it is none, *buf is as it was. */
bool pl_cython_name(const char *symbol, char *buf, size_t size);

/** Leave out of a name of C++ what says nothing: arguments of templates that nobody wrote, versions of the library. */
void pl_shorten_cpp_name(char *name);

#endif
