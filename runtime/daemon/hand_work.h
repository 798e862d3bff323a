/* SPDX-License-Identifier: BSD-3-Clause */
/* Between hand.c, which asks, and hand_work.c, which is the hand. */
#ifndef RUNTIME_DAEMON_HAND_WORK_H
#define RUNTIME_DAEMON_HAND_WORK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "logfmt/base/proto.h"

#define SCRIBE_HAND_NOTE_MAX    8192u
#define SCRIBE_HAND_ATTRS       256u       /* files asked for an attribute at once */
#define SCRIBE_HAND_ATTRS_BYTES (1u << 18) /* of their names, all together */

enum scribe_hand_op {
	SCRIBE_HAND_MKDIRS,
	SCRIBE_HAND_CREATE,
	SCRIBE_HAND_REMOVE,
	SCRIBE_HAND_PUT,        /* with a descriptor */
	SCRIBE_HAND_FETCH,      /* with a descriptor */
	SCRIBE_HAND_DAYS,       /* `prefix`: of the directory of logs in path */
	SCRIBE_HAND_ATTRIBUTES, /* with a descriptor */
	SCRIBE_HAND_MERGE,      /* with a descriptor, or without */
	SCRIBE_HAND_ROOT,       /* with a descriptor: where ATTRIBUTES finds its files */
	SCRIBE_HAND_JUDGE,      /* with a descriptor; `replace`: expressions stand in front of the texts */
	SCRIBE_HAND_STUDY,      /* with a descriptor; `replace`: single calls of streams, too */
	SCRIBE_HAND_PEEK,       /* `prefix` bytes at where[1] of process where[0] */
	SCRIBE_HAND_SEARCH,     /* libs_search.h */
	SCRIBE_HAND_LOOK,       /* with a descriptor: the root; `replace`: follow the last link */
};

struct scribe_hand_question {
	int op;
	int replace, mkdirs;
	unsigned prefix; /* bytes of path; of PUT: as far as it must be the user's own, 0 not at all */
	uint64_t where[2];
	char path[SCRIBE_PATH_MAX];
	char to[SCRIBE_PATH_MAX];
	char drop[SCRIBE_PATH_MAX];
	char note[SCRIBE_HAND_NOTE_MAX] __attribute__((aligned(8)));
};

#define SCRIBE_HAND_JUDGED 64u /* texts judged at once */

/* To every question. */
struct scribe_hand_answer {
	int rc;
	uint32_t n;                       /* of JUDGE: texts, */
	uint64_t given_up;                /* bit i: of text i a limit was hit, */
	uint64_t out[SCRIBE_HAND_JUDGED]; /* bits of modules that text i is left out of */
};

/* A text to judge, which stands behind it. */
struct scribe_hand_text {
	uint32_t of;    /* enum scribe_pattern_of */
	uint32_t bytes; /* NUL included */
};

/* What the maker is asked for; the answer's descriptor is the hand's socket. */
struct scribe_hand_wanted {
	uid_t uid;
	gid_t gid;
	char user[64];
};

/* Send a number and, with fd >= 0, a descriptor. 0 or a negative errno. */
int scribe_hand_send(int sock, const void *data, size_t bytes, int fd);
/* Receive exactly `bytes`, and a descriptor or -1 in ret_fd. 0, or -EPIPE. */
int scribe_hand_recv(int sock, void *data, size_t bytes, int *ret_fd, int flags);

/* ---- judge_work.c ---- */
/* Limits of memory and processor time for whoever reads what a user wrote; it may do nothing else then. */
int scribe_hand_limits(void);
/* The memory file of scribe_hand_judge. */
int scribe_hand_judge_texts(int fd, bool anew, struct scribe_hand_answer *ret_answer);

/* The socket becomes descriptor 3, all others but null ones are closed. */
int scribe_hand_alone(int sock);
/* Become the user for good and answer questions until the socket is hung up. Does not return. */
void scribe_hand_serve(int sock, const struct scribe_hand_wanted *who) __attribute__((noreturn));

#endif
