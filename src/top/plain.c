/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: see plain.h. A line is whole when it is written, and says by itself what its figures are. */
#include "plain.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arrivals.h"
#include "cell_text.h"

#define FUNCTIONS     3
#define NAME_COLUMNS  60
#define PLACE_COLUMNS 40
#define PERIOD_MS     1000
#define PATIENCE_MS   5000 /* with a reader, when the end was asked for */

static const char *safe(const char *s, const struct feed *f, int columns, bool keep_end, char *buf, size_t size)
{
	cell_fit(s, f->o->unicode, columns, keep_end, buf, size);
	return buf;
}

static void put_function(const struct feed *f, const struct plumb_view_function *row)
{
	char percent[16], name[256], place[256], raw[1024];

	printf("  %s %% %s", cell_percent(row->self.share, percent),
	       safe(row->qualname, f, NAME_COLUMNS, false, name, sizeof name));
	cell_place(row, raw, sizeof raw);
	if (*raw)
		printf(" (%s)", safe(raw, f, PLACE_COLUMNS, true, place, sizeof place));
}

static void put_functions(const struct feed *f, const struct plumb_view *v)
{
	struct plumb_view_function row = {.size = sizeof row};

	for (size_t i = 0; i < FUNCTIONS && plumb_view_function_at(v, i, &row) && row.self.samples; i++)
		put_function(f, &row);
}

static void put_line(const struct feed *f)
{
	const struct look *l = &f->look;
	const struct plumb_view_totals *t = l->recent ? &l->recent_totals : &l->totals;
	const struct plumb_view *v = l->recent ? l->recent : l->all;
	char time[24], percent[16];

	printf("%s  %" PRIu64 " samples  %" PRIu32 " thread%s", cell_time(l->info.duration_ns, time), l->info.samples,
	       t->threads, t->threads == 1 ? "" : "s");
	if (t->samples)
		printf("  on CPU %s %%", cell_percent(t->on_cpu_share, percent));
	if (l->recent)
		printf("  last %d s:", FEED_RECENT_S);
	else
		printf("  all:");
	put_functions(f, v);
	if (*l->sentence)
		printf("  ! %s", l->sentence);
	putchar('\n');
	fflush(stdout);
}

/* Whether it is over; *signo: what a program that was started is to be sent. */
static bool ends_in_a_period(struct feed *f, int *signo)
{
	bool by_terminal;

	arrivals_wait(-1, PERIOD_MS);
	for (int got; (got = arrivals_signal(&by_terminal));) {
		if (got == SIGTSTP)
			feed_stand_still(f);
		*signo = by_terminal ? 0 : got;
		if (arrivals_ends(got))
			return true;
	}
	return false;
}

int plain_run(struct feed *f)
{
	bool over;
	int signo = 0;

	do {
		over = !f->session || ends_in_a_period(f, &signo);
		struct plumb_error *err = feed_refresh(f);
		if (!err && arrivals_wait_for_room(STDOUT_FILENO, over && f->session ? PATIENCE_MS : -1))
			put_line(f);
		plumb_error_destroy(err);
	} while (!over && !f->status.ended && !ferror(stdout));
	return over ? signo : 0;
}
