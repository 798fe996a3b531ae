/* SPDX-License-Identifier: Apache-2.0 */
/* Files are opened with the rights of the process that they are opened for, and afterwards with our own again. */
#include "rights.h"

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stage.h"
#include "proc.h"
#include "proc_file.h"
#include "target_file.h"

#define ORDINARY 65534
#define GROUP	 54321

struct scene {
	char dir[32], theirs[48], ours[48], shared[48], hidden[48];
	pid_t pid;
};

static void make_file(char ret[48], const struct scene *s, const char *name, uid_t uid, gid_t gid, mode_t mode)
{
	snprintf(ret, 48, "%s/%s", s->dir, name);
	int fd = open(ret, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fchown(fd, uid, gid), 0);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

/* A process of an ordinary user, and files of it and of ours. */
static void scene_init(struct scene *s)
{
	stage_word *ready = stage_share(sizeof *ready);
	const gid_t group = GROUP;

	memset(s, 0, sizeof *s);
	strcpy(s->dir, "/tmp/plumb-rights-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	assert_int_equal(chmod(s->dir, 0755), 0);
	make_file(s->theirs, s, "theirs", ORDINARY, ORDINARY, 0400);
	make_file(s->ours, s, "ours", 0, 0, 0600);
	make_file(s->shared, s, "shared", 0, GROUP, 0640);
	make_file(s->hidden, s, "hidden", 0, 0, 0640);
	s->pid = stage_fork();
	if (s->pid == 0) {
		if (setgroups(1, &group) || setresgid(ORDINARY, ORDINARY, ORDINARY) ||
		    setresuid(ORDINARY, ORDINARY, ORDINARY))
			_exit(1);
		stage_set(ready, 1);
		stage_block();
	}
	stage_await(ready, 1);
}

static void scene_deinit(struct scene *s)
{
	const char *const files[] = {s->theirs, s->ours, s->shared, s->hidden};

	stage_kill(s->pid);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		unlink(files[i]);
	rmdir(s->dir);
}

static bool opens_as(pid_t pid, const struct pl_file_view *seen, const char *path)
{
	int fd = pl_target_file_open(pid, seen, path);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool opens(pid_t pid, const char *path)
{
	struct pl_file_view now;

	return pl_file_view_of(pid, &now) && opens_as(pid, &now, path);
}

static uint64_t effective_capabilities(void)
{
	char status[65536];

	assert_true(pl_proc_file(gettid(), "status", status, sizeof status) > 0);
	return pl_proc_status_number(status, "CapEff", 16, 0);
}

static void what_a_status_file_says(void **state)
{
	struct pl_rights r;

	assert_true(
		pl_rights_parse("Name:\tx\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nGroups:\t10 11 12 \nCapEff:\t0\n", &r));
	assert_int_equal(r.uid, 4);
	assert_int_equal(r.gid, 8);
	assert_int_equal(r.group_count, 3);
	assert_int_equal(r.groups[2], 12);
	assert_false(r.more_groups);
	assert_true(pl_rights_parse(
		"Uid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nGroups:\t\nNStgid:\t9\nCapEff:\t000001ffffffffff\n", &r));
	assert_int_equal(r.capabilities, 1 << CAP_DAC_OVERRIDE | 1 << CAP_DAC_READ_SEARCH);
	assert_int_equal(r.group_count, 0);
	assert_false(pl_rights_parse("Uid:\t1\t2\t3\nGid:\t5\t6\t7\t8\nGroups:\t\n", &r));
	assert_false(pl_rights_parse("Uid:\t1\t2\t3\t4\nGroups:\t\n", &r));
	assert_false(pl_rights_parse("Uid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\n", &r));
	assert_false(pl_rights_parse("Uid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nGroups:\t\n", &r));
	assert_false(pl_rights_parse("", &r));
}

static void more_groups_than_are_taken_on(void **state)
{
	char status[8 * PL_RIGHTS_MAX_GROUPS + 200];
	size_t len = (size_t)snprintf(status, sizeof status, "Uid:\t1\t1\t1\t1\nGid:\t1\t1\t1\t1\nGroups:\t");
	struct pl_rights r;

	for (int i = 0; i < PL_RIGHTS_MAX_GROUPS + 20; i++)
		len += (size_t)snprintf(status + len, sizeof status - len, "%d ", i);
	snprintf(status + len, sizeof status - len, "\nCapEff:\t0\n");
	assert_true(pl_rights_parse(status, &r));
	assert_int_equal(r.group_count, PL_RIGHTS_MAX_GROUPS);
	assert_int_equal(r.groups[PL_RIGHTS_MAX_GROUPS - 1], PL_RIGHTS_MAX_GROUPS - 1);
	assert_true(r.more_groups);
}

static void root_reads_for_a_user_what_the_user_may_read(void **state)
{
	struct scene s;
	gid_t before[64], after[64];

	if (geteuid() != 0)
		skip();
	int count = getgroups(64, before);
	scene_init(&s);
	assert_true(opens(s.pid, s.theirs));
	assert_true(opens(s.pid, s.shared));
	assert_false(opens(s.pid, s.hidden));
	assert_false(opens(s.pid, s.ours));
	assert_true(opens(getpid(), s.ours));
	assert_true(opens(getpid(), s.theirs));
	assert_int_equal(setfsuid((uid_t)-1), 0);
	assert_int_equal(setfsgid((gid_t)-1), getegid());
	assert_int_equal(getgroups(64, after), count);
	assert_memory_equal(before, after, (size_t)(count > 0 ? count : 0) * sizeof *before);
	scene_deinit(&s);
}

/* With the rights that were seen, not those of now; and of whoever is another by now, nothing. */
static void what_was_seen_counts(void **state)
{
	struct pl_file_view theirs, mixed;
	struct pl_rights ours;
	struct scene s;

	if (geteuid() != 0)
		skip();
	scene_init(&s);
	assert_true(pl_file_view_of(s.pid, &theirs));
	assert_true(pl_file_view_is_ours(&theirs));
	assert_true(pl_rights_of(getpid(), &ours));
	assert_true(opens_as(s.pid, &theirs, s.theirs));
	mixed = theirs;
	mixed.rights = ours;
	assert_false(opens_as(s.pid, &mixed, s.theirs));
	assert_int_equal(errno, EPERM);
	mixed = theirs;
	mixed.exe_ino++;
	assert_false(opens_as(s.pid, &mixed, s.theirs));
	assert_int_equal(errno, EPERM);
	mixed = theirs;
	mixed.start_ticks++;
	assert_false(opens_as(s.pid, &mixed, s.theirs));
	assert_int_equal(errno, ESRCH);
	int fd = pl_file_open_below("/", &theirs.rights, s.theirs);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(pl_file_open_below("/", &theirs.rights, s.hidden), -1);
	stage_kill(s.pid);
	assert_false(opens_as(s.pid, &theirs, s.theirs));
	assert_int_equal(errno, ESRCH);
	s.pid = stage_fork();
	if (s.pid == 0)
		stage_block();
	scene_deinit(&s);
}

/* The right to look into processes is not one of ids: with it, files of /proc would be open. */
static void no_other_right_is_kept(void **state)
{
	struct pl_rights user, before, after;
	struct pl_own_rights own;

	if (geteuid() != 0)
		skip();
	pl_rights_of_user(ORDINARY, ORDINARY, &user);
	assert_true(pl_rights_of(getpid(), &before));
	assert_true(pl_rights_take(&user, &own));
	int fd = open("/proc/1/environ", O_RDONLY | O_CLOEXEC);
	assert_int_equal(effective_capabilities(), 0);
	pl_rights_give_back(&own);
	assert_int_equal(fd, -1);
	assert_true(pl_rights_of(getpid(), &after));
	assert_true(pl_rights_equal(&before, &after));
	assert_true(effective_capabilities() != 0);
	/* A root that has given them up reads what is its own, and no more. */
	pl_rights_of_user(0, 0, &user);
	user.capabilities = 0;
	assert_true(pl_rights_take(&user, &own));
	assert_int_equal(effective_capabilities(), 0);
	pl_rights_give_back(&own);
}

static bool opens_with(const struct pl_rights *as, const char *path)
{
	int fd = pl_file_open_below("/", as, path);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Whoever is in the group of a file is not one of the others. */
static void a_group_that_is_not_known_can_be_shut_out(void **state)
{
	struct pl_rights user;
	struct scene s;

	if (geteuid() != 0)
		skip();
	scene_init(&s);
	pl_rights_of_user(ORDINARY, ORDINARY, &user);
	assert_true(opens_with(&user, s.theirs));
	assert_int_equal(chmod(s.shared, 0604), 0);
	assert_false(opens_with(&user, s.shared));
	user.more_groups = false;
	assert_true(opens_with(&user, s.shared));
	scene_deinit(&s);
}

static void everybody_is_nobody_in_particular(void **state)
{
	struct pl_rights all;
	struct scene s;

	if (geteuid() != 0)
		skip();
	scene_init(&s);
	pl_rights_of_all(&all);
	assert_false(opens_with(&all, s.theirs)); /* which is nobody's */
	assert_int_equal(chmod(s.ours, 0444), 0);
	assert_true(opens_with(&all, s.ours));
	for (int i = 0; i < 3; i++) {
		assert_int_equal(chmod(s.ours, 0444 & ~(4u << 3 * i)), 0);
		assert_false(opens_with(&all, s.ours));
	}
	scene_deinit(&s);
}

static void of_a_process_that_is_gone_nothing_is_read(void **state)
{
	struct pl_rights r;
	struct pl_file_view view;
	pid_t pid = stage_fork();

	if (pid == 0)
		stage_block();
	stage_kill(pid);
	assert_false(pl_rights_of(pid, &r));
	assert_false(pl_file_view_of(pid, &view));
	assert_false(opens(pid, "/etc/passwd"));
	assert_int_equal(setfsuid((uid_t)-1), geteuid());
}

/* Who is on the way out has no memory, and with it no program, some time before its root and its number are gone. It
 * runs no more code and is nobody else: to whoever asks it has ended. A thread of the kernel is like that all its life.
 */
static void what_has_no_program_any_more_has_ended(void **state)
{
	struct pl_file_view view;
	char comm[16];

	pl_proc_comm(2, 2, comm);
	if (geteuid() != 0 || strcmp(comm, "kthreadd") != 0)
		skip(); /* in a container there is none */
	assert_int_equal(access("/proc/2/root", F_OK), 0);
	assert_false(pl_file_view_of(2, &view));
}

/* "/etc/passwd" is everywhere, but not below that root. */
static void links_stay_below_the_root(void **state)
{
	static const char *const targets[] = {"/etc/passwd", "../../../../../../etc/passwd",
					      "/proc/self/root/etc/passwd"};
	char dir[] = "/tmp/plumb-links-XXXXXX", link[64];
	struct pl_rights ours;

	assert_true(pl_rights_of(getpid(), &ours));
	assert_non_null(mkdtemp(dir));
	snprintf(link, sizeof link, "%s/app.py", dir);
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
		assert_int_equal(symlink(targets[i], link), 0);
		assert_int_equal(pl_file_open_below(dir, &ours, "/app.py"), -1);
		int fd = pl_file_open_below("/", &ours, link);
		assert_true(fd >= 0 || i == 2); /* nor is what the kernel makes up read */
		if (fd >= 0)
			close(fd);
		assert_int_equal(unlink(link), 0);
	}
	assert_int_equal(pl_file_open_below(dir, &ours, "/../../../../etc/passwd"), -1);
	assert_int_equal(rmdir(dir), 0);
}

/* What a process with that root and that current directory calls "m.py". */
static bool opens_from(const char *root, const char *cwd)
{
	stage_word *ready = stage_share(sizeof *ready);
	pid_t pid = stage_fork();

	if (pid == 0) {
		if (chdir(cwd) || chroot(root))
			_exit(1);
		stage_set(ready, 1);
		stage_block();
	}
	stage_await(ready, 1);
	bool ret = opens(pid, "m.py");
	stage_kill(pid);
	return ret;
}

static void a_directory_beside_the_root_is_not_below_it(void **state)
{
	static const char *const made[] = {"", "/a", "/a/b", "/ab"};
	char dir[] = "/tmp/plumb-beside-XXXXXX", paths[4][48], file[64];

	if (geteuid() != 0)
		skip();
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < 4; i++) {
		snprintf(paths[i], sizeof paths[i], "%s%s", dir, made[i]);
		assert_true(i == 0 || mkdir(paths[i], 0755) == 0);
	}
	snprintf(file, sizeof file, "%s/m.py", paths[2]);
	close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
	assert_true(opens_from(paths[1], paths[2]));
	assert_true(opens_from(paths[2], paths[2]));
	assert_true(opens_from("/", paths[2]));
	assert_false(opens_from(paths[1], paths[1]));
	assert_false(opens_from(paths[1], paths[3])); /* not m.py in b */
	unlink(file);
	for (size_t i = 4; i-- > 0;)
		assert_int_equal(rmdir(paths[i]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_status_file_says),
		cmocka_unit_test(more_groups_than_are_taken_on),
		cmocka_unit_test(root_reads_for_a_user_what_the_user_may_read),
		cmocka_unit_test(what_was_seen_counts),
		cmocka_unit_test(no_other_right_is_kept),
		cmocka_unit_test(a_group_that_is_not_known_can_be_shut_out),
		cmocka_unit_test(everybody_is_nobody_in_particular),
		cmocka_unit_test(of_a_process_that_is_gone_nothing_is_read),
		cmocka_unit_test(what_has_no_program_any_more_has_ended),
		cmocka_unit_test(links_stay_below_the_root),
		cmocka_unit_test(a_directory_beside_the_root_is_not_below_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
