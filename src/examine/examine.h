/* SPDX-License-Identifier: Apache-2.0 */
/* Examining instead of sampling: what this machine allows us, who a process is and whether we may read it, and which
 * Python is in it. Facts only; what they mean for the user is for the session to say. Any thread. */
#ifndef PL_EXAMINE_H
#define PL_EXAMINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"
#include "vec.h"

enum pl_known { PL_UNKNOWN, PL_YES, PL_NO };

/** Numbers of settings: -1 if there is no such setting or it cannot be read. */
struct pl_host_facts {
	char release[72], machine[72];
	uid_t uid;
	char user[128];
	uint64_t caps; /* effective */
	int yama_scope, perf_paranoid, kptr_restrict, bpf_disabled;
	bool btf;
	int seccomp;					      /* of ourselves: 0 none, 1 strict, 2 filter */
	int readv_errno, mem_errno, seize_errno, pidfd_errno; /* tried on a child; 0: works */
	bool not_dumpable;				      /* we: and so is that child */
	bool no_modules;   /* no security module that judges who reads whom; false also if that cannot be told */
	char modules[200]; /* what can be said of them: "what is left are the security modules of this kernel: bpf" */
	bool proc_mounted, proc_ours, proc_only_pids;
	int hidepid;
	enum pl_known initial_pid_ns, initial_user_ns;
	const char *container; /* who made it, "" if nothing shows one; static */
	bool run_counters;
	uint64_t timer_ns; /* resolution */
	uint64_t files_soft, files_hard;
};

/** Errors: PLUMB_ERR_SYSTEM if nothing can be tried. */
struct plumb_error *pl_examine_host(struct pl_host_facts *ret) PLUMB_MUST_CHECK;

struct pl_process_facts {
	pid_t pid;
	char comm[16];
	uid_t uid;
	char user[128];
	bool not_dumpable, descendant;
	int seccomp; /* 0 none, 1 strict, 2 filter */
	pid_t tracer;
	char tracer_name[16];
	enum pl_known same_pid_ns, same_mnt_ns, same_user_ns;
	pid_t inner_pid;	      /* its number in its own pid namespace, 0 unknown */
	struct plumb_error *refused;  /* NULL: we may read it */
	char cause[256], remedy[256]; /* of `refused` if the kernel refuses, as its hint has them */
};

/** Errors: PLUMB_ERR_NO_PROCESS. Release with pl_process_facts_deinit. */
struct plumb_error *pl_examine_process(pid_t pid, struct pl_process_facts *ret) PLUMB_MUST_CHECK;
void pl_process_facts_deinit(struct pl_process_facts *f);

struct pl_thread_facts {
	pid_t tid;
	char name[128];
	bool read;	/* its stack came out whole */
	bool jit;	/* it runs code that a JIT compiler made */
	uint32_t depth; /* frames */
};

struct pl_python_facts {
	struct plumb_error *error; /* why no Python can be read; NULL: it can */
	bool found;		   /* a file with an interpreter is mapped: the next four are known */
	char path[512];
	bool shared;	/* in a library, not in the program itself */
	bool by_symbol; /* else by the section .PyRuntime */
	bool verified;	/* version and layout are known and agree with a stack: the next two are known */
	char version[40];
	char read_as[8];	 /* "3.15": it is newer than all that are known, and read as that one; else "" */
	bool from_debug_offsets; /* else from the built-in table */
	PL_VEC(struct pl_thread_facts) threads;
};

/** Look for a Python and read each thread's stack, without stopping anything. */
void pl_examine_python(pid_t pid, struct pl_python_facts *ret);
void pl_python_facts_deinit(struct pl_python_facts *f);

#endif
