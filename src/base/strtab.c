/* SPDX-License-Identifier: Apache-2.0 */
/* Interned strings (layer base). One thread at a time.
 *
 * Text lies in chunks that never move, so that pl_strtab_get stays valid; an entry is 16 bytes, the hash index 4 bytes
 * a slot. Chunks start small (a run of a few names costs a few KiB) and grow to 64 KiB; a string that fits in no chunk
 * gets one of its own size. Nothing is ever removed. */
#include "strtab.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "vec.h"

#define FIRST_CHUNK 2048u
#define MAX_CHUNK   65536u
#define FIRST_INDEX 64u
#define NO_ID	    UINT32_MAX

struct entry {
	const char *text;
	uint32_t len, hash;
};

struct chunk {
	struct chunk *next;
	char text[];
};

struct pl_strtab {
	PL_VEC(struct entry) entries;
	uint32_t *index;      /* ids; NO_ID is a free slot */
	size_t index_cap;     /* a power of two */
	struct chunk *chunks; /* newest first */
	char *free_text;
	size_t free_len, chunk_len;
	uint64_t text_len;
};

static size_t find_slot(const struct pl_strtab *t, const void *bytes, size_t len, uint32_t hash)
{
	size_t mask = t->index_cap - 1, i = hash & mask;
	for (; t->index[i] != NO_ID; i = (i + 1) & mask) {
		assert(t->index[i] < t->entries.len && t->entries.data);
		const struct entry *e = &t->entries.data[t->index[i]];
		if (e->hash == hash && e->len == len && (len == 0 || memcmp(e->text, bytes, len) == 0))
			break;
	}
	return i;
}

static bool index_resize(struct pl_strtab *t, size_t cap)
{
	uint32_t *index = malloc(cap * sizeof *index);
	if (!index)
		return false;
	memset(index, 0xff, cap * sizeof *index);
	for (size_t id = 0; id < t->entries.len; id++) {
		size_t i = t->entries.data[id].hash & (cap - 1);
		while (index[i] != NO_ID)
			i = (i + 1) & (cap - 1);
		index[i] = (uint32_t)id;
	}
	free(t->index);
	t->index = index;
	t->index_cap = cap;
	return true;
}

static struct chunk *chunk_add(struct pl_strtab *t, size_t len)
{
	struct chunk *c = malloc(sizeof *c + len);
	if (!c)
		return NULL;
	c->next = t->chunks;
	t->chunks = c;
	return c;
}

/* Place for @p len bytes that stay where they are; NULL without memory. */
static char *text_alloc(struct pl_strtab *t, size_t len)
{
	if (len > t->free_len) {
		size_t next = t->chunk_len ? t->chunk_len * 2 : FIRST_CHUNK;
		next = next > MAX_CHUNK ? MAX_CHUNK : next;
		/* A large string does not end the current chunk, whose rest is still good for many names. */
		bool own = len > next / 4;
		struct chunk *c = chunk_add(t, own ? len : next);
		if (!c)
			return NULL;
		if (own)
			return c->text;
		t->chunk_len = t->free_len = next;
		t->free_text = c->text;
	}
	char *text = t->free_text;
	t->free_text += len;
	t->free_len -= len;
	return text;
}

struct plumb_error *pl_strtab_create(struct pl_strtab **ret)
{
	struct pl_strtab *t = calloc(1, sizeof *t);
	uint32_t id;
	if (!t || !index_resize(t, FIRST_INDEX) || pl_strtab_add(t, "", 0, &id)) {
		pl_strtab_destroy(t);
		return &pl_err_no_memory;
	}
	*ret = t;
	return NULL;
}

void pl_strtab_destroy(struct pl_strtab *t)
{
	if (!t)
		return;
	for (struct chunk *c = t->chunks, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	pl_vec_deinit(&t->entries);
	free(t->index);
	free(t);
}

struct plumb_error *pl_strtab_add(struct pl_strtab *t, const void *bytes, size_t len, uint32_t *ret)
{
	uint32_t hash = (uint32_t)pl_hash_bytes(bytes, len);
	size_t slot = find_slot(t, bytes, len, hash);
	if (t->index[slot] != NO_ID) {
		*ret = t->index[slot];
		return NULL;
	}
	if (t->entries.len >= INT32_MAX || len >= UINT32_MAX - t->text_len)
		return &pl_err_limit;
	if (t->entries.len + 1 > t->index_cap / 4 * 3) {
		if (!index_resize(t, t->index_cap * 2))
			return &pl_err_no_memory;
		slot = find_slot(t, bytes, len, hash);
	}
	if (!pl_vec_reserve(&t->entries, 1))
		return &pl_err_no_memory;
	char *text = text_alloc(t, len + 1);
	if (!text)
		return &pl_err_no_memory;
	if (len)
		memcpy(text, bytes, len);
	text[len] = '\0';
	*ret = t->index[slot] = (uint32_t)t->entries.len;
	t->entries.data[t->entries.len++] = (struct entry){.text = text, .len = (uint32_t)len, .hash = hash};
	t->text_len += len + 1;
	return NULL;
}

/* All texts into one chunk. */
static bool copy_texts(struct pl_strtab *copy, const struct pl_strtab *t)
{
	struct chunk *c = chunk_add(copy, t->text_len);
	if (!c || !pl_vec_reserve(&copy->entries, t->entries.len))
		return false;
	char *text = c->text;
	for (size_t id = 0; id < t->entries.len; id++) {
		struct entry e = t->entries.data[id];
		memcpy(text, e.text, (size_t)e.len + 1);
		e.text = text;
		text += (size_t)e.len + 1;
		copy->entries.data[copy->entries.len++] = e;
	}
	copy->text_len = t->text_len;
	return index_resize(copy, t->index_cap);
}

struct plumb_error *pl_strtab_copy(const struct pl_strtab *t, struct pl_strtab **ret)
{
	struct pl_strtab *copy = calloc(1, sizeof *copy);
	if (!copy || !copy_texts(copy, t)) {
		pl_strtab_destroy(copy);
		return &pl_err_no_memory;
	}
	*ret = copy;
	return NULL;
}

uint64_t pl_strtab_bytes(const struct pl_strtab *t)
{
	return t->text_len;
}

uint32_t pl_strtab_count(const struct pl_strtab *t)
{
	return (uint32_t)t->entries.len;
}

const char *pl_strtab_get(const struct pl_strtab *t, uint32_t id, size_t *len_ret)
{
	bool known = id < t->entries.len;
	if (len_ret)
		*len_ret = known ? t->entries.data[id].len : 0;
	return known ? t->entries.data[id].text : "";
}
