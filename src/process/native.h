/* SPDX-License-Identifier: Apache-2.0 */
/* Taking what the native frames of a thread are made of: its registers and its stack. docs/design/013-native-stacks.md
 */
#ifndef PL_NATIVE_H
#define PL_NATIVE_H

#include "demangle.h"
#include "kernel_stack.h"
#include "native_place.h"
#include "resume.h"
#include "thread_clock.h"
#include "frame.h"

/** What was taken of a thread that stood still. Starts as {0}. */
struct pl_native_taken {
	bool taken;
	struct pl_registers regs;
	pl_addr at; /* of the copy of its stack */
	uint8_t *stack;
	size_t len;
	pl_addr cframe;		       /* of its thread state, where evaluations are found by that */
	pl_frame_vec frames;	       /* its Python frames at that moment */
	struct pl_kernel_stack kernel; /* of one that was blocked, if asked for */
};
void pl_native_taken_deinit(struct pl_native_taken *t);
/** How many Python frames were taken. */
size_t pl_native_taken_python(const struct pl_native_taken *t);

struct pl_native {
	struct pl_native_place place;
	const struct pl_py *py;
	struct pl_landing landing;
	struct pl_demangler demangler; /* of whoever shows names */
	bool all;		       /* show plumbing, too */
	bool kernel;		       /* take where in the kernel those are that are blocked */
	size_t steps;		       /* of unwinding, for one thread */
	uint64_t end_ns;	       /* then threads are shown without: Python stacks are not lost for native ones */
};

/** Before a thread is looked at. @p live, @p py: borrowed. @p end_ns: of the monotonic clock. Errors: as
 * pl_native_place_init. */
struct plumb_error *pl_native_create(pid_t pid, struct pl_mem *live, const struct pl_py *py, bool all, uint64_t end_ns,
				     struct pl_native **ret) PLUMB_MUST_CHECK;
void pl_native_destroy(struct pl_native *n);
/** The image of its interpreter; PL_NO_IMAGE: none that we know. */
uint32_t pl_native_image_of_python(const struct pl_native *n);
/** Is the time over? */
bool pl_native_is_late(const struct pl_native *n);

/** Who is taken: a thread that stands still. */
struct pl_native_thread {
	pid_t tid;
	pl_addr cframe;		    /* of its thread state, where evaluations are found by that */
	const pl_frame_vec *frames; /* of Python, as they were read while it stood still; NULL: it has none */
};

/** One that is blocked, of which @p info was told. Whether it stood still throughout is for the caller to see.
 * ret->taken tells whether it could be had; what @p ret held is freed. */
void pl_native_take_blocked(struct pl_native *n, const struct pl_native_thread *t, const struct pl_activity_info *info,
			    struct pl_native_taken *ret);
/** One that we have stopped. */
void pl_native_take_stopped(struct pl_native *n, const struct pl_native_thread *t, struct pl_native_taken *ret);

#endif
