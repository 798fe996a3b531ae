/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of events that sessions of other processes read (<plumb/event_ring.h>). Extension module, without the GIL if
 * need be.
 *
 * Who writes takes a number and room for the text, which whoever reads can tell from what is gone; then it writes, and
 * the slot's number comes last. The memory is made by the first event, and is empty again in the child of a fork. */
#include "own_events.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <plumb/event_ring.h>

#define SLOTS 4096u
#define TEXTS (256u << 10)

struct ring {
	_Atomic uint64_t said, texts_end;
	uint64_t unused[6];
	struct slot {
		_Atomic uint64_t number;
		uint64_t time_ns, text_at;
		uint32_t tid;
		uint16_t name_len, labels_len;
	} slots[SLOTS];
	char texts[TEXTS];
};
_Static_assert(offsetof(struct ring, slots) == sizeof(struct plumb_event_head), "the slots follow the head");
_Static_assert(sizeof(struct slot) == sizeof(struct plumb_event_slot), "the same slots");

static struct plumb_event_place place = {PLUMB_EVENT_RING_MAGIC,	  SLOTS, sizeof(struct plumb_event_slot), TEXTS,
					 sizeof(struct plumb_event_head), 0};
static _Atomic(struct ring *) the_ring;
static bool wiped; /* in the child of a fork, by the kernel */
static __thread uint32_t own_tid;

uint64_t ext_event_place(void)
{
	return (uintptr_t)&place;
}

static void begin_child(void)
{
	struct ring *r = atomic_load(&the_ring);

	own_tid = 0;
	if (r && !wiped)
		memset(r, 0, sizeof *r);
}

static void watch_forks(void)
{
	(void)pthread_atfork(NULL, NULL, begin_child);
}

/* Of several threads the first one's counts. */
static struct ring *make_ring(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct ring *none = NULL,
		    *r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (r == MAP_FAILED)
		return NULL;
	bool wipes = madvise(r, sizeof *r, MADV_WIPEONFORK) == 0;
	pthread_once(&once, watch_forks);
	if (!atomic_compare_exchange_strong(&the_ring, &none, r)) {
		munmap(r, sizeof *r);
		return none;
	}
	wiped = wipes;
	__atomic_store_n(&place.ring, (uintptr_t)r, __ATOMIC_RELEASE);
	return r;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void put_text(struct ring *r, uint64_t at, const char *text, size_t len)
{
	size_t from = at % TEXTS, first = len < TEXTS - from ? len : TEXTS - from;

	memcpy(r->texts + from, text, first);
	memcpy(r->texts, text + first, len - first);
}

void ext_event_leave(const char *text, size_t name_len, size_t labels_len)
{
	struct ring *r = atomic_load_explicit(&the_ring, memory_order_acquire);
	size_t len = name_len + labels_len;

	if (len > PLUMB_EVENT_TEXT_BYTES || (!r && !(r = make_ring())))
		return;
	if (!own_tid)
		own_tid = (uint32_t)syscall(SYS_gettid); /* gettid() came with glibc 2.30 */
	uint64_t time_ns = now_ns(), number = atomic_fetch_add(&r->said, 1), at = atomic_fetch_add(&r->texts_end, len);
	struct slot *s = &r->slots[number % SLOTS];
	atomic_store_explicit(&s->number, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release); /* whoever sees what follows sees that the room is taken */
	s->time_ns = time_ns;
	s->text_at = at;
	s->tid = own_tid;
	s->name_len = (uint16_t)name_len;
	s->labels_len = (uint16_t)labels_len;
	put_text(r, at, text, len);
	atomic_store_explicit(&s->number, number + 1, memory_order_release);
}
