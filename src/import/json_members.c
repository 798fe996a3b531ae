/* SPDX-License-Identifier: Apache-2.0 */
/* Plain members of JSON objects. Layer import; pure but for the strings it adds to the profile. */
#include "json_members.h"

#include <string.h>

/* memcpy: the place may be any. */
static void put_number(const struct pl_json_reader *r, size_t size, uint64_t max, void *to)
{
	uint64_t v;
	uint32_t low;

	if (!pl_json_reader_u64(r, &v) || v > max)
		return;
	low = (uint32_t)v;
	memcpy(to, size == sizeof low ? (void *)&low : (void *)&v, size);
}

static struct plumb_error *put_value(const struct pl_json_reader *r, enum pl_member_kind kind, struct plumb_profile *p,
				     void *to)
{
	uint32_t id = 0;
	struct plumb_error *err;

	if (kind == PL_MEMBER_U32)
		put_number(r, sizeof(uint32_t), INT32_MAX, to);
	else if (kind == PL_MEMBER_U64)
		put_number(r, sizeof(uint64_t), UINT64_MAX, to);
	else if (kind == PL_MEMBER_BOOL && r->token == PL_JSON_BOOL)
		memcpy(to, &r->boolean, sizeof r->boolean);
	if (kind != PL_MEMBER_TEXT || r->token != PL_JSON_STRING)
		return NULL;
	err = pl_profile_string(p, r->str, r->str_len, &id);
	if (!err)
		memcpy(to, &id, sizeof id);
	return err;
}

static const struct pl_member *member_named(const struct pl_json_reader *r, const struct pl_member *members)
{
	while (members->key && !pl_json_reader_is(r, members->key))
		members++;
	return members->key ? members : NULL;
}

struct plumb_error *pl_members_read(struct pl_json_reader *r, const struct pl_member *members, struct plumb_profile *p,
				    void *base)
{
	struct plumb_error *err = NULL;

	if (r->token != PL_JSON_OBJECT)
		return pl_json_reader_fail(r, "an object was expected");
	while (!err) {
		const struct pl_member *m;

		err = pl_json_reader_next(r);
		if (err || r->token == PL_JSON_OBJECT_END)
			break;
		m = member_named(r, members);
		err = pl_json_reader_next(r);
		if (!err && m)
			err = put_value(r, m->kind, p, (char *)base + m->offset);
		if (!err)
			err = pl_json_reader_skip(r);
	}
	return err;
}
