/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile tells (layer export). Read-only.
 *
 * A fact counts as told if leaving it out loses something: one thread needs no name, and what all samples have in
 * common, a weight or a state, tells none from another. */
#include "facts.h"

#include <stddef.h>

static const struct {
	unsigned fact;
	const char *name;
} names[] = {
	{PL_FACT_THREADS, "threads"},	{PL_FACT_PROCESSES, "processes"}, {PL_FACT_STATES, "states"},
	{PL_FACT_WEIGHTS, "weights"},	{PL_FACT_LINES, "lines"},	  {PL_FACT_COLUMNS, "columns"},
	{PL_FACT_OPCODES, "opcodes"},	{PL_FACT_PATHS, "whole stacks"},  {PL_FACT_TIMES, "times"},
	{PL_FACT_QUALITY, "certainty"}, {PL_FACT_LOSSES, "losses"},
};

const char *pl_fact_name(unsigned facts)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if ((facts & -facts) == names[i].fact)
			return names[i].name;
	}
	return NULL;
}

static unsigned of_cells(const struct plumb_profile *p)
{
	unsigned facts = 0;
	double each = p->cell_count ? (double)p->cells[0].weight_ns / (double)p->cells[0].samples : 0;

	for (uint32_t i = 0; i < p->cell_count; i++) {
		const struct pl_cell *c = &p->cells[i];
		double expected = each * (double)c->samples, weight = (double)c->weight_ns;

		facts |= c->thread != p->cells[0].thread ? PL_FACT_THREADS : 0;
		facts |=
			p->threads[c->thread].process != p->threads[p->cells[0].thread].process ? PL_FACT_PROCESSES : 0;
		facts |= c->state != p->cells[0].state ? PL_FACT_STATES : 0;
		facts |= c->quality != p->cells[0].quality ? PL_FACT_QUALITY : 0;
		facts |= weight < 0.999 * expected || weight > 1.001 * expected ? PL_FACT_WEIGHTS : 0;
	}
	return facts;
}

static unsigned of_tables(const struct plumb_profile *p)
{
	unsigned facts = 0;

	for (uint32_t i = 0; i < p->location_count; i++) {
		const struct pl_location *l = &p->locations[i];

		facts |= l->line > 0 ? PL_FACT_LINES : 0;
		facts |= l->column > 0 || l->end_column > 0 ? PL_FACT_COLUMNS : 0;
		facts |= l->opcode ? PL_FACT_OPCODES : 0;
	}
	for (uint32_t i = 0; i < p->stack_count; i++)
		facts |= p->stacks[i].depth > 2 ? PL_FACT_PATHS : 0;
	for (int i = 0; i < PL_LOSSES; i++)
		facts |= p->meta.losses[i] ? PL_FACT_LOSSES : 0;
	return facts;
}

unsigned pl_facts_of(const struct plumb_profile *p)
{
	return of_cells(p) | of_tables(p) | (pl_profile_is_timed(p) ? PL_FACT_TIMES : 0);
}
