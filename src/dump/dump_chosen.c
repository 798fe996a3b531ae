/* SPDX-License-Identifier: Apache-2.0 */
/* Layer dump: threads are asked for by name, by the number that the kernel has for them, or by that of threading
 * (get_ident(), which logs show). */
#include "dump_chosen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "map.h"
#include "proc.h"

#define NAMED	     20 /* threads in a message */
#define MESSAGE_SIZE 4096

/* A thread as it may be asked for. */
struct known {
	uint64_t tid, ident; /* 0: it has no ident */
	char name[128];
};
typedef PL_VEC(struct known) known_vec;

/* Those that have run Python. */
static struct plumb_error *add_python(const struct pl_python_process *p, known_vec *all, struct pl_map *python)
{
	for (size_t i = 0; i < p->threads.samplers.len; i++) {
		const struct pl_thread_sampler *s = p->threads.samplers.data[i];
		struct known k = {.tid = (uint64_t)s->tid, .ident = s->ident};

		snprintf(k.name, sizeof k.name, "%s", s->name);
		if (!pl_vec_push(all, k) || !pl_map_set(python, k.tid, 0, 0))
			return &pl_err_no_memory;
	}
	return NULL;
}

static struct plumb_error *add_others(const struct pl_python_process *p, known_vec *all, const struct pl_map *python)
{
	uint32_t any;
	pl_tid_vec tids = {0};
	struct plumb_error *err = pl_python_process_tids(p, &tids);

	for (size_t i = 0; i < tids.len && !err; i++) {
		struct known k = {.tid = (uint64_t)tids.data[i]};
		char comm[16] = "";

		if (pl_map_get(python, k.tid, 0, &any))
			continue;
		if (!p->core)
			pl_proc_comm(p->pid, tids.data[i], comm);
		snprintf(k.name, sizeof k.name, "%s", comm);
		if (!pl_vec_push(all, k))
			err = &pl_err_no_memory;
	}
	pl_vec_deinit(&tids);
	return err;
}

static bool is_number(const char *word, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(word, &end, 10);
	return *word >= '1' && *word <= '9' && !*end && !errno;
}

static bool is_meant(const struct known *k, const char *word)
{
	uint64_t number;

	return strcmp(k->name, word) == 0 || (is_number(word, &number) && (number == k->tid || number == k->ident));
}

static struct plumb_error *no_thread(const struct pl_python_process *p, const char *word, const known_vec *all)
{
	struct pl_buf b = PL_BUF_INIT(MESSAGE_SIZE);
	struct plumb_error *full = NULL;

	for (size_t i = 0; i < all->len && i < NAMED && !full; i++)
		full = pl_buf_printf(&b, "%s%s (%llu)", i ? ", " : "", all->data[i].name,
				     (unsigned long long)all->data[i].tid);
	plumb_error_destroy(full);
	struct plumb_error *err =
		pl_error_hint(pl_error(PLUMB_ERR_NO_THREAD, "pid %d has no thread '%.128s'", (int)p->pid, word),
			      "there are %s%s", pl_buf_str(&b), all->len > NAMED ? ", and others" : "");
	pl_buf_deinit(&b);
	return err;
}

static struct plumb_error *choose_word(const struct pl_python_process *p, const char *word, const known_vec *all,
				       struct pl_dump_chosen *ret)
{
	bool found = false;

	for (size_t i = 0; i < all->len; i++) {
		if (!is_meant(&all->data[i], word))
			continue;
		found = true;
		if (!pl_vec_push(&ret->tids, all->data[i].tid))
			return &pl_err_no_memory;
	}
	return found ? NULL : no_thread(p, word, all);
}

static struct plumb_error *choose_words(const struct pl_dump_options *o, const struct pl_python_process *p,
					struct pl_dump_chosen *ret)
{
	known_vec all = {0};
	struct pl_map python = {0};
	struct plumb_error *err = add_python(p, &all, &python);

	err = err ? err : add_others(p, &all, &python);
	for (size_t i = 0; i < o->word_count && !err; i++)
		err = choose_word(p, o->words[i], &all, ret);
	pl_map_deinit(&python);
	pl_vec_deinit(&all);
	return err;
}

struct plumb_error *pl_dump_choose(const struct pl_dump_options *o, const struct pl_python_process *p,
				   struct pl_dump_chosen *ret)
{
	const size_t count = o->threads ? o->thread_count : 0;

	ret->some = o->threads || o->word_count;
	for (size_t i = 0; i < count; i++)
		if (!pl_vec_push(&ret->tids, o->threads[i]))
			return &pl_err_no_memory;
	return o->word_count ? choose_words(o, p, ret) : NULL;
}

bool pl_dump_is_chosen(const struct pl_dump_chosen *c, uint64_t tid)
{
	for (size_t i = 0; i < c->tids.len; i++)
		if (c->tids.data[i] == tid)
			return true;
	return !c->some;
}
