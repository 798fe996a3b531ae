/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; one thread at a time. See said_events.h.
 *
 * Looking through the modules takes hundreds of reads, counting them one: they are looked through when there are
 * others, and once more a moment later, as a module is there before what is in it. */
#include "said_events.h"

#include "debug.h"
#include "dict.h"
#include "mem_limited.h"
#include "mem_pages.h"
#include "python_process.h"

#define COUNT_NS   20000000ull
#define SETTLED_NS 100000000ull
#define AGAIN_NS   10000000000ull
#define MOST_BYTES (UINT64_C(16) << 20) /* read for a look */
#define MOST	   16			/* interpreters that are asked */

static size_t interpreters(const struct pl_python_process *p)
{
	return p->threads.interps.len < MOST ? p->threads.interps.len : MOST;
}

static uint64_t count_modules(const struct pl_python_process *p)
{
	uint64_t all = 0, count;

	for (size_t i = 0; i < interpreters(p); i++) {
		pl_addr modules = p->threads.interps.data[i].modules;

		if (modules && pl_mem_get_u64(p->reader.mem, modules + p->reader.py.layout.dict.used, &count))
			all += count;
	}
	return all;
}

static pl_addr place_in(struct pl_mem *mem, const struct pl_py *py, pl_addr modules)
{
	pl_addr obj;
	uint64_t at = 0;
	struct plumb_error *err = pl_module_attr(mem, py, modules, "plumb._plumb", "_event_place", &obj);

	if (!err)
		err = pl_long_value(mem, py, obj, &at);
	plumb_error_destroy(err);
	return err ? 0 : at;
}

static pl_addr find(const struct pl_python_process *p, struct pl_mem *mem)
{
	struct pl_mem_pages *pages;
	struct plumb_error *err = pl_mem_pages_create(mem, &pages);
	pl_addr at = 0;

	plumb_error_destroy(err);
	if (err)
		return 0;
	for (size_t i = 0; i < interpreters(p) && !at; i++)
		if (p->threads.interps.data[i].modules)
			at = place_in(pl_mem_pages_mem(pages), &p->reader.py, p->threads.interps.data[i].modules);
	pl_mem_pages_destroy(pages);
	return at;
}

static void look_for(struct pl_said_events *s, const struct pl_python_process *p, uint64_t now)
{
	struct pl_work work = pl_ration_begin(&s->looks, now);
	struct pl_mem_limited limited;

	work.most = work.most < MOST_BYTES ? work.most : MOST_BYTES;
	s->ring.place = find(p, pl_mem_limited_init(&limited, p->reader.mem, &work));
	pl_ration_end(&s->looks, &work);
	if (s->ring.place)
		pl_debug(PL_DEBUG_PROCESS, "process %d: it has a ring of events", (int)p->pid);
}

static void look_if_due(struct pl_said_events *s, const struct pl_python_process *p, const struct pl_event_look *look)
{
	uint64_t now = look->now_ns;

	if (pl_layout_str_is_bytes(&p->reader.py.layout) || (now < s->count_ns && !look->last)) /* 2.7 has no plumb */
		return;
	uint64_t count = count_modules(p);
	bool changed = count != s->modules;

	s->count_ns = now + COUNT_NS;
	s->modules = count;
	if (!count || (!changed && now < s->again_ns && !look->last))
		return;
	s->again_ns = now + (changed ? SETTLED_NS : AGAIN_NS);
	look_for(s, p, now);
}

void pl_said_events_take(struct pl_said_events *s, const struct pl_python_process *p, struct pl_event_room *room,
			 struct pl_event_look *look)
{
	look->lost = 0;
	if (!s->ring.place)
		look_if_due(s, p, look);
	if (s->ring.place)
		pl_event_ring_look(&s->ring, p->reader.mem, room, look);
}
