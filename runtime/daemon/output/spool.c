/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The spool: logs that could not be written in their directory are stored in the daemon's own,
 * UID/NAME, each with a note where it belongs. In rounds every ROUND_NS each is tried again, by a
 * helper of its user; one is being moved at a time. Two helpers: one with root's identity writes
 * into the spool, one moves. struct scribe_spool owns both. Main thread of the daemon. Must not
 * know jobs.
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

#include "logfmt/base/hash.h"
#include "logfmt/nodes/part.h"
#include "runtime/daemon/state/daemon.h"
#include "logfmt/base/clock.h"
#include "runtime/daemon/output/log_path.h"

#define NOTE     ".to"
#define ROUND_NS 10000000000ull /* between two rounds */
/* ms for a helper's answer */
#define MOVE_MS  20000
#define MERGE_MS 120000
#define LEAST_BYTES (64 << 10) /* that a log counts as: bounds their number, too */
#define SHOWN_MAX   64u        /* logs, at once: each is a file that is read */

/* UID/NAME.darshan */
#define NAME_BYTES (NAME_MAX + 16)

struct note {
	unsigned uid, gid, replace;
	unsigned shared, own; /* as of scribe_log_path_shared, scribe_log_path_own */
	char user[64];
	char to[SCRIBE_PATH_MAX];
};

struct scribe_spool {
	char dir[SCRIBE_PATH_MAX];
	struct scribe_helper writer;
	/* one log being moved: its directories, then itself */
	struct scribe_helper mover;
	enum { IDLE, MAKING_DAYS, MOVING, MERGING } state;
	struct note note;
	char hung[SCRIBE_PATH_MAX]; /* directory that did not answer in this round: not asked again */
	char name[NAME_BYTES]; /* of it; in a round only greater names are still to be tried */
	uint64_t next_round_ns;
};

/* Others may not write there: notes are read again, and believed. */
int scribe_spool_open(const char *dir, struct scribe_spool **ret_spool, struct scribe_err *err)
{
	struct scribe_spool *s;
	struct stat st;

	if (lstat(dir, &st) == 0 && (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 066))
		return scribe_err_set(err, -EPERM,
				      "the spool %s must be a directory of the daemon's own, mode 0711", dir);
	s = calloc(1, sizeof(*s));
	if (!s)
		return scribe_err_set(err, -ENOMEM, "out of memory");
	snprintf(s->dir, sizeof(s->dir), "%s", dir);
	s->writer = s->mover = (struct scribe_helper){.pid = -1, .sock = -1};
	*ret_spool = s;
	return 0;
}

struct scribe_spool *scribe_spool_free(struct scribe_spool *s)
{
	if (!s)
		return NULL;
	scribe_helper_stop(&s->writer);
	scribe_helper_stop(&s->mover);
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

/*
 * Whoever knows a log's name may reach it; the log itself is its user's to read. Mode 0711: a user
 * can open a log whose name was reported, but cannot list others.
 */
static int make_folder(const struct scribe_spool *s, unsigned uid)
{
	char path[SCRIBE_PATH_MAX + 16];

	if ((mkdir(s->dir, 0711) < 0 && errno != EEXIST) || chmod(s->dir, 0711) < 0)
		return -errno;
	snprintf(path, sizeof(path), "%s/%u", s->dir, uid);
	if ((mkdir(path, 0711) < 0 && errno != EEXIST) || chmod(path, 0711) < 0)
		return -errno;
	return 0;
}

/*
 * The name is a hash of the path that was wanted, so a log that comes twice replaces itself.
 * ret_note: the note's text.
 */
int scribe_spool_name(const struct scribe_spool *s, const struct scribe_job *w, const char *to, char *ret_path,
		      size_t cap, char *ret_note, size_t note_cap)
{
	const struct scribe_config *c = &w->config;
	uint64_t hash = scribe_hash64(to, strlen(to), c->uid);
	size_t parts;
	int n = snprintf(ret_path, cap, "%s/%u/%016llx.darshan", s->dir, c->uid, (unsigned long long)hash), rc;

	if (n >= (int)cap || strchr(to, '\n'))
		return -ENAMETOOLONG;
	rc = make_folder(s, c->uid);
	if (rc < 0)
		return rc;
	n = snprintf(ret_note, note_cap, "uid=%u gid=%u replace=%u user=%s shared=%zu own=%zu\n%s\n", c->uid,
		     c->gid, c->log_file[0] || scribe_parts_in(to, &parts), c->locked || !c->user[0] ? "-" : c->user,
		     scribe_log_path_shared(w, to), scribe_log_path_own(w, to), to);
	return n < (int)note_cap ? 0 : -ENAMETOOLONG;
}

/* -EINVAL: it was not written completely, or by another version. */
static int read_note(const struct scribe_spool *s, const char *name, struct note *ret)
{
	char path[2 * SCRIBE_PATH_MAX], text[SCRIBE_PATH_MAX + 256], *line, *end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s" NOTE, s->dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	line = strchr(text, '\n');
	*ret = (struct note){0};
	/* the last two are not in notes of older daemons */
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

/* Each log of a folder: UID/NAME. */
static int each_in(const struct scribe_spool *s, const char *folder, int (*fn)(void *ctx, const char *name), void *ctx)
{
	char path[SCRIBE_PATH_MAX + NAME_MAX + 2], name[NAME_BYTES];
	struct dirent *e;
	int rc = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%s", s->dir, folder);
	dir = opendir(path);
	while (rc == 0 && dir && (e = readdir(dir))) {
		size_t n = strlen(e->d_name);

		if (n >= 9 && !strcmp(e->d_name + n - 8, ".darshan") &&
		    (size_t)snprintf(name, sizeof(name), "%s/%s", folder, e->d_name) < sizeof(name))
			rc = fn(ctx, name);
	}
	if (dir)
		closedir(dir);
	return rc;
}

/* Each log of a user, or of all (0). */
static int each(const struct scribe_spool *s, uid_t uid, int (*fn)(void *ctx, const char *name), void *ctx)
{
	char folder[16];
	struct dirent *e;
	int rc = 0;
	DIR *dir;

	snprintf(folder, sizeof(folder), "%u", (unsigned)uid);
	if (uid)
		return each_in(s, folder, fn, ctx);
	dir = opendir(s->dir);
	while (rc == 0 && dir && (e = readdir(dir)))
		if (strspn(e->d_name, "0123456789") == strlen(e->d_name))
			rc = each_in(s, e->d_name, fn, ctx);
	if (dir)
		closedir(dir);
	return rc;
}

struct walk {
	const struct scribe_spool *s;
	char *best;
	uint64_t bytes;
	unsigned shown;
	int (*fn)(void *ctx, uid_t uid, const char *path, const char *to);
	void *ctx;
};

static int add_bytes(void *ctx, const char *name)
{
	char path[2 * SCRIBE_PATH_MAX];
	struct walk *w = ctx;
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", w->s->dir, name);
	if (lstat(path, &st) == 0)
		w->bytes += st.st_size > LEAST_BYTES ? (uint64_t)st.st_size : LEAST_BYTES;
	return 0;
}

uint64_t scribe_spool_bytes(const struct scribe_spool *s, uid_t uid)
{
	struct walk w = {.s = s};

	(void)each(s, uid, add_bytes, &w);
	return w.bytes;
}

static int show(void *ctx, const char *name)
{
	char path[2 * SCRIBE_PATH_MAX];
	struct walk *w = ctx;
	struct note note;

	if (w->shown++ == SHOWN_MAX)
		return 1;
	if (read_note(w->s, name, &note) < 0)
		return 0;
	snprintf(path, sizeof(path), "%s/%s", w->s->dir, name);
	return w->fn(w->ctx, note.uid, path, note.to);
}

int scribe_spool_each(const struct scribe_spool *s, uid_t uid,
		      int (*fn)(void *ctx, uid_t uid, const char *path, const char *to), void *ctx)
{
	struct walk w = {.s = s, .fn = fn, .ctx = ctx};

	return each(s, uid, show, &w);
}

static int keep_least(void *ctx, const char *name)
{
	struct walk *w = ctx;

	if (strcmp(name, w->s->name) > 0 && (!w->best[0] || strcmp(name, w->best) < 0))
		strcpy(w->best, name);
	return 0;
}

/*
 * The least name of a log behind the one tried last; false: the round is over. A scan of the
 * folders for each name: few logs are there, and no list has to be kept up to date.
 */
static bool next_name(struct scribe_spool *s)
{
	char best[NAME_BYTES] = "";
	struct walk w = {.s = s, .best = best};

	(void)each(s, 0, keep_least, &w);
	strcpy(s->name, best);
	return best[0] != 0;
}

/*
 * The log goes to its place, by its user's helper. The file's descriptor is passed to the helper,
 * which may not read root's folder.
 */
static void put_back(struct scribe_spool *s)
{
	char path[2 * SCRIBE_PATH_MAX], partial[SCRIBE_PATH_MAX + 16];
	const struct note *note = &s->note;
	struct scribe_helper_put put = {.partial = partial,
				      .to = note->to,
				      .replace = note->replace != 0,
				      .mkdirs = true,
				      .own = note->own};
	struct scribe_err err;

	s->state = IDLE;
	snprintf(path, sizeof(path), "%s/%s", s->dir, s->name);
	/* not the name that a helper which hung may still write to */
	snprintf(partial, sizeof(partial), "%.4000s_spooled", note->to);
	put.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (put.fd < 0)
		return;
	if (scribe_helper_start(&s->mover, note->uid, note->gid, note->user, &err) == 0 &&
	    scribe_helper_put(&s->mover, &put, MOVE_MS) == 0)
		s->state = MOVING;
	else
		scribe_helper_stop(&s->mover);
	close(put.fd);
}

static size_t dir_bytes(const char *path)
{
	return (size_t)(strrchr(path, '/') - path);
}

/* One deadline a directory and round is enough. */
static bool is_hung(const struct scribe_spool *s, const char *to)
{
	return s->hung[0] && dir_bytes(to) == strlen(s->hung) && !strncmp(s->hung, to, dir_bytes(to));
}

static void begin_move(struct scribe_spool *s)
{
	struct scribe_err err;

	if (read_note(s, s->name, &s->note) < 0 || is_hung(s, s->note.to))
		return;
	if (s->note.shared && scribe_helper_start(&s->mover, geteuid(), getegid(), "", &err) == 0 &&
	    scribe_helper_days(&s->mover, s->note.to, s->note.shared, MOVE_MS) == 0)
		s->state = MAKING_DAYS;
	else
		put_back(s);
}

/* A part of a log that has come late: all may be there now. */
static bool begin_merge(struct scribe_spool *s)
{
	char dir[SCRIBE_PATH_MAX];
	size_t n;

	if (!scribe_parts_in(s->note.to, &n))
		return false;
	snprintf(dir, sizeof(dir), "%.*s", (int)n, s->note.to);
	return scribe_helper_merge(&s->mover, dir, false, -1, MERGE_MS) == 0;
}

/* Removed from the spool when the log is in its directory; -EEXIST counts as that. */
static void end_move(struct scribe_spool *s, int rc)
{
	char path[2 * SCRIBE_PATH_MAX];

	s->state = rc == 0 && begin_merge(s) ? MERGING : IDLE;
	if (s->state == IDLE)
		scribe_helper_stop(&s->mover);
	if (rc == -ETIMEDOUT)
		snprintf(s->hung, sizeof(s->hung), "%.*s", (int)dir_bytes(s->note.to), s->note.to);
	if (rc < 0 && rc != -EEXIST) /* it stands there already: moved before a kill */
		return;
	snprintf(path, sizeof(path), "%s/%s", s->dir, s->name);
	unlink(path);
	snprintf(path, sizeof(path), "%s/%s" NOTE, s->dir, s->name);
	unlink(path);
}

bool scribe_spool_busy(const struct scribe_spool *s)
{
	return s->state != IDLE || scribe_now_ns() >= s->next_round_ns;
}

void scribe_spool_tick(struct scribe_spool *s)
{
	uint64_t now = scribe_now_ns();
	int rc;

	if (s->state != IDLE) {
		if (!scribe_helper_answered(&s->mover, &rc))
			return;
		if (s->state == MERGING) {
			s->state = IDLE;
			scribe_helper_stop(&s->mover);
			return;
		}
		if (s->state == MOVING || rc == -ETIMEDOUT) {
			end_move(s, rc);
			return;
		}
		scribe_helper_stop(&s->mover);
		put_back(s);
		return;
	}
	if (now < s->next_round_ns)
		return;
	if (next_name(s)) {
		begin_move(s);
		return;
	}
	s->next_round_ns = now + ROUND_NS;
	s->hung[0] = 0;
}
