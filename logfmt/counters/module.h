/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The module registry: what each module's records hold. Printers, exporters and
 * reductions work from these tables alone.
 */
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
	char name[48]; /* no pointers, which the loader would have to set in each program */
#else
	const char *name; /* as printed: "POSIX_OPENS" */
	const char *text; /* what it counts, one line */
#endif
	enum scribe_rule rule;
};

struct scribe_module {
	int id;
	const char *name;    /* as printed: "POSIX", "MPI-IO", "DXT_POSIX" */
	const char *prefix;  /* of its counters: "POSIX", "MPIIO" */
	unsigned version;    /* newest record version known; the one written */
	unsigned accepts;    /* newest version read (DXT: one more, 40-byte segments in the file) */
	size_t record_bytes; /* of the newest layout; 0: variable, see scribe_record_length */
	int ncounters, nfcounters;
	size_t counters_at, fcounters_at; /* offsets in the record; 0 where there are none */
	const struct scribe_counter *counters, *fcounters;
	bool reduces; /* scribe_redux_* work on it */
};

/* The module of an id or of a printed name; NULL when unknown. Constant, never freed. */
const struct scribe_module *scribe_module_by_id(int id);
const struct scribe_module *scribe_module_by_name(const char *name);

/*
 * Length in bytes of the record whose first `avail` bytes stand at `rec` (newest
 * layout, native order); 0 when more bytes are needed to tell or a count in it
 * is out of range.
 */
size_t scribe_record_length(int module, const void *rec, size_t avail);

/* Of the i-th counter of a LEDGER record, the doubles behind the integers. */
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
