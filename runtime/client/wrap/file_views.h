/* SPDX-License-Identifier: BSD-3-Clause */
/* Start of MPI-IO operations in bytes of the file; -1: not known. */
#ifndef RUNTIME_CLIENT_WRAP_FILE_VIEWS_H
#define RUNTIME_CLIENT_WRAP_FILE_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

/* Origin and unit of offsets. */
struct scribe_file_view {
	int64_t begin;   /* in the file */
	int64_t element; /* bytes */
	enum {
		SCRIBE_VIEW_UNKNOWN,
		SCRIBE_VIEW_WHOLE, /* without gaps */
		SCRIBE_VIEW_GAPS,
	} kind;
};

/* Kind of offset (uprobes/tables/mpiio_list.h). */
enum scribe_file_where { SCRIBE_FILE_AT, SCRIBE_FILE_POINTER, SCRIBE_FILE_SHARED };

/* After an open with this mode. */
struct scribe_file_view scribe_file_first_view(int mode);
/* Of arguments that MPI_File_set_view accepted. */
struct scribe_file_view scribe_file_view_of(intptr_t begin, intptr_t etype, intptr_t filetype,
					    const char *representation, const void *caller);

/* Elements before a coming operation; `argument`: its offset, if any. */
int64_t scribe_file_at(const void *file, const struct scribe_file_view *view, enum scribe_file_where where,
		       intptr_t argument, const void *caller);
/* Byte of element `at`, for an operation that moved `bytes`. */
int64_t scribe_file_byte(const void *file, const struct scribe_file_view *view, int64_t at, uint64_t bytes,
			 const void *caller);

#endif
