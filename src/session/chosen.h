/* SPDX-License-Identifier: Apache-2.0 */
/* The filters that the questions of model/view.h know, from the options of front ends. */
#ifndef PL_CHOSEN_H
#define PL_CHOSEN_H

#include <plumb/profile.h>

#include "view.h"

enum pl_idle pl_chosen_idle(enum plumb_idle idle);
struct pl_filter pl_chosen(const struct plumb_report_options *o);

#endif
