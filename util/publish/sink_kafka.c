// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages to a topic of Kafka, by librdkafka's idempotent producer: the key of a message is its job and
 * rank, so that those of a rank stand in one partition in their order, each once. librdkafka is loaded when a
 * sink is opened: no other sink needs it. Its queue is bounded; messages that it gives up are counted. Owns
 * the producer; librdkafka's threads call nothing of ours outside of rd_kafka_poll. Runs in the process
 * `ioscribe-publish`. Must not know what messages say, but where job and rank stand.
 */
#include "util/publish/sink_kafka.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/kafka/kafka.h"

#define QUEUE_MOST "65536" /* messages that librdkafka keeps; 32 MiB of 500 bytes each */
#define LINGER_MS  "20"    /* that a message may wait for others to be sent with */
#define KEY_BYTES  64
#define WAIT_MS    20

static const struct scribe_kafka *kafka; /* NULL: not loaded yet */

struct producer {
	rd_kafka_t *rk;
	size_t failed;     /* messages that were given up */
	const char *topic; /* borrowed of the sink */
};

/* A broker is [PROTOCOL://]HOST[:PORT], HOST may be [IPv6]. */
static bool host_of(const char *rest, unsigned n, char *host, size_t room)
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
	return snprintf(host, room, "%.*s", (int)len, at) < (int)room;
}

/* ---- called back ---- */

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

/* ---- the producer ---- */

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

/* "JOB/RANK", from a message of message.c: both are numbers. */
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
		/* one that is too large for the topic is left out */
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
	/* with messages left its end waits for what does not come: the process ends anyway */
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
