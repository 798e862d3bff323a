/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The probe tables: which functions of which library mean what. Attach lists,
 * the handlers' switch and docs/probes.md come from these; a library or symbol
 * more is a row more.
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
	const char *pattern;   /* of its file's name, for the search before the start (fnmatch) */
	const char *marker[2]; /* defined functions it is known by, either of them */
	enum scribe_layer layer;
	uint64_t modules; /* bits of the log's modules it feeds */
	const struct scribe_probe *probes;
	const size_t *n;
};

#define SCRIBE_INSIDE_NAME "libioscribe-inside.so"

/*
 * The library by which programs count inside themselves? It does so only while it is probed.
 */
static inline bool scribe_library_is_inside(const struct scribe_library *l)
{
	return l->probes[0].fn == SCRIBE_FN_MPI_INSIDE;
}

extern const struct scribe_library scribe_libraries[];
extern const size_t scribe_nlibraries;

#endif
