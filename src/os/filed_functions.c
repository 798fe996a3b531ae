/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os; any thread. Files are opened as ourselves: whoever asks could read them, too. */
#include "filed_functions.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "debug_file.h"
#include "own_fd.h"
#include "target_file.h"

#define NOTE_BYTES 1024u

bool pl_elf_has_build_id(const struct pl_elf *e, const uint8_t *build_id, size_t len)
{
	size_t note_len;
	uint8_t *note = pl_elf_copy_section(e, ".note.gnu.build-id", NOTE_BYTES, &note_len);
	const size_t before = sizeof(Elf64_Nhdr) + sizeof ELF_NOTE_GNU;
	Elf64_Nhdr n;
	bool same = false;

	if (note && len && note_len >= before + len) {
		memcpy(&n, note, sizeof n);
		same = n.n_type == NT_GNU_BUILD_ID && n.n_namesz == sizeof ELF_NOTE_GNU && n.n_descsz == len &&
		       memcmp(note + before, build_id, len) == 0;
	}
	free(note);
	return same;
}

/* Neither blocks on a FIFO nor wakes a device. */
static int open_plain(const char *path)
{
	int handle = pl_own_fd(open(path, O_PATH | O_CLOEXEC)), fd;
	struct stat st;

	if (handle < 0)
		return -1;
	fd = fstat(handle, &st) == 0 && S_ISREG(st.st_mode) ? pl_own_fd(pl_file_reopen(NULL, handle)) : -1;
	pl_own_fd_close(handle);
	return fd;
}

/* What is no such file has no functions. *complete: it has its symbols. @p fd is closed. */
static struct plumb_error *add(int fd, const uint8_t *build_id, size_t len,
			       void (*more)(const struct pl_elf *e, struct pl_functions *f), struct pl_work *work,
			       struct pl_functions *f, bool *found, bool *complete)
{
	struct plumb_error *err;
	struct pl_elf *e;
	bool stripped = true;

	if (fd < 0)
		return NULL;
	err = pl_elf_open_fd(fd, work, &e);
	pl_own_fd_close(fd);
	if (err) {
		if (err == &pl_err_no_memory)
			return err;
		plumb_error_destroy(err);
		return NULL;
	}
	if (pl_elf_has_build_id(e, build_id, len)) {
		err = pl_functions_add(f, e, &stripped);
		if (!err && stripped && more)
			more(e, f);
		*found = true;
		*complete = !stripped;
	}
	pl_elf_close(e);
	return err;
}

struct plumb_error *pl_filed_functions(const char *path, const uint8_t *build_id, size_t len,
				       void (*more)(const struct pl_elf *e, struct pl_functions *f),
				       struct pl_work *work, struct pl_functions **ret)
{
	struct pl_functions *f;
	bool found = false, complete = false;
	struct plumb_error *err = pl_functions_create(&f);

	if (err)
		return err;
	err = add(open_plain(path), build_id, len, more, work, f, &found, &complete);
	if (!err && !complete)
		err = add(pl_debug_file_open(build_id, len), build_id, len, NULL, work, f, &found, &complete);
	if (!err && !found)
		err = pl_error(PLUMB_ERR_NOT_FOUND, "no file with this build-id is here");
	if (err)
		pl_functions_destroy(f);
	else
		*ret = f;
	return err;
}
