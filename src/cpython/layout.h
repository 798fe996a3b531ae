/* SPDX-License-Identifier: Apache-2.0 */
/* Where the fields of a CPython are. A layout is plain data: one row per release for <= 3.12 (layout_tables.c,
 * generated from the headers by tools/gen_layout), read from the interpreter's own _Py_DebugOffsets for >= 3.13
 * (debug_offsets.c). All numbers are byte offsets; PL_NONE says that the field does not exist.
 *
 * To add a release <= 3.12 or a new minor: see docs/internals/adding.md. */
#ifndef PL_LAYOUT_H
#define PL_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PL_NONE UINT32_MAX

/* 3.11.7 is 0x030b07; the release level is not part of it. */
#define PL_PY_VERSION(major, minor, micro) (((uint32_t)(major) << 16) | ((uint32_t)(minor) << 8) | (uint32_t)(micro))

enum pl_frame_model {
	PL_FRAME_OBJECT,  /* <= 3.10: PyFrameObject on the heap, linked by f_back */
	PL_FRAME_CFRAME,  /* 3.11, 3.12: _PyInterpreterFrame, found through tstate->cframe on the C stack */
	PL_FRAME_CURRENT, /* 3.13+: _PyInterpreterFrame, tstate->current_frame */
};

enum pl_line_table {
	PL_LINES_LNOTAB_U8, /* 2.7 */
	PL_LINES_LNOTAB,    /* 3.6 - 3.9 */
	PL_LINES_PEP626,    /* 3.10 */
	PL_LINES_PEP657,    /* 3.11+, with columns */
};

/** Where an ordinary instance keeps its attributes. */
enum pl_attrs {
	PL_ATTRS_DICT,	  /* <= 3.10: dict pointer at tp_dictoffset, perhaps a split table */
	PL_ATTRS_MANAGED, /* 3.11: values pointer one word before the dict pointer, both in front of the object */
	PL_ATTRS_TAGGED,  /* 3.12: one word in front of the object: dict, or values - 1 */
	PL_ATTRS_INLINE,  /* 3.13+: values behind the object while `valid`, else the dict pointer in front of it */
};

#define PL_INTERP_READS 4

struct pl_layout {
	uint32_t version; /* PL_PY_VERSION; micro as detected, PL_MICRO_UNKNOWN if it could not be */
	uint32_t read_as; /* the newest minor that is known, if this one is newer: its layout is used; else 0 */
	bool free_threaded;
	enum pl_frame_model frame_model;
	enum pl_line_table line_table;
	enum pl_attrs attrs;
	uint32_t runtime_size; /* st_size of _PyRuntime in the build the row was made from; 0 unknown */
	uint8_t instr_scale;   /* lasti unit in bytes: 1 or 2 (3.10); 3.11+ instruction pointers: 1 */
	uint64_t tag_mask;     /* bits to clear in a _PyStackRef: 0 or 3 */
	/* owner values; PL_NO_OWNER: this release has none */
	uint8_t owner_thread, owner_generator, owner_frame_object, owner_interpreter, owner_cstack;

	struct {
		uint32_t interp_head, tstate_current, gil_locked, gil_last_holder, gc_collecting;
	} runtime;
	struct {
		uint32_t next, threads_head, threads_main, id, modules;
		uint32_t gil; /* ceval.gil: a pointer to struct _gil_runtime_state */
		uint32_t gc_collecting, gc_frame, code_generation;
		uint32_t size;
		uint32_t tlbc_generation; /* free-threaded 3.14+ */
	} interp;
	struct {
		uint32_t last_holder, locked, enabled;
	} gil; /* inside struct _gil_runtime_state */
	struct {
		uint32_t next, interp;
		uint32_t frame; /* PyFrameObject* or current_frame; PL_NONE where it hangs on the cframe */
		uint32_t cframe, base_frame, thread_id, native_thread_id, datastack_chunk;
		uint32_t datastack_top;		   /* datastack_limit is the next word in every release */
		uint32_t holds_gil, gil_requested; /* int */
		uint32_t current_exception;	   /* being raised: curexc_type <= 3.11 */
		uint32_t exc_state;		   /* the embedded _PyErr_StackItem: being handled */
		uint32_t exc_info;		   /* 3.7+: points to the newest _PyErr_StackItem */
		uint32_t executor;		   /* 3.14+: of the JIT compiler, minors.h; 0 not known */
		uint32_t attach_state;		   /* free-threaded: enum of pycore_pystate.h, 1 is attached */
	} tstate;
	struct {
		uint32_t current_frame; /* `previous` is the next word in both releases that have it */
	} cframe;
	struct {
		uint32_t previous, code, instr, lasti, owner, is_entry, localsplus, tlbc_index,
			gen /* f_gen, <= 3.10 */;
		/* The value stack: stacktop is a pointer (<= 3.9, 3.14+), a count from valuestack (3.10) or from
		 * localsplus (3.11 - 3.13). */
		uint32_t valuestack, stacktop;
		/* <= 3.10: the blocks it is in (try, with): how many, and the first of them, three ints each. */
		uint32_t iblock, blockstack;
	} frame;
	struct {
		uint32_t previous, size, top, data;
	} chunk;
	struct {
		uint32_t name, qualname, filename, linetable, firstlineno, version;
		uint32_t code_bytes; /* co_code_adaptive or co_code */
		uint32_t tlbc, firsttraceable, flags, size;
		/* the variables of a frame; argcount counts positional-only ones too, not *args and **kwargs */
		uint32_t argcount, kwonlyargcount, nlocals;
		uint32_t varnames, cellvars, freevars;	   /* <= 3.10: tuples of names */
		uint32_t localsplusnames, localspluskinds; /* 3.11+ */
		uint32_t stacksize;			   /* int: slots of the value stack */
		uint32_t exceptiontable;		   /* 3.11+: bytes, with.c */
	} code;
	struct {
		uint32_t type, size;
	} object; /* PyObject; the ob_size of a variable-sized object follows it */
	struct {
		uint32_t ob_size, sval;
	} bytes;
	struct {
		uint32_t length, state, ascii_size, compact_size, data; /* 2.7 has two of them: length, data */
		uint8_t kind_shift, compact_bit, ascii_bit;
	} unicode;
	struct {
		uint32_t exc_value, previous;
	} err_stackitem;
	/* what the lookup of thread names needs */
	struct {
		uint32_t tp_name, tp_basicsize, tp_flags, tp_dictoffset, ht_cached_keys, size;
		uint32_t tp_base, tp_dict;
	} type;
	struct {
		uint32_t keys, values;
		uint32_t mask; /* 2.7, whose `keys` is the table itself */
		uint32_t used;
	} dict;
	struct {
		uint32_t log2_size, log2_index_bytes, kind, nentries, indices;
	} dictkeys; /* <= 3.10: log2_size is dk_size, the other two bytes do not exist */
	struct {
		int32_t managed_dict; /* from the object's address; 0: none */
		uint32_t values;      /* of the first value inside PyDictValues */
		uint32_t valid;	      /* of the byte that says that inline values are in use */
	} instance;
	struct {
		uint32_t digits, tag; /* tag is ob_size <= 3.11 */
		bool tagged;	      /* 3.12+: lv_tag, digit count << 3 | sign */
		uint32_t small;	      /* ob_ival of the other int of 2.7 */
	} longobj;
	/* What the values of variables and the tasks of asyncio need. Where the size is not named it is ob_size. */
	struct {
		uint32_t items; /* the first one, in the object */
	} tuple;
	struct {
		uint32_t items; /* a pointer to the first one */
	} list;
	struct {
		uint32_t used, mask, table; /* table: a pointer to mask + 1 entries of key and hash */
		uint32_t key;		    /* in an entry; the hash is the other word */
	} set;
	struct {
		uint32_t start; /* a pointer to the first byte */
	} bytearray;
	struct {
		uint32_t ref;
	} cell;
	struct {
		uint32_t name;	  /* func_qualname; 2.7: func_name */
		uint32_t closure; /* a tuple of cells */
	} function;
	struct {
		uint32_t function;
	} method;
	struct {
		uint32_t args;
	} exception;
	struct {
		uint32_t object;
	} weakref;
	struct {
		uint32_t frame;		      /* <= 3.10: a pointer */
		uint32_t frame_state, iframe; /* 3.11+: iframe is the frame itself */
		uint32_t qualname;
	} gen;
	/* 2.7: classes without a base, and their instances, are no types and of no type of their own */
	struct {
		uint32_t dict, name;
	} old_class;
	struct {
		uint32_t type, dict; /* type: the class */
	} old_instance;

	/* Computed by pl_layout_finish: the smallest reads that hold every word needed. */
	struct {
		uint32_t at, len;
	} interp_reads[PL_INTERP_READS];
	uint32_t tstate_span, frame_span, code_span;
	uint32_t gil_at, gil_span; /* from the first word of the GIL that is used */
};

#define PL_NO_OWNER	   0xff
#define PL_MICRO_UNKNOWN   0xff
#define PL_TSTATE_MAX	   512 /* no layout may need more of a PyThreadState than this */
#define PL_FRAME_MAX	   160
#define PL_CODE_MAX	   320
#define PL_INTERP_READ_MAX 512

/** The built-in row for the minor of @p version, NULL if there is none (3.13+ or unknown). */
const struct pl_layout *pl_layout_find(uint32_t version, bool free_threaded);
/**
 * 3.13+: the row made from one release's headers. Not to be used as it is (offsets move between patch releases): it
 * supplies what _Py_DebugOffsets leaves out and what is fixed for a minor. NULL if there is none.
 */
const struct pl_layout *pl_layout_reference(uint32_t version, bool free_threaded);
/** All rows, references included; for detection by trial and for tests. */
const struct pl_layout *pl_layout_rows(size_t *count_ret);
/** Once lay->version is exact: what differs between the micro versions of a minor. */
void pl_layout_refine(struct pl_layout *lay);
/** @p row as it is in a build with Py_TRACE_REFS, which puts two pointers in front of every object: up to 3.7 every
 * debug build. Not for rows from 3.13 on. */
void pl_layout_trace_refs(const struct pl_layout *row, struct pl_layout *ret);
/** 2.7: a str is what is bytes later, and a unicode says nothing of how it is kept. */
static inline bool pl_layout_str_is_bytes(const struct pl_layout *lay)
{
	return lay->unicode.state == PL_NONE;
}
/** Fill in the computed members. False if the offsets do not fit the maxima above. */
bool pl_layout_finish(struct pl_layout *lay);

#endif
