/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os; any thread. Files are found as for the interpreter (image_file.h). */
#include "mapped_functions.h"

#include <stdlib.h>
#include <string.h>

#include "debug_file.h"
#include "image_file.h"
#include "own_fd.h"

#define VDSO_MAX (1u << 20)

/* What is not there is no error: it has no names then. */
static struct plumb_error *add_debug_file(const struct pl_mapped_place *place, const uint8_t *id, size_t len,
					  struct pl_functions *f)
{
	struct pl_elf *e;
	bool stripped;
	struct plumb_error *err = pl_debug_elf_open(id, len, &place->seen->rights, place->work, &e);

	if (!err && e)
		err = pl_functions_add(f, e, &stripped);
	pl_elf_close(e);
	return err;
}

static struct plumb_error *add_file(const struct pl_mapped_place *place, const struct pl_mapping *m,
				    struct pl_functions *f, bool *stripped)
{
	const struct pl_image_place where = {
		.pid = place->pid, .shown_to = place->seen, .maps = place->maps, .work = place->work};
	/* One that was deleted may come from memory: it names what it exports then. */
	struct pl_image_file file = {.map = m, .rank = PL_IMAGE_OTHER, .loaded = m->deleted};
	struct plumb_error *err = pl_image_file_open(&where, &file);

	if (!err)
		err = pl_functions_add(f, file.elf, stripped);
	if (!err && *stripped && place->more)
		place->more(file.elf, f);
	pl_image_file_close(&file);
	return err;
}

static struct plumb_error *add_vdso(const struct pl_mapped_place *place, const struct pl_mapping *m,
				    struct pl_functions *f, bool *stripped)
{
	uint64_t len = m->end - m->start;
	void *bytes = len <= VDSO_MAX ? malloc(len) : NULL;
	struct pl_elf *e;

	if (!bytes)
		return pl_error(PLUMB_ERR_NOT_FOUND, "it is too large for a vDSO");
	struct plumb_error *err = pl_mem_read(place->mem, m->start, bytes, len);
	if (!err && !pl_file_view_holds(place->pid, place->seen))
		err = pl_error(PLUMB_ERR_NOT_FOUND, "the process is another one by now");
	if (!err)
		err = pl_elf_open_loaded(bytes, len, 0, place->work, &e);
	if (!err) {
		err = pl_functions_add(f, e, stripped);
		pl_elf_close(e);
	}
	free(bytes);
	return err;
}

struct plumb_error *pl_mapped_functions(const struct pl_mapped_place *place, const struct pl_mapping *m,
					const uint8_t *build_id, size_t build_id_len, struct pl_functions **ret)
{
	struct pl_functions *f;
	bool stripped = false;
	struct plumb_error *err = pl_functions_create(&f);

	if (err)
		return err;
	if (strcmp(m->path, "[vdso]") == 0)
		err = add_vdso(place, m, f, &stripped);
	else
		err = add_file(place, m, f, &stripped);
	if (!err && stripped)
		err = add_debug_file(place, build_id, build_id_len, f);
	if (err)
		pl_functions_destroy(f);
	else
		*ret = f;
	return err;
}
