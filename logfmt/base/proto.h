/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocol between the daemon and its peers. Unix SOCK_SEQPACKET, one message per packet, native byte
 * order: a header and exactly `len` bytes. Receivers check magic, version, type, length and strings first. An
 * invalid message is answered by ERROR, and the connection is closed.
 */
#ifndef LOGFMT_BASE_PROTO_H
#define LOGFMT_BASE_PROTO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "logfmt/base/err.h"
#include "logfmt/base/live_view.h"

/*
 * The runtime (its records are those of SO_PEERCRED's process):
 *   HELLO  (MPI_Init)     -> HELLO_OK
 *   FETCH  (MPI_Finalize) -> FETCH_OK + descriptor of a sealed memfd
 *   DONE                  -> DONE_OK
 *   START                 -> START_OK, before a preloaded program starts: its system calls are recorded
 * The memfd holds the rank's records as an uncompressed log, with times from the job's start on this node; a world
 * of several nodes shifts them by (start - earliest start). Rank 0 creates the file at the path that it receives
 * (O_EXCL, O_NOFOLLOW). FETCH is answered when all local ranks have sent it, so that no rank waits in a
 * collective for one that is late or dead; if one cannot send it any more, all receive ERROR. From FETCH to
 * DONE_OK the I/O of thread `tid` is not traced. After DONE with ok = 0, or a hang-up, the daemon writes the log
 * from its own records. It renames the file after the world's last process has exited.
 *
 * `ioscribe run`, also after a lost connection if READY reports that the job survives its daemon:
 *   RUN_BEGIN (key=value lines) -> READY (or ERROR: status, one line of text)
 *   RUN_REATTACH                -> READY, then as after ENROLLED (or ERROR: the job is unknown)
 *   ENROL {pid}                 -> ENROLLED (or ERROR)
 *   END {wait status}           -> LOG, one per log, then RESULT
 * After a hang-up the log is written when the last process has exited. On a service's socket the peer's credentials
 * replace `uid`, `gid` and `user`, and only its children can be enrolled.
 *
 * Others send one request per connection, as key=value lines. Only root may request jobs of other users.
 *   JOB_BEGIN (job_id, uid, ...) -> JOB_OK; with streams=1 first JOB_ENTRY (new, stream, stream_uid, stream_hosts)
 *   JOB_END (job_id, ...)        -> LOG, one per log, RESULT
 *   JOB_TRACE (job_id, ms)       -> JOB_OK; when the window ends, TRACED and an uncompressed log in TRACE_PARTs
 *   JOB_TRACE (job_id, stop=1)   -> ends this connection's window; if it has none, all of the job's, then JOB_OK
 *   JOB_PUBLISH (job_id or pid)  -> PUBLISH_OK + descriptor of a ring (logfmt/base/publish_ring.h), until hang-up
 *   PUBLISH_TAKEN                   (bytes read from the ring; not answered)
 *   JOB_READY (job_id, hook)     -> JOB_OK, before a process of the job is executed
 *   JOB_LIST, JOB_SHOW (job_id)  -> JOB_ENTRY per job, JOB_OK
 *   JOB_STATUS                   -> JOB_ENTRY of the daemon (root only), one per user, JOB_OK
 *   LIVE_REQUEST                 -> LIVE_REPLY (logfmt/base/live_view.h); repeatable
 *   JOB_CHECK (uid, ...)         -> JOB_ENTRY (log_dir of a trial log), JOB_OK; root only
 */
#define SCRIBE_MSG_MAGIC   0x62637369u /* "iscb" */
#define SCRIBE_MSG_VERSION 1u

#define SCRIBE_WORLD_MAX   256u /* bytes with NUL, as the next */
#define SCRIBE_PATH_MAX    4096u
#define SCRIBE_OPTIONS_MAX 49152u /* bytes, as the next two */
#define SCRIBE_TEXT_MAX    512u
#define SCRIBE_MSG_MAX     65536u

/*
 * The socket (0666) and marker files: `pid`, `loading` (programs are loaded), `attached` (they have been attached
 * to system calls for some time), `selftest` (selftest_mark.h).
 */
#define SCRIBE_SERVICE_DIR      "/run/ioscribe"
#define SCRIBE_SERVICE_SOCKET   "socket"
#define SCRIBE_SERVICE_LOADING  "loading"
#define SCRIBE_SERVICE_ATTACHED "attached"
#define SCRIBE_SERVICE_CONFIG   "/etc/ioscribe/ioscribed.conf"
#define SCRIBE_ENV_DIR          "IOSCRIBE_DIR"
#define SCRIBE_ENV_CONFIG       "IOSCRIBE_CONFIG"

/* In the environment of traced programs. */
#define SCRIBE_ENV_SOCKET  "IOSCRIBE_SOCKET"
#define SCRIBE_ENV_JOB     "IOSCRIBE_JOB"     /* the daemon's number of the job */
#define SCRIBE_ENV_STREAMS "IOSCRIBE_STREAMS" /* 0: programs do not count streams themselves */
#define SCRIBE_ENV_DISABLE "IOSCRIBE_DISABLE" /* 1: the runtime does nothing */

enum scribe_msg_type {
	SCRIBE_MSG_ERROR = 1, /* daemon -> any: header.status, text */

	SCRIBE_MSG_HELLO = 2,
	SCRIBE_MSG_HELLO_OK = 3,
	SCRIBE_MSG_FETCH = 4,
	SCRIBE_MSG_FETCH_OK = 5, /* descriptor (SCM_RIGHTS) */
	SCRIBE_MSG_DONE = 6,
	SCRIBE_MSG_DONE_OK = 7,
	SCRIBE_MSG_START = 10,
	SCRIBE_MSG_START_OK = 11,
	/* 9: used until 0.1 */
	SCRIBE_MSG_STREAMS = 12,
	SCRIBE_MSG_STREAMS_OK = 13, /* descriptor; no payload */
	SCRIBE_MSG_PROBED = 14,     /* when the peer's mapped libraries are probed */
	SCRIBE_MSG_PROBED_OK = 15,

	SCRIBE_MSG_RUN_BEGIN = 32, /* text, not NUL-terminated */
	SCRIBE_MSG_READY = 33,
	SCRIBE_MSG_ENROL = 34,
	SCRIBE_MSG_ENROLLED = 35,
	SCRIBE_MSG_END = 36,
	SCRIBE_MSG_LOG = 37,
	SCRIBE_MSG_RESULT = 38,
	SCRIBE_MSG_RUN_REATTACH = 39,
	SCRIBE_MSG_BUILDING = 40, /* a log is being built: every 5 s */

	SCRIBE_MSG_JOB_BEGIN = 64, /* this and the next four: text, not NUL-terminated */

	SCRIBE_MSG_JOB_END = 65,
	SCRIBE_MSG_JOB_LIST = 66,
	SCRIBE_MSG_JOB_SHOW = 67,
	SCRIBE_MSG_JOB_TRACE = 68,
	SCRIBE_MSG_JOB_ENTRY = 69, /* text too */
	SCRIBE_MSG_JOB_OK = 70,
	SCRIBE_MSG_JOB_READY = 71, /* text */
	SCRIBE_MSG_JOB_CHECK = 72, /* text */
	SCRIBE_MSG_TRACED = 73,
	SCRIBE_MSG_LIVE_REQUEST = 74,
	SCRIBE_MSG_LIVE_REPLY = 75, /* struct scribe_msg_live_reply and items */
	SCRIBE_MSG_JOB_STATUS = 79,
	SCRIBE_MSG_JOB_PUBLISH = 80, /* text */
	SCRIBE_MSG_PUBLISH_OK = 81,  /* descriptor; no payload */
	SCRIBE_MSG_TRACE_PART = 82,  /* bytes of the log */
	SCRIBE_MSG_PUBLISH_TAKEN = 83,
};

/* header.status of an ERROR; 0 elsewhere. */
enum scribe_msg_status {
	SCRIBE_ST_OK = 0,
	SCRIBE_ST_BAD_MESSAGE = 1, /* malformed or out of order */
	SCRIBE_ST_NOT_TRACED = 2,  /* the peer's process is not enrolled */
	SCRIBE_ST_REFUSED = 3,     /* not permitted for this peer */
	SCRIBE_ST_FAILED = 4,      /* the daemon could not do it */
	SCRIBE_ST_UNABLE = 5,      /* a quota, a limit, or without kernel programs */
};

struct scribe_msg_header {
	uint32_t magic;
	uint16_t version;
	uint16_t type;   /* enum scribe_msg_type */
	uint32_t status; /* enum scribe_msg_status */
	uint32_t len;    /* bytes of payload */
};

enum scribe_mpi_kind { SCRIBE_MPI_UNKNOWN = 0, SCRIBE_MPI_MPICH = 1, SCRIBE_MPI_OPENMPI = 2 };

struct scribe_msg_start {
	uint64_t until_ns; /* CLOCK_MONOTONIC deadline */
};

struct scribe_msg_hello {
	int32_t rank; /* in MPI_COMM_WORLD, as the next */
	int32_t size;
	uint32_t tid;                 /* calling thread */
	uint32_t mpi;                 /* enum scribe_mpi_kind */
	char world[SCRIBE_WORLD_MAX]; /* PMIX namespace, or empty */
};

/* All ranks are on this node. */
#define SCRIBE_HELLO_WHOLE_WORLD 1u
/* All known local ranks have sent HELLO. */
#define SCRIBE_HELLO_ALL_MET 2u

struct scribe_msg_hello_ok {
	uint32_t collective; /* 1: send FETCH at finalize; 0: do nothing then */
	uint32_t finalize_timeout_ms;
	uint32_t flags; /* SCRIBE_HELLO_*, as known now */
	uint32_t pad;
};

/* Memory for streams (logfmt/rules/streams.h). */
struct scribe_msg_streams {
	uint32_t id; /* of the memory */
	uint32_t pad;
	uint64_t made_ns; /* CLOCK_MONOTONIC; identifies the program */
};

struct scribe_msg_fetch {
	uint32_t tid;   /* of the runtime's own I/O */
	uint32_t flags; /* 0 */
};

struct scribe_msg_fetch_ok {
	uint64_t image_bytes; /* size of the memfd */
	uint64_t partial;     /* partial_flag: records were lost */
	uint32_t mem_align;   /* bytes */
	uint32_t pad;
	char path[SCRIBE_PATH_MAX]; /* rank 0: "….darshan_partial" to create; otherwise empty */
};

struct scribe_msg_done {
	uint32_t ok; /* 1: all ranks agree that the log is complete */
	uint32_t pad;
	char path[SCRIBE_PATH_MAX]; /* rank 0: the path it received; otherwise empty */
};

struct scribe_msg_ready {
	char socket[SCRIBE_PATH_MAX]; /* for SCRIBE_ENV_SOCKET; empty: no runtime */
	uint32_t job;                 /* for SCRIBE_ENV_JOB */
	uint32_t survives;            /* 1: another daemon would continue, see RUN_REATTACH */
	uint32_t wrap;                /* 1: programs count calls themselves (libioscribe-inside.so), */
	uint32_t no_streams;          /* 1: except those of streams */
};

struct scribe_msg_enrol {
	int32_t pid;
	uint32_t words; /* last words of the command line; 0: unknown */
};

struct scribe_msg_enrolled {
	uint32_t proc_id;
	uint32_t pad;
};

struct scribe_msg_end {
	int32_t wait_status;    /* of CMD, as from waitpid */
	uint32_t exit_grace_ms; /* for descendants */
};

struct scribe_msg_log {
	char path[SCRIBE_PATH_MAX];
	char world[SCRIBE_WORLD_MAX]; /* empty: the rest of the job */
	char exe[SCRIBE_WORLD_MAX];
	uint32_t nprocs;
	uint32_t collective;    /* 1: reduced by the ranks, 0: by the daemon */
	uint32_t partial;       /* 1: operations were lost */
	uint32_t still_running; /* alive when written */
	uint32_t failed;        /* ended by a signal or a code other than 0 */
	uint32_t part;          /* 1: a part */
	uint64_t processes, files, overflowed_files;
	uint64_t operations, bytes_read, bytes_written;
	double seconds;                                   /* job start to end */
	double read_seconds, write_seconds, meta_seconds; /* summed over records */
	char missing[320];                                /* or why library calls are missing */
	char text[SCRIBE_TEXT_MAX];                       /* or why the log was not written */
};

struct scribe_msg_result {
	uint32_t logs;
	uint32_t failed;
	uint64_t events, dropped;
	double tracer_seconds; /* CPU time of the daemon */
	char remote[32];       /* that started untraced processes on other nodes */
};

struct scribe_msg_traced {
	uint64_t segments, lost;
	uint64_t bytes; /* of the log in TRACE_PARTs */
};

struct scribe_msg_publish_taken {
	uint64_t bytes; /* of frames, since the start */
};

/* -1: variable, or unknown. */
int scribe_msg_payload_bytes(unsigned type);

/* 0 and *ret_payload, or -EPROTO. */
int scribe_msg_check(const void *packet, size_t bytes, const void **ret_payload, struct scribe_err *err);

int64_t scribe_msg_now_ms(void);
/* 0: passed. */
int scribe_msg_left_ms(int64_t deadline_ms);

/* Repeats while the backlog is full. -EAGAIN: the deadline has passed. */
struct sockaddr;
int scribe_msg_connect(int sock, const struct sockaddr *to, unsigned bytes, int64_t deadline_ms);

/* fd >= 0: a descriptor. timeout_ms -1: no limit. No SIGPIPE. -ETIMEDOUT, -EPIPE or another -errno. */
int scribe_msg_send(int sock, unsigned type, unsigned status, const void *payload, size_t len, int fd, int timeout_ms);

/*
 * `packet`: SCRIBE_MSG_MAX bytes. Returns the length; 0: disconnected; -ETIMEDOUT, -EPROTO, ... *ret_fd: a
 * close-on-exec descriptor for the caller, or -1; with NULL none is received.
 */
ssize_t scribe_msg_recv(int sock, void *packet, int *ret_fd, int timeout_ms, struct scribe_err *err);

#endif
