/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a dump's JSON. Inside the layer only. */
#ifndef PL_DUMP_JSON_PARTS_H
#define PL_DUMP_JSON_PARTS_H

#include "dump_model.h"
#include "json.h"

void pl_dump_json_text(struct pl_json *j, const char *key, struct pl_dump_text t);
/** null for "". */
void pl_dump_json_text_or_null(struct pl_json *j, const char *key, struct pl_dump_text t);
/** The member "frames". */
void pl_dump_json_frames(struct pl_json *j, const pl_dump_frame_vec *frames);
/** "lock", "item", ...; NULL: not known. */
const char *pl_dump_json_purpose(enum pl_dump_for what);
/** What threads wait for, and their deadlocks: members of a process. */
void pl_dump_json_waits(struct pl_json *j, const struct pl_dump_process *p);
/** Tasks, what they wait for, and their deadlocks. */
void pl_dump_json_tasks(struct pl_json *j, const struct pl_dump_process *p);

#endif
