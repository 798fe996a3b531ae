/* SPDX-License-Identifier: Apache-2.0 */
/* What is shown of a file that a process has mapped is what that process could have read: not what we can, as root. */
#include "mapped_functions.h"

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mem_live.h"
#include "stage.h"

#define ORDINARY 65534
#define MAPPED	 4096

static char dir[40], file[64];
static pid_t pid; /* of an ordinary user, which has the file mapped */
static struct pl_file_view seen;
static pl_mapping_vec maps;

static void copy_this_program(void)
{
	static char bytes[1 << 16];
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);

	assert_true(from >= 0 && to >= 0);
	for (ssize_t n; (n = read(from, bytes, sizeof bytes)) > 0;)
		assert_int_equal(write(to, bytes, (size_t)n), n);
	close(from);
	close(to);
}

static const struct pl_mapping *mapping_named(const char *path)
{
	for (size_t i = 0; i < maps.len; i++)
		if (strcmp(maps.data[i].path, path) == 0)
			return &maps.data[i];
	fail_msg("%s is not mapped", path);
	return NULL;
}

static int set_up(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/plumb-shown-XXXXXX");
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chmod(dir, 0755), 0);
	snprintf(file, sizeof file, "%s/library", dir);
	copy_this_program();
	stage_word *ready = stage_share(sizeof *ready);
	pid = stage_fork();
	if (pid == 0) {
		int fd = open(file, O_RDONLY | O_CLOEXEC);

		if (mmap(NULL, MAPPED, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			_exit(1);
		close(fd);
		if (geteuid() == 0 && (setgroups(0, NULL) || setresgid(ORDINARY, ORDINARY, ORDINARY) ||
				       setresuid(ORDINARY, ORDINARY, ORDINARY)))
			_exit(1);
		stage_set(ready, 1);
		stage_block();
	}
	stage_await(ready, 1);
	assert_true(pl_file_view_of(pid, &seen));
	assert_ok(pl_maps_read(pid, &maps));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	stage_kill(pid);
	pl_maps_deinit(&maps);
	chmod(dir, 0755);
	unlink(file);
	rmdir(dir);
	return 0;
}

/* By that mapping, and that view. */
static bool are_shown(const struct pl_mapping *m, const struct pl_file_view *view)
{
	struct pl_work work = {.most = 1u << 30};
	struct pl_mem_live *live;
	struct pl_functions *f;

	assert_ok(pl_mem_live_create(pid, &live));
	const struct pl_mapped_place place = {pid, view, &maps, pl_mem_live_mem(live), &work, NULL};
	struct plumb_error *err = pl_mapped_functions(&place, m, NULL, 0, &f);
	bool shown = !err;

	pl_mem_live_destroy(live);
	plumb_error_destroy(err);
	if (shown)
		pl_functions_destroy(f);
	return shown;
}

/* A program can be executed that may not be read. */
static void a_file_that_the_process_may_not_read_is_not_shown(void **state)
{
	const struct pl_mapping *m = mapping_named(file);

	(void)state;
	assert_true(are_shown(m, &seen));
	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(file, 0711), 0);
	assert_false(are_shown(m, &seen));
	/* Nor what is in memory of it, once its name is gone. */
	struct pl_mapping deleted = *m;
	deleted.deleted = true;
	assert_false(are_shown(&deleted, &seen));
}

/* The number of its inode is chosen by who makes files; where the kernel tells no other device than stat does, as with
 * overlayfs, the process can be asked whether it could have opened the file. */
static void a_file_with_the_same_inode_number_is_another_one(void **state)
{
	struct pl_mapping m = *mapping_named(file);

	(void)state;
	m.start = m.end - 1; /* the kernel has no link to that */
	m.dev_minor++;
	assert_true(are_shown(&m, &seen));
	m.inode++;
	assert_false(are_shown(&m, &seen));
	m.inode--;
	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(dir, 0700), 0);
	assert_false(are_shown(&m, &seen));
	assert_int_equal(chmod(dir, 0755), 0);
	assert_int_equal(chmod(file, 0600), 0);
	assert_false(are_shown(&m, &seen));
}

/* What is mapped at the same addresses may be another program's by now. */
static void of_a_process_that_is_no_longer_who_it_was_nothing_mapped_is_shown(void **state)
{
	struct pl_mapping m = *mapping_named(file);
	const struct pl_mapping *vdso = mapping_named("[vdso]");
	struct pl_file_view other = seen;

	(void)state;
	other.exe_ino++;
	assert_true(are_shown(vdso, &seen));
	assert_false(are_shown(vdso, &other));
	assert_true(are_shown(&m, &other)); /* by its name: it is the very file */
	m.path = (char[]){"/nowhere"};
	if (geteuid() == 0) /* who may follow the kernel's link */
		assert_true(are_shown(&m, &seen));
	assert_false(are_shown(&m, &other));
	m.deleted = true;
	assert_true(are_shown(&m, &seen));
	assert_false(are_shown(&m, &other));
	m.inode++;
	assert_false(are_shown(&m, &seen));
}

/* Who is not root can be nobody else. */
static void rights_that_cannot_be_taken_on_are_those_of_all(void **state)
{
	struct pl_rights others;

	(void)state;
	pl_rights_of_user(ORDINARY - 1, ORDINARY - 1, &others);
	pid_t child = stage_fork();
	if (child == 0) {
		if (geteuid() == 0 && setresuid(ORDINARY, ORDINARY, ORDINARY))
			_exit(1);
		int mine = memfd_create("mine", MFD_CLOEXEC), handle = open(file, O_PATH | O_CLOEXEC);

		if (fchmod(mine, 0600))
			_exit(1);
		if (pl_file_reopen(&others, handle) < 0 || pl_plain_file_open_as(&others, file) < 0 ||
		    pl_file_reopen(NULL, mine) < 0)
			_exit(2);
		_exit(pl_file_reopen(&others, mine) < 0 && errno == EACCES ? 0 : 3);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_file_that_the_process_may_not_read_is_not_shown, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_with_the_same_inode_number_is_another_one, set_up, tear_down),
		cmocka_unit_test_setup_teardown(of_a_process_that_is_no_longer_who_it_was_nothing_mapped_is_shown,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(rights_that_cannot_be_taken_on_are_those_of_all, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
