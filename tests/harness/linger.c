/* SPDX-License-Identifier: Apache-2.0 */
/* A library for Python: linger(descriptor) has a child by vfork that lives until a byte can be read. Test code. */
#include <sys/wait.h>
#include <unistd.h>

int linger(int descriptor)
{
	char byte;
	pid_t pid = vfork();

	if (pid == 0) {
		(void)!read(descriptor, &byte, 1);
		_exit(0);
	}
	return waitpid(pid, NULL, 0);
}
