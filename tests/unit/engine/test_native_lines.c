/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of an instruction of a library (tests/unit/os/lines.c) that is loaded into this process, what is said where
 * there was no work left to look for them, and that they can be added later. */
#include "native_lines.h"

#include "image.h"
#include "unit.h"

#include <plumb/profile.h>

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SCOPES 3	    /* inner, middle and lines_outer */
#define ALL    (1ull << 40) /* more work than may be done */

/* A function that was sampled, where it makes a call, and the profile that it gets into. */
struct scene {
	void *library;
	pl_mapping_vec maps;
	struct pl_code_module module;
	struct pl_known_code code;
	struct pl_native_symbols symbols;
	struct pl_native_lines lines;
	struct plumb_profile *profile;
	struct pl_native_at at;
};

/* As it is linked. */
static const uint8_t build_id[] = {0xc0, 0xff, 0xee, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
static uintptr_t called_from;

static __attribute__((noinline)) uintptr_t called(void)
{
	called_from = (uintptr_t)__builtin_return_address(0);
	return 0;
}

static const struct pl_mapping *mapping_of(const pl_mapping_vec *maps, uintptr_t addr)
{
	for (size_t i = 0; i < maps->len; i++)
		if (addr >= maps->data[i].start && addr < maps->data[i].end)
			return &maps->data[i];
	fail_msg("it is not mapped");
	return NULL;
}

static void call(struct scene *s)
{
	struct link_map *map;

	s->library = dlopen(LINES_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(s->library);
	uintptr_t (*outer)(uintptr_t(*)(void)) = (uintptr_t(*)(uintptr_t(*)(void)))dlsym(s->library, "lines_outer");
	assert_non_null(outer);
	assert_int_equal(outer(called), 3);
	assert_int_equal(dlinfo(s->library, RTLD_DI_LINKMAP, &map), 0);
	s->code.is_native = true;
	s->code.native.module = &s->module;
	s->code.native.begin = s->code.native.place = (uintptr_t)outer - map->l_addr;
	s->at.offset = 1 + (int32_t)(called_from - 1 - (uintptr_t)outer);
	s->at.code = &s->code;
}

static void add_function(struct scene *s)
{
	struct pl_function f = {.origin = PL_ORIGIN_NATIVE};

	assert_ok(pl_profile_string(s->profile, "lines_outer", strlen("lines_outer"), &f.name));
	assert_ok(pl_profile_string(s->profile, LINES_LIBRARY, strlen(LINES_LIBRARY), &f.file));
	f.qualname = f.name;
	assert_ok(pl_profile_function(s->profile, &f, &s->at.function));
}

static void begin(struct scene *s)
{
	memset(s, 0, sizeof *s);
	call(s);
	s->module.pid = getpid();
	assert_true(pl_file_view_of(getpid(), &s->module.seen));
	assert_ok(pl_maps_read(getpid(), &s->maps));
	s->module.map = *mapping_of(&s->maps, called_from);
	memcpy(s->module.build_id, build_id, sizeof build_id);
	s->module.build_id_len = sizeof build_id;
	assert_ok(pl_profile_create(&s->profile));
	add_function(s);
}

static void end(struct scene *s)
{
	pl_native_lines_deinit(&s->lines);
	pl_native_symbols_deinit(&s->symbols);
	pl_profile_destroy(s->profile);
	pl_maps_deinit(&s->maps);
	dlclose(s->library);
}

static void read_file(struct scene *s)
{
	await (pl_native_symbols_ready(&s->symbols, &s->module, false))
		;
}

/* How many frames it has. */
static uint32_t find(struct scene *s, const uint32_t **ret)
{
	uint32_t count;

	assert_ok(pl_native_lines_find(&s->lines, &s->symbols, &s->at, s->profile, ret, &count));
	return count;
}

static void spend(struct scene *s, uint64_t work)
{
	pl_symbol_lines_note(&s->symbols.reader, s->module.pid, work);
}

static const char *name_of(const struct scene *s, uint32_t location)
{
	const struct pl_function *f = &s->profile->functions[s->profile->locations[location].function];

	return pl_strtab_get(s->profile->strings, f->name, NULL);
}

static void an_instruction_has_its_lines(void **state)
{
	static const char *const names[SCOPES] = {"lines_outer", "middle", "inner"};
	const uint32_t *all;
	struct scene s;

	(void)state;
	begin(&s);
	read_file(&s);
	assert_int_equal(find(&s, &all), SCOPES);
	for (int i = 0; i < SCOPES; i++) {
		const struct pl_location *l = &s.profile->locations[all[i]];

		assert_string_equal(name_of(&s, all[i]), names[i]);
		assert_true(l->line > 0);
		assert_int_equal(l->inlined, i > 0);
	}
	assert_true(s.profile->meta.losses[PL_LOSS_LINES] == 0);
	end(&s);
}

/* It is asked for twice, and counts once. */
static void check_left_out(struct scene *s)
{
	const uint32_t *all;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(find(s, &all), 1);
		assert_string_equal(name_of(s, all[0]), "lines_outer");
		assert_int_equal(s->profile->locations[all[0]].line, 0);
		assert_true(s->profile->meta.losses[PL_LOSS_LINES] == 1);
	}
	end(s);
}

static void what_no_work_is_left_to_read_is_counted(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	spend(&s, ALL);
	read_file(&s);
	check_left_out(&s);
}

static void what_is_read_in_part_for_want_of_work_is_counted(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	spend(&s, PL_IMAGE_WORK - (64u << 10)); /* it is opened, and no more */
	read_file(&s);
	check_left_out(&s);
}

static void what_no_work_is_left_to_look_up_is_counted(void **state)
{
	struct scene s;

	(void)state;
	begin(&s);
	read_file(&s);
	assert_non_null(s.symbols.files.data[0].lines);
	spend(&s, ALL);
	check_left_out(&s);
}

/* A part of it is told: not the function itself. */
static void of_what_is_looked_up_in_part_nothing_is_told(void **state)
{
	const uint32_t *all;
	struct scene s;

	(void)state;
	begin(&s);
	read_file(&s);
	struct pl_file_lines *l = s.symbols.files.data[0].lines;
	assert_non_null(l);
	assert_int_equal(find(&s, &all), SCOPES); /* all is listed now */
	const uint64_t listed = l->work.spent;
	pl_map_clear(&s.lines.known);
	assert_int_equal(find(&s, &all), SCOPES);
	const uint64_t one = l->work.spent - listed;
	pl_map_clear(&s.lines.known);
	spend(&s, pl_symbol_lines_left(&s.symbols.reader, s.module.pid) - one / 4096 * 4096 - 4096);
	while (find(&s, &all) == SCOPES)
		pl_map_clear(&s.lines.known);
	check_left_out(&s);
}

/* ---- later ------------------------------------------------------------------------------------------------------- */

static void note_build(struct scene *s)
{
	char text[2 * sizeof build_id + 1];
	struct pl_module m = {.file = s->profile->functions[s->at.function].file};

	for (size_t i = 0; i < sizeof build_id; i++)
		snprintf(text + 2 * i, 3, "%02x", build_id[i]);
	assert_ok(pl_profile_string(s->profile, text, strlen(text), &m.build_id));
	assert_ok(pl_profile_module(s->profile, &m));
}

/* A sample on what is found. */
static void sample(struct scene *s)
{
	struct pl_process process = {.pid = 1};
	struct pl_thread thread = {.tid = 1};
	struct pl_sample sample = {.weight_ns = 1};
	const uint32_t *all;

	note_build(s);
	assert_ok(pl_profile_process(s->profile, &process, &thread.process));
	assert_ok(pl_profile_thread(s->profile, &thread, &sample.thread));
	const uint32_t count = find(s, &all);
	for (uint32_t i = 0; i < count; i++)
		assert_ok(pl_profile_stack(s->profile, sample.stack, all[i], &sample.stack));
	assert_ok(pl_profile_add(s->profile, &sample));
}

static void assert_same_stack(const struct plumb_profile *p, const struct plumb_profile *q)
{
	assert_int_equal(p->cell_count, 1);
	assert_int_equal(q->cell_count, 1);
	uint32_t x = p->cells[0].stack, y = q->cells[0].stack;
	assert_int_equal(p->stacks[x].depth, SCOPES);
	for (; x && y; x = p->stacks[x].parent, y = q->stacks[y].parent) {
		const struct pl_location *l = &p->locations[p->stacks[x].location],
					 *m = &q->locations[q->stacks[y].location];
		const struct pl_function *f = &p->functions[l->function], *g = &q->functions[m->function];
		const uint32_t of_f[] = {f->name, f->qualname, f->file, f->source, f->unnamed},
			       of_g[] = {g->name, g->qualname, g->file, g->source, g->unnamed};

		for (size_t i = 0; i < sizeof of_f / sizeof *of_f; i++)
			assert_string_equal(pl_strtab_get(p->strings, of_f[i], NULL),
					    pl_strtab_get(q->strings, of_g[i], NULL));
		assert_true(f->plumbing == g->plumbing && f->origin == g->origin && f->firstline == g->firstline);
		assert_true(l->line == m->line && l->end_line == m->end_line && l->column == m->column);
		assert_true(l->inlined == m->inlined && !l->address && !m->address);
	}
	assert_true(!x && !y);
}

static void what_is_added_later_is_what_was_there_at_once(void **state)
{
	struct plumb_symbolized info;
	struct plumb_profile *later;
	struct scene at_once, without;

	(void)state;
	begin(&at_once);
	read_file(&at_once);
	sample(&at_once);
	begin(&without);
	spend(&without, ALL);
	read_file(&without);
	sample(&without);
	assert_ok(plumb_profile_symbolize(without.profile, NULL, NULL, &info, &later));
	assert_non_null(later);
	assert_true(info.places == 1 && info.told == 1 && info.left_out == 0);
	assert_true(later->meta.losses[PL_LOSS_LINES] == 0);
	assert_same_stack(at_once.profile, later);
	plumb_profile_destroy(later);
	assert_ok(plumb_profile_symbolize(at_once.profile, NULL, NULL, &info, &later));
	assert_null(later); /* there is nothing to add */
	end(&at_once);
	end(&without);
}

/* Of the file there are two builds: which of them the place is in is not known. */
static void what_may_be_of_another_build_gets_no_line(void **state)
{
	struct plumb_symbolized info;
	struct plumb_profile *later;
	struct scene s;

	(void)state;
	begin(&s);
	spend(&s, ALL);
	read_file(&s);
	sample(&s);
	struct pl_module other = {.file = s.profile->functions[s.at.function].file};
	assert_ok(pl_profile_string(s.profile, "ab01", 4, &other.build_id));
	assert_ok(pl_profile_module(s.profile, &other));
	assert_ok(plumb_profile_symbolize(s.profile, NULL, NULL, &info, &later));
	assert_true(!later && info.places == 1 && info.told == 0);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_instruction_has_its_lines),
		cmocka_unit_test(what_no_work_is_left_to_read_is_counted),
		cmocka_unit_test(what_is_read_in_part_for_want_of_work_is_counted),
		cmocka_unit_test(what_no_work_is_left_to_look_up_is_counted),
		cmocka_unit_test(of_what_is_looked_up_in_part_nothing_is_told),
		cmocka_unit_test(what_is_added_later_is_what_was_there_at_once),
		cmocka_unit_test(what_may_be_of_another_build_gets_no_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
