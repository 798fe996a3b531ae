/* SPDX-License-Identifier: Apache-2.0 */
/* What a frame is called in an output. Layer export; pure, any thread. The bytes are the program's own: whoever writes
 * them makes them safe for its format. */
#include "frame_name.h"

#include <string.h>

#define NAMES_BYTES 4096 /* PATH_MAX of Linux */

struct pl_text pl_text_of(const struct plumb_profile *p, uint32_t string)
{
	struct pl_text t;

	t.s = pl_strtab_get(p->strings, string, &t.len);
	return t;
}

/* Asked for each row: no further back than names of files can be long. */
static struct pl_text after_slash(struct pl_text path, int slashes)
{
	size_t first = path.len > NAMES_BYTES ? path.len - NAMES_BYTES : 0;

	for (size_t i = path.len; i > first; i--) {
		if (path.s[i - 1] == '/' && --slashes == 0)
			return (struct pl_text){path.s + i, path.len - i};
	}
	return path;
}

struct pl_text pl_text_basename(struct pl_text path)
{
	return after_slash(path, 1);
}

struct pl_text pl_text_short_path(struct pl_text path)
{
	struct pl_text base = pl_text_basename(path);

	/* memcmp: names may hold NUL. */
	if ((base.len == 11 && memcmp(base.s, "__init__.py", 11) == 0) ||
	    (base.len == 11 && memcmp(base.s, "__main__.py", 11) == 0))
		return after_slash(path, 2);
	return base;
}

size_t pl_text_line_break(const unsigned char *s, size_t len)
{
	if ((*s >= '\n' && *s <= '\r') || (*s >= 0x1c && *s <= 0x1e))
		return 1;
	if (len >= 2 && s[0] == 0xc2 && s[1] == 0x85)
		return 2;
	return len >= 3 && s[0] == 0xe2 && s[1] == 0x80 && (s[2] == 0xa8 || s[2] == 0xa9) ? 3 : 0;
}

struct pl_text pl_text_without_folder(struct pl_text command)
{
	const char *blank = memchr(command.s, ' ', command.len);
	struct pl_text first = {command.s, blank ? (size_t)(blank - command.s) : command.len};
	size_t folder = first.len - pl_text_basename(first).len;

	return (struct pl_text){command.s + folder, command.len - folder};
}

struct pl_text pl_text_command(const struct plumb_profile *p, bool full)
{
	struct pl_text all = pl_text_of(p, p->meta.command);

	return full ? all : pl_text_without_folder(all);
}

struct pl_text pl_frame_qualname(const struct plumb_profile *p, const struct pl_function *f)
{
	return pl_text_of(p, f->qualname ? f->qualname : f->name);
}

bool pl_frame_is_bare(const struct plumb_profile *p, const struct pl_function *f, int32_t line)
{
	struct pl_text file;

	if (f->origin == PL_ORIGIN_MARKER)
		return true;
	file = pl_text_of(p, f->file);
	return line == 0 && ((file.len == 1 && file.s[0] == '~') || (file.len == 0 && f->origin != PL_ORIGIN_PYTHON));
}

bool pl_text_ends_with(struct pl_text t, const char *end)
{
	size_t len = strlen(end);

	return t.len >= len && memcmp(t.s + t.len - len, end, len) == 0;
}

bool pl_frame_is(const struct plumb_profile *p, const struct pl_function *f, const char *name, const char *file)
{
	struct pl_text n = pl_text_of(p, f->name);

	return n.len == strlen(name) && memcmp(n.s, name, n.len) == 0 &&
	       pl_text_ends_with(pl_text_of(p, f->file), file);
}

bool pl_frame_is_launcher(const struct plumb_profile *p, const struct pl_function *f)
{
	return pl_text_ends_with(pl_text_of(p, f->file), "_sync_coordinator.py");
}

bool pl_frame_is_tag(const struct plumb_profile *p, const struct pl_function *f)
{
	struct pl_text name = pl_text_of(p, f->name);

	return f->origin == PL_ORIGIN_MARKER && name.len && name.s[0] == '[';
}

bool pl_frame_is_unresolved(const struct plumb_profile *p, const struct pl_function *f)
{
	struct pl_text name = pl_text_of(p, f->name);

	return f->origin == PL_ORIGIN_MARKER && name.len == 8 && memcmp(name.s, "<moving>", 8) == 0;
}
