/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os; any thread. Files are opened as ourselves: whoever asks could read them, too. */
#include "filed_functions.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "debug_file.h"
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

struct plumb_error *pl_filed_functions(const char *path, const uint8_t *build_id, size_t len,
				       void (*more)(const struct pl_elf *e, struct pl_functions *f),
				       struct pl_work *work, struct pl_functions **ret)
{
	struct pl_elf *file, *debug = NULL;
	struct pl_functions *f;
	bool stripped = true;
	struct plumb_error *err = pl_functions_create(&f);

	if (err)
		return err;
	err = pl_elf_open_of_build(pl_plain_file_open(path), build_id, len, work, &file);
	if (!err && file)
		err = pl_functions_add(f, file, &stripped);
	if (!err && file && stripped && more)
		more(file, f);
	if (!err && stripped)
		err = pl_debug_elf_open(build_id, len, NULL, work, &debug);
	if (!err && debug)
		err = pl_functions_add(f, debug, &stripped);
	if (!err && !file && !debug)
		err = pl_error(PLUMB_ERR_NOT_FOUND, "no file with this build-id is here");
	pl_elf_close(debug);
	pl_elf_close(file);
	if (err)
		pl_functions_destroy(f);
	else
		*ret = f;
	return err;
}
