/* SPDX-License-Identifier: Apache-2.0 */
/* The views: what of a look becomes which rows. */
#ifndef VIEWS_H
#define VIEWS_H

#include "changes.h"
#include "feed.h"
#include "strips.h"
#include "table.h"
#include "thread_waits.h"
#include "written.h"

enum view {
	VIEW_FUNCTIONS,
	VIEW_TREE,
	VIEW_THREADS,
	VIEW_LINES,
	VIEW_FLAME,
	VIEW_TASKS,
	VIEW_CHANGES,
	VIEW_OUTPUT,
	VIEWS
};

enum order { ORDER_SELF_NOW, ORDER_SELF, ORDER_TOTAL_NOW, ORDER_TOTAL, ORDERS };

/** Rows of a tree that are shut. */
struct shut {
	uint64_t *keys;
	size_t count, room;
};
bool shut_has(const struct shut *s, uint64_t key);
/** Shut or open. */
void shut_turn(struct shut *s, uint64_t key);

/** What the user has chosen. */
struct choice {
	const struct changes *changes;
	const struct waits *waits;
	const struct written *written;
	char output_title[128]; /* the file that it is in, and how long that is */
	enum order order;
	bool own_functions; /* functions: none of libraries */
	bool all_code;	    /* trees: also that of libraries */
	struct shut shut;
	uint64_t zoom;			     /* the flame graph: the row that is as wide as the screen; 0: all */
	struct plumb_view_function function; /* whose lines are shown; qualname NULL: none */
	char *qualname, *file;		     /* owned, of that */
};
/** Its lines from now on. */
void choice_function(struct choice *c, const struct plumb_view_function *f);
void choice_free(struct choice *c);

/** Fill @p t anew. Errors: those of <plumb/view.h>. */
typedef struct plumb_error *view_fill_fn(struct table *t, const struct choice *c, const struct look *l,
					 const struct strips *strips, bool unicode);
struct plumb_error *view_functions(struct table *t, const struct choice *c, const struct look *l,
				   const struct strips *strips, bool unicode) PLUMB_MUST_CHECK;
struct plumb_error *view_tree(struct table *t, const struct choice *c, const struct look *l,
			      const struct strips *strips, bool unicode) PLUMB_MUST_CHECK;
struct plumb_error *view_threads(struct table *t, const struct choice *c, const struct look *l,
				 const struct strips *strips, bool unicode) PLUMB_MUST_CHECK;
struct plumb_error *view_lines(struct table *t, const struct choice *c, const struct look *l,
			       const struct strips *strips, bool unicode) PLUMB_MUST_CHECK;
struct plumb_error *view_flame(struct table *t, const struct choice *c, const struct look *l,
			       const struct strips *strips, bool unicode) PLUMB_MUST_CHECK;
struct plumb_error *view_tasks(struct table *t, const struct choice *c, const struct look *l,
			       const struct strips *strips, bool unicode) PLUMB_MUST_CHECK;
struct plumb_error *view_changes(struct table *t, const struct choice *c, const struct look *l,
				 const struct strips *strips, bool unicode) PLUMB_MUST_CHECK;

struct plumb_error *view_output(struct table *t, const struct choice *c, const struct look *l,
				const struct strips *strips, bool unicode) PLUMB_MUST_CHECK;

/* ---- between the files of it ---- */

/** The rows of a tree, each with its key, its name and its place, its share as its weight, but none below one of @p
 * shut, which may be NULL. @p more says what else is in a row. */
struct view_tree {
	bool (*at)(const struct plumb_view *v, size_t i, struct plumb_view_tree_row *ret);
	void (*more)(const void *ctx, struct row *r, const struct plumb_view_tree_row *row);
	const void *ctx;
	const struct shut *shut;
	bool unicode;
};
void view_tree_rows(struct table *t, const struct view_tree *tree, const struct plumb_view *v);

/** Shares of the rows of a call tree by their keys. */
struct view_shares {
	struct view_share {
		uint64_t key;
		struct plumb_share total;
	} * list; /* NULL: none */
	size_t count;
	bool unicode; /* how intervals are shown */
};
struct plumb_error *view_shares_of(struct plumb_view *v, enum plumb_view_tree which,
				   struct view_shares *ret) PLUMB_MUST_CHECK;
/** For view_tree.more, of the last seconds and since the start. */
void view_tree_figures(const void *shares, struct row *r, const struct plumb_view_tree_row *row);

#define VIEW_TREE_MIN_SHARE 0.005

#define VIEW_HOT 0.2 /* self shares from here on stand out */

/** "58.3", and "±1.2" with the half width of @p s, where it is known. */
void view_percent(char buf[16], const struct plumb_share *s);
void view_interval(char buf[16], const struct plumb_share *s, bool unicode);

#endif
