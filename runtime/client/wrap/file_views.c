// SPDX-License-Identifier: BSD-3-Clause
/*
 * Offsets of MPI-IO operations. MPI is only called where it cannot fail: it divides by view sizes unchecked,
 * and an error may end the program. View sizes are read when set. Shared pointers are not read: that is I/O,
 * and others move them. Must not know: slots, segments.
 */
#include "runtime/client/wrap/file_views.h"

#include <string.h>

#include "runtime/client/mpi/mpi_abi.h"

#define MODE_SEQUENTIAL 256 /* in both MPIs; excludes individual pointers */

typedef int (*size_fn)(intptr_t, int64_t *);
typedef int (*extent_fn)(intptr_t, int64_t *, int64_t *);
typedef int (*position_fn)(const void *, int64_t *);
typedef int (*byte_fn)(const void *, int64_t, int64_t *);

static scribe_mpi_fn named(scribe_mpi_fn *slot, const char *name, const void *caller)
{
	scribe_mpi_fn found = __atomic_load_n(slot, __ATOMIC_RELAXED);

	/* Two threads may both look it up, with the same result. */
	if (!found) {
		found = scribe_mpi_next(name, caller);
		__atomic_store_n(slot, found, __ATOMIC_RELAXED);
	}
	return found;
}

struct scribe_file_view scribe_file_first_view(int mode)
{
	return (struct scribe_file_view){.element = 1,
					 .kind = mode & MODE_SEQUENTIAL ? SCRIBE_VIEW_UNKNOWN : SCRIBE_VIEW_WHOLE};
}

/* Negative: not known. */
static int64_t size_of(intptr_t type, const void *caller)
{
	static scribe_mpi_fn slot;
	size_fn fn = (size_fn)(uintptr_t)named(&slot, "PMPI_Type_size_x", caller);
	int64_t size;

	return fn && fn(type, &size) == 0 ? size : -1;
}

/* Consecutive elements are contiguous. */
static bool has_no_gaps(intptr_t type, int64_t size, const void *caller)
{
	static scribe_mpi_fn slot, true_slot;
	extent_fn fn = (extent_fn)(uintptr_t)named(&slot, "PMPI_Type_get_extent_x", caller);
	extent_fn true_fn = (extent_fn)(uintptr_t)named(&true_slot, "PMPI_Type_get_true_extent_x", caller);
	int64_t low, extent, true_low, true_extent;

	return fn && true_fn && fn(type, &low, &extent) == 0 && true_fn(type, &true_low, &true_extent) == 0 && !low &&
	       !true_low && extent == size && true_extent == size;
}

struct scribe_file_view scribe_file_view_of(intptr_t begin, intptr_t etype, intptr_t filetype,
					    const char *representation, const void *caller)
{
	const int64_t element = size_of(etype, caller), size = size_of(filetype, caller);
	struct scribe_file_view view = {.begin = (int64_t)begin, .element = element};

	/* Other representations have other sizes in the file. */
	if (begin < 0 || element <= 0 || size <= 0 ||
	    (strcmp(representation, "native") && strcmp(representation, "internal")))
		return view;
	view.kind = has_no_gaps(filetype, size, caller) ? SCRIBE_VIEW_WHOLE : SCRIBE_VIEW_GAPS;
	return view;
}

int64_t scribe_file_at(const void *file, const struct scribe_file_view *view, enum scribe_file_where where,
		       intptr_t argument, const void *caller)
{
	static scribe_mpi_fn slot;
	position_fn fn;
	int64_t at;

	if (view->kind == SCRIBE_VIEW_UNKNOWN || where == SCRIBE_FILE_SHARED)
		return -1;
	if (where == SCRIBE_FILE_AT)
		return (int64_t)argument;
	fn = (position_fn)(uintptr_t)named(&slot, "PMPI_File_get_position", caller);
	return fn && fn(file, &at) == 0 ? at : -1;
}

int64_t scribe_file_byte(const void *file, const struct scribe_file_view *view, int64_t at, uint64_t bytes,
			 const void *caller)
{
	static scribe_mpi_fn slot;
	byte_fn fn;
	int64_t byte;

	if (at < 0)
		return -1;
	if (view->kind == SCRIBE_VIEW_WHOLE &&
	    (__builtin_mul_overflow(at, view->element, &byte) || __builtin_add_overflow(byte, view->begin, &byte)))
		return -1;
	if (view->kind == SCRIBE_VIEW_WHOLE)
		return byte;
	/* With gaps MPI must compute it, and only if bytes were moved. */
	if (!bytes)
		return -1;
	fn = (byte_fn)(uintptr_t)named(&slot, "PMPI_File_get_byte_offset", caller);
	return fn && fn(file, at, &byte) == 0 ? byte : -1;
}
