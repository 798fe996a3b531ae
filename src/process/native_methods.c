/* SPDX-License-Identifier: Apache-2.0 */
/* Layer process; any thread. Joins the file as src/os lays it out and the tables as src/cpython reads them. */
#include "native_methods.h"

#include "c_functions.h"
#include "elf_load.h"

#define FILE_MAX (64u << 20)
#define TRY_WORK 64

struct adder {
	struct pl_c_function_sink sink; /* first */
	struct pl_functions *functions;
};

static bool take(struct pl_c_function_sink *sink, uint64_t addr, const char *name)
{
	return pl_functions_add_one(((struct adder *)sink)->functions, addr, name);
}

/* Without memory there are fewer of them. */
void pl_native_methods_add(const struct pl_elf *e, struct pl_functions *f)
{
	/* Whoever has a module or a type. */
	static const char *const api[] = {"PyModuleDef_Init", "PyModule_Create2", "Py_InitModule4_64", "PyType_Ready"};
	struct adder a = {.sink.take = take, .functions = f};
	struct pl_elf_image image;

	if (!pl_elf_mentions(e, api, sizeof api / sizeof *api) || !pl_elf_load(e, FILE_MAX, &image))
		return;
	const struct pl_c_file file = {.bytes = image.bytes,
				       .len = image.len,
				       .base = image.base,
				       .code = image.code,
				       .code_end = image.code_end};
	pl_c_functions_find(&file, &a.sink);
	pl_elf_note(e, a.sink.tries * TRY_WORK);
	pl_elf_image_deinit(&image);
}
