// SPDX-License-Identifier: BSD-3-Clause
/*
 * Three brokers of librdkafka's mock cluster. They write their addresses to FILE.
 *   kafka_broker TOPIC FILE OUT       each message of the topic goes to OUT, as "PARTITION KEY MESSAGE", until standard
 *                                     input ends and nothing more comes for a second
 *   kafka_broker TOPIC FILE OUT feed  each line of standard input goes to the topic, to one partition after the other,
 *                                     RS (036) in it as a newline; OUT has how many have arrived. It ends by a signal.
 *                                     Of other topics, which are made when asked for, there is not `none`.
 */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARTITIONS 4
#define LINE_MOST  1048576

static long arrived;

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque)
{
	(void)rk, (void)opaque;
	arrived += !m->err;
}

static rd_kafka_t *client(rd_kafka_type_t type, const char *brokers)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char why[256] = "";
	rd_kafka_t *rk;

	if (brokers)
		rd_kafka_conf_set(conf, "bootstrap.servers", brokers, why, sizeof(why));
	if (type == RD_KAFKA_CONSUMER)
		rd_kafka_conf_set(conf, "group.id", "g", why, sizeof(why));
	else
		rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
	rk = rd_kafka_new(type, conf, why, sizeof(why));
	if (!rk) {
		fprintf(stderr, "kafka_broker: %s\n", why);
		exit(1);
	}
	return rk;
}

/* What the topic has. */
static void collect(const char *brokers, const char *topic, FILE *out)
{
	rd_kafka_topic_partition_list_t *all = rd_kafka_topic_partition_list_new(PARTITIONS);
	rd_kafka_t *consumer = client(RD_KAFKA_CONSUMER, brokers);
	struct pollfd in = {.fd = 0, .events = POLLIN};
	int quiet = 0;
	char byte;

	for (int i = 0; i < PARTITIONS; i++)
		rd_kafka_topic_partition_list_add(all, topic, i)->offset = RD_KAFKA_OFFSET_BEGINNING;
	rd_kafka_assign(consumer, all);
	while (quiet < 10) {
		rd_kafka_message_t *m = rd_kafka_consumer_poll(consumer, 100);

		if (m && !m->err)
			fprintf(out, "%d %.*s %.*s\n", (int)m->partition, (int)m->key_len, (const char *)m->key,
				(int)m->len, (const char *)m->payload);
		quiet = m && !m->err ? 0 : poll(&in, 1, 0) > 0 && read(0, &byte, 1) == 0 ? quiet + 1 : 0;
		if (m)
			rd_kafka_message_destroy(m);
	}
	rd_kafka_consumer_close(consumer);
	rd_kafka_destroy(consumer);
}

static void produce(rd_kafka_t *rk, const char *topic, char *line, size_t n, int partition)
{
	for (char *at = line; (at = memchr(at, '\036', n - (size_t)(at - line)));)
		*at = '\n';
	while (rd_kafka_producev(rk, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(partition),
				 RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_VALUE(line, n), RD_KAFKA_V_END))
		rd_kafka_poll(rk, 10);
}

/* Lines of standard input into the topic, for ever. */
static void feed(const char *brokers, const char *topic, FILE *out)
{
	rd_kafka_t *producer = client(RD_KAFKA_PRODUCER, brokers);
	static char buf[LINE_MOST];
	size_t used = 0;
	long lines = 0;

	for (;;) {
		struct pollfd in = {.fd = 0, .events = POLLIN};
		const ssize_t n = poll(&in, 1, 20) > 0 ? read(0, buf + used, sizeof(buf) - used) : 0;
		char *line = buf, *end;

		used += n > 0 ? (size_t)n : 0;
		for (; (end = memchr(line, '\n', used - (size_t)(line - buf))); line = end + 1)
			produce(producer, topic, line, (size_t)(end - line), (int)(lines++ % PARTITIONS));
		used -= (size_t)(line - buf);
		memmove(buf, line, used);
		rd_kafka_poll(producer, 0);
		rewind(out);
		fprintf(out, "%ld\n", arrived);
		fflush(out);
	}
}

int main(int argc, char **argv)
{
	rd_kafka_mock_cluster_t *cluster;
	const char *brokers;
	rd_kafka_t *host;
	FILE *f, *out;

	if (argc != 4 && argc != 5)
		return 2;
	host = client(RD_KAFKA_PRODUCER, NULL);
	cluster = rd_kafka_mock_cluster_new(host, 3);
	brokers = rd_kafka_mock_cluster_bootstraps(cluster);
	rd_kafka_mock_topic_create(cluster, argv[1], PARTITIONS, 1);
	out = fopen(argv[3], "we");
	f = fopen(argv[2], "we");
	if (!out || !f)
		return 1;
	rd_kafka_mock_topic_set_error(cluster, "none", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
	fprintf(f, "%s\n", brokers);
	fclose(f);
	if (argc == 5)
		feed(brokers, argv[1], out);
	collect(brokers, argv[1], out);
	fclose(out);
	rd_kafka_mock_cluster_destroy(cluster);
	rd_kafka_destroy(host);
	return 0;
}
