/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process. Pure; allocates only to remember pages. */
#include "native_look.h"

#define PAGE_BITS    12
#define NOWHERE_MAX  4096u
#define MISSES	     3		 /* of looks, until a page is in no file: its library may have been closed meanwhile */
#define PAUSE_MIN_NS 10000000ull /* after a look that finds nothing new; twice as long after each further one */
#define PAUSE_MAX_NS 10000000000ull

void pl_native_look_deinit(struct pl_native_look *l)
{
	pl_map_deinit(&l->nowhere);
}

static bool is_nowhere(const struct pl_native_frame *f)
{
	return f->image == PL_NO_IMAGE && !(f->flags & PL_NATIVE_RESUMED);
}

static uint64_t page_of(const struct pl_native_frame *f)
{
	return pl_native_frame_place(f) >> PAGE_BITS;
}

static uint32_t misses_of(const struct pl_native_look *l, const struct pl_native_frame *f)
{
	uint32_t misses = 0;

	return pl_map_get(&l->nowhere, page_of(f), 0, &misses) ? misses : 0;
}

bool pl_native_look_wanted(struct pl_native_look *l, const pl_native_frame_vec *frames, uint64_t now_ns)
{
	if (now_ns >= l->forget_ns) {
		pl_map_clear(&l->nowhere);
		l->forget_ns = now_ns + PAUSE_MAX_NS;
	}
	for (size_t i = 0; i < frames->len; i++)
		if (is_nowhere(&frames->data[i]) && misses_of(l, &frames->data[i]) < MISSES)
			return now_ns >= l->next_ns;
	return false;
}

void pl_native_look_ended(struct pl_native_look *l, bool changed, uint64_t now_ns)
{
	if (changed) { /* a program that loads libraries mostly loads more */
		pl_map_clear(&l->nowhere);
		l->pause_ns = 0;
		l->next_ns = now_ns;
		return;
	}
	l->pause_ns = l->pause_ns ? 2 * l->pause_ns : PAUSE_MIN_NS;
	if (l->pause_ns > PAUSE_MAX_NS)
		l->pause_ns = PAUSE_MAX_NS;
	l->next_ns = now_ns + l->pause_ns;
}

/* Without memory it is looked for once more. */
void pl_native_look_missed(struct pl_native_look *l, const pl_native_frame_vec *frames)
{
	for (size_t i = 0; i < frames->len; i++) {
		if (!is_nowhere(&frames->data[i]))
			continue;
		if (l->nowhere.len >= NOWHERE_MAX)
			pl_map_clear(&l->nowhere);
		pl_map_set(&l->nowhere, page_of(&frames->data[i]), 0, misses_of(l, &frames->data[i]) + 1);
	}
}
