/* SPDX-License-Identifier: BSD-3-Clause */
/* What a log shows of each file and of the job, as named numbers that rules compare. */
#ifndef UTIL_ADVICE_FACTS_H
#define UTIL_ADVICE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/records/hashmap.h"
#include "util/logs/logfile.h"
#include "util/logs/rank_times.h"

/* clang-format off */
/* X(name, unit, counters, text). Of a file: over its records. Of the job: over all files. */
#define SCRIBE_FILE_FACTS(X) \
	X(opens, COUNT, "POSIX_OPENS", "POSIX opens") \
	X(reads, COUNT, "POSIX_READS", "POSIX reads") \
	X(writes, COUNT, "POSIX_WRITES", "POSIX writes") \
	X(bytes_read, BYTES, "POSIX_BYTES_READ", "bytes read by POSIX") \
	X(bytes_written, BYTES, "POSIX_BYTES_WRITTEN", "bytes written by POSIX") \
	X(accesses, COUNT, "POSIX_READS + WRITES", "POSIX reads and writes") \
	X(small_reads, COUNT, "POSIX_SIZE_READ_0_100 to 100K_1M", "reads below 1 MiB in files of at least 8 reads") \
	X(small_writes, COUNT, "POSIX_SIZE_WRITE_0_100 to 100K_1M", "writes below 1 MiB in files of at least 8 writes") \
	X(shared_reads, COUNT, "POSIX_READS, rank -1", "reads of files that all ranks share") \
	X(shared_writes, COUNT, "POSIX_WRITES, rank -1", "writes of files that all ranks share") \
	X(small_shared_reads, COUNT, "POSIX_SIZE_READ_0_100 to 100K_1M, rank -1", "of these, below 1 MiB") \
	X(small_shared_writes, COUNT, "POSIX_SIZE_WRITE_0_100 to 100K_1M, rank -1", "of these, below 1 MiB") \
	X(random_reads, COUNT, "POSIX_READS - SEQ_READS", "reads that began before the end of the one before") \
	X(random_writes, COUNT, "POSIX_WRITES - SEQ_WRITES", "writes that began before the end of the one before") \
	X(unaligned, COUNT, "POSIX_FILE_NOT_ALIGNED", "operations not aligned to the file system's blocks") \
	X(unaligned_memory, COUNT, "POSIX_MEM_NOT_ALIGNED", "operations on memory that is not aligned") \
	X(switches, COUNT, "POSIX_RW_SWITCHES", "changes between reading and writing") \
	X(seeks, COUNT, "POSIX_SEEKS", "seeks") \
	X(syncs, COUNT, "POSIX_FSYNCS + FDSYNCS", "fsync and fdatasync calls") \
	X(reread, BYTES, "POSIX_BYTES_READ - MAX_BYTE_READ, ranks' own records", "bytes that a rank read again") \
	X(rewritten, BYTES, "POSIX_BYTES_WRITTEN - MAX_BYTE_WRITTEN, ranks' own records", "bytes that a rank wrote again") \
	X(read_time, SECONDS, "POSIX_F_READ_TIME", "time in reads, over ranks") \
	X(write_time, SECONDS, "POSIX_F_WRITE_TIME", "time in writes, over ranks") \
	X(meta_time, SECONDS, "POSIX_F_META_TIME", "time in metadata operations, over ranks") \
	X(straggle, SECONDS, "MPIIO_F_ or POSIX_F_SLOWEST_RANK_TIME", "time of a shared file's slowest rank beyond the average") \
	X(shared_time, SECONDS, "MPIIO_F_ or POSIX_F_SLOWEST_RANK_TIME", "time of a shared file's slowest rank") \
	X(imbalance, BYTES, "MPIIO_ or POSIX_SLOWEST_RANK_BYTES, FASTEST_RANK_BYTES", "difference of two ranks' bytes in a file") \
	X(shared_bytes, BYTES, "MPIIO_ or POSIX_SLOWEST_RANK_BYTES, FASTEST_RANK_BYTES", "the larger of the two") \
	X(stream_bytes, BYTES, "STDIO_BYTES_READ + BYTES_WRITTEN", "bytes moved by streams (stdio)") \
	X(stream_bytes_read, BYTES, "STDIO_BYTES_READ", "of these, read") \
	X(stream_time, SECONDS, "STDIO_F_ times", "time in streams, over ranks") \
	X(all_bytes, BYTES, "POSIX_ and STDIO_BYTES_READ + BYTES_WRITTEN", "bytes moved by POSIX and streams") \
	X(streams, COUNT, "STDIO_READS + WRITES", "reads and writes of streams") \
	X(mpi_reads, COUNT, "MPIIO_*_READS", "MPI-IO reads") \
	X(mpi_writes, COUNT, "MPIIO_*_WRITES", "MPI-IO writes") \
	X(mpi_alone_reads, COUNT, "MPIIO_INDEP_READS", "of these, independent") \
	X(mpi_alone_writes, COUNT, "MPIIO_INDEP_WRITES", "of these, independent") \
	X(mpi_blocking_reads, COUNT, "MPIIO_INDEP_READS + COLL_READS", "of these, blocking") \
	X(mpi_blocking_writes, COUNT, "MPIIO_INDEP_WRITES + COLL_WRITES", "of these, blocking") \
	X(shared_posix, COUNT, "POSIX_READS + WRITES, rank -1", "reads and writes of shared files without MPI-IO") \
	X(mapped_bytes, BYTES, "EXT_MAPPED_BYTES", "bytes mapped") \
	X(unused_opens, COUNT, "POSIX_OPENS", "opens of files that were neither read, written nor mapped") \
	X(discarded, BYTES, "EXT_CREATES, EXT_UNLINKS, POSIX_BYTES_WRITTEN", "bytes written to files that were removed unread") \
	X(path_calls, COUNT, "POSIX_STATS + EXT_ACCESSES + EXT_READLINKS", "calls that look up a path") \
	X(failed_data, COUNT, "EXT_FAILED_DATA", "reads and writes that failed") \
	X(amplified_read, BYTES, "LAYERS_POSIX_BYTES_READ", "bytes read beyond what HDF5, PnetCDF or MPI-IO asked for") \
	X(amplified_written, BYTES, "LAYERS_POSIX_BYTES_WRITTEN", "bytes written beyond it") \
	X(top_read, BYTES, "LAYERS_*_BYTES_READ", "bytes read at the highest level used") \
	X(top_written, BYTES, "LAYERS_*_BYTES_WRITTEN", "bytes written at the highest level used") \
	X(fetched, BYTES, "CACHE_BYTES_FETCHED", "bytes that reads fetched from a device or server") \
	X(fetch_unknown, BYTES, "POSIX_BYTES_READ", "bytes read of files with CACHE_BYTES_FETCHED -1") \
	X(fetched_unread, BYTES, "CACHE_BYTES_FETCHED - POSIX_BYTES_READ", "of these, beyond what was read") \
	X(fetched_again, BYTES, "CACHE_BYTES_FETCHED - POSIX_MAX_BYTE_READ", "of these, beyond the file's length as far as read") \
	X(fetch_time, SECONDS, "CACHE_F_FETCH_TIME", "time of reads that fetched, over ranks") \
	X(direct_read, BYTES, "CACHE_DIRECT_BYTES_READ", "bytes read with O_DIRECT") \
	X(direct_written, BYTES, "CACHE_DIRECT_BYTES_WRITTEN", "bytes written with O_DIRECT") \
	X(dirtied, BYTES, "CACHE_BYTES_DIRTIED", "bytes of pages that writes made dirty") \
	X(throttled, SECONDS, "CACHE_F_THROTTLED_TIME", "time for which the kernel held writers back") \
	X(faults, COUNT, "CACHE_MINOR_FAULTS + MAJOR_FAULTS", "page faults in mapped files") \
	X(faulted, BYTES, "CACHE_BYTES_FAULTED", "bytes that page faults fetched") \
	X(one_stripe, BYTES, "LUSTRE_STRIPE_COUNT", "bytes of shared files on a single Lustre target") \
	X(shared_moved, BYTES, "POSIX_BYTES_READ + BYTES_WRITTEN, rank -1", "bytes moved in shared files")

/* Of the job alone. */
#define SCRIBE_JOB_FACTS(X) \
	X(job, COUNT, "", "always 1") \
	X(ranks, COUNT, "nprocs", "ranks") \
	X(run_time, SECONDS, "start and end of the job", "time that the job ran") \
	X(io_time, SECONDS, "POSIX_F_, STDIO_F_ or MPIIO_F_ times", "time of I/O of the slowest rank") \
	X(rank_gap, SECONDS, "the same", "time of I/O of the slowest rank beyond the average") \
	X(rank_meta_time, SECONDS, "POSIX_F_META_TIME, STDIO_F_META_TIME", "time in metadata operations of the slowest rank") \
	X(files, COUNT, "", "files read or written") \
	X(small_files, COUNT, "POSIX_MAX_BYTE_*, STDIO_MAX_BYTE_*", "of these, below 1 MiB") \
	X(processes, COUNT, "PROCESS records", "processes of the log") \
	X(failed_processes, COUNT, "PROCESS_END_KIND, PROCESS_WAIT_STATUS", "of these, killed, or ranks and first processes with an error") \
	X(python, COUNT, "PROCESS records", "processes of Python") \
	X(outside_bytes, BYTES, "PROCESS_BYTES_READ + BYTES_WRITTEN", "bytes of processes that are not ranks") \
	X(failed_paths, COUNT, "LEDGER_FAILED_PATHS", "calls on paths that failed") \
	X(path_total, COUNT, "LEDGER_FAILED_PATHS, opens, path_calls", "calls on paths") \
	X(lost, COUNT, "LEDGER losses", "operations or names that are missing, at least") \
	X(partial, COUNT, "partial flags", "modules that lack records") \
	X(overflowed, COUNT, "LEDGER_OVERFLOWED_FILES", "files that share a record because records ran out") \
	X(cpu_time, SECONDS, "PROCESS_F_CPU_TIME", "processor time of ended processes") \
	X(tracing_time, SECONDS, "PROCESS_F_TRACING_TIME", "of this, in the tracer's kernel programs") \
	X(tracer_time, SECONDS, "LEDGER_F_DAEMON_CPU", "processor time of the tracer's daemon")
/* clang-format on */

enum scribe_fact_unit { SCRIBE_UNIT_COUNT, SCRIBE_UNIT_BYTES, SCRIBE_UNIT_SECONDS };

enum scribe_fact {
#define SCRIBE_X(name, unit, counters, text) SCRIBE_FACT_##name,
	SCRIBE_FILE_FACTS(SCRIBE_X) SCRIBE_NFILE_FACTS,
	SCRIBE_FACT_before_job = SCRIBE_NFILE_FACTS - 1,
	SCRIBE_JOB_FACTS(SCRIBE_X)
#undef SCRIBE_X
		SCRIBE_NFACTS
};

struct scribe_file_facts {
	uint64_t id;
	int64_t top;                /* highest byte read or written */
	int64_t stripes;            /* of Lustre; -1: unknown */
	int64_t slow_rank;          /* of a shared file; -1: unknown */
	int64_t most_rank;          /* of the two ranks compared in `imbalance`, that with more bytes */
	double most, least, owners; /* bytes of ranks' own records, and the number of these */
	bool created, removed, mapped, mpi, cufile;
	bool fetch_unknown; /* it cannot be told whether its bytes came from the page cache */
	double v[SCRIBE_NFILE_FACTS];
};

/* I/O time of ranks, in seconds. */
struct scribe_level {
	struct scribe_rank_times own; /* in ranks' own records */
	double slow, all, meta; /* in shared records: of each one's slowest rank, of all ranks, of all in metadata */
};

struct scribe_facts {
	struct scribe_log *log; /* borrowed, with names */
	struct scribe_map by_id;
	struct scribe_file_facts **file;
	size_t nfiles, capacity;
	struct scribe_level level[2];                   /* POSIX with STDIO, and MPI-IO, which includes time in POSIX */
	int64_t slow_rank, slow_meta_rank, failed_rank; /* -1: none */
	double v[SCRIBE_NFACTS];                        /* of the job */
	double nodes;                                   /* with a ledger */
	/* Bytes by cuFile, bytes of the same files by system calls, requests to cuFile with unknown bytes. */
	double cufile_bytes, cufile_calls, cufile_unsized;
};

/* One pass over each module. Freed by scribe_facts_clear, also after an error. */
int scribe_facts_read(struct scribe_facts *f, struct scribe_log *log, struct scribe_err *err);
void scribe_facts_clear(struct scribe_facts *f);
/* I/O time below MPI-IO, over ranks. `v`: of a file or of the job. */
double scribe_file_seconds(const double *v);
/* NULL: no file has any. */
const struct scribe_file_facts *scribe_facts_slowest(const struct scribe_facts *f);
/* The rank that the fact is about; -1: none. `file`: NULL for the job. */
int64_t scribe_fact_rank(const struct scribe_facts *f, const struct scribe_file_facts *file, enum scribe_fact fact);
/* -1: no such fact. */
int scribe_fact_of(const char *name);

struct scribe_fact_about {
	const char *name, *counters, *text;
	enum scribe_fact_unit unit;
};
const struct scribe_fact_about *scribe_fact_about(enum scribe_fact fact);

#endif
