/* SPDX-License-Identifier: Apache-2.0 */
/* process(): one stack into a tree. Module _trees; with the GIL.
 *
 * The frames are collected first, innermost first, then the tree is walked from its root, and only when all nodes are
 * there is anything counted: an exception leaves no half of a sample behind. */
#include "dicts.h"

#define FRAMES_AT_HAND 96
#define FIRST_CHILDREN 8 /* that are compared before a child is looked up */

enum outcome { FAILED = -1, WHOLE, TRUNCATED, OMITTED, LOST };
static const char *const outcome_names[] = {"whole", "truncated", "omitted", "lost"};

struct step {
	PyObject *frame;
	struct ext_code code;
	PyObject *node; /* in the tree */
};

struct stack {
	struct step at_hand[FRAMES_AT_HAND], *steps;
	size_t count, room;
	bool cut;			  /* there are more frames, which were not asked for */
	Py_ssize_t children_at, count_at; /* in nodes */
};

struct rules {
	PyObject *stop;	 /* NULL: no */
	PyObject *omit;	 /* iterable, or a str that is one suffix; NULL: none */
	size_t most;	 /* frames to keep, the innermost */
	bool lose_deep;	 /* a stack with more frames is not taken at all */
	bool mark_cut;	 /* the rest stands below a node of its own */
	PyObject *tally; /* NULL: none */
};

static void stack_init(struct stack *s)
{
	s->steps = s->at_hand;
	s->count = 0;
	s->room = FRAMES_AT_HAND;
	s->cut = false;
	s->children_at = s->count_at = 0;
}

static void stack_deinit(struct stack *s)
{
	for (size_t i = 0; i < s->count; i++) {
		Py_DECREF(s->steps[i].frame);
		Py_XDECREF(s->steps[i].node);
		ext_code_clear(&s->steps[i].code);
	}
	if (s->steps != s->at_hand)
		PyMem_Free(s->steps);
}

static int grow(struct stack *s)
{
	struct step *old = s->steps == s->at_hand ? NULL : s->steps;
	struct step *new = PyMem_Realloc(old, 2 * s->room * sizeof *new);

	if (!new) {
		PyErr_NoMemory();
		return -1;
	}
	if (!old)
		memcpy(new, s->at_hand, sizeof s->at_hand);
	s->steps = new;
	s->room *= 2;
	return 0;
}

/* Takes over the references, whatever comes of it. */
static int push(struct stack *s, PyObject *frame, struct ext_code code)
{
	if (s->count == s->room && grow(s) < 0) {
		Py_DECREF(frame);
		ext_code_clear(&code);
		return -1;
	}
	s->steps[s->count++] = (struct step){.frame = frame, .code = code};
	return 0;
}

static int push_leaf(struct ext_trees *st, struct stack *s, PyObject *frame)
{
	struct ext_code code;

	if (ext_frame_code(st, frame, &code) < 0)
		return -1;
	Py_INCREF(frame);
	return push(s, frame, code);
}

/* 1: it was pushed; 0: there is none, or it is where to stop. */
static int push_caller(struct ext_trees *st, struct stack *s, const struct rules *r)
{
	struct ext_code code;
	PyObject *back;

	if (ext_frame_back(st, s->steps[s->count - 1].frame, &back) < 0)
		return -1;
	if (!back)
		return 0;
	if (ext_frame_code(st, back, &code) < 0) {
		Py_DECREF(back);
		return -1;
	}
	int stops = r->stop ? ext_file_ends_in(st, &code, r->stop) : 0;
	s->cut = stops == 0 && s->count >= r->most;
	if (stops || s->cut) {
		Py_DECREF(back);
		ext_code_clear(&code);
		if (stops < 0 && PyErr_ExceptionMatches(PyExc_TypeError))
			PyErr_Format(PyExc_TypeError, "stop is the end of a file's name, not %R", r->stop);
		return stops < 0 ? -1 : 0;
	}
	return push(s, back, code) < 0 ? -1 : 1;
}

static int omitted_by_any(const struct ext_trees *st, const struct ext_code *code, PyObject *suffixes)
{
	PyObject *iterator = PyObject_GetIter(suffixes), *suffix;
	int found = 0;

	while (iterator && !found && (suffix = PyIter_Next(iterator))) {
		found = ext_file_ends_in(st, code, suffix);
		Py_DECREF(suffix);
	}
	Py_XDECREF(iterator);
	if (!PyErr_Occurred())
		return found;
	if (PyErr_ExceptionMatches(PyExc_TypeError))
		PyErr_Format(PyExc_TypeError, "omit is the end of a file's name, or several, not %R", suffixes);
	return -1;
}

static PyObject *new_node(const struct ext_trees *st, PyObject *identifier, PyObject *description)
{
	return Py_BuildValue("{O:O, O:O, O:{}, O:O}", st->key.count, st->zero, st->key.description, description,
			     st->key.children, st->key.identifier, identifier);
}

/* Add to the children of a node what is described, unless somebody did so meanwhile; takes over @p description. */
static PyObject *add_child(const struct ext_trees *st, PyObject *children, PyObject *identifier, PyObject *description)
{
	PyObject *node = description ? new_node(st, identifier, description) : NULL;
	PyObject *there = node ? ext_add(children, identifier, node) : NULL;

	Py_XDECREF(node);
	Py_XDECREF(description);
	return there;
}

static PyObject *described(const struct ext_trees *st, PyObject *frame)
{
	if (frame)
		return PyObject_CallFunctionObjArgs(st->info_frame, frame, NULL);
	return Py_BuildValue("{O:s, O:s, O:O, O:s}", st->key.filename, "", st->key.name, "<truncated>",
			     st->key.line_number, st->zero, st->key.line, "");
}

static PyObject *children_of(const struct ext_trees *st, struct stack *s, PyObject *node)
{
	PyObject *children = ext_field(node, st->key.children, &s->children_at);

	if (!children)
		return ext_get(node, st->key.children);
	Py_INCREF(children);
	return children;
}

/* A tree mostly has the very identifiers that code objects have here, and most nodes have few children. */
static PyObject *known_child(PyObject *children, PyObject *identifier)
{
	struct ext_entries e;

	if (!ext_entries(children, &e))
		return NULL;
	for (Py_ssize_t i = 0; i < e.count && i < FIRST_CHILDREN; i++)
		if (e.at[i * e.step] == identifier)
			return e.at[i * e.step + 1];
	return NULL;
}

static int find_child(PyObject *children, PyObject *identifier, PyObject **ret)
{
	*ret = known_child(children, identifier);
	if (!*ret)
		return ext_find(children, identifier, ret);
	Py_INCREF(*ret);
	return 0;
}

/* The child with that identifier, perhaps a new one; without a frame the one that stands for frames left out. */
static PyObject *child_of(struct ext_trees *st, struct stack *s, PyObject *parent, PyObject *identifier,
			  PyObject *frame)
{
	PyObject *node, *children = children_of(st, s, parent);

	if (!children)
		return NULL;
	if (find_child(children, identifier, &node) < 0 || node) {
		Py_DECREF(children);
		return node;
	}
	node = add_child(st, children, identifier, described(st, frame));
	Py_DECREF(children);
	return node;
}

static PyObject *cut_node(struct ext_trees *st, struct stack *s, PyObject *root)
{
	PyObject *identifier = PyUnicode_FromString("<truncated>");
	PyObject *node = identifier ? child_of(st, s, root, identifier, NULL) : NULL;

	Py_XDECREF(identifier);
	return node;
}

/* Find or make the nodes of all frames, the outermost below @p top. */
static int find_nodes(struct ext_trees *st, struct stack *s, PyObject *top)
{
	for (size_t i = s->count; i-- > 0;) {
		struct step *step = &s->steps[i];
		PyObject *parent = i + 1 < s->count ? s->steps[i + 1].node : top;

		step->node = child_of(st, s, parent, step->code.identifier, step->frame);
		if (!step->node)
			return -1;
	}
	return 0;
}

static int count_node(const struct ext_trees *st, struct stack *s, PyObject *node)
{
	PyObject *number = ext_field(node, st->key.count, &s->count_at);
	int overflow = 1;
	bool plain = number && PyLong_CheckExact(number);
	long long count = plain ? PyLong_AsLongLongAndOverflow(number, &overflow) : 0;

	if (overflow || count == PY_LLONG_MAX)
		return ext_increment(st, node, st->key.count);
	PyObject *more = PyLong_FromLongLong(count + 1);
	int r = more ? PyDict_SetItem(node, st->key.count, more) : -1;
	Py_XDECREF(more);
	return r;
}

static int count_stack(const struct ext_trees *st, struct stack *s, bool with_leaf)
{
	for (size_t i = s->count; i-- > (with_leaf ? 0 : 1);)
		if (count_node(st, s, s->steps[i].node) < 0)
			return -1;
	return 0;
}

/* @p cut may be NULL. */
static int count_all(const struct ext_trees *st, struct stack *s, PyObject *root, PyObject *cut, bool with_leaf)
{
	ext_trees_begin(true);
	int r = count_node(st, s, root);
	if (r == 0 && cut)
		r = count_node(st, s, cut);
	if (r == 0)
		r = count_stack(st, s, with_leaf);
	ext_trees_end();
	return r;
}

/* Everything that stands above the frames: the root and, if there is one, the node for those left out. */
static int enter(struct ext_trees *st, struct stack *s, PyObject *root, bool mark_cut, bool with_leaf)
{
	PyObject *cut = NULL;

	if (s->cut && mark_cut && !(cut = cut_node(st, s, root)))
		return -1;
	int r = find_nodes(st, s, cut ? cut : root);
	if (r == 0)
		r = count_all(st, s, root, cut, with_leaf);
	Py_XDECREF(cut);
	return r;
}

static int tell(const struct ext_trees *st, PyObject *tally, enum outcome o)
{
	PyObject *key, *before;

	if (!tally)
		return 0;
	key = PyUnicode_InternFromString(outcome_names[o]);
	if (!key)
		return -1;
	before = ext_add(tally, key, st->zero);
	int r = -1;
	if (before) {
		ext_trees_begin(true);
		r = ext_increment(st, tally, key);
		ext_trees_end();
	}
	Py_XDECREF(before);
	Py_DECREF(key);
	return r;
}

static int omits(const struct ext_trees *st, const struct rules *r, const struct ext_code *leaf)
{
	if (!r->omit)
		return 0;
	return PyUnicode_Check(r->omit) ? ext_file_ends_in(st, leaf, r->omit) : omitted_by_any(st, leaf, r->omit);
}

static enum outcome take(struct ext_trees *st, struct stack *s, const struct rules *r, PyObject *frame, PyObject *root,
			 bool with_leaf)
{
	int more;

	if (r->most == 0)
		return LOST;
	if (push_leaf(st, s, frame) < 0)
		return FAILED;
	int omit = omits(st, r, &s->steps[0].code);
	if (omit)
		return omit < 0 ? FAILED : OMITTED;
	while ((more = push_caller(st, s, r)) > 0)
		continue;
	if (more < 0)
		return FAILED;
	if (s->cut && r->lose_deep)
		return LOST;
	if (enter(st, s, root, r->mark_cut, with_leaf) < 0)
		return FAILED;
	return s->cut ? TRUNCATED : WHOLE;
}

static int depth_limit(PyObject *depth, Py_ssize_t otherwise, Py_ssize_t *ret)
{
	*ret = depth == Py_None ? otherwise : PyNumber_AsSsize_t(depth, NULL);
	if (*ret != -1 || !PyErr_Occurred())
		return 0;
	if (PyErr_ExceptionMatches(PyExc_TypeError))
		PyErr_Format(PyExc_TypeError, "depth is a whole number or None, not %R", depth);
	return -1;
}

/* strict=True is how distributed does it now, strict="2022.12.1" how that release did. */
static int set_depth(struct rules *r, PyObject *depth, PyObject *strict, bool is_strict)
{
	Py_ssize_t n, limit = Py_GetRecursionLimit();

	if (PyUnicode_Check(strict)) {
		if (PyUnicode_CompareWithASCIIString(strict, "2022.12.1")) {
			PyErr_Format(PyExc_ValueError, "strict is False, True or \"2022.12.1\", not %R", strict);
			return -1;
		}
		r->lose_deep = true;
		if (depth_limit(depth, limit - 50, &n) < 0)
			return -1;
		r->most = n > 0 ? (size_t)n : 0;
		return 0;
	}
	r->mark_cut = !is_strict;
	if (depth_limit(depth, !is_strict ? PY_SSIZE_T_MAX : limit / 4 < 100 ? limit / 4 : 100, &n) < 0)
		return -1;
	r->most = n > 0 ? (size_t)n + 1 : 1;
	return 0;
}

static int set_omit(struct rules *r, PyObject *omit, bool is_strict)
{
	r->omit = omit == Py_None ? NULL : omit;
	if (!r->omit || !PyUnicode_Check(omit) || !is_strict) {
		Py_XINCREF(r->omit);
		return 0;
	}
	/* A str is a collection of letters to the original. */
	r->omit = PySequence_Tuple(omit);
	return r->omit ? 0 : -1;
}

const char ext_process_doc[] =
	"process($module, /, frame, child, state, stop=None, omit=(), depth=None,\n"
	"        *, strict=False, tally=None)\n--\n\n"
	"Count the stack of a frame in the tree `state`, outermost function first.\n\n"
	"child   not None: the innermost function itself is not counted, and its node is returned\n"
	"stop    suffix of a file name: that frame and its callers are left out\n"
	"omit    suffixes of file names: a stack whose innermost frame is in one of them is not counted at all\n"
	"depth   frames beside the innermost one to keep; what is outside stands in a node <truncated>. None: all\n"
	"strict  True: as distributed does it now (100 frames, no such node; a str for omit is taken letter by "
	"letter);\n"
	"        \"2022.12.1\": as that release did (a stack that is too deep is lost)\n"
	"tally   a dict that is told what became of the stack: whole, truncated, omitted or lost";

static PyObject *take_into(struct ext_trees *st, const struct rules *r, PyObject *frame, PyObject *child,
			   PyObject *root)
{
	struct stack s;
	PyObject *result = NULL;

	stack_init(&s);
	enum outcome o = take(st, &s, r, frame, root, child == Py_None);
	if (o != FAILED && tell(st, r->tally, o) == 0) {
		bool taken = o == WHOLE || o == TRUNCATED;
		result = taken && child != Py_None ? s.steps[0].node : Py_None;
		Py_INCREF(result);
	}
	stack_deinit(&s);
	return result;
}

PyObject *ext_process(PyObject *module, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"frame", "child", "state", "stop", "omit", "depth", "strict", "tally", NULL};
	PyObject *frame, *child, *root, *stop = Py_None, *omit = Py_None, *depth = Py_None, *strict = Py_False;
	PyObject *tally = Py_None;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO|OOO$OO:process", names, &frame, &child, &root, &stop, &omit,
					 &depth, &strict, &tally))
		return NULL;
	if (frame == Py_None) { /* the class of error is that of distributed */
		PyErr_SetString(PyExc_AttributeError, "frame is None: there is no such thread, or it has ended");
		return NULL;
	}
	if (tally != Py_None && !PyMapping_Check(tally)) {
		PyErr_Format(PyExc_TypeError, "tally is a dict or None, not %R", tally);
		return NULL;
	}
	struct rules r = {.stop = stop == Py_None ? NULL : stop, .tally = tally == Py_None ? NULL : tally};
	int is_strict = PyObject_IsTrue(strict);
	if (is_strict < 0 || set_depth(&r, depth, strict, is_strict) < 0 || set_omit(&r, omit, is_strict) < 0)
		return NULL;
	struct ext_trees *st = ext_trees_of(module);
	PyObject *result = take_into(st, &r, frame, child, root);
	if (!result)
		ext_explain_tree(st, root);
	Py_XDECREF(r.omit);
	return result;
}
