/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the kernel's tables of sockets and locks, and as the link of a descriptor. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "blocked.h"
#include "descriptor.h"
#include "sockets.h"

static void check(const char *s, size_t size)
{
	if (!memchr(s, 0, size))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct pl_fd_facts fd = {0};

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	for (uint64_t inode = 40; inode < 46; inode++) {
		struct pl_socket_facts s = {.state = ""};

		pl_net_parse_inet(text, inode, true, &s);
		pl_net_parse_inet(text, inode, false, &s);
		pl_net_parse_unix(text, inode, &s);
		check(s.local, sizeof s.local);
		check(s.peer, sizeof s.peer);
		if (pl_blocked_lock_holder(text, 0x801, inode) < 0)
			abort();
	}
	pl_fd_parse_link(text, &fd);
	check(fd.path, sizeof fd.path);
	free(text);
	return 0;
}
