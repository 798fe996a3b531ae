/* SPDX-License-Identifier: Apache-2.0 */
/* The minor releases. Layer: cpython. Constants.
 *
 * A new minor is one row here, or none: it is then taken for the newest row, and used if its debug offsets and its
 * stacks agree with that. docs/internals/cpython.md, "Adding a release". */
#include "minors.h"

#include <stddef.h>

#include "layout.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct pl_minor minors[] = {
	{.version = PL_PY_VERSION(2, 7, 0), .awaited_depth = 1},
	{.version = PL_PY_VERSION(3, 6, 0), .awaited_depth = 1},
	{.version = PL_PY_VERSION(3, 7, 0), .awaited_depth = 1, .task = {72, 104, 112, PL_NONE}},
	{.version = PL_PY_VERSION(3, 8, 0), .awaited_depth = 1, .task = {72, 104, 112, 120}},
	{.version = PL_PY_VERSION(3, 9, 0), .awaited_depth = 1, .task = {80, 144, 152, 160}},
	{.version = PL_PY_VERSION(3, 10, 0), .stack_counted = true, .awaited_depth = 1, .task = {88, 152, 160, 168}},
	{.version = PL_PY_VERSION(3, 11, 0),
	 .stack_counted = true,
	 .suspended = -1, /* SUSPENDED */
	 .locked = -1,
	 .awaited_depth = 1,
	 .task = {88, 128, 136, 144}},
	{.version = PL_PY_VERSION(3, 12, 0),
	 .stack_counted = true,
	 .suspended = -1,
	 .locked = -1,
	 .awaited_depth = 1,
	 .task = {88, 128, 136, 144}},
	{.version = PL_PY_VERSION(3, 13, 0),
	 .offsets = true,
	 .stack_counted = true,
	 .suspended = -1, /* SUSPENDED_YIELD_FROM */
	 .locked = -1,
	 .awaited_depth = 1,
	 .task = {96, 112, 120, 128}},
	{.version = PL_PY_VERSION(3, 14, 0),
	 .offsets = true,
	 .executor = 272,
	 .tstate_size = 832,
	 .suspended = -1,
	 .locked = -1,
	 .awaited_depth = 1,
	 .tasks_described = true},
	{.version = PL_PY_VERSION(3, 15, 0),
	 .offsets = true,
	 .executor = 304,
	 .tstate_size = 888,
	 .suspended = 2,
	 .locked = 3,
	 .executing = 4,
	 .awaited_depth = 2, /* it keeps the index of an iterator above it */
	 .tasks_described = true},
};

const struct pl_minor *pl_minor_newest(void)
{
	return &minors[COUNT(minors) - 1];
}

const struct pl_minor *pl_minor_of(uint32_t version)
{
	const struct pl_minor *newest = pl_minor_newest();

	if (version >> 16 == newest->version >> 16 && version >> 8 > newest->version >> 8)
		return newest;
	for (size_t i = 0; i < COUNT(minors); i++)
		if (minors[i].version >> 8 == version >> 8)
			return &minors[i];
	return NULL;
}
