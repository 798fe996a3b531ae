/* SPDX-License-Identifier: Apache-2.0 */
/* The key of hashes, and hashes of bytes (layer base). Any thread: the key does not change after main() has begun. */
#include "hash.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

uint64_t pl_hash_key[2];

/* Without random numbers, as under a system call filter that refuses them, the place of the stack and the clock are
 * still more than who wrote a file knows. */
__attribute__((constructor)) static void draw_key(void)
{
	struct timespec now = {0};

	if (getentropy(pl_hash_key, sizeof pl_hash_key) == 0)
		return;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	pl_hash_key[0] = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	pl_hash_key[1] = (uint64_t)now.tv_sec << 32 ^ (uint64_t)now.tv_nsec;
}

uint64_t pl_hash_bytes(const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	struct pl_hash_state s = pl_hash_begin();
	uint64_t word, last = (uint64_t)len << 56;

	for (; len >= sizeof word; len -= sizeof word, p += sizeof word) {
		memcpy(&word, p, sizeof word);
		pl_hash_word(&s, word);
	}
	for (size_t i = 0; i < len; i++)
		last |= (uint64_t)p[i] << 8 * i;
	pl_hash_word(&s, last);
	return pl_hash_end(&s);
}
