/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over files, without libFuzzer: so the corpus is a plain regression test with every compiler.
 * Arguments are files and folders (not recursive); a folder without a file is a failure. Test code: it prints and
 * exits. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int fail(const char *path, const char *why)
{
	fprintf(stderr, "%s: %s\n", path, why);
	return 1;
}

static int run_file(const char *path, size_t size)
{
	/* An exact allocation: the sanitizer then sees a read one byte past the end. */
	uint8_t *data = malloc(size);
	FILE *f = fopen(path, "rb");
	int status = 0;
	if (!f || (size && !data) || fread(data, 1, size, f) != size)
		status = fail(path, strerror(errno));
	else
		LLVMFuzzerTestOneInput(data, size);
	if (f)
		fclose(f);
	free(data);
	return status;
}

static int run_folder(const char *path, unsigned *count)
{
	DIR *dir = opendir(path);
	unsigned before = *count;
	int status = 0;
	if (!dir)
		return fail(path, strerror(errno));
	for (const struct dirent *e; !status && (e = readdir(dir));) {
		char file[4096];
		struct stat st;
		if (snprintf(file, sizeof file, "%s/%s", path, e->d_name) >= (int)sizeof file)
			continue;
		if (stat(file, &st) || !S_ISREG(st.st_mode))
			continue;
		status = run_file(file, (size_t)st.st_size);
		++*count;
	}
	closedir(dir);
	return !status && *count == before ? fail(path, "there is no file in it") : status;
}

int main(int argc, char **argv)
{
	unsigned count = 0;
	int status = argc < 2 ? fail(argv[0], "names of files or folders are needed") : 0;
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	for (int i = 1; i < argc && !status; i++) {
		struct stat st;
		if (stat(argv[i], &st)) {
			status = fail(argv[i], strerror(errno));
		} else if (S_ISDIR(st.st_mode)) {
			status = run_folder(argv[i], &count);
		} else {
			status = run_file(argv[i], (size_t)st.st_size);
			count++;
		}
	}
	printf("%u inputs\n", count);
	return status;
}
