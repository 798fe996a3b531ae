/* SPDX-License-Identifier: Apache-2.0 */
/* Capture what src/cpython reads of a live process as an image, and what it saw as text. Run by capture.py:
 *
 *     capture_image stacks|variables|tasks PID IMAGE|- runtime=HEX [runtime_size=HEX] [version=HEX] [code_type=HEX]
 *                   [name=HEX] > text
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "mem_image.h"
#include "variables.h"

struct live {
	struct pl_mem mem;
	pid_t pid;
};

static struct plumb_error *live_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct iovec local = {dst, len}, remote = {(void *)(uintptr_t)addr, len};

	if (process_vm_readv(((struct live *)mem)->pid, &local, 1, &remote, 1, 0) == (ssize_t)len)
		return NULL;
	return errno == ESRCH ? &pl_err_target_exited : &pl_err_unreadable;
}

static struct plumb_error *save(struct pl_mem_record *rec, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		return pl_error_errno(PLUMB_ERR_WRITE_FAILED, errno, "%s", path);
	struct plumb_error *err = pl_mem_record_save(rec, fd);
	close(fd);
	return err;
}

int main(int argc, char **argv)
{
	static const struct pl_mem_ops ops = {.read = live_read};
	struct pl_py_facts facts = {0};
	struct pl_mem_record *rec;

	text_print_fn *print = argc < 5 ? NULL : text_print_find(argv[1]);
	if (!print) {
		fprintf(stderr, "usage: capture_image stacks|variables|tasks PID IMAGE|- runtime=HEX ...\n");
		return 2;
	}
	struct live live = {.mem = {&ops}, .pid = (pid_t)atol(argv[2])};
	for (int i = 4; i < argc; i++)
		facts_parse(&facts, argv[i]);
	struct plumb_error *err = pl_mem_record_create(&live.mem, &rec);
	if (!err) {
		err = print(pl_mem_record_mem(rec), &facts, stdout);
		if (!err && strcmp(argv[3], "-"))
			err = save(rec, argv[3]);
		pl_mem_record_destroy(rec);
	}
	if (err)
		fprintf(stderr, "capture_image: %s: %s\n", plumb_error_name(plumb_error_code(err)),
			plumb_error_message(err));
	return err ? 1 : 0;
}
