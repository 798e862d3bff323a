// SPDX-License-Identifier: BSD-3-Clause
/*
 * kafka_broker TOPIC FILE OUT: three brokers of librdkafka's mock cluster. Writes their addresses to FILE, then each
 * message of the topic to OUT, as "PARTITION KEY MESSAGE", until standard input ends and nothing more comes for
 * a second.
 */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PARTITIONS 4

static rd_kafka_t *client(rd_kafka_type_t type, const char *brokers)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char why[256] = "";
	rd_kafka_t *rk;

	if (brokers)
		rd_kafka_conf_set(conf, "bootstrap.servers", brokers, why, sizeof(why));
	rd_kafka_conf_set(conf, "group.id", "g", why, sizeof(why));
	rk = rd_kafka_new(type, conf, why, sizeof(why));
	if (!rk) {
		fprintf(stderr, "kafka_broker: %s\n", why);
		exit(1);
	}
	return rk;
}

int main(int argc, char **argv)
{
	rd_kafka_topic_partition_list_t *all = rd_kafka_topic_partition_list_new(PARTITIONS);
	struct pollfd in = {.fd = 0, .events = POLLIN};
	rd_kafka_t *host, *consumer;
	rd_kafka_mock_cluster_t *cluster;
	int quiet = 0;
	char byte;
	FILE *f, *out;

	if (argc != 4)
		return 2;
	host = client(RD_KAFKA_PRODUCER, NULL);
	cluster = rd_kafka_mock_cluster_new(host, 3);
	rd_kafka_mock_topic_create(cluster, argv[1], PARTITIONS, 1);
	consumer = client(RD_KAFKA_CONSUMER, rd_kafka_mock_cluster_bootstraps(cluster));
	for (int i = 0; i < PARTITIONS; i++)
		rd_kafka_topic_partition_list_add(all, argv[1], i)->offset = RD_KAFKA_OFFSET_BEGINNING;
	rd_kafka_assign(consumer, all);
	out = fopen(argv[3], "we");
	f = fopen(argv[2], "we");
	if (!out || !f)
		return 1;
	fprintf(f, "%s\n", rd_kafka_mock_cluster_bootstraps(cluster));
	fclose(f);
	while (quiet < 10) {
		rd_kafka_message_t *m = rd_kafka_consumer_poll(consumer, 100);

		if (m && !m->err)
			fprintf(out, "%d %.*s %.*s\n", (int)m->partition, (int)m->key_len, (const char *)m->key,
				(int)m->len, (const char *)m->payload);
		quiet = m && !m->err ? 0 : poll(&in, 1, 0) > 0 && read(0, &byte, 1) == 0 ? quiet + 1 : 0;
		if (m)
			rd_kafka_message_destroy(m);
	}
	fclose(out);
	rd_kafka_consumer_close(consumer);
	rd_kafka_destroy(consumer);
	rd_kafka_mock_cluster_destroy(cluster);
	rd_kafka_destroy(host);
	return 0;
}
