/* SPDX-License-Identifier: BSD-3-Clause */
/* Cursors of a process's files: what an operation is compared with. See cursors.c. */
#ifndef RUNTIME_CLIENT_WRAP_CURSORS_H
#define RUNTIME_CLIENT_WRAP_CURSORS_H

#include <stdint.h>

#include "logfmt/rules/streams.h"

struct scribe_cursors; /* of a process; NULL at first */

/* That of a file, made when it is new; it lasts as long as the process. NULL: no memory. */
struct scribe_cursor *scribe_cursor_of(struct scribe_cursors **cursors, uint64_t key);
/* Hash of a path as MPI_File_open takes it; never 0. */
uint64_t scribe_file_name(const char *path);

#endif
