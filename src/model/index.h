/* SPDX-License-Identifier: Apache-2.0 */
/* Private to src/model: the hash maps and capacities behind the tables of a profile.
 *
 * Every key is exact: all fields of the row are compared, so that two different rows cannot meet in one entry. Stacks
 * and cells, of which there are millions, are compared where they are (row_index.h); the maps of the others hold their
 * keys. Rows wider than the 128 bits of a key are interned in two steps: a part of the fields gets an id of its
 * own (`names`, `spans`), and the row is keyed by that id and the remaining fields. */
#ifndef PL_MODEL_INDEX_H
#define PL_MODEL_INDEX_H

#include "map.h"
#include "profile.h"
#include "row_index.h"
#include "sum.h"

struct pl_profile_index {
	struct pl_map names; /* (name, qualname, file) -> id of the triple */
	struct pl_map functions;
	struct pl_map spans; /* (end_line, column, end_column) -> id of the triple */
	struct pl_map hosts; /* (pid, host, program + 1 or 0) -> id of the triple */
	struct pl_map pids;  /* (pid, host) of each process -> the last of them */
	struct pl_map uses;  /* pid -> how many processes have it */
	struct pl_map locations, threads, processes, sources, waits; /* waits: (stack, thread, what) */
	struct pl_map modules; /* (file, build-id) -> row; (file, 0) -> the build-id that is told, 0: several */
	struct pl_map events;  /* process -> how many it has */
	uint64_t event_text;   /* bytes of PL_MAX_EVENT_TEXT that they take */
	struct pl_row_index stacks, locks;
	struct pl_row_index
		cells[PL_BATCHES]; /* of each batch: time passes, so only one of them has to be in the cache */
	uint32_t cells_indexed;	   /* so many are in it; what was appended since is, when a cell is looked for */
	size_t function_cap, location_cap, stack_cap, thread_cap, process_cap, source_cap, module_cap, cell_cap,
		wait_cap, lock_cap, event_cap;
	uint64_t *thread_weight_ns; /* sum over the cells of each thread; parallel to the thread table */
	size_t thread_weight_cap;
	unsigned batch_shift; /* batch_ns == 1 << batch_shift */
	uint32_t max_cells;   /* with more, batches are made longer; 0: no limit */
	uint32_t last_cell;   /* the cell the last sample fell into, PL_NO_CELL at first */
	bool held;	      /* no new rows: pl_profile_hold */
};

#define PL_NO_CELL UINT32_MAX

/** The hash of a stack in index->stacks. */
static inline uint32_t pl_stack_hash(uint32_t parent, uint32_t location)
{
	return pl_row_hash((uint64_t)parent << 32 | location, 0);
}

/** Make room for one more row of a table; ids are 32 bits wide. */
struct plumb_error *pl_table_room(void **rows, size_t *cap, uint32_t count, size_t row_size) PLUMB_MUST_CHECK;

/** As pl_table_room, for a table of @p p that others may be looking at: PLUMB_ERR_STALE while it is held. */
struct plumb_error *pl_row_room(struct plumb_profile *p, void **rows, size_t *cap, uint32_t count,
				size_t row_size) PLUMB_MUST_CHECK;

/** Add the counts of @p c to the profile's cell with the same key; c->batch is in the profile's own batches. */
struct plumb_error *pl_cells_add(struct plumb_profile *p, const struct pl_cell *c) PLUMB_MUST_CHECK;
/** The same for at most PL_TOGETHER of them, which fetches memory for one while it adds others. */
struct plumb_error *pl_cells_add_all(struct plumb_profile *p, const struct pl_cell *c, size_t count) PLUMB_MUST_CHECK;
/** The same where equal cells follow each other, and those before are others: no cell is looked for. */
struct plumb_error *pl_cells_append(struct plumb_profile *p, const struct pl_cell *c) PLUMB_MUST_CHECK;
/** Make batch b of @p p, if it has cells, batch @p map [b], and each batch 1 << @p shift long, which is not shorter
 * than it is. The cells that become equal are added up. Batches of one length keep a number each. After an error the
 * profile is as it was. */
struct plumb_error *pl_cells_rebatch(struct plumb_profile *p, const uint8_t map[PL_BATCHES],
				     unsigned shift) PLUMB_MUST_CHECK;
/** Make each batch 1 << @p shift long (not shorter than it is) and add up the cells that become equal.
 * After an error the profile is as it was. */
struct plumb_error *pl_cells_widen(struct plumb_profile *p, unsigned shift) PLUMB_MUST_CHECK;

/** Empty the indices of all batches. */
void pl_cells_forget(struct pl_row_index cells[PL_BATCHES]);

#endif
