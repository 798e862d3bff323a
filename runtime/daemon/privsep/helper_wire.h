/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_PRIVSEP_HELPER_WIRE_H
#define RUNTIME_DAEMON_PRIVSEP_HELPER_WIRE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "logfmt/base/proto.h"
#include "runtime/daemon/model/name_table.h"

#define SCRIBE_HELPER_NOTE_MAX    8192u
#define SCRIBE_HELPER_ATTRS       256u       /* files per request for an attribute */
#define SCRIBE_HELPER_ATTRS_BYTES (1u << 18) /* of their names together */

enum scribe_helper_op {
	SCRIBE_HELPER_MKDIRS,
	SCRIBE_HELPER_CREATE,
	SCRIBE_HELPER_REMOVE,
	SCRIBE_HELPER_PUT,
	SCRIBE_HELPER_FETCH,
	SCRIBE_HELPER_DAYS,
	SCRIBE_HELPER_ATTRIBUTES,
	SCRIBE_HELPER_MERGE,
	SCRIBE_HELPER_EXCLUSION, /* `replace`: patterns precede the texts */
	SCRIBE_HELPER_ANALYSE,
	SCRIBE_HELPER_PEEK,    /* `prefix` bytes at where[1] of process where[0] */
	SCRIBE_HELPER_SEARCH,  /* library_search.h */
	SCRIBE_HELPER_RESOLVE, /* `replace`: follow the last link */
	SCRIBE_HELPER_CMDLINE, /* of process where[0], from byte where[1] */
	SCRIBE_HELPER_ENVIRON,
};

struct scribe_helper_question {
	int op;
	int replace, mkdirs;
	int readable;    /* of PUT */
	unsigned prefix; /* bytes of path; of PUT: as `own` of scribe_helper_put */
	uint64_t where[2];
	char path[SCRIBE_PATH_MAX];
	char to[SCRIBE_PATH_MAX];
	char drop[SCRIBE_PATH_MAX];
	char note[SCRIBE_HELPER_NOTE_MAX] __attribute__((aligned(8)));
};

#define SCRIBE_HELPER_JUDGED 64u /* texts per EXCLUSION request */

struct scribe_helper_answer {
	int rc;
	uint32_t n;                         /* texts of EXCLUSION */
	uint64_t given_up;                  /* bit i: text i exceeded a limit */
	uint64_t out[SCRIBE_HELPER_JUDGED]; /* modules that exclude text i, as bits */
};

struct scribe_helper_text {
	uint32_t of;    /* enum scribe_pattern_of */
	uint32_t bytes; /* NUL included */
};

/* Request to the spawner, with the helper's socket. */
struct scribe_helper_wanted {
	uint32_t id; /* without a socket: this helper is not needed any more */
	uid_t uid;
	gid_t gid;
	char user[64];
	/* The helper's root directory is that of this process; 0: unchanged. */
	pid_t root_of;
	uint64_t root_of_ticks;
};

struct scribe_helper_path {
	uint32_t bytes;
	char text[SCRIBE_NAME_CAPACITY];
};

struct scribe_helper_found {
	int32_t more;           /* 0: end of the search */
	int32_t any;            /* at the end: the program may load any library */
	int32_t by_user;        /* on a user's FUSE mount: sent without descriptor */
	uint64_t start, offset; /* of a mapping */
	uint64_t dev;           /* set by the receiver */
	char label[256];
};

/* fd -1: without descriptor. */
int scribe_helper_send(int sock, const void *data, size_t bytes, int fd);
/*
 * Exactly `bytes`, otherwise -EPIPE. *ret_fd may be -1. -EAGAIN, also on a blocking socket: the packet was a
 * report of a refused system call (sandbox_syscalls.h).
 */
int scribe_helper_recv(int sock, void *data, size_t bytes, int *ret_fd, int flags);

/* The same within `ms`; -ETIMEDOUT. */
int scribe_helper_recv_within(int sock, void *data, size_t bytes, int *ret_fd, int ms);

/* Makes the socket descriptor 3, opens 0 to 2 on /dev/null and closes all others. */
int scribe_helper_alone(int sock);

#endif
