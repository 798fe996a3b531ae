/* SPDX-License-Identifier: Apache-2.0 */
/* Signals to a child for which somebody else may have waited, so that its number may be another process's. Module
 * _plumb; with the GIL.
 *
 * Two processes of one number were started at different times. Who holds a process knows that whoever has its number
 * then has it still when the signal is sent; before Linux 5.3 there is a moment between the look and that. */
#include "profiler.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TO_STARTED 20 /* blanks behind the name, in which there may be any */

const char ext_started_doc[] =
	"started($module, pid, /)\n--\n\n"
	"When that process was, in the kernel's ticks. 0: it is not there, or not seen from here.";
const char ext_signal_child_doc[] = "signal_child($module, pid, started, signo, /)\n--\n\n"
				    "Whether there is one that was started then; an error if it may not be signalled.";

/* What has the name below another root directory may be a pipe. */
static bool read_stat(pid_t pid, char *ret, size_t size)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, ret, size - 1);
	close(fd);
	ret[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static unsigned long long started(pid_t pid)
{
	char stat[1024];
	const char *at = read_stat(pid, stat, sizeof stat) ? strrchr(stat, ')') : NULL;

	for (int i = 0; at && i < TO_STARTED; i++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

static int send_signal(pid_t pid, int held, int signo)
{
	return held < 0 ? kill(pid, signo) : (int)syscall(SYS_pidfd_send_signal, held, signo, NULL, 0);
}

/* -1: errno. */
static int signal_if_started(pid_t pid, unsigned long long when, int signo)
{
	int held = (int)syscall(SYS_pidfd_open, pid, 0);
	bool is_it = when && started(pid) == when;
	int r = is_it ? send_signal(pid, held, signo) : 0, why = errno;

	if (held >= 0)
		close(held);
	errno = why;
	return r < 0 && why == ESRCH ? 0 : r < 0 ? -1 : is_it;
}

PyObject *ext_started(PyObject *module, PyObject *pid)
{
	long number = PyLong_AsLong(pid);

	if (number == -1 && PyErr_Occurred())
		return NULL;
	return PyLong_FromUnsignedLongLong(started((pid_t)number));
}

PyObject *ext_signal_child(PyObject *module, PyObject *args)
{
	unsigned long long when;
	int pid, signo;

	if (!PyArg_ParseTuple(args, "iKi:signal_child", &pid, &when, &signo))
		return NULL;
	int r = signal_if_started(pid, when, signo);
	return r < 0 ? PyErr_SetFromErrno(PyExc_OSError) : PyBool_FromLong(r);
}
