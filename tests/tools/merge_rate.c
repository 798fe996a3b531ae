/* SPDX-License-Identifier: Apache-2.0 */
/* merge_rate A.plumb B.plumb: how fast profiles are added up in memory, as JSON. Both are read before the clock starts,
 * and added to an empty profile. A row is a stack or a cell. CPU time: other programs do not count. */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "capture.h"

static struct plumb_error *read_profile(const char *path, struct plumb_profile **ret)
{
	struct pl_capture_info info;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct plumb_error *err = pl_profile_create(ret);

	if (!err)
		err = pl_capture_read(fd, *ret, NULL, NULL, &info);
	close(fd);
	return err;
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct plumb_error *measure(char **paths)
{
	struct plumb_profile *sum = NULL, *parts[2] = {0};
	uint64_t stacks = 0, cells = 0;
	double seconds = 0;
	struct plumb_error *err = pl_profile_create(&sum);

	for (int i = 0; i < 2 && !err; i++)
		err = read_profile(paths[i], &parts[i]);
	for (int i = 0; i < 2 && !err; i++) {
		double began = cpu_seconds();

		err = pl_profile_merge(sum, parts[i]);
		seconds += cpu_seconds() - began;
		stacks += parts[i]->stack_count - 1;
		cells += parts[i]->cell_count;
	}
	if (!err)
		printf("{\"adding_seconds\":%.3f,\"stacks\":%llu,\"cells\":%llu,\"stacks_per_s\":%.0f,\"rows_per_s\":%."
		       "0f}\n",
		       seconds, (unsigned long long)stacks, (unsigned long long)cells, (double)stacks / seconds,
		       (double)(stacks + cells) / seconds);
	for (int i = 0; i < 2; i++)
		pl_profile_destroy(parts[i]);
	pl_profile_destroy(sum);
	return err;
}

int main(int argc, char **argv)
{
	struct plumb_error *err;

	if (argc != 3) {
		fprintf(stderr, "usage: merge_rate A.plumb B.plumb\n");
		return 2;
	}
	err = measure(argv + 1);
	if (err)
		fprintf(stderr, "merge_rate: %s\n", plumb_error_message(err));
	plumb_error_destroy(err);
	return err ? 1 : 0;
}
