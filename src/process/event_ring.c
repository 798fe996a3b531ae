/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process. See event_ring.h.
 *
 * The head is read before what it speaks of is copied, and again afterwards: it tells whose place was given to another
 * event meanwhile. What is new is copied in two reads, slots and texts, however much it is. */
#include "event_ring.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_MAX 65536u
#define BATCHES	  4 /* of a look */

/* For an event that is being written: its thread may wait for a processor, on a machine that has far too much to do for
 * seconds. Less where others have filled half of the ring behind it. */
#define PATIENCE_NS	  3000000000ull
#define LEAST_PATIENCE_NS 100000000ull

struct pl_event_room {
	struct plumb_event_slot slots[PL_EVENTS_A_LOOK];
	char texts[PL_EVENT_TEXTS_MAX];
};

struct plumb_error *pl_event_room_create(struct pl_event_room **ret)
{
	*ret = malloc(sizeof **ret);
	return *ret ? NULL : &pl_err_no_memory;
}

void pl_event_room_destroy(struct pl_event_room *room)
{
	free(room);
}

/* ---- where it is ------------------------------------------------------------------------------------------------- */

static bool is_size(uint32_t n, uint32_t most)
{
	return n && n <= most && (n & (n - 1)) == 0;
}

static bool makes_sense(const struct plumb_event_place *p)
{
	return p->magic == PLUMB_EVENT_RING_MAGIC && p->slot_bytes == sizeof(struct plumb_event_slot) &&
	       p->head_bytes == sizeof(struct plumb_event_head) && is_size(p->slots, SLOTS_MAX) &&
	       is_size(p->texts, PL_EVENT_TEXTS_MAX);
}

/* Is there something in it? */
static bool find(struct pl_event_ring *r, struct pl_mem *mem)
{
	if (r->refused || r->known.ring)
		return !r->refused;
	if (!pl_mem_get(mem, r->place, &r->known, sizeof r->known)) {
		r->known.ring = 0;
		return false;
	}
	r->refused = !makes_sense(&r->known);
	return !r->refused && r->known.ring;
}

static bool read_head(const struct pl_event_ring *r, struct pl_mem *mem, struct plumb_event_head *ret)
{
	return pl_mem_get(mem, r->known.ring, ret, sizeof *ret);
}

/* ---- copying ----------------------------------------------------------------------------------------------------- */

/* @p len bytes of an area of @p size at @p area, which goes on where it began. */
static bool copy_around(struct pl_mem *mem, pl_addr area, uint64_t size, uint64_t from, uint64_t len, void *ret)
{
	uint64_t at = from % size, first = len < size - at ? len : size - at;
	const struct pl_range ranges[] = {{area + at, (uint32_t)first}, {area, (uint32_t)(len - first)}};

	return len == 0 || pl_mem_get_all(mem, ranges, first < len ? 2 : 1, ret);
}

/* A batch that was copied: `count` events from r->next on, and the texts from `from` on. */
struct batch {
	struct pl_event_room *room;
	uint32_t count, whole; /* whole: of them, in front of the first that is not */
	uint64_t from, len;
	struct plumb_event_head before, after;
};

static bool copy_slots(const struct pl_event_ring *r, struct pl_mem *mem, struct batch *b)
{
	const uint64_t each = sizeof(struct plumb_event_slot);

	return copy_around(mem, r->known.ring + sizeof b->before, r->known.slots * each,
			   r->next % r->known.slots * each, b->count * each, b->room->slots);
}

static bool is_whole(const struct pl_event_ring *r, const struct batch *b, uint32_t i)
{
	return b->room->slots[i].number == r->next + i + 1;
}

static uint32_t text_len(const struct plumb_event_slot *s)
{
	return (uint32_t)s->name_len + s->labels_len;
}

/* Is its text among those that @p h tells of, and not overwritten? */
static bool is_there(const struct pl_event_ring *r, const struct plumb_event_head *h, const struct plumb_event_slot *s)
{
	return s->text_at <= h->texts_end && h->texts_end - s->text_at <= r->known.texts &&
	       text_len(s) <= h->texts_end - s->text_at && text_len(s) <= PLUMB_EVENT_TEXT_BYTES;
}

/* Those that are written, and where the texts of them begin and end. */
static void measure(const struct pl_event_ring *r, struct batch *b)
{
	uint64_t first = UINT64_MAX, end = 0;

	for (b->whole = 0; b->whole < b->count && is_whole(r, b, b->whole); b->whole++) {
		const struct plumb_event_slot *s = &b->room->slots[b->whole];
		uint64_t its_end = s->text_at + text_len(s);

		if (!is_there(r, &b->before, s))
			continue;
		first = s->text_at < first ? s->text_at : first;
		end = its_end > end ? its_end : end;
	}
	b->from = first < end ? first : 0;
	b->len = first < end ? end - first : 0;
}

static bool copy(const struct pl_event_ring *r, struct pl_mem *mem, struct batch *b)
{
	if (!copy_slots(r, mem, b))
		return false;
	measure(r, b);
	uint64_t texts = r->known.ring + sizeof b->before + (uint64_t)r->known.slots * sizeof(struct plumb_event_slot);
	return copy_around(mem, texts, r->known.texts, b->from, b->len, b->room->texts) && read_head(r, mem, &b->after);
}

/* ---- taking ------------------------------------------------------------------------------------------------------ */

/* Names and values in turn, each with a NUL. */
static bool are_labels(const char *labels, uint32_t len)
{
	uint32_t ends = 0;

	for (uint32_t i = 0; i < len; i++)
		ends += labels[i] == '\0';
	return len == 0 || (labels[len - 1] == '\0' && ends % 2 == 0 && ends <= 2 * PLUMB_EVENT_LABELS);
}

static bool is_good(const struct pl_event_ring *r, const struct batch *b, uint32_t i)
{
	const struct plumb_event_slot *s = &b->room->slots[i];
	uint64_t number = r->next + i;

	if (b->after.said - number > r->known.slots || !is_there(r, &b->before, s) || !is_there(r, &b->after, s))
		return false;
	const char *text = b->room->texts + (text_len(s) ? s->text_at - b->from : 0);
	return !memchr(text, '\0', s->name_len) && are_labels(text + s->name_len, s->labels_len);
}

static void take(const struct batch *b, uint32_t i, struct pl_event_look *look)
{
	const struct plumb_event_slot *s = &b->room->slots[i];
	const struct pl_said_event e = {.time_ns = s->time_ns,
					.tid = s->tid,
					.name_len = s->name_len,
					.labels_len = s->labels_len,
					.text = b->room->texts + (text_len(s) ? s->text_at - b->from : 0)};

	look->said(look->ctx, &e);
}

/* Texts that are there at the same time have room there, all together: those that have not are one text told often. */
static void take_all(struct pl_event_ring *r, const struct batch *b, struct pl_event_look *look)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < b->whole; i++) {
		const struct plumb_event_slot *s = &b->room->slots[i];

		if (!r->looked && s->time_ns < look->since_ns)
			continue;
		if (!is_good(r, b, i) || sum + text_len(s) > r->known.texts) {
			look->lost++;
			continue;
		}
		sum += text_len(s);
		take(b, i, look);
	}
	r->next += b->whole;
	r->stuck_ns = b->whole ? 0 : r->stuck_ns;
}

static uint64_t patience_ns(const struct pl_event_ring *r, uint64_t said)
{
	return said - r->next > r->known.slots / 2 ? LEAST_PATIENCE_NS : PATIENCE_NS;
}

/* The next one is not whole. Who writes it may be waiting for a processor; a thread that was killed never goes on. */
static void wait_for_next(struct pl_event_ring *r, uint64_t said, struct pl_event_look *look)
{
	if (!r->stuck_ns)
		r->stuck_ns = look->now_ns;
	if (!look->last && look->now_ns - r->stuck_ns < patience_ns(r, said))
		return;
	r->next++;
	r->stuck_ns = 0;
	look->lost++;
}

/* What is overwritten was said before the oldest that is left. Is that one older than the recording, so are they. */
static bool were_early(const struct pl_event_ring *r, const struct batch *b, const struct pl_event_look *look)
{
	return !r->looked && is_whole(r, b, 0) && b->room->slots[0].time_ns < look->since_ns;
}

/* False: there is nothing to go on with now. */
static bool look_once(struct pl_event_ring *r, struct pl_mem *mem, struct batch *b, struct pl_event_look *look)
{
	uint64_t said = b->before.said, gone = 0;

	if (said < r->next) { /* it only grows: what this is nobody knows */
		r->next = said;
		return false;
	}
	if (said - r->next > r->known.slots)
		gone = said - r->known.slots - r->next;
	r->next += gone;
	b->whole = 0;
	b->count = said - r->next < PL_EVENTS_A_LOOK ? (uint32_t)(said - r->next) : PL_EVENTS_A_LOOK;
	b->count = b->count < look->most ? b->count : look->most;
	if (!b->count || !copy(r, mem, b)) {
		r->next -= gone;
		return false;
	}
	look->lost += were_early(r, b, look) ? 0 : gone;
	take_all(r, b, look);
	if (b->whole < b->count)
		wait_for_next(r, said, look);
	return b->whole || r->stuck_ns == 0;
}

void pl_event_ring_look(struct pl_event_ring *r, struct pl_mem *mem, struct pl_event_room *room,
			struct pl_event_look *look)
{
	struct batch b = {.room = room};
	bool more = find(r, mem);

	look->lost = 0;
	for (unsigned i = 0; more && i < BATCHES && read_head(r, mem, &b.before); i++) {
		more = look_once(r, mem, &b, look) && r->next != b.after.said;
		look->most -= more ? b.whole : 0;
		r->looked |= r->next == b.before.said;
	}
}
