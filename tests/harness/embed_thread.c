/* SPDX-License-Identifier: Apache-2.0 */
/* As embed.c, but Python runs in a second thread, and the main thread ends: `embed_thread LIBPYTHON ARGUMENTS...`. Test
 * code. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef int main_fn(int argc, char **argv);

static main_fn *run;
static int arguments;

static void *run_python(void *argv)
{
	exit(run(arguments, argv));
}

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
	pthread_t thread;

	run = library ? (main_fn *)dlsym(library, "Py_BytesMain") : NULL;
	if (!run) {
		fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "usage: embed_thread LIBPYTHON ARGUMENTS...");
		return 1;
	}
	argv[1] = argv[0];
	arguments = argc - 1;
	if (pthread_create(&thread, NULL, run_python, argv + 1))
		return 1;
	pthread_exit(NULL);
}
