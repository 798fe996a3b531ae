/* SPDX-License-Identifier: Apache-2.0 */
/* Which stacks pass, by their frames and by their weight (layer model). Read-only.
 *
 * A question about a frame is asked once for each function; what a stack inherits from its parent comes from one pass
 * over the stacks in the order of their ids, in which parents stand first. */
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "index.h"
#include "labels.h"
#include "refine_parts.h"

#define TEXT_MAX_BYTES (16u << 20)

/* To find no match the C library can begin anew at each byte: steps are the square of a text's length. Names of a
 * function are 100 bytes, and there can be more functions than a file has bytes. */
#define STEPS_BASE (1ull << 32)
#define STEPS_EACH 4096 /* of a function */

/* Of a function, and of a stack with such a frame. */
enum { FOCUS = 1, IGNORE = 2, MODULE = 4, TAG = 8 };

struct patterns {
	regex_t focus, ignore;
	bool has_focus, has_ignore;
	uint64_t steps_left;
};

static void patterns_deinit(struct patterns *x)
{
	if (x->has_focus)
		regfree(&x->focus);
	if (x->has_ignore)
		regfree(&x->ignore);
}

static struct plumb_error *compile(const char *text, regex_t *ret, bool *has_ret)
{
	char why[256];

	if (!text)
		return NULL;
	int code = regcomp(ret, text, REG_EXTENDED | REG_NOSUB);
	*has_ret = code == 0;
	if (code == 0)
		return NULL;
	regerror(code, ret, why, sizeof why);
	return pl_error_hint(pl_error(PLUMB_ERR_INVALID, "'%s' is no regular expression: %s", text, why),
			     "to look for one of ( ) [ ] { } * + ? . | ^ $ itself, write a \\ before it");
}

static bool is_match(bool has, const regex_t *r, const char *text)
{
	return has && regexec(r, text, 0, NULL, 0) == 0;
}

static struct plumb_error *spend_steps(struct patterns *x, uint64_t len)
{
	uint64_t steps = x->has_focus || x->has_ignore ? len * len : 0;

	if (steps > x->steps_left)
		return pl_error_hint(pl_error(PLUMB_ERR_LIMIT,
					      "its functions have names too long to be searched with an expression"),
				     "'--module', '--tag' and '--threads' choose without one");
	x->steps_left -= steps;
	return NULL;
}

static const char *text_of(const struct plumb_profile *p, uint32_t id)
{
	return pl_strtab_get(p->strings, id, NULL);
}

static bool in_modules(const struct pl_refine *o, const char *file)
{
	for (size_t i = 0; i < o->module_count; i++) {
		if (pl_refine_is_module(file, o->modules[i]))
			return true;
	}
	return false;
}

static bool in_tags(const struct plumb_profile *p, const struct pl_refine *o, uint32_t function)
{
	struct pl_label labels[PL_LABELS_MAX];

	return o->tag_count && p->functions[function].labels &&
	       pl_labels_match(labels, pl_function_labels(p, function, labels), o->tags, o->tag_count);
}

static struct plumb_error *look_at_function(const struct plumb_profile *p, const struct pl_refine *o,
					    struct patterns *x, uint32_t id, struct pl_buf *text, uint8_t *ret)
{
	const struct pl_function *f = &p->functions[id];
	const char *file = text_of(p, f->file);

	if (f->plumbing) /* nobody sees it, but for who asks for all */
		return NULL;
	pl_buf_clear(text);
	struct plumb_error *err = pl_buf_printf(text, "%s %s", text_of(p, f->qualname ? f->qualname : f->name), file);
	if (!err)
		err = spend_steps(x, text->len);
	if (err)
		return err;
	const char *name = pl_buf_str(text);
	*ret = (uint8_t)((is_match(x->has_focus, &x->focus, name) ? FOCUS : 0) |
			 (is_match(x->has_ignore, &x->ignore, name) ? IGNORE : 0) | (in_modules(o, file) ? MODULE : 0) |
			 (in_tags(p, o, id) ? TAG : 0));
	return NULL;
}

static struct plumb_error *look_at_functions(const struct plumb_profile *p, const struct pl_refine *o,
					     uint8_t *functions)
{
	struct patterns x = {.steps_left = STEPS_BASE + (uint64_t)p->function_count * STEPS_EACH};
	struct pl_buf text = PL_BUF_INIT(TEXT_MAX_BYTES);
	struct plumb_error *err = compile(o->focus, &x.focus, &x.has_focus);

	if (!err)
		err = compile(o->ignore, &x.ignore, &x.has_ignore);
	for (uint32_t i = 0; i < p->function_count && !err; i++)
		err = look_at_function(p, o, &x, i, &text, &functions[i]);
	patterns_deinit(&x);
	pl_buf_deinit(&text);
	return err;
}

/* Whether the frames of a function are left out for what they are. */
static bool is_left_out(const struct pl_refine *o, const struct pl_function *f)
{
	bool native = f->origin == PL_ORIGIN_NATIVE || f->origin == PL_ORIGIN_KERNEL;

	if (o->native == PL_NATIVE_OFF && native)
		return true;
	if (o->native && o->native != PL_NATIVE_ALL && f->plumbing)
		return true;
	return o->kinds && !(o->kinds & 1u << f->origin);
}

/* What was found of a stack -> its flags. @p f: of its innermost frame; NULL: it has none. */
static uint8_t flags_of(const struct pl_refine *o, uint8_t found, const struct pl_function *f)
{
	bool out = (found & IGNORE) || (o->focus && !(found & FOCUS)) || (o->module_count && !(found & MODULE)) ||
		   (o->tag_count && !(found & TAG));
	bool frame_out = f && is_left_out(o, f);

	return (uint8_t)((out ? PL_SIEVE_OUT : 0) | (frame_out ? PL_SIEVE_FRAME_OUT : 0));
}

static void look_at_stacks(const struct plumb_profile *p, const struct pl_refine *o, const uint8_t *functions,
			   uint8_t *found, uint8_t *flags)
{
	flags[0] = flags_of(o, 0, NULL);
	for (uint32_t i = 1; i < p->stack_count; i++) {
		uint32_t function = p->locations[p->stacks[i].location].function;

		found[i] = found[p->stacks[i].parent] | (functions[function] & (p->stacks[i].parent ? ~TAG : ~0));
		flags[i] = flags_of(o, found[i], &p->functions[function]);
	}
}

struct plumb_error *pl_sieve_frames(const struct plumb_profile *p, const struct pl_refine *o, uint8_t **ret)
{
	*ret = NULL;
	if (!o->kinds && !o->native && !o->module_count && !o->tag_count && !o->focus && !o->ignore)
		return NULL;
	uint8_t *functions = calloc((size_t)p->function_count + 1, 1), *found = calloc(p->stack_count, 1);
	uint8_t *flags = calloc(p->stack_count, 1);
	struct plumb_error *err = functions && found && flags ? look_at_functions(p, o, functions) : &pl_err_no_memory;

	if (!err)
		look_at_stacks(p, o, functions, found, flags);
	free(functions);
	free(found);
	if (err) {
		free(flags);
		return err;
	}
	*ret = flags;
	return NULL;
}

/* Weight of each subtree; of samples where nothing has a weight. */
static double *subtree_weights(const struct plumb_profile *p)
{
	double *weights = calloc(p->stack_count, sizeof *weights);
	uint64_t any = 0;

	if (!weights)
		return NULL;
	for (uint32_t i = 0; i < p->cell_count; i++)
		any |= p->cells[i].weight_ns;
	for (uint32_t i = 0; i < p->cell_count; i++)
		weights[p->cells[i].stack] += (double)(any ? p->cells[i].weight_ns : p->cells[i].samples);
	for (uint32_t i = p->stack_count - 1; i > 0; i--)
		weights[p->stacks[i].parent] += weights[i];
	return weights;
}

struct plumb_error *pl_sieve_shares(const struct plumb_profile *p, double min_share, uint8_t **ret)
{
	double *weights = subtree_weights(p);
	uint8_t *flags = calloc(p->stack_count, 1);

	if (!weights || !flags) {
		free(weights);
		free(flags);
		return &pl_err_no_memory;
	}
	for (uint32_t i = 1; i < p->stack_count; i++)
		flags[i] = weights[i] < min_share * weights[0] ? PL_SIEVE_FRAME_OUT : 0;
	free(weights);
	*ret = flags;
	return NULL;
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

/* Does @p file go on with @p name, whose dots are slashes in a path? What follows in *rest_ret. */
static bool goes_on_with(const char *file, const char *name, const char **rest_ret)
{
	for (; *name; name++, file++) {
		if (*file != (*name == '.' ? '/' : *name))
			return false;
	}
	*rest_ret = file;
	return true;
}

/* A folder or the name of a file without its suffix ends here. */
static bool ends_here(const char *rest)
{
	return *rest == '\0' || *rest == '/' || (*rest == '.' && !strchr(rest, '/'));
}

/* Behind the last folder that modules are found in; NULL: none is known. */
static const char *behind_module_folder(const char *file)
{
	static const char *const folders[] = {"/site-packages/", "/dist-packages/", "/lib-dynload/"};
	const char *best = NULL;

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		for (const char *at = strstr(file, folders[i]); at; at = strstr(at + 1, folders[i]))
			best = at + strlen(folders[i]) > best ? at + strlen(folders[i]) : best;
	}
	for (const char *at = strstr(file, "/lib/python"); at && !best; at = strstr(at + 1, "/lib/python")) {
		const char *end = strchr(at + strlen("/lib/python"), '/');
		best = end ? end + 1 : NULL;
	}
	return best;
}

static bool is_dotted(const char *file, const char *name)
{
	static const char frozen[] = "<frozen ";
	const char *at = behind_module_folder(file), *rest;

	if (strncmp(file, frozen, sizeof frozen - 1) == 0) { /* "<frozen importlib._bootstrap>": dots stay dots */
		const char *inner = file + sizeof frozen - 1;
		size_t len = strlen(name);
		return strncmp(inner, name, len) == 0 && (inner[len] == '>' || inner[len] == '.');
	}
	if (at)
		return goes_on_with(at, name, &rest) && ends_here(rest);
	for (at = file; at; at = strchr(at, '/')) {
		at += *at == '/';
		if (goes_on_with(at, name, &rest) && ends_here(rest))
			return true;
	}
	return false;
}

static bool is_path(const char *file, const char *path)
{
	size_t len = strlen(path), file_len = strlen(file);

	while (len > 1 && path[len - 1] == '/')
		len--;
	if (strncmp(file, path, len) == 0 && (file[len] == '\0' || file[len] == '/'))
		return true;
	return file_len > len && path[0] != '/' && file[file_len - len - 1] == '/' &&
	       memcmp(file + file_len - len, path, len) == 0;
}

bool pl_refine_is_module(const char *file, const char *name)
{
	size_t len = strlen(name);

	if (!len)
		return false;
	if (strchr(name, '/') || (len > 3 && strcmp(name + len - 3, ".py") == 0))
		return is_path(file, name);
	return is_dotted(file, name);
}
