/* SPDX-License-Identifier: Apache-2.0 */
/* as_bytes() and packed(): a tree as bytes, which are sent to another process and read there in a small part of the
 * time that dicts take. Module _trees; with the GIL.
 *
 * Most nodes of a tree are in the same few hundred lines of functions, each of which is a place: its identifier, its
 * file, name, line and text. The bytes have the number of places, each place once, the number of nodes, and of each
 * node the number of its place, how far its parent comes before it, and its count. A place is its length, and as many
 * bytes: four texts, each after its length, and the number of the line. Numbers have seven bits in a byte, the lowest
 * first; those that may be negative have their sign in the lowest bit. What comes from elsewhere may be anything.
 *
 * Trees of one program have the same places: who reads several of them keeps what it knows of a place by its bytes. */
#include "sums.h"

enum { IDENTIFIER, FILENAME, NAME, LINE, LINE_NUMBER, PARTS };

static int no_memory(void)
{
	PyErr_NoMemory();
	return -1;
}

/* ---- as_bytes() ---- */

struct buffer {
	unsigned char *data;
	size_t size, room;
};

static int reserve(struct buffer *b, size_t more)
{
	size_t room = b->room ? b->room : 256;

	while (room - b->size < more)
		room *= 2;
	unsigned char *data = room > b->room ? PyMem_Realloc(b->data, room) : b->data;
	if (!data)
		return no_memory();
	b->data = data;
	b->room = room;
	return 0;
}

static int put(struct buffer *b, const void *data, size_t size)
{
	if (reserve(b, size) < 0)
		return -1;
	if (size)
		memcpy(b->data + b->size, data, size);
	b->size += size;
	return 0;
}

static int put_number(struct buffer *b, uint64_t n)
{
	if (reserve(b, 10) < 0)
		return -1;
	for (; n >= 0x80; n >>= 7)
		b->data[b->size++] = (unsigned char)(n | 0x80);
	b->data[b->size++] = (unsigned char)n;
	return 0;
}

static int put_signed(struct buffer *b, int64_t n)
{
	return put_number(b, (uint64_t)n << 1 ^ (n < 0 ? UINT64_MAX : 0));
}

static int put_text(struct buffer *b, PyObject *text)
{
	PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
	int r = bytes ? put_number(b, (uint64_t)PyBytes_Size(bytes)) : -1;

	if (r == 0)
		r = put(b, PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes));
	Py_XDECREF(bytes);
	return r;
}

struct writing {
	const struct ext_trees *st;
	PyObject *known; /* numbers of places */
	struct buffer place, places, nodes;
};

static PyObject *place_of(const struct ext_keys *key, const struct ext_sum *row)
{
	PyObject *file = ext_get(row->description, key->filename), *name = ext_get(row->description, key->name);
	PyObject *number = ext_get(row->description, key->line_number), *line = ext_get(row->description, key->line);
	PyObject *place =
		file && name && number && line ? PyTuple_Pack(PARTS, row->identifier, file, name, line, number) : NULL;

	Py_XDECREF(file);
	Py_XDECREF(name);
	Py_XDECREF(number);
	Py_XDECREF(line);
	return place;
}

static int put_place(struct writing *w, PyObject *place)
{
	long long line = PyLong_AsLongLong(PyTuple_GetItem(place, LINE_NUMBER));
	int r = line == -1 && PyErr_Occurred() ? -1 : 0;

	w->place.size = 0;
	for (Py_ssize_t i = 0; r == 0 && i < LINE_NUMBER; i++)
		r = put_text(&w->place, PyTuple_GetItem(place, i));
	if (r < 0 || put_signed(&w->place, line) < 0 || put_number(&w->places, w->place.size) < 0)
		return -1;
	return put(&w->places, w->place.data, w->place.size);
}

/* Which of the places it is, perhaps a new one. */
static int number_of(struct writing *w, PyObject *place, uint64_t *ret)
{
	PyObject *there = PyDict_GetItemWithError(w->known, place);

	if (there || PyErr_Occurred()) {
		*ret = there ? PyLong_AsUnsignedLongLong(there) : 0;
		return there ? 0 : -1;
	}
	*ret = (uint64_t)PyDict_Size(w->known);
	PyObject *number = PyLong_FromUnsignedLongLong(*ret);
	int r = number && put_place(w, place) == 0 ? PyDict_SetItem(w->known, place, number) : -1;
	Py_XDECREF(number);
	return r;
}

/* In trees as plumb and distributed make them a child's key is its identifier: only one of them is sent. */
static int check_key(const struct ext_sum *row)
{
	int same = row->key ? PyObject_RichCompareBool(row->key, row->identifier, Py_EQ) : 1;

	if (same == 0)
		PyErr_Format(PyExc_ValueError, "the child %R of a node has another identifier, %R", row->key,
			     row->identifier);
	return same > 0 ? 0 : -1;
}

static int check_count(const struct ext_sum *row)
{
	if (row->large)
		PyErr_Format(PyExc_ValueError, "a count is a whole number of 64 bits where trees are sent, not %R",
			     row->large);
	return row->large ? -1 : 0;
}

static int put_node(struct writing *w, const struct ext_sum *row, size_t index)
{
	PyObject *place = check_key(row) == 0 && check_count(row) == 0 ? place_of(&w->st->key, row) : NULL;
	uint64_t number;
	int r = place ? number_of(w, place, &number) : -1;

	Py_XDECREF(place);
	if (r < 0 || put_number(&w->nodes, number) < 0 ||
	    put_number(&w->nodes, row->parent == EXT_NO_ROW ? 0 : index - row->parent) < 0)
		return -1;
	return put_signed(&w->nodes, row->small);
}

static PyObject *all_of(struct writing *w)
{
	struct buffer all = {0};
	PyObject *bytes = NULL;

	if (put_number(&all, (uint64_t)PyDict_Size(w->known)) == 0 && put(&all, w->places.data, w->places.size) == 0 &&
	    put(&all, w->nodes.data, w->nodes.size) == 0)
		bytes = PyBytes_FromStringAndSize((const char *)all.data, (Py_ssize_t)all.size);
	PyMem_Free(all.data);
	return bytes;
}

static PyObject *bytes_of(const struct ext_sums *s)
{
	struct writing w = {.st = s->st, .known = PyDict_New()};
	int r = w.known ? put_number(&w.nodes, s->count) : -1;

	for (size_t i = 0; r == 0 && i < s->count; i++)
		r = put_node(&w, &s->rows[i], i);
	PyObject *bytes = r == 0 ? all_of(&w) : NULL;
	Py_XDECREF(w.known);
	PyMem_Free(w.place.data);
	PyMem_Free(w.places.data);
	PyMem_Free(w.nodes.data);
	return bytes;
}

const char ext_as_bytes_doc[] = "as_bytes($module, tree, /)\n--\n\n"
				"A tree, or what pack() gives, as bytes, of which packed() makes what stands for it.";

PyObject *ext_as_bytes(PyObject *module, PyObject *tree)
{
	struct ext_sums s = {.st = ext_trees_of(module)};
	PyObject *alone = PyTuple_Pack(1, tree);
	PyObject *bytes = alone && ext_sums_add(&s, alone) == 0 ? bytes_of(&s) : NULL;

	ext_sums_deinit(&s);
	Py_XDECREF(alone);
	return bytes;
}

/* ---- packed() ---- */

struct reader {
	const unsigned char *at, *end;
};

struct place {
	PyObject *identifier, *description;
	Py_hash_t hash; /* of the identifier */
};

struct taking {
	const struct ext_trees *st;
	struct reader from;
	PyObject *known; /* {bytes of a place: (identifier, description)} */
	struct place *places;
	size_t place_count;
	struct ext_sums sums;
};

static int refuse(const char *why)
{
	PyErr_Format(PyExc_ValueError, "these are no bytes of a tree: %s", why);
	return -1;
}

static size_t left(const struct reader *r)
{
	return (size_t)(r->end - r->at);
}

static int take_number(struct reader *r, uint64_t *ret)
{
	uint64_t n = 0;

	for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
		unsigned char byte = *r->at++;
		if (shift == 63 && byte > 1)
			break;
		n |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret = n;
			return 0;
		}
	}
	return refuse("a number has no end");
}

static int take_signed(struct reader *r, int64_t *ret)
{
	uint64_t n;

	if (take_number(r, &n) < 0)
		return -1;
	*ret = (int64_t)(n >> 1 ^ (n & 1 ? UINT64_MAX : 0));
	return 0;
}

/* A number of things that have at least @p least bytes each. */
static int take_count(struct reader *r, size_t least, size_t *ret)
{
	uint64_t n;

	if (take_number(r, &n) < 0)
		return -1;
	*ret = (size_t)n;
	return n <= left(r) / least ? 0 : refuse("they are too short");
}

static int take_text(struct reader *r, PyObject **ret)
{
	size_t size;

	if (take_count(r, 1, &size) < 0)
		return -1;
	*ret = PyUnicode_DecodeUTF8((const char *)r->at, (Py_ssize_t)size, "surrogatepass");
	r->at += size;
	if (*ret)
		return 0;
	return PyErr_ExceptionMatches(PyExc_UnicodeDecodeError) ? refuse("a text is no UTF-8") : -1;
}

/* (identifier, description) */
static PyObject *read_place(const struct ext_keys *key, struct reader r)
{
	PyObject *parts[PARTS] = {0}, *place = NULL, *description = NULL;
	int64_t line;
	int status = 0;

	for (size_t i = 0; status == 0 && i < LINE_NUMBER; i++)
		status = take_text(&r, &parts[i]);
	if (status == 0 && take_signed(&r, &line) == 0 && (left(&r) == 0 || refuse("a place has more parts") == 0) &&
	    (parts[LINE_NUMBER] = PyLong_FromLongLong(line)))
		description = ext_description(key, parts[FILENAME], parts[NAME], parts[LINE_NUMBER], parts[LINE]);
	if (description)
		place = PyTuple_Pack(2, parts[IDENTIFIER], description);
	Py_XDECREF(description);
	for (size_t i = 0; i < PARTS; i++)
		Py_XDECREF(parts[i]);
	return place;
}

/* The same for bytes that are known; a new reference. */
static PyObject *known_place(struct taking *t, struct reader r)
{
	PyObject *bytes = PyBytes_FromStringAndSize((const char *)r.at, (Py_ssize_t)left(&r)), *place = NULL;

	if (bytes && ext_dict_find(t->known, bytes, &place) == 0 && !place) {
		place = read_place(&t->st->key, r);
		if (place && PyDict_SetItem(t->known, bytes, place) < 0)
			Py_CLEAR(place);
	}
	Py_XDECREF(bytes);
	return place;
}

static int keep_place(struct taking *t, PyObject *known)
{
	struct place *p = &t->places[t->place_count];

	p->identifier = PyTuple_GetItem(known, 0);
	p->description = p->identifier ? PyTuple_GetItem(known, 1) : NULL;
	if (!p->description)
		return -1;
	Py_INCREF(p->identifier);
	Py_INCREF(p->description);
	t->place_count++;
	p->hash = PyObject_Hash(p->identifier);
	return p->hash == -1 ? -1 : 0;
}

static int take_place(struct taking *t)
{
	size_t size;

	if (take_count(&t->from, 1, &size) < 0)
		return -1;
	PyObject *known = known_place(t, (struct reader){t->from.at, t->from.at + size});
	int r = known ? keep_place(t, known) : -1;
	Py_XDECREF(known);
	t->from.at += size;
	return r;
}

static int take_places(struct taking *t)
{
	size_t count;
	int r = take_count(&t->from, PARTS + 1, &count);

	if (r == 0 && !(t->places = ext_calloc(count + 1, sizeof *t->places)))
		return no_memory();
	for (size_t i = 0; r == 0 && i < count; i++)
		r = take_place(t);
	return r;
}

/* What the row has is given back with all rows, however it ends. */
static int take_row(struct taking *t, size_t i)
{
	struct ext_sum *row = &t->sums.rows[t->sums.count++];
	uint64_t number, back;
	int64_t count;

	if (take_number(&t->from, &number) < 0 || take_number(&t->from, &back) < 0 || take_signed(&t->from, &count) < 0)
		return -1;
	if (number >= t->place_count || back > i || (back == 0) != (i == 0))
		return refuse("a node has the number of a place, and a parent that comes before it");
	const struct place *place = &t->places[number];
	row->identifier = place->identifier;
	row->description = place->description;
	Py_INCREF(row->identifier);
	Py_INCREF(row->description);
	row->small = count;
	row->parent = i ? (uint32_t)(i - back) : EXT_NO_ROW;
	if (i) {
		row->key = place->identifier;
		row->hash = place->hash;
		Py_INCREF(row->key);
	}
	return 0;
}

static int take_rows(struct taking *t)
{
	size_t count;
	int r = take_count(&t->from, 3, &count);

	if (r < 0)
		return -1;
	if (count == 0 || count >= EXT_NO_ROW)
		return refuse(count ? "there are too many nodes" : "there is no root");
	if (!(t->sums.rows = ext_calloc(count, sizeof *t->sums.rows)))
		return no_memory();
	for (size_t i = 0; r == 0 && i < count; i++)
		r = take_row(t, i);
	return r < 0 ? -1 : left(&t->from) ? refuse("they are too long") : 0;
}

static PyObject *packed(struct taking *t, PyObject *data)
{
	const char *at = PyBytes_AsString(data);

	t->from = (struct reader){(const unsigned char *)at, (const unsigned char *)at + PyBytes_Size(data)};
	return take_places(t) == 0 && take_rows(t) == 0 ? ext_sums_pack(&t->sums) : NULL;
}

static void taking_deinit(struct taking *t)
{
	for (size_t i = 0; i < t->place_count; i++) {
		Py_DECREF(t->places[i].identifier);
		Py_DECREF(t->places[i].description);
	}
	PyMem_Free(t->places);
	ext_sums_deinit(&t->sums);
	Py_XDECREF(t->known);
}

const char ext_packed_doc[] =
	"packed($module, data, known={}, /)\n--\n\n"
	"What stands for a tree in merge() and pack(), of what as_bytes() gave of it. Anything else is a "
	"ValueError.\n\n"
	"known  a dict for several that are read one after the other: what they have in common is made once";

PyObject *ext_packed(PyObject *module, PyObject *args)
{
	struct taking t = {.st = ext_trees_of(module)};
	PyObject *data, *known = NULL, *capsule = NULL;

	if (!PyArg_ParseTuple(args, "O|O!:packed", &data, &PyDict_Type, &known))
		return NULL;
	if (!PyBytes_CheckExact(data)) {
		refuse("they are of another type");
		return NULL;
	}
	Py_XINCREF(known);
	if ((t.known = known ? known : PyDict_New()))
		capsule = packed(&t, data);
	taking_deinit(&t);
	return capsule;
}
