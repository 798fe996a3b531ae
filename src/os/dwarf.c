/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os; one thread. From an instruction to its unit, its function, what was compiled into that there, and lines. */
#include "dwarf.h"

#include <string.h>

#include "debug_file.h"
#include "dwarf_parts.h"
#include "elf_tables.h"

#define LINK_MAX_BYTES 8192
#define INLINED_MAX    64 /* functions that are compiled into each other */
#define DEPTH_MAX      4096
#define PLACE_WORK     1024u /* whoever is told of a place keeps it, and its texts */

static void close_alone(struct pl_dwarf *d)
{
	if (!d)
		return;
	for (int i = 0; i < PL_DWARF_SECTIONS; i++)
		free(d->sections[i].bytes);
	for (size_t i = 0; i < d->units.len; i++) {
		pl_vec_deinit(&d->units.data[i].functions);
		pl_vec_deinit(&d->units.data[i].rows);
		pl_vec_deinit(&d->units.data[i].sequences);
		pl_vec_deinit(&d->units.data[i].covered);
	}
	pl_vec_deinit(&d->units);
	pl_vec_deinit(&d->code);
	pl_vec_deinit(&d->abbrevs);
	free(d);
}

static struct plumb_error *open_alone(const struct pl_elf *e, struct pl_dwarf **ret)
{
	struct pl_dwarf *d = calloc(1, sizeof *d);

	*ret = NULL;
	if (!d)
		return &pl_err_no_memory;
	d->work = e->work;
	if (!pl_dwarf_sections_read(d, e)) {
		close_alone(d);
		return NULL;
	}
	if (!pl_dwarf_units_read(d)) {
		close_alone(d);
		return &pl_err_no_memory;
	}
	*ret = d;
	return NULL;
}

/* By its build-id, as other debug information: whoever made the file may name any path. */
static struct plumb_error *open_common(const uint8_t *id, size_t len, const struct pl_rights *as, struct pl_work *work,
				       struct pl_dwarf **ret)
{
	struct pl_elf *e;
	struct plumb_error *err = pl_debug_elf_open(id, len, as, work, &e);

	if (err || !e)
		return err;
	err = open_alone(e, ret);
	pl_elf_close(e);
	return err;
}

/* A path, and behind its NUL the build-id. */
static struct plumb_error *find_common(const struct pl_elf *e, const struct pl_rights *as, struct pl_dwarf *d)
{
	size_t len;
	uint8_t *link = pl_elf_copy_section(e, ".gnu_debugaltlink", LINK_MAX_BYTES, &len);
	const uint8_t *end = link ? memchr(link, '\0', len) : NULL;
	struct plumb_error *err = NULL;

	if (end)
		err = open_common(end + 1, len - (size_t)(end + 1 - link), as, d->work, &d->common);
	free(link);
	return err;
}

struct plumb_error *pl_dwarf_open(const struct pl_elf *e, const struct pl_rights *as, struct pl_dwarf **ret)
{
	*ret = NULL;
	if (e->object) /* nothing was put anywhere yet */
		return NULL;
	struct plumb_error *err = open_alone(e, ret);
	if (err || !*ret)
		return err;
	err = find_common(e, as, *ret);
	if (err) {
		pl_dwarf_close(*ret);
		*ret = NULL;
	}
	return err;
}

void pl_dwarf_close(struct pl_dwarf *d)
{
	if (!d)
		return;
	close_alone(d->common);
	close_alone(d);
}

/* ---- what an instruction is of ----------------------------------------------------------------------------------- */

struct scope {
	const char *name;
	uint64_t call_file, call_line; /* where it was compiled in; of an inlined one */
};

/* The function of an instruction, and what was compiled into it there: the outermost first. */
struct scopes {
	struct scope all[INLINED_MAX];
	size_t count;
};

static void push(struct pl_dwarf *d, const struct pl_dwarf_unit *u, const struct pl_dwarf_entry *e, struct scopes *s)
{
	if (s->count == INLINED_MAX)
		return;
	s->all[s->count++] = (struct scope){.name = pl_dwarf_name(d, u, e),
					    .call_file = e->at[PL_AT_CALL_FILE].number,
					    .call_line = e->at[PL_AT_CALL_LINE].number};
}

/* Through what is below the function at @p offset. What has code elsewhere is gone over with all that is below it. */
static void find_scopes(struct pl_dwarf *d, const struct pl_dwarf_unit *u, uint64_t offset, uint64_t addr,
			struct scopes *s)
{
	struct pl_dwarf_reader r = pl_dwarf_entries_from(d, u, offset);
	struct pl_dwarf_entry e;
	int depth = 0, over = 0; /* over: what is as deep as that or deeper is elsewhere; 0: nothing */

	if (!pl_dwarf_entry_read(d, u, &r, &e))
		return;
	push(d, u, &e, s);
	depth = e.children;
	while (depth && depth < DEPTH_MAX && pl_dwarf_entry_read(d, u, &r, &e)) {
		if (!e.tag) {
			depth--;
			over = over > depth ? 0 : over;
			continue;
		}
		const bool here = !over && (!pl_dwarf_has_code(&e) || pl_dwarf_ranges_have(d, u, &e, addr));
		if (here && e.tag == PL_TAG_INLINED_SUBROUTINE && pl_dwarf_has_code(&e))
			push(d, u, &e, s);
		if (!e.children)
			continue;
		depth++;
		if (!over && (!here || e.tag == PL_TAG_SUBPROGRAM))
			over = depth;
	}
}

/* Compilers cut a function in two (a quick way out, and the rest), and may put the rest back into it. */
static bool is_part_of_next(const struct scopes *s, size_t i)
{
	return i > 0 && s->all[i].name && s->all[i - 1].name && strcmp(s->all[i].name, s->all[i - 1].name) == 0;
}

static struct pl_dwarf_unit *unit_of(struct pl_dwarf *d, uint64_t addr)
{
	const struct pl_dwarf_range *r = pl_dwarf_range_at(&d->code, addr);

	return r && r->owner < d->units.len ? &d->units.data[r->owner] : NULL;
}

static uint64_t work_of(const struct pl_dwarf_place *p)
{
	return PLACE_WORK + (p->function ? strlen(p->function) : 0) + (p->file ? strlen(p->file) : 0);
}

size_t pl_dwarf_places(struct pl_dwarf *d, uint64_t addr, void (*tell)(void *ctx, const struct pl_dwarf_place *p),
		       void *ctx)
{
	struct pl_dwarf_unit *u = unit_of(d, addr);
	struct scopes s = {.count = 0};
	char path[PL_DWARF_PATH];
	uint64_t file = 0;
	uint32_t line = 0;

	if (!u || (!u->listed && !pl_dwarf_list_functions(d, u)))
		return 0;
	const struct pl_dwarf_range *function = pl_dwarf_range_at(&u->functions, addr);
	if (function)
		find_scopes(d, u, function->owner, addr, &s);
	if (!pl_dwarf_line(d, u, addr, &file, &line) && !s.count)
		return 0;
	if (!s.count)
		s.all[s.count++] = (struct scope){0};
	size_t told = 0;
	for (size_t i = s.count; i-- > 0;) {
		if (is_part_of_next(&s, i))
			continue;
		const bool known = line && pl_dwarf_file(d, u, file, path);
		const struct pl_dwarf_place p = {.function = s.all[i].name,
						 .file = known ? path : NULL,
						 .line = known ? line : 0,
						 .inlined = i > 0};

		if (!pl_dwarf_may(d, work_of(&p)))
			break;
		tell(ctx, &p);
		told++;
		file = s.all[i].call_file;
		line = s.all[i].call_line <= INT32_MAX ? (uint32_t)s.all[i].call_line : 0;
	}
	return told;
}
