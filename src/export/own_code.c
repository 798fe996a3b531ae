/* SPDX-License-Identifier: Apache-2.0 */
/* What of a profile is the program's own code. Layer export; pure, any thread.
 *
 * A library is what lies where Python or pip installs, what is no Python, and the script in some bin/ that starts an
 * installed program: "python -m json.tool" or "pytest" have no code of their own, what they call may have. What was
 * named as own code (--own) is none, wherever it lies. */
#include "own_code.h"

#include <stdlib.h>
#include <string.h>

#include "frame_name.h"

/* A program of whose time less than this is in own code is a tool that is all library. */
#define OWN_WORTH_TELLING 0.05

/* "/usr/bin/pytest" */
bool pl_own_code_is_launcher(const struct plumb_profile *p, const struct pl_function *f)
{
	struct pl_text file = pl_text_of(p, f->file), name = pl_text_basename(file);
	size_t folder = file.len - name.len;

	return folder >= 5 && memcmp(file.s + folder - 5, "/bin/", 5) == 0 && !memchr(name.s, '.', name.len);
}

static bool is_installed(struct pl_text file)
{
	static const char *const places[] = {"/site-packages/", "/dist-packages/", "/lib/python", "/lib64/python",
					     "<frozen "};

	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		if (memmem(file.s, file.len, places[i], strlen(places[i])))
			return true;
	}
	return false;
}

bool pl_own_code_is_library(const struct plumb_profile *p, const struct pl_function *f)
{
	if (f->origin != PL_ORIGIN_PYTHON)
		return f->origin != PL_ORIGIN_TASK && !pl_frame_is_tag(p, f);
	return !pl_profile_is_own(p, f->file) &&
	       (is_installed(pl_text_of(p, f->file)) || pl_own_code_is_launcher(p, f));
}

bool *pl_own_code_libraries(const struct plumb_profile *p)
{
	bool *library = calloc((size_t)p->function_count + 1, sizeof *library);

	for (uint32_t i = 0; library && i < p->function_count; i++)
		library[i] = pl_own_code_is_library(p, &p->functions[i]);
	return library;
}

static double own_share(const pl_tree_rows *rows)
{
	double share = 0;

	for (size_t i = 0; i < rows->len; i++) {
		const struct pl_tree_row *r = &rows->data[i];

		if (r->depth == 0 && r->kind == PL_TREE_FUNCTION)
			share += r->total.share;
	}
	return share;
}

struct plumb_error *pl_own_code_tree(const struct plumb_profile *p, const struct pl_filter *f, double min_share,
				     pl_tree_rows *ret)
{
	bool *library = pl_own_code_libraries(p);
	struct plumb_error *err;

	if (!library)
		return &pl_err_no_memory;
	err = pl_view_own_tree(p, f, library, min_share, ret);
	free(library);
	if (err || own_share(ret) >= OWN_WORTH_TELLING)
		return err;
	pl_vec_deinit(ret);
	*ret = (pl_tree_rows){0};
	return pl_view_tree(p, f, min_share, ret);
}

double pl_own_code_half_width(const pl_tree_rows *rows, double otherwise)
{
	double half = rows->len ? 0 : otherwise;

	for (size_t i = 0; i < rows->len; i++) {
		const struct pl_share *s = &rows->data[i].total;

		if (s->half_width > half && (i == 0 || s->share > s->half_width))
			half = s->half_width;
	}
	return half;
}
