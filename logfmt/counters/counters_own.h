/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ioscribe's own modules (ids from 48, skipped by stock readers). POSIX_EXT: logfmt/rules/posix_shard.h; ledger:
 * ledger_list.h
 */
#ifndef LOGFMT_COUNTERS_COUNTERS_OWN_H
#define LOGFMT_COUNTERS_COUNTERS_OWN_H

#define SCRIBE_PROCESS_COUNTERS(X) \
	X(SERIAL, proc_id, "number of the process, never reused within a daemon") \
	X(PARENT_SERIAL, parent_serial, "proc_id of the parent, 0 if started directly") \
	X(PID, pid, "process id in the initial namespace") \
	X(UID, uid, "user id") \
	X(NRANKS_WORLD, nranks_world, "ranks of its MPI world, 0 without MPI") \
	X(WAIT_STATUS, wait_status, "exit code << 8 | signal") \
	X(END_KIND, end_kind, "0 still running, 1 exited, 2 signalled, 3 lost") \
	X(RECORDS, records, "records of files") \
	X(OVERFLOWED_FILES, overflowed_files, "files folded into the catch-all record") \
	X(BYTES_READ, bytes_read, "bytes read") \
	X(BYTES_WRITTEN, bytes_written, "bytes written") \
	X(OPERATIONS, operations, "operations recorded")

#define SCRIBE_PROCESS_F_COUNTERS(X) \
	X(START, start, "start, seconds from the job's start") \
	X(END, end, "end, seconds from the job's start; 0 still running") \
	X(CPU_TIME, cpu_time, "processor time of its ended threads, seconds; -1 unknown") \
	X(TRACING_TIME, tracing_time, "of this, in the tracer's kernel programs, estimated; -1 unknown")

enum scribe_process_end {
	SCRIBE_END_RUNNING = 0,
	SCRIBE_END_EXITED = 1,
	SCRIBE_END_SIGNALLED = 2,
	SCRIBE_END_LOST = 3,
};

/* LAYERS: bytes and time of one file at each level. X(name, rule, text) */
#define SCRIBE_LAYERS_COUNTERS(X) \
	X(HDF5_BYTES_READ, SUM, "bytes read from datasets of the file") \
	X(HDF5_BYTES_WRITTEN, SUM, "bytes written to datasets of the file") \
	X(PNETCDF_BYTES_READ, SUM, "bytes read from variables of the file") \
	X(PNETCDF_BYTES_WRITTEN, SUM, "bytes written to variables of the file") \
	X(MPIIO_BYTES_READ, SUM, "bytes read by MPI-IO calls") \
	X(MPIIO_BYTES_WRITTEN, SUM, "bytes written by MPI-IO calls") \
	X(POSIX_BYTES_READ, SUM, "bytes read by system calls, streams included") \
	X(POSIX_BYTES_WRITTEN, SUM, "bytes written by system calls, streams included") \
	X(HDF5_BENEATH_READ, SUM, "bytes that system calls inside HDF5 calls read") \
	X(HDF5_BENEATH_WRITTEN, SUM, "bytes that system calls inside HDF5 calls wrote") \
	X(PNETCDF_BENEATH_READ, SUM, "bytes that system calls inside PnetCDF calls read") \
	X(PNETCDF_BENEATH_WRITTEN, SUM, "bytes that system calls inside PnetCDF calls wrote") \
	X(MPIIO_BENEATH_READ, SUM, "bytes that system calls inside MPI-IO calls read") \
	X(MPIIO_BENEATH_WRITTEN, SUM, "bytes that system calls inside MPI-IO calls wrote")

/* Ratios of sums; -1: nothing at the upper level. */
#define SCRIBE_LAYERS_F_COUNTERS(X) \
	X(HDF5_BENEATH_TIME, SUM, "time in system calls inside HDF5 calls, seconds") \
	X(PNETCDF_BENEATH_TIME, SUM, "time in system calls inside PnetCDF calls, seconds") \
	X(MPIIO_BENEATH_TIME, SUM, "time in system calls inside MPI-IO calls, seconds") \
	X(READ_POSIX_PER_TOP, CUSTOM, "bytes read by system calls for a byte read at the highest level used") \
	X(WRITE_POSIX_PER_TOP, CUSTOM, "bytes written by system calls for a byte written at the highest level used") \
	X(READ_MPIIO_PER_TOP, CUSTOM, "bytes read by MPI-IO for a byte read by HDF5 and PnetCDF") \
	X(WRITE_MPIIO_PER_TOP, CUSTOM, "bytes written by MPI-IO for a byte written by HDF5 and PnetCDF") \
	X(READ_POSIX_PER_MPIIO, CUSTOM, "bytes read by system calls for a byte read by MPI-IO") \
	X(WRITE_POSIX_PER_MPIIO, CUSTOM, "bytes written by system calls for a byte written by MPI-IO")

enum scribe_layers_id {
#define SCRIBE_X(name, rule, text) SCRIBE_LAYERS_##name,
	SCRIBE_LAYERS_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_LAYERS_COUNT
};

enum scribe_layers_f_id {
#define SCRIBE_X(name, rule, text) SCRIBE_LAYERS_F_##name,
	SCRIBE_LAYERS_F_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_LAYERS_F_COUNT
};

/* Of a mount on a node, where the client of its file system keeps totals; -1: not kept. */
#define SCRIBE_MOUNTS_COUNTERS(X) \
	X(SHARED, SUM, "1: another job was traced on the node in the same time") \
	X(CLIENT_BYTES_READ, UNKNOWN, "bytes that the node read from the server since the job began") \
	X(CLIENT_BYTES_WRITTEN, UNKNOWN, "bytes that the node wrote to the server") \
	X(CLIENT_REQUESTS, UNKNOWN, "requests to the server") \
	X(CLIENT_ERRORS, UNKNOWN, "of these, refused by the server, also ENOENT")

#define SCRIBE_MOUNTS_F_COUNTERS(X) \
	X(CLIENT_RTT_TIME, SUM, "of all requests, from sending to the reply, seconds") \
	X(CLIENT_QUEUE_TIME, SUM, "of all requests, until they were sent, seconds")

enum scribe_mounts_id {
#define SCRIBE_X(name, rule, text) SCRIBE_MOUNTS_##name,
	SCRIBE_MOUNTS_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_MOUNTS_COUNT
};

enum scribe_mounts_f_id {
#define SCRIBE_X(name, rule, text) SCRIBE_MOUNTS_F_##name,
	SCRIBE_MOUNTS_F_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_MOUNTS_F_COUNT
};

#define SCRIBE_LEDGER_F_COUNTERS(X) \
	X(DAEMON_CPU, FACT, "processor time of the daemon for this job, seconds") \
	X(KERNEL_CPU, FACT, "processor time of the kernel programs, estimated, seconds") \
	X(DRAIN_TIME, FACT, "time spent collecting records, seconds") \
	X(FINALIZE_TIME, FACT, "time from the world's last process to the log, seconds") \
	X(KERNEL_MEMORY, FACT, "kernel memory of all maps, bytes") \
	X(PROGRAM_MISSES, LOSS, "runs of our programs that the kernel skipped") \
	X(LATE_PROCS, LOSS, "processes that had begun before their system calls and libraries were recorded") \
	X(LATE_CALLS, FACT, "reads and writes that processes made until then, in no record")

enum scribe_ledger_f_id {
#define SCRIBE_X(name, meaning, text) SCRIBE_LEDGER_F_##name,
	SCRIBE_LEDGER_F_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_LEDGER_F_COUNT
};

#endif
