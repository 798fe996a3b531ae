/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as JSON: it ends, nests, and what is told of it lies within. What the reader takes, the writer can write;
 * read again, that has the same tokens. */
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "json_reader.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use_number(const struct pl_json_reader *r)
{
	int64_t i = 0;
	uint64_t u = 0;
	double d = 0;
	bool is_i = pl_json_reader_i64(r, &i), is_u = pl_json_reader_u64(r, &u);

	REQUIRE(!is_i || pl_json_reader_double(r, &d));
	REQUIRE(!is_i || !is_u || (i >= 0 && (uint64_t)i == u));
	REQUIRE(!is_i || (i < 0) == (d < 0));
	(void)pl_json_reader_scaled(r, 9, &i);
}

static void write_token(const struct pl_json_reader *r, struct pl_json *j)
{
	static char key[1 << 16];
	size_t len = r->str_len < sizeof key ? r->str_len : sizeof key - 1;

	switch (r->token) {
	case PL_JSON_OBJECT:
		pl_json_object(j);
		break;
	case PL_JSON_OBJECT_END:
		pl_json_object_end(j);
		break;
	case PL_JSON_ARRAY:
		pl_json_array(j);
		break;
	case PL_JSON_ARRAY_END:
		pl_json_array_end(j);
		break;
	case PL_JSON_KEY:
		memcpy(key, r->str, len);
		key[len] = '\0';
		pl_json_key(j, key);
		break;
	case PL_JSON_STRING:
		pl_json_strn(j, r->str, r->str_len);
		break;
	case PL_JSON_NUMBER:
		pl_json_u64(j, 1);
		break;
	case PL_JSON_BOOL:
		pl_json_bool(j, r->boolean);
		break;
	case PL_JSON_NULL:
		pl_json_null(j);
		break;
	default:
		break;
	}
}

/* Tokens up to the end or an error, SIZE_MAX; with @p out they are written again. */
static size_t read_all(const uint8_t *data, size_t size, FILE *out, int *deepest)
{
	struct pl_json_reader r;
	struct pl_json j;
	struct plumb_error *err;
	size_t count = 0;

	pl_json_reader_init(&r, data, size);
	if (out)
		pl_json_init(&j, out, 0);
	do {
		err = pl_json_reader_next(&r);
		if (err)
			break;
		REQUIRE(++count <= size + 1 && r.at <= r.len && r.offset <= r.at);
		REQUIRE(r.depth >= 0 && r.depth <= PL_JSON_DEPTH_MAX);
		if (r.token == PL_JSON_STRING || r.token == PL_JSON_KEY || r.token == PL_JSON_NUMBER)
			REQUIRE(r.str_len <= size);
		if (r.token == PL_JSON_NUMBER)
			use_number(&r);
		*deepest = r.depth > *deepest ? r.depth : *deepest;
		if (out)
			write_token(&r, &j);
	} while (r.token != PL_JSON_END);
	REQUIRE(!err || strstr(plumb_error_message(err), "line ") || plumb_error_code(err) != PLUMB_ERR_CORRUPT);
	plumb_error_destroy(err);
	pl_json_reader_deinit(&r);
	return err ? SIZE_MAX : count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int deepest = 0, again = 0;
	size_t count = read_all(data, size, NULL, &deepest), len;
	char *text;
	FILE *out;

	if (count == SIZE_MAX || deepest >= 60) /* the writer's limit is 64 */
		return 0;
	out = open_memstream(&text, &len);
	REQUIRE(out);
	read_all(data, size, out, &deepest);
	fclose(out);
	REQUIRE(read_all((const uint8_t *)text, len, NULL, &again) == count && again == deepest);
	free(text);
	return 0;
}
