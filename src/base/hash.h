/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes of what files and programs hold: SipHash-1-3 with a key that each process draws anew. Who writes a file cannot
 * foresee which of its names or ids meet in one slot of a table, and make a search of each. Nothing may depend on the
 * values: they differ from run to run. Any thread. */
#ifndef PL_HASH_H
#define PL_HASH_H

#include <stddef.h>
#include <stdint.h>

/** Drawn before main(). */
extern uint64_t pl_hash_key[2];

uint64_t pl_hash_bytes(const void *bytes, size_t len);

struct pl_hash_state {
	uint64_t v0, v1, v2, v3;
};

static inline struct pl_hash_state pl_hash_begin(void)
{
	return (struct pl_hash_state){.v0 = pl_hash_key[0] ^ 0x736f6d6570736575ull,
				      .v1 = pl_hash_key[1] ^ 0x646f72616e646f6dull,
				      .v2 = pl_hash_key[0] ^ 0x6c7967656e657261ull,
				      .v3 = pl_hash_key[1] ^ 0x7465646279746573ull};
}

static inline uint64_t pl_hash_rotate(uint64_t v, int bits)
{
	return v << bits | v >> (64 - bits);
}

static inline void pl_hash_round(struct pl_hash_state *s)
{
	s->v0 += s->v1;
	s->v1 = pl_hash_rotate(s->v1, 13) ^ s->v0;
	s->v0 = pl_hash_rotate(s->v0, 32);
	s->v2 += s->v3;
	s->v3 = pl_hash_rotate(s->v3, 16) ^ s->v2;
	s->v0 += s->v3;
	s->v3 = pl_hash_rotate(s->v3, 21) ^ s->v0;
	s->v2 += s->v1;
	s->v1 = pl_hash_rotate(s->v1, 17) ^ s->v2;
	s->v2 = pl_hash_rotate(s->v2, 32);
}

static inline void pl_hash_word(struct pl_hash_state *s, uint64_t word)
{
	s->v3 ^= word;
	pl_hash_round(s);
	s->v0 ^= word;
}

static inline uint64_t pl_hash_end(struct pl_hash_state *s)
{
	s->v2 ^= 0xff;
	for (int i = 0; i < 3; i++)
		pl_hash_round(s);
	return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

/** Of a key of two words. They are always two, so no length goes into it. */
static inline uint64_t pl_hash_words(uint64_t k0, uint64_t k1)
{
	struct pl_hash_state s = pl_hash_begin();

	pl_hash_word(&s, k0);
	pl_hash_word(&s, k1);
	return pl_hash_end(&s);
}

#endif
