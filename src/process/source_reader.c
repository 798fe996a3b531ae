/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process. See source_reader.h; aside.c for who reads.
 *
 * What it does in the process allocates nothing: we may run in the program itself, and who kills it would leave a lock
 * of the program's behind. */
#include "source_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pl_source_job {
	struct pl_aside aside; /* first */
	struct pl_source_question question;
	bool own; /* the file is named by the process that we are in */

	struct pl_source_answer answer; /* its text: of pl_file_text_read */
};

/* ---- the process ------------------------------------------------------------------------------------------------- */

/* Never with more rights than were seen: of a process that has other ones by now nothing is read. */
static int open_file(const struct pl_source_job *j)
{
	const struct pl_source_question *q = &j->question;

	if (j->own)
		return pl_own_file_open(&q->view, q->path);
	if (!q->pid)
		return pl_file_open_below(q->root, &q->view.rights, q->path);
	int fd = pl_target_file_open(q->pid, &q->view, q->path);
	if (fd >= 0 || errno != ESRCH || !pl_file_view_is_ours(&q->view))
		return fd;
	return pl_file_open_below("/", &q->view.rights, q->path);
}

static void read_open(const struct pl_source_question *q, int fd, struct pl_source_answer *ret)
{
	static const enum pl_source_outcome outcomes[] = {[PL_FILE_TEXT_NONE] = PL_SOURCE_NONE,
							  [PL_FILE_TEXT_READ] = PL_SOURCE_READ,
							  [PL_FILE_TEXT_NO_MEMORY] = PL_SOURCE_NO_MEMORY};
	struct pl_file_state after;

	if (!pl_file_state_read(fd, &ret->state))
		return;
	if (pl_file_state_equal(&ret->state, &q->known)) {
		ret->outcome = PL_SOURCE_KNOWN;
		return;
	}
	if (ret->state.len > q->max_len) {
		ret->outcome = PL_SOURCE_TOO_LONG;
		return;
	}
	ret->outcome = outcomes[pl_file_text_read(fd, &ret->state, &ret->text)];
	ret->moving = !pl_file_state_read(fd, &after) || !pl_file_state_equal(&ret->state, &after);
}

static void read_source(struct pl_aside *a)
{
	struct pl_source_job *j = (struct pl_source_job *)a;
	int fd = open_file(j);

	if (fd >= 0)
		read_open(&j->question, fd, &j->answer);
	else if (errno == EACCES)
		j->answer.outcome = PL_SOURCE_BARRED;
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

/* Who we are is asked here: a process of its own may not look into a program that has changed its user. */
static bool is_who_it_was(struct pl_aside *a)
{
	struct pl_source_job *j = (struct pl_source_job *)a;
	struct pl_file_view now;

	return !j->own || (pl_file_view_of(j->question.pid, &now) && pl_file_view_equal(&now, &j->question.view));
}

static void free_job(struct pl_aside *a)
{
	struct pl_source_job *j = (struct pl_source_job *)a;

	pl_file_text_free(j->answer.text, &j->answer.state);
	free((char *)(uintptr_t)j->question.root);
	free((char *)(uintptr_t)j->question.path);
	free(j);
}

static const struct pl_aside_ops ops = {
	.name = "plumb-sources", .before = is_who_it_was, .process = read_source, .free = free_job};

/* ---- who asks ---------------------------------------------------------------------------------------------------- */

static struct pl_source_job *job_create(const struct pl_source_question *q)
{
	struct pl_source_job *j = calloc(1, sizeof *j);

	if (!j)
		return NULL;
	pl_aside_init(&j->aside, &ops);
	j->question = *q;
	j->question.path = strdup(q->path);
	j->question.root = q->root ? strdup(q->root) : NULL;
	j->own = q->pid == getpid();
	if (j->question.path && (j->question.root || !q->root))
		return j;
	pl_aside_leave(&j->aside);
	return NULL;
}

void pl_source_reader_end(struct pl_source_reader *r)
{
	pl_asker_end(&r->asker);
}

bool pl_source_ask(struct pl_source_reader *r, const struct pl_source_question *q)
{
	struct pl_source_job *j = pl_asker_may(&r->asker) ? job_create(q) : NULL;

	return j && pl_asker_begin(&r->asker, &j->aside);
}

/* Of the text the caller has a copy that is freed as others are. */
static void give(const struct pl_source_job *j, struct pl_source_answer *ret)
{
	*ret = j->answer;
	if (!ret->text)
		return;
	ret->text = malloc(ret->state.len);
	if (ret->text)
		memcpy(ret->text, j->answer.text, ret->state.len);
	else
		ret->outcome = PL_SOURCE_NO_MEMORY;
}

bool pl_source_answered(struct pl_source_reader *r, int timeout_ms, int patience_ms, struct pl_source_answer *ret)
{
	enum pl_asked asked = pl_asker_wait(&r->asker, timeout_ms, patience_ms);

	if (asked == PL_ASKED_PENDING)
		return false;
	if (asked == PL_ASKED_DONE)
		give((const struct pl_source_job *)r->asker.asked, ret);
	else
		*ret = (struct pl_source_answer){.outcome = PL_SOURCE_SILENT};
	pl_source_reader_end(r);
	return true;
}
