/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stores logs until a helper of the user can write them to their directory. Users take turns, each with one log
 * at a time. Must not know jobs.
 */
#include "runtime/daemon/output/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "logfmt/base/hash.h"
#include "logfmt/nodes/part.h"
#include "runtime/daemon/base/subuids.h"
#include "runtime/daemon/output/log_path.h"
#include "runtime/daemon/state/daemon.h"

#define NOTE   ".to"
#define ENDING ".darshan"
/* Between rounds through a user's logs; doubled while a directory does not answer. */
#define RETRY_NS     10000000000ull
#define RETRY_MAX_NS 600000000000ull
#define MOVE_MS      20000
#define MERGE_MS     120000
#define MOVERS       8u  /* logs being moved at a time */
#define FAILED_MAX   8u  /* failed directories that end a user's round */
#define LEAST_KIB    64u /* minimum per log, which limits their number */
#define SHOWN_MAX    64u /* logs per call: each note is a file to read */

struct note {
	unsigned uid, gid, replace;
	unsigned shared, own; /* scribe_log_path_shared, scribe_log_path_own */
	char user[64];
	char to[SCRIBE_PATH_MAX];
};

struct spooled {
	uint64_t name; /* file name, in hexadecimal */
	uint64_t dir;  /* hash of the destination directory; 0: not read yet */
	uint32_t kib;
};

/* A user with spooled logs, and the move under way. */
struct owner {
	uid_t uid;
	struct spooled *log;
	size_t n, capacity;
	uint64_t kib;
	size_t at, tried; /* next log, and number of logs tried in this round */
	uint64_t round_ns, retry_ns;
	uint64_t failed[FAILED_MAX]; /* hashes of directories, in this round */
	unsigned nfailed;
	enum { IDLE, MAKING_DAYS, MOVING, MERGING } state;
	struct scribe_helper mover;
	uint64_t moved; /* name of the log being moved */
	struct note note;
	struct owner *next;
};

struct scribe_spool {
	char dir[SCRIBE_PATH_MAX];
	struct scribe_helper writer; /* with root's identity */
	struct owner *owners;        /* in the order of their turns */
	unsigned movers;
};

static struct owner *owner_of(struct scribe_spool *s, uid_t uid)
{
	struct owner *o = s->owners;

	while (o && o->uid != uid)
		o = o->next;
	return o;
}

static struct owner *owner_add(struct scribe_spool *s, uid_t uid)
{
	struct owner *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	*o = (struct owner){.uid = uid, .retry_ns = RETRY_NS, .mover = {.pid = -1, .sock = -1}, .next = s->owners};
	s->owners = o;
	return o;
}

static void owner_free(struct scribe_spool *s, struct owner *o)
{
	struct owner **at = &s->owners;

	while (*at != o)
		at = &(*at)->next;
	*at = o->next;
	scribe_helper_stop(&o->mover);
	free(o->log);
	free(o);
}

static void path_of(const struct scribe_spool *s, uid_t uid, uint64_t name, char *ret, size_t cap)
{
	snprintf(ret, cap, "%s/%u/%016llx" ENDING, s->dir, (unsigned)uid, (unsigned long long)name);
}

static int add_log(struct owner *o, uint64_t name, const char *path)
{
	struct spooled *more = o->log, *log = NULL;
	struct stat st;

	if (lstat(path, &st) < 0)
		return -errno;
	for (size_t i = 0; i < o->n && !log; i++)
		log = o->log[i].name == name ? &o->log[i] : NULL;
	if (!log && o->n == o->capacity) {
		more = realloc(o->log, (o->capacity * 2 + 16) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		o->log = more;
		o->capacity = o->capacity * 2 + 16;
	}
	if (!log) {
		log = &o->log[o->n++];
		*log = (struct spooled){.name = name};
	}
	o->kib -= log->kib;
	log->kib = st.st_size >> 10 > LEAST_KIB ? (uint32_t)(st.st_size >> 10) : LEAST_KIB;
	o->kib += log->kib;
	return 0;
}

int scribe_spool_add(struct scribe_spool *s, uid_t uid, const char *path)
{
	struct owner *o = owner_of(s, uid);
	const char *slash = strrchr(path, '/');

	if (!o)
		o = owner_add(s, uid);
	if (!o || !slash)
		return -ENOMEM;
	if (!o->n)
		o->round_ns = scribe_now_ns() + RETRY_NS;
	return add_log(o, strtoull(slash + 1, NULL, 16), path);
}

static void scan_folder(struct scribe_spool *s, const char *folder)
{
	uid_t uid = (uid_t)strtoul(folder, NULL, 10);
	char path[SCRIBE_PATH_MAX + NAME_MAX + 64];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%s", s->dir, folder);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		char *end;
		uint64_t name = strtoull(e->d_name, &end, 16);

		path_of(s, uid, name, path, sizeof(path));
		if (end == e->d_name + 16 && !strcmp(end, ENDING))
			(void)scribe_spool_add(s, uid, path);
	}
	if (dir)
		closedir(dir);
}

static void scan(struct scribe_spool *s)
{
	struct dirent *e;
	DIR *dir = opendir(s->dir);

	while (dir && (e = readdir(dir)))
		if (strspn(e->d_name, "0123456789") == strlen(e->d_name))
			scan_folder(s, e->d_name);
	if (dir)
		closedir(dir);
	for (struct owner *o = s->owners; o; o = o->next)
		o->round_ns = 0;
}

int scribe_spool_open(const char *dir, struct scribe_spool **ret_spool, struct scribe_err *err)
{
	struct scribe_spool *s;
	struct stat st;

	/* Notes are trusted when they are read, so others must not be able to write here. */
	if (lstat(dir, &st) == 0 && (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 066))
		return scribe_err_set(err, -EPERM, "the spool %s must be a directory of the daemon's own, mode 0700",
				      dir);
	s = calloc(1, sizeof(*s));
	if (!s)
		return scribe_err_set(err, -ENOMEM, "out of memory");
	snprintf(s->dir, sizeof(s->dir), "%s", dir);
	s->writer = (struct scribe_helper){.pid = -1, .sock = -1};
	scan(s);
	*ret_spool = s;
	return 0;
}

struct scribe_spool *scribe_spool_free(struct scribe_spool *s)
{
	if (!s)
		return NULL;
	scribe_helper_stop(&s->writer);
	while (s->owners)
		owner_free(s, s->owners);
	free(s);
	return NULL;
}

struct scribe_helper *scribe_spool_helper(struct scribe_spool *s)
{
	struct scribe_err err;

	if (s->writer.sock < 0)
		(void)scribe_helper_start(&s->writer, geteuid(), getegid(), "", &err);
	return &s->writer;
}

static int make_folder(const struct scribe_spool *s, unsigned uid)
{
	char path[SCRIBE_PATH_MAX + 16];

	if (mkdir(s->dir, 0700) < 0 && errno != EEXIST)
		return -errno;
	snprintf(path, sizeof(path), "%s/%u", s->dir, uid);
	return mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

int scribe_spool_name(const struct scribe_spool *s, const struct scribe_job *job, const char *to, char *ret_path,
		      size_t cap, char *ret_note, size_t note_cap)
{
	const struct scribe_config *c = &job->config;
	/* A log that is spooled twice has one file. */
	uint64_t hash = scribe_hash64(to, strlen(to), c->uid);
	size_t parts;
	int n, rc;

	path_of(s, c->uid, hash, ret_path, cap);
	if (strlen(ret_path) + 1 >= cap || strchr(to, '\n'))
		return -ENAMETOOLONG;
	rc = make_folder(s, c->uid);
	if (rc < 0)
		return rc;
	n = snprintf(ret_note, note_cap, "uid=%u gid=%u replace=%u user=%s shared=%zu own=%zu\n%s\n", c->uid, c->gid,
		     c->log_file[0] || scribe_parts_in(to, &parts), c->locked || !c->user[0] ? "-" : c->user,
		     scribe_log_path_shared(job, to), scribe_log_path_own(job, to), to);
	return n < (int)note_cap ? 0 : -ENAMETOOLONG;
}

/* -EINVAL: incomplete, or of another version. */
static int read_note(const struct scribe_spool *s, uid_t uid, uint64_t name, struct note *ret)
{
	char path[SCRIBE_PATH_MAX + 64], text[SCRIBE_PATH_MAX + 256], *line, *end;
	ssize_t n;
	int fd;

	path_of(s, uid, name, path, sizeof(path) - sizeof(NOTE));
	strcat(path, NOTE);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	line = strchr(text, '\n');
	*ret = (struct note){0};
	/* Notes of older daemons lack the last two. */
	if (!line || sscanf(text, "uid=%u gid=%u replace=%u user=%63s shared=%u own=%u", &ret->uid, &ret->gid,
			    &ret->replace, ret->user, &ret->shared, &ret->own) < 4)
		return -EINVAL;
	end = strchr(++line, '\n');
	if (!end || line[0] != '/' || end - line >= (ptrdiff_t)sizeof(ret->to))
		return -EINVAL;
	*end = 0;
	strcpy(ret->to, line);
	if (!strcmp(ret->user, "-"))
		ret->user[0] = 0;
	return 0;
}

uint64_t scribe_spool_bytes(const struct scribe_spool *s, uid_t uid)
{
	uint64_t kib = 0;

	for (const struct owner *o = s->owners; o; o = o->next)
		kib += scribe_subuids_same(o->uid, uid) ? o->kib : 0;
	return kib << 10;
}

int scribe_spool_each(const struct scribe_spool *s, uid_t uid,
		      int (*fn)(void *ctx, uid_t uid, const char *path, const char *to), void *ctx)
{
	char path[SCRIBE_PATH_MAX + 64];
	unsigned shown = 0;
	struct note note;
	int rc = 0;

	for (const struct owner *o = s->owners; o && rc == 0; o = o->next)
		for (size_t i = 0; i < o->n && rc == 0 && (!uid || o->uid == uid); i++) {
			if (shown++ == SHOWN_MAX)
				return 1;
			if (read_note(s, o->uid, o->log[i].name, &note) < 0)
				continue;
			path_of(s, o->uid, o->log[i].name, path, sizeof(path));
			rc = fn(ctx, o->uid, path, note.to);
		}
	return rc;
}

static size_t dir_bytes(const char *path)
{
	return (size_t)(strrchr(path, '/') - path);
}

static uint64_t dir_hash(const char *path)
{
	return scribe_hash64(path, dir_bytes(path), 0);
}

static bool has_failed(const struct owner *o, uint64_t dir)
{
	for (unsigned i = 0; i < o->nfailed; i++)
		if (o->failed[i] == dir)
			return true;
	return false;
}

/* The other logs of this directory would fail too: they wait for the next round. */
static void fail(struct owner *o)
{
	uint64_t dir = dir_hash(o->note.to);

	if (o->nfailed < FAILED_MAX && !has_failed(o, dir))
		o->failed[o->nfailed++] = dir;
}

static void end_round(struct owner *o)
{
	o->round_ns = scribe_now_ns() + o->retry_ns;
	o->nfailed = 0;
	o->tried = 0;
}

static void remove_log(struct scribe_spool *s, struct owner *o)
{
	char path[SCRIBE_PATH_MAX + 64];
	size_t i = 0;

	path_of(s, o->uid, o->moved, path, sizeof(path) - sizeof(NOTE));
	unlink(path);
	strcat(path, NOTE);
	unlink(path);
	while (i < o->n && o->log[i].name != o->moved)
		i++;
	if (i == o->n)
		return;
	o->kib -= o->log[i].kib;
	memmove(&o->log[i], &o->log[i + 1], (o->n - i - 1) * sizeof(*o->log));
	o->n--;
	o->tried -= o->tried > 0;
	if (o->at > i)
		o->at--;
}

static void idle(struct scribe_spool *s, struct owner *o)
{
	scribe_helper_stop(&o->mover);
	o->state = IDLE;
	s->movers--;
}

static void put_back(struct scribe_spool *s, struct owner *o)
{
	char path[SCRIBE_PATH_MAX + 64], partial[SCRIBE_PATH_MAX + 16];
	const struct note *note = &o->note;
	struct scribe_helper_put put = {
		.partial = partial, .to = note->to, .replace = note->replace != 0, .mkdirs = true, .own = note->own};
	struct scribe_err err;

	scribe_helper_stop(&o->mover);
	path_of(s, o->uid, o->moved, path, sizeof(path));
	/* A helper that hangs may still write to the original temporary name. */
	snprintf(partial, sizeof(partial), "%.4000s_spooled", note->to);
	/* Files here stay root's: a user that can open one can lock it, and removing it would wait. */
	put.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (put.fd < 0 && errno == ENOENT)
		remove_log(s, o);
	if (put.fd >= 0 && scribe_helper_start(&o->mover, note->uid, note->gid, note->user, &err) == 0 &&
	    scribe_helper_put(&o->mover, &put, MOVE_MS) == 0)
		o->state = MOVING;
	else
		idle(s, o);
	if (put.fd >= 0)
		close(put.fd);
}

/* NULL: no log is left in this round. */
static struct spooled *next_log(struct owner *o)
{
	while (o->tried < o->n) {
		struct spooled *log = &o->log[o->at % o->n];

		o->at = o->at % o->n + 1;
		o->tried++;
		if (!log->dir || !has_failed(o, log->dir))
			return log;
	}
	return NULL;
}

static void begin_move(struct scribe_spool *s, struct owner *o)
{
	struct spooled *log = next_log(o);
	struct scribe_err err;

	if (!log || read_note(s, o->uid, log->name, &o->note) < 0)
		return;
	log->dir = dir_hash(o->note.to);
	if (has_failed(o, log->dir))
		return;
	o->moved = log->name;
	s->movers++;
	o->state = MAKING_DAYS;
	if (!o->note.shared || scribe_helper_start(&o->mover, geteuid(), getegid(), "", &err) < 0 ||
	    scribe_helper_days(&o->mover, o->note.to, o->note.shared, MOVE_MS) < 0)
		put_back(s, o);
}

/* After a part was moved: it may have been the last one missing. */
static bool begin_merge(struct owner *o)
{
	char dir[SCRIBE_PATH_MAX];
	size_t n;

	if (!scribe_parts_in(o->note.to, &n))
		return false;
	snprintf(dir, sizeof(dir), "%.*s", (int)n, o->note.to);
	return scribe_helper_merge(&o->mover, dir, false, -1, MERGE_MS) == 0;
}

static void end_move(struct scribe_spool *s, struct owner *o, int rc)
{
	bool merges = rc == 0 && begin_merge(o);

	/* EEXIST: it was moved before a daemon was killed. */
	if (rc == 0 || rc == -EEXIST)
		remove_log(s, o);
	else
		fail(o);
	if (merges) {
		o->state = MERGING;
		return;
	}
	idle(s, o);
	if (rc == 0)
		o->retry_ns = RETRY_NS;
	if (rc != -ETIMEDOUT)
		return;
	o->retry_ns = o->retry_ns * 2 < RETRY_MAX_NS ? o->retry_ns * 2 : RETRY_MAX_NS;
	end_round(o);
}

static void step(struct scribe_spool *s, struct owner *o)
{
	int rc;

	if (!scribe_helper_answered(&o->mover, &rc))
		return;
	if (o->state == MERGING) {
		idle(s, o);
	} else if (o->state == MOVING || rc == -ETIMEDOUT) {
		end_move(s, o, rc);
	} else {
		put_back(s, o);
	}
}

static void to_the_end(struct scribe_spool *s, struct owner *o)
{
	struct owner **at = &s->owners;

	while (*at != o)
		at = &(*at)->next;
	*at = o->next;
	while (*at)
		at = &(*at)->next;
	*at = o;
	o->next = NULL;
}

bool scribe_spool_busy(const struct scribe_spool *s)
{
	uint64_t now = scribe_now_ns();

	for (const struct owner *o = s->owners; o; o = o->next)
		if (o->state != IDLE || now >= o->round_ns)
			return true;
	return false;
}

void scribe_spool_tick(struct scribe_spool *s)
{
	struct owner *next, *iteration = NULL;
	uint64_t now = s->owners ? scribe_now_ns() : 0;

	for (struct owner *o = s->owners; o; o = next) {
		next = o->next;
		if (o->state != IDLE) {
			step(s, o);
			continue;
		}
		if (!o->n)
			owner_free(s, o);
		else if (now >= o->round_ns && (o->tried >= o->n || o->nfailed == FAILED_MAX))
			end_round(o);
		else if (now >= o->round_ns && !iteration)
			iteration = o;
	}
	if (!iteration || s->movers == MOVERS)
		return;
	begin_move(s, iteration);
	to_the_end(s, iteration);
}
