// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages to a topic of Kafka, by librdkafka's idempotent producer: the key of a message is its job and
 * rank, so that those of a rank stand in one partition in their order, each once. librdkafka is loaded when a
 * sink is opened: no other sink needs it. Its queue is bounded; messages that it gives up are counted. Owns
 * the producer; librdkafka's threads call nothing of ours outside of rd_kafka_poll, but for on_log. Runs in the
 * process `ioscribe-publish`. Must not know what messages say, but where job and rank stand.
 */
#include "util/publish/sink_kafka.h"

#include <dlfcn.h>
#include <errno.h>
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE_MOST   "65536" /* messages that librdkafka keeps; 32 MiB of 500 bytes each */
#define LINGER_MS    "20"    /* that a message may wait for others to be sent with */
#define CONFIG_FILE  "IOSCRIBE_KAFKA_CONFIG" /* in the environment: lines KEY=VALUE of librdkafka's, for logins */
#define KEY_BYTES    64
#define WAIT_MS      20

/* librdkafka's functions. X(name) */
#define FUNCTIONS(X)                                                                                          \
	X(conf_new) X(conf_set) X(conf_set_dr_msg_cb) X(conf_set_error_cb) X(conf_set_log_cb) X(conf_set_opaque) \
	X(conf_destroy) X(new) X(producev) X(poll) X(flush) X(outq_len) X(destroy) X(err2str)

static struct {
#define X(name) __typeof__(rd_kafka_##name) *name;
	FUNCTIONS(X)
#undef X
	bool is_loaded;
} kafka;

struct producer {
	rd_kafka_t *rk;
	size_t failed; /* messages that were given up */
	char topic[250];
};

static int load(struct scribe_err *err)
{
	void *library;
	bool whole = true;

	if (kafka.is_loaded)
		return 0;
	library = dlopen("librdkafka.so.1", RTLD_NOW);
	if (!library)
		return scribe_err_set(err, -ENOENT, "librdkafka cannot be loaded: %s", dlerror());
#define X(name)                                                            \
	*(void **)&kafka.name = dlsym(library, "rd_kafka_" #name);         \
	whole = whole && kafka.name;
	FUNCTIONS(X)
#undef X
	if (!whole)
		return scribe_err_set(err, -ENOSYS, "librdkafka is older than 1.0");
	kafka.is_loaded = true;
	return 0;
}

/* BROKERS/TOPIC. The topic behind the last slash. */
static int check(const char *rest, struct scribe_err *err)
{
	const char *slash = strrchr(rest, '/');
	const struct producer p = {0};

	if (!slash || slash == rest || !slash[1] || strlen(slash + 1) >= sizeof(p.topic))
		return scribe_err_set(err, -EINVAL, "HOST:PORT[,HOST:PORT...]/TOPIC is expected");
	return 0;
}

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
	snprintf(s->why, sizeof(s->why), "%s", kafka.err2str(m->err));
}

static void on_error(rd_kafka_t *rk, int code, const char *reason, void *opaque)
{
	struct scribe_sink *s = opaque;

	(void)rk, (void)code;
	snprintf(s->why, sizeof(s->why), "%s", reason);
}

/* What it says is told once, at the end: a traced program's terminal is not its log. */
static void on_log(const rd_kafka_t *rk, int level, const char *facility, const char *text)
{
	(void)rk, (void)level, (void)facility, (void)text;
}

/* ---- the producer ---- */

static int set(rd_kafka_conf_t *conf, const char *key, const char *value, struct scribe_err *err)
{
	char why[256] = "";

	if (kafka.conf_set(conf, key, value, why, sizeof(why)) == RD_KAFKA_CONF_OK)
		return 0;
	return scribe_err_set(err, -EINVAL, "librdkafka: %s", why);
}

/* The user's own settings, such as security.protocol and sasl.password; ours stand. */
static int set_users(rd_kafka_conf_t *conf, struct scribe_err *err)
{
	const char *path = getenv(CONFIG_FILE);
	FILE *f = path && path[0] ? fopen(path, "re") : NULL;
	char line[4096];
	int rc = 0;

	if (path && path[0] && !f)
		return scribe_err_set(err, -errno, "%s: %s", path, strerror(errno));
	while (f && rc == 0 && fgets(line, sizeof(line), f)) {
		char *equals = strchr(line, '=');

		line[strcspn(line, "\r\n")] = 0;
		if (!line[0] || line[0] == '#')
			continue;
		if (!equals) {
			rc = scribe_err_set(err, -EINVAL, "%s: '%.60s' is not KEY=VALUE", path, line);
			break;
		}
		*equals = 0;
		rc = set(conf, line, equals + 1, err);
	}
	if (f)
		fclose(f);
	return rc;
}

static int configure(rd_kafka_conf_t *conf, struct scribe_sink *s, struct scribe_err *err)
{
	const char *slash = strrchr(s->rest, '/');
	char *brokers = strndup(s->rest, (size_t)(slash - s->rest));
	int rc = set_users(conf, err);

	if (!brokers)
		rc = scribe_err_set(err, -ENOMEM, "out of memory");
	if (rc == 0)
		rc = set(conf, "bootstrap.servers", brokers, err);
	if (rc == 0)
		rc = set(conf, "enable.idempotence", "true", err);
	if (rc == 0)
		rc = set(conf, "queue.buffering.max.messages", QUEUE_MOST, err);
	if (rc == 0)
		rc = set(conf, "queue.buffering.max.ms", LINGER_MS, err);
	free(brokers);
	kafka.conf_set_opaque(conf, s);
	kafka.conf_set_dr_msg_cb(conf, on_delivery);
	kafka.conf_set_error_cb(conf, on_error);
	kafka.conf_set_log_cb(conf, on_log);
	return rc;
}

static int open_topic(struct scribe_sink *s, struct scribe_err *err)
{
	char why[256] = "";
	rd_kafka_conf_t *conf;
	struct producer *p;
	int rc = load(err);

	if (rc < 0)
		return rc;
	p = calloc(1, sizeof(*p));
	if (!p)
		return scribe_err_set(err, -ENOMEM, "out of memory");
	s->own = p;
	snprintf(p->topic, sizeof(p->topic), "%s", strrchr(s->rest, '/') + 1);
	conf = kafka.conf_new();
	rc = configure(conf, s, err);
	if (rc == 0)
		p->rk = kafka.new(RD_KAFKA_PRODUCER, conf, why, sizeof(why));
	s->is_open = p->rk != NULL;
	if (s->is_open)
		return 0;
	/* a producer that was made owns it */
	kafka.conf_destroy(conf);
	free(p);
	s->own = NULL;
	return rc < 0 ? rc : scribe_err_set(err, -EIO, "librdkafka: %s", why);
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

	return kafka.producev(p->rk, RD_KAFKA_V_TOPIC(p->topic), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
			      RD_KAFKA_V_KEY(key, key_bytes), RD_KAFKA_V_VALUE((void *)(uintptr_t)line, n),
			      RD_KAFKA_V_END);
}

static int send_lines(struct scribe_sink *s, const char *lines, size_t bytes, size_t *ret_sent, struct scribe_err *err)
{
	struct producer *p = s->own;
	size_t at = 0;
	int rc = 0;

	kafka.poll(p->rk, 0);
	while (at < bytes) {
		const char *end = memchr(lines + at, '\n', bytes - at);
		const rd_kafka_resp_err_t said = produce(p, lines + at, (size_t)(end - lines) - at);

		if (said == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
			kafka.poll(p->rk, WAIT_MS);
			break;
		}
		/* one that is too large for the topic is left out */
		if (said == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
			p->failed++;
		else if (said)
			rc = scribe_err_set(err, -EIO, "Kafka at %s: %s", s->rest, kafka.err2str(said));
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
	kafka.flush(p->rk, ms);
	left = (size_t)kafka.outq_len(p->rk) + p->failed;
	s->is_open = false;
	/* with messages left its end waits for what does not come: the process ends anyway */
	if (left > p->failed)
		return left;
	kafka.destroy(p->rk);
	free(p);
	s->own = NULL;
	return left;
}

const struct scribe_sink_kind scribe_sink_kafka = {
	.prefix = "kafka:",
	.form = "kafka:BROKERS/TOPIC",
	.check = check,
	.host = host_of,
	.open = open_topic,
	.send = send_lines,
	.close = close_it,
};
