/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_TEXT_PRINT_RECORD_H
#define UTIL_TEXT_PRINT_RECORD_H

#include "logfmt/counters/module.h"
#include "logfmt/file/reader.h"
#include "util/text/rows.h"

struct scribe_printer {
	struct scribe_rows rows;
	const struct scribe_module *module;
	struct scribe_row_label *ints, *reals; /* of the module's counters */
	const char *as_module;                 /* first column; NULL: the module's name */
	int plain_place;                       /* 1: mount and fs as given, also for DAOS */
	int mpi_sync;                          /* APMPI: the head announced synchronisation times */
};

int scribe_printer_module(struct scribe_printer *p, struct scribe_out *out, const struct scribe_module *m,
			  struct scribe_err *err);

/* name may be NULL; mount and fs: "UNKNOWN" if so. */
int scribe_printer_record(struct scribe_printer *p, const void *record, size_t len, const char *name, size_t name_len,
			  const char *mount, const char *fs, struct scribe_err *err);

/* Part of the default text? */
int scribe_printer_knows(int module);

void scribe_printer_free(struct scribe_printer *p);

/* The first mount with a path that is a prefix of the name; n: none. */
size_t scribe_mount_index(const struct scribe_mount *mounts, size_t n, const char *name);
struct scribe_mount scribe_print_mount_of(const struct scribe_mount *mounts, size_t n, const char *name);

#endif
