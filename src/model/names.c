/* SPDX-License-Identifier: Apache-2.0 */
/* How much the rows of a profile have to tell (layer model). Pure.
 *
 * A name is kept once however many rows have it, and a row is a few bytes of a file. But formats write it for each, and
 * so does who sorts or compares rows read it: a file can be made in which that is far more than all else. */
#include "profile.h"

#define BYTES_FREE (256ull << 20) /* of names that any file may have in its rows */
/* A function's name counts in its locations and stacks as well. What is in one row alone is written as often, and each
 * byte of it may become six in JSON. */
#define COUNTS_ALONE 3
_Static_assert((uint64_t)PL_MAX_EVENT_TEXT *COUNTS_ALONE < BYTES_FREE,
	       "what programs may say, they may say in any file");

static uint64_t string_bytes(const struct plumb_profile *p, uint32_t string)
{
	size_t len;

	(void)pl_strtab_get(p->strings, string, &len);
	return len;
}

static uint64_t function_bytes(const struct plumb_profile *p, uint32_t function)
{
	const struct pl_function *f = &p->functions[function];

	return string_bytes(p, f->name) + string_bytes(p, f->qualname) + string_bytes(p, f->file) +
	       string_bytes(p, f->labels) + string_bytes(p, f->unnamed) + string_bytes(p, f->source);
}

static uint64_t process_bytes(const struct plumb_profile *p, uint32_t process)
{
	const struct pl_process *proc = &p->processes[process];

	return string_bytes(p, proc->program) + string_bytes(p, proc->name) + string_bytes(p, proc->python) +
	       string_bytes(p, proc->host);
}

uint64_t pl_profile_location_bytes(const struct plumb_profile *p, uint32_t location)
{
	return function_bytes(p, p->locations[location].function);
}

static uint64_t lock_bytes(const struct plumb_profile *p, const struct pl_lock_state *l)
{
	return string_bytes(p, l->name) + (l->location ? pl_profile_location_bytes(p, l->location - 1) : 0) +
	       (l->inside ? pl_profile_location_bytes(p, l->inside - 1) : 0);
}

/* Of rows that are in no others. */
static uint64_t bytes_alone(const struct plumb_profile *p)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->process_count; i++)
		sum += process_bytes(p, i);
	for (uint32_t i = 0; i < p->thread_count; i++)
		sum += string_bytes(p, p->threads[i].name) + process_bytes(p, p->threads[i].process);
	for (uint32_t i = 0; i < p->lock_count; i++)
		sum += lock_bytes(p, &p->locks[i]);
	for (uint32_t i = 0; i < p->module_count; i++)
		sum += string_bytes(p, p->modules[i].file) + string_bytes(p, p->modules[i].build_id);
	for (uint32_t i = 0; i < p->event_count; i++)
		sum += string_bytes(p, p->events[i].name) + string_bytes(p, p->events[i].labels);
	return sum;
}

/* There are less than 2^34 rows, and texts are less than 4 GiB: the sum is one of 64 bits but for the longest texts in
 * all rows, which no memory has room for. */
uint64_t pl_profile_name_bytes(const struct plumb_profile *p)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->function_count; i++)
		sum += function_bytes(p, i);
	for (uint32_t i = 0; i < p->location_count; i++)
		sum += pl_profile_location_bytes(p, i);
	for (uint32_t i = 1; i < p->stack_count; i++)
		sum += pl_profile_location_bytes(p, p->stacks[i].location);
	return sum + bytes_alone(p) * COUNTS_ALONE;
}

struct plumb_error *pl_profile_check_names(const struct plumb_profile *p, uint64_t file_bytes, uint64_t a_byte)
{
	uint64_t bytes = pl_profile_name_bytes(p);

	if (bytes <= BYTES_FREE || (bytes - BYTES_FREE) / a_byte <= file_bytes)
		return NULL;
	return pl_error(PLUMB_ERR_LIMIT, "the names in its rows are %.1f GB together, too much for a file of its size",
			(double)bytes / 1e9);
}
