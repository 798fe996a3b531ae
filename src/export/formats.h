/* SPDX-License-Identifier: Apache-2.0 */
/* The writers behind the table in formats.c. */
#ifndef PL_FORMATS_H
#define PL_FORMATS_H

#include "export.h"

pl_format_write pl_text_write;
pl_format_write pl_call_tree_write;
pl_format_write pl_report_json_write;
pl_format_write pl_markdown_write;
pl_format_write pl_collapsed_write;
pl_format_write pl_pprof_write;
pl_format_write pl_svg_write;
pl_format_write pl_pstats_write;
pl_format_write pl_callgrind_write;
pl_format_write pl_csv_write;
pl_format_write pl_jsonl_write;
pl_format_write pl_flamegraph_json_write;
pl_format_write pl_otlp_write;
pl_format_write pl_otlp_json_write;
pl_format_write pl_dask_json_write;
pl_format_write pl_dask_plot_write;
pl_format_write pl_speedscope_write;
pl_format_write pl_firefox_write;
pl_format_write pl_firefox_gz_write;
pl_format_write pl_chrome_trace_write;
pl_format_write pl_perf_script_write;
pl_format_write pl_page_write;
struct plumb_error *pl_page_check(void) PLUMB_MUST_CHECK;

#endif
