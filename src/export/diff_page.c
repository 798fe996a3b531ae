/* SPDX-License-Identifier: Apache-2.0 */
/* The report page of a comparison (layer export; any thread). */
#include "diff_page.h"

#include "formats.h"
#include "page.h"

static struct plumb_error *write_rows(const struct pl_diff *rows, const struct pl_diff_look *look, const char *kind,
				      FILE *out)
{
	struct pl_page_block b;
	struct plumb_error *err = pl_page_block_open(&b, kind, out), *end;

	if (err)
		return err;
	err = pl_diff_json_write(rows, look, b.in);
	end = pl_page_block_close(&b);
	return err ? err : end;
}

static struct plumb_error *write_blocks(const struct pl_diff_page *d, FILE *out)
{
	struct plumb_error *err = NULL;

	for (int side = 0; side < PL_DIFF_SIDES && !err; side++) {
		struct pl_export_options o = d->options;

		o.recording = d->look->names[side];
		err = pl_page_profile_write(d->sides[side], &o, out);
	}
	if (!err)
		err = write_rows(d->functions, d->look, "diff", out);
	return err ? err : write_rows(d->paths, d->look, "diff-paths", out);
}

struct plumb_error *pl_diff_page_write(const struct pl_diff_page *d, FILE *out)
{
	struct plumb_error *err = pl_page_check();

	if (err)
		return err;
	fwrite(pl_page_built.head, 1, pl_page_built.head_len, out);
	err = write_blocks(d, out);
	fwrite(pl_page_built.tail, 1, pl_page_built.tail_len, out);
	return err;
}
