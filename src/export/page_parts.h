/* SPDX-License-Identifier: Apache-2.0 */
/* A profile in columns, part by part, for the report page: docs/design/006-report-page.md. Inside the layer only. */
#ifndef PL_PAGE_PARTS_H
#define PL_PAGE_PARTS_H

#include "export.h"
#include "json.h"
#include "map.h"
#include "page_columns.h"
#include "row_index.h"

enum pl_page_tag {
	PL_PAGE_META = 1,
	PL_PAGE_STRINGS,
	PL_PAGE_FUNCTIONS,
	PL_PAGE_LOCATIONS,
	PL_PAGE_TREE,
	PL_PAGE_CELLS,
	PL_PAGE_STRIP,
	PL_PAGE_SOURCES,
};

#define PL_PAGE_NONE UINT32_MAX

/** What keeps a page small. */
struct pl_page_limits {
	uint32_t nodes; /* more stacks than that: the lightest are counted at their callers */
	uint32_t times; /* bits that the times of samples may take in any page: of more, neighbouring bins are added up
			 */
	uint32_t data;	/* bits for stacks and times together: what few stacks leave of it is for times, too */
	uint32_t strip; /* bins of all threads together */
};
extern const struct pl_page_limits pl_page_limits;

/* ---- page_nodes.c: which stacks are nodes ---- */

struct pl_page_nodes {
	uint64_t *weight; /* of each stack, with all that it calls */
	bool *kept;
	uint32_t own;	      /* how many have samples of their own */
	double pruned_share;  /* stacks below that share are left out, */
	uint32_t pruned;      /* so many; */
	double pruned_weight; /* that share of all weight is counted at their callers */
};
struct plumb_error *pl_page_nodes_init(struct pl_page_nodes *n, const struct plumb_profile *p,
				       uint32_t max_nodes) PLUMB_MUST_CHECK;
void pl_page_nodes_deinit(struct pl_page_nodes *n);

/* ---- page_tables.c: functions, locations and strings ---- */

struct pl_page_tables {
	uint32_t *function_of; /* function of the profile -> of the page; PL_PAGE_NONE: not on a kept stack */
	uint32_t *functions;   /* the other way */
	uint32_t function_count;
	uint32_t *location_of; /* location of the profile -> index among those of its function */
	uint32_t *locations;   /* those of the profile, function by function */
	uint32_t location_count;
	struct pl_strtab *strings; /* valid UTF-8 */
	uint32_t *string_of;	   /* string of the profile -> 1 + string of the page; 0: not asked for yet */
};
struct plumb_error *pl_page_tables_init(struct pl_page_tables *t, const struct plumb_profile *p,
					const struct pl_page_nodes *n) PLUMB_MUST_CHECK;
void pl_page_tables_deinit(struct pl_page_tables *t);
/** The string of the page for one of the profile. */
struct plumb_error *pl_page_string(struct pl_page_tables *t, const struct plumb_profile *p, uint32_t string,
				   uint32_t *ret) PLUMB_MUST_CHECK;
struct plumb_error *pl_page_functions_write(struct pl_page_tables *t, const struct plumb_profile *p,
					    FILE *out) PLUMB_MUST_CHECK;
struct plumb_error *pl_page_locations_write(const struct pl_page_tables *t, const struct plumb_profile *p,
					    FILE *out) PLUMB_MUST_CHECK;
/** After all who ask for strings. */
struct plumb_error *pl_page_strings_write(const struct pl_page_tables *t, FILE *out) PLUMB_MUST_CHECK;

/* ---- page_sources.c ---- */

struct plumb_error *pl_page_sources_write(const struct plumb_profile *p, struct pl_page_tables *t,
					  FILE *out) PLUMB_MUST_CHECK;

/* ---- page_callees.c: functions of nodes ---- */

struct pl_page_callees {
	PL_VEC(uint64_t) nodes;
};
/** The next node: @p function, called by function @p caller - 1, 0: by none. */
struct plumb_error *pl_page_callees_add(struct pl_page_callees *c, uint32_t caller, uint32_t function) PLUMB_MUST_CHECK;
/** Write the lists of callees of @p callers callers, none with them, and of each node its place in the list of its
 * caller. */
struct plumb_error *pl_page_callees_write(const struct pl_page_callees *c, uint32_t callers,
					  struct pl_page_columns *lists,
					  struct pl_page_columns *ranks) PLUMB_MUST_CHECK;
void pl_page_callees_deinit(struct pl_page_callees *c);

/* ---- page_tree.c: the call tree ---- */

/** Write the tree. *ret: stack of the profile -> 1 + L node, of a stack that is left out that of the one it is counted
 * at, 0: of none. Owner: the caller, free(). */
struct plumb_error *pl_page_tree_write(const struct plumb_profile *p, const struct pl_page_nodes *n,
				       const struct pl_page_tables *t, FILE *out, uint32_t **ret) PLUMB_MUST_CHECK;

/* ---- page_locks.c: for which locks threads waited, and who held them ---- */

struct pl_page_lock {
	uint32_t process;
	uint64_t object;
	bool recursive;
};
struct pl_page_lock_state {
	uint32_t lock; /* of these */
	uint8_t holder;
	uint64_t tid;
	uint32_t name;	   /* string id of the profile, of the thread */
	uint32_t function; /* 1 + the one of the profile that was inside `with` of the lock; 0: not known */
};
struct pl_page_locks {
	struct pl_map by_lock, by_holding, by_state;
	PL_VEC(struct pl_page_lock) locks;
	PL_VEC(struct pl_page_lock_state) states;
};
/* Numbers of lock states: of a lock that is not known, else this + a row of the states. */
#define PL_PAGE_LOCK_UNKNOWN 1u
#define PL_PAGE_LOCK_FIRST   2u
/** The number of lock state @p state of the profile, that a thread of @p process waited in. */
struct plumb_error *pl_page_locks_number(struct pl_page_locks *l, const struct plumb_profile *p, uint32_t process,
					 uint32_t state, uint32_t *ret) PLUMB_MUST_CHECK;
/** "locks" and "lock_states", if there are any. */
void pl_page_locks_json(const struct pl_page_locks *l, const struct plumb_profile *p, const struct pl_page_tables *t,
			struct pl_json *j);
void pl_page_locks_deinit(struct pl_page_locks *l);

/* ---- page_cells.c: samples of a node ---- */

/* What tells rows apart is two words, in their order: to find and to sort a row is to compare two numbers. */
struct pl_page_cell {
	uint64_t where; /* node, 22 bits; thread, 32; state << 2 | quality, its upper 10 */
	/* Lower 4 bits of state << 2 | quality; bin, 12; where it waited for the GIL, 32: 1 not seen, else 2 + function
	 * of the page; else 0; where it waited for a lock, 16: of pl_page_locks_number; else 0 */
	uint64_t when;
	uint64_t samples, weight_ns;
};
#define PL_PAGE_NODE_BITS     22
#define PL_PAGE_WHAT_BITS     14
#define PL_PAGE_WHAT_LOW_BITS 4
#define PL_PAGE_BIN_BITS      12
#define PL_PAGE_BIN_SHIFT     48

_Static_assert(((PL_STATE_REASONS | UINT8_MAX) << 2 | (PL_QUALITIES - 1)) < 1 << PL_PAGE_WHAT_BITS,
	       "states with their reasons have room in a cell");

static inline uint64_t pl_page_where(uint32_t node, uint32_t thread, unsigned what)
{
	return (uint64_t)node << (64 - PL_PAGE_NODE_BITS) |
	       (uint64_t)thread << (PL_PAGE_WHAT_BITS - PL_PAGE_WHAT_LOW_BITS) | what >> PL_PAGE_WHAT_LOW_BITS;
}

static inline uint64_t pl_page_when(unsigned what, uint32_t bin, uint32_t held_by, uint32_t lock)
{
	return (uint64_t)what << (64 - PL_PAGE_WHAT_LOW_BITS) | (uint64_t)bin << PL_PAGE_BIN_SHIFT |
	       (uint64_t)held_by << 16 | lock;
}

#define PL_PAGE_COMING 64
struct pl_page_cells {
	PL_VEC(struct pl_page_cell) rows;
	struct pl_page_cell coming[PL_PAGE_COMING]; /* not counted yet */
	size_t coming_count;
	struct pl_row_index index;
	uint64_t stacks;	   /* how many there are with samples of their own */
	uint32_t max_bits;	   /* that times may take */
	unsigned shift, max_shift; /* bins of the cells are bins of the strip >> shift */
};
/** One sample more, of a bin that is not shifted yet. */
struct plumb_error *pl_page_cells_add(struct pl_page_cells *cells, const struct pl_page_cell *c) PLUMB_MUST_CHECK;
struct plumb_error *pl_page_cells_write(struct pl_page_cells *cells, uint64_t period_ns, FILE *out) PLUMB_MUST_CHECK;
void pl_page_cells_deinit(struct pl_page_cells *cells);

/* ---- page_strip.c: what each thread did when ---- */

enum pl_page_activity {
#define PLUMB_ACTIVITY(name, ...) PL_PAGE_##name,
#include <plumb/words.def>
	PL_PAGE_ACTIVITIES,
};
struct pl_page_run {
	uint32_t thread, bin;
	uint64_t samples[PL_PAGE_ACTIVITIES];
};
struct pl_page_strip {
	PL_VEC(struct pl_page_run) rows;
	struct pl_row_index index;
};
struct plumb_error *pl_page_strip_add(struct pl_page_strip *s, uint32_t thread, uint32_t bin, uint16_t state,
				      uint64_t samples) PLUMB_MUST_CHECK;
struct plumb_error *pl_page_strip_write(struct pl_page_strip *s, uint32_t threads, uint32_t bins,
					FILE *out) PLUMB_MUST_CHECK;
void pl_page_strip_deinit(struct pl_page_strip *s);

/* ---- page_meta.c ---- */

struct pl_page_meta {
	const struct pl_export_options *o;
	const struct pl_page_nodes *nodes;
	const struct pl_page_tables *tables;
	const struct pl_page_locks *locks;
	const pl_thread_rows *threads;
	uint64_t bin_ns;
	uint32_t bins;
};
/** The member `events`: what happened, in the time of the timeline; nothing without any. */
struct plumb_error *pl_page_events_json(const struct pl_page_meta *m, const struct plumb_profile *p,
					struct pl_json *j) PLUMB_MUST_CHECK;
struct plumb_error *pl_page_meta_write(const struct plumb_profile *p, const struct pl_page_meta *m,
				       FILE *out) PLUMB_MUST_CHECK;

#endif
