/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that have an interpreter's symbols, linked in each of the ways that exist; they say themselves where those
 * are. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"
#include "image.h"
#include "proc_file.h"

static struct plumb_error *find_image(pid_t pid, struct pl_python_image *ret)
{
	struct pl_work work = {.most = PL_IMAGE_WORK};
	return pl_python_image_find(pid, &work, ret);
}

static void assert_image(const struct fake *f, const char *file, bool with_code_type)
{
	struct pl_python_image image;
	assert_ok(find_image(f->pid, &image));
	assert_true(image.runtime == f->runtime);
	assert_int_equal(image.runtime_size, 512);
	assert_true(image.code_type == (with_code_type ? f->code_type : 0));
	assert_true(image.version == (with_code_type ? f->version : 0));
	assert_true(image.tstate_current == 0 && image.interp_head == 0);
	assert_string_equal(strrchr(image.path, '/') + 1, file);
}

static struct fake start(const char *name)
{
	char path[512];
	return fake_start(fake_path(name, path, sizeof path), NULL);
}

static void assert_program(const char *program, const char *file, bool with_code_type)
{
	struct fake f = start(program);
	assert_image(&f, file, with_code_type);
	fake_end(&f);
}

static void an_executable_that_exports(void **state)
{
	assert_program("fake_exported", "fake_exported", true);
}

static void an_executable_at_a_fixed_address(void **state)
{
	assert_program("fake_fixed", "fake_fixed", true);
}

static void an_executable_that_hides_all_but_its_symbol_table(void **state)
{
	assert_program("fake_hidden", "fake_hidden", true);
}

static void a_stripped_executable_with_only_the_section(void **state)
{
	assert_program("fake_section", "fake_section", false);
}

static void a_shared_libpython(void **state)
{
	assert_program("fake_shared", "libpython9.9.so", true);
}

static void a_program_with_copies_of_library_data(void **state)
{
	assert_program("fake_copies", "libpython9.9.so", true);
}

static void a_host_whose_library_has_another_name(void **state)
{
	assert_program("fake_embedded", "libhost.so", true);
}

static void a_library_with_copies_does_not_win(void **state)
{
	assert_program("fake_decoyed", "fake_decoyed", true);
}

static void the_name_tells_the_version(void **state)
{
	struct pl_python_image image;
	struct fake f = start("fake_shared");
	assert_ok(find_image(f.pid, &image));
	assert_int_equal(image.name_version, 0x090900);
	fake_end(&f);
}

static void assert_refused(pid_t pid, enum plumb_error_code code, const char *part)
{
	struct pl_python_image image;
	struct plumb_error *err = find_image(pid, &image);
	if (plumb_error_code(err) != code || !strstr(plumb_error_message(err), part))
		fail_msg("got %s: \"%s\", wanted \"%s\"", plumb_error_name(plumb_error_code(err)),
			 plumb_error_message(err), part);
	plumb_error_destroy(err);
}

static void another_program_is_named(void **state)
{
	struct fake f = start("fake_plain");
	assert_refused(f.pid, PLUMB_ERR_NOT_PYTHON, "/fake_plain, not Python");
	fake_end(&f);
	assert_refused(0x3ffffff0, PLUMB_ERR_NO_PROCESS, "there is no process");
}

static void a_zombie_has_ended(void **state)
{
	siginfo_t info;
	struct fake f = start("fake_exported");
	kill(f.pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)f.pid, &info, WEXITED | WNOWAIT), 0);
	assert_refused(f.pid, PLUMB_ERR_NO_PROCESS, "has ended");
	waitpid(f.pid, NULL, 0);
}

static void *wait_for_death(void *arg)
{
	pause();
	return NULL;
}

static bool is_zombie(pid_t pid)
{
	char status[2048];
	const char *found =
		pl_proc_file(pid, "status", status, sizeof status) > 0 ? pl_proc_status_field(status, "State") : NULL;
	return found && *found == 'Z';
}

static void a_main_thread_that_left_the_others_does_not_hide_the_program(void **state)
{
	pid_t pid = fork();
	if (pid == 0) {
		pthread_t thread;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (pthread_create(&thread, NULL, wait_for_death, NULL) != 0)
			_exit(1);
		syscall(SYS_exit, 0);
	}
	await (is_zombie(pid))
		continue;
	assert_refused(pid, PLUMB_ERR_NOT_PYTHON, "/test_os_image, not Python");
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_kernel_thread_is_no_program(void **state)
{
	char comm[32] = "";
	FILE *file = fopen("/proc/2/comm", "re");
	if (!file || !fgets(comm, sizeof comm, file) || strcmp(comm, "kthreadd\n") != 0) {
		print_message("no kernel threads to be seen here\n");
		skip();
	}
	fclose(file);
	assert_refused(2, PLUMB_ERR_NOT_PYTHON, "is the kernel thread kthreadd");
}

struct copy {
	char dir[64], program[128], library[128], update[128];
};

static void copy_file(const char *name, const char *to)
{
	char from[512];
	struct stat st;
	int in = open(fake_path(name, from, sizeof from), O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	assert_true(in >= 0 && out >= 0 && fstat(in, &st) == 0);
	assert_int_equal(sendfile(out, in, NULL, (size_t)st.st_size), st.st_size);
	fchmod(out, 0755);
	close(in);
	close(out);
}

/* A new folder with a copy of @p program in it. */
static struct copy make_copy(const char *program)
{
	struct copy c = {.dir = "/tmp/plumb-image-XXXXXX"};
	assert_non_null(mkdtemp(c.dir));
	chmod(c.dir, 0777); /* whoever we become may delete in it */
	snprintf(c.program, sizeof c.program, "%s/re named", c.dir);
	snprintf(c.library, sizeof c.library, "%s/libpython9.9.so", c.dir);
	snprintf(c.update, sizeof c.update, "%s/update", c.dir);
	copy_file(program, c.program);
	return c;
}

static void a_deleted_executable(void **state)
{
	struct copy c = make_copy("fake_exported");
	struct fake f = fake_start(c.program, NULL);
	assert_image(&f, "re named", true);
	unlink(c.program);
	assert_image(&f, "re named", true);
	fake_end(&f);
	rmdir(c.dir);
}

/* A library that was replaced while the program runs: the usual state after an update. */
static void report_after_update(int out, const void *arg)
{
	struct pl_python_image image = {0};
	const struct copy *c = arg;
	setenv("LD_LIBRARY_PATH", c->dir, 1);
	struct fake f = fake_start(c->program, NULL);
	if (rename(c->update, c->library) != 0)
		dprintf(out, "cannot replace %s ", c->library);
	struct plumb_error *err = find_image(f.pid, &image);
	bool same = image.runtime == f.runtime && image.code_type == f.code_type && image.version == f.version;
	dprintf(out, "%s %s %s", same ? "found" : "lost", image.path, plumb_error_message(err));
	plumb_error_destroy(err);
	fake_end(&f);
	unlink(c->library);
	unlink(c->program);
}

static void a_replaced_library_without_privileges(void **state)
{
	char got[512], want[256];
	struct copy c = make_copy("fake_shared");
	copy_file("libpython9.9.so", c.library);
	copy_file("libhost.so", c.update);
	run_unprivileged(report_after_update, &c, got, sizeof got);
	snprintf(want, sizeof want, "found %s no error", c.library);
	assert_string_equal(got, want);
	assert_int_equal(rmdir(c.dir), 0);
}

/* In a child: map the file, and have it leased; -1 if there is no such thing on this file system. */
static void hold_lease(const char *path, int out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), held = -1;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGIO, SIG_IGN); /* that somebody wants the file: it is not given back */
	if (fd >= 0 && mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) != MAP_FAILED)
		held = fcntl(fd, F_SETLEASE, F_WRLCK);
	(void)!write(out, &held, sizeof held);
	for (;;)
		pause();
}

static pid_t start_with_lease(const char *path)
{
	int fds[2], held = -1;
	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();
	if (pid == 0)
		hold_lease(path, fds[1]);
	assert_int_equal(read(fds[0], &held, sizeof held), sizeof held);
	close(fds[0]);
	close(fds[1]);
	if (held == 0)
		return pid;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return -1;
}

static void a_file_with_a_lease_is_not_waited_for(void **state)
{
	struct copy c = make_copy("fake_plain");
	copy_file("fake_plain", c.library);
	pid_t pid = start_with_lease(c.library);
	if (pid > 0) {
		assert_refused(pid, PLUMB_ERR_NOT_PYTHON, "/test_os_image, not Python");
		/* Had somebody waited, it would be over by now. */
		assert_int_equal(open(c.library, O_RDONLY | O_NONBLOCK | O_CLOEXEC), -1);
		assert_int_equal(errno, EWOULDBLOCK);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
	unlink(c.library);
	unlink(c.program);
	assert_int_equal(rmdir(c.dir), 0);
	if (pid < 0) {
		print_message("no leases on the files of /tmp\n");
		skip();
	}
}

/* Files are looked into, not read as a whole: that is what it may cost. */
static void it_reads_little(void **state)
{
	struct pl_python_image image;
	unsigned long calls = 0, bytes = 0, calls_after = 0, bytes_after = 0;
	struct fake f = start("fake_shared");
	bool told = fake_count_reads(&calls, &bytes);
	assert_ok(find_image(f.pid, &image));
	told = told && fake_count_reads(&calls_after, &bytes_after);
	fake_end(&f);
	if (!told) {
		print_message("this kernel does not count what is read\n");
		skip();
	}
	print_message("%lu calls, %lu bytes\n", calls_after - calls, bytes_after - bytes);
	assert_true(calls_after - calls < 200);
	assert_true(bytes_after - bytes < 50000);
}

#define LARGE_NAME    "libpython9." /* files of that name are copied out of the memory if they have to be */
#define LARGE_SYMBOLS (1u << 20)    /* 24 MB of them */

static void huge_files_are_looked_through_up_to_a_limit(void **state)
{
	struct fake_large l;
	struct pl_python_image image;
	struct pl_work work = {.most = 32u << 20};
	unsigned long calls = 0, bytes = 0, bytes_after = 0;
	fake_large_make(&l, LARGE_NAME, LARGE_SYMBOLS);
	pid_t pid = fake_start_mapping(l.paths, FAKE_LARGE_FILES, 4096);
	bool told = fake_count_reads(&calls, &bytes);
	struct plumb_error *err = pl_python_image_find(pid, &work, &image);
	told = told && fake_count_reads(&calls, &bytes_after);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	fake_large_remove(&l);
	assert_code(err, PLUMB_ERR_NOT_PYTHON);
	assert_true(work.ran_out && work.spent <= work.most);
	if (!told) {
		print_message("this kernel does not count what is read\n");
		skip();
	}
	assert_in_range(bytes_after - bytes, 1, work.most);
}

#define LARGE_BYTES (24ul << 20)

/* Whoever may not use the kernel's links to mapped files has the memory only. */
static void report_memory(int out, const void *arg)
{
	const struct fake_large *l = arg;
	struct pl_python_image image;
	char status[4096];
	pid_t pid = fake_start_mapping(l->paths, FAKE_LARGE_FILES, LARGE_BYTES);
	for (size_t i = 0; i < FAKE_LARGE_FILES; i++)
		unlink(l->paths[i]);
	struct plumb_error *err = find_image(pid, &image);
	const char *most =
		pl_proc_file(0, "status", status, sizeof status) > 0 ? pl_proc_status_field(status, "VmHWM") : NULL;
	dprintf(out, "%s %lu", plumb_error_name(plumb_error_code(err)), most ? strtoul(most, NULL, 10) : 0);
	plumb_error_destroy(err);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void files_are_copied_out_of_memory_one_at_a_time(void **state)
{
	char got[64], code[32];
	unsigned long most_kb = 0;
	struct fake_large l;
	fake_large_make(&l, LARGE_NAME, LARGE_SYMBOLS);
	chmod(l.dir, 0777);
	run_unprivileged(report_memory, &l, got, sizeof got);
	assert_int_equal(rmdir(l.dir), 0);
	assert_int_equal(sscanf(got, "%31s %lu", code, &most_kb), 2);
	assert_string_equal(code, "not-python");
#ifndef __SANITIZE_ADDRESS__ /* it keeps what was freed */
	assert_in_range(most_kb, LARGE_BYTES / 1024, 3 * LARGE_BYTES / 1024);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_executable_that_exports),
		cmocka_unit_test(an_executable_at_a_fixed_address),
		cmocka_unit_test(an_executable_that_hides_all_but_its_symbol_table),
		cmocka_unit_test(a_stripped_executable_with_only_the_section),
		cmocka_unit_test(a_shared_libpython),
		cmocka_unit_test(a_program_with_copies_of_library_data),
		cmocka_unit_test(a_host_whose_library_has_another_name),
		cmocka_unit_test(a_library_with_copies_does_not_win),
		cmocka_unit_test(the_name_tells_the_version),
		cmocka_unit_test(another_program_is_named),
		cmocka_unit_test(a_zombie_has_ended),
		cmocka_unit_test(a_main_thread_that_left_the_others_does_not_hide_the_program),
		cmocka_unit_test(a_kernel_thread_is_no_program),
		cmocka_unit_test(a_deleted_executable),
		cmocka_unit_test(a_replaced_library_without_privileges),
		cmocka_unit_test(a_file_with_a_lease_is_not_waited_for),
		cmocka_unit_test(it_reads_little),
		cmocka_unit_test(huge_files_are_looked_through_up_to_a_limit),
		cmocka_unit_test(files_are_copied_out_of_memory_one_at_a_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
