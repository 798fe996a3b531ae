/* SPDX-License-Identifier: Apache-2.0 */
/* Layer os. See demangle.h. The process is made when the first name comes and waits for the next ones.
 *
 *   - It is made without the C library's fork, whose handlers are the program's, and tells nobody of its end.
 *   - It has none of our descriptors, and closes none.
 *   - It may compute, and the kernel refuses it all else: a name that makes it do something does nothing.
 *   - Its stack has room for what a name can ask for, and below that lies memory that is nobody's.
 *   - What it may compute for one name, and for all of them, is measured by its own time on a processor, whatever the
 *     machine does.
 *   - It ends with the thread that has made it. */
#include "demangle.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "demangle_name.h"
#include "own_fd.h"

/* A name may be nested as deep as it is long, and asks at once for 16 bytes times its templates times its references,
 * each of which can count twice: some 21 MiB. What is not used is not there. */
#define STACK_BYTES (64u << 20)
#define GUARD_BYTES (256u << 20)
#define NAME_CPU_US 200000 /* a name of some hundred bytes takes some microseconds */
#define ALL_CPU_S   1	   /* then another process is made, as after a name without end */
#define LOOK_MS	    20	   /* is it still there? */
#define PATIENCE_MS 3000   /* a machine may be busy */
#define FAILED_MAX  3

enum turn { NOBODY, ASKED, ANSWERED };

struct pl_demangle_desk {
	_Atomic uint32_t turn; /* enum turn */
	bool ok;
	char symbol[PL_DEMANGLED], name[PL_DEMANGLED];
	pid_t maker;
};

static void wait_while(struct pl_demangle_desk *desk, enum turn turn, int timeout_ms)
{
	const struct timespec timeout = {.tv_nsec = timeout_ms * 1000000L};

	syscall(SYS_futex, &desk->turn, FUTEX_WAIT, (uint32_t)turn, timeout_ms ? &timeout : NULL, NULL, 0);
}

static void pass(struct pl_demangle_desk *desk, enum turn turn)
{
	atomic_store(&desk->turn, turn);
	syscall(SYS_futex, &desk->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* ---- the process ------------------------------------------------------------------------------------------------- */

/* When its time is over the kernel ends it. */
static void limit_time(long us)
{
	const struct itimerval t = {.it_value = {.tv_usec = us}};

	setitimer(ITIMER_PROF, &t, NULL);
}

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

#define LOAD(field)	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IS(what, skip)	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (what), (skip), 0)
#define ANSWER(verdict) BPF_STMT(BPF_RET | BPF_K, (verdict))

/* From here on: wait, measure time, end. The last three are what checked jumps, and sanitizers at them, ask for: where
 * the stack is, and memory. */
static bool forbid_all_else(void)
{
	struct sock_filter filter[] = {
		LOAD(arch),
		IS(ARCH, 1),
		ANSWER(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		IS(SYS_futex, 7),
		IS(SYS_setitimer, 6),
		IS(SYS_exit_group, 5),
		IS(SYS_exit, 4),
		IS(SYS_sigaltstack, 3),
		IS(SYS_mmap, 2),
		IS(SYS_munmap, 1),
		ANSWER(SECCOMP_RET_ERRNO | EPERM),
		ANSWER(SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

static bool begin_process(const struct pl_demangle_desk *desk)
{
	const struct rlimit all = {ALL_CPU_S, ALL_CPU_S};
	sigset_t over;

	if (syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE) != 0)
		return false;
	prctl(PR_SET_NAME, "plumb-names");
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&over);
	sigaddset(&over, SIGPROF);
	signal(SIGPROF, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &over, NULL);
	return setrlimit(RLIMIT_CPU, &all) == 0 && getppid() == desk->maker && forbid_all_else();
}

static int process_main(void *ctx)
{
	struct pl_demangle_desk *desk = ctx;

	if (!begin_process(desk))
		return 1;
	for (;;) {
		while (atomic_load(&desk->turn) != ASKED)
			wait_while(desk, atomic_load(&desk->turn), 0);
		limit_time(NAME_CPU_US);
		desk->ok = pl_demangle_name(desk->symbol, desk->name, sizeof desk->name);
		limit_time(0);
		pass(desk, ANSWERED);
	}
}

/* ---- who asks ---------------------------------------------------------------------------------------------------- */

static void *map(size_t len, int protection, int flags)
{
	void *p = mmap(NULL, len, protection, MAP_ANONYMOUS | flags, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* An array on the stack can be longer than any guard page, and is written at its lower end. */
static void *map_stack(void)
{
	char *p = map(GUARD_BYTES + STACK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE | MAP_STACK);

	if (!p || mprotect(p + GUARD_BYTES, STACK_BYTES, PROT_READ | PROT_WRITE) == 0)
		return p;
	munmap(p, GUARD_BYTES + STACK_BYTES);
	return NULL;
}

static bool make_room(struct pl_demangler *d)
{
	if (!d->desk)
		d->desk = map(sizeof *d->desk, PROT_READ | PROT_WRITE, MAP_SHARED);
	if (!d->stack)
		d->stack = map_stack();
	return d->desk && d->stack;
}

static bool start(struct pl_demangler *d)
{
	sigset_t all, before;

	if (!make_room(d))
		return false;
	atomic_store(&d->desk->turn, NOBODY);
	d->desk->maker = getpid();
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pid_t pid = clone(process_main, (char *)d->stack + GUARD_BYTES + STACK_BYTES, CLONE_FILES, d->desk);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	d->pid = pid > 0 ? pid : 0;
	return pid > 0;
}

/* It has ended, for whatever reason. */
static bool is_gone(struct pl_demangler *d)
{
	if (d->pid && waitpid(d->pid, NULL, __WALL | WNOHANG) == 0)
		return false;
	d->pid = 0;
	return true;
}

static void end_process(struct pl_demangler *d)
{
	if (!d->pid)
		return;
	kill(d->pid, SIGKILL);
	while (waitpid(d->pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	d->pid = 0;
}

static bool is_answered(struct pl_demangler *d)
{
	uint64_t end = pl_clock_monotonic_ns() + PATIENCE_MS * 1000000ull;

	while (atomic_load(&d->desk->turn) == ASKED) {
		wait_while(d->desk, ASKED, LOOK_MS);
		if (atomic_load(&d->desk->turn) == ASKED && (is_gone(d) || pl_clock_monotonic_ns() >= end))
			return false;
	}
	return true;
}

static bool is_mangled(const char *symbol)
{
	return strncmp(symbol, "_Z", 2) == 0 || strncmp(symbol, "_R", 2) == 0;
}

static bool ask(struct pl_demangler *d, const char *symbol, size_t len)
{
	if (d->failed >= FAILED_MAX || (is_gone(d) && !start(d)))
		return false;
	memcpy(d->desk->symbol, symbol, len + 1);
	pass(d->desk, ASKED);
	if (is_answered(d))
		return d->desk->ok;
	end_process(d);
	d->failed++;
	return false;
}

bool pl_demangle(struct pl_demangler *d, const char *symbol, char buf[static PL_DEMANGLED])
{
	size_t len;

	if (pl_cython_name(symbol, buf, PL_DEMANGLED))
		return true;
	if (!pl_can_demangle() || !is_mangled(symbol) || (len = strnlen(symbol, PL_DEMANGLED)) == PL_DEMANGLED ||
	    !ask(d, symbol, len))
		return false;
	memcpy(buf, d->desk->name, PL_DEMANGLED - 1);
	buf[PL_DEMANGLED - 1] = '\0';
	return *buf;
}

void pl_demangle_or_keep(struct pl_demangler *d, const char *symbol, char buf[static PL_DEMANGLED])
{
	if (pl_demangle(d, symbol, buf))
		return;
	size_t len = strnlen(symbol, PL_DEMANGLED - 1);
	memcpy(buf, symbol, len);
	buf[len] = '\0';
}

void pl_demangler_deinit(struct pl_demangler *d)
{
	end_process(d);
	if (d->desk)
		munmap(d->desk, sizeof *d->desk);
	if (d->stack)
		munmap(d->stack, GUARD_BYTES + STACK_BYTES);
	*d = (struct pl_demangler){0};
}
