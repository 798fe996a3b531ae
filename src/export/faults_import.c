/* SPDX-License-Identifier: Apache-2.0 */
/* The rule of imports: they took much of the time, with all that the code of modules does. Layer export; pure. */
#include "faults.h"

#include <stdlib.h>

#include "frame_name.h"

#define IMPORT_MUCH 0.3

/* By stack: whether an import led to it. NULL: no memory. */
static bool *mark_imports(const struct plumb_profile *p)
{
	bool *imports = calloc((size_t)p->stack_count + 1, sizeof *imports);

	for (uint32_t i = 1; i < p->stack_count && imports; i++) {
		const struct pl_function *f = &p->functions[p->locations[p->stacks[i].location].function];

		imports[i] = imports[p->stacks[i].parent] ||
			     pl_frame_is(p, f, "_find_and_load", "<frozen importlib._bootstrap>");
	}
	return imports;
}

static enum pl_cell_kind kind_of(const void *ctx, const struct pl_cell *c)
{
	const bool *imports = ctx;

	return imports[c->stack] ? PL_CELL_HIT : PL_CELL_REST;
}

struct plumb_error *pl_fault_rule_import(const struct pl_fault_case *c, struct pl_faults *faults)
{
	struct pl_share took;
	bool *imports = mark_imports(c->p);
	struct plumb_error *err = imports ? pl_view_share(c->p, c->filter, kind_of, imports, &took) : &pl_err_no_memory;

	if (!err && pl_fault_is_sure(&took, IMPORT_MUCH)) {
		struct pl_fault *fault = pl_fault_add(faults, "import", took.share);

		pl_fault_say(fault, "imports took %.0f %% of the time", took.share * 100);
		pl_fault_figure(fault, "took", took.share);
	}
	free(imports);
	return err;
}
