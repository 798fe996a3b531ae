/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of source files (layer export; one owner at a time): of the texts that a recording has. Which files of the
 * program may be shown was decided when it was sampled, so nothing else is read for a recording. What comes from a file
 * of another tool never had texts: for that, and for nobody's program, files of the disk stand in. The names are
 * anybody's: only plain files are opened, and memory has a limit. */
#include "source_lines.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "map.h"
#include "reopen.h"
#include "utf8.h"
#include "vec.h"

#define FILE_MAX_BYTES ((off_t)16 << 20)
#define ALL_MAX_BYTES  ((size_t)256 << 20)

/* A line is looked for from the beginning of its stretch: a text of nothing but line breaks takes no more memory than
 * any other. */
#define STRETCH_BYTES 64

struct source {
	char *text;
	struct pl_text body;	/* the text without a mark of its byte order */
	uint32_t *lines_before; /* each stretch, and the end */
	size_t line_count;
};

struct pl_sources {
	const struct plumb_profile *p;
	struct pl_map known; /* string id of the name -> index in files */
	PL_VEC(struct source) files;
	size_t bytes;
};

static void source_deinit(struct source *f)
{
	free(f->text);
	free(f->lines_before);
	*f = (struct source){0};
}

struct pl_sources *pl_sources_create(const struct plumb_profile *p)
{
	struct pl_sources *s = calloc(1, sizeof *s);

	if (s)
		s->p = p;
	return s;
}

void pl_sources_destroy(struct pl_sources *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->files.len; i++)
		source_deinit(&s->files.data[i]);
	pl_vec_deinit(&s->files);
	pl_map_deinit(&s->known);
	free(s);
}

/* Names that are no paths: "<string>", and what C would take for the end. */
static bool may_be_file(struct pl_text name)
{
	return name.len && !memchr(name.s, 0, name.len) && !(name.s[0] == '<' && name.s[name.len - 1] == '>');
}

static bool all_may_enter(char *path)
{
	const mode_t all = S_IXGRP | S_IXOTH;
	struct stat st;

	for (char *end = strrchr(path, '/'); end && end != path; end = strrchr(path, '/')) {
		*end = '\0';
		if (stat(path, &st) != 0 || (st.st_mode & all) != all)
			return false;
	}
	return true;
}

/* Who may go where it lies, and read it: all, also those who are in its group or in a list of its own. Asked of the
 * file that is open, whose name may be another's by now. */
static bool is_open_to_all(int fd, const struct stat *st)
{
	const mode_t all = S_IRUSR | S_IRGRP | S_IROTH;
	char name[PL_FD_NAME_ROOM], real[PATH_MAX];
	const char *link = pl_fd_name(fd, name);
	ssize_t n = readlink(link, real, sizeof real - 1);
	if (n <= 0 || (st->st_mode & all) != all || getxattr(link, "system.posix_acl_access", NULL, 0) > 0)
		return false;
	real[n] = '\0';
	return all_may_enter(real);
}

/* As root may, and a plumb that was given the capability to read all processes. */
static bool reads_all_files(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct has[2] = {0};
	const uint32_t all = 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH;

	return geteuid() == 0 || syscall(SYS_capget, &header, has) != 0 || has[0].effective & all;
}

/* Root may read all files, and whoever made the profile could not: of those it names, root reads what anybody may. What
 * is in /proc is about us. */
static bool may_be_shown(int fd, const struct stat *st)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type != PROC_SUPER_MAGIC && (!reads_all_files() || is_open_to_all(fd, st));
}

/* A plain file of at most @p room bytes that may be shown; -1: it is none. Nothing else is opened: that can do
 * something. */
static int open_plain(const char *path, size_t room, size_t *size_ret)
{
	int found = open(path, O_PATH | O_CLOEXEC), fd = -1;
	struct stat st;

	if (found < 0)
		return -1;
	if (fstat(found, &st) == 0 && S_ISREG(st.st_mode) && may_be_shown(found, &st) && st.st_size <= FILE_MAX_BYTES &&
	    (size_t)st.st_size <= room) {
		fd = pl_reopen(found, O_RDONLY | O_NONBLOCK);
		*size_ret = (size_t)st.st_size;
	}
	close(found);
	return fd;
}

/* The whole file; NULL: not a file to be read. */
static char *read_file(const char *path, size_t room, size_t *len_ret)
{
	size_t size = 0, len = 0;
	int fd = open_plain(path, room, &size);
	char *text = fd >= 0 ? malloc(size + 1) : NULL;
	ssize_t n = 1;

	while (text && n > 0 && len < size) {
		n = read(fd, text + len, size - len);
		len += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	if (n < 0) {
		free(text);
		return NULL;
	}
	*len_ret = len;
	return text;
}

/* A copy: it is recoded in place. */
static char *recorded_text(const struct pl_source *recorded, size_t room, size_t *len_ret)
{
	char *text = recorded->len <= room ? malloc(recorded->len + 1) : NULL;

	if (!text)
		return NULL;
	memcpy(text, recorded->text, recorded->len);
	*len_ret = recorded->len;
	return text;
}

static bool is_utf8(const char *s, size_t len)
{
	uint32_t code;

	for (size_t i = 0; i < len;) {
		if ((uint8_t)s[i] < 0x80) {
			i++;
			continue;
		}
		i += pl_utf8_decode((const uint8_t *)s + i, len - i, &code);
		if (code == PL_UTF8_INVALID)
			return false;
	}
	return true;
}

/* The text in UTF-8; every byte of it is a character. */
static bool from_latin_1(struct source *f, size_t *len)
{
	char *text = malloc(*len * 2 + 1);
	size_t n = 0;

	if (!text)
		return false;
	for (size_t i = 0; i < *len; i++) {
		uint8_t c = (uint8_t)f->text[i];

		if (c >= 0x80)
			text[n++] = (char)(0xc0 | c >> 6);
		text[n++] = (char)(c < 0x80 ? c : 0x80 | (c & 0x3f));
	}
	free(f->text);
	f->text = text;
	*len = n;
	return true;
}

/* One begins at @p at: after "\n", "\r" or "\r\n". */
static bool begins_line(struct pl_text body, size_t at)
{
	if (at == 0)
		return true;
	return body.s[at - 1] == '\n' || (body.s[at - 1] == '\r' && body.s[at] != '\n');
}

static bool find_lines(struct source *f, size_t len)
{
	bool marked = len >= 3 && memcmp(f->text, "\xef\xbb\xbf", 3) == 0;

	f->body = (struct pl_text){f->text + (marked ? 3 : 0), len - (marked ? 3 : 0)};
	free(f->lines_before);
	f->lines_before = calloc(f->body.len / STRETCH_BYTES + 2, sizeof *f->lines_before);
	f->line_count = 0;
	if (!f->lines_before)
		return false;
	for (size_t at = 0; at < f->body.len; at++) {
		f->line_count += begins_line(f->body, at);
		f->lines_before[at / STRETCH_BYTES + 1] = (uint32_t)f->line_count;
	}
	return true;
}

/* That in which line @p i, from 0, begins: the last one with no more lines before. */
static size_t stretch_of(const struct source *f, size_t i)
{
	size_t low = 0, high = f->body.len / STRETCH_BYTES + 1;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (f->lines_before[middle] <= i)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static struct pl_text line_at(const struct source *f, size_t i)
{
	size_t stretch = stretch_of(f, i), at = stretch * STRETCH_BYTES;

	for (size_t before = f->lines_before[stretch]; (before += begins_line(f->body, at)) <= i; at++)
		;
	size_t end = at, most = f->body.len - at > PL_LINE_SHOWN_BYTES ? at + PL_LINE_SHOWN_BYTES : f->body.len;
	while (end < most && f->body.s[end] != '\n' && f->body.s[end] != '\r')
		end++;
	if (end == most && most < f->body.len)
		while (end > at && (f->body.s[end] & 0xc0) == 0x80)
			end--; /* not within a character */
	return (struct pl_text){f->body.s + at, end - at};
}

enum encoding { UTF_8, LATIN_1, OTHER };

static bool begins(const char *s, const char *end, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(end - s) >= len && strncasecmp(s, word, len) == 0;
}

/* What a comment in the first two lines asks for (PEP 263). */
static enum encoding encoding_of(const struct source *f)
{
	for (size_t i = 0; i < f->line_count && i < 2; i++) {
		struct pl_text line = line_at(f, i);
		const char *at = memmem(line.s, line.len, "coding", 6), *end = line.s + line.len;

		if (!at || !memchr(line.s, '#', (size_t)(at - line.s)))
			continue;
		at += 6;
		if (at == end || (*at != ':' && *at != '='))
			continue;
		for (at++; at < end && (*at == ' ' || *at == '\t'); at++)
			;
		if (begins(at, end, "utf-8") || begins(at, end, "utf_8") || begins(at, end, "utf8"))
			return UTF_8;
		return begins(at, end, "latin-1") || begins(at, end, "iso-8859-1") ? LATIN_1 : OTHER;
	}
	return UTF_8;
}

/* Into lines of UTF-8. False: it cannot be told what the bytes mean, or there is no memory. */
static bool decode(struct source *f, size_t *len)
{
	enum encoding encoding;

	if (!find_lines(f, *len))
		return false;
	encoding = encoding_of(f);
	if (encoding == LATIN_1)
		return from_latin_1(f, len) && find_lines(f, *len);
	return encoding == UTF_8 && is_utf8(f->text, *len);
}

static char *text_of_file(const struct pl_sources *s, uint32_t file, size_t *len_ret)
{
	const struct pl_source *recorded = pl_profile_source_of(s->p, file);
	struct pl_text name = pl_text_of(s->p, file);
	size_t room = ALL_MAX_BYTES - s->bytes;

	if (recorded)
		return recorded_text(recorded, room, len_ret);
	return s->p->meta.imported && may_be_file(name) ? read_file(name.s, room, len_ret) : NULL;
}

static void load(struct pl_sources *s, struct source *f, uint32_t file)
{
	size_t len = 0;

	f->text = text_of_file(s, file, &len);
	if (!f->text)
		return;
	if (!decode(f, &len)) {
		source_deinit(f);
		return;
	}
	s->bytes += len;
}

bool pl_sources_line(struct pl_sources *s, uint32_t file, int32_t line, struct pl_text *ret)
{
	const struct source *f;
	uint32_t at;

	if (!pl_map_get(&s->known, file, 0, &at)) {
		struct source fresh = {0};

		at = (uint32_t)s->files.len;
		load(s, &fresh, file);
		if (!pl_vec_push(&s->files, fresh)) {
			source_deinit(&fresh);
			return false;
		}
		if (!pl_map_set(&s->known, file, 0, at))
			return false;
	}
	f = &s->files.data[at];
	if (line < 1 || (size_t)line > f->line_count)
		return false;
	*ret = line_at(f, (size_t)line - 1);
	return true;
}

/* What Python's str.isspace() says. */
static bool is_blank(uint32_t c)
{
	return (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
	       (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

struct pl_text pl_text_without_blanks_before(struct pl_text t)
{
	uint32_t c;

	while (t.len) {
		size_t n = pl_utf8_decode((const uint8_t *)t.s, t.len, &c);

		if (!is_blank(c))
			break;
		t.s += n;
		t.len -= n;
	}
	return t;
}

struct pl_text pl_text_without_blanks_after(struct pl_text t)
{
	while (t.len) {
		size_t at = t.len - 1;
		uint32_t c;

		while (at > 0 && t.len - at < 4 && ((uint8_t)t.s[at] & 0xc0) == 0x80)
			at--;
		(void)pl_utf8_decode((const uint8_t *)t.s + at, t.len - at, &c);
		if (!is_blank(c))
			break;
		t.len = at;
	}
	return t;
}
