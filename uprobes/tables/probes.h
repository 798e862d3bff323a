/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The probe tables, from which attach lists, the handlers' switch and docs/probes.md come: a new library or
 * symbol is a new row.
 */
#ifndef UPROBES_TABLES_PROBES_H
#define UPROBES_TABLES_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uprobes/tables/probe.h"
#include "uprobes/wire.h"

struct scribe_library {
	const char *name;
	const char *pattern;   /* fnmatch of file names */
	const char *marker[2]; /* identifying symbols */
	enum scribe_layer layer;
	uint64_t modules; /* of the log, as bits */
	const struct scribe_probe *probes;
	const size_t *n;
};

#define SCRIBE_INSIDE_NAME "libioscribe-inside.so"

/* It counts inside the program only while it is probed. */
static inline bool scribe_library_is_inside(const struct scribe_library *l)
{
	return l->probes[0].fn == SCRIBE_FN_MPI_INSIDE;
}

extern const struct scribe_library scribe_libraries[];
extern const size_t scribe_nlibraries;

#endif
