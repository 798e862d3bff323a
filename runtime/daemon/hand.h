/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hand that touches the user's directories: a small process with the job
 * user's identity and no privileges. The daemon asks it to make directories, to
 * open and remove files, to put a finished log under its name. A hand that a
 * file system hangs keeps nobody waiting: every question has a deadline, and
 * long ones are asked and looked after later.
 *
 * Hands are made by a process of the daemon's that keeps only what changing an
 * identity takes: it is started before the daemon gives up its privileges.
 */
#ifndef RUNTIME_DAEMON_HAND_H
#define RUNTIME_DAEMON_HAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "logfmt/base/err.h"

struct scribe_hand {
	pid_t pid;
	int sock;     /* -1: there is none, or it did not answer in time */
	bool asked;   /* a question is under way */
	bool stashed; /* its answer has come meanwhile: */
	int stash;
	uint64_t deadline_ns; /* for its answer */
};

/*
 * Start the process that makes hands. Without it hands are forked from the
 * caller itself (tests). `for_run`: of a private daemon, whose root may put its
 * own logs where only root's power over permissions reaches.
 */
int scribe_hands_open(bool for_run, struct scribe_err *err);
/* End it, and with it every hand. */
void scribe_hands_close(void);
/* The same where a hand hangs: it is not to put a log later that has been put elsewhere. */
void scribe_hands_end_hung(void);

/* Make a hand. `user` may be empty: then no supplementary groups. */
int scribe_hand_start(struct scribe_hand *h, uid_t uid, gid_t gid, const char *user, struct scribe_err *err);
/* Let it go: it ends when it has nothing under way. */
void scribe_hand_stop(struct scribe_hand *h);

/* ---- asked and answered at once; at most 2 s ---- */

/* Make the directories above a file's name, mode 0755; `own`: as in scribe_hand_put. */
int scribe_hand_mkdirs(struct scribe_hand *h, const char *path, unsigned own, struct scribe_err *err);
/* O_CREAT | O_EXCL | O_NOFOLLOW, read and write, mode 0600. Returns a descriptor. */
int scribe_hand_create(struct scribe_hand *h, const char *path, struct scribe_err *err);
int scribe_hand_remove(struct scribe_hand *h, const char *path, struct scribe_err *err);
/* scribe_path_open (names.h); -ETIMEDOUT after `ms`: the hand is of no use any more. */
int scribe_hand_look(struct scribe_hand *h, int root_fd, const char *path, bool nofollow, int ms);

/* ---- asked now, answered later: one question at a time ---- */

struct scribe_hand_put {
	int fd;              /* the whole log; read from its beginning */
	const char *partial; /* written under this name first; what stands there is removed */
	const char *to;      /* then renamed to this, mode 0400 */
	bool replace;        /* what stands under `to`; else -EEXIST */
	bool mkdirs;         /* make the directories above first */
	unsigned own;        /* bytes of `partial`: the directory that must be the user's; 0 none */
	const char *drop;    /* removed afterwards, whatever comes of it; or NULL */
	const char *note;    /* written to the file beside it, `to` with ".to" behind, before; or NULL */
};

/* Put a log under its name. 0: it is at work, until deadline_ms from now. */
int scribe_hand_put(struct scribe_hand *h, const struct scribe_hand_put *put, uint32_t deadline_ms);
/* Copy a regular file of the hand's own user into `fd` (a memory file). */
int scribe_hand_fetch(struct scribe_hand *h, const char *path, int fd, uint32_t deadline_ms);
/*
 * Make the directories of the date between `log_dir`, the first bytes of `path`, and
 * the log's name: root's, as every user of the day needs them. For a hand of root's:
 * refused where log_dir is not its own, or others may change it.
 */
int scribe_hand_days(struct scribe_hand *h, const char *path, size_t log_dir_bytes, uint32_t deadline_ms);
/* scribe_hand_mkdirs, or scribe_hand_remove. */
int scribe_hand_ready(struct scribe_hand *h, const char *path, unsigned own, bool remove, uint32_t deadline_ms);
/*
 * An extended attribute of many files. `fd`, a memory file, holds their names, at
 * most SCRIBE_HAND_ATTRS (hand_work.h), a NUL behind each; behind them the hand
 * writes, in this order, for each an int32_t, the value's length or a negative
 * errno, and the value. Only regular files are asked, links are not followed.
 */
/* The names of scribe_hand_attributes are of files below this directory. At once. */
int scribe_hand_root(struct scribe_hand *h, int root_fd);
int scribe_hand_attributes(struct scribe_hand *h, const char *attribute, int fd, uint32_t deadline_ms);
/*
 * Make the logs of the parts in the directory `dir` (logfmt/parts.h), with
 * `incomplete` also when nodes are missing. Their paths, one a line, go to `fd`
 * (-1: nobody wants them). Answers as scribe_parts_merge.
 */
int scribe_hand_merge(struct scribe_hand *h, const char *dir, bool incomplete, int fd, uint32_t deadline_ms);
struct scribe_study; /* uprobes/study.h */
/* scribe_study_file, of a regular file; -ETIMEDOUT after `ms`, -EPIPE: the hand is of no use any more. */
int scribe_hand_study(struct scribe_hand *h, int fd, bool calls, struct scribe_study *ret_study, int ms);

/* Up to four bytes of a process's memory, by a hand that has the power to. */
int scribe_hand_peek(struct scribe_hand *h, pid_t pid, uint64_t at, size_t bytes, uint32_t *ret_value, int ms);

/* A file that a search has found. */
struct scribe_hand_found {
	int32_t more;      /* 0: that was all, this is none, */
	int32_t any;       /* and the program may come to use any library; a mapping: it was found */
	uint64_t start, offset; /* of a mapping */
	uint64_t dev;           /* written by whoever takes it */
	char label[256];
};
struct scribe_search; /* libs_search.h */
/* Begin a search, whose files come one by one; `fd` of each is the caller's. Negative: no more come. */
int scribe_hand_search(struct scribe_hand *h, const struct scribe_search *s);
int scribe_hand_found(struct scribe_hand *h, struct scribe_hand_found *ret_found, int *ret_fd, int ms);

struct scribe_hand_answer; /* hand_work.h */
/*
 * Texts against the job's expressions (judge.h): `fd`, a memory file, holds the number of
 * expressions and each as struct scribe_rule_text (only with `anew`: later questions are of
 * the same), then of texts, and each as struct scribe_hand_text.
 */
int scribe_hand_judge(struct scribe_hand *h, int fd, bool anew, uint32_t deadline_ms);
/* As scribe_hand_answered, with all of the answer. */
bool scribe_hand_answer(struct scribe_hand *h, struct scribe_hand_answer *ret_answer);
/*
 * Look for the answer: false, not yet. True: its result is in ret_rc, 0 or
 * negative; -ETIMEDOUT when its time is over: the hand is of no use any more.
 */
bool scribe_hand_answered(struct scribe_hand *h, int *ret_rc);

#endif
