/* SPDX-License-Identifier: Apache-2.0 */
/* Which frames of C, C++ and Rust a stack is to show. */
#ifndef PL_NATIVE_FRAMES_H
#define PL_NATIVE_FRAMES_H

enum pl_native_frames {
	PL_NATIVE_NONE,
	PL_NATIVE_CALLED, /* without those that only pass a call on, or run Python code */
	PL_NATIVE_ALL,
};

#endif
