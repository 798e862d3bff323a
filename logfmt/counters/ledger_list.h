/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of the completeness ledger: what was seen, recorded, overflowed, made
 * approximate or lost, by cause. The kernel programs count them, the log holds
 * them, the tools print them. Append only: the order is part of the log format.
 */
#ifndef LOGFMT_COUNTERS_LEDGER_LIST_H
#define LOGFMT_COUNTERS_LEDGER_LIST_H

#define SCRIBE_LEDGER(X)                                                                                     \
	X(EVENTS, "operations seen on files that count")                                                     \
	X(RECORDED, "operations recorded in a file's own record")                                            \
	X(OVERFLOWED, "operations recorded in a process's catch-all record")                                 \
	X(OVERFLOWED_FILES, "files folded because records ran out, or because their user had as many as one may have")  \
	X(ATOMIC, "operations recorded without a lock, all shards being busy")                               \
	X(APPROX_OFFSET, "offsets approximate: two threads on one description")                              \
	X(APPROX_VALUES, "sizes or strides not in a table: tables ran out")                                  \
	X(APPROX_TIME, "times approximate: cursor contended, or no clock allowed")                           \
	X(DROP_NO_SLOT, "operations lost: no record and no catch-all")                                       \
	X(DROP_NO_PROC, "processes not traced: process table full")                                          \
	X(DROP_STORAGE, "threads not traced: task storage refused")                                          \
	X(NAME_RETRY, "names sent again after the ring was full")                                            \
	X(NAME_CUT, "names longer than the limit, cut")                                                      \
	X(NAME_UNREADABLE, "path arguments that could not be read")                                          \
	X(EVENT_LOST, "process events lost: ring full")                                                      \
	X(ENV_LOST, "environment pieces lost: ring full")                                                    \
	X(CACHE_FULL, "descriptions looked up by path: table full")                                          \
	X(SLOT_INDEX_FULL, "file table full")                                                                \
	X(SCRATCH_BUSY, "path work put off: no scratch memory")                                              \
	X(COMPAT_SYSCALL, "32-bit system calls, not recorded")                                               \
	X(AIO_SUBMITTED, "libaio operations submitted")                                                      \
	X(AIO_COMPLETED, "libaio operations seen to complete")                                               \
	X(AIO_UNMATCHED, "libaio operations whose end was not seen")                                     \
	X(AIO_LOST, "libaio submissions not tracked: table full")                                            \
	X(URING_SUBMITTED, "io_uring requests submitted")                                                    \
	X(URING_COMPLETED, "io_uring requests completed and recorded")                                       \
	X(URING_UNMATCHED, "io_uring requests whose end was not seen")                                 \
	X(URING_LOST, "io_uring submissions not tracked: table full")                                        \
	X(URING_DIRECT_OPEN, "io_uring opens into direct descriptors")                                       \
	X(NOT_REGULAR, "operations on other than regular files, not counted")                                \
	X(EXCLUDED, "operations on excluded paths, not counted")                                             \
	X(IOVEC_CUT, "vectors longer than looked at for alignment")                                          \
	X(SLOT_RACE, "records given back after two threads met a file at once")                              \
	X(FAILED_PATHS, "calls on paths that returned an error, not counted by file")                        \
	X(URING_OTHER, "io_uring requests that no counter has: on paths, splice")                                           \
	X(STREAM_STATS, "stat calls on descriptors of stdio streams, in no record")                          \
	X(STREAM_CALLS, "system calls of stdio streams whose calls are counted instead")                     \
	X(LIB_DROPPED, "library calls lost: no record left")                                                 \
	X(LIB_UNKNOWN, "library calls on handles whose open was not seen")                                   \
	X(LIB_SIZE_UNKNOWN, "library calls whose size could not be told, counted without bytes")             \
	X(LIB_HANDLES_FULL, "open handles of libraries not kept: table full")                                \
	X(NAME_LOST, "records without a name: its file was closed before the ring had room")                 \
	X(LAYOUT_TIMEOUT, "files whose layout is unknown: no answer in time")                                \
	X(NAME_UNRESOLVED, "path arguments whose links were not followed: no answer in time")                \
	X(IO_CALLS, "reads and writes of ended threads by the kernel's own accounting")                      \
	X(IO_BYTES, "bytes that they moved by it")                                                           \
	X(IO_MISSED_CALLS, "of these calls, those neither recorded nor left out")                            \
	X(IO_MISSED_BYTES, "bytes that these moved")                                                         \
	X(LEFT_PIPE_CALLS, "reads and writes of pipes, left out")                                            \
	X(LEFT_PIPE_BYTES, "bytes that they moved")                                                          \
	X(LEFT_SOCKET_CALLS, "reads and writes of sockets, left out")                                        \
	X(LEFT_SOCKET_BYTES, "bytes that they moved")                                                        \
	X(LEFT_OTHER_CALLS, "reads and writes of terminals, devices and the like, left out")                 \
	X(LEFT_OTHER_BYTES, "bytes that they moved")                                                         \
	X(LEFT_EXCLUDED_CALLS, "reads and writes of excluded files, left out")                               \
	X(LEFT_EXCLUDED_BYTES, "bytes that they moved")                                                      \
	X(LEFT_BEFORE_CALLS,                                                                                 \
	  "reads and writes before the process was enrolled, or made by the kernel to execute it")           \
	X(LEFT_BEFORE_BYTES, "bytes that they moved")                                                        \
	X(NOT_JUDGED, "names and programs not excluded: a pattern reached a limit, or no answer came")       \
	X(STREAMS_STOPPED,                                                                                   \
	  "streams whose calls were not counted to the end (in logs of earlier builds; now 0)")               \
	X(SEGMENTS, "operations kept one by one, with their times (DXT)")                                    \
	X(SEGMENTS_NO_LEAF, "of them lost: more than the daemon took in time")               \
	X(SEGMENTS_NO_ROOM, "of them lost: dxt_memory and dxt_spool were used up")                           \
	X(SEGMENTS_UNTOLD, "of them lost with a daemon that ended")

#endif
