/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os; pure. libiberty reads the names. It calls back with pieces of them, and may never come to an end of that:
 * who has enough jumps out of it. */
#include "demangle_name.h"

#include <string.h>

#include "demangle.h"

#ifdef PL_HAVE_IBERTY
#include <setjmp.h>
/* Debian has it in a folder of its own. */
#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#else
#include <demangle.h>
#endif

#define OPTIONS (DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT)
#define CUT	"..."

struct text {
	char *buf;
	size_t len, size; /* without the end */
	bool cut;
	jmp_buf enough;
};

static void add(const char *piece, size_t len, void *ctx)
{
	struct text *t = ctx;
	size_t room = t->size - t->len, n = len < room ? len : room;

	memcpy(t->buf + t->len, piece, n);
	t->len += n;
	t->cut = n < len;
	if (t->cut)
		longjmp(t->enough, 1);
}

typedef int reader_fn(const char *symbol, int options, demangle_callbackref callback, void *ctx);

static bool read_into(reader_fn *reader, const char *symbol, struct text *t)
{
	if (setjmp(t->enough))
		return true;
	return reader(symbol, OPTIONS, add, t) && t->len;
}

static bool read_name(reader_fn *reader, const char *symbol, char *buf, size_t size)
{
	struct text t = {.buf = buf, .size = size - 1};

	if (!read_into(reader, symbol, &t))
		return false;
	buf[t.len] = '\0';
	if (t.cut)
		memcpy(buf + size - sizeof CUT, CUT, sizeof CUT);
	return true;
}

/* A name of Rust can have the form of one of C++. */
bool pl_demangle_name(const char *symbol, char *buf, size_t size)
{
	if (read_name(rust_demangle_callback, symbol, buf, size))
		return true;
	if (!read_name(cplus_demangle_v3_callback, symbol, buf, size))
		return false;
	pl_shorten_cpp_name(buf);
	return true;
}

bool pl_can_demangle(void)
{
	return true;
}
#else
bool pl_demangle_name(const char *symbol, char *buf, size_t size)
{
	return false;
}

bool pl_can_demangle(void)
{
	return false;
}
#endif

/* ---- shorter ----------------------------------------------------------------------------------------------------- */

static void replace_all(char *s, const char *what, const char *by)
{
	size_t len = strlen(what), new_len = strlen(by);

	for (char *p = s; (p = strstr(p, what)); p += new_len) {
		memcpy(p, by, new_len);
		memmove(p + new_len, p + len, strlen(p + len) + 1);
	}
}

/* Behind the bracket that closes the one before @p s; NULL: there is none. */
static char *behind_closing(char *s)
{
	for (int depth = 1; *s; s++) {
		depth += *s == '<' ? 1 : *s == '>' ? -1 : 0;
		if (depth == 0)
			return s + 1;
	}
	return NULL;
}

/* The last argument of a template, with all that it has itself. */
static void drop_last_argument(char *s, const char *begins)
{
	for (char *p = s; (p = strstr(p, begins));) {
		char *end = behind_closing(p + strlen(begins));

		if (!end)
			return;
		end += *end == ' ' && end[1] == '>';
		if (*end == '>')
			memmove(p, end, strlen(end) + 1);
		else
			p += strlen(begins);
	}
}

/* Marks that names have so that they differ: numba puts hundreds of letters there. */
static void drop_marks(char *s)
{
	for (char *p = s, *end; (p = strstr(p, "[abi:")) && (end = strchr(p, ']'));)
		memmove(p, end + 1, strlen(end + 1) + 1);
}

void pl_shorten_cpp_name(char *name)
{
	static const struct {
		const char *what, *by;
	} shorter[] = {{"std::__cxx11::", "std::"},
		       {"std::__1::", "std::"},
		       {"> >", ">>"},
		       {"> >", ">>"}, /* of three in a row the first two were one */
		       {"std::basic_string<char, std::char_traits<char>>", "std::string"},
		       {"std::basic_string_view<char, std::char_traits<char>>", "std::string_view"},
		       {"std::basic_ostream<char, std::char_traits<char>>", "std::ostream"},
		       {"std::basic_istream<char, std::char_traits<char>>", "std::istream"}};

	/* Of a part that the compiler has cut off. */
	char *clone = strstr(name, " [clone .");

	if (clone)
		*clone = '\0';
	drop_marks(name);
	drop_last_argument(name, ", std::allocator<");
	drop_last_argument(name, ", std::default_delete<");
	for (size_t i = 0; i < sizeof shorter / sizeof *shorter; i++)
		replace_all(name, shorter[i].what, shorter[i].by);
}
