/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words spoken between the daemon and its peers: the runtime inside MPI
 * programs (clients) and `ioscribe run`. Unix SOCK_SEQPACKET, one message a
 * packet, native byte order (both ends are on one node).
 *
 * A message is a header and a payload of exactly `len` bytes. The receiver
 * checks magic, version, type and the payload's length against the type before
 * it reads a field; strings end in NUL inside their array. What fails a check
 * is answered by SCRIBE_MSG_ERROR and the connection is closed.
 *
 * A client's conversation; the peer's credentials
 * (SO_PEERCRED) decide whose records are spoken of:
 *
 *   client                         daemon
 *   HELLO  (MPI_Init)        ->
 *                            <-    HELLO_OK
 *   FETCH  (MPI_Finalize)    ->
 *                            <-    FETCH_OK + descriptor of a sealed memfd
 *   DONE                     ->
 *                            <-    DONE_OK
 *
 * A process that the runtime was preloaded into, of a service's job, before its program begins:
 *
 *   START                    ->
 *                            <-    START_OK (its system calls are recorded from now on)
 *
 * The memfd holds this rank's records as an uncompressed log image written by
 * logfmt/file/writer.h: job (start = base of all record times, end = now), names and
 * module regions. All local ranks of a world share one base; a runtime that
 * finds different job starts among its ranks (several nodes) moves the times by
 * (its start - earliest start) before reducing. Rank 0 gets a path: it creates
 * that file (O_EXCL, O_NOFOLLOW) and tells the others; the directory exists.
 * FETCH is answered when all ranks of the world on this node have said it, so
 * that no rank starts collective work with one that is late, stopped or dead:
 * while it waits a rank lets MPI make progress, and gives up by hanging up. When
 * one of them cannot come any more, all get an ERROR at once.
 * From FETCH to DONE_OK the daemon's kernel side ignores the I/O of thread
 * `tid`. If the runtime cannot finish, it says DONE with `ok` 0 or disconnects:
 * the daemon then writes the log from the records it kept. DONE_OK means the
 * daemon has taken note; it renames the file when the world's last process is
 * gone.
 *
 * `ioscribe run` on its socket pair:
 *
 *   RUN_BEGIN (key=value lines) ->
 *                               <-  READY (or ERROR: status, one line of text)
 *   ENROL {pid}                 ->
 *                               <-  ENROLLED (or ERROR)
 *   END {wait status}           ->
 *                               <-  LOG, one a log written
 *                               <-  RESULT
 * A hang-up instead of END: the daemon writes the log when the last process has
 * ended, and tells nobody.
 *
 * A service's READY says whether the job survives its daemon. Whose connection
 * is lost then connects again, as the same process, until a daemon answers:
 *
 *   RUN_REATTACH                   ->
 *                               <-  READY, then as after ENROLLED (or ERROR: it has no such job)
 *
 * On the socket of a service `ioscribe run` says the same; the peer's credentials
 * replace `uid`, `gid` and `user`, and only its own children can be enrolled.
 * `ioscribe job` sends one request a connection, a text of key=value lines:
 *
 *   JOB_BEGIN (job_id, uid, …)  ->
 *                               <-  with streams=1: JOB_ENTRY (new, stream, stream_uid, stream_hosts)
 *                               <-  JOB_OK
 *   JOB_END (job_id, …)         ->
 *                               <-  LOG, one a log written, RESULT (when it is over)
 *   JOB_TRACE (job_id, ms)      ->   a window on a job that runs
 *                               <-  JOB_OK, and when its time is over
 *                               <-  TRACED, then a log of its segments, uncompressed, in TRACE_PARTs
 *   JOB_TRACE (job_id, stop=1)  ->   that of this connection, else all of the job, end now
 *                               <-  JOB_OK, where this connection has none
 *   JOB_PUBLISH (job_id or pid) ->   the job's operations from now on, while the connection stands
 *                               <-  PUBLISH_OK + descriptor of a ring (logfmt/base/publish_ring.h)
 *   PUBLISH_TAKEN               ->   so much of it has been read
 *   JOB_READY (job_id, hook)    ->   a process of the job is about to be executed
 *                               <-  JOB_OK (its calls will be recorded from the first on)
 *   JOB_LIST, JOB_SHOW (job_id) ->
 *                               <-  JOB_ENTRY (key=value lines), one a job, JOB_OK
 *   JOB_STATUS                  ->
 *                               <-  JOB_ENTRY of the daemon (to root alone), one a user, JOB_OK
 *   LOOK                        ->   what is going on (logfmt/base/live_view.h); one after another
 *                               <-  LOOKED, as soon as the daemon has time for it
 *   JOB_CHECK (uid, …)          ->      (root: would a job with these options get its log?)
 *                               <-  JOB_ENTRY (log_dir, where one was written and removed), JOB_OK
 *
 * Root may ask about every job, anybody else about jobs of its own user id.
 */
#ifndef LOGFMT_BASE_PROTO_H
#define LOGFMT_BASE_PROTO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "logfmt/base/err.h"
#include "logfmt/base/live_view.h"

#define SCRIBE_MSG_MAGIC   0x62637369u /* "iscb" */
#define SCRIBE_MSG_VERSION 1u

#define SCRIBE_WORLD_MAX   256u   /* bytes of a world's name, NUL included */
#define SCRIBE_PATH_MAX    4096u  /* bytes of a path, NUL included */
#define SCRIBE_OPTIONS_MAX 49152u /* bytes of RUN_BEGIN's text */
#define SCRIBE_TEXT_MAX    512u   /* bytes of an error's text */
#define SCRIBE_MSG_MAX     65536u /* bytes of any message, header included */

/*
 * The service: a directory that holds its socket (0666), and files that others can see but neither open nor
 * list: `pid`, `loading` while it loads its programs, `attached` while programs stand at system calls, and
 * have for a while.
 */
#define SCRIBE_SERVICE_DIR    "/run/ioscribe"
#define SCRIBE_SERVICE_SOCKET "socket"
#define SCRIBE_SERVICE_LOADING "loading"
#define SCRIBE_SERVICE_ATTACHED "attached"
#define SCRIBE_SERVICE_CONFIG "/etc/ioscribe/ioscribed.conf"
#define SCRIBE_ENV_DIR        "IOSCRIBE_DIR"    /* another directory of the service */
#define SCRIBE_ENV_CONFIG     "IOSCRIBE_CONFIG" /* another configuration file of the service */

/* Names in the environment of traced programs. */
#define SCRIBE_ENV_SOCKET  "IOSCRIBE_SOCKET"  /* path of the daemon's socket */
#define SCRIBE_ENV_JOB     "IOSCRIBE_JOB"     /* the daemon's number of the job */
#define SCRIBE_ENV_STREAMS "IOSCRIBE_STREAMS" /* 0: programs do not count their streams themselves */
#define SCRIBE_ENV_DISABLE "IOSCRIBE_DISABLE" /* 1: the runtime does nothing */

enum scribe_msg_type {
	SCRIBE_MSG_ERROR = 1, /* daemon -> any: header.status, text */

	SCRIBE_MSG_HELLO = 2,
	SCRIBE_MSG_HELLO_OK = 3,
	SCRIBE_MSG_FETCH = 4,
	SCRIBE_MSG_FETCH_OK = 5, /* with SCM_RIGHTS: one descriptor */
	SCRIBE_MSG_DONE = 6,
	SCRIBE_MSG_DONE_OK = 7, /* no payload */
	SCRIBE_MSG_START = 10,
	SCRIBE_MSG_START_OK = 11, /* no payload */
	/* 9: memory of the program's own making, until 0.1 */
	SCRIBE_MSG_STREAMS = 12,
	SCRIBE_MSG_STREAMS_OK = 13, /* with SCM_RIGHTS: one descriptor; no payload */
	SCRIBE_MSG_PROBED = 14,     /* as START: answered when what the peer has mapped is probed */
	SCRIBE_MSG_PROBED_OK = 15, /* no payload */

	SCRIBE_MSG_RUN_BEGIN = 32, /* text, not NUL-terminated */
	SCRIBE_MSG_READY = 33,
	SCRIBE_MSG_ENROL = 34,
	SCRIBE_MSG_ENROLLED = 35,
	SCRIBE_MSG_END = 36,
	SCRIBE_MSG_LOG = 37,
	SCRIBE_MSG_RESULT = 38,
	SCRIBE_MSG_RUN_REATTACH = 39, /* no payload */
	SCRIBE_MSG_BUILDING = 40, /* daemon -> run: a log is being built, wait on; every 5 s; no payload */

	SCRIBE_MSG_JOB_BEGIN = 64, /* these five: text, not NUL-terminated */
	SCRIBE_MSG_JOB_END = 65,
	SCRIBE_MSG_JOB_LIST = 66,
	SCRIBE_MSG_JOB_SHOW = 67,
	SCRIBE_MSG_JOB_TRACE = 68,
	SCRIBE_MSG_JOB_ENTRY = 69, /* text too */
	SCRIBE_MSG_JOB_OK = 70,    /* no payload */
	SCRIBE_MSG_JOB_READY = 71, /* text, as the five */
	SCRIBE_MSG_JOB_CHECK = 72, /* text */
	SCRIBE_MSG_TRACED = 73,
	SCRIBE_MSG_LIVE_REQUEST = 74,
	SCRIBE_MSG_LIVE_REPLY = 75,  /* struct scribe_msg_looked, and items */
	SCRIBE_MSG_JOB_STATUS = 79,  /* no payload */
	SCRIBE_MSG_JOB_PUBLISH = 80, /* text */
	SCRIBE_MSG_PUBLISH_OK = 81,  /* with SCM_RIGHTS: one descriptor; no payload */
	SCRIBE_MSG_TRACE_PART = 82,  /* bytes of the log */
	SCRIBE_MSG_PUBLISH_TAKEN = 83,
};

/* header.status of an ERROR; 0 elsewhere. */
enum scribe_msg_status {
	SCRIBE_ST_OK = 0,
	SCRIBE_ST_BAD_MESSAGE = 1, /* malformed, or out of turn */
	SCRIBE_ST_NOT_TRACED = 2,  /* the peer's process is not enrolled */
	SCRIBE_ST_REFUSED = 3,     /* not this peer's to ask */
	SCRIBE_ST_FAILED = 4,      /* the daemon could not do it */
	SCRIBE_ST_UNABLE = 5,      /* not now, whatever was asked: a quota, a limit, no programs in the kernel */
};

struct scribe_msg_header {
	uint32_t magic;
	uint16_t version;
	uint16_t type;   /* enum scribe_msg_type */
	uint32_t status; /* enum scribe_msg_status */
	uint32_t len;    /* bytes of payload that follow */
};

enum scribe_mpi_kind { SCRIBE_MPI_UNKNOWN = 0, SCRIBE_MPI_MPICH = 1, SCRIBE_MPI_OPENMPI = 2 };

struct scribe_msg_start {
	uint64_t until_ns; /* CLOCK_MONOTONIC: most time that it waits for the answer */
};

struct scribe_msg_hello {
	int32_t rank;                 /* in MPI_COMM_WORLD */
	int32_t size;                 /* of MPI_COMM_WORLD */
	uint32_t tid;                 /* of the caller */
	uint32_t mpi;                 /* enum scribe_mpi_kind */
	char world[SCRIBE_WORLD_MAX]; /* PMIX namespace, or empty */
};

/* All ranks of the world are on this node: a refused FETCH is refused to all. */
#define SCRIBE_HELLO_WHOLE_WORLD 1u
/* Every rank known on this node has said HELLO: it is worth waiting for them all. */
#define SCRIBE_HELLO_ALL_MET 2u

struct scribe_msg_hello_ok {
	uint32_t collective;  /* 1: FETCH at finalize is welcome; 0: do nothing then */
	uint32_t finalize_timeout_ms; /* most time to spend in finalize */
	uint32_t flags;       /* SCRIBE_HELLO_*: as far as is known now */
	uint32_t pad;
};

/* Asks for memory in which the process counts its streams (logfmt/rules/streams.h). */
struct scribe_msg_streams {
	uint32_t id; /* the memory's */
	uint32_t pad;
	uint64_t made_ns; /* CLOCK_MONOTONIC: tells it from that of a program before or after it */
};

struct scribe_msg_fetch {
	uint32_t tid;   /* thread that will do the runtime's own I/O */
	uint32_t flags; /* 0 */
};

struct scribe_msg_fetch_ok {
	uint64_t image_bytes; /* size of the memfd */
	uint64_t partial;     /* partial_flag bits of this rank: operations were lost */
	uint32_t mem_align;   /* bytes */
	uint32_t pad;
	char path[SCRIBE_PATH_MAX]; /* rank 0: "….darshan_partial" to create; else empty */
};

struct scribe_msg_done {
	uint32_t ok; /* 1: every rank has agreed that the partial log is complete */
	uint32_t pad;
	char path[SCRIBE_PATH_MAX]; /* rank 0: the path it was given; else empty */
};

struct scribe_msg_ready {
	char socket[SCRIBE_PATH_MAX]; /* for SCRIBE_ENV_SOCKET; empty: no runtime */
	uint32_t job;                 /* for SCRIBE_ENV_JOB */
	uint32_t survives;            /* 1: another daemon goes on with it, see RUN_REATTACH */
	uint32_t wrap;                /* 1: programs are to count calls themselves (libioscribe-inside.so), */
	uint32_t no_streams;          /* 1: but none of streams */
};

struct scribe_msg_enrol {
	int32_t pid;
	uint32_t words; /* of its command line, the last ones: what it is going to execute; 0: not known */
};

struct scribe_msg_enrolled {
	uint32_t proc_id;
	uint32_t pad;
};

struct scribe_msg_end {
	int32_t wait_status; /* of CMD, as from waitpid */
	uint32_t exit_grace_ms; /* how long to wait for descendants still running */
};

/* What a log holds, for the summary on the terminal. */
struct scribe_msg_log {
	char path[SCRIBE_PATH_MAX];
	char world[SCRIBE_WORLD_MAX]; /* empty: the rest of the job */
	char exe[SCRIBE_WORLD_MAX];   /* beginning of the exe line */
	uint32_t nprocs;
	uint32_t collective;    /* 1: reduced by the ranks, 0: by the daemon */
	uint32_t partial;       /* 1: operations were lost */
	uint32_t still_running; /* processes alive when the log was written */
	uint32_t failed;        /* processes that ended by a signal or a code other than 0 */
	uint32_t part;          /* 1: a part, of which the job's last node makes the log */
	uint64_t processes, files, overflowed_files;
	uint64_t operations, bytes_read, bytes_written;
	double seconds;                                   /* job start to end */
	double read_seconds, write_seconds, meta_seconds; /* summed over records */
	char missing[320];                                /* not empty: why library calls are missing in it */
	char text[SCRIBE_TEXT_MAX];                       /* not empty: this log could not be written; why */
};

struct scribe_msg_result {
	uint32_t logs;   /* LOG messages sent before */
	uint32_t failed; /* of them: could not be written */
	uint64_t events, dropped;
	double tracer_seconds; /* CPU time of the daemon */
	char remote[32];       /* a program that started processes elsewhere, untraced; or empty */
};

/* What the log of a window holds. */
struct scribe_msg_traced {
	uint64_t segments, lost;
	uint64_t bytes; /* of the log that follows */
};

struct scribe_msg_publish_taken {
	uint64_t bytes; /* of frames, since the beginning */
};

/* Payload bytes a message of `type` must have; -1: text of any length. */
int scribe_msg_payload_bytes(unsigned type);

/*
 * Check a packet of `bytes` bytes. 0 and the payload's address in ret_payload,
 * or -EPROTO with the reason in err. String arrays of known types are checked
 * to end in NUL.
 */
int scribe_msg_check(const void *packet, size_t bytes, const void **ret_payload, struct scribe_err *err);

/* CLOCK_MONOTONIC in ms: what deadlines are counted in. */
int64_t scribe_msg_now_ms(void);
/* What is left until then, ms; 0 when it has passed. */
int scribe_msg_left_ms(int64_t deadline_ms);

/*
 * Connect a socket that does not block (`bytes` of `to` count). A full backlog says that the
 * listener is busy: tried again until the deadline. 0, -EAGAIN when that has passed, or another negative errno.
 */
struct sockaddr;
int scribe_msg_connect(int sock, const struct sockaddr *to, unsigned bytes, int64_t deadline_ms);

/*
 * Send one message, with a descriptor when fd >= 0, waiting at most timeout_ms
 * (-1: for ever). Never raises SIGPIPE. 0, or a negative errno (-ETIMEDOUT,
 * -EPIPE when the peer is gone).
 */
int scribe_msg_send(int sock, unsigned type, unsigned status, const void *payload, size_t len, int fd,
		    int timeout_ms);

/*
 * Receive one message into `packet` (SCRIBE_MSG_MAX bytes), waiting at most
 * timeout_ms. Returns its length, checked as by scribe_msg_check; 0 when the
 * peer has disconnected; or negative (-ETIMEDOUT, -EPROTO, …). A passed descriptor is
 * the caller's (close-on-exec) if ret_fd is given, else closed; -1 when none.
 */
ssize_t scribe_msg_recv(int sock, void *packet, int *ret_fd, int timeout_ms, struct scribe_err *err);

#endif
