// SPDX-License-Identifier: BSD-3-Clause
/*
 * Lines of inputs into transactions, for ioscribe-store. What was read stays in its input's buffer
 * until it is committed, so that a transaction that fails can be done again. Must not know how
 * inputs are read.
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

#define GATHER_MS      20   /* how long a transaction waits for more */
#define LOOK_AGAIN_MS  100  /* at a followed file's end */
#define RETRY_MS       1000 /* where the disk is full, or the server is gone */
#define FORGET_MS      3600000
#define MAX_COMPLAINTS 20 /* bad lines of an input that are named */

struct lines {
	struct scribe_feed *f;
	struct scribe_inputs all;
	struct scribe_event event;
	struct scribe_sample sample;
	bool full_told;
	int full_code; /* why it waited */
	/*
	 * A line that the database refuses is found by transactions of fewer lines: `most` of them, 0: all;
	 * `n`: of this one. The line that was alone is passed over, for what the database said: `why`.
	 */
	uint64_t most, n;
	bool pass;
	struct scribe_err why;
};

/* A file that is followed has no last line until a signal comes. */
static bool is_growing(const struct lines *l, const struct scribe_input *in)
{
	return in->kind == SCRIBE_INPUT_FILE && l->f->follow && !*l->f->stop;
}

static bool has_lines(const struct lines *l, const struct scribe_input *in)
{
	if (!in->used)
		return false;
	return in->used >= SCRIBE_MAX_LINE || (in->ended && !is_growing(l, in)) || memchr(in->buf, '\n', in->used);
}

/* ---- lines of a transaction ---- */

/* What messages name a line by. */
static int64_t line_of(const struct scribe_input *in)
{
	return in->kind == SCRIBE_INPUT_PARTITION ? in->next.bytes - 1 : in->next.lines;
}

/* Each bad line once, also where its transaction is repeated. */
static void complain(struct lines *l, struct scribe_input *in, const char *fault, const char *what)
{
	uint64_t line = (uint64_t)in->next.lines;

	if (line <= in->complained_line && !l->pass)
		return; /* the transaction is done once more */
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

/* Who sends decides whose a message is, unless he speaks for all. */
static int believe(const struct lines *l, const struct scribe_input *in, int kind, struct scribe_event *event,
		   struct scribe_err *err)
{
	if (kind < 0 || scribe_input_is_trusted(&l->all, in))
		return kind;
	if (kind > 0)
		return scribe_err_set(err, -SCRIBE_E_FORMAT, "a sample of a node, of user %" PRId64, in->uid);
	event->uid = in->uid;
	return kind;
}

/* 1: a sample of a node, in l->sample; 0: a job's message, in l->event; negative with a message. */
static int read_message(struct lines *l, const char *line, size_t len, struct scribe_err *err)
{
	int rc = scribe_sample_json_read(l->f->samples, line, len, &l->sample, err);

	return rc ? rc : scribe_event_json_read(l->f->json, line, len, &l->event, err);
}

/* So many bytes of the buffer, the line at their begin. */
static void advance(struct scribe_input *in, const char *line, size_t bytes)
{
	in->taken += bytes;
	if (in->kind == SCRIBE_INPUT_PARTITION)
		in->next.bytes = strtoll(line, NULL, 10) + 1;
	else
		in->next.bytes += (int64_t)bytes;
}

static void count_bad(struct lines *l, struct scribe_input *in, const char *fault, const char *what)
{
	complain(l, in, fault, what);
	in->next.bad_lines++;
}

/* A bad line is counted and passed over; any other failure ends the transaction. */
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
	if (rc != -SCRIBE_E_FORMAT)
		return rc;
	count_bad(l, in, "no message", err->text);
	return 0;
}

/* A line that does not fit the buffer: what is there of it goes, once it is counted. */
static void skip_long(struct lines *l, struct scribe_input *in, const char *line, size_t bytes)
{
	advance(in, line, bytes);
	if (!in->next_skipping) {
		in->next.lines++;
		count_bad(l, in, "no message", "longer than 256 KiB");
	}
	in->next_skipping = true;
}

/* The last line without its end: whole, or left for the next time. */
static int take_last(struct lines *l, struct scribe_input *in, struct scribe_err *err)
{
	const char *line = in->buf + in->taken;
	size_t len = in->used - in->taken;
	int rc;

	if (!len || in->next_skipping || is_growing(l, in))
		return 0;
	rc = read_message(l, line, len, err);
	if (rc == -SCRIBE_E_FORMAT && in->kind == SCRIBE_INPUT_FILE && !is_blank(line, len)) {
		if (!in->unfinished_told)
			scribe_complain(l->f->argv0,
					"%s:%" PRId64 ": the last line has no end: left for the next time",
					in->name, in->next.lines + 1);
		in->unfinished_told = true;
		return 0;
	}
	advance(in, line, len);
	return take_line(l, in, line, len, err);
}

static bool is_full(const struct lines *l)
{
	return l->most && l->n >= l->most;
}

/* From the committed position on: at, then next. */
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
	if (rc >= 0 && in->key && in->taken)
		rc = scribe_store_position_set(l->f->store, in->key, &in->next, err);
	return rc;
}

/* Buffers move only after the commit. */
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

/* A disk that is full may have room again, a server may come back; who sends meanwhile waits. Files need not.
 */
static int commit_some(struct lines *l, struct scribe_err *err)
{
	bool can_wait = false;
	int rc;

	for (int i = 0; i < l->all.n; i++)
		can_wait |= l->all.in[i]->kind != SCRIBE_INPUT_FILE;
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

/* After a refusal: half as many lines, or, where one was alone, without it. False: it was no line's. */
static bool narrow(struct lines *l, const struct scribe_err *err)
{
	if (!l->n || l->pass)
		return false;
	l->pass = l->n == 1;
	l->most = l->n > 1 ? l->n / 2 : 1;
	l->why = *err;
	return true;
}

/* After one that was committed: twice as many, until all are. */
static void widen(struct lines *l)
{
	l->pass = false;
	l->most = l->n < l->most ? 0 : 2 * l->most;
}

/* All lines that are there, but those that the database refuses. */
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

/* ---- the loop ---- */

static int64_t now_ms(void)
{
	return (int64_t)(scribe_now_ns() / 1000000);
}

/* *ret_full: an input has so much that waiting for more makes no sense. */
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
