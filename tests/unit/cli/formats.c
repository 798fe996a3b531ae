/* SPDX-License-Identifier: Apache-2.0 */
/* The library's list of formats, as far as the option parser asks for it: the tests of the parser need no library. */
#include <plumb/profile.h>

bool plumb_format_at(size_t i, struct plumb_format *ret)
{
	static const struct plumb_format formats[] = {{"text", ".txt", ""}, {"json", ".json", ""}};

	if (i >= sizeof formats / sizeof formats[0])
		return false;
	*ret = formats[i];
	return true;
}

bool plumb_input_format_at(size_t i, struct plumb_format *ret)
{
	static const struct plumb_format formats[] = {{"plumb", ".plumb", ""}, {"collapsed", ".folded", ""}};

	if (i >= sizeof formats / sizeof formats[0])
		return false;
	*ret = formats[i];
	return true;
}
