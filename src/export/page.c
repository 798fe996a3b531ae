/* SPDX-License-Identifier: Apache-2.0 */
/* The report page as a file: the first half of its text, the blocks, the second half (layer export; any thread). What
 * is in a block is gzipped and base64: nothing of a profile is ever part of the HTML. */
#include "page.h"

#include "base64.h"
#include "formats.h"
#include "gzip.h"

struct plumb_error *pl_page_check(void)
{
	return pl_page_built.head
		       ? NULL
		       : pl_error(PLUMB_ERR_NOT_BUILT, "this plumb has no report page: it was built without Node");
}

struct plumb_error *pl_page_block_open(struct pl_page_block *b, const char *kind, FILE *page)
{
	*b = (struct pl_page_block){.page = page};
	fprintf(page, "<script type=\"text/plain\" class=\"plumb-block\" data-kind=\"%s\">", kind);
	b->base64 = pl_base64_open(page);
	b->in = b->base64 ? pl_gzip_open(b->base64) : NULL;
	if (b->in)
		return NULL;
	if (b->base64)
		fclose(b->base64);
	return &pl_err_no_memory;
}

struct plumb_error *pl_page_block_close(struct pl_page_block *b)
{
	bool good = !ferror(b->in);

	good = fclose(b->in) == 0 && good;
	good = fclose(b->base64) == 0 && good;
	fputs("</script>\n", b->page);
	return good || ferror(b->page) ? NULL : &pl_err_no_memory;
}

struct plumb_error *pl_page_profile_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *page)
{
	struct pl_page_block b;
	struct plumb_error *err = pl_page_block_open(&b, "profile", page), *end;

	if (err)
		return err;
	err = pl_page_data_write(p, o, &pl_page_limits, b.in);
	end = pl_page_block_close(&b);
	return err ? err : end;
}

struct plumb_error *pl_page_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out)
{
	struct plumb_error *err = pl_page_check();

	if (err)
		return err;
	fwrite(pl_page_built.head, 1, pl_page_built.head_len, out);
	err = pl_page_profile_write(p, o, out);
	fwrite(pl_page_built.tail, 1, pl_page_built.tail_len, out);
	return err;
}
