/* SPDX-License-Identifier: Apache-2.0 */
/* Any memory as a text of Python: str of each kind, bytes, bytearray, C strings, with each layout. The input is four
 * bytes - layout, longest text, place of the object, whether what lies outside can be read - and the memory. */
#include <string.h>

#include "detect.h"
#include "require.h"
#include "text.h"
#include "utf8.h"
#include "value_parts.h"

#define BASE	  UINT64_C(0x10000)
#define READS_MAX 4000
#define BEFORE	  "before"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct memory {
	struct pl_mem mem;
	const uint8_t *data;
	size_t size, reads;
	bool endless; /* the bytes come again and again */
};

static struct plumb_error *memory_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct memory *m = (struct memory *)mem;
	uint64_t at = addr - BASE;

	if (++m->reads > READS_MAX)
		return &pl_err_target_exited;
	if (at <= m->size && len <= m->size - at) {
		memcpy(dst, m->data + at, len);
		return NULL;
	}
	if (!m->endless)
		return &pl_err_unreadable;
	for (size_t i = 0; i < len; i++)
		((uint8_t *)dst)[i] = m->data[(at + i) % m->size];
	return NULL;
}

static const struct pl_mem_ops memory_ops = {.read = memory_read};

struct scene {
	struct memory memory;
	struct pl_py py;
	pl_addr obj;
	size_t max;
};

/* Characters of UTF-8 in which surrogates are allowed; SIZE_MAX if it is anything else. */
static size_t characters(const uint8_t *s, size_t len)
{
	size_t count = 0, n;

	for (size_t i = 0; i < len; i += n, count++) {
		uint32_t c;

		n = pl_utf8_decode(s + i, len - i, &c);
		if (c == PL_UTF8_INVALID && !(n == 3 && s[i] == 0xed && s[i + 1] >= 0xa0))
			return SIZE_MAX;
	}
	return count;
}

/* What was in the buffer stays; after an error nothing else is. */
static void check_before(const struct pl_buf *b, bool failed)
{
	size_t len = strlen(BEFORE);

	REQUIRE(b->len >= len && memcmp(b->data, BEFORE, len) == 0 && (!failed || b->len == len));
}

static void restart(struct scene *s, struct pl_buf *b)
{
	s->memory.reads = 0;
	b->len = strlen(BEFORE);
}

static void use_str(struct scene *s, struct pl_buf *b)
{
	restart(s, b);
	struct plumb_error *err = pl_text_read_str(&s->memory.mem, &s->py, s->obj, s->max, b);
	size_t added = b->len - strlen(BEFORE);
	check_before(b, err);
	REQUIRE(added <= s->max + strlen("...") && characters(b->data + strlen(BEFORE), added) != SIZE_MAX);
	plumb_error_destroy(err);
}

static void use_start(struct scene *s, struct pl_buf *b)
{
	struct pl_text_start start = {0};

	restart(s, b);
	struct plumb_error *err = pl_text_read_start(&s->memory.mem, &s->py, s->obj, s->max, b, &start);
	check_before(b, err);
	if (!err) {
		size_t added = b->len - strlen(BEFORE), found = characters(b->data + strlen(BEFORE), added);
		REQUIRE(added <= s->max && (start.cut ? found < start.chars : found == start.chars));
	}
	plumb_error_destroy(err);
}

static void use_bytes(struct scene *s, struct pl_buf *b)
{
	restart(s, b);
	struct plumb_error *err = pl_text_read_bytes(&s->memory.mem, &s->py, s->obj, s->max, b);
	check_before(b, err);
	REQUIRE(b->len - strlen(BEFORE) <= s->max);
	plumb_error_destroy(err);
}

/* A rendering that reads from our memory without the window of a real one. */
struct rendering {
	struct pl_render r;
	struct memory *memory;
};

static struct plumb_error *rendering_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	return pl_mem_read(&((struct rendering *)mem)->memory->mem, addr, dst, len);
}

typedef struct plumb_error *render_fn(struct pl_render *r, pl_addr obj);

/* What is shown of a value is plain UTF-8 on one line, each byte of it escaped to at most ten; of what is no text, the
 * name of its type. */
static void use_value(struct scene *s, struct pl_buf *b, render_fn *render)
{
	static const struct pl_mem_ops ops = {.read = rendering_read};
	struct pl_values v;
	struct rendering it = {.memory = &s->memory};

	restart(s, b);
	pl_values_init(&v, &s->memory.mem, &s->py, NULL);
	v.limits.text_bytes = (uint32_t)s->max;
	it.r = (struct pl_render){
		.mem = {.ops = &ops}, .reads_left = READS_MAX, .v = &v, .out = b, .out_start = b->len};
	struct plumb_error *err = render(&it.r, s->obj);
	check_before(b, err);
	REQUIRE(b->len - strlen(BEFORE) <= s->max * 10 + sizeof((struct pl_value_type){0}).name + strlen("<>"));
	for (size_t i = strlen(BEFORE), n; i < b->len; i += n) {
		uint32_t c;

		n = pl_utf8_decode(b->data + i, b->len - i, &c);
		REQUIRE(c != PL_UTF8_INVALID && !pl_char_is_hidden(c));
	}
	plumb_error_destroy(err);
}

static struct plumb_error *render_c_string(struct pl_render *r, pl_addr addr)
{
	char name[24];
	struct plumb_error *err = pl_read_c_string(r, addr, name, sizeof name);

	if (!err && pl_clean_name(name, sizeof name))
		return pl_buf_add_str(r->out, name);
	plumb_error_destroy(err);
	return NULL;
}

static void use_all(struct scene *s)
{
	static render_fn *const renders[] = {pl_render_str, pl_render_bare_str, pl_render_bytes, pl_render_bytearray,
					     render_c_string};
	struct pl_buf b = PL_BUF_INIT(1 << 20);

	plumb_error_destroy(pl_buf_add_str(&b, BEFORE));
	use_str(s, &b);
	use_bytes(s, &b);
	use_start(s, &b);
	for (size_t i = 0; i < sizeof renders / sizeof renders[0]; i++)
		use_value(s, &b, renders[i]);
	pl_buf_deinit(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t count;
	const struct pl_layout *rows = pl_layout_rows(&count);

	if (size <= 4)
		return 0;
	struct scene s = {
		.memory = {.mem = {&memory_ops}, .data = data + 4, .size = size - 4, .endless = data[3] & 1},
		.py = {.layout = rows[data[0] % count]},
		.obj = BASE + (data[2] & ~7u),
		.max = data[1],
	};
	use_all(&s);
	return 0;
}
