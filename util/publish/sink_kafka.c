// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages to a Kafka topic by librdkafka's idempotent producer. The key is job and rank, so a rank's messages
 * stay in order. Callbacks only from rd_kafka_poll. Must not know messages, except for job and rank.
 */
#include "util/publish/sink_kafka.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/kafka/kafka.h"

#define QUEUE_MOST "65536" /* messages in librdkafka's queue: 32 MiB at 500 bytes each */
#define LINGER_MS  "20"    /* longest wait of a message for a batch */
#define KEY_BYTES  64
#define WAIT_MS    20

static const struct scribe_kafka *kafka; /* NULL: not loaded yet */

struct producer {
	rd_kafka_t *rk;
	size_t failed;     /* dropped */
	const char *topic; /* borrowed from the sink */
};

/* A broker is [PROTOCOL://]HOST[:PORT]; HOST may be [IPv6]. */
static bool host_of(const char *rest, unsigned n, char *host, size_t capacity)
{
	const char *const end = strrchr(rest, '/');
	const char *at = rest, *scheme;
	size_t len;

	for (; n && at < end; n--)
		at += strcspn(at, ",") + 1;
	if (at >= end)
		return false;
	scheme = strstr(at, "://");
	if (scheme && scheme < at + strcspn(at, ","))
		at = scheme + 3;
	at += at[0] == '[';
	len = strcspn(at, at > rest && at[-1] == '[' ? "],/" : ":,/");
	return snprintf(host, capacity, "%.*s", (int)len, at) < (int)capacity;
}

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque)
{
	struct scribe_sink *s = opaque;
	struct producer *p = s->own;

	(void)rk;
	if (!m->err)
		return;
	p->failed++;
	snprintf(s->why, sizeof(s->why), "%s", kafka->err2str(m->err));
}

static void on_error(rd_kafka_t *rk, int code, const char *reason, void *opaque)
{
	struct scribe_sink *s = opaque;

	(void)rk, (void)code;
	snprintf(s->why, sizeof(s->why), "%s", reason);
}

static int open_topic(struct scribe_sink *s, struct scribe_err *err)
{
	static const struct scribe_kafka_setting ours[] = {{"enable.idempotence", "true"},
							   {"queue.buffering.max.messages", QUEUE_MOST},
							   {"queue.buffering.max.ms", LINGER_MS},
							   {NULL, NULL}};
	rd_kafka_conf_t *conf;
	struct producer *p;
	int rc = scribe_kafka_load(&kafka, err);

	if (rc == 0)
		rc = scribe_kafka_conf(s->rest, ours, &conf, err);
	if (rc < 0)
		return rc;
	kafka->conf_set_opaque(conf, s);
	kafka->conf_set_dr_msg_cb(conf, on_delivery);
	kafka->conf_set_error_cb(conf, on_error);
	p = calloc(1, sizeof(*p));
	if (!p) {
		kafka->conf_destroy(conf);
		return scribe_err_set(err, -ENOMEM, "out of memory");
	}
	p->topic = scribe_kafka_topic(s->rest);
	rc = scribe_kafka_new(RD_KAFKA_PRODUCER, conf, &p->rk, err);
	if (rc < 0) {
		free(p);
		return rc;
	}
	s->own = p;
	s->is_open = true;
	return 0;
}

/* "JOB/RANK" of a message. */
static size_t key_of(const char *line, size_t n, char *ret_key)
{
	static const char job[] = "\"job_id\":", rank[] = "\"rank\":";
	const char *a = memmem(line, n, job, sizeof(job) - 1);
	const char *b = memmem(line, n, rank, sizeof(rank) - 1);
	int bytes;

	if (!a || !b)
		return 0;
	bytes = snprintf(ret_key, KEY_BYTES, "%lld/%lld", atoll(a + sizeof(job) - 1), atoll(b + sizeof(rank) - 1));
	return bytes > 0 ? (size_t)bytes : 0;
}

static rd_kafka_resp_err_t produce(struct producer *p, const char *line, size_t n)
{
	char key[KEY_BYTES];
	const size_t key_bytes = key_of(line, n, key);

	return kafka->producev(p->rk, RD_KAFKA_V_TOPIC(p->topic), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
			       RD_KAFKA_V_KEY(key, key_bytes), RD_KAFKA_V_VALUE((void *)(uintptr_t)line, n),
			       RD_KAFKA_V_END);
}

static int send_lines(struct scribe_sink *s, const char *lines, size_t bytes, size_t *ret_sent, struct scribe_err *err)
{
	struct producer *p = s->own;
	size_t at = 0;
	int rc = 0;

	kafka->poll(p->rk, 0);
	while (at < bytes) {
		const char *end = memchr(lines + at, '\n', bytes - at);
		const rd_kafka_resp_err_t said = produce(p, lines + at, (size_t)(end - lines) - at);

		if (said == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
			kafka->poll(p->rk, WAIT_MS);
			break;
		}
		/* Too large for the topic: repeating cannot help, so it is dropped and counted. */
		if (said == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
			p->failed++;
		else if (said)
			rc = scribe_err_set(err, -EIO, "Kafka at %s: %s", s->rest, kafka->err2str(said));
		if (rc < 0)
			break;
		at = (size_t)(end - lines) + 1;
	}
	*ret_sent = at;
	return at ? 0 : rc;
}

static size_t close_it(struct scribe_sink *s, int ms)
{
	struct producer *p = s->own;
	size_t left;

	if (!s->is_open)
		return 0;
	kafka->flush(p->rk, ms);
	left = (size_t)kafka->outq_len(p->rk) + p->failed;
	s->is_open = false;
	/* With messages left, destroy would wait for brokers; the process exits anyway. */
	if (left > p->failed)
		return left;
	kafka->destroy(p->rk);
	free(p);
	s->own = NULL;
	return left;
}

const struct scribe_sink_kind scribe_sink_kafka = {
	.prefix = "kafka:",
	.form = "kafka:BROKERS/TOPIC",
	.check = scribe_kafka_check,
	.host = host_of,
	.open = open_topic,
	.send = send_lines,
	.close = close_it,
};
