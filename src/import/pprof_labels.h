/* SPDX-License-Identifier: Apache-2.0 */
/* Who was sampled, and how, by the labels of a sample. Private to import/pprof*.c. */
#ifndef PL_PPROF_LABELS_H
#define PL_PPROF_LABELS_H

#include "pprof_tables.h"

#include "labels.h"

#define PL_PPROF_NO_TID UINT64_MAX

struct pl_pprof_who {
	uint64_t thread, process, host; /* strings */
	uint64_t tid, pid;		/* tid: or PL_PPROF_NO_TID */
};
struct pl_pprof_labels {
	struct pl_pprof_who who;
	uint16_t state;
	uint8_t quality;
	enum pl_reason reason;
	unsigned count; /* of the program's own labels, which are as many of own[]: */
	struct {
		uint64_t name, value; /* strings */
	} own[PL_LABELS_MAX];
};

/** What keys of labels mean, found out once for each. */
struct pl_pprof_keys {
	const struct pl_pprof *t;
	uint8_t *role_of; /* string -> role */
	bool ours;	  /* plumb wrote it: other labels are those of the program */
};
struct plumb_error *pl_pprof_keys_init(struct pl_pprof_keys *k, const struct pl_pprof *t) PLUMB_MUST_CHECK;
void pl_pprof_keys_deinit(struct pl_pprof_keys *k);
/** Put what a label says into @p to. Errors: PLUMB_ERR_CORRUPT. */
struct plumb_error *pl_pprof_label_read(struct pl_pprof_keys *k, struct pl_cursor c,
					struct pl_pprof_labels *to) PLUMB_MUST_CHECK;

#endif
