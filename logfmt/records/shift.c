// SPDX-License-Identifier: BSD-3-Clause
/* Moves a record's times to another start of the job, in the caller's memory. Must not change durations. */
#include "logfmt/records/shift.h"

#include <string.h>

#include "logfmt/counters/module.h"

static void shift_segments(struct scribe_dxt_record *d, double seconds)
{
	for (int64_t i = 0; i < d->write_count + d->read_count; i++) {
		d->segments[i].start += seconds;
		d->segments[i].end += seconds;
	}
}

void scribe_record_shift(int module, void *record, double seconds)
{
	const struct scribe_module *m = scribe_module_by_id(module);
	struct scribe_process_record *p = record;
	double *times;

	if (module == SCRIBE_MOD_DXT_POSIX || module == SCRIBE_MOD_DXT_MPIIO) {
		shift_segments(record, seconds);
		return;
	}
	if (module == SCRIBE_MOD_PROCESS) {
		p->start += seconds;
		p->end += p->end > 0 ? seconds : 0; /* 0: still running */
		return;
	}
	times = (double *)((char *)record + m->fcounters_at);
	for (int i = 0; i < m->nfcounters; i++)
		if (strstr(m->fcounters[i].name, "_TIMESTAMP") && times[i] > 0)
			times[i] += seconds;
}
