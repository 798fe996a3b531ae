/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os; any thread. Files are found as for their functions (mapped_functions.h). */
#include "mapped_lines.h"

#include "debug_file.h"
#include "image_file.h"
#include "target_file.h"

/* What cannot be read is not there. */
static struct plumb_error *none_without_memory(struct plumb_error *err)
{
	if (err == &pl_err_no_memory)
		return err;
	plumb_error_destroy(err);
	return NULL;
}

static struct plumb_error *in_file(const struct pl_mapped_place *place, const struct pl_mapping *m,
				   struct pl_dwarf **ret)
{
	const struct pl_image_place where = {
		.pid = place->pid, .shown_to = place->seen, .maps = place->maps, .work = place->work};
	struct pl_image_file file = {.map = m, .rank = PL_IMAGE_OTHER};
	struct plumb_error *err = pl_image_file_open(&where, &file);

	if (!err)
		err = pl_dwarf_open(file.elf, &place->seen->rights, ret);
	pl_image_file_close(&file);
	return none_without_memory(err);
}

/* @p e: is closed; NULL: there is none. */
static struct plumb_error *in_elf(struct pl_elf *e, struct plumb_error *err, const struct pl_rights *as,
				  struct pl_dwarf **ret)
{
	if (err || !e)
		return err;
	err = pl_dwarf_open(e, as, ret);
	pl_elf_close(e);
	return none_without_memory(err);
}

static struct plumb_error *in_debug_file(const uint8_t *id, size_t len, const struct pl_rights *as,
					 struct pl_work *work, struct pl_dwarf **ret)
{
	struct pl_elf *e;
	struct plumb_error *err = pl_debug_elf_open(id, len, as, work, &e);

	return in_elf(e, err, as, ret);
}

struct plumb_error *pl_filed_lines(const char *path, const uint8_t *build_id, size_t build_id_len, struct pl_work *work,
				   struct pl_dwarf **ret)
{
	struct pl_elf *e;
	struct plumb_error *err = pl_elf_open_of_build(pl_plain_file_open(path), build_id, build_id_len, work, &e);

	*ret = NULL;
	err = in_elf(e, err, NULL, ret);
	return err || *ret ? err : in_debug_file(build_id, build_id_len, NULL, work, ret);
}

struct plumb_error *pl_mapped_lines(const struct pl_mapped_place *place, const struct pl_mapping *m,
				    const uint8_t *build_id, size_t build_id_len, struct pl_dwarf **ret)
{
	*ret = NULL;
	if (m->path[0] != '/') /* the vDSO */
		return NULL;
	struct plumb_error *err = in_file(place, m, ret);
	return err || *ret ? err : in_debug_file(build_id, build_id_len, &place->seen->rights, place->work, ret);
}
