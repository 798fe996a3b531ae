/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

static void settings_are_one_number(void **state)
{
	int v = 42;
	assert_true(pl_host_parse_number("2\n", &v) && v == 2);
	assert_true(pl_host_parse_number("-1\n", &v) && v == -1);
	assert_false(pl_host_parse_number("", &v));
	assert_false(pl_host_parse_number("\n", &v));
	assert_false(pl_host_parse_number("1 2\n", &v));
	assert_false(pl_host_parse_number("3x", &v));
	assert_false(pl_host_parse_number("99999999999999999999", &v));
	assert_int_equal(v, -1); /* untouched by what is no number */
}

static void expect_proc(const char *mounts, int hidepid, bool only_pids)
{
	struct pl_proc_mount m = {.hidepid = 99};
	assert_true(pl_host_parse_mounts(mounts, &m));
	assert_int_equal(m.hidepid, hidepid);
	assert_int_equal(m.only_pids, only_pids);
}

static void hidepid_as_number_or_word(void **state)
{
	expect_proc("proc /proc proc rw,relatime 0 0\n", 0, false);
	expect_proc("proc /proc proc rw,hidepid=2 0 0\n", 2, false);
	expect_proc("proc /proc proc rw,gid=7,hidepid=invisible,subset=pid 0 0\n", 2, true);
	expect_proc("proc /proc proc hidepid=ptraceable", 4, false); /* cut off */
	expect_proc("proc /proc proc hidepid=noaccess,rw 0 0\n", 1, false);
	expect_proc("proc /proc proc hidepid=off 0 0\n", 0, false);
	expect_proc("proc /proc proc hidepid=,xhidepid=2,hidepid,subset=pids 0 0\n", 0, false);
}

static void the_mount_that_is_seen_is_the_last_on_proc(void **state)
{
	struct pl_proc_mount m = {.hidepid = 99};
	expect_proc("sysfs /sys sysfs rw 0 0\nproc /proc proc hidepid=2 0 0\nproc /proc proc rw 0 0\n", 0, false);
	expect_proc("proc /proc proc hidepid=1 0 0\nproc /mnt/proc proc hidepid=2 0 0\n", 1, false);
	assert_false(pl_host_parse_mounts("", &m));
	assert_false(pl_host_parse_mounts("\n\n \n", &m));
	assert_false(pl_host_parse_mounts("proc /proc\nproc /proc proc", &m));
	assert_false(pl_host_parse_mounts("x /proc tmpfs hidepid=2 0 0\n", &m));
	assert_false(pl_host_parse_mounts("/proc proc hidepid=2 0 0\n", &m));
	assert_int_equal(m.hidepid, 99);
}

static void containers_by_their_cgroup(void **state)
{
	assert_string_equal(pl_host_parse_cgroup("0::/\n"), "");
	assert_string_equal(pl_host_parse_cgroup(""), "");
	assert_string_equal(pl_host_parse_cgroup("docker"), ""); /* no path */
	assert_string_equal(pl_host_parse_cgroup("0::/user.slice/mydocker.service\n"), "");
	assert_string_equal(pl_host_parse_cgroup("0::/system.slice/docker-0123abcd.scope\n"), "docker");
	assert_string_equal(pl_host_parse_cgroup("1:cpu:/docker/0123\n0::/\n"), "docker");
	assert_string_equal(pl_host_parse_cgroup("0::/kubepods/burstable/pod1/docker/2\n"), "kubernetes");
	assert_string_equal(pl_host_parse_cgroup("0::/machine.slice/libpod-12.scope\n"), "podman");
	assert_string_equal(pl_host_parse_cgroup("0::/lxc/web\n"), "lxc");
}

static void pid_namespaces_by_the_numbers(void **state)
{
	pid_t inner = 7;
	assert_int_equal(pl_host_parse_nspid("Name:\tx\nNSpid:\t4242\n", &inner), 1);
	assert_int_equal(inner, 4242);
	assert_int_equal(pl_host_parse_nspid("NSpid:\t4242\t17\t1\nNSsid:\t9\n", &inner), 3);
	assert_int_equal(inner, 1);
	inner = 7;
	assert_int_equal(pl_host_parse_nspid("Name:\tNSpid:\t3\n", &inner), 0);
	assert_int_equal(pl_host_parse_nspid("NSpid:\t-4\n", &inner), 0);
	assert_int_equal(pl_host_parse_nspid("NSpid:\t99999999999999999999\n", &inner), 0);
	assert_int_equal(pl_host_parse_nspid("NSpid:", &inner), 0);
	assert_int_equal(inner, 7);
}

static void run_counters_that_stand_still_do_not_count(void **state)
{
	assert_true(pl_host_parse_schedstat("104244 1348145 2\n"));
	assert_false(pl_host_parse_schedstat("0 0 0\n"));
	assert_false(pl_host_parse_schedstat("1 2\n"));
	assert_false(pl_host_parse_schedstat(""));
	assert_false(pl_host_parse_schedstat("a b c"));
}

static void our_own_status_is_found(void **state)
{
	pid_t inner = 0;
	assert_int_equal(pl_host_own_status("Pid", 10, 0), getpid());
	assert_int_equal(pl_host_own_status("NoSuchKey", 10, 77), 77);
	assert_true(pl_host_nspid(getpid(), gettid(), &inner) >= 1);
	assert_int_equal(pl_host_namespace(getpid(), "pid"), PL_NAMESPACE_SAME);
	assert_int_equal(pl_host_namespace(getpid(), "nonsense"), PL_NAMESPACE_UNKNOWN);
	assert_int_equal(pl_host_sysctl("kernel/no_such_setting", -5), -5);
	assert_true(pl_host_sysctl("kernel/pid_max", -1) > 0);
}

/* A child of ours that may be read may be stopped; it is gone afterwards. */
static void a_child_is_tried_and_collected(void **state)
{
	struct pl_host_trial t = {.readv = -1, .mem = -1, .seize = -1, .pidfd = -1};
	assert_ok(pl_host_try(&t));
	assert_true(t.readv >= 0 && t.mem >= 0 && t.seize >= 0 && t.pidfd >= 0);
	assert_int_equal(t.readv == 0, t.seize == 0);
	char children[64] = "", path[64];
	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	FILE *f = fopen(path, "re");
	if (f) {
		assert_null(fgets(children, sizeof children, f));
		fclose(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_are_one_number),
		cmocka_unit_test(hidepid_as_number_or_word),
		cmocka_unit_test(the_mount_that_is_seen_is_the_last_on_proc),
		cmocka_unit_test(containers_by_their_cgroup),
		cmocka_unit_test(pid_namespaces_by_the_numbers),
		cmocka_unit_test(run_counters_that_stand_still_do_not_count),
		cmocka_unit_test(our_own_status_is_found),
		cmocka_unit_test(a_child_is_tried_and_collected),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
