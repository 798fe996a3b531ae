/* SPDX-License-Identifier: Apache-2.0 */
/* Which security modules could refuse, as far as the kernel shows it. Why one refuses only its log tells. */
#ifndef PL_LSM_H
#define PL_LSM_H

#include <stdbool.h>
#include <stddef.h>

struct pl_lsm {
	bool listed;	   /* the kernel's list could be read */
	char modules[160]; /* those on it that judge access to processes, but for Yama: "apparmor, landlock" */
	char label[128];   /* the profile or context that we run under; "" for none, or one that confines nobody */
};

void pl_lsm_read(struct pl_lsm *ret);
/** Pure: the modules of interest from the kernel's list, "capability,yama,apparmor"; cut at @p size. */
void pl_lsm_parse_list(const char *list, char *ret, size_t size);
/** Pure: the label from the text of an attr/current file, "" if it confines nobody; cut at @p size. */
void pl_lsm_parse_label(const char *text, char *ret, size_t size);
/** Pure: what is left to refuse when everything else allows it. Half a sentence. */
void pl_lsm_tell(const struct pl_lsm *lsm, char *buf, size_t size);

#endif
