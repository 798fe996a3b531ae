/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the native functions that were sampled. Consumer thread only. */
#ifndef PL_NATIVE_SYMBOLS_H
#define PL_NATIVE_SYMBOLS_H

#include "codes.h"
#include "demangle.h"
#include "symbol_reader.h"

#define PL_NATIVE_NAME PL_DEMANGLED /* bytes of a name; those of C++ have some hundreds, made-up ones any number */

enum pl_native_symbols_state {
	PL_NATIVE_SYMBOLS_UNREAD,
	PL_NATIVE_SYMBOLS_ASKED,
	PL_NATIVE_SYMBOLS_NAMED, /* its debug information is still to be read */
	PL_NATIVE_SYMBOLS_READ,
};

struct pl_native_symbols_file {
	enum pl_native_symbols_state state;
	struct pl_functions *functions; /* once they are read; NULL: it has none that we know */
	struct pl_file_lines *lines;	/* of PL_NATIVE_SYMBOLS_READ, likewise */
	bool lines_left_out;		/* nobody has looked for them: no work is left for that */
	uint64_t bytes;			/* of those of a perf map */
};

#define PL_PERF_MAPS_MOST (512u << 20)

struct pl_native_symbols {
	PL_VEC(struct pl_native_symbols_file) files; /* by number of the module */
	struct pl_symbol_reader reader;
	struct pl_map perf_maps; /* process -> the module of its last perf map */
	/* Modules of perf maps as they were read, and from where on they are kept: of all processes, those that have
	 * ended, too. */
	PL_VEC(uint32_t) perf_maps_read;
	size_t perf_maps_first;
	uint64_t perf_maps_bytes, perf_maps_most; /* most: 0, PL_PERF_MAPS_MOST */
	uint32_t asked;				  /* while reader.asker.asked: the module */
	bool asked_perf_map, asked_lines;
	uint64_t end_ns; /* of the time for whoever waits for the end; 0: nobody does */
	struct pl_demangler demangler;
};

void pl_native_symbols_deinit(struct pl_native_symbols *s);
/** Are the names of this module known, as far as they will be? Its file is read, if that was not done; @p patient: the
 * answer is waited for, for a second at most, and some seconds for all that are asked for so; else some milliseconds.
 */
bool pl_native_symbols_ready(struct pl_native_symbols *s, const struct pl_code_module *m, bool patient);
/** No more is waited for: what is not known now has no names. */
void pl_native_symbols_give_up(struct pl_native_symbols *s, const struct pl_code_module *m);
/** The name of the function, as its file has it; NULL: it has none. */
const char *pl_native_symbols_name(struct pl_native_symbols *s, const struct pl_native_code *n);
/** What a function is called: by its @p name in the file, as people write it; NULL: by its file and its place in it. */
void pl_native_symbols_text(struct pl_native_symbols *s, const struct pl_native_code *n, const char *name,
			    char buf[static PL_NATIVE_NAME]);
/** Tell of the instruction at @p place of the file of @p n, as pl_dwarf_places does, as far as the work for the process
 * goes. 0: nothing is known. *left_out: as of pl_file_lines_places. */
size_t pl_native_symbols_places(struct pl_native_symbols *s, const struct pl_native_code *n, uint64_t place,
				void (*tell)(void *ctx, const struct pl_dwarf_place *p), void *ctx, bool *left_out);

#endif
