// SPDX-License-Identifier: BSD-3-Clause
/*
 * `ioscribe logdir`: creates or checks directories of logs, also for `doctor`. Each is opened from its parent's
 * descriptor and not through a symbolic link, which a user could redirect. Must not know logs or the daemon.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "util/cmd/logdir/logdir.h"
#include "util/tool/command.h"

#define DEFAULT_DIR    "/var/log/ioscribe"
#define FINDINGS_MOST  20
#define CAPACITY_BYTES (16u << 20)
#define CAPACITY_FILES 1000u
/* Any user may add a log but not remove another's; everyone may pass; only the user. */
#define SHARED    01777
#define CLOSED    0755
#define USER_MODE 0700

enum layout { FLAT, DATED, USERS };

struct logdir {
	const char *self;
	bool check;
	enum layout layout;
	int years;
	const char *users; /* separated by commas; NULL: each directory is made when needed */
	uid_t owner;       /* required owner of the directories: root or the caller */
	unsigned findings;
	char *first; /* if set, receives the first finding, and none is printed */
	size_t first_cap;
	unsigned made;
};

enum key { KEY_CHECK = 1, KEY_LAYOUT, KEY_YEARS, KEY_USERS };

static const struct scribe_option options[] = {
	{"check", KEY_CHECK, NULL, "change nothing; say what is wrong, a line each"},
	{"layout", KEY_LAYOUT, "LAYOUT",
	 "dated (default): DIR/YYYY/M/D, as log_layout = dated; flat: all logs in DIR; users: DIR/USER, as "
	 "log_dir = DIR/%u"},
	{"years", KEY_YEARS, "N", "dated: make the days of this year and of N - 1 more (default 0: none)"},
	{"users", KEY_USERS, "USER,...", "users: make the directories of these users, and let no others in"},
	{NULL, 0, NULL, NULL},
};

static const char *const examples[] = {
	"ioscribe logdir /scratch/ioscribe",
	"a directory in which the daemon makes those of the date",
	"ioscribe logdir --years 2 /nfs/ioscribe",
	"where root of the nodes may not write: all days of this year and the next",
	"ioscribe logdir --check /scratch/ioscribe",
	"what is wrong with it",
	NULL,
};

const struct scribe_command scribe_command_logdir = {
	.name = "logdir",
	.summary = "make or check the directories that logs go to",
	.main = scribe_cmd_logdir,
	.operands = "[DIR]",
	.min_operands = 0,
	.max_operands = 1,
	.options = options,
	.about = "Makes DIR (default: " DEFAULT_DIR ") as the daemon and the users of a site need it, or with "
		 "--check says what is wrong with it. Existing directories keep their contents; only modes of "
		 "directories that the caller owns are changed. Nothing is created above DIR.\n\n"
		 "dated: DIR, years and months have mode 0755 and are the caller's (root's), days mode 1777: "
		 "any user may add a log, nobody may remove another's. The daemon makes the days itself where "
		 "root may; --years makes them beforehand where it may not, as on a file server with "
		 "root_squash. flat: DIR has mode 1777. users: DIR has mode 1777, and each user's "
		 "directory, made with the user's first log, 0700; with --users DIR has mode 0755 and is for "
		 "these users alone.\n\n"
		 "Checked are existence, kind, owner and mode of each directory, that no symbolic link stands "
		 "in "
		 "its place, that others cannot put aside DIR or what is above it, and that its file system "
		 "can "
		 "be written and has room for logs. The exit status is 1 when anything is wrong.",
	.examples = examples,
};

static void find(struct logdir *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void find(struct logdir *l, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (l->first && !l->findings)
		snprintf(l->first, l->first_cap, "%s", text);
	if (l->findings++ < FINDINGS_MOST && !l->first)
		scribe_complain(l->self, "%s", text);
}

static int take_layout(struct logdir *l, const char *value, struct scribe_err *err)
{
	static const char *const names[] = {[FLAT] = "flat", [DATED] = "dated", [USERS] = "users"};

	for (int i = FLAT; i <= USERS; i++) {
		if (strcmp(names[i], value))
			continue;
		l->layout = (enum layout)i;
		return 0;
	}
	return scribe_err_set(err, -EINVAL, "--layout %s: none of flat, dated, users", value);
}

static int take(void *ctx, int key, const char *value, struct scribe_err *err)
{
	struct logdir *l = ctx;
	char *end;

	switch (key) {
	case KEY_CHECK:
		l->check = true;
		return 0;
	case KEY_LAYOUT:
		return take_layout(l, value, err);
	case KEY_YEARS:
		l->years = (int)strtol(value, &end, 10);
		if (end == value || *end || l->years < 0 || l->years > 20)
			return scribe_err_set(err, -EINVAL, "--years %s is not a number from 0 to 20", value);
		return 0;
	default:
		l->users = value;
		return 0;
	}
}

/* Refuses a symbolic link. Returns a descriptor or a negative errno. */
static int enter(int at, const char *name)
{
	struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
			       .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
	long fd = syscall(SYS_openat2, at, name, &how, sizeof(how));

	/* ENOSYS: a kernel before 5.6. Each name has one component, so O_NOFOLLOW is enough. */
	if (fd < 0 && errno == ENOSYS)
		fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

static const char *why_not(int at, const char *name, int rc)
{
	struct stat st;

	if (rc == -ENOENT)
		return "missing: make it with ioscribe logdir";
	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
		return "a symbolic link: name the directory itself";
	return rc == -ENOTDIR ? "not a directory: move it away" : strerror(-rc);
}

static bool has_mode(const struct stat *st, mode_t mode)
{
	/* Users may open their own directory to their group; other directories need the exact mode. */
	return mode == USER_MODE ? (st->st_mode & 0702) == 0700 : (st->st_mode & 07777) == mode;
}

static void find_mode(struct logdir *l, const char *path, const struct stat *st, mode_t mode)
{
	mode_t have = st->st_mode & 07777;

	if (have & 02 && !(have & S_ISVTX))
		find(l, "%s: mode %04o lets every user remove the logs of others: chmod %04o", path, (unsigned)have,
		     (unsigned)mode);
	else if (mode == SHARED && (have & 03) != 03)
		find(l, "%s: mode %04o, users cannot write there: chmod %04o", path, (unsigned)have, (unsigned)mode);
	else if ((have & mode & 0777) != (mode & 0777) && mode != USER_MODE)
		find(l, "%s: mode %04o, users cannot get through: chmod %04o", path, (unsigned)have, (unsigned)mode);
	else
		find(l, "%s: mode %04o instead of %04o", path, (unsigned)have, (unsigned)mode);
}

static int settle(struct logdir *l, const char *path, int fd, uid_t owner, gid_t group, mode_t mode)
{
	if (owner != geteuid() && fchown(fd, owner, group) < 0) {
		find(l, "cannot give %s to user %u: %s", path, (unsigned)owner, strerror(errno));
		return -1;
	}
	if (fchmod(fd, mode) < 0) {
		find(l, "cannot set the mode of %s: %s", path, strerror(errno));
		return -1;
	}
	return 0;
}

/*
 * Creates or checks a directory. Returns its descriptor, also after a finding; negative: it cannot be opened.
 * `group` is used only for creation.
 */
static int one(struct logdir *l, int at, const char *name, const char *path, uid_t owner, gid_t group, mode_t mode)
{
	/* 0700 until owner and mode are set, so that others cannot enter before that. */
	bool made = !l->check && mkdirat(at, name, 0700) == 0;
	int refused = made || l->check ? 0 : errno, fd = enter(at, name);
	struct stat st;

	l->made += made;
	if (fd < 0 || fstat(fd, &st) < 0) {
		find(l, "%s: %s", path, fd == -ENOENT && refused ? strerror(refused) : why_not(at, name, fd));
		return fd < 0 ? fd : -EIO;
	}
	/* root_squash maps root to another user: that one owns what root created. */
	if (made && st.st_uid != geteuid())
		find(l,
		     "%s: made, but it is user %u's: this file server has root_squash; run this on "
		     "the server",
		     path, (unsigned)st.st_uid);
	else if (!l->check && st.st_uid == geteuid() && (made || !has_mode(&st, mode) || st.st_uid != owner)) {
		if (settle(l, path, fd, owner, group, mode) == 0)
			fstat(fd, &st);
	}
	if (st.st_uid != owner)
		find(l,
		     "%s: user %u's instead of user %u's: who owns it can shut out others and remove their "
		     "logs",
		     path, (unsigned)st.st_uid, (unsigned)owner);
	if (!has_mode(&st, mode))
		find_mode(l, path, &st, mode);
	return fd;
}

/* f_bavail and f_favail exclude what is reserved for root. */
static void check_room(struct logdir *l, int fd, const char *path)
{
	struct statvfs fs;

	if (fstatvfs(fd, &fs) < 0)
		find(l, "%s: %s", path, strerror(errno));
	else if (fs.f_flag & ST_RDONLY)
		find(l, "%s: its file system is mounted read-only", path);
	else if ((unsigned long long)fs.f_bavail * fs.f_frsize < CAPACITY_BYTES)
		find(l, "%s: its file system is full: %llu KiB left for users", path,
		     (unsigned long long)fs.f_bavail * fs.f_frsize >> 10);
	else if (fs.f_files && fs.f_favail < CAPACITY_FILES)
		find(l, "%s: its file system has only %llu files left", path, (unsigned long long)fs.f_favail);
}

/* A user with the right to rename a parent directory of DIR can replace DIR. */
static void check_above(struct logdir *l, const char *dir)
{
	char path[4096];
	struct stat st;
	size_t n = strlen(dir);

	while (n > 1) {
		while (n > 1 && dir[n - 1] != '/')
			n--;
		while (n > 1 && dir[n - 1] == '/')
			n--;
		snprintf(path, sizeof(path), "%.*s", (int)n, dir);
		if (stat(path, &st) < 0)
			continue;
		if (st.st_uid && st.st_uid != l->owner)
			find(l, "%s: user %u's, who can put another directory in the place of %s", path,
			     (unsigned)st.st_uid, dir);
		else if (st.st_mode & 02 && !(st.st_mode & S_ISVTX))
			find(l, "%s: mode %04o, any user can put another directory in the place of %s", path,
			     (unsigned)st.st_mode & 07777, dir);
		if (!(st.st_mode & 01))
			find(l, "%s: mode %04o, users cannot get through: chmod o+x", path,
			     (unsigned)st.st_mode & 07777);
	}
}

static void one_year(struct logdir *l, int dir, const char *dir_path, int year)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = (year % 4 == 0 && year % 100) || year % 400 == 0;
	char path[4200], name[16];
	int at, month_fd, fd;

	snprintf(name, sizeof(name), "%d", year);
	snprintf(path, sizeof(path), "%s/%d", dir_path, year);
	at = one(l, dir, name, path, l->owner, getegid(), CLOSED);
	for (int m = 1; at >= 0 && m <= 12; m++) {
		snprintf(name, sizeof(name), "%d", m);
		snprintf(path, sizeof(path), "%s/%d/%d", dir_path, year, m);
		month_fd = one(l, at, name, path, l->owner, getegid(), CLOSED);
		for (int d = 1; month_fd >= 0 && d <= days[m - 1] + (m == 2 && leap); d++) {
			snprintf(name, sizeof(name), "%d", d);
			snprintf(path, sizeof(path), "%s/%d/%d/%d", dir_path, year, m, d);
			fd = one(l, month_fd, name, path, l->owner, getegid(), SHARED);
			if (fd >= 0)
				close(fd);
		}
		if (month_fd >= 0)
			close(month_fd);
	}
	if (at >= 0)
		close(at);
}

/* Checks today's directory as far as it exists; the daemon creates the rest. */
static void check_today(struct logdir *l, int dir, const char *dir_path, const struct tm *tm)
{
	int part[] = {tm->tm_year + 1900, tm->tm_mon + 1, tm->tm_mday}, at = dup(dir), fd;
	char path[4200], name[16];
	size_t n = (size_t)snprintf(path, sizeof(path), "%s", dir_path);
	struct stat st;

	for (int i = 0; i < 3 && at >= 0; i++) {
		snprintf(name, sizeof(name), "%d", part[i]);
		n += (size_t)snprintf(path + n, sizeof(path) - n, "/%d", part[i]);
		fd = fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT
			     ? -ENOENT
			     : one(l, at, name, path, l->owner, getegid(), i < 2 ? CLOSED : SHARED);
		if (fd >= 0)
			check_room(l, fd, path);
		close(at);
		at = fd;
	}
	if (at >= 0)
		close(at);
}

static void each_user(struct logdir *l, int dir, const char *dir_path)
{
	char *copy = strdup(l->users), *rest = copy, *name, path[4200];

	while (copy && (name = strsep(&rest, ","))) {
		struct passwd *pw = *name ? getpwnam(name) : NULL;
		int fd;

		if (!*name)
			continue;
		if (!pw || strchr(name, '/')) {
			find(l, "%s: no such user", name);
			continue;
		}
		snprintf(path, sizeof(path), "%s/%s", dir_path, name);
		fd = one(l, dir, name, path, pw->pw_uid, pw->pw_gid, USER_MODE);
		if (fd < 0)
			continue;
		check_room(l, fd, path);
		close(fd);
	}
	free(copy);
}

static void all(struct logdir *l, const char *dir)
{
	mode_t mode = l->layout == DATED || (l->layout == USERS && l->users) ? CLOSED : SHARED;
	const char *name = strrchr(dir, '/') + 1;
	time_t now = time(NULL);
	char parent[4096];
	struct stat st;
	struct tm tm;
	int at, fd;

	l->owner = l->check && (lstat(dir, &st) < 0 || st.st_uid != geteuid()) ? 0 : geteuid();
	snprintf(parent, sizeof(parent), "%.*s", name - dir > 1 ? (int)(name - dir - 1) : 1, dir);
	at = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at < 0) {
		find(l, "%s: %s", parent, strerror(errno));
		return;
	}
	check_above(l, dir);
	fd = one(l, at, name, dir, l->owner, getegid(), mode);
	close(at);
	if (fd < 0)
		return;
	check_room(l, fd, dir);
	localtime_r(&now, &tm);
	for (int y = 0; l->layout == DATED && y < l->years; y++)
		one_year(l, fd, dir, tm.tm_year + 1900 + y);
	if (l->layout == DATED)
		check_today(l, fd, dir, &tm);
	if (l->layout == USERS && l->users)
		each_user(l, fd, dir);
	close(fd);
}

unsigned scribe_logdir_check(const char *dir, const char *layout, char *ret_text, size_t cap)
{
	struct logdir l = {.check = true, .layout = DATED, .first = ret_text, .first_cap = cap};
	struct scribe_err err;
	char path[4096];
	size_t n = (size_t)snprintf(path, sizeof(path), "%s", dir);

	while (n > 1 && n < sizeof(path) && path[n - 1] == '/')
		path[--n] = 0;
	if (take_layout(&l, layout, &err) < 0 || path[0] != '/' || n < 2 || n >= sizeof(path))
		find(&l, "%s: no directory of logs", dir);
	else
		all(&l, path);
	return l.findings;
}

int scribe_cmd_logdir(int argc, char **argv)
{
	struct logdir l = {.self = argv[0], .layout = DATED};
	int first, status = scribe_args_read(&scribe_command_logdir, argc, argv, take, &l, &first);
	char dir[4096];
	size_t n;

	if (status >= 0)
		return status;
	n = (size_t)snprintf(dir, sizeof(dir), "%s", argc > first ? argv[first] : DEFAULT_DIR);
	while (n > 1 && n < sizeof(dir) && dir[n - 1] == '/')
		dir[--n] = 0;
	if (dir[0] != '/' || n < 2 || n >= sizeof(dir)) {
		scribe_complain(l.self, "%s: an absolute path other than / is expected", dir);
		return SCRIBE_EXIT_USAGE;
	}
	if ((l.users && l.layout != USERS) || (l.years && l.layout != DATED)) {
		scribe_complain(l.self, "--years belongs to --layout dated, --users to --layout users");
		return SCRIBE_EXIT_USAGE;
	}
	umask(0);
	/* mkdirat's mode is exact; without this the umask would make it narrower. */
	all(&l, dir);
	if (l.findings > FINDINGS_MOST)
		scribe_complain(l.self, "and %u more like these", l.findings - FINDINGS_MOST);
	if (!l.check && l.made)
		printf("%u directories made\n", l.made);
	return l.findings ? SCRIBE_EXIT_FAILED : SCRIBE_EXIT_OK;
}
