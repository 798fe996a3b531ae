/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: whatever a recording (pieces.h) holds, front ends can ask all questions of <plumb/view.h>. */
#include <plumb/view.h>
#include <string.h>
#include <unistd.h>

#include "capture.h"
#include "pieces.h"
#include "require.h"

#define ROWS_ASKED 200

static bool well(struct plumb_error *err)
{
	REQUIRE(!err || *plumb_error_message(err));
	plumb_error_destroy(err);
	return !err;
}

static void check_share(const struct plumb_share *s)
{
	REQUIRE(s->share >= 0 && s->share <= 1.000001 && s->half_width >= 0 && s->half_width <= 1);
}

static void check_function(const struct plumb_view_function *f)
{
	check_share(&f->self);
	check_share(&f->total);
	REQUIRE(!f->name[f->name_len] && !f->qualname[f->qualname_len] && !f->file[f->file_len]);
	REQUIRE(strlen(f->short_file) <= f->file_len);
}

static void ask_for_lines(struct plumb_view *v, const struct plumb_view_function *f)
{
	struct plumb_view_line line = {.size = sizeof line};
	size_t count, len;

	if (!well(plumb_view_lines(v, f, &count)))
		return;
	for (size_t i = 0; i < ROWS_ASKED && plumb_view_line_at(v, i, &line); i++)
		check_share(&line.self);
	const char *text = plumb_view_source(v, f, &len, NULL);
	REQUIRE(!text || !text[len]);
}

static void ask_for_functions(struct plumb_view *v)
{
	struct plumb_view_function f = {.size = sizeof f}, like = {.size = sizeof like};
	size_t count;

	if (!well(plumb_view_functions(v, &count)))
		return;
	for (size_t i = 0; i < ROWS_ASKED && plumb_view_function_at(v, i, &f); i++) {
		check_function(&f);
		REQUIRE(plumb_view_function_like(v, &f, &like) && like.firstline == f.firstline);
	}
	if (count)
		ask_for_lines(v, &f);
}

static void ask_for_tree(struct plumb_view *v, enum plumb_view_tree which)
{
	struct plumb_view_tree_row row = {.size = sizeof row};
	uint32_t depth = 0;
	size_t count;

	if (!well(plumb_view_tree(v, which, 0.001, &count)))
		return;
	for (size_t i = 0; i < ROWS_ASKED && plumb_view_tree_at(v, i, &row); i++) {
		REQUIRE(row.depth <= depth);
		depth = row.depth + 1;
		check_function(&row.function);
	}
}

static void ask_for_rest(struct plumb_view *v)
{
	struct plumb_view_totals totals = {.size = sizeof totals};
	struct plumb_view_thread thread = {.size = sizeof thread};
	struct plumb_view_process process = {.size = sizeof process};
	struct plumb_view_label label = {.size = sizeof label};
	struct plumb_view_reason reason = {.size = sizeof reason};
	const char *sentence;
	size_t count;

	well(plumb_view_totals(v, &totals));
	if (well(plumb_view_sentence(v, true, &sentence)))
		for (const char *s = sentence; *s; s++)
			REQUIRE(*s >= ' ' && *s < 127);
	if (well(plumb_view_threads(v, &count)))
		for (size_t i = 0; i < ROWS_ASKED && plumb_view_thread_at(v, i, &thread); i++)
			REQUIRE(thread.name);
	if (well(plumb_view_processes(v, &count)))
		for (size_t i = 0; i < ROWS_ASKED && plumb_view_process_at(v, i, &process); i++)
			check_share(&process.total);
	if (well(plumb_view_reasons(v, &count)))
		for (size_t i = 0; i < ROWS_ASKED && plumb_view_reason_at(v, i, &reason); i++)
			REQUIRE(reason.word && reason.text && reason.of_waiting >= 0 && reason.of_waiting < 1.0001);
	if (well(plumb_view_labels(v, &count)))
		for (size_t i = 0; i < ROWS_ASKED && plumb_view_label_at(v, i, &label); i++)
			check_share(&label.total);
}

static void ask(const struct plumb_profile *p, const struct plumb_report_options *o)
{
	struct plumb_view *v;

	if (!well(plumb_view_open(p, o, &v)))
		return;
	ask_for_functions(v);
	ask_for_tree(v, PLUMB_VIEW_TREE_OWN);
	ask_for_tree(v, PLUMB_VIEW_TREE_ALL);
	ask_for_rest(v);
	plumb_view_close(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct plumb_report_options all = PLUMB_REPORT_OPTIONS_INIT, part = PLUMB_REPORT_OPTIONS_INIT;
	struct pl_buf file = PL_BUF_INIT((size_t)1 << 28);
	struct pl_capture_info info;
	struct plumb_profile *p;

	recording_of_pieces(data, size, &file);
	int fd = recording_file(&file);
	pl_buf_deinit(&file);
	REQUIRE(!pl_profile_create(&p));
	part.states = PLUMB_DOING_ON_CPU;
	part.focus = "a";
	if (well(pl_capture_read(fd, p, NULL, NULL, &info))) {
		ask(p, &all);
		ask(p, &part);
	}
	pl_profile_destroy(p);
	close(fd);
	return 0;
}
