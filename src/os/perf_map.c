/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os; any thread. Source: tools/perf/Documentation/jit-interface.txt in Linux. */
#include "perf_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "host.h"
#include "map.h"
#include "proc.h"
#include "span.h"

#define FILE_MAX      (64u << 20)
#define FUNCTIONS_MAX (1u << 20)
#define NAME_MAX_LEN  4096u
#define WORK	      16u	  /* for each byte */
#define SLACK_NS      20000000ull /* the kernel's clocks of files and processes are coarse */

struct line {
	uint64_t addr, size;
	struct pl_span name;
};

static bool parse_line(struct pl_span rest, struct line *ret)
{
	struct pl_span addr = pl_span_word(&rest), size = pl_span_word(&rest);

	ret->name = pl_span_trim(rest);
	return pl_span_hex(addr, &ret->addr) && pl_span_hex(size, &ret->size) && ret->addr && ret->size &&
	       ret->addr + ret->size > ret->addr && ret->name.len && ret->name.len <= NAME_MAX_LEN &&
	       !memchr(ret->name.s, '\0', ret->name.len);
}

/* From the last line to the first. */
static bool take_line_before(const char *text, size_t *end, struct pl_span *ret)
{
	size_t begin = *end;

	if (*end == 0)
		return false;
	while (begin > 0 && text[begin - 1] != '\n')
		begin--;
	*ret = (struct pl_span){text + begin, *end - begin};
	*end = begin ? begin - 1 : 0;
	return true;
}

struct plumb_error *pl_perf_map_parse(const char *text, size_t len, struct pl_functions *f)
{
	struct pl_map taken = PL_MAP_INIT;
	struct pl_span s;
	struct line line;
	uint32_t unused;
	bool ok = true;

	for (size_t end = len; ok && taken.len < FUNCTIONS_MAX && take_line_before(text, &end, &s);)
		if (parse_line(s, &line) && !pl_map_get(&taken, line.addr, 0, &unused))
			ok = pl_map_set(&taken, line.addr, 0, 1) &&
			     pl_functions_add_sized(f, line.addr, line.size, line.name.s, line.name.len);
	pl_map_deinit(&taken);
	return ok ? NULL : &pl_err_no_memory;
}

static struct plumb_error *none(void)
{
	return pl_error(PLUMB_ERR_NOT_FOUND, "the process has no perf map");
}

static bool is_its_own(const struct stat *st, const struct pl_file_view *seen)
{
	const uint64_t changed_ns = (uint64_t)st->st_mtim.tv_sec * PL_NS_PER_S + (uint64_t)st->st_mtim.tv_nsec;
	const uint64_t began_ns = pl_proc_booted_real_ns() + pl_proc_ticks_ns(seen->start_ticks);

	return (st->st_uid == 0 || (!seen->rights.anybody && st->st_uid == seen->rights.uid)) &&
	       changed_ns + SLACK_NS >= began_ns;
}

/* What has grown meanwhile is left for the next time. */
static struct plumb_error *read_file(int fd, size_t len, struct pl_functions *f)
{
	char *text = malloc(len);
	size_t at = 0;
	ssize_t n;

	if (!text)
		return &pl_err_no_memory;
	while (at < len && (n = read(fd, text + at, len - at)) > 0)
		at += (size_t)n;
	struct plumb_error *err = pl_perf_map_parse(text, at, f);
	free(text);
	return err;
}

static struct plumb_error *read_open(int fd, const struct pl_file_view *seen, struct pl_work *work,
				     struct pl_functions **ret)
{
	struct pl_functions *f;
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 || st.st_size > FILE_MAX ||
	    !is_its_own(&st, seen) || !pl_work_spend(work, (uint64_t)st.st_size * WORK))
		return none();
	struct plumb_error *err = pl_functions_create(&f);
	if (err)
		return err;
	err = read_file(fd, (size_t)st.st_size, f);
	if (err)
		pl_functions_destroy(f);
	else
		*ret = f;
	return err;
}

struct plumb_error *pl_perf_map_functions(pid_t pid, const struct pl_file_view *seen, struct pl_work *work,
					  struct pl_functions **ret)
{
	char path[40];
	pid_t inner;

	if (!pl_host_nspid(pid, pid, &inner))
		inner = pid;
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)inner);
	int fd = pl_target_file_open(pid, seen, path);
	if (fd < 0)
		return none();
	struct plumb_error *err = read_open(fd, seen, work, ret);
	close(fd);
	return err;
}
