/* SPDX-License-Identifier: Apache-2.0 */
/* Security modules (layer os). Any thread. Each fact is one that the kernel shows; nothing is tried. */
#include "lsm.h"

#include <stdio.h>
#include <string.h>

#include "proc_file.h"

#define LIST_PATH "/sys/kernel/security/lsm"

/* The others never look at who reads whom (capability and Yama do, and priv.c knows their rules). */
static const char *const judges[] = {"selinux", "smack", "apparmor", "landlock", "bpf"};

static bool is_judge(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof judges / sizeof *judges; i++)
		if (strlen(judges[i]) == len && memcmp(judges[i], name, len) == 0)
			return true;
	return false;
}

void pl_lsm_parse_list(const char *list, char *ret, size_t size)
{
	size_t used = 0;

	*ret = '\0';
	for (const char *p = list; *p;) {
		size_t len = strcspn(p, ",\n");

		if (is_judge(p, len) && used + len + 3 <= size)
			used += (size_t)snprintf(ret + used, size - used, "%s%.*s", used ? ", " : "", (int)len, p);
		p += len + (p[len] != '\0');
	}
}

void pl_lsm_parse_label(const char *text, char *ret, size_t size)
{
	int len = (int)strcspn(text, "\n");

	/* AppArmor's word. What SELinux calls an unconfined domain can still be kept from tracing (deny_ptrace). */
	bool none = len == 10 && memcmp(text, "unconfined", 10) == 0;
	snprintf(ret, size, "%.*s", none ? 0 : len, text);
}

static bool read_list(char *ret, size_t size)
{
	char text[512] = "";
	FILE *f = fopen(LIST_PATH, "re");
	bool read = f && fgets(text, sizeof text, f);

	if (f)
		fclose(f);
	pl_lsm_parse_list(text, ret, size);
	return read;
}

void pl_lsm_read(struct pl_lsm *ret)
{
	char text[256];

	*ret = (struct pl_lsm){0};
	ret->listed = read_list(ret->modules, sizeof ret->modules);
	/* The file without a module's name belongs to the first that has labels. */
	if (pl_proc_file(0, "attr/apparmor/current", text, sizeof text) > 0 ||
	    pl_proc_file(0, "attr/current", text, sizeof text) > 0)
		pl_lsm_parse_label(text, ret->label, sizeof ret->label);
}

void pl_lsm_tell(const struct pl_lsm *lsm, char *buf, size_t size)
{
	if (*lsm->label)
		snprintf(buf, size, "what is left are security modules, and plumb runs under the label \"%s\" of one",
			 lsm->label);
	else if (*lsm->modules)
		snprintf(buf, size, "what is left are the security modules of this kernel: %s", lsm->modules);
	else if (lsm->listed)
		snprintf(buf, size, "there is no security module in " LIST_PATH " that could refuse it");
	else
		snprintf(buf, size,
			 "what is left are security modules, but which there are cannot be read (" LIST_PATH ")");
}
