/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/PID/maps (layer os). Any thread. Parsing is pure; paths are bytes of the target's choice. */
#include "maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "own_fd.h"
#include "priv.h"
#include "proc.h"
#include "proc_file.h"

#define MAPS_MAX   (256u << 20) /* 65,530 mappings, the usual limit: some 8 MB; with the longest names all of it */
#define READ_BYTES 65536
/* Of a line: a path of 4,095 bytes, of which each may be written with four. */
#define LINE_MAX_BYTES 32768

/* What is left of a line. */
struct span {
	const char *p, *end;
};

static bool take(struct span *s, char c)
{
	if (s->p == s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

static bool take_number(struct span *s, unsigned base, uint64_t *ret)
{
	const char *start = s->p;
	uint64_t v = 0;
	for (; s->p < s->end && (unsigned)digit_value(*s->p) < base; s->p++) {
		if (v > (UINT64_MAX - base) / base)
			return false;
		v = v * base + (unsigned)digit_value(*s->p);
	}
	*ret = v;
	return s->p > start;
}

/* "start-end perms offset major:minor inode" */
static bool parse_fields(struct span *s, struct pl_mapping *m)
{
	uint64_t major, minor;
	if (!take_number(s, 16, &m->start) || !take(s, '-') || !take_number(s, 16, &m->end) || !take(s, ' '))
		return false;
	if (s->end - s->p < 4)
		return false;
	m->readable = s->p[0] == 'r';
	m->writable = s->p[1] == 'w';
	m->executable = s->p[2] == 'x';
	s->p += 4;
	if (!take(s, ' ') || !take_number(s, 16, &m->offset) || !take(s, ' ') || !take_number(s, 16, &major))
		return false;
	if (!take(s, ':') || !take_number(s, 16, &minor) || !take(s, ' ') || !take_number(s, 10, &m->inode))
		return false;
	m->dev_major = (uint32_t)major;
	m->dev_minor = (uint32_t)minor;
	return m->start < m->end && (s->p == s->end || *s->p == ' ');
}

/* A copy of the path; the kernel writes a newline in it as \012 and escapes nothing else. NULL without memory. */
static char *copy_path(const char *p, size_t len)
{
	char *path = malloc(len + 1), *out = path;
	if (!path)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		if (len - i >= 4 && memcmp(p + i, "\\012", 4) == 0) {
			*out++ = '\n';
			i += 3;
		} else {
			*out++ = p[i];
		}
	}
	*out = '\0';
	return path;
}

static bool parse_path(struct span *s, struct pl_mapping *m)
{
	static const char gone[] = " (deleted)";
	const size_t tail = sizeof gone - 1;
	while (take(s, ' '))
		continue;
	size_t len = strnlen(s->p, (size_t)(s->end - s->p));
	if (len > tail && memcmp(s->p + len - tail, gone, tail) == 0) {
		m->deleted = true;
		len -= tail;
	}
	m->path = copy_path(s->p, len);
	return m->path != NULL;
}

void pl_maps_deinit(pl_mapping_vec *v)
{
	for (size_t i = 0; i < v->len; i++)
		free(v->data[i].path);
	pl_vec_deinit(v);
}

static bool add_line(struct span s, pl_mapping_vec *to)
{
	struct pl_mapping m = {0};

	if (!parse_fields(&s, &m))
		return true;
	if (!pl_vec_reserve(to, 1) || !parse_path(&s, &m))
		return false;
	to->data[to->len++] = m;
	return true;
}

/* Lines that end; returns behind them. NULL without memory. */
static const char *add_lines(const char *text, const char *end, pl_mapping_vec *to)
{
	const char *eol;

	for (; text < end && (eol = memchr(text, '\n', (size_t)(end - text))); text = eol + 1)
		if (!add_line((struct span){.p = text, .end = eol}, to))
			return NULL;
	return text;
}

struct plumb_error *pl_maps_parse(const char *text, size_t len, pl_mapping_vec *ret)
{
	pl_mapping_vec maps = {0};
	const char *end = text + len, *rest = add_lines(text, end, &maps);

	if (!rest || (rest < end && !add_line((struct span){.p = rest, .end = end}, &maps))) {
		pl_maps_deinit(&maps);
		return &pl_err_no_memory;
	}
	*ret = maps;
	return NULL;
}

static struct plumb_error *open_failed(pid_t pid, int errnum)
{
	struct plumb_error *err = pl_proc_check(pid);
	if (err)
		return err;
	if (errnum == EACCES || errnum == EPERM)
		return pl_priv_explain(pid);
	return pl_error_errno(PLUMB_ERR_SYSTEM, errnum, "cannot read /proc/%d/maps", (int)pid);
}

/* More of it behind @p text. *@p done: there is none. */
static struct plumb_error *read_more(pid_t pid, int fd, struct pl_buf *text, bool *done)
{
	struct plumb_error *err = pl_buf_reserve(text, READ_BYTES);
	ssize_t n;

	if (err)
		return err;
	do
		n = read(fd, text->data + text->len, READ_BYTES);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return open_failed(pid, errno);
	text->len += (size_t)n;
	*done = n == 0;
	return NULL;
}

/* Line by line: the whole text takes as much as what is made of it, and that may be 256 MB. */
static struct plumb_error *read_lines(pid_t pid, int fd, pl_mapping_vec *to)
{
	struct pl_buf text = PL_BUF_INIT(LINE_MAX_BYTES + READ_BYTES);
	struct plumb_error *err = NULL;
	size_t left = MAPS_MAX;
	bool done = false;

	while (!done && !(err = read_more(pid, fd, &text, &done))) {
		const char *begin = (const char *)text.data, *end = begin + text.len, *rest = add_lines(begin, end, to);
		size_t used = rest ? (size_t)(rest - begin) : 0;

		if (!rest || used > left) {
			err = rest ? &pl_err_limit : &pl_err_no_memory;
			break;
		}
		left -= used;
		text.len -= used;
		memmove(text.data, text.data + used, text.len);
	}
	pl_buf_deinit(&text);
	return err;
}

struct plumb_error *pl_maps_read(pid_t pid, pl_mapping_vec *ret)
{
	char path[32];
	pl_mapping_vec maps = {0};
	snprintf(path, sizeof path, "/proc/%d/maps", (int)pl_proc_live_task(pid));
	int fd = PL_OWN_FD(open(path, O_RDONLY | O_CLOEXEC));
	if (fd < 0)
		return open_failed(pid, errno);
	struct plumb_error *err = read_lines(pid, fd, &maps);
	pl_own_fd_close(fd);
	if (err)
		pl_maps_deinit(&maps);
	else
		*ret = maps;
	return err;
}
