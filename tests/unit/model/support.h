/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles for tests: random ones, and a text that says all that a profile says but the numbers of its ids. */
#ifndef TEST_MODEL_SUPPORT_H
#define TEST_MODEL_SUPPORT_H

#include "clock.h"
#include "profile.h"

/** Fail the test with the message of @p err unless it is NULL. */
void check(struct plumb_error *err);

struct plumb_profile *empty_profile(void);

/** All counts, threads and meta data of @p p with every id resolved, lines sorted. Caller frees. */
char *profile_dump(const struct plumb_profile *p);
/** Their dumps are equal. */
void assert_same_profile(const struct plumb_profile *a, const struct plumb_profile *b);

/** The labels of a row of functions with '|' behind each name and value; "" if it has none. */
const char *labels_text(const struct plumb_profile *p, const struct pl_function *f, char ret[256]);
uint32_t add_string(struct plumb_profile *p, const char *text);
/** A function named @p name in @p file and a location on @p line of it, on top of @p parent. */
uint32_t add_frame(struct plumb_profile *p, uint32_t parent, const char *name, const char *file, int32_t line);
/** A thread of process @p pid. */
uint32_t add_thread(struct plumb_profile *p, uint32_t pid, uint64_t tid, const char *name, bool main);
void add_samples(struct plumb_profile *p, uint32_t stack, uint32_t thread, uint16_t state, uint64_t time_ns,
		 uint64_t samples, uint64_t weight_ns);

/** A stream of samples over a small program: recursion, lines, several threads and processes, all states. */
struct generator {
	struct pl_rng rng;
	struct plumb_profile *profile;
	uint64_t time_ns, step_ns;
	uint32_t depth, processes;
	bool rich; /* locations have opcodes, samples stand for several */
	bool tags; /* some stacks bear one */
};
uint64_t random_below(struct pl_rng *rng, uint64_t n);
/** The next sample; what it refers to is in the profile, the sample itself is not. */
struct pl_sample generate_sample(struct generator *g);
/** The text of one of the files, which may have had another one before. */
void generate_source(struct generator *g);
/** One more list of tasks, and what some of them waited for. */
void generate_waits(struct generator *g);
/** Something that happened, which is in the profile. */
struct pl_event generate_event(struct generator *g);
/** A profile of @p samples samples and all meta data, made of @p seed. Caller destroys. */
struct plumb_profile *random_profile(uint64_t seed, unsigned samples);
void random_meta(struct pl_rng *rng, struct plumb_profile *p);

#endif
