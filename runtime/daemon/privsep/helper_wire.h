/* SPDX-License-Identifier: BSD-3-Clause */
/* Between helper.c, which asks, and helper_main.c, which is the helper: packets, and how they are sent. */
#ifndef RUNTIME_DAEMON_PRIVSEP_HELPER_WIRE_H
#define RUNTIME_DAEMON_PRIVSEP_HELPER_WIRE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "logfmt/base/proto.h"
#include "runtime/daemon/model/name_table.h"

#define SCRIBE_HELPER_NOTE_MAX    8192u
#define SCRIBE_HELPER_ATTRS       256u       /* files asked for an attribute at once */
#define SCRIBE_HELPER_ATTRS_BYTES (1u << 18) /* of their names, all together */

enum scribe_helper_op {
	SCRIBE_HELPER_MKDIRS,
	SCRIBE_HELPER_CREATE,
	SCRIBE_HELPER_REMOVE,
	SCRIBE_HELPER_PUT,        /* with a descriptor */
	SCRIBE_HELPER_FETCH,      /* with a descriptor */
	SCRIBE_HELPER_DAYS,       /* `prefix`: of the directory of logs in path */
	SCRIBE_HELPER_ATTRIBUTES, /* with a descriptor */
	SCRIBE_HELPER_MERGE,      /* with a descriptor, or without */
	SCRIBE_HELPER_EXCLUSION,      /* with a descriptor; `replace`: expressions stand in front of the texts */
	SCRIBE_HELPER_ANALYSE,      /* with a descriptor */
	SCRIBE_HELPER_PEEK,       /* `prefix` bytes at where[1] of process where[0] */
	SCRIBE_HELPER_SEARCH,     /* library_search.h */
	SCRIBE_HELPER_RESOLVE,    /* with a descriptor: the root; `replace`: follow the last link */
	SCRIBE_HELPER_CMDLINE,    /* of process where[0], from byte where[1] on */
	SCRIBE_HELPER_ENVIRON,    /* the same of its environment */
};

struct scribe_helper_question {
	int op;
	int replace, mkdirs;
	int readable; /* of PUT */
	unsigned prefix; /* bytes of path; of PUT: as far as it must be the user's own, 0 not at all */
	uint64_t where[2];
	char path[SCRIBE_PATH_MAX];
	char to[SCRIBE_PATH_MAX];
	char drop[SCRIBE_PATH_MAX];
	char note[SCRIBE_HELPER_NOTE_MAX] __attribute__((aligned(8)));
};

#define SCRIBE_HELPER_JUDGED 64u /* texts judged at once */

/* To every question. */
struct scribe_helper_answer {
	int rc;
	uint32_t n;                       /* of JUDGE: texts, */
	uint64_t given_up;                /* bit i: of text i a limit was hit, */
	uint64_t out[SCRIBE_HELPER_JUDGED]; /* bits of modules that text i is left out of */
};

/* A text to judge, which stands behind it. */
struct scribe_helper_text {
	uint32_t of;    /* enum scribe_pattern_of */
	uint32_t bytes; /* NUL included */
};

/* What the maker is asked for; the answer's descriptor is the helper's socket. */
struct scribe_helper_wanted {
	uint32_t id; /* of this helper; without its socket: it is not needed any more */
	uid_t uid;
	gid_t gid;
	char user[64];
	/* it works in the root directory of this process, if that lives and was started then; 0: in its maker's */
	pid_t root_of;
	uint64_t root_of_ticks;
};

/* A path with its links followed; a command line. */
struct scribe_helper_path {
	uint32_t bytes;
	char text[SCRIBE_NAME_ROOM];
};

/* A file that a search has found. */
struct scribe_helper_found {
	int32_t more;      /* 0: that was all, this is none, */
	int32_t any;       /* and the program may come to use any library; a mapping: it was found */
	int32_t by_user;   /* a program of a user's serves its file system, and would be asked by whoever closes it */
	uint64_t start, offset; /* of a mapping */
	uint64_t dev;           /* written by whoever takes it */
	char label[256];
};

/* Send a number and, with fd >= 0, a descriptor. 0 or a negative errno. */
int scribe_helper_send(int sock, const void *data, size_t bytes, int fd);
/*
 * Receive exactly `bytes`, and a descriptor or -1 in ret_fd. 0, or -EPIPE; -EAGAIN, with a blocking
 * socket, too: it was not an answer, but a word about a system call (sandbox_syscalls.h).
 */
int scribe_helper_recv(int sock, void *data, size_t bytes, int *ret_fd, int flags);

/* The same, waiting at most `ms`; -ETIMEDOUT. */
int scribe_helper_recv_within(int sock, void *data, size_t bytes, int *ret_fd, int ms);

/* The socket becomes descriptor 3, all others but null ones are closed. */
int scribe_helper_alone(int sock);

#endif
