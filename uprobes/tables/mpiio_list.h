/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data functions of MPI-IO: name after MPI_File_, direction, counter, positions of count and datatype, and the
 * offset: argument 2, the process's pointer or the shared one. Each also has a _c form. Used by the probe table
 * and by runtime/client/wrap/mpiio_files.c.
 */
#ifndef UPROBES_TABLES_MPIIO_LIST_H
#define UPROBES_TABLES_MPIIO_LIST_H

#define SCRIBE_MPIIO_DATA(X) \
	X(read, READ, INDEP_READS, 2, 3, POINTER) \
	X(read_at, READ, INDEP_READS, 3, 4, AT) \
	X(read_shared, READ, INDEP_READS, 2, 3, SHARED) \
	X(write, WRITE, INDEP_WRITES, 2, 3, POINTER) \
	X(write_at, WRITE, INDEP_WRITES, 3, 4, AT) \
	X(write_shared, WRITE, INDEP_WRITES, 2, 3, SHARED) \
	X(read_all, READ, COLL_READS, 2, 3, POINTER) \
	X(read_at_all, READ, COLL_READS, 3, 4, AT) \
	X(read_ordered, READ, COLL_READS, 2, 3, SHARED) \
	X(write_all, WRITE, COLL_WRITES, 2, 3, POINTER) \
	X(write_at_all, WRITE, COLL_WRITES, 3, 4, AT) \
	X(write_ordered, WRITE, COLL_WRITES, 2, 3, SHARED) \
	X(read_all_begin, READ, SPLIT_READS, 2, 3, POINTER) \
	X(read_at_all_begin, READ, SPLIT_READS, 3, 4, AT) \
	X(read_ordered_begin, READ, SPLIT_READS, 2, 3, SHARED) \
	X(write_all_begin, WRITE, SPLIT_WRITES, 2, 3, POINTER) \
	X(write_at_all_begin, WRITE, SPLIT_WRITES, 3, 4, AT) \
	X(write_ordered_begin, WRITE, SPLIT_WRITES, 2, 3, SHARED) \
	X(iread, READ, NB_READS, 2, 3, POINTER) \
	X(iread_at, READ, NB_READS, 3, 4, AT) \
	X(iread_shared, READ, NB_READS, 2, 3, SHARED) \
	X(iread_all, READ, NB_READS, 2, 3, POINTER) \
	X(iread_at_all, READ, NB_READS, 3, 4, AT) \
	X(iwrite, WRITE, NB_WRITES, 2, 3, POINTER) \
	X(iwrite_at, WRITE, NB_WRITES, 3, 4, AT) \
	X(iwrite_shared, WRITE, NB_WRITES, 2, 3, SHARED) \
	X(iwrite_all, WRITE, NB_WRITES, 2, 3, POINTER) \
	X(iwrite_at_all, WRITE, NB_WRITES, 3, 4, AT)

#endif
