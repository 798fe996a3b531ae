/* SPDX-License-Identifier: Apache-2.0 */
/* The library's lists of formats, as far as the option parser asks for them: the tests of the parser need no library.
 */
#include <plumb/diff.h>
#include <plumb/profile.h>

#define EACH 2

static bool format_at(const struct plumb_format formats[EACH], size_t i, struct plumb_format *ret)
{
	if (i >= EACH)
		return false;
	*ret = formats[i];
	return true;
}

bool plumb_format_at(size_t i, struct plumb_format *ret)
{
	static const struct plumb_format formats[EACH] = {{"text", ".txt", ""}, {"json", ".json", ""}};

	return format_at(formats, i, ret);
}

bool plumb_input_format_at(size_t i, struct plumb_format *ret)
{
	static const struct plumb_format formats[EACH] = {{"plumb", ".plumb", ""}, {"collapsed", ".folded", ""}};

	return format_at(formats, i, ret);
}

bool plumb_diff_format_at(size_t i, struct plumb_format *ret)
{
	static const struct plumb_format formats[EACH] = {{"text", ".txt", ""}, {"svg", ".svg", ""}};

	return format_at(formats, i, ret);
}
