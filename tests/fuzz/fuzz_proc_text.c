/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the kernel's tables of sockets and locks, and as the link of a descriptor. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "descriptor.h"
#include "file_locks.h"
#include "sockets.h"

static void check(const char *s, size_t size)
{
	if (!memchr(s, 0, size))
		abort();
}

/* As a table of each kind. */
static void check_table(const char *text, size_t len, int table)
{
	struct pl_net net = {0};

	net.tables[table] =
		(struct pl_net_table){.text = strdup(text), .len = len, .fd = -1, .opened = true, .ended = true};
	for (uint64_t inode = 40; inode < 46; inode++) {
		struct pl_socket_facts s = {.state = ""};
		const char *row = pl_net_row(&net, table, inode);

		if (row && table == PL_NET_UNIX)
			pl_net_parse_unix(row, &s);
		else if (row)
			pl_net_parse_inet(row, table == PL_NET_TCP, &s);
		check(s.local, sizeof s.local);
		check(s.peer, sizeof s.peer);
	}
	pl_net_deinit(&net);
}

/* In two parts: what is found is the same wherever the text was cut. */
static void check_locks(const char *text, size_t len)
{
	struct pl_file_locks whole = PL_FILE_LOCKS_INIT, parts = PL_FILE_LOCKS_INIT;

	if (len <= PL_FILE_LOCKS_BYTES) {
		if (!pl_file_locks_add(&whole, text, len) || !pl_file_locks_add(&parts, text, len / 2) ||
		    !pl_file_locks_add(&parts, text + len / 2, len - len / 2))
			abort();
		for (uint64_t inode = 40; inode < 46; inode++)
			if (pl_file_locks_of(&whole, 0x801, inode) != pl_file_locks_of(&parts, 0x801, inode))
				abort();
		for (pid_t pid = 77; pid < 84; pid++)
			if (pl_file_locks_waited_for(&whole, pid) != pl_file_locks_waited_for(&parts, pid))
				abort();
	}
	pl_file_locks_deinit(&whole);
	pl_file_locks_deinit(&parts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct pl_fd_facts fd = {0};

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	check_table(text, strlen(text), PL_NET_TCP);
	check_table(text, strlen(text), PL_NET_UDP);
	check_table(text, strlen(text), PL_NET_UNIX);
	check_locks(text, strlen(text));
	pl_fd_parse_link(text, &fd);
	check(fd.path, sizeof fd.path);
	free(text);
	return 0;
}
