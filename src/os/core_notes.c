/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel notes in a core: threads, the files that were mapped, the command line (layer os). Pure; the bytes
 * may be anything. */
#include "core_notes.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/user.h>

#include "cursor.h"
#include "strtab.h"

#define MAX_THREADS 65536
#define MAX_MAPS    (1u << 20)
#define NAME_CORE   "CORE"

void pl_core_notes_deinit(struct pl_core_notes *n)
{
	pl_vec_deinit(&n->threads);
	pl_maps_deinit(&n->maps);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* A thread that was in a system call has its number where the registers keep it for a restart. */
static void take_call(const struct elf_prstatus *status, struct pl_core_thread *t)
{
#if defined(__x86_64__)
	struct user_regs_struct r;

	_Static_assert(sizeof r <= sizeof status->pr_reg, "registers");
	memcpy(&r, &status->pr_reg, sizeof r);
	t->in_call = (int64_t)r.orig_rax >= 0 && r.orig_rax < 100000;
	if (!t->in_call)
		return;
	t->call.syscall = (int)r.orig_rax;
	const uint64_t args[6] = {r.rdi, r.rsi, r.rdx, r.r10, r.r8, r.r9};
	memcpy(t->call.args, args, sizeof args);
#endif
}

static struct plumb_error *take_thread(const uint8_t *desc, size_t len, struct pl_core_notes *ret)
{
	struct pl_core_thread t = {.call.syscall = -1};
	struct elf_prstatus status;

	if (len < sizeof status || ret->threads.len >= MAX_THREADS)
		return NULL;
	memcpy(&status, desc, sizeof status);
	t.tid = status.pr_pid;
	/* The kernel notes the signal with each thread; it was the first one's. */
	t.signal = ret->threads.len == 0 ? status.pr_cursig : 0;
	take_call(&status, &t);
	return pl_vec_push(&ret->threads, t) ? NULL : &pl_err_no_memory;
}

static void take_process(const uint8_t *desc, size_t len, struct pl_core_notes *ret)
{
	struct elf_prpsinfo info;

	if (len < sizeof info)
		return;
	memcpy(&info, desc, sizeof info);
	ret->pid = info.pr_pid;
	snprintf(ret->command, sizeof ret->command, "%.*s", (int)sizeof info.pr_psargs, info.pr_psargs);
	for (size_t end = strlen(ret->command); end > 0 && ret->command[end - 1] == ' ';)
		ret->command[--end] = '\0';
}

/* ---- mapped files ------------------------------------------------------------------------------------------------ */

struct raw_mapping {
	uint64_t start, end, page;
};

static struct plumb_error *add_mapping(struct pl_core_notes *ret, const struct raw_mapping *raw, uint64_t page_size,
				       const char *name, struct pl_strtab *paths)
{
	static const char deleted[] = " (deleted)";
	struct pl_mapping m = {.start = raw->start, .end = raw->end, .offset = raw->page * page_size};
	size_t len = strlen(name), cut = sizeof deleted - 1;
	uint32_t file;

	if (raw->end <= raw->start)
		return NULL;
	m.deleted = len > cut && strcmp(name + len - cut, deleted) == 0;
	len -= m.deleted ? cut : 0;
	struct plumb_error *err = pl_strtab_add(paths, name, len, &file);
	if (err)
		return err;
	m.inode = (uint64_t)file + 1;
	m.path = strndup(name, len);
	if (m.path && pl_vec_push(&ret->maps, m))
		return NULL;
	free(m.path);
	return &pl_err_no_memory;
}

/* count, page size, count times (start, end, page in the file), then as many names. */
static struct plumb_error *take_rows(const uint8_t *desc, size_t len, struct pl_strtab *paths,
				     struct pl_core_notes *ret)
{
	struct pl_cursor rows = {desc, desc + len}, names = rows;
	const uint8_t *skipped;
	uint64_t count, page_size;
	struct plumb_error *err = NULL;

	if (!pl_cursor_u64(&rows, &count) || !pl_cursor_u64(&rows, &page_size) || count > MAX_MAPS || !page_size)
		return NULL;
	names = rows;
	if (!pl_cursor_bytes(&names, (size_t)count * sizeof(struct raw_mapping), &skipped))
		return NULL;
	for (uint64_t i = 0; i < count && !err; i++) {
		struct raw_mapping raw;
		const char *name = (const char *)names.p;
		const uint8_t *end = memchr(names.p, 0, pl_cursor_left(&names));

		if (!end || !pl_cursor_u64(&rows, &raw.start) || !pl_cursor_u64(&rows, &raw.end) ||
		    !pl_cursor_u64(&rows, &raw.page))
			break;
		names.p = end + 1;
		err = add_mapping(ret, &raw, page_size, name, paths);
	}
	return err;
}

static struct plumb_error *take_files(const uint8_t *desc, size_t len, struct pl_core_notes *ret)
{
	struct pl_strtab *paths;
	struct plumb_error *err;

	if (ret->maps.len) /* the kernel notes them once */
		return NULL;
	if ((err = pl_strtab_create(&paths)))
		return err;
	err = take_rows(desc, len, paths, ret);
	pl_strtab_destroy(paths);
	return err;
}

/* The program is the file that holds its entry point. */
static void take_entry(const uint8_t *desc, size_t len, struct pl_core_notes *ret)
{
	struct pl_cursor c = {desc, desc + len};
	uint64_t type, value;

	while (pl_cursor_u64(&c, &type) && pl_cursor_u64(&c, &value) && type != AT_NULL)
		if (type == AT_ENTRY)
			ret->entry = value;
}

static void find_exe(struct pl_core_notes *n)
{
	for (size_t i = 0; i < n->maps.len; i++)
		if (n->entry >= n->maps.data[i].start && n->entry < n->maps.data[i].end)
			snprintf(n->exe, sizeof n->exe, "%s", n->maps.data[i].path);
}

/* ---- all notes --------------------------------------------------------------------------------------------------- */

static struct plumb_error *take_note(uint32_t type, const uint8_t *desc, size_t len, struct pl_core_notes *ret)
{
	switch (type) {
	case NT_PRSTATUS:
		return take_thread(desc, len, ret);
	case NT_PRPSINFO:
		take_process(desc, len, ret);
		break;
	case NT_AUXV:
		take_entry(desc, len, ret);
		break;
	case NT_FILE:
		return take_files(desc, len, ret);
	}
	return NULL;
}

static size_t padded(uint32_t len)
{
	return ((size_t)len + 3) & ~(size_t)3;
}

struct plumb_error *pl_core_notes_parse(const void *bytes, size_t len, struct pl_core_notes *ret)
{
	struct pl_cursor c = {bytes, (const uint8_t *)bytes + len};
	uint32_t name_len, desc_len, type;
	const uint8_t *name, *desc;
	struct plumb_error *err = NULL;

	while (!err && pl_cursor_u32(&c, &name_len) && pl_cursor_u32(&c, &desc_len) && pl_cursor_u32(&c, &type) &&
	       pl_cursor_bytes(&c, padded(name_len), &name) && pl_cursor_bytes(&c, padded(desc_len), &desc)) {
		if (name_len == sizeof NAME_CORE && memcmp(name, NAME_CORE, sizeof NAME_CORE) == 0)
			err = take_note(type, desc, desc_len, ret);
	}
	find_exe(ret);
	return err;
}
