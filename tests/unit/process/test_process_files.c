/* SPDX-License-Identifier: Apache-2.0 */
/* How a process sees files, and that a change of it is noticed. */
#include "unit.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process_files.h"

#define SOMEBODY 12345

/* When it is told to, it becomes another program, which ends with its input. */
static pid_t start(int *tell_ret)
{
	int tell[2];
	char go;

	assert_int_equal(pipe(tell), 0);
	pid_t pid = fork();
	if (pid == 0) {
		close(tell[1]);
		dup2(tell[0], 0);
		if (read(0, &go, 1) == 1)
			execlp("cat", "cat", NULL);
		_exit(1);
	}
	close(tell[0]);
	*tell_ret = tell[1];
	return pid;
}

static void a_look_says_whether_the_view_is_as_it_was(void **state)
{
	struct pl_process_files f = {0};
	int tell;
	pid_t pid = start(&tell);

	assert_false(pl_process_files_look(&f, pid));
	assert_int_equal(f.number, 1);
	assert_true(pl_process_files_look(&f, pid));
	assert_int_equal(f.number, 1);
	assert_int_equal(write(tell, "", 1), 1);
	await (!pl_process_files_look(&f, pid))
		;
	assert_int_equal(f.number, 2);
	assert_true(pl_process_files_look(&f, pid));
	close(tell);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(pl_process_files_look(&f, pid));
	assert_int_equal(f.number, 2); /* nobody is there to have another one */
}

struct thread {
	pid_t tid;
	int seen[2], end[2];
};

static void *other_rights(void *arg)
{
	struct thread *t = arg;
	char byte;

	t->tid = (pid_t)syscall(SYS_gettid);
	(void)syscall(SYS_setfsgid, SOMEBODY); /* of this thread alone */
	(void)!write(t->seen[1], "", 1);
	(void)!read(t->end[0], &byte, 1);
	return NULL;
}

static void a_thread_with_rights_of_its_own_sees_other_files(void **state)
{
	struct pl_process_files f = {0};
	struct thread t;
	pthread_t thread;
	char byte;

	if (geteuid() != 0) {
		print_message("only root gives a thread other rights\n");
		skip();
	}
	(void)pl_process_files_look(&f, getpid());
	assert_int_equal(pipe(t.seen), 0);
	assert_int_equal(pipe(t.end), 0);
	assert_int_equal(pthread_create(&thread, NULL, other_rights, &t), 0);
	assert_int_equal(read(t.seen[0], &byte, 1), 1);
	assert_true(pl_process_files_seen_by(&f, getpid(), getpid()));
	assert_false(pl_process_files_seen_by(&f, getpid(), t.tid));
	assert_int_equal(write(t.end[1], "", 1), 1);
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_look_says_whether_the_view_is_as_it_was),
		cmocka_unit_test(a_thread_with_rights_of_its_own_sees_other_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
