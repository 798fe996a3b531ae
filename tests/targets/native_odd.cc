// SPDX-License-Identifier: Apache-2.0
// Compiled twice, with different names for works().
#include <signal.h>
#include <sys/time.h>

#define NOINLINE __attribute__((noinline))
#define CALLED(result) __asm__ volatile("" : "+r"(result)) // it is a call, and no jump

namespace
{
struct Refused {
	long at;
};
volatile long handled;
char other_stack[1 << 16];
} // namespace

extern "C" {

NOINLINE long WORKS(long n)
{
	volatile long sum = 0;

	for (long i = 0; i < n; i++)
		sum = sum + i;
	return sum;
}

NOINLINE long refuses(long left)
{
	long result;

	if (!left)
		throw Refused{WORKS(200)};
	result = refuses(left - 1);
	CALLED(result);
	return result + 1;
}

// How many of so many exceptions have come through ten frames.
NOINLINE long catches(long times)
{
	long caught = 0;

	for (long i = 0; i < times; i++) {
		try {
			refuses(10);
		} catch (Refused const &refused) {
			caught += refused.at > 0;
		}
	}
	return caught;
}

NOINLINE void handles(int)
{
	WORKS(200000);
	handled = handled + 1;
}

// Until a signal has come so many times, at any instruction; its handler has a stack of its own, or not.
NOINLINE long interrupted(long times, long on_other_stack)
{
	struct sigaction action = {};
	stack_t stack = {};
	itimerval timer = {{0, 500}, {0, 500}}, none = {};
	long sum = 0;

	stack.ss_sp = other_stack;
	stack.ss_size = sizeof other_stack;
	action.sa_handler = handles;
	action.sa_flags = SA_RESTART | (on_other_stack ? SA_ONSTACK : 0);
	if (sigaltstack(&stack, nullptr) || sigaction(SIGALRM, &action, nullptr) || setitimer(ITIMER_REAL, &timer, nullptr))
		return 0;
	for (handled = 0; handled < times;)
		sum += WORKS(10);
	setitimer(ITIMER_REAL, &none, nullptr);
	return sum > 0;
}
}
