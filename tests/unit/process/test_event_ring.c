/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of events, which here the test writes: what was said is heard once and in order, what was overwritten is
 * counted exactly, and whatever the ring says is no harm. Something may happen to it between any two reads. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "event_ring.h"

#define SLOTS 2048u
#define TEXTS 65536u
#define BEGIN 1000000u /* the recording's, and the time of event 0 */

static struct {
	struct plumb_event_head head;
	struct plumb_event_slot slots[SLOTS];
	char texts[TEXTS];
} ring;
static struct plumb_event_place place;

/* ---- its memory -------------------------------------------------------------------------------------------------- */

static unsigned reads, happens_after; /* after so many reads: */
static void (*happens)(void);

static bool inside(pl_addr at, size_t len, const void *thing, size_t size)
{
	pl_addr begin = (uintptr_t)thing;

	return at >= begin && len <= size && at - begin <= size - len;
}

static struct plumb_error *read_it(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	if (happens && reads == happens_after)
		happens();
	reads++;
	assert_true(len <= sizeof ring);
	if (!inside(addr, len, &ring, sizeof ring) && !inside(addr, len, &place, sizeof place))
		return &pl_err_unreadable;
	memcpy(dst, (const void *)(uintptr_t)addr, len);
	return NULL;
}

static const struct pl_mem_ops ops = {.read = read_it};
static struct pl_mem memory = {.ops = &ops};

/* ---- who says something ------------------------------------------------------------------------------------------ */

static void put(const char *text, size_t name_len, size_t labels_len)
{
	uint64_t number = ring.head.said++, at = ring.head.texts_end;
	struct plumb_event_slot *s = &ring.slots[number % SLOTS];

	ring.head.texts_end += name_len + labels_len;
	*s = (struct plumb_event_slot){number + 1, BEGIN + number, at, 7, (uint16_t)name_len, (uint16_t)labels_len};
	for (size_t i = 0; i < name_len + labels_len; i++)
		ring.texts[(at + i) % TEXTS] = text[i];
}

static void say(void)
{
	char text[32];
	int len = snprintf(text, sizeof text, "step%cn%c%u%c", 0, 0, (unsigned)ring.head.said, 0);

	memmove(text + 4, text + 5, (size_t)len - 5);
	put(text, 4, (size_t)len - 5);
}

static void say_many(unsigned n)
{
	while (n--)
		say();
}

/* ---- who hears it ------------------------------------------------------------------------------------------------ */

static struct pl_event_room *room;
static struct pl_event_ring heard_ring;
static uint64_t heard, lost, next_number, now;
static bool in_order;

static void hear(void *ctx, const struct pl_said_event *e)
{
	char label[32];

	assert_true(e->name_len + e->labels_len <= PLUMB_EVENT_TEXT_BYTES);
	assert_int_equal(e->name_len, 4);
	assert_memory_equal(e->text, "step", 4);
	uint64_t number = e->time_ns - BEGIN;
	int len = snprintf(label, sizeof label, "n%c%u%c", 0, (unsigned)number, 0);
	assert_int_equal(e->labels_len, len);
	assert_memory_equal(e->text + 4, label, (size_t)len);
	assert_int_equal(e->tid, 7);
	in_order &= number >= next_number;
	next_number = number + 1;
	heard++;
}

static void ignore(void *ctx, const struct pl_said_event *e)
{
	assert_true(e->name_len + e->labels_len <= PLUMB_EVENT_TEXT_BYTES);
	heard++;
}

static void look_for(uint32_t most, bool last)
{
	struct pl_event_look l = {
		.now_ns = now, .since_ns = BEGIN, .most = most, .last = last, .said = hear, .ctx = NULL};

	reads = 0;
	pl_event_ring_look(&heard_ring, &memory, room, &l);
	lost += l.lost;
}

static void look(void)
{
	look_for(UINT32_MAX, false);
}

static int set_up(void **state)
{
	memset(&ring, 0, sizeof ring);
	place = (struct plumb_event_place){PLUMB_EVENT_RING_MAGIC,	    SLOTS,
					   sizeof(struct plumb_event_slot), TEXTS,
					   sizeof(struct plumb_event_head), (uintptr_t)&ring};
	heard_ring = (struct pl_event_ring){.place = (uintptr_t)&place};
	heard = lost = next_number = 0;
	now = BEGIN + 1000000000;
	in_order = true;
	happens = NULL;
	if (!room)
		assert_ok(pl_event_room_create(&room));
	return 0;
}

static int tear_down(void **state)
{
	pl_event_room_destroy(room);
	room = NULL;
	return 0;
}

/* ---- what is well ------------------------------------------------------------------------------------------------ */

static void test_all_is_heard_once_and_in_order(void **state)
{
	look();
	assert_int_equal(heard, 0);
	for (unsigned n = 1; n < 300; n++) { /* around both areas */
		say_many(n);
		look();
	}
	assert_int_equal(heard, 299 * 300 / 2);
	assert_int_equal(lost, 0);
	assert_true(in_order && heard_ring.next == ring.head.said);
}

static void test_where_nothing_is_new_one_read_tells_so(void **state)
{
	say_many(3);
	look();
	look();
	assert_int_equal(reads, 1);
	say();
	look();
	assert_true(reads <= 4);
	say_many(500);
	look();
	assert_true(reads <= 6); /* however many they are */
	assert_int_equal(heard, 504);
}

static void test_nothing_has_been_said_yet(void **state)
{
	place.ring = 0;
	look();
	look();
	assert_int_equal(reads, 1);
	place.ring = (uintptr_t)&ring;
	say();
	look();
	assert_int_equal(heard, 1);
}

static void test_what_was_overwritten_is_counted(void **state)
{
	look();
	say_many(SLOTS);
	look();
	assert_true(heard == SLOTS && lost == 0);
	say_many(SLOTS + 17);
	look();
	assert_int_equal(heard, 2 * SLOTS);
	assert_int_equal(lost, 17);
	assert_true(in_order);
}

static void test_texts_that_were_overwritten_are_counted(void **state)
{
	static char text[5000];

	look();
	say_many(10);
	for (unsigned i = 0; i < TEXTS / sizeof text; i++)
		put(memset(text, 'x', sizeof text), sizeof text, 0);
	say_many(100);
	struct pl_event_look l = {.now_ns = now, .since_ns = BEGIN, .most = UINT32_MAX, .said = ignore};
	pl_event_ring_look(&heard_ring, &memory, room, &l);
	assert_true(l.lost >= 10 && l.lost < 20);
	assert_int_equal(heard + l.lost, ring.head.said);
}

static void test_no_more_are_taken_than_there_is_room_for(void **state)
{
	say_many(100);
	look_for(30, false);
	assert_int_equal(heard, 30);
	look_for(0, false);
	assert_int_equal(heard, 30);
	look_for(UINT32_MAX, false);
	assert_true(heard == 100 && lost == 0 && in_order);
}

/* The slots of the first are taken by others while it looks. */
static void say_a_ring(void)
{
	happens = NULL;
	say_many(SLOTS);
}

static void test_what_is_overwritten_meanwhile_is_counted(void **state)
{
	for (happens_after = 1; happens_after < 4; happens_after++) { /* head, slots, texts, head */
		uint64_t before = ring.head.said;

		look();
		heard = lost = 0;
		say_many(8);
		happens = say_a_ring;
		look();
		assert_null(happens);
		for (int i = 0; i < 8; i++)
			look();
		assert_int_equal(ring.head.said - before, SLOTS + 8);
		assert_int_equal(heard + lost, SLOTS + 8);
		assert_true(lost <= 8 && in_order);
	}
}

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

static void test_what_was_said_before_is_not_of_the_recording(void **state)
{
	say_many(50);
	for (unsigned i = 0; i < 50; i++)
		ring.slots[i].time_ns = BEGIN - 50 + i;
	say_many(5);
	look();
	assert_int_equal(heard, 5);
	assert_int_equal(lost, 0);
}

static void test_what_was_overwritten_before_is_not_either(void **state)
{
	say_many(SLOTS + 100);
	for (unsigned i = 0; i < SLOTS; i++)
		ring.slots[i].time_ns = 1;
	look();
	assert_true(heard == 0 && lost == 0);
	say_many(5);
	look();
	assert_true(heard == 5 && lost == 0);
}

static void test_the_first_look_counts_too_where_it_comes_late(void **state)
{
	say_many(SLOTS + 100);
	look();
	assert_true(heard == SLOTS && lost == 100);
}

/* ---- one that is being written ----------------------------------------------------------------------------------- */

static void test_one_that_is_being_written_is_waited_for(void **state)
{
	look();
	say_many(3);
	ring.slots[1].number = 0;
	look();
	assert_true(heard == 1 && lost == 0);
	now += 2000000000; /* on a machine that has far too much to do */
	look();
	assert_true(heard == 1 && lost == 0);
	ring.slots[1].number = 2;
	look();
	assert_true(heard == 3 && lost == 0 && in_order);
}

static void test_one_that_holds_up_many_is_waited_for_less(void **state)
{
	look();
	say_many(SLOTS / 2 + 2);
	ring.slots[0].number = 0;
	look();
	now += 50000000;
	look();
	assert_true(heard == 0 && lost == 0);
	now += 100000000;
	look();
	look();
	assert_true(heard == SLOTS / 2 + 1 && lost == 1 && in_order);
}

static void test_one_that_is_never_whole_is_counted(void **state)
{
	look();
	say_many(3);
	ring.slots[1].number = 0;
	look();
	now += 4000000000;
	look();
	look();
	assert_true(heard == 2 && lost == 1 && in_order);
	say();
	ring.slots[3].number = 0;
	look_for(UINT32_MAX, true); /* the last one waits for nothing */
	assert_true(heard == 2 && lost == 2);
}

/* ---- what makes no sense ----------------------------------------------------------------------------------------- */

static void refused(void)
{
	heard_ring = (struct pl_event_ring){.place = (uintptr_t)&place};
	look();
	assert_true(heard == 0 && lost == 0);
	look();
	assert_int_equal(reads, 0); /* it is not asked again */
	assert_int_equal(set_up(NULL), 0);
	say();
}

static void test_another_version_is_left_alone(void **state)
{
	say();
	place.magic++;
	refused();
	place.slot_bytes += 8;
	refused();
	place.head_bytes = 0;
	refused();
	place.slots = SLOTS - 1;
	refused();
	place.slots = 0;
	refused();
	place.texts = 3;
	refused();
	place.texts = 1u << 31;
	refused();
	look();
	assert_int_equal(heard, 1);
}

static void nonsense(struct plumb_event_slot *s)
{
	struct plumb_event_slot before = *s;

	heard = lost = 0;
	heard_ring.next = 0;
	heard_ring.looked = true;
	s->number = 1;
	look();
	assert_int_equal(heard, 1);
	assert_int_equal(lost, 1);
	*s = before;
	(void)s;
}

static void test_an_event_that_makes_no_sense_is_lost_alone(void **state)
{
	struct plumb_event_slot *s = &ring.slots[0], good;

	say_many(2);
	good = *s;
	s->text_at = UINT64_MAX;
	nonsense(s);
	s->text_at = UINT64_MAX - 5;
	nonsense(s);
	s->text_at = TEXTS * 7;
	nonsense(s);
	*s = good;
	s->name_len = UINT16_MAX;
	nonsense(s);
	*s = good;
	s->labels_len--;
	nonsense(s);
	*s = good;
	s->labels_len = 2; /* a name without a value */
	nonsense(s);
	*s = good;
	s->name_len = 6; /* a NUL in it */
	nonsense(s);
}

static void test_a_head_that_makes_no_sense_is_no_harm(void **state)
{
	say_many(10);
	look();
	ring.head.said = UINT64_MAX;
	ring.head.texts_end = UINT64_MAX;
	for (int i = 0; i < 10; i++)
		look_for(UINT32_MAX, i % 2);
	ring.head.said = 0;
	look();
	heard_ring.next = 0;
	lost = 0;
	ring.head.texts_end = 0;
	memset(ring.slots, 0xff, sizeof ring.slots);
	ring.head.said = 5;
	for (int i = 0; i < 10; i++)
		look_for(UINT32_MAX, true);
	assert_int_equal(heard, 10);
	assert_int_equal(lost, 5);
}

/* A thousand long texts that are one. */
static void test_what_is_taken_at_once_has_a_limit(void **state)
{
	static char text[8192];

	heard_ring.looked = true;
	put(memset(text, 'x', sizeof text), sizeof text, 0);
	for (unsigned i = 1; i < 1000; i++) {
		ring.slots[i] = ring.slots[0];
		ring.slots[i].number = i + 1;
	}
	ring.head.said = 1000;
	struct pl_event_look l = {.now_ns = now, .since_ns = BEGIN, .most = UINT32_MAX, .said = ignore};
	pl_event_ring_look(&heard_ring, &memory, room, &l);
	assert_int_equal(heard, TEXTS / sizeof text);
	assert_int_equal(heard + l.lost, 1000);
}

static void test_where_it_cannot_be_read_nothing_is_taken(void **state)
{
	say_many(2);
	place.ring += sizeof ring;
	look();
	place.ring = UINT64_MAX - 8;
	heard_ring = (struct pl_event_ring){.place = (uintptr_t)&place};
	look();
	heard_ring = (struct pl_event_ring){.place = 8};
	look();
	assert_true(heard == 0 && lost == 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(all_is_heard_once_and_in_order),
		TEST(where_nothing_is_new_one_read_tells_so),
		TEST(nothing_has_been_said_yet),
		TEST(what_was_overwritten_is_counted),
		TEST(texts_that_were_overwritten_are_counted),
		TEST(no_more_are_taken_than_there_is_room_for),
		TEST(what_is_overwritten_meanwhile_is_counted),
		TEST(what_was_said_before_is_not_of_the_recording),
		TEST(what_was_overwritten_before_is_not_either),
		TEST(the_first_look_counts_too_where_it_comes_late),
		TEST(one_that_is_being_written_is_waited_for),
		TEST(one_that_holds_up_many_is_waited_for_less),
		TEST(one_that_is_never_whole_is_counted),
		TEST(another_version_is_left_alone),
		TEST(an_event_that_makes_no_sense_is_lost_alone),
		TEST(a_head_that_makes_no_sense_is_no_harm),
		TEST(what_is_taken_at_once_has_a_limit),
		TEST(where_it_cannot_be_read_nothing_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
