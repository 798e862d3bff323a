/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helper that touches the user's directories: a small process with the job
 * user's identity and no privileges. The daemon asks it to make directories, to
 * open and remove files, to put a finished log under its name. A helper that a
 * file system hangs keeps nobody waiting: every question has a deadline, and
 * long ones are asked and looked after later.
 *
 * Helpers are made by a process of the daemon's that keeps only what changing an
 * identity takes: it is started before the daemon gives up its privileges.
 */
#ifndef RUNTIME_DAEMON_PRIVSEP_HELPER_H
#define RUNTIME_DAEMON_PRIVSEP_HELPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "logfmt/base/err.h"
#include "runtime/daemon/privsep/helper_wire.h"

struct scribe_helper {
	pid_t pid;    /* -1: not known yet */
	int sock;     /* -1: there is none, or it did not answer in time */
	uid_t uid;
	uint32_t id; /* by which its maker knows it */
	bool new;     /* it has not said yet whether it has become its user */
	bool asked;   /* a question is under way */
	bool stashed; /* its answer has come meanwhile: */
	int stash;
	bool half;    /* of two messages that make an answer the first has come */
	uint64_t deadline_ns; /* for its answer */
	uint64_t cpu_ns;      /* processor time that has been counted (user_quota.c) */
};

/*
 * Have a helper made, without waiting for it: it may be asked at once. `user` may be empty: then
 * no supplementary groups.
 */
int scribe_helper_start(struct scribe_helper *h, uid_t uid, gid_t gid, const char *user, struct scribe_err *err);
/* The same by all that can be said of it. */
int scribe_helper_start_as(struct scribe_helper *h, const struct scribe_helper_wanted *who, struct scribe_err *err);
/* Wait (2 s) until it has become its user, or tell why it cannot; it is gone then. */
int scribe_helper_meet(struct scribe_helper *h, struct scribe_err *err);
/* Let it go: it ends when it has nothing under way. */
void scribe_helper_stop(struct scribe_helper *h);

/* ---- asked and answered at once; at most 2 s ---- */

/* Make the directories above a file's name, mode 0755; `own`: as in scribe_helper_put. */
int scribe_helper_mkdirs(struct scribe_helper *h, const char *path, unsigned own, struct scribe_err *err);
/* O_CREAT | O_EXCL | O_NOFOLLOW, read and write, mode 0600. Returns a descriptor. */
int scribe_helper_create(struct scribe_helper *h, const char *path, struct scribe_err *err);
int scribe_helper_remove(struct scribe_helper *h, const char *path, struct scribe_err *err);

/* ---- asked now, answered later: one question at a time ---- */

struct scribe_helper_put {
	int fd;              /* the whole log; read from its beginning */
	const char *partial; /* written under this name first; what stands there is removed */
	const char *to;      /* then renamed to this, mode 0400 */
	bool readable;       /* mode 0644, in a directory that is the helper's own; `replace` too */
	bool replace;        /* what stands under `to`; else -EEXIST */
	bool mkdirs;         /* make the directories above first */
	unsigned own;        /* bytes of `partial`: the directory that must be the user's; 0 none */
	const char *drop;    /* removed afterwards, whatever comes of it; or NULL */
	const char *note;    /* written to the file beside it, `to` with ".to" behind, before; or NULL */
};

/* Put a log under its name. 0: it is at work, until deadline_ms from now. */
int scribe_helper_put(struct scribe_helper *h, const struct scribe_helper_put *put, uint32_t deadline_ms);
/* Copy a regular file of the helper's own user into `fd` (a memory file). */
int scribe_helper_fetch(struct scribe_helper *h, const char *path, int fd, uint32_t deadline_ms);
/*
 * Make the directories of the date between `log_dir`, the first bytes of `path`, and
 * the log's name: root's, as every user of the day needs them. For a helper of root's:
 * refused where log_dir is not its own, or others may change it.
 */
int scribe_helper_days(struct scribe_helper *h, const char *path, size_t log_dir_bytes, uint32_t deadline_ms);
/* scribe_helper_mkdirs, or scribe_helper_remove. */
int scribe_helper_ready(struct scribe_helper *h, const char *path, unsigned own, bool remove, uint32_t deadline_ms);
/*
 * An extended attribute of many files. `fd`, a memory file, holds their names, at
 * most SCRIBE_HELPER_ATTRS (helper_main.h), a NUL behind each; behind them the helper
 * writes, in this order, for each an int32_t, the value's length or a negative
 * errno, and the value. Only regular files are asked, links are not followed.
 */
int scribe_helper_attributes(struct scribe_helper *h, const char *attribute, int fd, uint32_t deadline_ms);
/*
 * Make the logs of the parts in the directory `dir` (logfmt/nodes/parts.h), with
 * `incomplete` also when nodes are missing. Their paths, one a line, go to `fd`
 * (-1: nobody wants them). Answers as scribe_parts_merge.
 */
int scribe_helper_merge(struct scribe_helper *h, const char *dir, bool incomplete, int fd, uint32_t deadline_ms);
struct scribe_elf_analysis; /* uprobes/elf/analysis.h */
/* scribe_elf_analyse, of a regular file; -ETIMEDOUT after `ms`, -EPIPE: the helper is of no use any more. */
int scribe_helper_analyse(struct scribe_helper *h, int fd, struct scribe_elf_analysis *ret_analysis, int ms);
/* The same in steps: false, not yet. */
int scribe_helper_analyse_begin(struct scribe_helper *h, int fd, uint32_t deadline_ms);
bool scribe_helper_analysed(struct scribe_helper *h, struct scribe_elf_analysis *ret_analysis, int *ret_rc);

/* Up to four bytes of a process's memory, by a helper that has the power to. */
int scribe_helper_peek(struct scribe_helper *h, pid_t pid, uint64_t at, size_t bytes, uint32_t *ret_value, int ms);
/* The same in steps: false, not yet. */
int scribe_helper_peek_begin(struct scribe_helper *h, pid_t pid, uint64_t at, size_t bytes, uint32_t deadline_ms);
bool scribe_helper_peeked(struct scribe_helper *h, uint32_t *ret_value, int *ret_rc);

/* scribe_path_resolve (path_resolve.h) with a function that waits; `path`: shorter than SCRIBE_PATH_MAX. */
int scribe_helper_resolve(struct scribe_helper *h, int root_fd, const char *path, bool nofollow, uint32_t deadline_ms);
/* False, not yet. With ret_rc 0 the path is absolute and ends in NUL. */
bool scribe_helper_resolved(struct scribe_helper *h, struct scribe_helper_path *ret_path, int *ret_rc);

/*
 * The command line or environment of a process from byte `at` on: words that end in NUL, as far as there is room, none
 * for one that has no memory.
 */
int scribe_helper_process_text(struct scribe_helper *h, pid_t pid, bool environment, size_t at, uint32_t deadline_ms);
bool scribe_helper_process_text_read(struct scribe_helper *h, struct scribe_helper_path *ret, int *ret_rc);

struct scribe_search; /* library_search.h */
/*
 * Begin a search, whose files come one by one; `fd` of each is the caller's. Negative: no more
 * come; but with `ms` 0, -EAGAIN: none has come yet.
 */
int scribe_helper_search(struct scribe_helper *h, const struct scribe_search *s);
int scribe_helper_found(struct scribe_helper *h, struct scribe_helper_found *ret_found, int *ret_fd, int ms);

struct scribe_helper_answer; /* helper_main.h */
/*
 * Texts against the job's expressions (exclusion_check.h): `fd`, a memory file, holds the number of
 * expressions and each as struct scribe_rule_text (only with `anew`: later questions are of
 * the same), then of texts, and each as struct scribe_helper_text.
 */
int scribe_helper_check_exclusion(struct scribe_helper *h, int fd, bool anew, uint32_t deadline_ms);
/* As scribe_helper_answered, with all of the answer. */
bool scribe_helper_answer(struct scribe_helper *h, struct scribe_helper_answer *ret_answer);
/*
 * Look for the answer: false, not yet. True: its result is in ret_rc, 0 or
 * negative; -ETIMEDOUT when its time is over: the helper is of no use any more.
 */
bool scribe_helper_answered(struct scribe_helper *h, int *ret_rc);

#endif
