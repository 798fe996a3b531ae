/* SPDX-License-Identifier: Apache-2.0 */
/* The writers behind the table in formats.c. */
#ifndef PL_FORMATS_H
#define PL_FORMATS_H

#include "export.h"

struct plumb_error *pl_text_write(const struct plumb_profile *p, const struct pl_export_options *o,
				  FILE *out) PLUMB_MUST_CHECK;
struct plumb_error *pl_report_json_write(const struct plumb_profile *p, const struct pl_export_options *o,
					 FILE *out) PLUMB_MUST_CHECK;
struct plumb_error *pl_markdown_write(const struct plumb_profile *p, const struct pl_export_options *o,
				      FILE *out) PLUMB_MUST_CHECK;
struct plumb_error *pl_collapsed_write(const struct plumb_profile *p, const struct pl_export_options *o,
				       FILE *out) PLUMB_MUST_CHECK;

#endif
