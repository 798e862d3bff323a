// SPDX-License-Identifier: BSD-3-Clause
/*
 * Kafka topics as inputs of lines, without a consumer group: the store keeps each partition's offset. A
 * partition is an input with lines "OFFSET MESSAGE". librdkafka calls back only from rd_kafka_poll. Must not
 * know what messages contain.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "util/cmd/store/feed_inputs.h"
#include "util/kafka/kafka.h"
#include "util/tool/command.h"

#define BATCH      1000  /* messages per call of librdkafka */
#define ANSWER_MS  1000  /* limit of a request to a broker */
#define RETRY_MS   1000  /* after a request failed */
#define REFRESH_MS 60000 /* interval of searches for new partitions, with --follow */
#define REPORT_MS  2000  /* a silent broker is reported after this */
#define QUIET_MS   10000 /* without data before giving up, without --follow */
#define STEP_MS    2000  /* longest time counted per read: a transaction may have waited */
#define PREFIX     24    /* bytes of "OFFSET " */

static const struct scribe_kafka *kafka;

struct partition {
	struct scribe_input *in;
	int64_t next, end; /* offsets: next message; end at the start of the run */
	bool is_started, is_done;
};

struct scribe_topic {
	struct scribe_inputs *all;
	const char *name;
	rd_kafka_t *rk;
	rd_kafka_topic_t *rkt;
	rd_kafka_queue_t *queue;
	rd_kafka_message_t *batch[BATCH];
	ssize_t at, n;
	struct partition partitions[SCRIBE_MAX_INPUTS];
	int n_partitions; /* 0: unknown */
	int64_t look_ms, read_ms, quiet_ms;
	bool is_away, is_reported;
	int reported_code;
	char why[256]; /* last failure; empty: none */
};

static int64_t now_ms(void)
{
	return (int64_t)(scribe_now_ns() / 1000000);
}

static void set_away(struct scribe_topic *t, const char *why)
{
	t->is_away = true;
	if (!t->why[0])
		snprintf(t->why, sizeof(t->why), "%s", why);
}

static void on_error(rd_kafka_t *rk, int code, const char *reason, void *opaque)
{
	struct scribe_topic *t = opaque;

	(void)rk;
	if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
		t->look_ms = 0;
	else
		snprintf(t->why, sizeof(t->why), "%s", reason);
}

static void stop_partition(struct scribe_topic *t, int id)
{
	if (t->partitions[id].is_started)
		kafka->consume_stop(t->rkt, id);
	t->partitions[id].is_started = false;
}

static void end_partition(struct scribe_topic *t, int id)
{
	struct partition *p = &t->partitions[id];

	stop_partition(t, id);
	if (p->in)
		p->in->ended = true; /* its buffer is still committed */
	p->in = NULL;
	p->is_done = true;
}

static int make_input(struct scribe_topic *t, int id, struct scribe_err *err)
{
	struct partition *p = &t->partitions[id];
	char name[SCRIBE_TOPIC_NAME + 16];
	struct scribe_input *in;
	int rc;

	snprintf(name, sizeof(name), "%s/%d", t->name, id);
	in = scribe_input_new(t->all, SCRIBE_INPUT_PARTITION, -1, name);
	if (!in) {
		set_away(t, "too many inputs");
		return 1;
	}
	p->in = in;
	in->key = strdup(name);
	in->buf = malloc(in->cap);
	if (!in->key || !in->buf)
		return scribe_err_set(err, -ENOMEM, "%s: out of memory", name);
	rc = scribe_store_position(t->all->f->store, in->key, &in->at, err);
	p->next = in->at.bytes;
	return rc;
}

/* Adjusts a stored offset that retention removed, or that a recreated topic does not have. */
static void check_place(struct scribe_topic *t, struct partition *p, bool is_new, int64_t low, int64_t high)
{
	if (p->next > high)
		scribe_complain(t->all->f->argv0,
				"%s: ends at offset %" PRId64 ", before %" PRId64 ", to which it was read: read again",
				p->in->name, high, p->next);
	else if (p->next < low && (p->next || !is_new))
		scribe_complain(t->all->f->argv0,
				"%s: offsets %" PRId64 " to %" PRId64 " are not there any more: going on at %" PRId64,
				p->in->name, p->next, low - 1, low);
	if (p->next > high || p->next < low)
		p->next = low;
}

static int start_partition(struct scribe_topic *t, int id, struct scribe_err *err)
{
	struct partition *p = &t->partitions[id];
	const bool is_new = !p->in;
	int64_t low = 0, high = 0;
	const rd_kafka_resp_err_t code =
		kafka->query_watermark_offsets(t->rk, scribe_kafka_topic(t->name), id, &low, &high, ANSWER_MS);
	int rc;

	if (code) {
		set_away(t, kafka->err2str(code));
		return 0;
	}
	rc = is_new ? make_input(t, id, err) : 0;
	if (rc)
		return rc < 0 ? rc : 0;
	check_place(t, p, is_new, low, high);
	if (is_new) {
		p->end = high;
		t->quiet_ms = 0;
	}
	if (!t->all->f->follow && p->next >= p->end)
		end_partition(t, id);
	else if (kafka->consume_start_queue(t->rkt, id, p->next, t->queue) < 0)
		set_away(t, kafka->err2str(kafka->last_error()));
	else
		p->is_started = true;
	return 0;
}

static void topic_refused(struct scribe_topic *t, rd_kafka_resp_err_t code)
{
	set_away(t, kafka->err2str(code));
	if (code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
		t->quiet_ms = QUIET_MS;
}

static int look(struct scribe_topic *t, struct scribe_err *err)
{
	const struct rd_kafka_metadata *md = NULL;
	const rd_kafka_resp_err_t code = kafka->metadata(t->rk, 0, t->rkt, &md, ANSWER_MS);
	int n = 0, rc = 0;

	kafka->poll(t->rk, 0);
	t->is_away = false;
	if (code) {
		set_away(t, kafka->err2str(code));
	} else {
		t->why[0] = 0;
		if (md->topic_cnt != 1 || md->topics[0].err)
			topic_refused(t,
				      md->topic_cnt == 1 ? md->topics[0].err : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
		else
			n = md->topics[0].partition_cnt;
		kafka->metadata_destroy(md);
	}
	if (n > SCRIBE_MAX_INPUTS)
		return scribe_err_set(err, -E2BIG, "%s: %d partitions, the limit is %d", t->name, n, SCRIBE_MAX_INPUTS);
	t->n_partitions = n > t->n_partitions ? n : t->n_partitions;
	for (int i = 0; i < n && rc >= 0 && !t->is_away; i++)
		if (!t->partitions[i].is_started && !t->partitions[i].is_done)
			rc = start_partition(t, i, err);
	if (t->is_reported && !t->is_away) {
		scribe_complain(t->all->f->argv0, "%s answers: going on", t->name);
		t->is_reported = false;
	}
	t->look_ms = t->is_away ? now_ms() + RETRY_MS : t->all->f->follow ? now_ms() + REFRESH_MS : INT64_MAX;
	return rc;
}

static void take_error(struct scribe_topic *t, struct partition *p, const rd_kafka_message_t *m)
{
	switch (m->err) {
	case RD_KAFKA_RESP_ERR__PARTITION_EOF: /* also reached over aborted transactions */
		t->quiet_ms = 0;
		if (!t->all->f->follow)
			end_partition(t, m->partition);
		return;
	case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
	case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
		stop_partition(t, m->partition);
		t->look_ms = now_ms() + RETRY_MS;
		return;
	default:
		snprintf(t->why, sizeof(t->why), "%s", kafka->err2str(m->err));
		if ((int)m->err != t->reported_code)
			scribe_complain(t->all->f->argv0, "%s: %s", p->in->name, t->why);
		t->reported_code = m->err;
	}
}

static bool append(struct scribe_input *in, const rd_kafka_message_t *m)
{
	/* A message that is too long is cut, and then rejected as a bad line. */
	const size_t n = m->len < SCRIBE_MAX_LINE ? m->len : SCRIBE_MAX_LINE;
	char *to = in->buf + in->used, *newline;
	int prefix;

	if (in->cap - in->used < PREFIX + n + 1)
		return false;
	prefix = snprintf(to, PREFIX, "%" PRId64 " ", m->offset);
	to += prefix;
	if (n)
		memcpy(to, m->payload, n);
	/* In JSON a newline is only white space, but here it would end the line. */
	while ((newline = memchr(to, '\n', n)))
		*newline = ' ';
	to[n] = '\n';
	in->used += (size_t)prefix + n + 1;
	return true;
}

static bool take_message(struct scribe_topic *t, const rd_kafka_message_t *m)
{
	struct partition *p = m->partition >= 0 && m->partition < t->n_partitions ? &t->partitions[m->partition] : NULL;

	if (!p || !p->in)
		return true;
	if (m->err) {
		take_error(t, p, m);
		return true;
	}
	t->quiet_ms = 0;
	if (m->offset < p->next)
		return true;
	if ((t->all->f->follow || m->offset < p->end) && !append(p->in, m))
		return false;
	p->next = m->offset + 1;
	if (!t->all->f->follow && p->next >= p->end)
		end_partition(t, m->partition);
	return true;
}

static bool is_half_full(const struct scribe_input *in)
{
	return in && in->used * 2 > in->cap;
}

static void take_all(struct scribe_topic *t, bool *ret_more)
{
	*ret_more = false;
	for (;;) {
		if (t->at == t->n) {
			t->at = 0;
			t->n = kafka->consume_batch_queue(t->queue, 0, t->batch, BATCH);
		}
		if (t->n <= 0)
			break;
		for (; t->at < t->n; t->at++) {
			*ret_more = !take_message(t, t->batch[t->at]);
			if (*ret_more)
				return;
			kafka->message_destroy(t->batch[t->at]);
		}
		for (int i = 0; i < t->n_partitions; i++)
			*ret_more |= is_half_full(t->partitions[i].in);
		if (*ret_more)
			return;
	}
	t->n = 0;
}

static void give_up(struct scribe_topic *t, struct scribe_input *in)
{
	scribe_complain(t->all->f->argv0, "%s: %s", t->name, t->why[0] ? t->why : "no message for 10 s");
	t->all->f->failed = true;
	for (int i = 0; i < t->n_partitions; i++)
		end_partition(t, i);
	in->ended = true;
}

static void check_end(struct scribe_topic *t, struct scribe_input *in)
{
	bool is_done = t->n_partitions > 0;

	if (t->all->f->follow) {
		if (t->is_away && !t->is_reported && t->quiet_ms >= REPORT_MS) {
			scribe_complain(t->all->f->argv0, "%s: %s: waiting", t->name, t->why);
			t->is_reported = true;
		}
		return;
	}
	for (int i = 0; i < t->n_partitions; i++)
		is_done = is_done && t->partitions[i].is_done;
	if (is_done)
		in->ended = true;
	else if (t->quiet_ms >= QUIET_MS)
		give_up(t, in);
}

static int read_topic(struct scribe_input *in, bool *ret_more, struct scribe_err *err)
{
	struct scribe_topic *t = in->topic;
	const int64_t now = now_ms(), step = now - t->read_ms;
	uint64_t events;
	int rc = 0;

	*ret_more = false;
	if (read(in->fd, &events, sizeof(events)) < 0 && errno != EAGAIN)
		return scribe_err_set(err, -errno, "%s: %s", t->name, strerror(errno));
	t->quiet_ms += step < STEP_MS ? step : STEP_MS;
	t->read_ms = now;
	kafka->poll(t->rk, 0);
	if (now >= t->look_ms)
		rc = look(t, err);
	if (rc < 0)
		return rc;
	take_all(t, ret_more);
	check_end(t, in);
	return 0;
}

static void close_topic(struct scribe_input *in)
{
	struct scribe_topic *t = in->topic;

	for (; t->at < t->n; t->at++)
		kafka->message_destroy(t->batch[t->at]);
	for (int i = 0; i < t->n_partitions; i++)
		stop_partition(t, i);
	if (t->queue)
		kafka->queue_destroy(t->queue);
	if (t->rkt)
		kafka->topic_destroy(t->rkt);
	if (t->rk)
		kafka->destroy(t->rk);
	free(t);
}

static int make_client(struct scribe_topic *t, int fd, struct scribe_err *err)
{
	static const struct scribe_kafka_setting ours[] = {{"enable.auto.commit", "false"},
							   {"auto.commit.enable", "false"},
							   {"enable.partition.eof", "true"},
							   {"auto.offset.reset", "error"},
							   {NULL, NULL}};
	static const uint64_t one = 1;
	const char *name = t->name + strlen("kafka:");
	rd_kafka_conf_t *conf;
	int rc = scribe_kafka_conf(name, ours, &conf, err);

	if (rc < 0)
		return rc;
	kafka->conf_set_opaque(conf, t);
	kafka->conf_set_error_cb(conf, on_error);
	rc = scribe_kafka_new(RD_KAFKA_CONSUMER, conf, &t->rk, err);
	if (rc < 0)
		return rc;
	t->rkt = kafka->topic_new(t->rk, scribe_kafka_topic(name), NULL);
	if (!t->rkt)
		return scribe_err_set(err, -EIO, "%s", kafka->err2str(kafka->last_error()));
	t->queue = kafka->queue_new(t->rk);
	kafka->queue_io_event_enable(t->queue, fd, &one, sizeof(one));
	return 0;
}

int scribe_topic_open(struct scribe_inputs *all, const char *name, struct scribe_err *err)
{
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	struct scribe_topic *t = calloc(1, sizeof(*t));
	struct scribe_input *in = NULL;
	struct scribe_err why = {0};
	int rc = scribe_kafka_check(name + strlen("kafka:"), &why);

	if (rc == 0 && strlen(name) >= SCRIBE_TOPIC_NAME)
		rc = scribe_err_set(&why, -EINVAL, "longer than %d bytes", SCRIBE_TOPIC_NAME - 1);
	if (rc == 0)
		rc = scribe_kafka_load(&kafka, &why);
	if (rc == 0 && t && fd >= 0)
		in = scribe_input_new(all, SCRIBE_INPUT_TOPIC, fd, name);
	if (rc == 0 && !in)
		rc = scribe_err_set(&why, -ENOMEM, "too many inputs, or out of memory");
	if (rc < 0) {
		free(t);
		if (fd >= 0)
			close(fd);
		return scribe_err_set(err, rc, "%.200s: %s", name, why.text);
	}
	in->topic = t;
	in->read = read_topic;
	in->close = close_topic;
	t->all = all;
	t->name = in->name;
	t->read_ms = now_ms();
	rc = make_client(t, fd, &why);
	in->ended = rc < 0;
	return rc < 0 ? scribe_err_set(err, rc, "%.200s: %s", name, why.text) : 0;
}
