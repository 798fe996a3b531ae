/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: see changes.h. The comparison is the library's, as `plumb diff` writes it. */
#include "changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cell_text.h"

#define MAX_TEXT (1u << 18)

struct plumb_error *changes_mark(struct changes *c, struct feed *f)
{
	uint64_t now_ns = feed_shown_ns(f), from_ns, to_ns;
	struct plumb_profile *p = NULL;

	if (!c->begun) {
		c->begun = true;
		c->begin_ns = now_ns;
		return NULL;
	}
	c->begun = false;
	from_ns = c->begin_ns < now_ns ? c->begin_ns : now_ns;
	to_ns = c->begin_ns < now_ns ? now_ns : c->begin_ns;
	struct plumb_error *err = from_ns < to_ns ? feed_between(f, &from_ns, &to_ns, &p) : NULL;
	if (err)
		return err;
	changes_free(c);
	c->from_ns = from_ns;
	c->to_ns = to_ns;
	if (from_ns < to_ns)
		c->kept = p;
	else
		plumb_profile_destroy(p);
	return NULL;
}

bool changes_against(const struct changes *c, const struct feed *f, uint64_t *from_ns, uint64_t *to_ns)
{
	uint64_t length_ns = c->to_ns - c->from_ns;

	*to_ns = feed_shown_ns(f);
	*from_ns = *to_ns > length_ns ? *to_ns - length_ns : 0;
	if (*to_ns > c->to_ns && *from_ns < c->to_ns)
		*from_ns = c->to_ns;
	return *to_ns > c->to_ns || *to_ns <= c->from_ns;
}

/* The text that is in the file @p fd. */
static char *text_in(int fd, size_t *len)
{
	off_t end = lseek(fd, 0, SEEK_END);
	size_t size = end < 0 ? 0 : end > MAX_TEXT ? MAX_TEXT : (size_t)end;
	char *text = malloc(size + 1);
	ssize_t got = text ? pread(fd, text, size, 0) : 0;

	*len = got > 0 ? (size_t)got : 0;
	if (text)
		text[*len] = '\0';
	return text;
}

static void end_lines(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\n')
			text[i] = '\0';
}

static void name_stretch(uint64_t from_ns, uint64_t to_ns, char *buf, size_t size)
{
	char from[24], to[24];

	snprintf(buf, size, "%s to %s", cell_time(from_ns, from), cell_time(to_ns, to));
}

static struct plumb_error *write_text(const struct plumb_diff *d, struct changes *c)
{
	int fd = memfd_create("plumb-top", MFD_CLOEXEC);
	struct plumb_error *err = plumb_diff_write(d, fd);

	if (!err) {
		free(c->text);
		c->text = text_in(fd, &c->len);
		if (c->text)
			end_lines(c->text, c->len);
	}
	close(fd);
	return err;
}

/* Both sides with the filters of the screen. */
static struct plumb_error *compare(struct changes *c, const struct feed *f, const struct plumb_profile *before,
				   const struct plumb_profile *after, const char *after_name)
{
	struct plumb_diff_options o = PLUMB_DIFF_OPTIONS_INIT;
	struct plumb_diff *d;
	char before_name[64];

	name_stretch(c->from_ns, c->to_ns, before_name, sizeof before_name);
	plumb_diff_take_report(&o, &f->filters);
	o.normalize = "total"; /* they may not have lasted equally long */
	o.color = false;
	o.ascii = !f->o->unicode;
	o.width = c->width;
	o.before_name = before_name;
	o.after_name = after_name;
	struct plumb_error *err = plumb_diff_create(&before, 1, &after, 1, &o, &d);
	if (err)
		return err;
	err = write_text(d, c);
	plumb_diff_destroy(d);
	return err;
}

/* What passes the filters but for the times. */
static struct plumb_error *refine(const struct feed *f, const struct plumb_profile *p, struct plumb_profile **ret)
{
	struct plumb_report_options o = f->filters;

	o.from_ns = o.to_ns = 0;
	return plumb_profile_refine(p, &o, ret);
}

struct plumb_error *changes_compare(struct changes *c, struct feed *f, int width)
{
	struct plumb_profile *now = NULL, *before = NULL, *after = NULL;
	uint64_t from_ns, to_ns;
	char name[64];

	c->width = width;
	if (!c->kept || !changes_against(c, f, &from_ns, &to_ns))
		return NULL;
	struct plumb_error *err = feed_between(f, &from_ns, &to_ns, &now);
	name_stretch(from_ns, to_ns, name, sizeof name);
	if (!err)
		err = refine(f, c->kept, &before);
	if (!err)
		err = refine(f, now, &after);
	if (!err)
		err = compare(c, f, before ? before : c->kept, after ? after : now, name);
	plumb_profile_destroy(before);
	plumb_profile_destroy(after);
	plumb_profile_destroy(now);
	return err;
}

void changes_free(struct changes *c)
{
	plumb_profile_destroy(c->kept);
	free(c->text);
	*c = (struct changes){0};
}
