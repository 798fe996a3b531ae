/* SPDX-License-Identifier: Apache-2.0 */
/* plumb: a statistical profiler for Python on Linux. Umbrella header. */
#ifndef PLUMB_H
#define PLUMB_H

#include <plumb/diff.h>
#include <plumb/doctor.h>
#include <plumb/dump.h>
#include <plumb/error.h>
#include <plumb/merge.h>
#include <plumb/output.h>
#include <plumb/processes.h>
#include <plumb/profile.h>
#include <plumb/session.h>
#include <plumb/signals.h>
#include <plumb/tags.h>
#include <plumb/text.h>
#include <plumb/view.h>

#define PLUMB_VERSION "0.1.0"

#endif
