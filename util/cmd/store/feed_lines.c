// SPDX-License-Identifier: BSD-3-Clause
/*
 * Stores lines in transactions. Data stay in the input's buffer until the commit, so that a failed transaction
 * can be repeated. Must not know how inputs are read.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "logfmt/base/clock.h"
#include "util/cmd/store/feed_inputs.h"
#include "util/tool/command.h"

#define GATHER_MS      20   /* longest delay of a line, so that transactions have many */
#define LOOK_AGAIN_MS  100  /* poll interval at a followed file's end */
#define RETRY_MS       1000 /* when the disk is full or the server unreachable */
#define FORGET_MS      3600000
#define MAX_COMPLAINTS 20 /* bad lines that are reported, per input */

struct lines {
	struct scribe_feed *f;
	struct scribe_inputs all;
	struct scribe_store_event event;
	struct scribe_sample sample;
	bool full_reported;
	int full_code;
	/*
	 * A line that the database refuses is found by halving transactions. most: lines allowed, 0: all;
	 * n: lines in this one; pass: skip its only line, because of `why`.
	 */
	uint64_t most, n;
	bool pass;
	struct scribe_err why;
};

static bool is_growing(const struct lines *l, const struct scribe_input *in)
{
	/* A followed file's last line may still grow, until a signal ends the run. */
	return in->kind == SCRIBE_INPUT_FILE && l->f->follow && !*l->f->stop;
}

static bool has_lines(const struct lines *l, const struct scribe_input *in)
{
	if (!in->used)
		return false;
	return in->used >= SCRIBE_MAX_LINE || (in->ended && !is_growing(l, in)) || memchr(in->buf, '\n', in->used);
}

static int64_t line_of(const struct scribe_input *in)
{
	return in->kind == SCRIBE_INPUT_PARTITION ? in->next.bytes - 1 : in->next.lines;
}

static void complain(struct lines *l, struct scribe_input *in, const char *fault, const char *what)
{
	uint64_t line = (uint64_t)in->next.lines;

	if (line <= in->complained_line && !l->pass)
		return;
	in->complained_line = line > in->complained_line ? line : in->complained_line;
	if (++in->complaints <= MAX_COMPLAINTS)
		scribe_complain(l->f->argv0, "%s:%" PRId64 ": %s: %s", in->name, line_of(in), fault, what);
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

static int believe(const struct lines *l, const struct scribe_input *in, int kind, struct scribe_store_event *event,
		   struct scribe_err *err)
{
	if (kind < 0 || scribe_input_is_trusted(&l->all, in))
		return kind;
	/* The kernel's uid replaces the message's, unless the sender is trusted; samples need trust. */
	if (kind > 0)
		return scribe_err_set(err, -SCRIBE_E_FORMAT, "a sample of a node, of user %" PRId64, in->uid);
	event->uid = in->uid;
	return kind;
}

/* 1: node sample in l->sample; 0: message in l->event; negative with a message. */
static int read_message(struct lines *l, const char *line, size_t len, struct scribe_err *err)
{
	int rc = scribe_sample_json_read(l->f->samples, line, len, &l->sample, err);

	return rc ? rc : scribe_event_json_read(l->f->json, line, len, &l->event, err);
}

static void advance(struct scribe_input *in, const char *line, size_t bytes)
{
	in->taken += bytes;
	if (in->kind == SCRIBE_INPUT_PARTITION)
		in->next.bytes = strtoll(line, NULL, 10) + 1; /* append() wrote the offset in front */
	else
		in->next.bytes += (int64_t)bytes;
}

static void count_bad(struct lines *l, struct scribe_input *in, const char *fault, const char *what)
{
	complain(l, in, fault, what);
	in->next.bad_lines++;
}

static int take_line(struct lines *l, struct scribe_input *in, const char *line, size_t len, struct scribe_err *err)
{
	int rc;

	l->n++;
	in->next.lines++;
	if (in->kind == SCRIBE_INPUT_PARTITION) {
		const char *message = (const char *)memchr(line, ' ', len) + 1;

		len -= (size_t)(message - line);
		line = message;
	}
	if (is_blank(line, len))
		return 0;
	if (l->pass) {
		count_bad(l, in, "not stored", l->why.text);
		return 0;
	}
	rc = believe(l, in, read_message(l, line, len, err), &l->event, err);
	if (rc > 0)
		rc = scribe_store_put_sample(l->f->store, &l->sample, err);
	else if (rc == 0)
		rc = scribe_store_put(l->f->store, &l->event, SCRIBE_FROM_STREAM, err);
	/* A bad line is counted and skipped; any other error ends the transaction. */
	if (rc != -SCRIBE_E_FORMAT)
		return rc;
	count_bad(l, in, "no message", err->text);
	return 0;
}

static void skip_long(struct lines *l, struct scribe_input *in, const char *line, size_t bytes)
{
	advance(in, line, bytes);
	/* The line does not fit the buffer: its parts are dropped, and counted once. */
	if (!in->next_skipping) {
		in->next.lines++;
		count_bad(l, in, "no message", "longer than 256 KiB");
	}
	in->next_skipping = true;
}

/* A last line without newline: stored if complete, otherwise kept for the next run. */
static int take_last(struct lines *l, struct scribe_input *in, struct scribe_err *err)
{
	const char *line = in->buf + in->taken;
	size_t len = in->used - in->taken;
	int rc;

	if (!len || in->next_skipping || is_growing(l, in))
		return 0;
	rc = read_message(l, line, len, err);
	/* In a file it may be half written. */
	if (rc == -SCRIBE_E_FORMAT && in->kind == SCRIBE_INPUT_FILE && !is_blank(line, len)) {
		if (!in->unfinished_reported)
			scribe_complain(l->f->argv0, "%s:%" PRId64 ": the last line has no end: left for the next time",
					in->name, in->next.lines + 1);
		in->unfinished_reported = true;
		return 0;
	}
	advance(in, line, len);
	return take_line(l, in, line, len, err);
}

static bool is_full(const struct lines *l)
{
	return l->most && l->n >= l->most;
}

static int take_lines(struct lines *l, struct scribe_input *in, struct scribe_err *err)
{
	int rc = 0;

	in->taken = 0;
	in->next = in->at;
	in->next_skipping = in->skipping;
	while (rc >= 0 && in->taken < in->used && !is_full(l)) {
		const char *line = in->buf + in->taken;
		const char *end = memchr(line, '\n', in->used - in->taken);
		size_t len = end ? (size_t)(end - line) : in->used - in->taken;

		if (!end && len < SCRIBE_MAX_LINE)
			break;
		if (len >= SCRIBE_MAX_LINE || in->next_skipping) {
			skip_long(l, in, line, end ? len + 1 : len);
			in->next_skipping = !end;
			continue;
		}
		advance(in, line, len + 1);
		rc = take_line(l, in, line, len, err);
	}
	if (rc >= 0 && in->ended && !is_full(l))
		rc = take_last(l, in, err);
	/* In the same transaction as the lines, so that both are stored or neither. */
	if (rc >= 0 && in->key && in->taken)
		rc = scribe_store_position_set(l->f->store, in->key, &in->next, err);
	return rc;
}

static int transaction(struct lines *l, struct scribe_err *err)
{
	int rc = scribe_store_begin(l->f->store, err);

	l->n = 0;
	for (int i = 0; i < l->all.n && rc >= 0; i++)
		if (has_lines(l, l->all.in[i]))
			rc = take_lines(l, l->all.in[i], err);
		else
			l->all.in[i]->taken = 0;
	if (rc >= 0)
		rc = scribe_store_commit(l->f->store, err);
	if (rc < 0) {
		scribe_store_roll_back(l->f->store);
		return rc;
	}
	/* Only after the commit. */
	for (int i = 0; i < l->all.n; i++) {
		struct scribe_input *in = l->all.in[i];

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

static int commit_some(struct lines *l, struct scribe_err *err)
{
	bool can_wait = false;
	int rc;

	for (int i = 0; i < l->all.n; i++)
		can_wait |= l->all.in[i]->kind != SCRIBE_INPUT_FILE;
	for (;;) {
		rc = transaction(l, err);
		/* With pipes or sockets it waits, which holds back their senders. Files can be read again. */
		if ((rc != -ENOSPC && rc != -ENOTCONN) || !can_wait || *l->f->stop)
			break;
		if (!l->full_reported)
			scribe_complain(l->f->argv0, "%s: waiting for %s", err->text,
					rc == -ENOSPC ? "room" : "the server");
		l->full_reported = true;
		l->full_code = rc;
		wait_ms(RETRY_MS);
	}
	if (rc >= 0 && l->full_reported) {
		scribe_complain(l->f->argv0, "%s again: going on",
				l->full_code == -ENOSPC ? "there is room" : "the server answers");
		l->full_reported = false;
	}
	return rc;
}

/* After a refusal: halve the number of lines, or skip a single one. False: not caused by a line. */
static bool narrow(struct lines *l, const struct scribe_err *err)
{
	if (!l->n || l->pass)
		return false;
	l->pass = l->n == 1;
	l->most = l->n > 1 ? l->n / 2 : 1;
	l->why = *err;
	return true;
}

/* After a commit: double the number again. */
static void widen(struct lines *l)
{
	l->pass = false;
	l->most = l->n < l->most ? 0 : 2 * l->most;
}

static int commit_lines(struct lines *l, struct scribe_err *err)
{
	int rc;

	l->most = 0;
	l->pass = false;
	do {
		rc = commit_some(l, err);
		if (rc >= 0)
			widen(l);
		else if (rc == -SCRIBE_E_REFUSED && narrow(l, err))
			rc = 0;
	} while (rc >= 0 && l->most);
	return rc;
}

static int64_t now_ms(void)
{
	return (int64_t)(scribe_now_ns() / 1000000);
}

static bool any_lines(const struct lines *l, bool *ret_full)
{
	bool any = false;

	*ret_full = false;
	for (int i = 0; i < l->all.n; i++) {
		const struct scribe_input *in = l->all.in[i];

		any |= has_lines(l, in);
		*ret_full |= in->kind != SCRIBE_INPUT_SOCKET &&
			     (in->used * 2 > in->cap || in->ended || in->kind == SCRIBE_INPUT_FILE);
	}
	return any;
}

static int forget_some(struct lines *l, int64_t *forgot_ms, struct scribe_err *err)
{
	if (!l->f->keep_days || now_ms() - *forgot_ms < FORGET_MS)
		return 0;
	*forgot_ms = now_ms();
	return l->f->forget(l->f->store, l->f->keep_days, err);
}

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
		if (rc < 0 || !scribe_inputs_drop(&l->all) || *l->f->stop)
			break;
		rc = scribe_inputs_read(&l->all, since_ms ? GATHER_MS : LOOK_AGAIN_MS, err);
		if (rc >= 0)
			rc = forget_some(l, &forgot_ms, err);
	}
	return rc;
}

static int open_input(struct lines *l, const char *name, struct scribe_err *err)
{
	if (strncmp(name, "kafka:", 6))
		return scribe_input_open(&l->all, name, err);
#ifdef SCRIBE_HAVE_KAFKA
	return scribe_topic_open(&l->all, name, err);
#else
	return scribe_err_set(err, -ENOSYS, "%s: this program was built without Kafka", name);
#endif
}

int scribe_feed_lines(struct scribe_feed *f, char **inputs, int n, struct scribe_err *err)
{
	struct lines *l = calloc(1, sizeof(*l));
	int rc = 0;

	if (!l)
		return scribe_err_set(err, -ENOMEM, "store: out of memory");
	l->f = f;
	l->all.f = f;
	for (int i = 0; i < n; i++)
		if (open_input(l, inputs[i], err) < 0) {
			f->failed = true;
			scribe_complain_err(f->argv0, err);
		}
	if (l->all.n)
		rc = run(l, err);
	for (int i = 0; i < l->all.n; i++)
		scribe_input_free(l->all.in[i]);
	free(l);
	return rc;
}
