/* SPDX-License-Identifier: Apache-2.0 */
/* What a fuzzer holds to be true whatever the input: a trap, which both libFuzzer and the plain test see. */
#ifndef PL_FUZZ_REQUIRE_H
#define PL_FUZZ_REQUIRE_H

#define REQUIRE(condition)                                                                                             \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			__builtin_trap();                                                                              \
	} while (0)

#endif
