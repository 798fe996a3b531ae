/* SPDX-License-Identifier: Apache-2.0 */
/* Tags: how a session finds what a thread is working for. A program puts an object that bears a number into one
 * ContextVar; the number is read out of the thread's current context, never by running Python. */
#ifndef PLUMB_TAGS_H
#define PLUMB_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <plumb/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLUMB_TAG_OTHER	      1u    /* what stands for all tags that are too many to be told apart */
#define PLUMB_TAG_TEXT_BYTES  1024  /* of a tag's text, with the NUL */
#define PLUMB_TAG_LABEL_BYTES 16384 /* of its labels */

/** Addresses and offsets of the running Python. Set `ready` last, with a release: until then sessions find no tag, and
 * afterwards nothing else may change. */
struct plumb_tags {
	uint32_t ready;
	uint32_t hash;	      /* of the ContextVar, folded as CPython's HAMT does: its high half xor its low half */
	uint64_t var;	      /* the ContextVar */
	uint64_t value_type;  /* type of the objects that bear a number; others are no tags */
	uint64_t bitmap_type; /* types of a HAMT's nodes */
	uint64_t array_type;
	uint64_t collision_type; /* 0: not known; what is behind such a node is then not found */
	uint32_t context;	 /* offset of `context` in a PyThreadState, */
	uint32_t vars;		 /* of `ctx_vars` in a PyContext, */
	uint32_t root;		 /* of `h_root` in a HAMT, */
	uint32_t type;		 /* of `ob_type` in a PyObject */
	uint32_t header;	 /* sizeof(PyObject): what a node and a number follow */
	/** Text of tag @p id into @p ret; false if there is none. Any thread, without the GIL. */
	bool (*text)(void *ctx, uint32_t id, char *ret, size_t size);
	void *ctx;
	/** Its labels: names and values in turn, each with a NUL behind it, in the order of the names. How many bytes
	 * that is; 0, as where this is NULL: those that the text names, "[method=GET, route=/x]". Called as `text`. */
	size_t (*labels)(void *ctx, uint32_t id, char *ret, size_t size);
};

#define PLUMB_TAG_TABLE_MAGIC 0x315347415442504cull

/** What a program keeps for sessions of other processes (plumb_session_options.tags_at). Addresses are those of the
 * program. */
struct plumb_tag_table {
	uint64_t magic;	     /* PLUMB_TAG_TABLE_MAGIC */
	uint32_t place_size; /* sizeof(struct plumb_tags) */
	uint32_t numbers;    /* there are of tags: those below it */
	uint64_t place;	     /* of a struct plumb_tags. What it says of texts means nothing outside */
	uint64_t texts;	     /* of an array: by number the address of its struct plumb_tag_texts, or 0 */
};

/** Behind it are the labels, and then the text with its NUL. It never changes. */
struct plumb_tag_texts {
	uint32_t labels_len, text_len;
};

/** The number that is set in the context of a thread of this process, whether or not @p t is ready; 0: none.
 * @p thread_state: its PyThreadState. Errors: PLUMB_ERR_UNREADABLE, PLUMB_ERR_CORRUPT if the words there are not what
 * @p t says. */
PLUMB_API struct plumb_error *plumb_tags_find(const struct plumb_tags *t, uint64_t thread_state,
					      uint32_t *ret) PLUMB_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
