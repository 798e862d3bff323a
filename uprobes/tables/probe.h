/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UPROBES_TABLES_PROBE_H
#define UPROBES_TABLES_PROBE_H

#include <stddef.h>
#include <stdint.h>

#include "uprobes/wire.h"

#define SCRIBE_ARG_NONE (-1)

struct scribe_probe {
	const char *symbol;
	const char *counter; /* for the documentation */
	uint8_t fn;          /* enum scribe_fn */
	uint8_t op;          /* SCRIBE_OP_READ, SCRIBE_OP_WRITE */
	uint8_t count_at;    /* counter of the module, SCRIBE_COUNT_NONE */
	uint16_t flags;      /* enum scribe_point_flags */
	uint8_t implied;     /* 1 + standard stream, 0 none; PnetCDF: enum scribe_nc_form */
	uint8_t deref;       /* bit i: role i is a pointer */
	/* argument of the C function in role i (enum scribe_fn), or SCRIBE_ARG_NONE */
	int8_t args[SCRIBE_POINT_ARGS];
};

extern const struct scribe_probe scribe_probes_pnetcdf[];
extern const size_t scribe_nprobes_pnetcdf;

#endif
