/* SPDX-License-Identifier: BSD-3-Clause */
/* Where an operation on an MPI-IO file begins, in bytes of the file; -1: not known. */
#ifndef RUNTIME_CLIENT_WRAP_FILE_VIEWS_H
#define RUNTIME_CLIENT_WRAP_FILE_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

/* What an MPI-IO file's offsets count from and in. */
struct scribe_file_view {
	int64_t begin;   /* byte of the file where it begins */
	int64_t element; /* bytes of one */
	enum {
		SCRIBE_VIEW_UNKNOWN,
		SCRIBE_VIEW_WHOLE, /* no gaps */
		SCRIBE_VIEW_GAPS,
	} kind;
};

/* What says where an operation begins (uprobes/tables/mpiio_list.h). */
enum scribe_file_where { SCRIBE_FILE_AT, SCRIBE_FILE_POINTER, SCRIBE_FILE_SHARED };

/* That of a file that has just been opened with this mode. */
struct scribe_file_view scribe_file_first_view(int mode);
/* That of MPI_File_set_view's arguments, which MPI has just taken. */
struct scribe_file_view scribe_file_view_of(intptr_t begin, intptr_t etype, intptr_t filetype,
					    const char *representation, const void *caller);

/* Elements of the view before an operation that is about to be made; `argument`: its offset, if it has one. */
int64_t scribe_file_at(const void *file, const struct scribe_file_view *view, enum scribe_file_where where,
		       intptr_t argument, const void *caller);
/* The byte of the file that `at` is, of an operation that has moved `bytes`. */
int64_t scribe_file_byte(const void *file, const struct scribe_file_view *view, int64_t at, uint64_t bytes,
			 const void *caller);

#endif
