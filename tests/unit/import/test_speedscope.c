/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "canon.h"

#define HEAD                                                                                                           \
	"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{\"frames\":["                 \
	"{\"name\":\"main\",\"file\":\"a.py\",\"line\":3},{\"name\":\"work\"}]},\"profiles\":["

static struct plumb_profile *read_text(const char *text)
{
	return canon_import("speedscope", text, strlen(text));
}

static void assert_text(const char *text, const char *want, bool timed)
{
	struct plumb_profile *p = read_text(text);
	char *got = canon_text(p);

	assert_string_equal(got, want);
	assert_int_equal(pl_profile_is_timed(p), timed);
	free(got);
	pl_profile_destroy(p);
}

static void assert_corrupt(const char *text, const char *want)
{
	struct plumb_profile *p = NULL;
	struct plumb_error *err = canon_try("speedscope", text, strlen(text), &p);

	assert_non_null(err);
	if (!strstr(plumb_error_message(err), want))
		fail_msg("%s lacks %s", plumb_error_message(err), want);
	assert_code(err, PLUMB_ERR_CORRUPT);
}

static void what_is_written_comes_back(void **state)
{
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct random_shape shape = {.seed = seed, .samples = 500, .plain = seed > 4};
		struct plumb_profile *p = canon_random(&shape), *again;
		size_t len;
		char *text = canon_export(p, "speedscope", &len), *want = canon_text(p), *got;

		again = canon_import("speedscope", text, len);
		got = canon_text(again);
		assert_string_equal(got, want);
		assert_int_equal(again->meta.mode, p->meta.mode);
		assert_int_equal(again->meta.period_ns, p->meta.period_ns);
		assert_int_equal(again->meta.duration_ns, p->meta.duration_ns);
		free(text);
		free(want);
		free(got);
		pl_profile_destroy(p);
		pl_profile_destroy(again);
	}
}

static void a_sampled_profile_is_a_thread(void **state)
{
	assert_text(HEAD
		    "{\"type\":\"sampled\",\"name\":\"T\",\"unit\":\"milliseconds\",\"startValue\":0,\"endValue\":4,"
		    "\"samples\":[[0],[0,1],[]],\"weights\":[1.5,2.25,0.25]}]}",
		    "0@0 1 \"\"\"T\" 0:\"main\"\"\"\"a.py\"0:3-3.-1--1 = 1 1500000\n"
		    "0@0 1 \"\"\"T\" 0:\"work\"\"\"\"\"0:0-0.-1--1 0:\"main\"\"\"\"a.py\"0:3-3.-1--1 = 1 2250000\n"
		    "0@0 1 \"\"\"T\" = 1 250000\n",
		    true);
}

static void weights_without_a_unit_are_numbers_of_samples(void **state)
{
	assert_text(HEAD "{\"type\":\"sampled\",\"name\":\"T\",\"unit\":\"none\",\"startValue\":0,\"endValue\":4,"
			 "\"samples\":[[0],[0],[1]],\"weights\":[3,2,0]}]}",
		    "0@0 1 \"\"\"T\" 0:\"main\"\"\"\"a.py\"0:3-3.-1--1 = 5 5\n", false);
}

static void events_are_stretches_of_time(void **state)
{
	assert_text(HEAD "{\"type\":\"evented\",\"name\":\"T\",\"startValue\":0,\"endValue\":9,\"events\":["
			 "{\"type\":\"O\",\"frame\":0,\"at\":1},{\"type\":\"O\",\"frame\":1,\"at\":3},"
			 "{\"type\":\"C\",\"frame\":1,\"at\":4},{\"type\":\"C\",\"frame\":0,\"at\":4},"
			 "{\"type\":\"O\",\"frame\":1,\"at\":6},{\"type\":\"C\",\"frame\":1,\"at\":9}],"
			 "\"unit\":\"microseconds\"}]}",
		    "0@0 1 \"\"\"T\" 0:\"main\"\"\"\"a.py\"0:3-3.-1--1 = 1 2000\n"
		    "0@0 1 \"\"\"T\" 0:\"work\"\"\"\"\"0:0-0.-1--1 0:\"main\"\"\"\"a.py\"0:3-3.-1--1 = 1 1000\n"
		    "0@0 1 \"\"\"T\" 0:\"work\"\"\"\"\"0:0-0.-1--1 = 1 3000\n",
		    true);
}

static void frames_may_stand_last(void **state)
{
	assert_text("{\"profiles\":[{\"weights\":[2],\"samples\":[[0]],\"unit\":\"seconds\",\"type\":\"sampled\","
		    "\"name\":\"T\",\"startValue\":0,\"endValue\":2}],\"shared\":{\"frames\":[{\"name\":\"f\"}]},"
		    "\"activeProfileIndex\":null}",
		    "0@0 1 \"\"\"T\" 0:\"f\"\"\"\"\"0:0-0.-1--1 = 1 2000000000\n", true);
}

static void what_cannot_be_is_told(void **state)
{
#define SAMPLED HEAD "{\"type\":\"sampled\",\"name\":\"T\",\"unit\":\"none\","
#define EVENTED HEAD "{\"type\":\"evented\",\"name\":\"T\",\"unit\":\"none\","
	assert_corrupt("{", "line 1, column 2");
	assert_corrupt("{}", "no list of frames");
	assert_corrupt(SAMPLED "\"samples\":[[2]],\"weights\":[1]}]}", "there is no frame 2 in a list of 2");
	assert_corrupt(SAMPLED "\"samples\":[[-1]],\"weights\":[1]}]}", "the number of a frame was expected");
	assert_corrupt(SAMPLED "\"samples\":[[0]],\"weights\":[1,2]}]}", "1 samples and 2 weights");
	assert_corrupt(SAMPLED "\"samples\":[[0]]}]}", "1 samples and 0 weights");
	assert_corrupt(SAMPLED "\"samples\":[[0]],\"weights\":[-1]}]}", "not negative");
	assert_corrupt(SAMPLED "\"samples\":[[0]],\"weights\":[1],\"plumb_counts\":[0]}]}", "number of samples");
	assert_corrupt(HEAD "{\"type\":\"sampled\",\"name\":\"T\",\"unit\":\"bytes\"}]}", "the unit is none of");
	assert_corrupt(HEAD "{\"type\":\"trace\"}]}", "neither sampled nor evented");
	assert_corrupt(HEAD "],\"profiles\":[]}", "two lists of profiles");
	assert_corrupt(HEAD "{\"plumb\":{\"process\":0}}]}", "there is no process 0");
	assert_corrupt(EVENTED "\"events\":[{\"type\":\"C\",\"frame\":0,\"at\":1}]}]}",
		       "not the last one to be opened");
	assert_corrupt(EVENTED "\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":1}]}]}", "never closed");
	assert_corrupt(EVENTED
		       "\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":2},{\"type\":\"C\",\"frame\":0,\"at\":1}]}]}",
		       "earlier than the one before");
	assert_corrupt(EVENTED "\"events\":[{\"type\":\"O\",\"at\":1}]}]}", "an event needs");
}

static void it_is_known_by_its_beginning_or_its_end(void **state)
{
	const char *ours = HEAD "]}", *other = "{\"traceEvents\":[]}",
		   *last = "{\"profiles\":[],\"activeProfileIndex\":0}";
	struct pl_import_input in = {.bytes = (const uint8_t *)ours, .len = strlen(ours)};

	assert_string_equal(pl_importer_for(&in)->name, "speedscope");
	in = (struct pl_import_input){.bytes = (const uint8_t *)last, .len = strlen(last)};
	assert_string_equal(pl_importer_for(&in)->name, "speedscope");
	in = (struct pl_import_input){.bytes = (const uint8_t *)other, .len = strlen(other)};
	assert_null(pl_importer_for(&in));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_comes_back),
		cmocka_unit_test(a_sampled_profile_is_a_thread),
		cmocka_unit_test(weights_without_a_unit_are_numbers_of_samples),
		cmocka_unit_test(events_are_stretches_of_time),
		cmocka_unit_test(frames_may_stand_last),
		cmocka_unit_test(what_cannot_be_is_told),
		cmocka_unit_test(it_is_known_by_its_beginning_or_its_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
