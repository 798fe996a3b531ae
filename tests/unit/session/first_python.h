/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter for tests that need only one: the first of PLUMB_TEST_PYTHONS, else Debian's. */
#ifndef PL_TEST_FIRST_PYTHON_H
#define PL_TEST_FIRST_PYTHON_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline char *python(void)
{
	static char exe[512];
	const char *list = getenv("PLUMB_TEST_PYTHONS");

	list = list && *list ? list : "/usr/bin/python3";
	snprintf(exe, sizeof exe, "%.*s", (int)strcspn(list, ":"), list);
	return exe;
}

#endif
