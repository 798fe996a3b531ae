/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as dotted names (layer export; pure). CPython's collectors cut off what the *profiler's* sys.path names; there
 * is no such thing here, so it is the directories that every installation has: site-packages and the standard library.
 */
#include "module_name.h"

#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Bytes of a directory "python3", "python3.15", "python3.15t" with its slash at @p s; 0: it is something else. */
static size_t python_folder(const char *s, const char *end)
{
	const char *at = s;

	if (end - at < 8 || memcmp(at, "python", 6) != 0)
		return 0;
	for (at += 6; at < end && (is_digit(*at) || *at == '.' || *at == 't'); at++)
		;
	return at < end && *at == '/' && at > s + 6 ? (size_t)(at - s) + 1 : 0;
}

/* What follows the last directory of packages. */
static struct pl_text inside_packages(struct pl_text file)
{
	static const char *const folders[] = {"/site-packages/", "/dist-packages/"};
	const char *end = file.s + file.len;

	for (size_t i = 0; i < 2; i++) {
		size_t len = strlen(folders[i]);

		for (const char *at = end - len; file.len >= len && at >= file.s; at--) {
			if (memcmp(at, folders[i], len) == 0)
				return (struct pl_text){at + len, (size_t)(end - at) - len};
		}
	}
	return file;
}

static struct pl_text inside_library(struct pl_text file)
{
	const char *end = file.s + file.len;

	for (const char *at = file.s; end - at > 5; at++) {
		size_t skip = memcmp(at, "/lib", 4) == 0 ? 4 : 0, folder;

		if (skip && end - at > 7 && memcmp(at + 4, "64", 2) == 0)
			skip += 2;
		if (!skip || at[skip] != '/')
			continue;
		folder = python_folder(at + skip + 1, end);
		if (folder)
			return (struct pl_text){at + skip + 1 + folder, (size_t)(end - at) - skip - 1 - folder};
	}
	return file;
}

/* The next part of a path as Python's pathlib sees it: no empty ones, no ".". */
static bool next_part(struct pl_text *rest, struct pl_text *ret)
{
	while (rest->len) {
		const char *slash = memchr(rest->s, '/', rest->len);
		size_t len = slash ? (size_t)(slash - rest->s) : rest->len, used = slash ? len + 1 : len;

		*ret = (struct pl_text){rest->s, len};
		rest->s += used;
		rest->len -= used;
		if (len && !(len == 1 && ret->s[0] == '.'))
			return true;
	}
	return false;
}

static struct pl_text without_suffix(struct pl_text name)
{
	size_t len = name.len, dots = 0;

	if (len < 4 || memcmp(name.s + len - 3, ".py", 3) != 0)
		return name;
	while (dots < len - 3 && name.s[dots] == '.')
		dots++;
	return dots == len - 3 ? name : (struct pl_text){name.s, len - 3};
}

struct plumb_error *pl_module_name_add(struct pl_buf *b, struct pl_text file)
{
	struct pl_text rest = inside_packages(file), part = {NULL, 0}, next;
	struct plumb_error *err = NULL;
	bool any = false, more;

	if (!file.len)
		return pl_buf_add_str(b, "unknown");
	if (rest.len == file.len)
		rest = inside_library(file);
	for (more = next_part(&rest, &part); more && !err; any = true) {
		more = next_part(&rest, &next);
		if (!more) {
			part = without_suffix(part);
			/* A package is called by its folder, unless it has none. */
			if (any && part.len == 8 && memcmp(part.s, "__init__", 8) == 0)
				break;
		}
		if (any)
			err = pl_buf_add_u8(b, '.');
		if (!err)
			err = pl_buf_add(b, part.s, part.len);
		part = next;
	}
	return err;
}

/* Of "<frozen importlib._bootstrap>" what is between. */
static struct pl_text inside_frozen(struct pl_text file)
{
	static const char start[] = "<frozen ";
	size_t len = sizeof start - 1;

	if (file.len > len && memcmp(file.s, start, len) == 0 && file.s[file.len - 1] == '>')
		return (struct pl_text){file.s + len, file.len - len - 1};
	return (struct pl_text){file.s, 0};
}

struct pl_text pl_module_package(struct pl_text file)
{
	struct pl_text rest = inside_frozen(file), part;

	if (rest.len) {
		const char *dot = memchr(rest.s, '.', rest.len);

		return dot ? (struct pl_text){rest.s, (size_t)(dot - rest.s)} : rest;
	}
	rest = inside_packages(file);
	if (rest.len == file.len)
		rest = inside_library(file);
	if (rest.len == file.len)
		rest = pl_text_basename(file);
	if (!next_part(&rest, &part))
		return (struct pl_text){file.s, 0};
	return without_suffix(part);
}
