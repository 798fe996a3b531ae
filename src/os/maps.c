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

struct plumb_error *pl_maps_parse(const char *text, size_t len, pl_mapping_vec *ret)
{
	pl_mapping_vec maps = {0};
	const char *end = text + len;
	for (const char *line = text; line < end;) {
		const char *eol = memchr(line, '\n', (size_t)(end - line));
		struct span s = {.p = line, .end = eol ? eol : end};
		struct pl_mapping m = {0};
		line = eol ? eol + 1 : end;
		if (!parse_fields(&s, &m))
			continue;
		if (!pl_vec_reserve(&maps, 1) || !parse_path(&s, &m)) {
			pl_maps_deinit(&maps);
			return &pl_err_no_memory;
		}
		maps.data[maps.len++] = m;
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

static struct plumb_error *read_text(pid_t pid, int fd, struct pl_buf *text)
{
	for (;;) {
		struct plumb_error *err = pl_buf_reserve(text, READ_BYTES);
		if (err)
			return err;
		ssize_t n = read(fd, text->data + text->len, READ_BYTES);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return open_failed(pid, errno);
		if (n == 0)
			return NULL;
		text->len += (size_t)n;
	}
}

struct plumb_error *pl_maps_read(pid_t pid, pl_mapping_vec *ret)
{
	char path[32];
	struct pl_buf text = PL_BUF_INIT(MAPS_MAX);
	snprintf(path, sizeof path, "/proc/%d/maps", (int)pl_proc_live_task(pid));
	int fd = PL_OWN_FD(open(path, O_RDONLY | O_CLOEXEC));
	if (fd < 0)
		return open_failed(pid, errno);
	struct plumb_error *err = read_text(pid, fd, &text);
	pl_own_fd_close(fd);
	if (!err)
		err = pl_maps_parse((const char *)text.data, text.len, ret);
	pl_buf_deinit(&text);
	return err;
}
