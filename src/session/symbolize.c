/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: names of native functions that had none when they were sampled, for a recording of any machine. */
#include <plumb/profile.h>

#include <stdlib.h>
#include <string.h>

#include "late_symbols.h"
#include "refine.h"
#include "vec.h"

#define BUILD_ID_MAX 64

/* A function without a name. Texts of the profile. */
struct unnamed {
	uint32_t function, file;
	const char *path, *build_id; /* in hexadecimal, up to the '+' */
	size_t build_id_len;
	uint64_t address;
};

struct symbolizer {
	const struct plumb_profile *profile;
	PL_VEC(struct unnamed) unnamed;
	struct pl_late_symbols *symbols;
	char **names; /* by function */
	void (*missing)(void *ctx, const char *path, const char *build_id);
	void *ctx;
	struct plumb_symbolized info;
};

/* "BUILD-ID+0xADDRESS"; a file can say anything. */
static bool parse(const char *text, struct unnamed *ret)
{
	size_t len = strspn(text, "0123456789abcdef");
	char *end;

	if (!len || len % 2 || len > (size_t)2 * BUILD_ID_MAX || strncmp(text + len, "+0x", 3) != 0)
		return false;
	const char *hex = text + len + 3;
	if (!*hex || strspn(hex, "0123456789abcdef") != strlen(hex) || strlen(hex) > 16)
		return false;
	ret->build_id = text;
	ret->build_id_len = len;
	ret->address = strtoull(hex, &end, 16);
	return true;
}

static struct plumb_error *collect(struct symbolizer *s)
{
	const struct plumb_profile *p = s->profile;

	for (uint32_t i = 0; i < p->function_count; i++) {
		const struct pl_function *f = &p->functions[i];
		struct unnamed u = {.function = i, .file = f->file, .path = pl_strtab_get(p->strings, f->file, NULL)};

		if (f->unnamed && parse(pl_strtab_get(p->strings, f->unnamed, NULL), &u) &&
		    !pl_vec_push(&s->unnamed, u))
			return &pl_err_no_memory;
	}
	return NULL;
}

static int compare_files(const void *a, const void *b)
{
	const struct unnamed *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->build_id_len != y->build_id_len)
		return x->build_id_len < y->build_id_len ? -1 : 1;
	int order = memcmp(x->build_id, y->build_id, x->build_id_len);
	return order ? order : (x->function > y->function) - (x->function < y->function);
}

static bool is_same_file(const struct unnamed *x, const struct unnamed *y)
{
	return x->file == y->file && x->build_id_len == y->build_id_len &&
	       memcmp(x->build_id, y->build_id, x->build_id_len) == 0;
}

static bool open_file(struct symbolizer *s, const struct unnamed *u)
{
	char hex[2 * BUILD_ID_MAX + 1], digits[3] = {0};
	uint8_t id[BUILD_ID_MAX];

	memcpy(hex, u->build_id, u->build_id_len);
	hex[u->build_id_len] = '\0';
	for (size_t i = 0; i < u->build_id_len / 2; i++) {
		memcpy(digits, hex + 2 * i, 2);
		id[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	if (pl_late_symbols_open(s->symbols, u->path, id, u->build_id_len / 2))
		return true;
	s->info.files_missing++;
	if (s->missing)
		s->missing(s->ctx, u->path, hex);
	return false;
}

static struct plumb_error *name_one(struct symbolizer *s, const struct unnamed *u)
{
	const char *name = pl_late_symbols_name(s->symbols, u->address);

	if (!name)
		return NULL;
	s->names[u->function] = strdup(name);
	s->info.named++;
	return s->names[u->function] ? NULL : &pl_err_no_memory;
}

static struct plumb_error *name_all(struct symbolizer *s)
{
	const struct unnamed *all = s->unnamed.data;
	struct plumb_error *err = NULL;
	bool here = false;

	if (s->unnamed.len)
		qsort(s->unnamed.data, s->unnamed.len, sizeof *s->unnamed.data, compare_files);
	for (size_t i = 0; i < s->unnamed.len && !err; i++) {
		if (i == 0 || !is_same_file(&all[i - 1], &all[i])) {
			s->info.files++;
			here = open_file(s, &all[i]);
		}
		if (here)
			err = name_one(s, &all[i]);
	}
	return err;
}

static struct plumb_error *symbolize(struct symbolizer *s, struct plumb_profile **ret)
{
	struct plumb_error *err = collect(s);

	if (!err)
		err = pl_late_symbols_create(&s->symbols);
	s->names = calloc((size_t)s->profile->function_count + 1, sizeof *s->names);
	if (!err)
		err = s->names ? name_all(s) : &pl_err_no_memory;
	s->info.unnamed = s->unnamed.len;
	if (err || !s->info.named)
		return err;
	return pl_refine(s->profile, &(struct pl_refine){.named = (const char *const *)s->names}, ret);
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
	for (uint32_t i = 0; s.names && i < p->function_count; i++)
		free(s.names[i]);
	free(s.names);
	pl_vec_deinit(&s.unnamed);
	return err;
}
