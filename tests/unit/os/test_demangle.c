/* SPDX-License-Identifier: Apache-2.0 */
/* Names of C++ and Rust; then hostile ones, which end whoever reads them and nobody else. */
#include "unit.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "demangle.h"
#include "demangle_name.h"

static void assert_no_process_is_left(void)
{
	assert_int_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void names_are_as_people_write_them(void **state)
{
	static const struct {
		const char *symbol, *name;
	} all[] = {
		{"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int>::push_back(int const&)"},
		{"_ZNSt6vectorIS_IiSaIiEESaIS1_EE5clearEv", "std::vector<std::vector<int>>::clear()"},
		{"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc",
		 "std::string::append(char const*)"},
		{"_ZN3FooC2Ev.isra.0", "Foo::Foo()"},
		{"_ZN3Foo3barEi.part.0.cold", "Foo::bar(int)"},
		{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
		{"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
	};
	struct pl_demangler d = {0};
	char name[PL_DEMANGLED];

	(void)state;
	if (!pl_can_demangle())
		skip();
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		assert_true(pl_demangle(&d, all[i].symbol, name));
		assert_string_equal(name, all[i].name);
	}
	pl_demangler_deinit(&d);
	assert_no_process_is_left();
}

/* These have been made by Cython. */
static void functions_of_cython_are_called_as_python_calls_them(void **state)
{
	static const struct {
		const char *symbol, *name;
	} all[] = {
		{"__pyx_pw_6gevent_17_gevent_cgreenlet_8Greenlet_43run", "gevent._gevent_cgreenlet.Greenlet.run"},
		{"__pyx_pw_6gevent_17_gevent_cgreenlet_1_kill", "gevent._gevent_cgreenlet._kill"},
		{"__pyx_pw_6gevent_17_gevent_cgreenlet_6_Frame_1__init__", "gevent._gevent_cgreenlet._Frame.__init__"},
		{"__pyx_pf_6gevent_17_gevent_cgreenlet_12__defaults__", "gevent._gevent_cgreenlet.__defaults__"},
		{"__pyx_pf_6gevent_17_gevent_cgreenlet_11SpawnedLink_6__eq__",
		 "gevent._gevent_cgreenlet.SpawnedLink.__eq__"},
		{"__pyx_pf_5shape_1C_area", "shape.C.area"},
		{"__pyx_pw_5shape_3get_it", "shape.get_it"},
		{"__pyx_f_6gevent_17_gevent_cgreenlet_joinall", "gevent._gevent_cgreenlet.joinall"},
		{"__pyx_f_6gevent_17_gevent_cgreenlet_8Greenlet__Greenlet__free",
		 "gevent._gevent_cgreenlet.Greenlet.__free"},
		{"__pyx_f_6gevent_16_gevent_c_waiter_14MultipleWaiter_get.constprop.0",
		 "gevent._gevent_c_waiter.MultipleWaiter.get"},
		{"__pyx_pw_6gevent_17_gevent_cgreenlet_10__pyx_lambda_funcdef_6gevent_17_gevent_cgreenlet_lambda4",
		 "gevent._gevent_cgreenlet.<lambda>"},
	};
	static const char *const others[] = {
		"__pyx_pw_",	    "__pyx_pw_6gevent", "__pyx_pw_6gevent_",	  "__pyx_pw_5shape_3",
		"__pyx_f_5shape_3", "__pyx_pw_0_1f",	"__pyx_pw_99999999999_f", "__pyx_tp_dealloc_5shape_C"};
	char name[PL_CYTHON_NAME], small[16] = "as before", longest[2 * PL_CYTHON_NAME] = "__pyx_f_5shape_";

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		assert_true(pl_cython_name(all[i].symbol, name, sizeof name));
		assert_string_equal(name, all[i].name);
		for (size_t cut = 0; cut < strlen(all[i].symbol); cut++) {
			char *part = strndup(all[i].symbol, cut);

			pl_cython_name(part, name, sizeof name);
			free(part);
		}
	}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		assert_false(pl_cython_name(others[i], small, sizeof small));
	assert_string_equal(small, "as before");
	memset(longest + strlen(longest), 'x', sizeof longest - 1 - strlen(longest));
	assert_true(pl_cython_name(longest, name, sizeof name));
	assert_int_equal(strlen(name), sizeof name - 1);
}

/* Nobody is asked for them. */
static void other_names_are_left_as_they_are(void **state)
{
	char name[PL_DEMANGLED] = "as before", *longest = malloc(PL_DEMANGLED + 1);
	struct pl_demangler d = {0};

	(void)state;
	memset(longest, 'P', PL_DEMANGLED);
	longest[PL_DEMANGLED] = '\0';
	memcpy(longest, "_Z", 2);
	assert_false(pl_demangle(&d, "PyObject_Call", name));
	assert_false(pl_demangle(&d, "", name));
	assert_false(pl_demangle(&d, longest, name));
	assert_int_equal(d.pid, 0);
	assert_false(pl_demangle(&d, "_Z", name));
	assert_false(pl_demangle(&d, "_Zwhatever", name));
	assert_false(pl_demangle(&d, "_R", name));
	assert_string_equal(name, "as before");
	pl_demangler_deinit(&d);
	assert_no_process_is_left();
	free(longest);
}

static void what_nobody_wrote_is_left_out(void **state)
{
	static const struct {
		const char *whole, *shorter;
	} all[] = {
		{"f(std::vector<std::vector<int, std::allocator<int> >, std::allocator<std::vector<int, "
		 "std::allocator<int> > > >)",
		 "f(std::vector<std::vector<int>>)"},
		{"f(std::unique_ptr<T, std::default_delete<T> > const&)", "f(std::unique_ptr<T> const&)"},
		{"f(std::__1::vector<int, mine<int> >)", "f(std::vector<int, mine<int>>)"},
		{"std::basic_ostream<char, std::char_traits<char> >& f()", "std::ostream& f()"},
		{"A<B<C<D<E> > > >", "A<B<C<D<E>>>>"},
		{"f[abi:v2][abi:c8tJTIeFIjxB2](long)", "f(long)"},
		{"f[abi:", "f[abi:"},
		/* no template, or none that ends */
		{"f(X, std::allocator<int>)", "f(X, std::allocator<int>)"},
		{"f<X, std::allocator<int", "f<X, std::allocator<int"},
		{"std::operator<< <int>", "std::operator<< <int>"},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		char *name = strdup(all[i].whole);

		pl_shorten_cpp_name(name);
		assert_string_equal(name, all[i].shorter);
		free(name);
	}
}

/* _Z1f, of a pair of pairs of pairs: twice as long with each. */
static void doubling(char *symbol, int times)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	symbol += sprintf(symbol, "_Z1f1AIiiE");
	for (int i = 0; i < times; i++)
		symbol += sprintf(symbol, "S_IS%c_S%c_E", digits[i], digits[i]);
}

static void a_short_name_can_be_an_endless_one(void **state)
{
	char symbol[512], name[PL_DEMANGLED];
	struct pl_demangler d = {0};

	(void)state;
	if (!pl_can_demangle())
		skip();
	doubling(symbol, 30);
	assert_true(pl_demangle(&d, symbol, name));
	size_t len = strlen(name);
	assert_in_range(len, PL_DEMANGLED / 2, PL_DEMANGLED - 1);
	assert_string_equal(name + len - 3, "...");
	assert_int_equal(d.failed, 0);
	pl_demangler_deinit(&d);
}

static char *sequence(char *at, unsigned number)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char text[8];
	int len = 0;

	for (number--; len == 0 || number; number /= 36)
		text[len++] = digits[number % 36];
	*at++ = 'S';
	while (len)
		*at++ = text[--len];
	*at++ = '_';
	return at;
}

static char *many(char *at, const char *what, unsigned times)
{
	while (times--)
		at = stpcpy(at, what);
	return at;
}

/* f<int>, of a template of references and one of templates, each named a second time: its reader asks for 16 bytes
 * times the references times the templates at once. */
static void references_times_templates(char *symbol)
{
	enum { REFERENCES = 670, TEMPLATES = 490 };
	const unsigned whole = 2 + 2 * REFERENCES;

	symbol = many(stpcpy(symbol, "_Z1fIiEv1aI"), "RT_", REFERENCES);
	symbol = many(stpcpy(symbol, "E1bI"), "S_IE", TEMPLATES);
	*symbol++ = 'E';
	symbol = sequence(sequence(symbol, whole), whole + 1 + TEMPLATES + 1);
	*symbol = '\0';
}

/* What its reader writes beyond its stack would be in memory that it shares with others. */
static void check_writes_nowhere_else(const char *symbol)
{
	char name[PL_DEMANGLED];
	struct pl_demangler d = {0};
	const size_t size = 64u << 20;

	assert_true(pl_demangle(&d, "_ZN3Foo3barEv", name));
	/* The kernel puts what is mapped next below what was mapped last, which is the stack of whoever reads names. */
	unsigned char *below = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(below, MAP_FAILED);
	assert_int_equal(kill(d.pid, SIGKILL), 0); /* the next one sees it */
	while (waitid(P_PID, (id_t)d.pid, NULL, WEXITED | WNOWAIT | __WALL) != 0)
		assert_int_equal(errno, EINTR);
	(void)pl_demangle(&d, symbol, name); /* whether it is one depends on the release of the library */
	for (size_t i = 0; i < size; i++)
		if (below[i])
			fail_msg("written %zu bytes below the stack", size - i);
	munmap(below, size);
	pl_demangler_deinit(&d);
}

static void a_name_that_takes_a_large_stack_writes_nowhere_else(void **state)
{
	char symbol[PL_DEMANGLED];

	(void)state;
	if (!pl_can_demangle())
		skip();
	references_times_templates(symbol);
	check_writes_nowhere_else(symbol);
}

/* What it refers back to is itself. */
static void a_name_without_end_writes_nowhere_else(void **state)
{
	(void)state;
	if (!pl_can_demangle())
		skip();
	check_writes_nowhere_else("_RB_");
}

/* Whose memory a name has got hold of can ask the kernel for nothing. */
static void who_reads_names_may_only_compute(void **state)
{
	char name[PL_DEMANGLED], path[64], line[256];
	struct pl_demangler d = {0};
	int mode = 0;

	(void)state;
	if (!pl_can_demangle())
		skip();
	assert_true(pl_demangle(&d, "_ZN3Foo3barEv", name));
	snprintf(path, sizeof path, "/proc/%d/status", (int)d.pid);
	FILE *status = fopen(path, "r");
	assert_non_null(status);
	while (fgets(line, sizeof line, status))
		if (sscanf(line, "Seccomp: %d", &mode) == 1)
			break;
	fclose(status);
	assert_int_equal(mode, SECCOMP_MODE_FILTER);
	pl_demangler_deinit(&d);
}

/* Conversions in conversions: each is tried in two ways. */
static void conversions(char *symbol, int depth)
{
	symbol = many(stpcpy(symbol, "_ZN1AcvT"), "_IcvT", (unsigned)depth);
	strcpy(symbol, "_Ev");
}

/* Each takes less than is allowed for one. */
static void names_that_take_long_together_keep_nobody(void **state)
{
	char symbol[512], name[PL_DEMANGLED];
	struct pl_demangler d = {0};

	(void)state;
	if (!pl_can_demangle())
		skip();
	conversions(symbol, 14);
	while (!d.failed)
		(void)pl_demangle(&d, symbol, name);
	assert_true(pl_demangle(&d, "_ZN3Foo3barEv", name));
	assert_string_equal(name, "Foo::bar()");
	pl_demangler_deinit(&d);
	assert_no_process_is_left();
}

static void a_name_that_takes_for_ever_keeps_nobody(void **state)
{
	char symbol[512], name[PL_DEMANGLED];
	struct pl_demangler d = {0};

	(void)state;
	if (!pl_can_demangle())
		skip();
	conversions(symbol, 40);
	for (int i = 1; i <= 3; i++) {
		assert_true(pl_demangle(&d, "_ZN3Foo3barEv", name));
		assert_false(pl_demangle(&d, symbol, name));
		assert_string_equal(name, "Foo::bar()");
		assert_int_equal(d.failed, i);
	}
	assert_false(pl_demangle(&d, "_ZN3Foo3barEv", name));
	pl_demangler_deinit(&d);
	assert_no_process_is_left();
}

/* Who has gone while nobody asked him is made anew, and that is no failure. */
static void it_may_be_ended_by_anybody(void **state)
{
	char name[PL_DEMANGLED];
	struct pl_demangler d = {0};

	(void)state;
	if (!pl_can_demangle())
		skip();
	for (int i = 0; i < 5; i++) {
		assert_true(pl_demangle(&d, "_ZN3Foo3barEv", name));
		assert_string_equal(name, "Foo::bar()");
		kill(d.pid, SIGKILL);
		siginfo_t info;
		assert_int_equal(waitid(P_PID, (id_t)d.pid, &info, WEXITED | WNOWAIT | __WALL), 0);
	}
	assert_int_equal(d.failed, 0);
	pl_demangler_deinit(&d);
	assert_no_process_is_left();
}

static void damaged_names_do_no_harm(void **state)
{
	static const char *const good[] = {
		"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc",
		"_ZN5boost8function18functor_managerINS_3_bi6bind_tIvPFviEEEE6manageERKi",
		"_ZZNSt6vectorIiSaIiEE9push_backEOiENKUlTpT_E_clIJidEEEDaS4_",
		"_RINvNtC3std3mem8align_ofdE",
		"_RNvXs_NtCs1234_7mycrate3fooNtB4_3BarNtNtC4core3fmt5Debug3fmt",
	};
	static const char letters[] = "_ZRNIESTJDpcvsLKP0123456789abCfu";
	unsigned seed = 20261126;
	char symbol[512], name[PL_DEMANGLED];
	struct pl_demangler d = {0};

	(void)state;
	if (!pl_can_demangle())
		skip();
	for (int i = 0; i < 3000; i++) {
		strcpy(symbol, good[i % (int)(sizeof good / sizeof *good)]);
		size_t len = strlen(symbol);

		for (int k = 0; k < 3; k++)
			symbol[2 + (size_t)rand_r(&seed) % (len - 2)] =
				letters[(size_t)rand_r(&seed) % (sizeof letters - 1)];
		if (pl_demangle(&d, symbol, name))
			assert_in_range(strlen(name), 1, PL_DEMANGLED - 1);
	}
	pl_demangler_deinit(&d);
	assert_no_process_is_left();
}

/* Behind the last byte that there is room for lies nothing. */
static void of_long_names_no_more_is_read_than_is_kept(void **state)
{
	size_t room = (PL_DEMANGLED + 4095) / 4096 * 4096u;
	char *pages = mmap(NULL, room + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char name[PL_DEMANGLED];
	struct pl_demangler d = {0};

	assert_ptr_not_equal(pages, MAP_FAILED);
	memset(pages, 'n', room);
	assert_int_equal(mprotect(pages + room, 4096, PROT_NONE), 0);
	pl_demangle_or_keep(&d, pages + room - PL_DEMANGLED, name);
	assert_int_equal(strlen(name), PL_DEMANGLED - 1);
	assert_memory_equal(name, pages, PL_DEMANGLED - 1);
	pl_demangle_or_keep(&d, "PyObject_Call", name);
	assert_string_equal(name, "PyObject_Call");
	pl_demangler_deinit(&d);
	munmap(pages, room + 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_as_people_write_them),
		cmocka_unit_test(functions_of_cython_are_called_as_python_calls_them),
		cmocka_unit_test(other_names_are_left_as_they_are),
		cmocka_unit_test(what_nobody_wrote_is_left_out),
		cmocka_unit_test(a_short_name_can_be_an_endless_one),
		cmocka_unit_test(a_name_that_takes_a_large_stack_writes_nowhere_else),
		cmocka_unit_test(a_name_without_end_writes_nowhere_else),
		cmocka_unit_test(who_reads_names_may_only_compute),
		cmocka_unit_test(names_that_take_long_together_keep_nobody),
		cmocka_unit_test(a_name_that_takes_for_ever_keeps_nobody),
		cmocka_unit_test(it_may_be_ended_by_anybody),
		cmocka_unit_test(damaged_names_do_no_harm),
		cmocka_unit_test(of_long_names_no_more_is_read_than_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
