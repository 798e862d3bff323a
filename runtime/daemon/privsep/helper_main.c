/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helper process: works on the user's files with the user's identity. One request at a time on descriptor
 * 3, until the daemon closes it; therefore buffers are static. It may block on a file server. Paths come from
 * the daemon, but the user controls what they lead to.
 */
#include "runtime/daemon/privsep/helper_main.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/limits.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "logfmt/nodes/part.h"
#include "logfmt/nodes/parts.h"
#include "logfmt/nodes/put_log.h"
#include "runtime/daemon/base/procfs.h"
#include "runtime/daemon/model/path_resolve.h"
#include "runtime/daemon/privsep/exclusion_worker.h"
#include "runtime/daemon/privsep/helper_limits.h"
#include "runtime/daemon/privsep/helper_wire.h"
#include "runtime/daemon/privsep/library_search.h"
#include "runtime/daemon/privsep/sandbox.h"
#include "runtime/daemon/privsep/sandbox_syscalls.h"
#include "uprobes/elf/analysis.h"

#define NOTE_ENDING ".to"

/* Follows neither a symbolic link as the last component nor a magic link of /proc. */
static int open_safely(const char *path, int flags, mode_t mode)
{
	struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC | O_NOFOLLOW),
			       .mode = flags & O_CREAT ? mode : 0,
			       .resolve = RESOLVE_NO_MAGICLINKS};
	long fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	/* Without openat2() (before Linux 5.6, or filtered) only the last component is protected. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, mode);
	return fd < 0 ? -errno : (int)fd;
}

/* Opens or makes a directory that this user owns; its descriptor replaces `at`. */
static int enter_day(int *at, const char *name, mode_t mode)
{
	struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW,
			       .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	bool made = mkdirat(*at, name, mode) == 0;
	struct stat st;
	int fd, rc = 0;

	if (!made && errno != EEXIST)
		return -errno;
	fd = (int)syscall(SYS_openat2, *at, name, &how, sizeof(how));
	if (fd < 0 || fstat(fd, &st) < 0)
		rc = -errno;
	else if (st.st_uid != geteuid())
		rc = -EPERM;
	/* A server that maps root to another user made it: useless, so remove it. */
	if (rc < 0 && made)
		unlinkat(*at, name, AT_REMOVEDIR);
	if (rc < 0 && fd >= 0)
		close(fd);
	if (rc < 0)
		return rc;
	close(*at);
	*at = fd;
	return 0;
}

static bool is_last_day(const char *behind)
{
	char name[NAME_MAX + 1];
	size_t n = strcspn(behind, "/");

	snprintf(name, sizeof(name), "%.*s", (int)(n < NAME_MAX ? n : NAME_MAX), behind);
	return !behind[n] || scribe_parts_is_dir(name);
}

/*
 * Date directories below the first `prefix` bytes of `path`. Each is opened relative to its parent, so that a rename
 * by another user cannot redirect the next one.
 */
static int make_days(char *path, size_t prefix)
{
	char *name = path + prefix, *slash;
	struct stat st;
	mode_t mask;
	int at, rc = 0;

	if (prefix >= strlen(path) || *name != '/')
		return -EINVAL;
	mask = umask(0);
	*name++ = 0;
	at = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at < 0 || fstat(at, &st) < 0)
		rc = -errno;
	else if (st.st_uid != geteuid() || (st.st_mode & 022 && !(st.st_mode & S_ISVTX)))
		rc = -EPERM;
	for (; rc == 0 && (slash = strchr(name, '/')); name = slash + 1) {
		*slash = 0;
		if (scribe_parts_is_dir(name)) /* made by the user's own helper */
			break;
		/* Only the day's directory is writable for all, and sticky. */
		rc = enter_day(&at, name, is_last_day(slash + 1) ? 01777 : 0755);
	}
	if (at >= 0)
		close(at);
	umask(mask);
	return rc;
}

static int write_all(int fd, const char *data, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, data, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		bytes -= (size_t)n;
	}
	return 0;
}

/* pread(), because the memory file's offset is shared with the daemon. */
static int copy(int from, int to)
{
	static char buf[1 << 18];
	off_t at = 0;

	for (;;) {
		ssize_t n = pread(from, buf, sizeof(buf), at);
		int rc;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		rc = write_all(to, buf, (size_t)n);
		if (rc < 0)
			return rc;
		at += n;
	}
}

/* Some file systems report a full disk or an exceeded quota only at close. */
static int close_reported(int fd, int rc)
{
	return close(fd) < 0 && rc == 0 && errno != EINTR ? -errno : rc;
}

static int fresh_file(const char *path)
{
	int fd = open_safely(path, O_RDWR | O_CREAT | O_EXCL, 0600);

	if (fd == -EEXIST && unlink(path) == 0)
		fd = open_safely(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	return fd;
}

/* Before the log: a note without a log is removed later, a log without a note could not be delivered. */
static int put_note(const char *to, const char *note)
{
	char path[SCRIBE_PATH_MAX + 8];
	int fd, rc;

	snprintf(path, sizeof(path), "%s" NOTE_ENDING, to);
	fd = fresh_file(path);
	if (fd < 0)
		return fd;
	rc = close_reported(fd, write_all(fd, note, strlen(note)));
	if (rc < 0)
		unlink(path);
	return rc;
}

/* Parts are trusted when they are read, so their directory must belong to this user alone. */
static int check_parts(const char *path)
{
	char dir[SCRIBE_PATH_MAX];
	struct stat st;
	size_t n;

	if (!scribe_parts_in(path, &n))
		return 0;
	snprintf(dir, sizeof(dir), "%.*s", (int)n, path);
	if (lstat(dir, &st) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022) ? 0 : -EPERM;
}

/* The metrics file: renamed when complete, where only this user can replace files. */
static int put_readable(const struct scribe_helper_question *q, int from)
{
	const char *slash = strrchr(q->to, '/');
	char dir[SCRIBE_PATH_MAX];
	struct stat st;
	int fd, rc;

	snprintf(dir, sizeof(dir), "%.*s", slash && slash > q->to ? (int)(slash - q->to) : 1, q->to);
	if (stat(dir, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 022)
		return -EPERM;
	fd = fresh_file(q->path);
	if (fd < 0)
		return fd;
	rc = copy(from, fd);
	if (rc == 0 && fchmod(fd, 0644) < 0)
		rc = -errno;
	rc = close_reported(fd, rc);
	if (rc == 0 && rename(q->path, q->to) < 0)
		rc = -errno;
	if (rc < 0)
		unlink(q->path);
	return rc;
}

static bool is_own(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && st.st_uid == geteuid();
}

/* -EEXIST: this user stored the log before. */
static int put(struct scribe_helper_question *q, int from)
{
	int fd, rc = q->mkdirs ? scribe_make_dirs(q->path, q->prefix) : 0;

	if (rc == 0)
		rc = check_parts(q->path);
	if (rc == 0 && q->note[0])
		rc = put_note(q->to, q->note);
	if (rc < 0)
		return rc;
	fd = fresh_file(q->path);
	if (fd < 0)
		return fd;
	rc = close_reported(fd, copy(from, fd));
	if (rc == 0)
		rc = scribe_put_name(q->path, q->to, q->replace);
	/* A file of another user under this name is not our log. */
	if (rc == -EEXIST && !is_own(q->to))
		rc = -EPERM;
	if (rc < 0)
		unlink(q->path);
	return rc;
}

/* Only files of this user: a spooled log that was replaced must not be delivered as another user's. */
static int fetch(const char *path, int to)
{
	int fd = open_safely(path, O_RDONLY | O_NONBLOCK, 0), rc;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		rc = -EPERM;
	else
		rc = copy(fd, to);
	close(fd);
	return rc;
}

static int32_t attribute_of(const char *path, const char *name, void *value, size_t cap)
{
	int fd = open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	int32_t ret = fd < 0 ? -errno : -EINVAL;
	char link[64];
	struct statx st;

	if (fd < 0)
		return ret;
	/* O_PATH: devices and FIFOs are not opened. Reading the type alone does not contact the file server. */
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) == 0 && S_ISREG(st.stx_mode)) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		ret = (int32_t)getxattr(link, name, value, cap);
		if (ret < 0)
			ret = -errno;
	}
	close(fd);
	return ret;
}

static int attributes(const char *name, int fd)
{
	static char paths[SCRIBE_HELPER_ATTRS_BYTES + 1];
	static struct {
		int32_t bytes;
		char value[XATTR_SIZE_MAX];
	} one;
	ssize_t n = pread(fd, paths, SCRIBE_HELPER_ATTRS_BYTES, 0);
	off_t at = n < 0 ? 0 : lseek(fd, 0, SEEK_END);

	if (n < 0 || at < 0)
		return -errno;
	for (const char *p = paths; p < paths + n; p += strlen(p) + 1) {
		size_t bytes;

		one.bytes = attribute_of(p, name, one.value, sizeof(one.value));
		bytes = sizeof(one.bytes) + (one.bytes > 0 ? (size_t)one.bytes : 0);
		if (pwrite(fd, &one, bytes, at) != (ssize_t)bytes)
			return -EIO;
		at += (off_t)bytes;
	}
	return 0;
}

static void say_merged(void *ctx, const char *path, const char *missing)
{
	const int *fd = ctx;

	(void)missing; /* recorded in the log itself */
	if (*fd >= 0)
		dprintf(*fd, "%s\n", path);
}

static int merge_parts(const struct scribe_helper_question *q, int fd)
{
	const struct scribe_parts_way way = {.incomplete = q->replace != 0, .said = say_merged, .ctx = &fd};
	struct scribe_err err;

	return scribe_parts_merge(q->path, &way, &err);
}

static struct scribe_elf_analysis study;   /* second packet of ANALYSE */
static uint32_t peeked;                    /* of PEEK */
static struct scribe_helper_path resolved; /* of RESOLVE, CMDLINE and ENVIRON */

/* Needs CAP_SYS_PTRACE, which only root's helpers keep. */
static int peek(const struct scribe_helper_question *q)
{
	struct iovec here = {&peeked, q->prefix}, there = {(void *)(uintptr_t)q->where[1], q->prefix};

	peeked = 0;
	if (q->prefix > sizeof(peeked))
		return -EINVAL;
	return process_vm_readv((pid_t)q->where[0], &here, 1, &there, 1, 0) == (ssize_t)q->prefix ? 0 : -EFAULT;
}

static int resolve(const struct scribe_helper_question *q, int root)
{
	memset(&resolved, 0, sizeof(resolved));
	memcpy(resolved.text, q->path, strnlen(q->path, sizeof(q->path) - 1));
	resolved.bytes = (uint32_t)scribe_path_resolve(resolved.text, sizeof(resolved.text), root, !q->replace,
						       scribe_path_open, NULL);
	return 0;
}

/* May block for long on the mmap lock of the process. */
static int process_text(const struct scribe_helper_question *q, const char *what)
{
	char path[64];
	ssize_t n;
	int fd;

	resolved.bytes = 0;
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)q->where[0], what);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = pread(fd, resolved.text, sizeof(resolved.text), (off_t)q->where[1]);
	resolved.bytes = n > 0 ? (uint32_t)n : 0;
	close(fd);
	return 0;
}

static int answer(struct scribe_helper_question *q, int fd, int *ret_fd, struct scribe_helper_answer *a)
{
	int rc;

	switch (q->op) {
	case SCRIBE_HELPER_MKDIRS:
		return scribe_make_dirs(q->path, q->prefix);
	case SCRIBE_HELPER_CREATE:
		rc = open_safely(q->path, O_RDWR | O_CREAT | O_EXCL, 0600);
		*ret_fd = rc;
		return rc < 0 ? rc : 0;
	case SCRIBE_HELPER_REMOVE: /* trailing slash: a directory, if empty */
		rc = q->path[0] && q->path[strlen(q->path) - 1] == '/' ? rmdir(q->path) : unlink(q->path);
		return rc < 0 ? -errno : 0;
	case SCRIBE_HELPER_PUT:
		rc = q->readable ? put_readable(q, fd) : put(q, fd);
		if (q->drop[0])
			unlink(q->drop);
		return rc;
	case SCRIBE_HELPER_FETCH:
		return fetch(q->path, fd);
	case SCRIBE_HELPER_MERGE:
		return merge_parts(q, fd);
	case SCRIBE_HELPER_DAYS:
		return make_days(q->path, q->prefix);
	case SCRIBE_HELPER_ATTRIBUTES:
		return attributes(q->path, fd);
	case SCRIBE_HELPER_EXCLUSION:
		return scribe_helper_check_texts(fd, q->replace, a);
	case SCRIBE_HELPER_PEEK:
		return peek(q);
	case SCRIBE_HELPER_ANALYSE:
		rc = scribe_helper_limits(SCRIBE_HELPER_MEMORY, SCRIBE_HELPER_SECONDS);
		return rc < 0 ? rc : scribe_elf_analyse(fd, &study);
	case SCRIBE_HELPER_RESOLVE:
		return resolve(q, fd);
	case SCRIBE_HELPER_CMDLINE:
		return process_text(q, "cmdline");
	case SCRIBE_HELPER_ENVIRON:
		return process_text(q, "environ");
	default:
		return -EINVAL;
	}
}

static void enter_root_of(pid_t pid, uint64_t ticks)
{
	char path[64];
	int root;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	/* With the same start time, the process id was not reused. */
	if (root >= 0 && scribe_start_ticks((uint32_t)pid) == ticks && fchdir(root) == 0)
		(void)!chroot(".");
	if (root >= 0)
		close(root);
}

static int become(const struct scribe_helper_wanted *who)
{
	if (geteuid() != 0)
		return geteuid() == who->uid ? 0 : -EPERM;
	/* Groups first: their lookup loads code, which must not come from the other root directory. */
	if (who->user[0] ? initgroups(who->user, who->gid) : setgroups(0, NULL))
		return -errno;
	if (who->root_of)
		enter_root_of(who->root_of, who->root_of_ticks);
	/* The user comes last: nothing can be changed afterwards. */
	if (setresgid(who->gid, who->gid, who->gid) < 0 || setresuid(who->uid, who->uid, who->uid) < 0)
		return -errno;
	return 0;
}

static int settle_in(const struct scribe_helper_wanted *who)
{
	struct scribe_err err;
	int rc;

	/* Signals to a process group must not end a helper in the middle of a log. */
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	umask(022);
	prctl(PR_SET_NAME, "ioscribe-helper");
	rc = become(who);
	if (rc < 0)
		return rc;
	/* Its user must not inspect it, and it must not outlive its parent. */
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (chdir("/") < 0)
		return -errno;
	/* Last, because it forbids the steps above. */
	return scribe_sandbox(who->uid ? SCRIBE_PROCESS_HELPER : SCRIBE_PROCESS_ROOT_HELPER, &err);
}

void scribe_helper_serve(int sock, const struct scribe_helper_wanted *who)
{
	static struct scribe_helper_question q;
	const int only = 3;
	int rc = scribe_helper_alone(sock);

	if (rc == 0)
		rc = settle_in(who);
	if (rc == 0)
		rc = (int)getpid();
	if (scribe_helper_send(only, &rc, sizeof(rc), -1) < 0 || rc < 0)
		_exit(1);
	for (;;) {
		struct scribe_helper_answer a = {0};
		int given = -1, fd = -1;

		if (scribe_helper_recv(only, &q, sizeof(q), &given, 0) < 0)
			_exit(0);
		if (q.op == SCRIBE_HELPER_SEARCH) {
			scribe_search_serve((const struct scribe_search *)(const void *)q.note, only);
			continue;
		}
		a.rc = answer(&q, given, &fd, &a);
		if (given >= 0)
			close(given);
		if (scribe_helper_send(only, &a, sizeof(a), fd) < 0)
			_exit(0);
		if (q.op == SCRIBE_HELPER_PEEK && a.rc == 0 &&
		    scribe_helper_send(only, &peeked, sizeof(peeked), -1) < 0)
			_exit(0);
		if (q.op == SCRIBE_HELPER_ANALYSE && a.rc == 0 &&
		    scribe_helper_send(only, &study, sizeof(study), -1) < 0)
			_exit(0);
		if ((q.op == SCRIBE_HELPER_RESOLVE || q.op == SCRIBE_HELPER_CMDLINE || q.op == SCRIBE_HELPER_ENVIRON) &&
		    a.rc == 0 && scribe_helper_send(only, &resolved, sizeof(resolved), -1) < 0)
			_exit(0);
		if (fd >= 0)
			close(fd);
	}
}
