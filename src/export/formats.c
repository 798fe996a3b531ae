/* SPDX-License-Identifier: Apache-2.0 */
/* The table of output formats. Layer export; constant. A new format is one file, one line in formats.h and one row
 * here. */
#include "formats.h"

#include <string.h>

static const char *const text_suffixes[] = {".txt", NULL};
static const char *const tree_suffixes[] = {".tree", NULL};
static const char *const json_suffixes[] = {".json", NULL};
static const char *const markdown_suffixes[] = {".md", ".markdown", NULL};
static const char *const flamegraph_suffixes[] = {".flamegraph.json", NULL};
static const char *const dask_suffixes[] = {".dask.json", NULL};
static const char *const no_suffixes[] = {NULL};
static const char *const html_suffixes[] = {".html", ".htm", NULL};
static const char *const collapsed_suffixes[] = {".folded", ".collapsed", NULL};
static const char *const otlp_suffixes[] = {".otlp", ".otlp.pb", NULL};
static const char *const otlp_json_suffixes[] = {".otlp.json", NULL};
static const char *const pprof_suffixes[] = {".pb.gz", ".pprof", NULL};
static const char *const svg_suffixes[] = {".svg", NULL};
static const char *const pstats_suffixes[] = {".pstats", ".prof", NULL};
static const char *const callgrind_suffixes[] = {".callgrind", NULL};
static const char *const csv_suffixes[] = {".csv", NULL};
static const char *const jsonl_suffixes[] = {".jsonl", NULL};
static const char *const chrome_suffixes[] = {".trace.json", NULL};
static const char *const perf_suffixes[] = {".perf", NULL};
static const char *const firefox_suffixes[] = {".firefox.json", ".profile.json", NULL};
static const char *const firefox_gz_suffixes[] = {".firefox.json.gz", ".profile.json.gz", NULL};
static const char *const speedscope_suffixes[] = {".speedscope.json", ".speedscope", NULL};

#define TABLES                                                                                                         \
	(PL_FACT_THREADS | PL_FACT_PROCESSES | PL_FACT_STATES | PL_FACT_WEIGHTS | PL_FACT_LOSSES | PL_FACT_QUALITY)

const struct pl_format pl_formats[] = {
	{"text", text_suffixes, "the report for the terminal, at most 25 lines", pl_text_write, .keeps = ~0u,
	 .views = true, .colours = true, .report = true},
	{"tree", tree_suffixes, "the whole call tree as text, libraries and all: a line for each call",
	 pl_call_tree_write, .keeps = ~0u, .views = true, .colours = true, .report = true},
	{"json", json_suffixes, "all figures, functions and stacks; schema plumb.report/1", pl_report_json_write,
	 .keeps = TABLES | PL_FACT_LINES | PL_FACT_COLUMNS | PL_FACT_OPCODES | PL_FACT_PATHS, .views = true,
	 .report = true},
	{"markdown", markdown_suffixes, "a summary for an issue or a pull request", pl_markdown_write, .keeps = ~0u,
	 .views = true, .report = true},
	{"html", html_suffixes, "the report page: all of it in one file for a browser, offline", pl_page_write,
	 .keeps = ~0u, .report = true, .check = pl_page_check},
	{"collapsed", collapsed_suffixes, "one line per stack with its count, for flamegraph.pl, speedscope and others",
	 pl_collapsed_write, .keeps = PL_FACT_THREADS | PL_FACT_PROCESSES | PL_FACT_LINES | PL_FACT_PATHS,
	 .views = true},
	{"pprof", pprof_suffixes, "profile.proto, gzipped, for Go's pprof, Pyroscope, Parca and others", pl_pprof_write,
	 .keeps = TABLES | PL_FACT_LINES | PL_FACT_COLUMNS | PL_FACT_PATHS, .binary = true},
	{"svg", svg_suffixes, "a flame graph in one picture, with zoom and search in a browser", pl_svg_write,
	 .keeps = PL_FACT_WEIGHTS | PL_FACT_LINES | PL_FACT_LOSSES | PL_FACT_PATHS},
	{"pstats", pstats_suffixes, "as cProfile writes it, for pstats, snakeviz, gprof2dot; ncalls is samples",
	 pl_pstats_write, .keeps = PL_FACT_WEIGHTS, .binary = true},
	{"callgrind", callgrind_suffixes, "for KCachegrind and callgrind_annotate; calls are samples",
	 pl_callgrind_write, .keeps = PL_FACT_WEIGHTS | PL_FACT_LINES},
	{"csv", csv_suffixes, "functions, lines and threads in one table for spreadsheets and data frames",
	 pl_csv_write, .keeps = PL_FACT_THREADS | PL_FACT_PROCESSES | PL_FACT_WEIGHTS | PL_FACT_LINES},
	{"jsonl", jsonl_suffixes, "one JSON object for the recording and one for each line; schema plumb.lines/1",
	 pl_jsonl_write, .keeps = PL_FACT_WEIGHTS | PL_FACT_LINES | PL_FACT_LOSSES},
	{"flamegraph-json", flamegraph_suffixes, "the data of CPython's flame graphs, as its own collector makes it",
	 pl_flamegraph_json_write,
	 .keeps = PL_FACT_THREADS | PL_FACT_STATES | PL_FACT_LINES | PL_FACT_LOSSES | PL_FACT_OPCODES | PL_FACT_PATHS,
	 .views = true},
	{"otlp", otlp_suffixes, "OpenTelemetry profiles (protobuf, 1.10 and later), for a Collector", pl_otlp_write,
	 .keeps = TABLES | PL_FACT_LINES | PL_FACT_COLUMNS | PL_FACT_TIMES | PL_FACT_PATHS, .binary = true},
	{"otlp-json", otlp_json_suffixes, "the same as JSON", pl_otlp_json_write,
	 .keeps = TABLES | PL_FACT_LINES | PL_FACT_COLUMNS | PL_FACT_TIMES | PL_FACT_PATHS},
	{"dask", dask_suffixes, "the tree of Dask's profiler, for distributed.profile", pl_dask_json_write,
	 .keeps = PL_FACT_PATHS, .views = true},
	{"dask-plot", no_suffixes, "what Dask's plot_data() makes of it: columns of boxes", pl_dask_plot_write,
	 .keeps = PL_FACT_PATHS, .views = true},
	{"speedscope", speedscope_suffixes, "speedscope's own format: one profile for each thread", pl_speedscope_write,
	 .keeps = PL_FACT_THREADS | PL_FACT_PROCESSES | PL_FACT_WEIGHTS | PL_FACT_LINES | PL_FACT_COLUMNS |
		  PL_FACT_PATHS},
	{"firefox", firefox_suffixes, "the Firefox Profiler's format, with its timeline", pl_firefox_write,
	 .keeps = PL_FACT_THREADS | PL_FACT_PROCESSES | PL_FACT_STATES | PL_FACT_LINES | PL_FACT_TIMES |
		  PL_FACT_LOSSES | PL_FACT_PATHS},
	{"firefox-gz", firefox_gz_suffixes, "the same, gzipped: the Firefox Profiler reads both", pl_firefox_gz_write,
	 .keeps = PL_FACT_THREADS | PL_FACT_PROCESSES | PL_FACT_STATES | PL_FACT_LINES | PL_FACT_TIMES |
		  PL_FACT_LOSSES | PL_FACT_PATHS,
	 .binary = true},
	{"chrome-trace", chrome_suffixes, "slices for Perfetto and chrome://tracing, made of neighbouring samples",
	 pl_chrome_trace_write, .keeps = PL_FACT_THREADS | PL_FACT_PROCESSES | PL_FACT_TIMES | PL_FACT_PATHS},
	{"perf-script", perf_suffixes, "text as perf script writes it, for FlameGraph and others", pl_perf_script_write,
	 .keeps = PL_FACT_THREADS | PL_FACT_WEIGHTS | PL_FACT_TIMES | PL_FACT_PATHS},
	{.name = NULL},
};

const struct pl_format *pl_format_by_name(const char *name)
{
	for (const struct pl_format *f = pl_formats; f->name; f++) {
		if (strcmp(f->name, name) == 0)
			return f;
	}
	return NULL;
}

/* Length of the longest suffix of @p f that @p name ends with, 0: none. */
static size_t match(const struct pl_format *f, const char *name)
{
	size_t len = strlen(name), best = 0;

	for (const char *const *suffix = f->suffixes; *suffix; suffix++) {
		size_t suffix_len = strlen(*suffix);

		if (len > suffix_len && suffix_len > best && strcmp(name + len - suffix_len, *suffix) == 0)
			best = suffix_len;
	}
	return best;
}

/* "x.otlp.json" ends with ".json", too: the longest suffix says most. */
const struct pl_format *pl_format_by_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	const struct pl_format *found = NULL;
	size_t best = 0;

	for (const struct pl_format *f = pl_formats; f->name; f++) {
		size_t len = match(f, base);

		if (len > best) {
			best = len;
			found = f;
		}
	}
	return found;
}
