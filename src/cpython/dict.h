/* SPDX-License-Identifier: Apache-2.0 */
/* Python dicts and attributes, read only. For thread_names.c, detect.c, values and tasks. Bounded; a dict that changes
 * meanwhile gives less or "not found", never something outside it. */
#ifndef PL_DICT_H
#define PL_DICT_H

#include "detect.h"

#define PL_MAX_DICT_ENTRIES (1u << 16)
#define PL_FEW_ATTRIBUTES   128u /* 85 of them, where a dict is a table with holes (2.7) */

/** An opened table of entries. */
struct pl_dict {
	pl_addr entries;      /* address of entry 0 */
	pl_addr values;	      /* of the value of entry 0 for a split table, else 0: values are in the entries */
	uint32_t count;	      /* entries in use, holes included */
	uint32_t entry_bytes; /* 24 with hash, 16 for tables of str keys (3.11+) */
	uint32_t key_at, value_at;
	pl_addr order; /* after pl_dict_use_order: a byte for each entry set, its index; 0: entries are in order */
	uint32_t ordered;
};

struct pl_dict_item {
	pl_addr key, value; /* 0: a hole */
};

/** @p obj must be a dict; if @p type is not 0, of exactly this type. */
struct plumb_error *pl_dict_open(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, pl_addr type,
				 struct pl_dict *ret) PLUMB_MUST_CHECK;
/** Attributes of instances may be kept in the order of their class: let pl_dict_item give them in that of the program.
 */
struct plumb_error *pl_dict_use_order(struct pl_mem *mem, const struct pl_py *py, struct pl_dict *d) PLUMB_MUST_CHECK;
struct plumb_error *pl_dict_item(struct pl_mem *mem, const struct pl_dict *d, uint32_t index,
				 struct pl_dict_item *ret) PLUMB_MUST_CHECK;
/** Value of the str key @p name (ASCII, up to 60 bytes); PLUMB_ERR_STALE if it is not there. */
struct plumb_error *pl_dict_find(struct pl_mem *mem, const struct pl_py *py, const struct pl_dict *d, const char *name,
				 pl_addr *ret) PLUMB_MUST_CHECK;
/** The same, but 0 if it is not there. */
struct plumb_error *pl_dict_get(struct pl_mem *mem, const struct pl_py *py, const struct pl_dict *d, const char *name,
				pl_addr *ret) PLUMB_MUST_CHECK;
/** sys.modules[@p module].__dict__; PLUMB_ERR_STALE if it is not imported. @p dict_type_ret (may be NULL): the type of
 * dicts. The search goes through all modules: for more than one attribute open once. */
struct plumb_error *pl_module_open(struct pl_mem *mem, const struct pl_py *py, pl_addr modules, const char *module,
				   struct pl_dict *ret, pl_addr *dict_type_ret) PLUMB_MUST_CHECK;
/** As sys.modules[@p module].__dict__[@p name]. */
struct plumb_error *pl_module_attr(struct pl_mem *mem, const struct pl_py *py, pl_addr modules, const char *module,
				   const char *name, pl_addr *ret) PLUMB_MUST_CHECK;
/** obj.__dict__ of an ordinary instance, wherever the release keeps it; PLUMB_ERR_STALE if it has none. */
struct plumb_error *pl_instance_open(struct pl_mem *mem, const struct pl_py *py, pl_addr obj,
				     struct pl_dict *ret) PLUMB_MUST_CHECK;
/** obj.__dict__[@p name] of an ordinary instance, wherever the release keeps it. */
struct plumb_error *pl_instance_attr(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, const char *name,
				     pl_addr *ret) PLUMB_MUST_CHECK;
/** The same where threads are sampled: of an object of the standard library, which has a dozen of them. What a program
 * has laid in front of it is gone over for PL_FEW_ATTRIBUTES places and no more. */
struct plumb_error *pl_instance_attr_of_few(struct pl_mem *mem, const struct pl_py *py, pl_addr obj, const char *name,
					    pl_addr *ret) PLUMB_MUST_CHECK;
/** A non-negative int below 2^63. */
struct plumb_error *pl_long_value(struct pl_mem *mem, const struct pl_py *py, pl_addr obj,
				  uint64_t *ret) PLUMB_MUST_CHECK;

#endif
