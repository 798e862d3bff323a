// SPDX-License-Identifier: BSD-3-Clause
/*
 * Lines from files, pipes and sockets into transactions, for ioscribe-store. What was read stays in
 * its input's buffer until it is committed, so that a transaction that fails can be done again. A
 * struct input owns descriptor, names and buffer.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "logfmt/base/hash.h"
#include "util/cmd/store/store_cmd.h"
#include "util/tool/command.h"

#define MAX_INPUTS     320     /* open at once, connections among them */
#define MAX_LINE       262144  /* bytes */
#define FILE_BUFFER    4194304 /* bytes; of a file */
#define PIPE_BUFFER    1048576 /* of what comes while one waits */
#define GATHER_MS      20      /* how long a transaction waits for more */
#define LOOK_AGAIN_MS  100     /* at a followed file's end */
#define RETRY_MS       1000    /* where the disk is full, or the server is gone */
#define FORGET_MS      3600000
#define MAX_COMPLAINTS 20   /* bad lines of an input that are named */
#define FIRST_BYTES    4096 /* of the first line, by which a file is known again */

enum kind { KIND_FILE, KIND_PIPE, KIND_SOCKET };

struct input {
	enum kind kind;
	int fd;
	char *name; /* as messages call it */
	char *key;  /* as the store knows it; NULL: it cannot be read again, or is not known yet */
	char *path; /* of a socket: to be removed */
	char *buf;
	size_t used, cap, taken;               /* taken: of this transaction */
	struct scribe_store_position at, next; /* committed; by this transaction */
	uint64_t complained_line;              /* last line that was complained of */
	int complaints;
	bool ended, unfinished_told;
	bool skipping, next_skipping; /* within a line that is too long; committed; by this transaction */
};

/* All inputs of a run, listeners among them. */
struct lines {
	struct scribe_feed *f;
	struct input *in[MAX_INPUTS];
	int n;
	struct scribe_event event;
	struct scribe_sample sample;
	bool full_told;
	int full_code; /* why it waited */
};

static void input_free(struct input *in)
{
	if (!in)
		return;
	if (in->path)
		unlink(in->path);
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	free(in->name);
	free(in->key);
	free(in->path);
	free(in->buf);
	free(in);
}

/* NULL: no memory, or too many inputs; the descriptor is still the caller's then. */
static struct input *input_new(struct lines *l, enum kind kind, int fd, const char *name)
{
	struct input *in = l->n < MAX_INPUTS ? calloc(1, sizeof(*in)) : NULL;

	if (!in)
		return NULL;
	in->kind = kind;
	in->fd = fd;
	in->name = strdup(name);
	in->cap = kind == KIND_FILE ? FILE_BUFFER : PIPE_BUFFER;
	if (!in->name) {
		in->fd = -1;
		input_free(in);
		return NULL;
	}
	l->in[l->n++] = in;
	return in;
}

/* ---- opening ---- */

/* The socket file is removed when the input ends. */
static int listen_at(struct lines *l, const char *name, struct scribe_err *err)
{
	const char *path = name + strlen("unix:");
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct input *in;
	struct stat st;
	int fd;

	if (!*path || strlen(path) >= sizeof(at.sun_path))
		return scribe_err_set(err, -EINVAL, "%s: a socket's path has 1 to %zu bytes", name,
				      sizeof(at.sun_path) - 1);
	strcpy(at.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return scribe_err_set(err, -errno, "%s: %s", name, strerror(errno));
	/* one that nobody listens at any more is replaced */
	if (!lstat(path, &st) && S_ISSOCK(st.st_mode) &&
	    connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0 && errno == ECONNREFUSED)
		unlink(path);
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, SOMAXCONN) < 0) {
		int code = errno;

		close(fd);
		return scribe_err_set(err, -code, "%s: cannot listen there: %s", name, strerror(code));
	}
	in = input_new(l, KIND_SOCKET, fd, name);
	if (in)
		in->path = strdup(path);
	return in ? 0 : scribe_err_set(err, -ENOMEM, "%s: out of memory", name);
}

static int open_input(struct lines *l, const char *name, struct scribe_err *err)
{
	struct stat st;
	int fd;

	if (!strncmp(name, "unix:", 5))
		return listen_at(l, name, err);
	fd = strcmp(name, "-") ? open(name, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (fd < 0 || fstat(fd, &st) < 0)
		return scribe_err_set(err, -errno, "%s: %s", name, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return scribe_err_set(err, -EISDIR, "%s: a folder, not a file with messages or a log", name);
	if (!input_new(l, S_ISREG(st.st_mode) && fd != STDIN_FILENO ? KIND_FILE : KIND_PIPE, fd,
		       fd == STDIN_FILENO ? "standard input" : name))
		return scribe_err_set(err, -E2BIG, "%s: more than %d inputs, or out of memory", name,
				      MAX_INPUTS);
	return 0;
}

/* Beyond MAX_INPUTS connections wait in the socket's queue. */
static void accept_all(struct lines *l, struct input *listener)
{
	int fd;

	while (l->n < MAX_INPUTS && (fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		if (!input_new(l, KIND_PIPE, fd, listener->name))
			close(fd);
}

/* ---- reading ---- */

/* A file is known again by its name and its first line; go on where it was left. */
static int find_position(struct lines *l, struct input *in, struct scribe_err *err)
{
	const char *end = memchr(in->buf, '\n', in->used);
	size_t first = end ? (size_t)(end - in->buf) : in->used;
	char real[PATH_MAX], key[PATH_MAX + 32];
	struct stat st;
	int rc;

	if (in->kind != KIND_FILE || in->key || (!end && in->used < FIRST_BYTES))
		return 0;
	first = first < FIRST_BYTES ? first : FIRST_BYTES;
	snprintf(key, sizeof(key), "%016" PRIx64 " %s", scribe_hash64(in->buf, first, 0),
		 realpath(in->name, real) ? real : in->name);
	in->key = strdup(key);
	if (!in->key)
		return scribe_err_set(err, -ENOMEM, "%s: out of memory", in->name);
	rc = scribe_store_position(l->f->store, in->key, &in->at, err);
	if (rc < 0)
		return rc;
	if (fstat(in->fd, &st) < 0 || st.st_size < in->at.bytes)
		in->at = (struct scribe_store_position){0};
	if (!in->at.bytes)
		return 0;
	if (lseek(in->fd, in->at.bytes, SEEK_SET) < 0)
		return scribe_err_set(err, -errno, "%s: %s", in->name, strerror(errno));
	in->used = 0;
	in->ended = false;
	return 1; /* read again */
}

/*
 * Read what there is room for. 1: something came, or the end. 0 also where nothing came or the
 * buffer is full; negative: failed.
 */
static int fill(struct lines *l, struct input *in, struct scribe_err *err)
{
	int rc = 0;

	if (!in->buf)
		in->buf = malloc(in->cap);
	if (!in->buf)
		return scribe_err_set(err, -ENOMEM, "%s: out of memory", in->name);
	do {
		ssize_t n = in->used < in->cap ? read(in->fd, in->buf + in->used, in->cap - in->used) : -1;

		if (in->used == in->cap || (n < 0 && (errno == EINTR || errno == EAGAIN)))
			return 0;
		if (n < 0 && errno != ECONNRESET)
			return scribe_err_set(err, -errno, "%s: %s", in->name, strerror(errno));
		in->used += n > 0 ? (size_t)n : 0;
		in->ended = n <= 0;
		rc = find_position(l, in, err);
	} while (rc > 0);
	return rc;
}

/* A file that is followed has no last line until a signal comes. */
static bool is_growing(const struct lines *l, const struct input *in)
{
	return in->kind == KIND_FILE && l->f->follow && !*l->f->stop;
}

static bool has_lines(const struct lines *l, const struct input *in)
{
	if (in->kind == KIND_SOCKET || !in->used)
		return false;
	return in->used >= MAX_LINE || (in->ended && !is_growing(l, in)) || memchr(in->buf, '\n', in->used);
}

/* ---- lines of a transaction ---- */

/* Each bad line once, also where its transaction is repeated. */
static void complain(struct lines *l, struct input *in, const char *what)
{
	uint64_t line = (uint64_t)in->next.lines;

	if (line <= in->complained_line)
		return; /* the transaction is done once more */
	in->complained_line = line;
	if (++in->complaints <= MAX_COMPLAINTS)
		scribe_complain(l->f->argv0, "%s:%" PRIu64 ": no message: %s", in->name, line, what);
	else if (in->complaints == MAX_COMPLAINTS + 1)
		scribe_complain(l->f->argv0, "%s: further bad lines are counted only", in->name);
}

static bool is_blank(const char *line, size_t len)
{
	while (len && (*line == ' ' || *line == '\t' || *line == '\r')) {
		line++;
		len--;
	}
	return !len;
}

/* 1: a sample of a node, in l->sample; 0: a job's message, in l->event; negative with a message. */
static int read_message(struct lines *l, const char *line, size_t len, struct scribe_err *err)
{
	int rc = scribe_sample_json_read(l->f->samples, line, len, &l->sample, err);

	return rc ? rc : scribe_event_json_read(l->f->json, line, len, &l->event, err);
}

/* A bad line is counted and passed over; any other failure ends the transaction. */
static int take_line(struct lines *l, struct input *in, const char *line, size_t len, struct scribe_err *err)
{
	int rc;

	in->next.lines++;
	if (is_blank(line, len))
		return 0;
	rc = read_message(l, line, len, err);
	if (rc > 0)
		rc = scribe_store_put_sample(l->f->store, &l->sample, err);
	else if (rc == 0)
		rc = scribe_store_put(l->f->store, &l->event, SCRIBE_FROM_STREAM, err);
	if (rc != -SCRIBE_E_FORMAT)
		return rc;
	complain(l, in, err->text);
	in->next.bad_lines++;
	return 0;
}

/* A line that does not fit the buffer: what is there of it goes, once it is counted. */
static void skip_long(struct lines *l, struct input *in, size_t len)
{
	if (!in->next_skipping) {
		in->next.lines++;
		complain(l, in, "longer than 256 KiB");
		in->next.bad_lines++;
	}
	in->next_skipping = true;
	in->taken += len;
	in->next.bytes += (int64_t)len;
}

/* The last line without its end: whole, or left for the next time. */
static int take_last(struct lines *l, struct input *in, struct scribe_err *err)
{
	const char *line = in->buf + in->taken;
	size_t len = in->used - in->taken;
	int rc;

	if (!len || in->next_skipping || is_growing(l, in))
		return 0;
	rc = read_message(l, line, len, err);
	if (rc == -SCRIBE_E_FORMAT && in->kind == KIND_FILE && !is_blank(line, len)) {
		if (!in->unfinished_told)
			scribe_complain(l->f->argv0,
					"%s:%" PRId64 ": the last line has no end: left for the next time",
					in->name, in->next.lines + 1);
		in->unfinished_told = true;
		return 0;
	}
	in->taken += len;
	in->next.bytes += (int64_t)len;
	return take_line(l, in, line, len, err);
}

/* From the committed position on: at, then next. */
static int take_lines(struct lines *l, struct input *in, struct scribe_err *err)
{
	int rc = 0;

	in->taken = 0;
	in->next = in->at;
	in->next_skipping = in->skipping;
	while (rc >= 0 && in->taken < in->used) {
		const char *line = in->buf + in->taken;
		const char *end = memchr(line, '\n', in->used - in->taken);
		size_t len = end ? (size_t)(end - line) : in->used - in->taken;

		if (!end && len < MAX_LINE)
			break;
		if (len >= MAX_LINE || in->next_skipping) {
			skip_long(l, in, end ? len + 1 : len);
			in->next_skipping = !end;
			continue;
		}
		in->taken += len + 1;
		in->next.bytes += (int64_t)len + 1;
		rc = take_line(l, in, line, len, err);
	}
	if (rc >= 0 && in->ended)
		rc = take_last(l, in, err);
	if (rc >= 0 && in->key && in->taken)
		rc = scribe_store_position_set(l->f->store, in->key, &in->next, err);
	return rc;
}

/* Buffers move only after the commit. */
static int transaction(struct lines *l, struct scribe_err *err)
{
	int rc = scribe_store_begin(l->f->store, err);

	for (int i = 0; i < l->n && rc >= 0; i++)
		if (has_lines(l, l->in[i]))
			rc = take_lines(l, l->in[i], err);
		else
			l->in[i]->taken = 0;
	if (rc >= 0)
		rc = scribe_store_commit(l->f->store, err);
	if (rc < 0) {
		scribe_store_roll_back(l->f->store);
		return rc;
	}
	for (int i = 0; i < l->n; i++) {
		struct input *in = l->in[i];

		if (!in->taken)
			continue;
		l->f->bad_lines += (uint64_t)(in->next.bad_lines - in->at.bad_lines);
		in->used -= in->taken;
		memmove(in->buf, in->buf + in->taken, in->used);
		in->at = in->next;
		in->skipping = in->next_skipping;
		in->taken = 0;
	}
	return 0;
}

static void wait_ms(int ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	nanosleep(&t, NULL);
}

/* A disk that is full may have room again, a server may come back; who sends meanwhile waits. Files need not.
 */
static int commit_lines(struct lines *l, struct scribe_err *err)
{
	bool can_wait = false;
	int rc;

	for (int i = 0; i < l->n; i++)
		can_wait |= l->in[i]->kind != KIND_FILE;
	for (;;) {
		rc = transaction(l, err);
		if ((rc != -ENOSPC && rc != -ENOTCONN) || !can_wait || *l->f->stop)
			break;
		if (!l->full_told)
			scribe_complain(l->f->argv0, "%s: waiting for %s", err->text,
					rc == -ENOSPC ? "room" : "the server");
		l->full_told = true;
		l->full_code = rc;
		wait_ms(RETRY_MS);
	}
	if (rc >= 0 && l->full_told) {
		scribe_complain(l->f->argv0, "%s again: going on",
				l->full_code == -ENOSPC ? "there is room" : "the server answers");
		l->full_told = false;
	}
	return rc;
}

/* ---- the loop ---- */

static int64_t now_ms(void)
{
	return (int64_t)(scribe_now_ns() / 1000000);
}

/* Read from all that have something, waiting up to that time for the first. The first file only. */
static int read_some(struct lines *l, int timeout_ms, struct scribe_err *err)
{
	struct pollfd polls[MAX_INPUTS];
	struct input *of[MAX_INPUTS];
	bool have_file = false; /* one after the other, but where all go on for ever */
	int n = 0, rc = 0;

	for (int i = 0; i < l->n; i++) {
		struct input *in = l->in[i];

		if (in->kind == KIND_FILE && !in->ended && !have_file) {
			have_file = !l->f->follow;
			rc = fill(l, in, err);
			timeout_ms = in->used && !in->ended ? 0 : timeout_ms;
		} else if (in->kind != KIND_FILE && !in->ended &&
			   (in->kind == KIND_SOCKET || in->used < in->cap)) {
			of[n] = in;
			polls[n++] = (struct pollfd){.fd = in->fd, .events = POLLIN};
		}
		if (rc < 0)
			return rc;
	}
	if (poll(polls, (nfds_t)n, timeout_ms) <= 0)
		return 0;
	for (int i = 0; i < n && rc >= 0; i++)
		if (polls[i].revents && of[i]->kind == KIND_SOCKET)
			accept_all(l, of[i]);
		else if (polls[i].revents)
			rc = fill(l, of[i], err);
	return rc;
}

/* Inputs that have ended go; a followed file goes on. Is anything left? */
static bool drop_ended(struct lines *l)
{
	int kept = 0;

	for (int i = 0; i < l->n; i++) {
		struct input *in = l->in[i];

		if (in->ended && in->kind == KIND_FILE && l->f->follow)
			in->ended = false;
		if (in->ended)
			input_free(in);
		else
			l->in[kept++] = in;
	}
	l->n = kept;
	return kept > 0;
}

/* *ret_full: an input has so much that waiting for more makes no sense. */
static bool any_lines(const struct lines *l, bool *ret_full)
{
	bool any = false;

	*ret_full = false;
	for (int i = 0; i < l->n; i++) {
		any |= has_lines(l, l->in[i]);
		*ret_full |=
			l->in[i]->kind != KIND_SOCKET && (l->in[i]->used * 2 > l->in[i]->cap ||
							  l->in[i]->ended || l->in[i]->kind == KIND_FILE);
	}
	return any;
}

/* Old operations go every hour. */
static int forget_some(struct lines *l, int64_t *forgot_ms, struct scribe_err *err)
{
	if (!l->f->keep_days || now_ms() - *forgot_ms < FORGET_MS)
		return 0;
	*forgot_ms = now_ms();
	return l->f->forget(l->f->store, l->f->keep_days, err);
}

/* Gathers for GATHER_MS, so that a stream of single messages does not make a transaction each. */
static int run(struct lines *l, struct scribe_err *err)
{
	int64_t forgot_ms = now_ms(), since_ms = 0;
	int rc = 0;

	while (rc >= 0) {
		bool full, any = any_lines(l, &full);

		since_ms = !any ? 0 : since_ms ? since_ms : now_ms();
		if (any && (full || *l->f->stop || now_ms() - since_ms >= GATHER_MS)) {
			rc = commit_lines(l, err);
			since_ms = 0;
		}
		if (rc < 0 || !drop_ended(l) || *l->f->stop)
			break;
		rc = read_some(l, since_ms ? GATHER_MS : LOOK_AGAIN_MS, err);
		if (rc >= 0)
			rc = forget_some(l, &forgot_ms, err);
	}
	return rc;
}

int scribe_feed_lines(struct scribe_feed *f, char **inputs, int n, struct scribe_err *err)
{
	struct lines *l = calloc(1, sizeof(*l));
	int rc = 0;

	if (!l)
		return scribe_err_set(err, -ENOMEM, "store: out of memory");
	l->f = f;
	for (int i = 0; i < n; i++)
		if (open_input(l, inputs[i], err) < 0) {
			f->failed = true;
			scribe_complain_err(f->argv0, err);
		}
	if (l->n)
		rc = run(l, err);
	for (int i = 0; i < l->n; i++)
		input_free(l->in[i]);
	free(l);
	return rc;
}
