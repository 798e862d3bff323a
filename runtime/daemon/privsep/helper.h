/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Helper processes: each has a job user's identity and no privileges. A file system that hangs blocks only the
 * helper; each request has a deadline.
 */
#ifndef RUNTIME_DAEMON_PRIVSEP_HELPER_H
#define RUNTIME_DAEMON_PRIVSEP_HELPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "logfmt/base/err.h"
#include "runtime/daemon/privsep/helper_wire.h"

struct scribe_helper {
	pid_t pid; /* -1: not known yet */
	int sock;  /* -1: not started, or disconnected */
	uid_t uid;
	uint32_t id;
	bool new; /* its first packet has not been read */
	bool asked;
	bool stashed; /* its answer was read early, into `stash` */
	int stash;
	bool half; /* the first of two packets of an answer was read */
	uint64_t deadline_ns;
	uint64_t cpu_ns; /* processor time already counted (user_quota.c) */
};

/* Requests may be sent at once. `user` "": without supplementary groups. */
int scribe_helper_start(struct scribe_helper *h, uid_t uid, gid_t gid, const char *user, struct scribe_err *err);
int scribe_helper_start_as(struct scribe_helper *h, const struct scribe_helper_wanted *who, struct scribe_err *err);
/* Waits up to 2 s for it to become its user; stopped on error. */
int scribe_helper_meet(struct scribe_helper *h, struct scribe_err *err);
void scribe_helper_stop(struct scribe_helper *h);

/* Parent directories of a file, mode 0755; `own`: as in struct scribe_helper_put. */
int scribe_helper_mkdirs(struct scribe_helper *h, const char *path, unsigned own, struct scribe_err *err);
/* O_EXCL, mode 0600. Returns a descriptor. */
int scribe_helper_create(struct scribe_helper *h, const char *path, struct scribe_err *err);
int scribe_helper_remove(struct scribe_helper *h, const char *path, struct scribe_err *err);

struct scribe_helper_put {
	int fd;              /* the whole log; read from offset 0 */
	const char *partial; /* temporary name; an existing file is removed */
	const char *to;      /* final name, mode 0400 */
	bool readable;       /* mode 0644, in a directory of the helper's user; always replaces */
	bool replace;        /* an existing `to`; otherwise -EEXIST */
	bool mkdirs;
	unsigned own;     /* length of `partial` up to the directory that the user must own; 0: no check */
	const char *drop; /* removed afterwards in every case; or NULL */
	const char *note; /* written first, to `to` + ".to"; or NULL */
};

int scribe_helper_put(struct scribe_helper *h, const struct scribe_helper_put *put, uint32_t deadline_ms);
/* Copies a regular file of the helper's user into `fd` (a memory file). */
int scribe_helper_fetch(struct scribe_helper *h, const char *path, int fd, uint32_t deadline_ms);
/*
 * The date directories below `log_dir` (the first bytes of `path`), which all users share; for a helper of
 * root. -EPERM if others own or can change log_dir.
 */
int scribe_helper_days(struct scribe_helper *h, const char *path, size_t log_dir_bytes, uint32_t deadline_ms);
/* scribe_helper_mkdirs or scribe_helper_remove, answered later. */
int scribe_helper_ready(struct scribe_helper *h, const char *path, unsigned own, bool remove, uint32_t deadline_ms);
/*
 * An extended attribute of many regular files. `fd`, a memory file, holds at most SCRIBE_HELPER_ATTRS names
 * with their NULs, to which the helper appends, for each, an int32_t (length, or a negative errno) and the
 * value.
 */
int scribe_helper_attributes(struct scribe_helper *h, const char *attribute, int fd, uint32_t deadline_ms);
/*
 * scribe_parts_merge of the directory `dir`, with `incomplete` also if nodes are missing. Paths of the logs are
 * written to `fd` (may be -1), one per line.
 */
int scribe_helper_merge(struct scribe_helper *h, const char *dir, bool incomplete, int fd, uint32_t deadline_ms);
struct scribe_elf_analysis; /* uprobes/elf/analysis.h */
/* scribe_elf_analyse of a regular file; after -ETIMEDOUT or -EPIPE the helper cannot be used again. */
int scribe_helper_analyse(struct scribe_helper *h, int fd, struct scribe_elf_analysis *ret_analysis, int ms);
/* In two steps; false: not answered yet. */
int scribe_helper_analyse_begin(struct scribe_helper *h, int fd, uint32_t deadline_ms);
bool scribe_helper_analysed(struct scribe_helper *h, struct scribe_elf_analysis *ret_analysis, int *ret_rc);

/* Up to four bytes of memory of a process; for a helper with CAP_SYS_PTRACE. */
int scribe_helper_peek(struct scribe_helper *h, pid_t pid, uint64_t at, size_t bytes, uint32_t *ret_value, int ms);
int scribe_helper_peek_begin(struct scribe_helper *h, pid_t pid, uint64_t at, size_t bytes, uint32_t deadline_ms);
bool scribe_helper_peeked(struct scribe_helper *h, uint32_t *ret_value, int *ret_rc);

/* scribe_path_resolve (path_resolve.h); `path` must be shorter than SCRIBE_PATH_MAX. */
int scribe_helper_resolve(struct scribe_helper *h, int root_fd, const char *path, bool nofollow, uint32_t deadline_ms);
/* False: not yet. If *ret_rc is 0 the path is absolute and ends in NUL. */
bool scribe_helper_resolved(struct scribe_helper *h, struct scribe_helper_path *ret_path, int *ret_rc);

/* Command line or environment from byte `at` on, as much as fits; empty for a process without memory. */
int scribe_helper_process_text(struct scribe_helper *h, pid_t pid, bool environment, size_t at, uint32_t deadline_ms);
bool scribe_helper_process_text_read(struct scribe_helper *h, struct scribe_helper_path *ret, int *ret_rc);

struct scribe_search; /* library_search.h */
/* Files are received one by one; the caller owns *ret_fd. Negative: no more files; -EAGAIN with `ms` 0: none yet. */
int scribe_helper_search(struct scribe_helper *h, const struct scribe_search *s);
int scribe_helper_found(struct scribe_helper *h, struct scribe_helper_found *ret_found, int *ret_fd, int ms);

struct scribe_helper_answer; /* helper_wire.h */
/*
 * Matches texts against the job's patterns. `fd`, a memory file, holds their number and each as struct
 * scribe_rule_text (only with `anew`; reused later), then the number of texts and each as struct scribe_helper_text.
 */
int scribe_helper_check_exclusion(struct scribe_helper *h, int fd, bool anew, uint32_t deadline_ms);
bool scribe_helper_answer(struct scribe_helper *h, struct scribe_helper_answer *ret_answer);
/* False: not yet. After -ETIMEDOUT the helper cannot be used again. */
bool scribe_helper_answered(struct scribe_helper *h, int *ret_rc);

#endif
