/* SPDX-License-Identifier: Apache-2.0 */
/* MD5 against the examples of RFC 1321, at the lengths where the padding takes another block. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "md5.h"

static void expect(const char *text, size_t len, const char *want)
{
	uint8_t hash[16];
	char hex[33];

	pl_md5(text, len, hash);
	for (int i = 0; i < 16; i++)
		snprintf(hex + i * 2, 3, "%02x", hash[i]);
	assert_string_equal(hex, want);
}

static void examples_of_the_rfc(void **state)
{
	static const char digits[] = "12345678901234567890123456789012345678901234567890123456789012345678901234567890";

	expect("", 0, "d41d8cd98f00b204e9800998ecf8427e");
	expect("abc", 3, "900150983cd24fb0d6963f7d28e17f72");
	expect("message digest", 14, "f96b697d7cb7938d525a2f31aaf161d0");
	expect(digits, 80, "57edf4a22be3c955ac49da2e2107b67a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(examples_of_the_rfc)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
