/* SPDX-License-Identifier: Apache-2.0 */
#include "own.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

static struct plumb_error *own_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct iovec local = {dst, len}, remote = {(void *)(uintptr_t)addr, len};

	(void)mem;
	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)len ? NULL : &pl_err_unreadable;
}

struct pl_mem *own_mem(void)
{
	static const struct pl_mem_ops ops = {.read = own_read};
	static struct pl_mem mem = {&ops};

	return &mem;
}

struct list {
	struct pl_unwind_image *images;
	size_t n;
};

static int add(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct list *l = ctx;
	struct pl_unwind_image i = {.start = UINT64_MAX};

	(void)size;
	for (int k = 0; k < info->dlpi_phnum; k++) {
		const ElfW(Phdr) *s = &info->dlpi_phdr[k];
		pl_addr at = info->dlpi_addr + s->p_vaddr;

		if (s->p_type != PT_LOAD)
			continue;
		i.start = at < i.start ? at & ~UINT64_C(4095) : i.start;
		i.end = at + s->p_memsz > i.end ? at + s->p_memsz : i.end;
	}
	i.head = i.start;
	if (l->n < OWN_IMAGES_MAX && i.start < i.end)
		l->images[l->n++] = i;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct pl_unwind_image *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

size_t own_images(struct pl_unwind_image ret[OWN_IMAGES_MAX])
{
	struct list l = {.images = ret};

	dl_iterate_phdr(add, &l);
	qsort(ret, l.n, sizeof *ret, by_start);
	return l.n;
}

/* As the kernel and the C library name them, in the order of the DWARF numbers. */
void own_registers(const ucontext_t *c, struct pl_registers *ret)
{
	static const int order[PL_X86_64_COUNT] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
						   REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
						   REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};

	*ret = (struct pl_registers){0};
	for (unsigned i = 0; i < PL_X86_64_COUNT; i++)
		pl_register_set(ret, i, (uint64_t)c->uc_mcontext.gregs[order[i]]);
}

struct made_up {
	struct pl_mem mem;
	pl_addr addr;
	const uint8_t *bytes;
	size_t len;
};

static struct plumb_error *bytes_read(struct pl_mem *mem, pl_addr addr, void *dst, size_t len)
{
	struct made_up *m = (struct made_up *)mem;

	if (addr < m->addr || addr - m->addr > m->len || len > m->len - (addr - m->addr))
		return &pl_err_unreadable;
	memcpy(dst, m->bytes + (addr - m->addr), len);
	return NULL;
}

struct pl_mem *own_bytes(pl_addr addr, const void *bytes, size_t len)
{
	static const struct pl_mem_ops ops = {.read = bytes_read};
	static struct made_up m;

	m = (struct made_up){{&ops}, addr, bytes, len};
	return &m.mem;
}
