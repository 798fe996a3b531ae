/* SPDX-License-Identifier: Apache-2.0 */
/* The views: what of a look becomes which rows. */
#ifndef VIEWS_H
#define VIEWS_H

#include "changes.h"
#include "feed.h"
#include "strips.h"
#include "table.h"

enum view { VIEW_FUNCTIONS, VIEW_TREE, VIEW_THREADS, VIEW_LINES, VIEW_CHANGES, VIEWS };

enum order { ORDER_SELF_NOW, ORDER_SELF, ORDER_TOTAL_NOW, ORDER_TOTAL, ORDERS };
extern const char *const order_names[];

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
	enum order order;
	bool all_code; /* the tree: also that of libraries */
	struct shut shut;
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
struct plumb_error *view_changes(struct table *t, const struct choice *c, const struct look *l,
				 const struct strips *strips, bool unicode) PLUMB_MUST_CHECK;

/* ---- between the files of it ---- */

#define VIEW_HOT 0.2 /* self shares from here on stand out */

/** "58.3", and "±1.2" with the half width of @p s, where it is known. */
void view_percent(char buf[16], const struct plumb_share *s);
void view_interval(char buf[16], const struct plumb_share *s, bool unicode);

#endif
