/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine allows us (layer os). Any thread. The parsers take text as it comes, so that they can be tested
 * with any; what cannot be read is unknown, never guessed. Changes nothing: what is tried is tried on a child of ours
 * that waits for it and ends. What refuses access to one given process is the business of priv.c. */
#include "host.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc_file.h"

/* On the stack: without memory a fact would be taken for missing. */
#define MOUNTS_MAX 4096 /* most lines are shorter, and of a longer one what it begins with counts */
#define CGROUP_MAX 8192

/* The numbers of the namespaces that the kernel makes at boot: fixed since 3.8, include/linux/proc_ns.h */
#define INITIAL_USER_NS "user:[4026531837]"
#define INITIAL_PID_NS	"pid:[4026531836]"

bool pl_host_parse_number(const char *text, int *ret)
{
	char *end;
	long v = strtol(text, &end, 10);

	if (end == text || v < INT_MIN || v > INT_MAX || end[strspn(end, " \t\n")] != '\0')
		return false;
	*ret = (int)v;
	return true;
}

static int hidepid_value(const char *value, size_t len)
{
	static const struct {
		const char *word;
		int value;
	} words[] = {{"0", 0}, {"off", 0},	 {"1", 1}, {"noaccess", 1},
		     {"2", 2}, {"invisible", 2}, {"4", 4}, {"ptraceable", 4}};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strlen(words[i].word) == len && memcmp(words[i].word, value, len) == 0)
			return words[i].value;
	return 0;
}

static void parse_mount_options(const char *p, const char *end, struct pl_proc_mount *ret)
{
	*ret = (struct pl_proc_mount){0};
	while (p < end) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		size_t len = (size_t)((comma ? comma : end) - p);

		if (len > 8 && memcmp(p, "hidepid=", 8) == 0)
			ret->hidepid = hidepid_value(p + 8, len - 8);
		ret->only_pids |= len == 10 && memcmp(p, "subset=pid", 10) == 0;
		p += len + 1;
	}
}

bool pl_host_parse_mounts(const char *mounts, struct pl_proc_mount *ret)
{
	bool found = false;

	for (const char *line = mounts; *line;) {
		const char *end = line + strcspn(line, "\n"), *field[4];
		size_t len[4], n = 0;

		for (const char *p = line; n < 4 && p < end; p += p < end) {
			field[n] = p;
			len[n] = strcspn(p, " \n");
			p += len[n++];
		}
		/* The last one mounted on a place is the one seen there. */
		if (n == 4 && len[1] == 5 && memcmp(field[1], "/proc", 5) == 0 && len[2] == 4 &&
		    memcmp(field[2], "proc", 4) == 0) {
			parse_mount_options(field[3], field[3] + len[3], ret);
			found = true;
		}
		line = *end ? end + 1 : end;
	}
	return found;
}

const char *pl_host_parse_cgroup(const char *cgroup)
{
	static const struct {
		const char *mark, *name;
	} marks[] = {{"kubepods", "kubernetes"},	 {"libpod", "podman"}, {"docker", "docker"},
		     {"containerd", "containerd"},	 {"crio", "cri-o"},    {"lxc", "lxc"},
		     {"machine.slice", "systemd-nspawn"}};

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		for (const char *p = cgroup; (p = strstr(p, marks[i].mark)); p++)
			if (p > cgroup && strchr("/-:", p[-1]))
				return marks[i].name;
	return "";
}

unsigned pl_host_parse_nspid(const char *status, pid_t *inner_ret)
{
	const char *p = pl_proc_status_field(status, "NSpid");
	unsigned n = 0;

	while (p && isdigit((unsigned char)*p)) {
		char *end;
		long v = strtol(p, &end, 10);

		if (v > INT_MAX)
			break;
		*inner_ret = (pid_t)v;
		n++;
		p = end + strspn(end, " \t");
	}
	return n;
}

bool pl_host_parse_schedstat(const char *text)
{
	unsigned long long run_ns, wait_ns, runs;

	return sscanf(text, "%llu %llu %llu", &run_ns, &wait_ns, &runs) == 3 && runs > 0;
}

int pl_host_sysctl(const char *name, int missing)
{
	char path[128], text[64];
	int value;

	snprintf(path, sizeof path, "../sys/%s", name); /* /proc/self/../sys */
	if (pl_proc_file(0, path, text, sizeof text) < 0 || !pl_host_parse_number(text, &value))
		return missing;
	return value;
}

bool pl_host_proc_mount(struct pl_proc_mount *ret)
{
	char text[MOUNTS_MAX];
	bool found = false;
	size_t have = 0;
	ssize_t n;
	int fd = open("/proc/self/mounts", O_RDONLY | O_CLOEXEC);

	/* Whole lines at a time: a host of many containers has thousands of mounts. */
	while (fd >= 0 && (n = read(fd, text + have, sizeof text - 1 - have)) > 0) {
		have += (size_t)n;
		text[have] = '\0';
		char *end = strrchr(text, '\n'), *rest = end ? end + 1 : text + have;
		if (end)
			*end = '\0';
		found |= pl_host_parse_mounts(text, ret);
		have -= (size_t)(rest - text);
		memmove(text, rest, have);
	}
	if (fd >= 0)
		close(fd);
	return found;
}

const char *pl_host_container(void)
{
	char text[CGROUP_MAX];
	const char *name = pl_proc_file(0, "cgroup", text, sizeof text) >= 0 ? pl_host_parse_cgroup(text) : "";

	if (*name)
		return name;
	if (access("/run/.containerenv", F_OK) == 0)
		return "podman";
	if (access("/.dockerenv", F_OK) == 0)
		return "docker";
	return access("/var/run/secrets/kubernetes.io", F_OK) == 0 ? "kubernetes" : "";
}

uint64_t pl_host_own_status(const char *key, int base, uint64_t missing)
{
	char status[PL_STATUS_MAX];

	if (pl_proc_status(0, "status", status, sizeof status) < 0)
		return missing;
	return pl_proc_status_number(status, key, base, missing);
}

bool pl_host_has_btf(void)
{
	return access("/sys/kernel/btf/vmlinux", R_OK) == 0;
}

bool pl_host_has_run_counters(void)
{
	char text[128];

	return pl_proc_file(0, "schedstat", text, sizeof text) >= 0 && pl_host_parse_schedstat(text);
}

static bool namespace_of(const char *who, const char *kind, char *buf, size_t size)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%s/ns/%s", who, kind);
	ssize_t n = readlink(path, buf, size - 1);
	buf[n > 0 ? n : 0] = '\0';
	return n > 0;
}

enum pl_namespace pl_host_namespace(pid_t pid, const char *kind)
{
	char who[16], ours[64], its[64];

	snprintf(who, sizeof who, "%d", (int)pl_proc_live_task(pid));
	if (!namespace_of("self", kind, ours, sizeof ours) || !namespace_of(who, kind, its, sizeof its))
		return PL_NAMESPACE_UNKNOWN;
	return strcmp(ours, its) == 0 ? PL_NAMESPACE_SAME : PL_NAMESPACE_OTHER;
}

enum pl_namespace pl_host_initial_namespace(const char *kind)
{
	char ours[64];

	if (!namespace_of("self", kind, ours, sizeof ours))
		return PL_NAMESPACE_UNKNOWN;
	return strcmp(ours, INITIAL_USER_NS) == 0 || strcmp(ours, INITIAL_PID_NS) == 0 ? PL_NAMESPACE_SAME
										       : PL_NAMESPACE_OTHER;
}

unsigned pl_host_nspid(pid_t pid, pid_t tid, pid_t *inner_ret)
{
	char status[PL_STATUS_MAX], name[40];

	snprintf(name, sizeof name, "task/%d/status", (int)tid);
	return pl_proc_status(pid, name, status, sizeof status) < 0 ? 0 : pl_host_parse_nspid(status, inner_ret);
}
