/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hand that touches the user's directories: a small process with the job
 * user's identity, forked before anything privileged is opened. The daemon asks
 * it to make directories and to create, open, rename and remove files; opened
 * files come back as descriptors. Every question has a deadline.
 */
#ifndef RUNTIME_DAEMON_HAND_H
#define RUNTIME_DAEMON_HAND_H

#include <sys/types.h>

#include "logfmt/base/err.h"

struct scribe_hand {
	pid_t pid;
	int sock;
};

/* Fork it. `user` may be empty: then no supplementary groups. */
int scribe_hand_start(struct scribe_hand *h, uid_t uid, gid_t gid, const char *user, struct scribe_err *err);
/* Close and reap it (bounded). */
void scribe_hand_stop(struct scribe_hand *h);

/* Make the directories above a file's name, mode 0755 & ~umask. */
int scribe_hand_mkdirs(struct scribe_hand *h, const char *path, struct scribe_err *err);
/* O_CREAT | O_EXCL | O_NOFOLLOW, read and write, mode 0600. Returns a descriptor. */
int scribe_hand_create(struct scribe_hand *h, const char *path, struct scribe_err *err);
/* O_RDONLY | O_NOFOLLOW | O_NONBLOCK. Returns a descriptor. */
int scribe_hand_open(struct scribe_hand *h, const char *path, struct scribe_err *err);
/* Mode 0400 and rename; `replace` 0: fails with -EEXIST where `to` exists. */
int scribe_hand_commit(struct scribe_hand *h, const char *from, const char *to, int replace,
		       struct scribe_err *err);
int scribe_hand_remove(struct scribe_hand *h, const char *path, struct scribe_err *err);

#endif
