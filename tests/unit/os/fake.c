/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <elf.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"

#define NOBODY 65534

const char *fake_path(const char *name, char *buf, size_t size)
{
	snprintf(buf, size, "%s/%s", FAKE_DIR, name);
	return buf;
}

static void read_text(int fd, char *buf, size_t size)
{
	size_t len = 0;
	for (ssize_t n; len + 1 < size && (n = read(fd, buf + len, size - 1 - len)) > 0;)
		len += (size_t)n;
	buf[len] = '\0';
}

struct fake fake_start(const char *path, char *const argv[])
{
	int fds[2];
	char text[128], fd_text[16], *const alone[] = {(char *)path, NULL};
	struct fake f = {0};
	assert_int_equal(pipe(fds), 0);
	f.pid = fork();
	assert_true(f.pid >= 0);
	if (f.pid == 0) {
		close(fds[0]);
		snprintf(fd_text, sizeof fd_text, "%d", fds[1]);
		setenv("READY_FD", fd_text, 1);
		execv(path, argv ? argv : alone);
		_exit(127);
	}
	close(fds[1]);
	read_text(fds[0], text, sizeof text);
	close(fds[0]);
	if (sscanf(text, "%lx %lx %lx", &f.runtime, &f.code_type, &f.version) != 3)
		fail_msg("%s did not start", path);
	return f;
}

void fake_end(struct fake *f)
{
	kill(f->pid, SIGKILL);
	assert_int_equal(waitpid(f->pid, NULL, 0), f->pid);
}

static void put_at(int fd, const void *bytes, size_t len, size_t at)
{
	assert_int_equal(pwrite(fd, bytes, len, (off_t)at), len);
}

/* The symbols are in a hole of the file. */
void fake_large_elf(const char *path, size_t symbols)
{
	static const char strings[] = "\0_PyRuntime\0_PyThreadState_Current";
	const size_t table = 4096, len = symbols * sizeof(Elf64_Sym), names = table + len, headers = names + 4096;
	const Elf64_Phdr segment = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = 4096, .p_memsz = 4096};
	const Elf64_Shdr sections[] = {
		{0},
		{.sh_type = SHT_SYMTAB, .sh_offset = table, .sh_size = len, .sh_link = 2},
		{.sh_type = SHT_STRTAB, .sh_offset = names, .sh_size = sizeof strings},
	};
	Elf64_Ehdr head = {.e_ident = ELFMAG,
			   .e_type = ET_DYN,
			   .e_machine = EM_X86_64,
			   .e_phoff = sizeof head,
			   .e_phentsize = sizeof segment,
			   .e_phnum = 1,
			   .e_shoff = headers,
			   .e_shentsize = sizeof *sections,
			   .e_shnum = 3,
			   .e_shstrndx = 2};
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	assert_true(fd >= 0);
	head.e_ident[EI_CLASS] = ELFCLASS64;
	head.e_ident[EI_DATA] = ELFDATA2LSB;
	put_at(fd, &head, sizeof head, 0);
	put_at(fd, &segment, sizeof segment, sizeof head);
	put_at(fd, strings, sizeof strings, names);
	put_at(fd, sections, sizeof sections, headers);
	close(fd);
}

void fake_large_make(struct fake_large *l, const char *name, size_t symbols)
{
	strcpy(l->dir, "/tmp/plumb-large-XXXXXX");
	assert_non_null(mkdtemp(l->dir));
	for (size_t i = 0; i < FAKE_LARGE_FILES; i++) {
		snprintf(l->names[i], sizeof l->names[i], "%s/%s%zu.so", l->dir, name, i);
		fake_large_elf(l->names[i], symbols);
		l->paths[i] = l->names[i];
	}
}

void fake_large_remove(struct fake_large *l)
{
	for (size_t i = 0; i < FAKE_LARGE_FILES; i++)
		unlink(l->names[i]);
	assert_int_equal(rmdir(l->dir), 0);
}

static _Noreturn void map_them(const char *const *paths, size_t n, size_t len, int out)
{
	bool all = true;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < n; i++) {
		int fd = open(paths[i], O_RDONLY | O_CLOEXEC);
		all &= fd >= 0 && mmap(NULL, len, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) != MAP_FAILED;
	}
	(void)!write(out, &all, sizeof all);
	for (;;)
		pause();
}

pid_t fake_start_mapping(const char *const *paths, size_t n, size_t len)
{
	int fds[2];
	bool all = false;
	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		map_them(paths, n, len, fds[1]);
	assert_int_equal(read(fds[0], &all, sizeof all), sizeof all);
	assert_true(all);
	close(fds[0]);
	close(fds[1]);
	return pid;
}

bool fake_count_reads(unsigned long *calls, unsigned long *bytes)
{
	FILE *f = fopen("/proc/self/io", "re");
	bool told = f && fscanf(f, "rchar: %lu wchar: %*u syscr: %lu", bytes, calls) == 2;
	if (f)
		fclose(f);
	return told;
}

static void become_nobody(void)
{
	if (geteuid() != 0)
		return;
	if (setgroups(0, NULL) != 0 || setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0)
		_exit(1);
	prctl(PR_SET_DUMPABLE, 1); /* as after an exec */
}

void run_unprivileged(void (*work)(int out, const void *arg), const void *arg, char *buf, size_t size)
{
	int fds[2], status;
	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(fds[0]);
		become_nobody();
		work(fds[1], arg);
		_exit(0);
	}
	close(fds[1]);
	read_text(fds[0], buf, size);
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}
