/* SPDX-License-Identifier: Apache-2.0 */
/* The readers behind the table in importers.c. */
#ifndef PL_IMPORTERS_H
#define PL_IMPORTERS_H

#include "import.h"

pl_importer_is pl_pprof_is;
pl_importer_read pl_pprof_read;
pl_importer_is pl_samples_is;
pl_importer_read pl_samples_read;
pl_importer_is pl_pstats_is;
pl_importer_read pl_pstats_read;
pl_importer_is pl_callgrind_is;
pl_importer_read pl_callgrind_read;
pl_importer_is pl_dask_is;
pl_importer_read pl_dask_read;
pl_importer_is pl_speedscope_is;
pl_importer_read pl_speedscope_read;
pl_importer_is pl_perf_script_is;
pl_importer_read pl_perf_script_read;
pl_importer_is pl_collapsed_is;
pl_importer_read pl_collapsed_read;

#endif
