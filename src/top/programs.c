/* SPDX-License-Identifier: Apache-2.0 */
/* Layer top: see programs.h. CPU times of two looks, of which the difference is what each uses now. */
#include "programs.h"

#include <curses.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "arrivals.h"
#include "cell_text.h"
#include "move.h"

#define CTRL(c)	    ((c)&0x1f)
#define PERIOD_MS   2000
#define FIRST_MS    500 /* the first figures come sooner */
#define HEADER_ROWS 3
#define NS_PER_MS   1000000.0

static const struct column columns[TABLE_COLUMNS] = {
	{"CPU %", 6, 0}, {"CPU time", 9, 50}, {"process", 8, 0}, {NULL, 0, 0}};

static struct plumb_error *look(struct programs *p)
{
	struct plumb_processes *found;
	struct plumb_error *err = plumb_processes_pythons(&found, &p->refused);

	if (err)
		return err;
	plumb_processes_destroy(p->before);
	p->before = p->now;
	p->before_ms = p->now_ms;
	p->now = found;
	p->now_ms = arrivals_now_ms();
	return NULL;
}

/* What it had used at the look before; false: it was not there. */
static bool cpu_before(const struct programs *p, int pid, uint64_t *ns)
{
	struct plumb_process other;

	for (size_t i = 0; p->before && plumb_processes_at(p->before, i, &other); i++)
		if (other.pid == pid) {
			*ns = plumb_processes_cpu_ns(p->before, i);
			return true;
		}
	return false;
}

static void fill_row(const struct programs *p, struct row *r, const struct plumb_process *process, uint64_t cpu_ns)
{
	uint64_t before_ns, passed_ms = p->now_ms - p->before_ms;

	r->key = table_key(0, &process->pid, sizeof process->pid);
	if (cpu_before(p, process->pid, &before_ns) && cpu_ns >= before_ns && passed_ms) {
		r->weight = (double)(cpu_ns - before_ns) / NS_PER_MS / (double)passed_ms;
		cell_percent(r->weight, r->figures[0]);
	}
	/* Those that use as much now, which is nothing mostly, by what they used before. */
	r->weight += (double)cpu_ns * 1e-24;
	char time[24];
	cell_time(cpu_ns, time);
	snprintf(r->figures[1], sizeof r->figures[1], "%.15s", time);
	snprintf(r->figures[2], sizeof r->figures[2], "%d", process->pid);
	r->name = process->command;
	snprintf(r->tail, sizeof r->tail, "%s", process->user);
}

static void fill(struct programs *p)
{
	struct plumb_process process;

	p->table.columns = columns;
	p->table.title = "command";
	table_clear(&p->table);
	p->count = 0;
	for (size_t i = 0; plumb_processes_at(p->now, i, &process); i++, p->count++) {
		struct row *r = table_add(&p->table);

		if (!r)
			break;
		fill_row(p, r, &process, plumb_processes_cpu_ns(p->now, i));
	}
	table_sort(&p->table);
	table_ready(&p->table);
}

static void put(const struct programs *p, int row, int width, enum tone tone, const char *raw)
{
	char text[2048];

	cell_fit(raw, p->o->unicode, width, false, text, sizeof text);
	terminal_put(row, 0, tone, false, text);
}

static void headline(const struct programs *p, char *buf, size_t size)
{
	int len = snprintf(buf, size, "plumb top  %zu Python%s", p->count, p->count == 1 ? "" : "s");

	if (p->refused && len > 0)
		snprintf(buf + len, size - (size_t)len, "  and %zu that may not be sampled by this user", p->refused);
}

static void draw(struct programs *p)
{
	int rows, width;
	char line[256];

	terminal_size(&rows, &width);
	terminal_clear();
	headline(p, line, sizeof line);
	put(p, 0, width, TONE_STRONG, line);
	put(p, 1, width, TONE_WARN, p->message);
	table_draw(&p->table, HEADER_ROWS, rows - 1, width, p->o->unicode);
	put(p, rows - 1, width, TONE_FAINT, "q quit  Enter look into it  arrows move");
	terminal_show();
}

static void suspend(void)
{
	terminal_suspend();
	arrivals_stop();
	terminal_resume();
}

/* False: all is to end. */
static bool take_signals(void)
{
	bool by_terminal;

	for (int signo; (signo = arrivals_signal(&by_terminal));) {
		if (arrivals_ends(signo))
			return false;
		if (signo == SIGTSTP)
			suspend();
		else
			terminal_resized();
	}
	return true;
}

/* The process of the row that was chosen goes to *pid. False: all is to end. */
static bool take_key(struct programs *p, int key, int *pid)
{
	int rows, width, column;

	terminal_size(&rows, &width);
	if (key == 'q' || key == CTRL('C'))
		return false;
	if (key == CTRL('Z'))
		suspend();
	else if (key == CTRL('L'))
		terminal_resized();
	else if ((key == '\r' || key == '\n' || key == KEY_ENTER) && table_chosen(&p->table))
		sscanf(table_chosen(&p->table)->figures[2], "%d", pid);
	else if (key == KEY_MOUSE)
		table_choose_line(&p->table, terminal_clicked(&column) - HEADER_ROWS);
	else
		move_by_key(&p->table, key, rows > HEADER_ROWS + 2 ? rows - HEADER_ROWS - 2 : 1);
	return true;
}

static void look_and_fill(struct programs *p)
{
	struct plumb_error *err = look(p);

	if (err)
		programs_tell_error(p, err);
	if (p->now)
		fill(p);
}

int programs_choose(struct programs *p)
{
	uint64_t next = 0;
	bool first = !p->before;
	int pid = 0;

	while (!pid) {
		uint64_t now = arrivals_now_ms();

		if (now >= next) {
			look_and_fill(p);
			next = now + (first ? FIRST_MS : PERIOD_MS);
			first = false;
		}
		draw(p);
		if (!arrivals_wait(terminal_fd(), (int)(next - now)) || !take_signals())
			return 0;
		for (int key; !pid && (key = terminal_key()) >= 0;)
			if (!take_key(p, key, &pid))
				return 0;
	}
	p->message[0] = '\0';
	return pid;
}

void programs_tell_error(struct programs *p, struct plumb_error *err)
{
	const char *hint = plumb_error_hint(err);

	snprintf(p->message, sizeof p->message, "%s%s%s", plumb_error_message(err), *hint ? ": " : "", hint);
	plumb_error_destroy(err);
}

static void print_row(const struct programs *p, const struct row *r)
{
	char command[4096];

	cell_fit(r->name, p->o->unicode, (int)sizeof command / 4, false, command, sizeof command);
	printf("%s  CPU %s  %s\n", r->figures[2], r->figures[1], command);
}

struct plumb_error *programs_print(struct programs *p)
{
	struct plumb_error *err = look(p);

	if (err)
		return err;
	fill(p);
	for (size_t i = 0; i < p->table.count; i++)
		print_row(p, &p->table.rows[i]);
	if (p->refused)
		fprintf(stderr, "plumb: %zu more may not be sampled by this user: plumb doctor PID says why\n",
			p->refused);
	else if (!p->table.count)
		fputs("plumb: no Python runs here\n", stderr);
	return NULL;
}

void programs_free(struct programs *p)
{
	plumb_processes_destroy(p->now);
	plumb_processes_destroy(p->before);
	table_free(&p->table);
}
