/* SPDX-License-Identifier: Apache-2.0 */
/* Text as `perf script` writes it: a line for each sample, a line for each of its frames from the innermost out, and a
 * blank line. Layer export; any thread.
 *
 * Its readers are regular expressions of many hands, so: the name of the thread is one word at the start of its line,
 * the event's name ends its line with a colon, a frame has an address in hexadecimal, and no blank stands between the
 * parentheses of its file. The period is the weight, in nanoseconds, or 1 where there are no weights. A sample that
 * stands for several is written so often, unless that is more than anyone can read: then once, with all of the weight.
 *
 * What the format has no place for: lines, processes but for their pids, states, qualities. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats.h"
#include "frame_name.h"
#include "size_limit.h"
#include "timeline.h"
#include "utf8.h"
#include "words.h"

#define REPEATED_MAX   1000000u /* events that are written again for one sample each */
#define HEAD_BYTES     64	/* of an event, about, without the name of its thread */
#define KERNEL_ADDRESS UINT64_C(0xffffffff80000000)
#define ADDRESS	       UINT64_C(0x10000)
#define NO_NAME	       "<unnamed>"

struct script {
	const struct plumb_profile *p;
	FILE *out;
	bool weighted, repeats;
	struct pl_timeline *timelines; /* of the threads */
	const char *mode;
	char *frames;		      /* the lines of all functions, one after the other; */
	size_t frames_len, *frame_at; /* where that of each begins, and the last one ends */
};

/* What some reader takes for the end of a word or of a line. */
static bool is_blank(uint32_t c)
{
	return c <= ' ' || (c >= 0x7f && c <= 0xa0) || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
	       c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000 || c == 0xfeff;
}

/* The name of a thread or a file: one word. Bytes that are no UTF-8 stay. */
static void put_word(struct script *s, struct pl_text t)
{
	for (size_t i = 0, n; i < t.len; i += n) {
		uint32_t c;

		n = pl_utf8_decode((const uint8_t *)t.s + i, t.len - i, &c);
		if (c != PL_UTF8_INVALID && is_blank(c))
			putc('_', s->out);
		else
			fwrite(t.s + i, 1, n, s->out);
	}
}

/* The name of a function. Blanks around it would be lost to some readers and not to others, so they are not written; a
 * name of nothing else needs another. A frame that begins with a parenthesis is left out by FlameGraph's reader. */
static void put_symbol(struct script *s, struct pl_text t)
{
	size_t blanks = 0;
	bool begun = false;

	for (size_t i = 0, n; i < t.len; i += n) {
		uint32_t c;

		n = pl_utf8_decode((const uint8_t *)t.s + i, t.len - i, &c);
		if (c != PL_UTF8_INVALID && is_blank(c)) {
			blanks += begun;
			continue;
		}
		for (; blanks; blanks--)
			putc(' ', s->out);
		if (!begun && c == '(')
			putc('[', s->out);
		else
			fwrite(t.s + i, 1, n, s->out);
		begun = true;
	}
	if (!begun)
		fputs(NO_NAME, s->out);
}

static struct pl_text comm_of(const struct script *s, const struct pl_thread *t)
{
	const struct pl_process *proc = &s->p->processes[t->process];
	struct pl_text name = pl_text_of(s->p, t->name);

	if (name.len == 0)
		name = pl_text_of(s->p, proc->name);
	return name.len ? name : (struct pl_text){"python", 6};
}

static void put_head(struct script *s, const struct pl_thread *t, uint64_t at, uint64_t period)
{
	struct pl_text comm = comm_of(s, t);

	if (comm.s[0] == '#') /* a comment */
		putc('_', s->out);
	put_word(s, comm);
	fprintf(s->out, " %5" PRIu64 "/%-5" PRIu64 " [000] %" PRIu64 ".%09" PRIu64 ": %10" PRIu64 " %s-clock: \n",
		pl_timeline_pid(s->p, t->process), pl_timeline_tid(s->p, t), at / 1000000000, at % 1000000000, period,
		s->mode);
}

/* The file of a frame, or what it is instead of one. */
static struct pl_text file_of(const struct script *s, const struct pl_function *f)
{
	struct pl_text file = pl_text_of(s->p, f->file);
	const char *place = f->origin == PL_ORIGIN_PYTHON   ? "[python]"
			    : f->origin == PL_ORIGIN_NATIVE ? "[unknown]"
			    : f->origin == PL_ORIGIN_KERNEL ? "[kernel.kallsyms]"
							    : pl_origin_name(f->origin);
	bool has_file = f->origin == PL_ORIGIN_PYTHON || f->origin == PL_ORIGIN_NATIVE;

	return has_file && file.len ? file : (struct pl_text){place, strlen(place)};
}

/* A function stands in millions of stacks: its line is made once. */
static void make_frame(struct script *s, uint32_t function)
{
	const struct pl_function *f = &s->p->functions[function];
	uint64_t base = f->origin == PL_ORIGIN_KERNEL ? KERNEL_ADDRESS : ADDRESS;

	fprintf(s->out, "\t%16" PRIx64 " ", base + function);
	put_symbol(s, pl_frame_qualname(s->p, f));
	fputs(" (", s->out);
	put_word(s, file_of(s, f));
	fputs(")\n", s->out);
}

static struct plumb_error *make_frames(struct script *s)
{
	FILE *out = s->out;
	bool good;

	s->frame_at = calloc((size_t)s->p->function_count + 1, sizeof *s->frame_at);
	s->out = s->frame_at ? open_memstream(&s->frames, &s->frames_len) : NULL;
	if (!s->out) {
		s->out = out;
		return &pl_err_no_memory;
	}
	for (uint32_t i = 0; i < s->p->function_count; i++) {
		make_frame(s, i);
		s->frame_at[i + 1] = (size_t)ftello(s->out);
	}
	good = !ferror(s->out);
	good = fclose(s->out) == 0 && good;
	s->out = out;
	return good ? NULL : &pl_err_no_memory;
}

static void put_frame(const struct script *s, uint32_t function)
{
	const size_t *at = &s->frame_at[function];

	fwrite(s->frames + at[0], 1, at[1] - at[0], s->out);
}

static void put_event(struct script *s, const struct pl_sample *sample, uint64_t at, uint64_t period)
{
	put_head(s, &s->p->threads[sample->thread], at, period);
	for (uint32_t i = sample->stack; i; i = s->p->stacks[i].parent)
		put_frame(s, s->p->locations[s->p->stacks[i].location].function);
	putc('\n', s->out);
}

/* A reader that went away (EPIPE) needs no more events; the caller reports the stream's error. */
static struct plumb_error *put_sample(void *ctx, const struct pl_sample *sample)
{
	struct script *s = ctx;
	struct pl_timeline *t = &s->timelines[sample->thread];
	uint64_t begin = t->now_ns, count = 1 + sample->extra, at = pl_timeline_next(t, sample);
	uint64_t weight = s->weighted ? sample->weight_ns : count, left;

	if (ferror(s->out))
		return NULL;
	if (!s->repeats || count <= 1) {
		put_event(s, sample, at, weight);
		return NULL;
	}
	left = weight % count;
	for (uint64_t i = 0; i < count; i++)
		put_event(s, sample, t->timed ? at : begin + (i + 1) * t->interval_ns, weight / count + (i < left));
	return NULL;
}

/* What there would be to write. As floating-point numbers: they do not overflow. */
struct sums {
	const struct script *s;
	double *bytes_of; /* of the frames of each stack */
	double repeated;  /* events beside one for each sample, */
	double bytes, repeated_bytes;
};

static struct plumb_error *add_sums(void *ctx, const struct pl_sample *sample)
{
	struct sums *sums = ctx;
	double head = (double)comm_of(sums->s, &sums->s->p->threads[sample->thread]).len;
	double event = head + HEAD_BYTES + sums->bytes_of[sample->stack];

	sums->repeated += (double)sample->extra;
	sums->bytes += event;
	sums->repeated_bytes += (double)sample->extra * event;
	return NULL;
}

/* Whether samples that stand for several are repeated, and whether the whole can be written at all. */
static struct plumb_error *measure(struct script *s)
{
	struct sums sums = {.s = s, .bytes_of = calloc(s->p->stack_count, sizeof *sums.bytes_of)};
	const double most = pl_size_limit_bytes(s->p);
	struct plumb_error *err;

	if (!sums.bytes_of)
		return &pl_err_no_memory;
	for (uint32_t i = 1; i < s->p->stack_count; i++) {
		const struct pl_stack *stack = &s->p->stacks[i];
		const size_t *at = &s->frame_at[s->p->locations[stack->location].function];

		sums.bytes_of[i] = sums.bytes_of[stack->parent] + (double)(at[1] - at[0]);
	}
	err = pl_profile_each(s->p, add_sums, &sums);
	free(sums.bytes_of);
	if (!err && sums.bytes > most)
		return pl_size_limit_exceeded(pl_error(
			PLUMB_ERR_LIMIT, "with the whole stack of each sample it would be %.0f GB", sums.bytes / 1e9));
	s->repeats = sums.repeated <= REPEATED_MAX && sums.bytes + sums.repeated_bytes <= most;
	return err;
}

static struct plumb_error *prepare(struct script *s)
{
	const struct pl_filter everything = {.idle = PL_IDLE_KEEP};
	struct pl_totals totals;
	struct plumb_error *err = pl_view_totals(s->p, &everything, &totals);

	if (err)
		return err;
	s->weighted = totals.weight_ns > 0 && !s->p->meta.counted;
	s->mode = pl_mode_name(s->p->meta.mode);
	s->timelines = calloc((size_t)s->p->thread_count + 1, sizeof *s->timelines);
	if (!s->timelines)
		return &pl_err_no_memory;
	for (uint32_t i = 0; i < s->p->thread_count; i++)
		pl_timeline_start(&s->timelines[i], s->p);
	err = make_frames(s);
	return err ? err : measure(s);
}

struct plumb_error *pl_perf_script_write(const struct plumb_profile *p, const struct pl_export_options *o, FILE *out)
{
	struct script s = {.p = p, .out = out};
	struct plumb_error *err = prepare(&s);

	if (!err)
		err = pl_profile_each(p, put_sample, &s);
	free(s.timelines);
	free(s.frame_at);
	free(s.frames);
	return err;
}
