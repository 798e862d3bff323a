/* SPDX-License-Identifier: BSD-3-Clause */
/* Cursors of files (cursors.c). */
#ifndef RUNTIME_CLIENT_WRAP_CURSORS_H
#define RUNTIME_CLIENT_WRAP_CURSORS_H

#include <stdint.h>

#include "logfmt/rules/streams.h"

struct scribe_cursors; /* per process, NULL at first */

/* Made when new, lives as long as the process. NULL: no memory. */
struct scribe_cursor *scribe_cursor_of(struct scribe_cursors **cursors, uint64_t key);
/* Of MPI_File_open's path; never 0. */
uint64_t scribe_file_name(const char *path);

#endif
