/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ledger: operations recorded, approximate or lost, by cause, as counted by kernel programs. Append only: the
 * order is part of the format.
 */
#ifndef LOGFMT_COUNTERS_LEDGER_LIST_H
#define LOGFMT_COUNTERS_LEDGER_LIST_H

/* Only losses make a log incomplete. */
enum scribe_ledger_meaning {
	SCRIBE_IS_FACT,
	SCRIBE_IS_APPROX, /* counted, but a value is approximate */
	SCRIBE_IS_LOSS,
	SCRIBE_IS_DROP, /* a loss that also marks the module POSIX as incomplete */
};

#define SCRIBE_LEDGER(X)                                                                                     \
	X(EVENTS, FACT, "operations seen on files that count")                                               \
	X(RECORDED, FACT, "operations recorded in a file's own record")                                      \
	X(OVERFLOWED, FACT, "operations recorded in a process's catch-all record")                           \
	X(OVERFLOWED_FILES, FACT, "files folded because records ran out, or because their user had as many as one may have") \
	X(ATOMIC, APPROX, "operations recorded without a lock, all shards being busy")                       \
	X(APPROX_OFFSET, APPROX, "offsets approximate: two threads on one description")                      \
	X(APPROX_VALUES, APPROX, "sizes or strides not in a table: tables ran out")                          \
	X(APPROX_TIME, APPROX, "times approximate: cursor contended, or no clock allowed")                   \
	X(DROP_NO_SLOT, DROP, "operations lost: no record and no catch-all")                                 \
	X(DROP_NO_PROC, DROP, "processes not traced: process table full")                                    \
	X(DROP_STORAGE, DROP, "threads not traced: task storage refused")                                    \
	X(NAME_RETRY, FACT, "names sent again after the ring was full")                                      \
	X(NAME_CUT, APPROX, "names longer than the limit, cut")                                              \
	X(NAME_UNREADABLE, LOSS, "path arguments that could not be read")                                    \
	X(EVENT_LOST, LOSS, "process events lost: ring full")                                                \
	X(ENV_LOST, LOSS, "environment pieces lost: ring full")                                              \
	X(CACHE_FULL, APPROX, "descriptions looked up by path: table full")                                  \
	X(SLOT_INDEX_FULL, LOSS, "file table full")                                                          \
	X(SCRATCH_BUSY, LOSS, "path work put off: no scratch memory")                                        \
	X(COMPAT_SYSCALL, LOSS, "32-bit system calls, not recorded")                                         \
	X(AIO_SUBMITTED, FACT, "libaio operations submitted")                                                \
	X(AIO_COMPLETED, FACT, "libaio operations seen to complete")                                         \
	X(AIO_UNMATCHED, LOSS, "libaio operations whose end was not seen")                                   \
	X(AIO_LOST, LOSS, "libaio submissions not tracked: table full")                                      \
	X(URING_SUBMITTED, FACT, "io_uring requests submitted")                                              \
	X(URING_COMPLETED, FACT, "io_uring requests completed and recorded")                                 \
	X(URING_UNMATCHED, LOSS, "io_uring requests whose end was not seen")                                 \
	X(URING_LOST, LOSS, "io_uring submissions not tracked: table full")                                  \
	X(URING_DIRECT_OPEN, FACT, "io_uring opens into direct descriptors")           \
	X(NOT_REGULAR, FACT, "operations on other than regular files, not counted")                          \
	X(EXCLUDED, FACT, "operations on excluded paths, not counted")                                       \
	X(IOVEC_CUT, APPROX, "vectors longer than looked at for alignment")                                  \
	X(SLOT_RACE, FACT, "records given back after two threads met a file at once")                        \
	X(FAILED_PATHS, FACT, "calls on paths that returned an error, not counted by file")                  \
	X(URING_OTHER, LOSS, "io_uring requests that no counter has: on paths, splice")                 \
	X(STREAM_STATS, FACT, "stat calls on descriptors of stdio streams, in no record")                    \
	X(STREAM_CALLS, FACT, "system calls of stdio streams whose calls are counted instead")               \
	X(LIB_DROPPED, LOSS, "library calls lost: no record left")                                           \
	X(LIB_UNKNOWN, LOSS, "library calls on handles whose open was not seen")                             \
	X(LIB_SIZE_UNKNOWN, LOSS, "library calls whose size could not be told, counted without bytes")       \
	X(LIB_HANDLES_FULL, LOSS, "open handles of libraries not kept: table full")                          \
	X(NAME_LOST, LOSS, "records without a name: its file was closed before the ring had room")           \
	X(LAYOUT_TIMEOUT, LOSS, "files whose layout is unknown: no answer in time")                          \
	X(NAME_UNRESOLVED, LOSS, "path arguments whose links were not followed: no answer in time")          \
	X(IO_CALLS, FACT, "reads and writes of ended threads by the kernel's own accounting")                \
	X(IO_BYTES, FACT, "bytes that they moved by it")                                                     \
	X(IO_MISSED_CALLS, LOSS, "of these calls, those neither recorded nor left out")                      \
	X(IO_MISSED_BYTES, LOSS, "bytes that these moved")                                                   \
	X(LEFT_PIPE_CALLS, FACT, "reads and writes of pipes, left out")                                      \
	X(LEFT_PIPE_BYTES, FACT, "bytes that they moved")                                                    \
	X(LEFT_SOCKET_CALLS, FACT, "reads and writes of sockets, left out")                                  \
	X(LEFT_SOCKET_BYTES, FACT, "bytes that they moved")                                                  \
	X(LEFT_OTHER_CALLS, FACT, "reads and writes of terminals, devices and the like, left out")           \
	X(LEFT_OTHER_BYTES, FACT, "bytes that they moved")                                                   \
	X(LEFT_EXCLUDED_CALLS, FACT, "reads and writes of excluded files, left out")                         \
	X(LEFT_EXCLUDED_BYTES, FACT, "bytes that they moved")                                                \
	X(LEFT_BEFORE_CALLS, FACT,                                                                           \
	  "reads and writes before the process was enrolled, or made by the kernel to execute it")           \
	X(LEFT_BEFORE_BYTES, FACT, "bytes that they moved")                                                  \
	X(NOT_JUDGED, LOSS, "names and programs not excluded: a pattern reached a limit, or no answer came") \
	X(STREAMS_STOPPED, LOSS,                                                                             \
	  "streams whose calls were not counted to the end (in logs of earlier builds; now 0)")              \
	X(SEGMENTS, FACT, "operations kept one by one, with their times (DXT)")                              \
	X(SEGMENTS_NO_LEAF, LOSS, "of them lost: more than the daemon took in time")                         \
	X(SEGMENTS_NO_ROOM, LOSS, "of them lost: dxt_memory and dxt_spool were used up")                     \
	X(SEGMENTS_UNTOLD, LOSS, "of them lost with a daemon that ended")

#endif
