/* SPDX-License-Identifier: Apache-2.0 */
/* Which CPython is this, and is the layout right? Layer: cpython. Pure over pl_mem; any thread.
 *
 * From 3.7 on everything hangs on _PyRuntime; 2.7 and 3.6 have two static words instead (find_interp_head).
 * Order of belief: the cookie of _Py_DebugOffsets (3.13+), the Py_Version word (3.11+), the version in a file name, the
 * size of _PyRuntime, and last each row in turn. Whatever named the layout, it is used only after it has walked a real
 * stack to its end. Reads the target while it runs: a torn stack is tried again, a bounded number of times. */
#include "detect.h"

#include "code.h"
#include "debug_offsets.h"
#include "dict.h"
#include "exceptions.h"
#include "frame.h"
#include "gil_code.h"
#include "minors.h"
#include "pick.h"
#include "text.h"

#include <stdio.h>

#define WALK_TRIES     64
#define LIST_TRIES     8
#define CODES_PER_WALK 48  /* code objects whose type is checked */
#define NAMES_PER_WALK 4   /* ... and whose name */
#define HEAD_DISTANCE  256 /* how far from _PyThreadState_Current the list of interpreters is looked for, in bytes */

/* How the layout was named; a guess must be proved by a stack, a certain one need not wait for Python code to run. */
enum belief { GUESSED, NAMED, CERTAIN };

struct candidate {
	struct pl_py py;
	enum belief belief;
};

static struct plumb_error *not_supported(uint32_t version)
{
	return pl_error(PLUMB_ERR_NOT_SUPPORTED, "CPython %u.%u is not supported", version >> 16, version >> 8 & 0xff);
}

/* Is there a str? Programs name functions as they like: any characters can be in it, or none. */
static bool decodes(struct pl_mem *mem, const struct pl_py *py, pl_addr name)
{
	struct pl_buf text = PL_BUF_INIT(1024);
	struct plumb_error *err = pl_text_read_str(mem, py, name, 256, &text);

	pl_buf_deinit(&text);
	return !err;
}

/* Is @p type the type of code objects? Its C name says so. */
static bool is_code_type(struct pl_mem *mem, const struct pl_py *py, pl_addr type)
{
	pl_addr name;
	char text[5];

	return pl_pointer_ok(type) && !pl_mem_read_u64(mem, type + py->layout.type.tp_name, &name) &&
	       !pl_mem_read(mem, name, text, sizeof text) && !memcmp(text, "code", sizeof text);
}

/* All frames run code objects of one type; returns what is wrong, NULL if nothing. */
static const char *check_codes(struct pl_mem *mem, struct pl_py *py, const pl_frame_vec *frames)
{
	pl_addr type = py->code_type;
	size_t codes = 0;

	for (size_t i = 0; i < frames->len && codes < CODES_PER_WALK; i++) {
		struct pl_code_proof proof;
		if (frames->data[i].kind == PL_FRAME_SHIM)
			continue;
		if (pl_code_proof_read(mem, py, frames->data[i].code, &proof))
			return "a frame's code is not a code object";
		if (!type)
			type = proof.type;
		if (proof.type != type)
			return "the code objects of a stack have different types";
		if (codes++ < NAMES_PER_WALK && !decodes(mem, py, proof.name))
			return "the name of a code object does not decode";
	}
	if (codes && !py->code_type) {
		if (!is_code_type(mem, py, type))
			return "the type of code objects is not named 'code'";
		py->code_type = type;
	}
	return NULL;
}

/* The stack of one thread. *frames_ret: how many frames it has. Returns what is wrong, NULL if nothing. */
static const char *check_stack(struct pl_mem *mem, struct pl_py *py, pl_addr tstate, pl_frame_vec *frames,
			       size_t *frames_ret)
{
	struct pl_tstate ts;
	pl_addr root;

	pl_vec_clear(frames);
	if (pl_tstate_read(mem, py, tstate, &ts))
		return "a thread state is not readable";
	if (pl_frame_walk(mem, py, &ts, NULL, frames, &root) && frames->len < PL_MAX_FRAMES)
		return "no stack walks to its end"; /* one that is deeper than any that is walked proves as much */
	*frames_ret = frames->len;
	return check_codes(mem, py, frames);
}

/* Stacks change while they are read: threads in turn, the oldest (main) first, until one of them was whole. That none
 * was is no contradiction yet, also if all tries met the same: a thread can lose its CPU between the two instructions
 * that link a frame, and stands there for milliseconds. */
static struct plumb_error *check_stacks(struct pl_mem *mem, struct candidate *c, const pl_tstate_vec *threads)
{
	pl_frame_vec frames = {0};
	const char *wrong = NULL;
	size_t len = 0, tries = WALK_TRIES > threads->len ? WALK_TRIES : threads->len;
	bool empty = true, proved = false;

	if (!threads->len)
		return &pl_err_not_ready;
	for (size_t i = 0; i < tries && !proved; i++) {
		size_t which = threads->len - 1 - i % threads->len;
		const char *fault = check_stack(mem, &c->py, threads->data[which].addr, &frames, &len);
		if (fault || len)
			empty = false;
		if (fault)
			wrong = fault;
		proved = !fault && len;
	}
	pl_vec_deinit(&frames);
	if (proved)
		return NULL;
	if (!empty)
		return pl_error_hint(pl_error(PLUMB_ERR_STALE, "%s", wrong ? wrong : "no stack walks to its end"),
				     "try again: the stacks may have changed too fast, or this build of Python is "
				     "another than it says");
	/* No thread runs Python code just now: an embedding program, or the first or last moment of any. */
	return c->belief == CERTAIN && c->py.code_type ? NULL : &pl_err_not_ready;
}

/* Every thread of the interpreter must point back to it. */
static struct plumb_error *list_threads_once(struct pl_mem *mem, const struct pl_py *py, struct pl_interp *interp,
					     pl_tstate_vec *threads)
{
	pl_addr head;
	struct plumb_error *err = pl_interp_head(mem, py, &head);

	if (!err)
		err = pl_interp_read(mem, py, head, interp);
	if (err == &pl_err_corrupt)
		return pl_error(PLUMB_ERR_CORRUPT, "interpreters.head is not an interpreter");
	if (err)
		return err;
	if (!interp->threads_head)
		return &pl_err_not_ready;
	err = pl_tstate_list(mem, py, interp, threads, NULL);
	if (err == &pl_err_corrupt)
		return pl_error(PLUMB_ERR_CORRUPT, "a thread does not belong to its interpreter");
	return err;
}

/* The newest thread may end between the two readings: then another one is the newest. */
static struct plumb_error *list_threads(struct pl_mem *mem, const struct pl_py *py, struct pl_interp *interp,
					pl_tstate_vec *threads)
{
	for (int i = 0; i < LIST_TRIES; i++) {
		pl_addr newest = interp->threads_head;

		*interp = (struct pl_interp){0};
		pl_vec_clear(threads);
		struct plumb_error *err = list_threads_once(mem, py, interp, threads);
		if (plumb_error_code(err) != PLUMB_ERR_CORRUPT || (i && interp->threads_head == newest))
			return err;
		plumb_error_destroy(err);
	}
	return pl_error(PLUMB_ERR_STALE, "threads came and went faster than they could be listed");
}

/* sys.hexversion; 0 if it is not found (very early, or a program that tampers with sys.modules). */
static uint64_t read_hexversion(struct pl_mem *mem, const struct pl_py *py, pl_addr modules)
{
	pl_addr obj;
	uint64_t hex;

	if (pl_module_attr(mem, py, modules, "sys", "hexversion", &obj) || pl_long_value(mem, py, obj, &hex))
		return 0;
	return hex;
}

/* 2.7 is built with characters of two bytes or of four, and sys.maxunicode says which; 0 if it says neither. */
static uint32_t read_unicode_bytes(struct pl_mem *mem, const struct pl_py *py, pl_addr modules)
{
	pl_addr obj;
	uint64_t highest;

	if (pl_module_attr(mem, py, modules, "sys", "maxunicode", &obj) || pl_long_value(mem, py, obj, &highest))
		return 0;
	return highest == 0xffff ? 2 : highest == 0x10ffff ? 4 : 0;
}

/* What the interpreter's modules say: the exact version where only the minor is known, and the address of None. 3.8
 * to 3.10 are so alike that a stack walks with any of their rows: a guess needs this answer, the others can do without.
 */
static struct plumb_error *learn_from_modules(struct pl_mem *mem, struct candidate *c, const struct pl_interp *interp)
{
	struct pl_py *py = &c->py;
	pl_addr obj;

	const char *builtins = py->layout.version < PL_PY_VERSION(3, 0, 0) ? "__builtin__" : "builtins";
	if (interp->modules && !pl_module_attr(mem, py, interp->modules, builtins, "None", &obj))
		py->none = obj;
	if (interp->modules && pl_layout_str_is_bytes(&py->layout))
		py->unicode_bytes = read_unicode_bytes(mem, py, interp->modules);
	if ((py->layout.version & 0xff) != PL_MICRO_UNKNOWN)
		return NULL;
	uint64_t hex = interp->modules ? read_hexversion(mem, py, interp->modules) : 0;
	if (hex ? hex >> 16 != py->layout.version >> 8 : c->belief == GUESSED)
		return pl_error(PLUMB_ERR_CORRUPT, "sys.hexversion 0x%llx is not of CPython %u.%u",
				(unsigned long long)hex, py->layout.version >> 16, py->layout.version >> 8 & 0xff);
	if (hex) {
		py->layout.version = (uint32_t)(hex >> 8);
		pl_layout_refine(&py->layout);
	}
	return NULL;
}

static struct plumb_error *prove(struct pl_mem *mem, struct candidate *c)
{
	pl_tstate_vec threads = {0};
	struct pl_interp interp = {0};
	struct plumb_error *err = list_threads(mem, &c->py, &interp, &threads);

	if (!err)
		err = check_stacks(mem, c, &threads);
	if (!err)
		err = learn_from_modules(mem, c, &interp);
	if (!err && c->py.from_debug_offsets)
		pl_exceptions_learn(mem, &c->py, &threads);
	pl_vec_deinit(&threads);
	return err;
}

static struct candidate start_candidate(const struct pl_py_facts *facts, enum belief belief)
{
	return (struct candidate){.py = {.runtime = facts->runtime,
					 .interp_head = facts->interp_head,
					 .tstate_current = facts->tstate_current,
					 .gil_lock = facts->gil_lock,
					 .gil = facts->gil,
					 .gil_bytes = facts->gil_bytes,
					 .code_type = facts->code_type},
				  .belief = belief};
}

/* Does the word at @p at point to an interpreter whose newest thread points back to it? */
static bool heads_interpreters(struct pl_mem *mem, const struct pl_layout *lay, pl_addr at)
{
	pl_addr interp, thread, back;

	return !pl_mem_read_u64(mem, at, &interp) && pl_pointer_ok(interp) &&
	       !pl_mem_read_u64(mem, interp + lay->interp.threads_head, &thread) && pl_pointer_ok(thread) &&
	       !pl_mem_read_u64(mem, thread + lay->tstate.interp, &back) && back == interp;
}

/* 2.7 and 3.6: `interp_head` is a static variable, so a stripped file does not tell where it is. It lies close behind
 * _PyThreadState_Current, which is exported (8 bytes in 2.7, 16 in 3.6): the nearest word that is the head of a list of
 * interpreters is it. */
static struct plumb_error *find_interp_head(struct pl_mem *mem, struct pl_py *py)
{
	if (py->interp_head)
		return NULL;
	for (uint32_t d = 8; d <= HEAD_DISTANCE && !py->interp_head; d += 8) {
		const pl_addr places[] = {py->tstate_current + d, py->tstate_current - d};
		for (size_t i = 0; i < 2 && !py->interp_head; i++) {
			if (heads_interpreters(mem, &py->layout, places[i]))
				py->interp_head = places[i];
		}
	}
	return py->interp_head ? NULL : &pl_err_not_ready;
}

/* 2.7: the GIL is a static variable too. Where neither a symbol nor the code tells it, who waits for it is not known.
 */
static void find_gil_lock(struct pl_mem *mem, const struct pl_py_facts *facts, struct pl_py *py)
{
	uint8_t code[PL_GIL_CODE_BYTES];
	struct plumb_error *err;

	if (py->gil_lock || !facts->threads_begun || py->layout.version >= PL_PY_VERSION(3, 0, 0))
		return;
	err = pl_mem_read(mem, facts->threads_begun, code, sizeof code);
	pl_addr found = err ? 0 : pl_gil_lock_in_code(code, facts->threads_begun), lock;
	if (found)
		err = pl_mem_read_u64(mem, found, &lock);
	if (!err)
		py->gil_lock = found;
	plumb_error_destroy(err);
}

/* The first bytes of _PyRuntime; true if they are the cookie. */
static struct plumb_error *read_header(struct pl_mem *mem, const struct pl_py_facts *facts, bool *cookie_ret)
{
	uint8_t header[24];
	struct plumb_error *err = pl_mem_read(mem, facts->runtime, header, sizeof header);

	if (!err)
		*cookie_ret = pl_debug_offsets_cookie(header, sizeof header);
	return err;
}

static struct plumb_error *detect_by_offsets(struct pl_mem *mem, const struct pl_py_facts *facts, struct pl_py *ret)
{
	struct candidate c = start_candidate(facts, CERTAIN);
	uint8_t bytes[PL_DEBUG_OFFSETS_MAX];
	struct plumb_error *err = pl_mem_read(mem, facts->runtime, bytes, sizeof bytes);

	if (!err)
		err = pl_debug_offsets_parse(bytes, sizeof bytes, &c.py.layout);
	c.py.from_debug_offsets = true;
	if (!err && c.py.layout.read_as)
		c.belief = GUESSED; /* that it is laid out as an older one: a stack has to prove it */
	if (!err)
		err = prove(mem, &c);
	if (!err)
		*ret = c.py;
	return err;
}

/* 0 if nothing names a version. */
static struct plumb_error *named_version(struct pl_mem *mem, const struct pl_py_facts *facts, uint32_t *version_ret,
					 enum belief *belief_ret)
{
	uint32_t hex;
	struct plumb_error *err;

	*version_ret = 0;
	*belief_ret = GUESSED;
	if (facts->version) {
		err = pl_mem_read(mem, facts->version, &hex, sizeof hex);
		if (err)
			return err;
		if (hex >> 24 == 3 && (hex >> 16 & 0xff) >= 11) {
			*version_ret = hex >> 8;
			*belief_ret = CERTAIN;
			return NULL;
		}
	}
	if (facts->name_version) {
		*version_ret = facts->name_version | PL_MICRO_UNKNOWN;
		*belief_ret = NAMED;
	}
	return NULL;
}

static struct plumb_error *try_layout(struct pl_mem *mem, const struct pl_py_facts *facts, const struct pl_layout *lay,
				      uint32_t version, enum belief belief, struct pl_py *ret)
{
	struct candidate c = start_candidate(facts, belief);
	struct plumb_error *err;

	c.py.layout = *lay;
	c.py.layout.version = version;
	if (belief == NAMED && facts->runtime_size && facts->runtime_size == lay->runtime_size)
		c.belief = CERTAIN; /* two witnesses */
	if (!pl_layout_finish(&c.py.layout))
		return pl_error(PLUMB_ERR_CORRUPT, "the row of CPython %u.%u does not fit", version >> 16,
				version >> 8 & 0xff);
	err = facts->runtime ? NULL : find_interp_head(mem, &c.py);
	if (!err)
		err = prove(mem, &c);
	if (!err && !facts->runtime)
		find_gil_lock(mem, facts, &c.py);
	if (!err)
		*ret = c.py;
	return err;
}

/* Another row may fit. One that does not can seem torn, too, while the process runs. */
static bool contradicts(const struct plumb_error *err)
{
	enum plumb_error_code code = plumb_error_code(err);

	return code == PLUMB_ERR_CORRUPT || code == PLUMB_ERR_STALE;
}

/* The row, or, where no stack is to be found with it, what a build with Py_TRACE_REFS makes of it. */
static struct plumb_error *detect_by_row(struct pl_mem *mem, const struct pl_py_facts *facts,
					 const struct pl_layout *row, uint32_t version, enum belief belief,
					 struct pl_py *ret)
{
	struct pl_layout with_refs;
	struct plumb_error *err = try_layout(mem, facts, row, version, belief, ret);

	if (!contradicts(err))
		return err;
	pl_layout_trace_refs(row, &with_refs);
	struct plumb_error *other = try_layout(mem, facts, &with_refs, version, belief, ret);
	plumb_error_destroy(other ? other : err);
	return other ? err : NULL;
}

/* Up to 3.6 there is no _PyRuntime. */
static bool has_runtime(uint32_t version)
{
	return version >= PL_PY_VERSION(3, 7, 0);
}

static struct plumb_error *detect_by_version(struct pl_mem *mem, const struct pl_py_facts *facts, uint32_t version,
					     enum belief belief, struct pl_py *ret)
{
	const struct pl_layout *row = pl_layout_find(version, false);

	const struct pl_minor *minor = pl_minor_of(version);

	if (minor && minor->offsets)
		return pl_error(PLUMB_ERR_CORRUPT, "CPython %u.%u without debug offsets", version >> 16,
				version >> 8 & 0xff);
	if (!row)
		return not_supported(version);
	if (has_runtime(version) != (facts->runtime != 0))
		return pl_error(PLUMB_ERR_CORRUPT, "CPython %u.%u %s _PyRuntime", version >> 16, version >> 8 & 0xff,
				facts->runtime ? "with" : "without");
	return detect_by_row(mem, facts, row, version, belief, ret);
}

/* Of the errors of several rows, "not ready" stands only if every row says so: a wrong row reads zeros too. One that
 * may fit at the next try stands before those that cannot. */
static struct plumb_error *merge_errors(struct plumb_error *a, struct plumb_error *b)
{
	if (!a || plumb_error_code(a) == PLUMB_ERR_NOT_READY) {
		plumb_error_destroy(a);
		return b;
	}
	if (plumb_error_code(b) == PLUMB_ERR_STALE) {
		plumb_error_destroy(a);
		return b;
	}
	plumb_error_destroy(b);
	return a;
}

/* Nothing names the version: each row whose _PyRuntime has the right size, or, when the size is unknown or no row has
 * it, each. */
static struct plumb_error *detect_by_trial(struct pl_mem *mem, const struct pl_py_facts *facts, bool by_size,
					   struct pl_py *ret)
{
	struct plumb_error *kept = NULL;
	size_t count;
	const struct pl_layout *rows = pl_layout_rows(&count);

	for (size_t i = 0; i < count; i++) {
		const struct pl_layout *row = &rows[i];
		if (has_runtime(row->version) != (facts->runtime != 0) || pl_layout_find(row->version, false) != row ||
		    (by_size && row->runtime_size != facts->runtime_size))
			continue;
		struct plumb_error *err =
			detect_by_row(mem, facts, row, row->version | PL_MICRO_UNKNOWN, by_size ? NAMED : GUESSED, ret);
		if (!err) {
			plumb_error_destroy(kept);
			return NULL;
		}
		if (plumb_error_code(err) == PLUMB_ERR_TARGET_EXITED) {
			plumb_error_destroy(kept);
			return err;
		}
		kept = merge_errors(kept, err);
	}
	if (kept || by_size)
		return kept ? kept : pl_error(PLUMB_ERR_CORRUPT, "no known CPython has a _PyRuntime of this size");
	return pl_error(PLUMB_ERR_CORRUPT, "no known CPython layout fits");
}

static struct plumb_error *detect_unnamed(struct pl_mem *mem, const struct pl_py_facts *facts, struct pl_py *ret)
{
	struct plumb_error *err;

	if (facts->runtime_size) {
		err = detect_by_trial(mem, facts, true, ret);
		if (!contradicts(err))
			return err;
		plumb_error_destroy(err);
	}
	return detect_by_trial(mem, facts, false, ret);
}

struct plumb_error *pl_py_detect(struct pl_mem *mem, const struct pl_py_facts *facts, struct pl_py *ret)
{
	uint32_t version;
	enum belief belief;
	bool cookie = false;
	struct plumb_error *err;

	if (!facts->runtime && !facts->tstate_current)
		return pl_error(PLUMB_ERR_NOT_PYTHON, "the process has no CPython runtime");
	err = facts->runtime ? read_header(mem, facts, &cookie) : NULL;
	if (err)
		return err;
	if (cookie)
		return detect_by_offsets(mem, facts, ret);
	err = named_version(mem, facts, &version, &belief);
	if (err)
		return err;
	return version ? detect_by_version(mem, facts, version, belief, ret) : detect_unnamed(mem, facts, ret);
}

const char *pl_py_version_text(const struct pl_py *py, char buf[static PL_VERSION_TEXT])
{
	uint32_t v = py->layout.version, known = py->layout.read_as;
	const char *t = py->layout.free_threaded ? "t" : "";
	int len;

	if ((v & 0xff) == PL_MICRO_UNKNOWN)
		len = snprintf(buf, PL_VERSION_TEXT, "%u.%u%s", v >> 16 & 0xff, v >> 8 & 0xff, t);
	else
		len = snprintf(buf, PL_VERSION_TEXT, "%u.%u.%u%s", v >> 16 & 0xff, v >> 8 & 0xff, v & 0xff, t);
	if (known)
		snprintf(buf + len, PL_VERSION_TEXT - (size_t)len, " read as %u.%u", known >> 16 & 0xff,
			 known >> 8 & 0xff);
	return buf;
}
