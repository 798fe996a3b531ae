/* SPDX-License-Identifier: Apache-2.0 */
/* Events into a section (layer capture). Pure. */
#include "event_rows.h"

#include "format.h"
#include "tables.h"

struct plumb_error *pl_event_rows_encode(const pl_event_vec *events, struct pl_buf *raw)
{
	struct pl_buf section = PL_BUF_INIT(PL_SECTION_MAX_BYTES);
	struct pl_encoder e = {.buf = &section}, out = {.buf = raw};
	uint64_t last_ns = 0;

	for (size_t i = 0; i < events->len; i++) {
		const struct pl_event *v = &events->data[i];

		pl_encode_delta(&e, v->time_ns, last_ns);
		pl_encode(&e, v->duration_ns);
		pl_encode(&e, v->kind);
		pl_encode(&e, v->process);
		pl_encode(&e, v->thread);
		pl_encode(&e, v->name);
		pl_encode(&e, v->labels);
		last_ns = v->time_ns;
	}
	out.err = e.err;
	pl_encode_section(&out, PL_SECTION_EVENTS, &section);
	pl_buf_deinit(&section);
	return out.err;
}
