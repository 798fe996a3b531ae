/* SPDX-License-Identifier: Apache-2.0 */
/* The quota of version 2 is in cpu.max ("10000 100000", or "max 100000"), that of version 1 in two files of the
 * controller's own tree. Each group has one, and a lower one above it counts, too. See cpu_quota.h. */
#include "cpu_quota.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX   64
#define FILE_MAX   (1 << 20)
#define FILE_STEP  4096
#define CONTROLLER "cpu"

struct hierarchy {
	bool unified; /* version 2 */
	char root[PATH_MAX], mount[PATH_MAX];
};

/* Not on the stack: that of a thread of the program can be small. */
struct scratch {
	char line[2 * PATH_MAX + 512], kind[32], options[256];
	struct hierarchy h;
	char group[PATH_MAX], directory[2 * PATH_MAX];
};

static bool has_word(const char *list, size_t len, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list, *end = list + len; at < end;) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		const char *stop = comma ? comma : end;

		if ((size_t)(stop - at) == n && memcmp(at, word, n) == 0)
			return true;
		at = stop + 1;
	}
	return false;
}

/* A line of mountinfo: what is before " - " has the root and the place, what is behind it the kind and its options. */
static bool parse_mount(const char *line, size_t len, struct scratch *s)
{
	struct hierarchy *h = &s->h;
	const char *tail;

	if (len >= sizeof s->line)
		return false;
	memcpy(s->line, line, len);
	s->line[len] = '\0';
	if (!(tail = strstr(s->line, " - ")) || sscanf(tail, " - %31s %*s %255s", s->kind, s->options) != 2 ||
	    sscanf(s->line, "%*s %*s %*s %4095s %4095s", h->root, h->mount) != 2)
		return false;
	h->unified = strcmp(s->kind, "cgroup2") == 0;
	return h->unified || (strcmp(s->kind, "cgroup") == 0 && has_word(s->options, strlen(s->options), CONTROLLER));
}

/* Lines "4:cpu,cpuacct:/a/b" and "0::/a/b". */
static bool own_group(const char *cgroup, bool unified, char ret[PATH_MAX])
{
	for (const char *line = cgroup; *line;) {
		size_t len = strcspn(line, "\n");
		const char *first = memchr(line, ':', len);
		const char *second = first ? memchr(first + 1, ':', len - (size_t)(first + 1 - line)) : NULL;

		if (second) {
			size_t named = (size_t)(second - first - 1), path = len - (size_t)(second + 1 - line);

			if (path < PATH_MAX && (unified ? named == 0 : has_word(first + 1, named, CONTROLLER))) {
				memcpy(ret, second + 1, path);
				ret[path] = '\0';
				return true;
			}
		}
		line += len + (line[len] == '\n');
	}
	return false;
}

static double quota_in(const char *directory, bool unified, pl_cpu_quota_read *read, void *ctx)
{
	double quota = 0, period = 0;
	const char *text = read(ctx, directory, unified ? "cpu.max" : "cpu.cfs_quota_us");

	if (unified)
		return text && sscanf(text, "%lf %lf", &quota, &period) == 2 && period > 0 ? quota / period : 0;
	if (!text || sscanf(text, "%lf", &quota) != 1 || quota <= 0)
		return 0;
	text = read(ctx, directory, "cpu.cfs_period_us");
	return text && sscanf(text, "%lf", &period) == 1 && period > 0 ? quota / period : 0;
}

/* From our group up to what is mounted. A group outside of that, as seen from a container, is not there to be asked. */
static double least_above(struct scratch *s, pl_cpu_quota_read *read, void *ctx)
{
	const struct hierarchy *h = &s->h;
	const char *group = s->group;
	size_t root = strcmp(h->root, "/") == 0 ? 0 : strlen(h->root), mount = strlen(h->mount);
	bool below = strncmp(group, h->root, root) == 0 && strchr("/", group[root]) && !strstr(group, "/..");
	double least = 0;

	snprintf(s->directory, sizeof s->directory, "%s%s", h->mount, below ? group + root : "");
	for (;;) {
		double quota = quota_in(s->directory, h->unified, read, ctx);
		char *slash = strrchr(s->directory, '/');

		if (quota > 0 && (least == 0 || quota < least))
			least = quota;
		if (!slash || slash < s->directory + mount)
			return least;
		*slash = '\0';
	}
}

double pl_cpu_quota_of(const char *mountinfo, const char *cgroup, pl_cpu_quota_read *read, void *ctx)
{
	struct scratch *s = malloc(sizeof *s);
	double least = 0;

	for (const char *line = mountinfo; s && *line;) {
		size_t len = strcspn(line, "\n");

		if (parse_mount(line, len, s) && own_group(cgroup, s->h.unified, s->group)) {
			double quota = least_above(s, read, ctx);

			if (quota > 0 && (least == 0 || quota < least))
				least = quota;
		}
		line += len + (line[len] == '\n');
	}
	free(s);
	return least;
}

/* Owned by the caller; NULL: it cannot be read. Grown as it is needed: a large block that is freed changes what malloc
 * does from then on, and the program may be the one that is sampled. */
static char *read_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	size_t len = 0, size = 0;
	char *text = NULL, *more;
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0 && size < FILE_MAX && (more = realloc(text, size + FILE_STEP + 1))) {
		text = more;
		size += FILE_STEP;
		while (len < size && (n = read(fd, text + len, size - len)) > 0)
			len += (size_t)n;
	}
	if (text)
		text[len] = '\0';
	if (fd >= 0)
		close(fd);
	return text;
}

struct group_file {
	char path[2 * PATH_MAX + TEXT_MAX], text[TEXT_MAX];
};

static const char *read_group_file(void *ctx, const char *directory, const char *name)
{
	struct group_file *f = ctx;

	snprintf(f->path, sizeof f->path, "%s/%s", directory, name);
	char *text = read_file(f->path);
	if (!text)
		return NULL;
	snprintf(f->text, sizeof f->text, "%s", text);
	free(text);
	return f->text;
}

double pl_cpu_quota(void)
{
	struct group_file *f = malloc(sizeof *f);
	char *mounts = read_file("/proc/self/mountinfo"), *cgroup = read_file("/proc/self/cgroup");
	double quota = f && mounts && cgroup ? pl_cpu_quota_of(mounts, cgroup, read_group_file, f) : 0;

	free(mounts);
	free(cgroup);
	free(f);
	return quota;
}
