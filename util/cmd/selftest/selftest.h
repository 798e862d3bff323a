/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program of `ioscribe doctor --selftest` does, and what its log must have. */
#ifndef UTIL_CMD_SELFTEST_SELFTEST_H
#define UTIL_CMD_SELFTEST_SELFTEST_H

/* X(way, module, counter, value): of the file named as the way, below the program's directory. */
#define SCRIBE_SELFTEST(X) \
	X("posix", "POSIX", "POSIX_OPENS", 1) \
	X("posix", "POSIX", "POSIX_WRITES", 10) \
	X("posix", "POSIX", "POSIX_BYTES_WRITTEN", 40960) \
	X("posix", "POSIX", "POSIX_READS", 5) \
	X("posix", "POSIX", "POSIX_BYTES_READ", 2560) \
	X("posix", "POSIX", "POSIX_SEEKS", 1) \
	X("posix", "POSIX", "POSIX_FSYNCS", 1) \
	X("threads", "POSIX", "POSIX_OPENS", 1) \
	X("threads", "POSIX", "POSIX_WRITES", 1000) \
	X("threads", "POSIX", "POSIX_BYTES_WRITTEN", 1000000) \
	X("io_uring", "POSIX", "POSIX_OPENS", 1) \
	X("io_uring", "POSIX", "POSIX_WRITES", 16) \
	X("io_uring", "POSIX", "POSIX_BYTES_WRITTEN", 65536) \
	X("io_uring", "POSIX", "POSIX_READS", 8) \
	X("io_uring", "POSIX", "POSIX_BYTES_READ", 8192) \
	X("stdio", "STDIO", "STDIO_OPENS", 1) \
	X("stdio", "STDIO", "STDIO_WRITES", 100) \
	X("stdio", "STDIO", "STDIO_BYTES_WRITTEN", 10000) \
	X("stdio", "STDIO", "STDIO_READS", 10) \
	X("stdio", "STDIO", "STDIO_BYTES_READ", 100) \
	X("mpi_io", "MPI-IO", "MPIIO_INDEP_OPENS", 1) \
	X("mpi_io", "MPI-IO", "MPIIO_INDEP_WRITES", 4) \
	X("mpi_io", "MPI-IO", "MPIIO_INDEP_READS", 2) \
	X("mpi_io", "MPI-IO", "MPIIO_COLL_WRITES", 1) \
	X("mpi_io", "MPI-IO", "MPIIO_BYTES_WRITTEN", 5120) \
	X("mpi_io", "MPI-IO", "MPIIO_BYTES_READ", 2048)

#endif
