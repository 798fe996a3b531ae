/* SPDX-License-Identifier: Apache-2.0 */
/* Who held the GIL while threads waited for it (layer export; any thread). */
#include "gil_blame.h"

#include "frame_name.h"
#include "report_facts.h"

/* With its name: a function can hold it in threads that are not shown, and be no row of `functions`. */
static void write_holder(const struct pl_gil_row *row, const struct plumb_profile *p, struct pl_json *j)
{
	const struct pl_function *f = &p->functions[row->function];
	struct pl_text name = pl_frame_qualname(p, f), file = pl_text_of(p, f->file);

	pl_json_object(j);
	pl_json_key_strn(j, "name", name.s, name.len);
	pl_json_key_strn(j, "file", file.s, file.len);
	pl_json_key_u64(j, "line", f->firstline);
	pl_report_share(j, &row->held);
	pl_json_object_end(j);
}

void pl_gil_blame_json(const struct pl_gil_blame *b, const struct plumb_profile *p, struct pl_json *j)
{
	if (!b->samples)
		return;
	pl_json_key(j, "gil_blame");
	pl_json_object(j);
	pl_json_key_u64(j, "samples", b->samples);
	pl_json_key_u64(j, "weight_ns", b->weight_ns);
	pl_json_key(j, "holders");
	pl_json_array(j);
	for (size_t i = 0; i < b->rows.len && !ferror(j->out); i++)
		write_holder(&b->rows.data[i], p, j);
	pl_json_array_end(j);
	pl_json_key(j, "unseen");
	pl_json_object(j);
	pl_report_share(j, &b->unseen);
	pl_json_object_end(j);
	pl_json_object_end(j);
}
