/* SPDX-License-Identifier: Apache-2.0 */
/* _Py_DebugOffsets into a layout. Layer: cpython. Pure over the bytes given; any thread.
 *
 * The position of each word is fixed for a minor (a table: pl_debug_minor), its value is not: it moves between patch
 * releases. Nothing here is believed: each struct's size must be sane and each offset must lie inside its struct. That
 * the result really describes the process is for detect.c to prove. What the words leave out comes from the row made
 * from the minor's headers, and only if the struct that it belongs to still has the size it had there. */
#include "debug_offsets.h"

#include "layout_data.h"
#include "minors.h"
#include "pick.h"

#define COOKIE	     "xdebugpy"
#define VERSION_AT   8
#define FREE_AT	     16
#define HEADER_BYTES 24

/* How wide the struct of a size word may be; outside, the word is not a size. */
struct size_rule {
	uint8_t word; /* enum pl_debug_word */
	uint32_t min, max;
};

static const struct size_rule size_rules[] = {
	{PL_WORD_RUNTIME_STATE_SIZE, 1024, 64 << 20},
	{PL_WORD_INTERPRETER_STATE_SIZE, 4096, 64 << 20},
	{PL_WORD_THREAD_STATE_SIZE, 200, 1 << 20},
	{PL_WORD_INTERPRETER_FRAME_SIZE, 64, 512},
	{PL_WORD_CODE_OBJECT_SIZE, 128, PL_CODE_MAX},
	{PL_WORD_PYOBJECT_SIZE, 16, 64},
	{PL_WORD_TYPE_OBJECT_SIZE, 256, 4096},
	{PL_WORD_HEAP_TYPE_OBJECT_SIZE, 512, 8192},
	{PL_WORD_DICT_OBJECT_SIZE, 32, 512},
	{PL_WORD_LONG_OBJECT_SIZE, 24, 64},
	{PL_WORD_BYTES_OBJECT_SIZE, 32, 128},
	{PL_WORD_UNICODE_OBJECT_SIZE, 48, 256},
	{PL_WORD_GC_SIZE, 32, 1 << 16},
};

enum need {
	OPTIONAL, /* PL_NONE where the minor lacks it */
	REQUIRED,
	FREE_THREADED_ONLY, /* 0 in a build with a GIL, which means that it is not there */
};

/* One offset: its word, the size word of the struct it lies in, its width, and where it goes. */
struct offset_rule {
	uint8_t word, size_word, width, need;
	uint16_t to; /* offsetof(struct pl_layout, ...) of a uint32_t */
	const char *name;
};

#define RULE(word, size_word, width, need, member)                                                                     \
	{                                                                                                              \
		PL_WORD_##word, PL_WORD_##size_word, width, need, offsetof(struct pl_layout, member), #member          \
	}

static const struct offset_rule offset_rules[] = {
	RULE(RUNTIME_STATE_INTERPRETERS_HEAD, RUNTIME_STATE_SIZE, 8, REQUIRED, runtime.interp_head),
	RULE(INTERPRETER_STATE_ID, INTERPRETER_STATE_SIZE, 8, REQUIRED, interp.id),
	RULE(INTERPRETER_STATE_NEXT, INTERPRETER_STATE_SIZE, 8, REQUIRED, interp.next),
	RULE(INTERPRETER_STATE_THREADS_HEAD, INTERPRETER_STATE_SIZE, 8, REQUIRED, interp.threads_head),
	RULE(INTERPRETER_STATE_THREADS_MAIN, INTERPRETER_STATE_SIZE, 8, OPTIONAL, interp.threads_main),
	RULE(INTERPRETER_STATE_IMPORTS_MODULES, INTERPRETER_STATE_SIZE, 8, REQUIRED, interp.modules),
	RULE(INTERPRETER_STATE_CEVAL_GIL, INTERPRETER_STATE_SIZE, 8, REQUIRED, interp.gil),
	RULE(INTERPRETER_STATE_CODE_OBJECT_GENERATION, INTERPRETER_STATE_SIZE, 8, OPTIONAL, interp.code_generation),
	RULE(INTERPRETER_STATE_TLBC_GENERATION, INTERPRETER_STATE_SIZE, 4, FREE_THREADED_ONLY, interp.tlbc_generation),
	RULE(THREAD_STATE_NEXT, THREAD_STATE_SIZE, 8, REQUIRED, tstate.next),
	RULE(THREAD_STATE_INTERP, THREAD_STATE_SIZE, 8, REQUIRED, tstate.interp),
	RULE(THREAD_STATE_CURRENT_FRAME, THREAD_STATE_SIZE, 8, REQUIRED, tstate.frame),
	RULE(THREAD_STATE_BASE_FRAME, THREAD_STATE_SIZE, 8, OPTIONAL, tstate.base_frame),
	RULE(THREAD_STATE_THREAD_ID, THREAD_STATE_SIZE, 8, REQUIRED, tstate.thread_id),
	RULE(THREAD_STATE_NATIVE_THREAD_ID, THREAD_STATE_SIZE, 8, REQUIRED, tstate.native_thread_id),
	RULE(THREAD_STATE_DATASTACK_CHUNK, THREAD_STATE_SIZE, 24, REQUIRED, tstate.datastack_chunk),
	RULE(THREAD_STATE_HOLDS_GIL, THREAD_STATE_SIZE, 4, OPTIONAL, tstate.holds_gil),
	RULE(THREAD_STATE_GIL_REQUESTED, THREAD_STATE_SIZE, 4, OPTIONAL, tstate.gil_requested),
	RULE(THREAD_STATE_CURRENT_EXCEPTION, THREAD_STATE_SIZE, 8, OPTIONAL, tstate.current_exception),
	RULE(THREAD_STATE_EXC_STATE, THREAD_STATE_SIZE, 16, OPTIONAL, tstate.exc_state),
	RULE(INTERPRETER_FRAME_PREVIOUS, INTERPRETER_FRAME_SIZE, 8, REQUIRED, frame.previous),
	RULE(INTERPRETER_FRAME_EXECUTABLE, INTERPRETER_FRAME_SIZE, 8, REQUIRED, frame.code),
	RULE(INTERPRETER_FRAME_INSTR_PTR, INTERPRETER_FRAME_SIZE, 8, REQUIRED, frame.instr),
	RULE(INTERPRETER_FRAME_LOCALSPLUS, INTERPRETER_FRAME_SIZE, 8, REQUIRED, frame.localsplus),
	RULE(INTERPRETER_FRAME_OWNER, INTERPRETER_FRAME_SIZE, 1, REQUIRED, frame.owner),
	RULE(INTERPRETER_FRAME_TLBC_INDEX, INTERPRETER_FRAME_SIZE, 4, FREE_THREADED_ONLY, frame.tlbc_index),
	RULE(CODE_OBJECT_FILENAME, CODE_OBJECT_SIZE, 8, REQUIRED, code.filename),
	RULE(CODE_OBJECT_NAME, CODE_OBJECT_SIZE, 8, REQUIRED, code.name),
	RULE(CODE_OBJECT_QUALNAME, CODE_OBJECT_SIZE, 8, REQUIRED, code.qualname),
	RULE(CODE_OBJECT_LINETABLE, CODE_OBJECT_SIZE, 8, REQUIRED, code.linetable),
	RULE(CODE_OBJECT_FIRSTLINENO, CODE_OBJECT_SIZE, 4, REQUIRED, code.firstlineno),
	RULE(CODE_OBJECT_CO_CODE_ADAPTIVE, CODE_OBJECT_SIZE, 2, REQUIRED, code.code_bytes),
	RULE(CODE_OBJECT_CO_TLBC, CODE_OBJECT_SIZE, 8, FREE_THREADED_ONLY, code.tlbc),
	RULE(PYOBJECT_OB_TYPE, PYOBJECT_SIZE, 8, REQUIRED, object.type),
	RULE(TYPE_OBJECT_TP_NAME, TYPE_OBJECT_SIZE, 8, REQUIRED, type.tp_name),
	RULE(TYPE_OBJECT_TP_FLAGS, TYPE_OBJECT_SIZE, 8, REQUIRED, type.tp_flags),
	RULE(TYPE_OBJECT_TP_BASICSIZE, TYPE_OBJECT_SIZE, 8, OPTIONAL, type.tp_basicsize),
	RULE(TYPE_OBJECT_TP_DICTOFFSET, TYPE_OBJECT_SIZE, 8, OPTIONAL, type.tp_dictoffset),
	RULE(HEAP_TYPE_OBJECT_HT_CACHED_KEYS, HEAP_TYPE_OBJECT_SIZE, 8, OPTIONAL, type.ht_cached_keys),
	RULE(DICT_OBJECT_MA_KEYS, DICT_OBJECT_SIZE, 8, REQUIRED, dict.keys),
	RULE(DICT_OBJECT_MA_VALUES, DICT_OBJECT_SIZE, 8, REQUIRED, dict.values),
	RULE(LONG_OBJECT_LV_TAG, LONG_OBJECT_SIZE, 8, REQUIRED, longobj.tag),
	RULE(LONG_OBJECT_OB_DIGIT, LONG_OBJECT_SIZE, 4, REQUIRED, longobj.digits),
	RULE(BYTES_OBJECT_OB_SIZE, BYTES_OBJECT_SIZE, 8, REQUIRED, bytes.ob_size),
	RULE(BYTES_OBJECT_OB_SVAL, BYTES_OBJECT_SIZE, 1, REQUIRED, bytes.sval),
	RULE(UNICODE_OBJECT_STATE, UNICODE_OBJECT_SIZE, 4, REQUIRED, unicode.state),
	RULE(UNICODE_OBJECT_LENGTH, UNICODE_OBJECT_SIZE, 8, REQUIRED, unicode.length),
	RULE(UNICODE_OBJECT_ASCIIOBJECT_SIZE, UNICODE_OBJECT_SIZE, 0, REQUIRED, unicode.ascii_size),
	RULE(UNICODE_OBJECT_COMPACTUNICODEOBJECT_SIZE, UNICODE_OBJECT_SIZE, 0, OPTIONAL, unicode.compact_size),
};

bool pl_debug_offsets_cookie(const uint8_t *bytes, size_t len)
{
	return len >= HEADER_BYTES && !memcmp(bytes, COOKIE, 8);
}

/* The table under the reader's eye: bytes and what is where in them. */
struct table {
	const uint8_t *bytes;
	const struct pl_debug_minor *minor;
};

static bool word_exists(const struct table *t, enum pl_debug_word word)
{
	return t->minor->word[word] != 0;
}

static uint64_t word_value(const struct table *t, enum pl_debug_word word)
{
	return pl_pick_u64(t->bytes, t->minor->word[word]);
}

static struct plumb_error *check_sizes(const struct table *t)
{
	for (size_t i = 0; i < sizeof size_rules / sizeof size_rules[0]; i++) {
		const struct size_rule *r = &size_rules[i];
		if (!word_exists(t, r->word))
			continue;
		uint64_t size = word_value(t, r->word);
		if (size < r->min || size > r->max)
			return pl_error(PLUMB_ERR_CORRUPT, "debug offsets: size word %u is %llu", (unsigned)r->word,
					(unsigned long long)size);
	}
	return NULL;
}

static struct plumb_error *check_offset(const struct table *t, enum pl_debug_word size_word, uint64_t at,
					uint32_t width, const char *name)
{
	uint64_t size = word_value(t, size_word);
	uint64_t align = width > 8 ? 8 : width;

	if (at > size || width > size - at || (align && at % align))
		return pl_error(PLUMB_ERR_CORRUPT, "debug offsets: %s is %llu, no place in its struct of %llu bytes",
				name, (unsigned long long)at, (unsigned long long)size);
	return NULL;
}

static struct plumb_error *apply_offset(const struct table *t, const struct offset_rule *r, struct pl_layout *lay)
{
	uint32_t *to = (uint32_t *)((char *)lay + r->to);
	struct plumb_error *err;

	if (!word_exists(t, r->word))
		return NULL; /* what stands there was decided by start_from_reference */
	uint64_t at = word_value(t, r->word);
	if (r->need == FREE_THREADED_ONLY && !lay->free_threaded) {
		*to = PL_NONE;
		return NULL;
	}
	err = check_offset(t, r->size_word, at, r->width, r->name);
	if (!err)
		*to = (uint32_t)at;
	return err;
}

/* A free-threaded build has a GIL too, which a module or the environment may switch on. Unlike its neighbours this word
 * is published as an offset inside the GIL. */
static struct plumb_error *apply_gil_switch(const struct table *t, struct pl_layout *lay)
{
	uint64_t enabled = word_value(t, PL_WORD_INTERPRETER_STATE_GIL_RUNTIME_STATE_ENABLED);

	if (enabled > 64 || enabled & 3)
		return pl_error(PLUMB_ERR_CORRUPT, "debug offsets: the switch of the GIL is not in the GIL");
	lay->gil.enabled = (uint32_t)enabled;
	return NULL;
}

/* The struct of the GIL: published as offsets of the interpreter's own one, used through a pointer to any. */
static struct plumb_error *apply_gil(const struct table *t, struct pl_layout *lay)
{
	uint64_t base = word_value(t, PL_WORD_INTERPRETER_STATE_GIL_RUNTIME_STATE);
	uint64_t locked = word_value(t, PL_WORD_INTERPRETER_STATE_GIL_RUNTIME_STATE_LOCKED);
	uint64_t holder = word_value(t, PL_WORD_INTERPRETER_STATE_GIL_RUNTIME_STATE_HOLDER);
	struct plumb_error *err = check_offset(t, PL_WORD_INTERPRETER_STATE_SIZE, locked, 4, "gil.locked");

	if (!err)
		err = check_offset(t, PL_WORD_INTERPRETER_STATE_SIZE, holder, 8, "gil.last_holder");
	if (err)
		return err;
	if (locked < base || holder < base || locked - base > 64 || holder - base > 64)
		return pl_error(PLUMB_ERR_CORRUPT, "debug offsets: the GIL words are not in the GIL");
	lay->gil.locked = (uint32_t)(locked - base);
	lay->gil.last_holder = (uint32_t)(holder - base);
	return lay->free_threaded ? apply_gil_switch(t, lay) : NULL;
}

static struct plumb_error *apply_gc(const struct table *t, struct pl_layout *lay)
{
	uint64_t base = word_value(t, PL_WORD_INTERPRETER_STATE_GC);
	uint64_t collecting = word_value(t, PL_WORD_GC_COLLECTING);
	uint64_t size = word_value(t, PL_WORD_GC_SIZE);
	struct plumb_error *err = check_offset(t, PL_WORD_INTERPRETER_STATE_SIZE, base, (uint32_t)size, "interp.gc");

	if (!err)
		err = check_offset(t, PL_WORD_GC_SIZE, collecting, 4, "gc.collecting");
	if (err)
		return err;
	lay->interp.gc_collecting = (uint32_t)(base + collecting);
	if (!word_exists(t, PL_WORD_GC_FRAME))
		return NULL;
	uint64_t frame = word_value(t, PL_WORD_GC_FRAME);
	err = check_offset(t, PL_WORD_GC_SIZE, frame, 8, "gc.frame");
	if (!err)
		lay->interp.gc_frame = (uint32_t)(base + frame);
	return err;
}

static struct plumb_error *apply_exception(const struct table *t, struct pl_layout *lay)
{
	if (!word_exists(t, PL_WORD_ERR_STACKITEM_EXC_VALUE) || lay->tstate.exc_state == PL_NONE)
		return NULL;
	uint64_t at = word_value(t, PL_WORD_ERR_STACKITEM_EXC_VALUE);
	if (at > 8)
		return pl_error(PLUMB_ERR_CORRUPT, "debug offsets: exc_value is %llu", (unsigned long long)at);
	lay->err_stackitem.exc_value = (uint32_t)at;
	return NULL;
}

/* Keep of the reference row only what is fixed for a minor: constants, and members of structs whose size is unchanged.
 */
static void start_from_reference(const struct table *t, const struct pl_layout *ref, struct pl_layout *lay)
{
	*lay = *ref;
	lay->runtime_size = (uint32_t)word_value(t, PL_WORD_RUNTIME_STATE_SIZE);
	lay->object.size = (uint32_t)word_value(t, PL_WORD_PYOBJECT_SIZE);
	lay->code.size = (uint32_t)word_value(t, PL_WORD_CODE_OBJECT_SIZE);
	lay->type.size = (uint32_t)word_value(t, PL_WORD_TYPE_OBJECT_SIZE);
	lay->interp.threads_main = lay->interp.code_generation = lay->interp.gc_frame = PL_NONE;
	lay->tstate.base_frame = lay->tstate.holds_gil = lay->tstate.gil_requested = PL_NONE;
	lay->tstate.current_exception = lay->tstate.exc_state = lay->tstate.exc_info = PL_NONE;
	lay->interp.size = (uint32_t)word_value(t, PL_WORD_INTERPRETER_STATE_SIZE);
	if (lay->code.size != ref->code.size) {
		lay->code.version = lay->code.firsttraceable = lay->code.flags = PL_NONE;
		lay->code.localsplusnames = PL_NONE; /* without which no other word of the variables is used */
	}
	if (lay->type.size != ref->type.size) {
		lay->type.tp_basicsize = lay->type.tp_dictoffset = lay->type.ht_cached_keys = PL_NONE;
		lay->type.tp_base = lay->type.tp_dict = PL_NONE;
	}
}

static struct plumb_error *check_unicode(const struct pl_layout *ref, struct pl_layout *lay)
{
	/* 3.13 and 3.14 do not publish the size of PyCompactUnicodeObject: it follows PyASCIIObject, so if that is as
	 * in the reference row, so is this. The bit-field positions are published by none. */
	if (lay->unicode.ascii_size != ref->unicode.ascii_size || lay->unicode.state != ref->unicode.state ||
	    lay->unicode.length + 8 > lay->unicode.ascii_size || lay->unicode.compact_size < lay->unicode.ascii_size)
		return pl_error(PLUMB_ERR_CORRUPT, "debug offsets: unknown layout of str objects");
	lay->unicode.data = lay->unicode.compact_size;
	return NULL;
}

static struct plumb_error *fill_layout(const struct table *t, const struct pl_layout *ref, struct pl_layout *lay)
{
	struct plumb_error *err = check_sizes(t);

	if (err)
		return err;
	start_from_reference(t, ref, lay);
	for (size_t i = 0; i < sizeof offset_rules / sizeof offset_rules[0]; i++) {
		err = apply_offset(t, &offset_rules[i], lay);
		if (err)
			return err;
	}
	/* Not published, but datastack_chunk, _top and _limit are neighbours from 3.11 to 3.15. pl_tstate_read believes
	 * a pair only if it makes sense together with the chunk. */
	lay->tstate.datastack_top = lay->tstate.datastack_chunk + 8;
	if (lay->frame.owner != ref->frame.owner || lay->frame.localsplus != ref->frame.localsplus)
		lay->frame.stacktop = PL_NONE;
	const struct pl_minor *minor = pl_minor_of(ref->version);
	if (word_value(t, PL_WORD_THREAD_STATE_SIZE) == minor->tstate_size)
		lay->tstate.executor = minor->executor;
	/* Nor is this one; it lies among the words in front of current_frame. */
	if (lay->tstate.frame != ref->tstate.frame)
		lay->tstate.attach_state = PL_NONE;
	err = apply_gil(t, lay);
	if (!err)
		err = apply_gc(t, lay);
	if (!err)
		err = apply_exception(t, lay);
	if (!err)
		err = check_unicode(ref, lay);
	if (!err && (lay->bytes.ob_size < lay->object.size || !pl_layout_finish(lay)))
		err = pl_error(PLUMB_ERR_CORRUPT,
			       "debug offsets: the words of a thread or of a code object are no layout");
	return err;
}

static const struct pl_debug_minor *find_minor(uint32_t version)
{
	const struct pl_minor *minor = pl_minor_of(version);

	for (size_t i = 0; minor && i < pl_debug_minor_count; i++)
		if ((minor->version >> 8 & 0xff) == pl_debug_minor[i].minor)
			return &pl_debug_minor[i];
	return NULL;
}

/* Word positions of alphas and betas moved until late: what does not fit is a pre-release, not a damaged process. */
static struct plumb_error *explain_prerelease(struct plumb_error *err, uint32_t hex)
{
	uint32_t level = hex >> 4 & 0xf;

	if (!err || level >= 0xc)
		return err;
	plumb_error_destroy(err);
	return pl_error(PLUMB_ERR_NOT_SUPPORTED, "CPython %u.%u.%u %s %u is a pre-release with another layout",
			hex >> 24, hex >> 16 & 0xff, hex >> 8 & 0xff, level == 0xa ? "alpha" : "beta", hex & 0xf);
}

/* A minor that is newer than all we know may have moved its words: then what stands in their old places is nonsense. */
static struct plumb_error *explain_newer(struct plumb_error *err, const struct pl_layout *lay)
{
	if (!err || !lay->read_as)
		return err;
	struct plumb_error *newer =
		pl_error(PLUMB_ERR_NOT_SUPPORTED, "CPython %u.%u is newer than this plumb knows, and unlike %u.%u (%s)",
			 lay->version >> 16, lay->version >> 8 & 0xff, lay->read_as >> 16, lay->read_as >> 8 & 0xff,
			 plumb_error_message(err));
	plumb_error_destroy(err);
	return newer;
}

struct plumb_error *pl_debug_offsets_parse(const uint8_t *bytes, size_t len, struct pl_layout *ret)
{
	struct table t = {.bytes = bytes};
	struct pl_layout lay;
	struct plumb_error *err;

	if (!pl_debug_offsets_cookie(bytes, len))
		return pl_error(PLUMB_ERR_CORRUPT, "debug offsets: no cookie");
	uint64_t hex = pl_pick_u64(bytes, VERSION_AT), free_threaded = pl_pick_u64(bytes, FREE_AT);
	if (hex > UINT32_MAX || free_threaded > 1)
		return pl_error(PLUMB_ERR_CORRUPT, "debug offsets: version word 0x%llx, free-threaded %llu",
				(unsigned long long)hex, (unsigned long long)free_threaded);
	uint32_t version = (uint32_t)hex >> 8;
	const struct pl_layout *ref = pl_layout_reference(version, free_threaded);
	t.minor = find_minor(version);
	if (!t.minor || !ref)
		return pl_error(PLUMB_ERR_CORRUPT, "debug offsets: version word 0x%x", version);
	if (len < t.minor->size)
		return pl_error(PLUMB_ERR_CORRUPT, "debug offsets: %zu bytes instead of %u", len,
				(unsigned)t.minor->size);
	err = fill_layout(&t, ref, &lay);
	lay.version = version;
	lay.read_as = ref->version >> 8 < version >> 8 ? ref->version & ~0xffu : 0;
	err = explain_newer(explain_prerelease(err, (uint32_t)hex), &lay);
	if (!err)
		*ret = lay;
	return err;
}
