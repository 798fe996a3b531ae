/* SPDX-License-Identifier: Apache-2.0 */
/* The window of a reader over its file (layer capture). One thread at a time. Works on pipes and on files that grow:
 * the end is where read(2) says it is at that moment, once. */
#include "intake.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define READ_SIZE (64u << 10)

void pl_intake_init(struct pl_intake *s, int fd)
{
	*s = (struct pl_intake){.fd = fd, .window = PL_BUF_INIT((size_t)1 << 30)};
}

void pl_intake_deinit(struct pl_intake *s)
{
	pl_buf_deinit(&s->window);
}

/* Move what is left to the front when that is the smaller part, so that each byte moves about once. */
static void drop_consumed(struct pl_intake *s)
{
	if (s->at < READ_SIZE || s->at < s->window.len / 2)
		return;
	memmove(s->window.data, s->window.data + s->at, s->window.len - s->at);
	s->window.len -= s->at;
	s->at = 0;
}

static struct plumb_error *read_more(struct pl_intake *s)
{
	drop_consumed(s);
	struct plumb_error *err = pl_buf_reserve(&s->window, READ_SIZE);
	if (err)
		return err;
	ssize_t n;
	do
		n = read(s->fd, s->window.data + s->window.len, READ_SIZE);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return pl_error_errno(PLUMB_ERR_SYSTEM, errno, "cannot read the recording");
	s->window.len += (size_t)n;
	s->ended = n == 0;
	return NULL;
}

struct plumb_error *pl_intake_look(struct pl_intake *s, size_t len, const uint8_t **bytes_ret, size_t *len_ret)
{
	while (!s->ended && s->window.len - s->at < len) {
		struct plumb_error *err = read_more(s);
		if (err)
			return err;
	}
	*bytes_ret = s->window.len ? s->window.data + s->at : (const uint8_t *)"";
	*len_ret = s->window.len - s->at;
	return NULL;
}

void pl_intake_skip(struct pl_intake *s, size_t len)
{
	assert(len <= s->window.len - s->at);
	s->at += len;
	s->consumed += len;
}
