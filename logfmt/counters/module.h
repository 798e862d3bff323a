/* SPDX-License-Identifier: BSD-3-Clause */
/* The module registry, from which printers, exporters and reductions work. */
#ifndef LOGFMT_COUNTERS_MODULE_H
#define LOGFMT_COUNTERS_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/counters/records.h"
#include "logfmt/rules/rule.h"

#ifdef __cplusplus
extern "C" {
#endif

struct scribe_counter {
#ifdef SCRIBE_PRELOAD
	char name[48]; /* a pointer would be a relocation in each program */
#else
	const char *name;
	const char *text;
#endif
	enum scribe_rule rule;
};

struct scribe_module {
	int id;
	const char *name;    /* as printed: "POSIX", "MPI-IO", "DXT_POSIX" */
	const char *prefix;
	unsigned version;    /* of records that are written */
	unsigned accepts;    /* newest that is read (DXT: one more, with 40-byte segments) */
	size_t record_bytes; /* of the newest layout; 0: variable, see scribe_record_length */
	int ncounters, nfcounters;
	size_t counters_at, fcounters_at;
	const struct scribe_counter *counters, *fcounters;
	bool reduces;
};

const struct scribe_module *scribe_module_by_id(int id);
const struct scribe_module *scribe_module_by_name(const char *name);

/* Of the record at `rec` (newest layout, native order); 0: `avail` is too small, or a count out of range. */
size_t scribe_record_length(int module, const void *rec, size_t avail);

/* Of a LEDGER record's i-th counter, doubles after integers. */
enum scribe_ledger_meaning scribe_ledger_meaning(int i);

static inline const char *scribe_counter_name(const struct scribe_module *m, int i)
{
	return i >= 0 && i < m->ncounters ? m->counters[i].name : NULL;
}

static inline const char *scribe_fcounter_name(const struct scribe_module *m, int i)
{
	return i >= 0 && i < m->nfcounters ? m->fcounters[i].name : NULL;
}

static inline const int64_t *scribe_record_counters(const struct scribe_module *m, const void *rec)
{
	return (const int64_t *)((const char *)rec + m->counters_at);
}

static inline const double *scribe_record_fcounters(const struct scribe_module *m, const void *rec)
{
	return (const double *)((const char *)rec + m->fcounters_at);
}

#ifdef __cplusplus
}
#endif

#endif
