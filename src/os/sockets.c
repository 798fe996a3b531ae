/* SPDX-License-Identifier: Apache-2.0 */
/* The sockets of another process (layer os). One thread per object. The tables are the kernel's text; the names of Unix
 * sockets in them are the target's. Asking the kernel for a peer happens in our own network namespace: for a target in
 * another one the peer stays unknown. */
#include "sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proc_file.h"

#define TABLE_MAX      (32u << 20)
#define TABLE_STEP     (64u << 10)
#define INET_INODE     9 /* field of a row, from 0 */
#define UNIX_INODE     6
#define UNIX_LISTENING 0x10000
#define NO_ROW	       0 /* where the heading is */

static const char *const table_names[] = {[PL_NET_TCP] = "net/tcp",
					  [PL_NET_TCP6] = "net/tcp6",
					  [PL_NET_UDP] = "net/udp",
					  [PL_NET_UDP6] = "net/udp6",
					  [PL_NET_UNIX] = "net/unix"};

/* The kernel's names of protocols, and ours. */
static const struct {
	const char *kernel, *name;
	int table; /* -1: none */
} protocols[] = {
	{"TCP", "tcp", PL_NET_TCP},	      {"TCPv6", "tcp6", PL_NET_TCP6}, {"MPTCP", "mptcp", -1},
	{"UDP", "udp", PL_NET_UDP},	      {"UDPv6", "udp6", PL_NET_UDP6}, {"UNIX", "unix", PL_NET_UNIX},
	{"UNIX-STREAM", "unix", PL_NET_UNIX},
};
#define PROTOCOLS (sizeof protocols / sizeof protocols[0])

static const char *const tcp_states[] = {"",	       "connected",	"connecting",
					 "connecting", "closing",	"closed by us",
					 "closing",    "not connected", "closed by the other end",
					 "closing",    "listening",	"closing"};

void pl_net_deinit(struct pl_net *n)
{
	for (int i = 0; i < PL_NET_TABLES; i++) {
		struct pl_net_table *t = &n->tables[i];

		if (t->opened && t->fd >= 0)
			close(t->fd);
		free(t->text);
		pl_map_deinit(&t->rows);
		*t = (struct pl_net_table){0};
	}
}

static void open_table(struct pl_net *n, int table)
{
	struct pl_net_table *t = &n->tables[table];
	char path[48];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pl_proc_live_task(n->pid), table_names[table]);
	t->fd = open(path, O_RDONLY | O_CLOEXEC);
	t->opened = true;
	t->ended = t->fd < 0;
}

/* One read brings whole rows as long as there is room for a page. False: there are no more. */
static bool read_more(struct pl_net *n, int table)
{
	struct pl_net_table *t = &n->tables[table];

	if (!t->opened)
		open_table(n, table);
	char *text = t->ended || t->len > TABLE_MAX ? NULL : realloc(t->text, t->len + TABLE_STEP + 1);
	if (!text)
		return false;
	t->text = text;
	ssize_t len = read(t->fd, text + t->len, TABLE_STEP);
	t->ended = len <= 0;
	t->len += len > 0 ? (size_t)len : 0;
	text[t->len] = '\0';
	return !t->ended;
}

/* The start of field @p index of the row at @p line; NULL if the row is shorter. */
static const char *field(const char *line, int index)
{
	const char *p = line + strspn(line, " ");

	while (index-- > 0) {
		p += strcspn(p, " \n");
		p += strspn(p, " ");
	}
	return *p && *p != '\n' ? p : NULL;
}

static bool is_same_row(const char *a, const char *b)
{
	size_t len = strcspn(a, "\n");

	return len == strcspn(b, "\n") && memcmp(a, b, len) == 0;
}

/* The name of a Unix socket may hold line breaks, which the kernel writes as they are: what follows one looks like a
 * row, and says whatever somebody wants of any socket. Of two rows that differ neither is believed. */
static void index_row(struct pl_net_table *t, const char *row, uint64_t inode)
{
	uint32_t at = (uint32_t)(row - t->text), first;

	if (!pl_map_get(&t->rows, inode, 0, &first))
		(void)pl_map_set(&t->rows, inode, 0, at);
	else if (first != NO_ROW && !is_same_row(t->text + first, row))
		(void)pl_map_set(&t->rows, inode, 0, NO_ROW); /* it is there: that needs no memory */
}

/* The rows that were not there at the last look. A dump asks for as many inodes as its threads wait for. */
static void index_rows(struct pl_net_table *t, int inode_field)
{
	const char *line = t->indexed ? t->text + t->indexed : strchr(t->text, '\n'), *end;

	/* The first line is a heading, a last one without an end is not whole. */
	for (; line && (end = strchr(line + 1, '\n')); line = end) {
		const char *f = field(line + 1, inode_field);
		const uint64_t inode = f ? strtoull(f, NULL, 10) : 0;

		if (inode)
			index_row(t, line + 1, inode);
	}
	t->indexed = line ? (size_t)(line - t->text) : 0;
}

const char *pl_net_row(struct pl_net *n, int table, uint64_t inode)
{
	struct pl_net_table *t = &n->tables[table];
	uint32_t at;

	if (!t->text)
		return NULL;
	index_rows(t, table == PL_NET_UNIX ? UNIX_INODE : INET_INODE);
	return pl_map_get(&t->rows, inode, 0, &at) && at != NO_ROW ? t->text + at : NULL;
}

/* "0100007F:1F90": words of the address as the machine reads them, and the port. */
static bool parse_address(const char *s, char *ret, size_t size, bool *none)
{
	uint32_t words[4];
	char text[INET6_ADDRSTRLEN];
	size_t digits = strspn(s, "0123456789abcdefABCDEF"), n = digits / 8;

	*none = false;
	if ((digits != 8 && digits != 32) || s[digits] != ':')
		return false;
	for (size_t i = 0; i < n; i++) {
		char word[9] = {0};
		memcpy(word, s + 8 * i, 8);
		words[i] = (uint32_t)strtoul(word, NULL, 16);
	}
	unsigned long port = strtoul(s + digits + 1, NULL, 16);
	if (!inet_ntop(n == 1 ? AF_INET : AF_INET6, words, text, sizeof text))
		return false;
	snprintf(ret, size, n == 1 ? "%s:%lu" : "[%s]:%lu", text, port);
	*none = port == 0;
	return true;
}

bool pl_net_parse_inet(const char *row, bool tcp, struct pl_socket_facts *ret)
{
	const char *local = field(row, 1), *peer = field(row, 2), *st = field(row, 3);
	bool no_local, no_peer;

	if (!st || !parse_address(local, ret->local, sizeof ret->local, &no_local) ||
	    !parse_address(peer, ret->peer, sizeof ret->peer, &no_peer))
		return false;
	unsigned long state = strtoul(st, NULL, 16);
	if (no_peer)
		ret->peer[0] = '\0';
	if (tcp && state < sizeof tcp_states / sizeof tcp_states[0])
		ret->state = tcp_states[state];
	else
		ret->state = no_peer ? "not connected" : "connected";
	return true;
}

bool pl_net_parse_unix(const char *row, struct pl_socket_facts *ret)
{
	const char *flags, *state, *path;

	if (!(flags = field(row, 3)) || !(state = field(row, 5)))
		return false;
	if (strtoul(flags, NULL, 16) & UNIX_LISTENING)
		ret->state = "listening";
	else
		ret->state = strtoul(state, NULL, 16) == 3 ? "connected" : "not connected";
	path = field(row, UNIX_INODE + 1);
	if (path)
		snprintf(ret->local, sizeof ret->local, "%.*s", (int)strcspn(path, "\n"), path);
	return true;
}

static bool ask_peer(int fd, uint64_t inode)
{
	struct {
		struct nlmsghdr head;
		struct unix_diag_req req;
	} msg = {.head = {.nlmsg_len = sizeof msg, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
		 .req = {.sdiag_family = AF_UNIX,
			 .udiag_states = UINT32_MAX,
			 .udiag_ino = (uint32_t)inode,
			 .udiag_show = UDIAG_SHOW_PEER,
			 .udiag_cookie = {UINT32_MAX, UINT32_MAX}}};

	return send(fd, &msg, sizeof msg, MSG_DONTWAIT) == (ssize_t)sizeof msg;
}

static uint64_t peer_in_answer(const struct nlmsghdr *head, size_t len)
{
	if (!NLMSG_OK(head, len) || head->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    head->nlmsg_len < NLMSG_LENGTH(sizeof(struct unix_diag_msg)))
		return 0;
	const struct unix_diag_msg *diag = NLMSG_DATA(head);
	size_t left = head->nlmsg_len - NLMSG_LENGTH(sizeof *diag);
	for (const struct rtattr *a = (const struct rtattr *)(diag + 1); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		uint32_t peer;

		if (a->rta_type != UNIX_DIAG_PEER || RTA_PAYLOAD(a) < sizeof peer)
			continue;
		memcpy(&peer, RTA_DATA(a), sizeof peer);
		return peer;
	}
	return 0;
}

/* The kernel answers within send(): nothing is waited for. */
static uint64_t unix_peer(uint64_t inode)
{
	_Alignas(struct nlmsghdr) char answer[1024];
	uint64_t peer = 0;
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	if (fd < 0)
		return 0;
	if (ask_peer(fd, inode)) {
		ssize_t n = recv(fd, answer, sizeof answer, MSG_DONTWAIT);
		if (n > 0)
			peer = peer_in_answer((const struct nlmsghdr *)answer, (size_t)n);
	}
	close(fd);
	return peer;
}

static bool parse(const char *row, int table, struct pl_socket_facts *ret)
{
	if (table == PL_NET_UNIX)
		return pl_net_parse_unix(row, ret);
	return pl_net_parse_inet(row, table == PL_NET_TCP || table == PL_NET_TCP6, ret);
}

/* Whether a second row says something else of a socket is known at the end. */
static bool read_whole(struct pl_net *n, int table)
{
	while (read_more(n, table))
		;
	return n->tables[table].ended;
}

/* In what was read before, then in what more there is. */
static bool find_in(struct pl_net *n, int table, uint64_t inode, struct pl_socket_facts *ret)
{
	const char *row;

	if (table == PL_NET_UNIX && !read_whole(n, table))
		return false;
	while (!(row = pl_net_row(n, table, inode)))
		if (!read_more(n, table))
			return false;
	return parse(row, table, ret);
}

static void find_unix_peer(struct pl_net *n, uint64_t inode, struct pl_socket_facts *ret)
{
	struct pl_socket_facts other = {.state = ""};

	ret->peer_inode = unix_peer(inode);
	if (ret->peer_inode && find_in(n, PL_NET_UNIX, ret->peer_inode, &other))
		memcpy(ret->peer, other.local, sizeof ret->peer);
}

static void lower(char *dst, size_t size, const char *src)
{
	size_t i = 0;

	for (; src[i] && i + 1 < size; i++)
		dst[i] = (char)(src[i] >= 'A' && src[i] <= 'Z' ? src[i] - 'A' + 'a' : src[i]);
	dst[i] = '\0';
}

void pl_net_find(struct pl_net *n, uint64_t inode, const char *protocol, struct pl_socket_facts *ret)
{
	*ret = (struct pl_socket_facts){.state = ""};
	for (size_t i = 0; i < PROTOCOLS; i++) {
		bool named = strcmp(protocols[i].kernel, protocol) == 0;

		if (!named && *protocol)
			continue;
		if (named)
			snprintf(ret->protocol, sizeof ret->protocol, "%s", protocols[i].name);
		if (protocols[i].table < 0 || !find_in(n, protocols[i].table, inode, ret))
			continue;
		snprintf(ret->protocol, sizeof ret->protocol, "%s", protocols[i].name);
		if (protocols[i].table == PL_NET_UNIX)
			find_unix_peer(n, inode, ret);
		return;
	}
	if (!*ret->protocol)
		lower(ret->protocol, sizeof ret->protocol, protocol);
}
