/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: names of native functions that had none when they were sampled, and lines, for a recording of
 * any machine. */
#include <plumb/profile.h>

#include <stdlib.h>
#include <string.h>

#include "late_symbols.h"
#include "refine.h"
#include "strtab.h"
#include "told_lines.h"
#include "vec.h"

#define BUILD_ID_MAX   64
#define NO_BUILD       0u /* string ids */
#define SEVERAL_BUILDS UINT32_MAX

/* A function without a name, or a place without a line. Texts of the profile. */
struct wanted {
	uint32_t id, file; /* id: of the function, or of the location */
	bool place;
	const char *path, *build_id; /* in hexadecimal, up to the '+' */
	size_t build_id_len;
	uint64_t address;
};

struct symbolizer {
	const struct plumb_profile *profile;
	PL_VEC(struct wanted) wanted;
	struct pl_late_symbols *symbols;
	const char **names;	 /* by function, of texts */
	struct pl_strtab *texts; /* many places can be in one function, whose name may be long */
	struct pl_told_lines lines;
	void (*missing)(void *ctx, const char *path, const char *build_id);
	void *ctx;
	struct plumb_symbolized info;
};

/* A file can say anything. */
static bool take_build_id(const char *text, struct wanted *ret)
{
	ret->build_id = text;
	ret->build_id_len = strspn(text, "0123456789abcdef");
	return ret->build_id_len && ret->build_id_len % 2 == 0 && ret->build_id_len <= (size_t)2 * BUILD_ID_MAX;
}

/* "BUILD-ID+0xADDRESS" */
static bool parse(const char *text, struct wanted *ret)
{
	char *end;

	if (!take_build_id(text, ret) || strncmp(text + ret->build_id_len, "+0x", 3) != 0)
		return false;
	const char *hex = text + ret->build_id_len + 3;
	if (!*hex || strspn(hex, "0123456789abcdef") != strlen(hex) || strlen(hex) > 16)
		return false;
	ret->address = strtoull(hex, &end, 16);
	return true;
}

static struct plumb_error *want(struct symbolizer *s, const struct wanted *w)
{
	return pl_vec_push(&s->wanted, *w) ? NULL : &pl_err_no_memory;
}

static struct plumb_error *collect_functions(struct symbolizer *s)
{
	const struct plumb_profile *p = s->profile;
	struct plumb_error *err = NULL;

	for (uint32_t i = 0; i < p->function_count && !err; i++) {
		const struct pl_function *f = &p->functions[i];
		struct wanted w = {.id = i, .file = f->file, .path = pl_strtab_get(p->strings, f->file, NULL)};

		if (!f->unnamed || !parse(pl_strtab_get(p->strings, f->unnamed, NULL), &w))
			continue;
		s->info.unnamed++;
		err = want(s, &w);
	}
	return err;
}

/* By file, the string that says which build it was. */
static uint32_t *builds_of(const struct plumb_profile *p)
{
	uint32_t *builds = calloc((size_t)pl_strtab_count(p->strings) + 1, sizeof *builds);

	for (uint32_t i = 0; builds && i < p->module_count; i++) {
		uint32_t *build = &builds[p->modules[i].file];

		*build = *build == NO_BUILD || *build == p->modules[i].build_id ? p->modules[i].build_id
										: SEVERAL_BUILDS;
	}
	return builds;
}

static struct plumb_error *collect_place(struct symbolizer *s, uint32_t location, const uint32_t *builds)
{
	const struct plumb_profile *p = s->profile;
	const uint32_t file = p->functions[p->locations[location].function].file, build = builds[file];
	struct wanted w = {.id = location,
			   .file = file,
			   .place = true,
			   .path = pl_strtab_get(p->strings, file, NULL),
			   .address = p->locations[location].address};

	s->info.places++;
	if (build == NO_BUILD || build == SEVERAL_BUILDS || !take_build_id(pl_strtab_get(p->strings, build, NULL), &w))
		return NULL;
	return want(s, &w);
}

static struct plumb_error *collect_places(struct symbolizer *s)
{
	uint32_t *builds = builds_of(s->profile);
	struct plumb_error *err = builds ? NULL : &pl_err_no_memory;

	for (uint32_t i = 0; i < s->profile->location_count && !err; i++)
		if (s->profile->locations[i].address)
			err = collect_place(s, i, builds);
	free(builds);
	return err;
}

static int compare_files(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->build_id_len != y->build_id_len)
		return x->build_id_len < y->build_id_len ? -1 : 1;
	int order = memcmp(x->build_id, y->build_id, x->build_id_len);
	if (!order)
		order = x->place - y->place;
	return order ? order : (x->id > y->id) - (x->id < y->id);
}

static bool is_same_file(const struct wanted *x, const struct wanted *y)
{
	return x->file == y->file && x->build_id_len == y->build_id_len &&
	       memcmp(x->build_id, y->build_id, x->build_id_len) == 0;
}

static bool is_same_question(const struct wanted *x, const struct wanted *y)
{
	return is_same_file(x, y) && x->place == y->place;
}

static bool open_file(struct symbolizer *s, const struct wanted *w)
{
	char hex[2 * BUILD_ID_MAX + 1], digits[3] = {0};
	uint8_t id[BUILD_ID_MAX];

	memcpy(hex, w->build_id, w->build_id_len);
	hex[w->build_id_len] = '\0';
	for (size_t i = 0; i < w->build_id_len / 2; i++) {
		memcpy(digits, hex + 2 * i, 2);
		id[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	if (w->place)
		return pl_late_symbols_open_lines(s->symbols, w->path, id, w->build_id_len / 2);
	s->info.files++;
	if (pl_late_symbols_open(s->symbols, w->path, id, w->build_id_len / 2))
		return true;
	s->info.files_missing++;
	if (s->missing)
		s->missing(s->ctx, w->path, hex);
	return false;
}

static struct plumb_error *name_one(struct symbolizer *s, const struct wanted *w)
{
	const char *name = pl_late_symbols_name(s->symbols, w->address);
	uint32_t id;

	if (!name)
		return NULL;
	struct plumb_error *err = pl_strtab_add(s->texts, name, strlen(name), &id);
	if (err)
		return err;
	s->names[w->id] = pl_strtab_get(s->texts, id, NULL);
	s->info.named++;
	return NULL;
}

static struct plumb_error *look_up(struct symbolizer *s, const struct wanted *w)
{
	return w->place ? pl_told_lines_add(&s->lines, s->symbols, w->id, w->address) : name_one(s, w);
}

static struct plumb_error *look_all_up(struct symbolizer *s)
{
	const struct wanted *all = s->wanted.data;
	struct plumb_error *err = NULL;
	bool here = false;

	if (s->wanted.len)
		qsort(s->wanted.data, s->wanted.len, sizeof *s->wanted.data, compare_files);
	for (size_t i = 0; i < s->wanted.len && !err; i++) {
		if (i == 0 || !is_same_question(&all[i - 1], &all[i]))
			here = open_file(s, &all[i]);
		if (here)
			err = look_up(s, &all[i]);
	}
	return err;
}

static struct plumb_error *prepare(struct symbolizer *s)
{
	struct plumb_error *err = collect_functions(s);

	err = err ? err : collect_places(s);
	err = err ? err : pl_late_symbols_create(&s->symbols);
	err = err ? err : pl_strtab_create(&s->texts);
	err = err ? err : pl_told_lines_init(&s->lines, s->profile);
	s->names = calloc((size_t)s->profile->function_count + 1, sizeof *s->names);
	return err || s->names ? err : &pl_err_no_memory;
}

static struct plumb_error *symbolize(struct symbolizer *s, struct plumb_profile **ret)
{
	struct plumb_error *err = prepare(s);

	err = err ? err : look_all_up(s);
	s->info.told = s->lines.told_count;
	s->info.left_out = s->lines.left_out;
	if (err || (!s->info.named && !s->info.told))
		return err;
	err = pl_refine(s->profile, &(struct pl_refine){.named = s->names, .told = s->lines.told}, ret);
	if (!err) /* what had no line for want of work has one now, or counts here */
		(*ret)->meta.losses[PL_LOSS_LINES] = s->lines.left_out;
	return err;
}

struct plumb_error *plumb_profile_symbolize(const struct plumb_profile *p,
					    void (*missing)(void *ctx, const char *path, const char *build_id),
					    void *ctx, struct plumb_symbolized *info, struct plumb_profile **ret)
{
	struct symbolizer s = {.profile = p, .missing = missing, .ctx = ctx};

	*ret = NULL;
	struct plumb_error *err = symbolize(&s, ret);
	*info = s.info;
	pl_late_symbols_destroy(s.symbols);
	free(s.names);
	pl_strtab_destroy(s.texts);
	pl_told_lines_deinit(&s.lines);
	pl_vec_deinit(&s.wanted);
	return err;
}
