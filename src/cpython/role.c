/* SPDX-License-Identifier: Apache-2.0 */
/* Which function of the standard library a frame runs. Layer: cpython. Pure over pl_mem; one thread; allocates two
 * short texts. */
#include "role.h"

#include <stdio.h>
#include <string.h>

#include "slots.h"
#include "text.h"

#define FILE_MAX     1024
#define FUNCTION_MAX 64

struct function {
	char file[FILE_MAX + 8], name[FUNCTION_MAX + 8];
};

static bool read_text(struct pl_values *v, pl_addr at, char *ret, size_t max)
{
	struct pl_buf text = PL_BUF_INIT(max + 4);
	pl_addr str;
	struct plumb_error *err = pl_mem_read_u64(v->mem, at, &str);

	if (!err)
		err = pl_text_read_str(v->mem, v->py, str, max, &text);
	if (!err && text.len)
		memcpy(ret, text.data, text.len);
	ret[err ? 0 : text.len] = '\0';
	pl_buf_deinit(&text);
	plumb_error_destroy(err);
	return !err;
}

static bool read_function(struct pl_values *v, pl_addr code, struct function *ret)
{
	return read_text(v, code + v->py->layout.code.filename, ret->file, FILE_MAX) &&
	       read_text(v, code + v->py->layout.code.name, ret->name, FUNCTION_MAX);
}

/* Is it the path's end, from a '/' on? */
static bool is_end_of(const char *end, const char *path)
{
	size_t n = strlen(end), len = strlen(path);

	return len >= n && strcmp(path + len - n, end) == 0 && (len == n || path[len - n - 1] == '/');
}

static bool is_function(const struct pl_role *r, const struct function *f)
{
	return strcmp(r->function, f->name) == 0 && (!r->file || is_end_of(r->file, f->file));
}

/* The RLock that is written in Python has the underscore, too. */
bool pl_role_is_of(struct pl_values *v, pl_addr obj, const char *class)
{
	const char *dot = strrchr(class, '.');
	char private[PL_TYPE_NAME];

	if (!dot[1])
		return pl_value_type_name(v, obj, private) && strncmp(private, class, strlen(class)) == 0;
	if (pl_value_is_a(v, obj, class))
		return true;
	snprintf(private, sizeof private, "%.*s._%s", (int)(dot - class), class, dot + 1);
	return pl_value_is_a(v, obj, private);
}

const struct pl_role *pl_role_of(struct pl_values *v, const struct pl_role *roles, size_t count,
				 const struct pl_frame *f, pl_addr *self_ret)
{
	struct function function;
	struct pl_slots s;
	struct plumb_error *err = pl_slots_of(v->mem, v->py, f, &s);

	*self_ret = err ? 0 : pl_slots_self(v, f, &s);
	plumb_error_destroy(err);
	if (err || !read_function(v, f->code, &function))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const struct pl_role *r = &roles[i];
		if (is_function(r, &function) && (!r->class || (*self_ret && pl_role_is_of(v, *self_ret, r->class))))
			return r;
	}
	return NULL;
}

bool pl_role_may_be(struct pl_values *v, const struct pl_role *role, pl_addr code)
{
	struct function function;

	return !read_function(v, code, &function) || is_function(role, &function);
}
