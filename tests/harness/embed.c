/* SPDX-License-Identifier: Apache-2.0 */
/* A program that embeds Python: `embed LIBPYTHON ARGUMENTS...` loads the shared library and runs it like `python`.
 * Test code. It stands for uwsgi, editors and the like: the executable is not called python and holds no interpreter.
 */
#include <dlfcn.h>
#include <stdio.h>

typedef int main_fn(int argc, char **argv);

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
	main_fn *run;

	if (!library) {
		fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "usage: embed LIBPYTHON ARGUMENTS...");
		return 1;
	}
	run = (main_fn *)dlsym(library, "Py_BytesMain");
	if (!run) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	argv[1] = argv[0];
	return run(argc - 1, argv + 1);
}
