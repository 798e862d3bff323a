// SPDX-License-Identifier: BSD-3-Clause
/* Files, pipes and sockets as inputs of lines, for ioscribe-store. Must not know what lines contain. */
#include "util/cmd/store/feed_inputs.h"

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
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "logfmt/base/hash.h"

/*
 * Bytes read of an input before they are stored. A transaction writes each database page once, so large ones write
 * less. All inputs share BUFFERS.
 */
#define BUFFERS      134217728
#define BUFFER_MOST  16777216
#define BUFFER_LEAST 2097152
#define FIRST_BYTES  4096 /* of the first line at most, which identifies a file */

void scribe_input_free(struct scribe_input *in)
{
	if (!in)
		return;
	if (in->close)
		in->close(in);
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

static size_t buffer_size(int ninputs)
{
	size_t share = BUFFERS / ((size_t)ninputs + 1);

	return share > BUFFER_MOST ? BUFFER_MOST : share < BUFFER_LEAST ? BUFFER_LEAST : share;
}

struct scribe_input *scribe_input_new(struct scribe_inputs *l, enum scribe_input_kind kind, int fd, const char *name)
{
	struct scribe_input *in = l->n < SCRIBE_MAX_INPUTS ? calloc(1, sizeof(*in)) : NULL;

	if (!in)
		return NULL;
	in->kind = kind;
	in->fd = fd;
	in->uid = -1;
	in->name = strdup(name);
	in->cap = buffer_size(l->n);
	if (!in->name) {
		in->fd = -1;
		scribe_input_free(in);
		return NULL;
	}
	l->in[l->n++] = in;
	return in;
}

static int listen_at(struct scribe_inputs *l, const char *name, struct scribe_err *err)
{
	const char *path = name + strlen("unix:");
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct scribe_input *in;
	struct stat st;
	int fd;

	if (!*path || strlen(path) >= sizeof(at.sun_path))
		return scribe_err_set(err, -EINVAL, "%s: a socket's path has 1 to %zu bytes", name,
				      sizeof(at.sun_path) - 1);
	strcpy(at.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return scribe_err_set(err, -errno, "%s: %s", name, strerror(errno));
	/* A stale socket file is replaced: ECONNREFUSED means that no process listens. */
	if (!lstat(path, &st) && S_ISSOCK(st.st_mode) && connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0 &&
	    errno == ECONNREFUSED)
		unlink(path);
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, SOMAXCONN) < 0) {
		int code = errno;

		close(fd);
		return scribe_err_set(err, -code, "%s: cannot listen there: %s", name, strerror(code));
	}
	in = scribe_input_new(l, SCRIBE_INPUT_SOCKET, fd, name);
	if (in)
		in->path = strdup(path);
	return in ? 0 : scribe_err_set(err, -ENOMEM, "%s: out of memory", name);
}

int scribe_input_open(struct scribe_inputs *l, const char *name, struct scribe_err *err)
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
	if (!scribe_input_new(l, S_ISREG(st.st_mode) && fd != STDIN_FILENO ? SCRIBE_INPUT_FILE : SCRIBE_INPUT_PIPE, fd,
			      fd == STDIN_FILENO ? "standard input" : name))
		return scribe_err_set(err, -E2BIG, "%s: more than %d inputs, or out of memory", name,
				      SCRIBE_MAX_INPUTS);
	return 0;
}

static bool is_trusted(const struct scribe_inputs *l, int64_t uid)
{
	return uid <= 0 || uid == (int64_t)geteuid() || uid == l->f->stream_uid;
}

bool scribe_input_is_trusted(const struct scribe_inputs *l, const struct scribe_input *in)
{
	return is_trusted(l, in->uid);
}

/* Nothing is buffered here or in the kernel, so the connection can be closed without loss. */
static bool is_quiet(const struct scribe_input *in, int64_t now_ms)
{
	char byte;

	return in->uid >= 0 && !in->used && now_ms - in->heard_ms >= SCRIBE_QUIET_MS &&
	       recv(in->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

/* Closes the connection idle for longest; its sender can connect again. False: all are busy. */
static bool drop_quiet(struct scribe_inputs *l)
{
	const int64_t now_ms = (int64_t)(scribe_now_ns() / 1000000);
	int at = -1;

	for (int i = 0; i < l->n; i++)
		if (is_quiet(l->in[i], now_ms) && (at < 0 || l->in[i]->heard_ms < l->in[at]->heard_ms))
			at = i;
	if (at < 0)
		return false;
	scribe_input_free(l->in[at]);
	for (l->n--; at < l->n; at++)
		l->in[at] = l->in[at + 1];
	return true;
}

static void add_connection(struct scribe_inputs *l, const struct scribe_input *listener, int fd)
{
	struct ucred who = {.uid = (uid_t)-1};
	socklen_t bytes = sizeof(who);
	struct scribe_input *in;
	int n = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes) < 0) {
		close(fd);
		return;
	}
	for (int i = 0; i < l->n; i++)
		n += l->in[i]->uid == (int64_t)who.uid;
	in = n < SCRIBE_USER_INPUTS || is_trusted(l, who.uid)
		     ? scribe_input_new(l, SCRIBE_INPUT_PIPE, fd, listener->name)
		     : NULL;
	if (!in) {
		close(fd);
		return;
	}
	in->uid = who.uid;
	in->heard_ms = (int64_t)(scribe_now_ns() / 1000000);
}

static void accept_all(struct scribe_inputs *l, const struct scribe_input *listener)
{
	int fd;

	/* When all inputs are busy, connections wait in the listen queue. */
	while ((l->n < SCRIBE_MAX_INPUTS || drop_quiet(l)) &&
	       (fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		add_connection(l, listener, fd);
}

/* Continues a file at its stored position. 1: the buffer was discarded, read again. */
static int find_position(struct scribe_inputs *l, struct scribe_input *in, struct scribe_err *err)
{
	const char *end = memchr(in->buf, '\n', in->used);
	size_t first = end ? (size_t)(end - in->buf) : in->used;
	char real[PATH_MAX], key[PATH_MAX + 32];
	struct stat st;
	int rc;

	if (in->kind != SCRIBE_INPUT_FILE || in->key || (!end && in->used < FIRST_BYTES))
		return 0;
	first = first < FIRST_BYTES ? first : FIRST_BYTES;
	/* Name and first line identify a file: a new file under an old name is read from its start. */
	snprintf(key, sizeof(key), "%016" PRIx64 " %s", scribe_hash64(in->buf, first, 0),
		 realpath(in->name, real) ? real : in->name);
	in->key = strdup(key);
	if (!in->key)
		return scribe_err_set(err, -ENOMEM, "%s: out of memory", in->name);
	rc = scribe_store_position(l->f->store, in->key, &in->at, err);
	if (rc < 0)
		return rc;
	/* A shorter file was truncated or replaced. */
	if (fstat(in->fd, &st) < 0 || st.st_size < in->at.bytes)
		in->at = (struct scribe_store_position){0};
	if (!in->at.bytes)
		return 0;
	if (lseek(in->fd, in->at.bytes, SEEK_SET) < 0)
		return scribe_err_set(err, -errno, "%s: %s", in->name, strerror(errno));
	in->used = 0;
	in->ended = false;
	return 1;
}

static int fill(struct scribe_inputs *l, struct scribe_input *in, struct scribe_err *err)
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
		if (in->uid >= 0)
			in->heard_ms = (int64_t)(scribe_now_ns() / 1000000);
		in->ended = n <= 0;
		rc = find_position(l, in, err);
	} while (rc > 0);
	return rc;
}

static bool is_polled(const struct scribe_input *in)
{
	if (in->kind == SCRIBE_INPUT_FILE || in->kind == SCRIBE_INPUT_PARTITION || in->ended)
		return false;
	/* A topic's descriptor only ends the wait; a full pipe is not polled, or poll would return at once. */
	return in->kind != SCRIBE_INPUT_PIPE || in->used < in->cap;
}

int scribe_inputs_read(struct scribe_inputs *l, int timeout_ms, struct scribe_err *err)
{
	struct pollfd polls[SCRIBE_MAX_INPUTS];
	struct scribe_input *of[SCRIBE_MAX_INPUTS];
	bool have_file = false;
	int n = 0, rc = 0;

	for (int i = 0; i < l->n; i++) {
		struct scribe_input *in = l->in[i];
		bool more;

		if (in->kind == SCRIBE_INPUT_FILE && !in->ended && !have_file) {
			have_file = !l->f->follow;
			rc = fill(l, in, err);
			timeout_ms = in->used && !in->ended ? 0 : timeout_ms;
		} else if (in->kind == SCRIBE_INPUT_TOPIC && !in->ended) {
			rc = in->read(in, &more, err);
			timeout_ms = more || in->ended ? 0 : timeout_ms;
		}
		if (is_polled(in)) {
			of[n] = in;
			polls[n++] = (struct pollfd){.fd = in->fd, .events = POLLIN};
		}
		if (rc < 0)
			return rc;
	}
	if (poll(polls, (nfds_t)n, timeout_ms) <= 0)
		return 0;
	for (int i = 0; i < n && rc >= 0; i++)
		if (polls[i].revents && of[i]->kind == SCRIBE_INPUT_SOCKET)
			accept_all(l, of[i]);
		else if (polls[i].revents && of[i]->kind == SCRIBE_INPUT_PIPE)
			rc = fill(l, of[i], err);
	return rc;
}

bool scribe_inputs_drop(struct scribe_inputs *l)
{
	int kept = 0;

	for (int i = 0; i < l->n; i++) {
		struct scribe_input *in = l->in[i];

		if (in->ended && in->kind == SCRIBE_INPUT_FILE && l->f->follow)
			in->ended = false;
		if (in->ended)
			scribe_input_free(in);
		else
			l->in[kept++] = in;
	}
	l->n = kept;
	return kept > 0;
}
