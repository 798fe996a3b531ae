/* SPDX-License-Identifier: Apache-2.0 */
/* A program that waits to be looked at. It writes where its symbols are to the descriptor that READY_FD names, and
 * sleeps until it is killed; it dies with the test that started it. Its arguments mean nothing. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

void fake_addresses(unsigned long ret[3]);
int fake_host(void);
extern char PyCode_Type[64];

int main(void)
{
	const char *fd = getenv("READY_FD");
	unsigned long at[3] = {0};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#ifndef WITHOUT_PYTHON
	fake_addresses(at);
#endif
#ifdef NEEDS_HOST
	if (fake_host())
		return 1;
#endif
#ifdef REFERS
	/* A direct reference makes the linker place a copy in the program, which everybody then uses. */
	if ((unsigned long)PyCode_Type != at[1])
		return 1;
#endif
	if (fd) {
		dprintf(atoi(fd), "%lx %lx %lx\n", at[0], at[1], at[2]);
		close(atoi(fd));
	}
	for (;;)
		pause();
}
