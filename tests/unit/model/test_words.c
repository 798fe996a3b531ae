/* SPDX-License-Identifier: Apache-2.0 */
/* What <plumb/words.def> says of its words: one for each, and each is known again. */
#include "words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint8_t state_bits[] = {
#define PLUMB_STATE(name, bit, ...) bit,
#include <plumb/words.def>
};
static const struct {
	unsigned bit, state;
} doings[] = {
#define PLUMB_DOING(name, bit, state, ...) {bit, state},
#include <plumb/words.def>
};
static const struct {
	unsigned bit, rank;
} activities[] = {
#define PLUMB_ACTIVITY(name, bit, rank, ...) {bit, rank},
#include <plumb/words.def>
};
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* All sets, as there are few bits. */
static void a_set_of_states_is_known_by_its_words(void **state)
{
	unsigned all = 0;

	for (size_t i = 0; i < COUNT(state_bits); i++) {
		assert_int_equal(state_bits[i] & (state_bits[i] - 1), 0);
		assert_int_equal(all & state_bits[i], 0);
		all |= state_bits[i];
	}
	for (unsigned set = 0; set <= all; set++) {
		char buf[PL_STATE_TEXT_BYTES];
		const char *text = pl_state_text((uint16_t)set, buf);
		uint16_t found = UINT16_MAX;

		assert_true(pl_state_parse(text, strlen(text), &found));
		assert_int_equal(found, set & all);
	}
}

static void samples_are_chosen_by_one_state_each(void **state)
{
	unsigned all = 0;

	for (size_t i = 0; i < COUNT(doings); i++) {
		assert_int_equal(doings[i].bit, 1u << i);
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(doings[i].state, doings[k].state);
		all |= doings[i].state;
		assert_true(doings[i].state <= UINT8_MAX || doings[i].state % (1 << PL_STATE_BITS) == 0);
	}
	assert_false(all & ~(unsigned)(UINT8_MAX | PL_STATE_REASONS));
}

/* The GIL has a bit of its own, and who runs waits for nothing; who is ready, for a CPU at most. */
static void a_wait_has_one_reason(void **state)
{
	for (unsigned i = 0; i < PL_REASONS; i++) {
		enum pl_reason reason = (enum pl_reason)i, found;
		uint16_t waiting = pl_reason_state(reason);

		assert_true(*pl_reasons[i].word && *pl_reasons[i].text);
		assert_int_equal(pl_reason_of(waiting), reason == PL_REASON_GIL ? PL_REASON_UNKNOWN : reason);
		assert_int_equal(pl_reason_of(waiting | PL_STATE_WANTS_GIL), PL_REASON_GIL);
		assert_int_equal(pl_reason_of(waiting | PL_STATE_ON_CPU),
				 reason == PL_REASON_CPU ? reason : PL_REASON_UNKNOWN);
		assert_int_equal(pl_state_ready(waiting | PL_STATE_ON_CPU), reason == PL_REASON_CPU);
		assert_false(pl_state_ready(waiting) || pl_state_ready(waiting | PL_STATE_ON_CPU | PL_STATE_UNKNOWN));
		assert_int_equal(pl_reason_of(waiting | PL_STATE_UNKNOWN), PL_REASON_UNKNOWN);
		if (pl_reason_parse(pl_reasons[i].word, strlen(pl_reasons[i].word), &found))
			assert_int_equal(found, reason);
		else
			assert_int_equal(reason, PL_REASON_UNKNOWN);
	}
	assert_int_equal(pl_reason_of(PL_STATE_REASONS), PL_REASON_OTHER); /* of a newer plumb */
	assert_int_equal(pl_reason_of(PL_REASON_GIL << PL_STATE_BITS), PL_REASON_UNKNOWN);
}

typedef const char *name_fn(unsigned number);
typedef bool parse_fn(const char *text, size_t len, uint8_t *ret);

static void expect_known(name_fn *name, parse_fn *parse, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		uint8_t found = UINT8_MAX;

		assert_true(parse(name(i), strlen(name(i)), &found));
		assert_int_equal(found, i);
	}
	assert_non_null(name(count)); /* what nobody knows has the name of something */
}

static void kinds_qualities_and_modes_are_known_by_their_names(void **state)
{
	expect_known(pl_kind_name, pl_kind_parse, PL_ORIGINS);
	expect_known(pl_origin_name, pl_origin_parse, PL_ORIGINS);
	expect_known(pl_quality_name, pl_quality_parse, PL_QUALITIES);
	expect_known(pl_mode_name, pl_mode_parse, PL_MODES);
}

static void each_loss_is_a_figure(void **state)
{
	struct pl_meta meta = {0};
	size_t figures = 0;

	for (const struct pl_meta_figure *f = pl_meta_figures; f->name; f++) {
		if (strncmp(f->name, "lost ", 5) == 0)
			*pl_meta_figure(&meta, f) = ++figures;
	}
	assert_int_equal(figures, PL_LOSSES);
	for (size_t i = 0; i < PL_LOSSES; i++) {
		assert_int_equal(meta.losses[i], i + 1);
		assert_true(*pl_losses[i].member && *pl_losses[i].word && *pl_losses[i].about);
	}
}

/* So each state is shown as one: the ranks are 1, 2, ..., and the last one takes what no bit does. */
static void a_state_is_shown_as_one_activity(void **state)
{
	unsigned bits = 0, ranks = 0;

	for (size_t i = 0; i < COUNT(activities); i++) {
		unsigned bit = activities[i].bit, rank = activities[i].rank;

		assert_true(rank >= 1 && rank <= COUNT(activities) && !(ranks & 1u << rank));
		ranks |= 1u << rank;
		assert_int_equal(bit == 0, rank == COUNT(activities));
		if (bit > UINT8_MAX)
			assert_int_equal(bit, pl_reason_state((enum pl_reason)(bit >> PL_STATE_BITS)));
		else
			assert_true(bit == 0 || (!(bit & (bit - 1)) && !(bits & bit)));
		bits |= bit & UINT8_MAX;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_of_states_is_known_by_its_words),
		cmocka_unit_test(samples_are_chosen_by_one_state_each),
		cmocka_unit_test(a_wait_has_one_reason),
		cmocka_unit_test(kinds_qualities_and_modes_are_known_by_their_names),
		cmocka_unit_test(each_loss_is_a_figure),
		cmocka_unit_test(a_state_is_shown_as_one_activity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
