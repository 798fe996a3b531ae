/* SPDX-License-Identifier: Apache-2.0 */
/* Layer dump: the frames of a dump. */
#include "dump_parts.h"

#include "lines.h"

static struct pl_dump_text text_of(struct pl_dump *d, const struct pl_buf *b)
{
	return pl_dump_text(d, (const char *)b->data, b->len);
}

uint64_t pl_dump_tid_of(const struct pl_dump_process *p, uint64_t ident)
{
	for (size_t i = 0; i < p->threads.len && ident; i++)
		if (p->threads.data[i].python && p->threads.data[i].ident == ident)
			return p->threads.data[i].tid;
	return 0;
}

struct pl_dump_frame pl_dump_frame_of(struct pl_dump *d, struct pl_dump_sources *sources, const struct pl_py *py,
				      const struct pl_code *code, int32_t offset)
{
	struct pl_position pos = pl_lines_find(py->layout.line_table, code->linetable.data, code->linetable.len,
					       (int32_t)code->firstlineno, offset);
	struct pl_dump_frame f = {.name = text_of(d, &code->name),
				  .qualname = text_of(d, &code->qualname),
				  .file = text_of(d, &code->filename),
				  .line = pos.line,
				  .end_line = pos.end_line,
				  .column = pos.column,
				  .end_column = pos.end_column,
				  .source = pl_dump_str(d, "")};

	if (sources)
		pl_dump_sources_add(sources, d, &f);
	return f;
}
