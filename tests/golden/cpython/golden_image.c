/* SPDX-License-Identifier: Apache-2.0 */
#include "golden_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stacks.h"

#define FILE_MAX (1u << 22)

char *golden_file(const char *name, const char *suffix, size_t *len_ret)
{
	char path[512], *bytes = malloc(FILE_MAX + 1);

	snprintf(path, sizeof path, "%s/%s.%s", GOLDEN_DIR, name, suffix);
	FILE *f = fopen(path, "rb");
	if (!f || !bytes) {
		free(bytes);
		return NULL;
	}
	*len_ret = fread(bytes, 1, FILE_MAX, f);
	bytes[*len_ret] = 0;
	fclose(f);
	return bytes;
}

struct plumb_error *golden_tasks(struct pl_mem *image, struct pl_mem *mem, struct pl_py *py, struct pl_interp *interp,
				 struct pl_tasks *ret)
{
	struct pl_py_facts facts;
	struct plumb_error *err;
	pl_addr head;

	pl_tasks_init(ret);
	if (!image_facts(image, &facts))
		return pl_error(PLUMB_ERR_CORRUPT, "the image has no facts");
	if ((err = pl_py_detect(mem, &facts, py)) || (err = pl_interp_head(mem, py, &head)) ||
	    (err = pl_interp_read(mem, py, head, interp)))
		return err;
	return pl_tasks_read(mem, py, interp, ret);
}

const struct pl_task *golden_task(const struct pl_tasks *tasks, const char *name)
{
	for (size_t i = 0; i < tasks->list.len; i++) {
		const struct pl_task *t = &tasks->list.data[i];

		if (t->name_len == strlen(name) && !memcmp(tasks->text.data + t->name_at, name, t->name_len))
			return t;
	}
	return NULL;
}
