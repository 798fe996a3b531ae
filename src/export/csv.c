/* SPDX-License-Identifier: Apache-2.0 */
/* CSV for spreadsheets and data frames, as RFC 4180 has it: one table, whose column `row` says what a row stands for:
 * a function, a line of one, or a thread. docs/user/formats.md explains the columns. Layer export; any thread. Streams.
 *
 * A spreadsheet takes a text that begins with one of "=+-@", a tab or a line break for a formula, in quotes or not, and
 * the names are the program's. Excel in a Japanese environment takes the full-width signs for the same. Such a text
 * gets an apostrophe in front, which spreadsheets take for "this is text". */
#include <inttypes.h>
#include <string.h>

#include "formats.h"
#include "frame_name.h"
#include "stats.h"
#include "utf8.h"

#define HEADER                                                                                                         \
	"row,process,thread,thread_name,function,file,first_line,line,"                                                \
	"self_samples,self_ns,self_share,self_half_width,total_samples,total_ns,total_share,total_half_width\r\n"

static bool begins_a_formula(struct pl_text t)
{
	/* Full-width: = + - and @, and two characters that are meant as a minus. */
	static const uint32_t starts[] = {'=',	  '+',	  '-',	  '@',	  '\t',	  '\r',	 '\n',
					  0xff1d, 0xff0b, 0xff0d, 0xff20, 0x2212, 0x30fc};
	uint32_t code = PL_UTF8_INVALID;

	if (t.len)
		(void)pl_utf8_decode((const uint8_t *)t.s, t.len, &code);
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (starts[i] == code)
			return true;
	return false;
}

static void put_text(struct pl_text t, FILE *out)
{
	const uint8_t *s = (const uint8_t *)t.s;

	putc('"', out);
	if (begins_a_formula(t))
		putc('\'', out);
	for (size_t i = 0, used; i < t.len; i += used) {
		uint32_t code;

		used = pl_utf8_decode(s + i, t.len - i, &code);
		if (code == '"')
			fputs("\"\"", out);
		else if (code == PL_UTF8_INVALID || code == 0) /* readers stop at NUL */
			fputs("\xef\xbf\xbd", out);
		else
			fwrite(s + i, 1, used, out);
	}
	putc('"', out);
}

static void put_share(const struct pl_share *s, FILE *out)
{
	fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%.6f,%.6f", s->samples, s->weight_ns, s->share, s->half_width);
}

static void put_function(const struct plumb_profile *p, const struct pl_function_row *r, bool lines, bool full_names,
			 FILE *out)
{
	const struct pl_function *f = &p->functions[r->function];

	fprintf(out, "%s,,,,", lines ? "line" : "function");
	put_text(full_names ? pl_frame_qualname(p, f) : pl_text_of(p, f->name), out);
	putc(',', out);
	put_text(pl_text_of(p, r->line > 0 ? pl_function_source(f) : f->file), out);
	fprintf(out, ",%" PRIu32 ",", f->firstline);
	if (lines)
		fprintf(out, "%" PRId32, r->line);
	put_share(&r->self, out);
	put_share(&r->total, out);
	fputs("\r\n", out);
}

static struct plumb_error *put_functions(const struct plumb_profile *p, bool lines, bool full_names, FILE *out)
{
	const struct pl_filter everything = {.idle = PL_IDLE_KEEP, .lines = lines};
	pl_function_rows rows = {0};
	struct plumb_error *err = pl_view_functions(p, &everything, &rows);

	for (size_t i = 0; i < rows.len && !err && !ferror(out); i++)
		put_function(p, &rows.data[i], lines, full_names, out);
	pl_vec_deinit(&rows);
	return err;
}

/* Weights by thread and batch, scaled to add up to the number of samples, of which the interval is made. */
static void sum_batches(const struct plumb_profile *p, double scale, double (*hits)[PL_BATCHES], double all[PL_BATCHES])
{
	for (uint32_t i = 0; i < p->cell_count; i++) {
		const struct pl_cell *c = &p->cells[i];

		hits[c->thread][c->batch] += (double)c->weight_ns * scale;
		all[c->batch] += (double)c->weight_ns * scale;
	}
}

static void put_thread(const struct plumb_profile *p, const struct pl_thread_row *r, const struct pl_totals *totals,
		       double half_width, FILE *out)
{
	const struct pl_thread *t = &p->threads[r->thread];
	struct pl_share share = {.samples = r->samples, .weight_ns = r->weight_ns, .half_width = half_width};

	share.share = totals->weight_ns ? (double)r->weight_ns / (double)totals->weight_ns : 0;
	fprintf(out, "thread,%" PRIu32 ",%" PRIu64 ",",
		t->process < p->process_count ? p->processes[t->process].pid : 0, t->tid);
	put_text(pl_text_of(p, t->name), out);
	fputs(",,,,", out);
	put_share(&share, out);
	put_share(&share, out);
	fputs("\r\n", out);
}

static struct plumb_error *put_threads(const struct plumb_profile *p, FILE *out)
{
	const struct pl_filter everything = {.idle = PL_IDLE_KEEP};
	double(*hits)[PL_BATCHES] = calloc((size_t)p->thread_count + 1, sizeof *hits), all[PL_BATCHES] = {0};
	struct pl_totals totals;
	pl_thread_rows rows = {0};
	struct plumb_error *err = hits ? pl_view_totals(p, &everything, &totals) : &pl_err_no_memory;

	if (!err)
		sum_batches(p, totals.weight_ns ? (double)totals.samples / (double)totals.weight_ns : 0, hits, all);
	if (!err)
		err = pl_view_threads(p, &everything, &rows);
	for (size_t i = 0; i < rows.len && !err && !ferror(out); i++)
		put_thread(p, &rows.data[i], &totals,
			   pl_stats_share_half_width(hits[rows.data[i].thread], all, PL_BATCHES), out);
	pl_vec_deinit(&rows);
	free(hits);
	return err;
}

struct plumb_error *pl_csv_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out)
{
	struct plumb_error *err;

	fputs(HEADER, out);
	err = put_functions(p, false, o->full_names, out);
	if (!err)
		err = put_functions(p, true, o->full_names, out);
	return err ? err : put_threads(p, out);
}
