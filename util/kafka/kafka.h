/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What producers and consumers of Kafka share: librdkafka, loaded when it is needed, and its settings. A topic is named
 * BROKERS/TOPIC, BROKERS being [PROTOCOL://]HOST[:PORT] with commas between. One thread calls these functions.
 */
#ifndef UTIL_KAFKA_KAFKA_H
#define UTIL_KAFKA_KAFKA_H

#include <librdkafka/rdkafka.h>

#include "logfmt/base/err.h"

/* librdkafka's functions, all of version 1.0. X(name) */
#define SCRIBE_KAFKA_FUNCTIONS(X)                                                                                \
	X(conf_new) X(conf_set) X(conf_set_dr_msg_cb) X(conf_set_error_cb) X(conf_set_log_cb) X(conf_set_opaque) \
	X(conf_destroy) X(new) X(destroy) X(poll) X(err2str) X(producev) X(flush) X(outq_len) X(topic_new)       \
	X(topic_destroy) X(metadata) X(metadata_destroy) X(query_watermark_offsets) X(last_error) X(queue_new)   \
	X(queue_destroy) X(queue_io_event_enable) X(consume_start_queue) X(consume_stop)                         \
	X(consume_batch_queue) X(message_destroy)

struct scribe_kafka {
#define SCRIBE_X(name) __typeof__(rd_kafka_##name) *name;
	SCRIBE_KAFKA_FUNCTIONS(SCRIBE_X)
#undef SCRIBE_X
};

/* A setting of librdkafka's. */
struct scribe_kafka_setting {
	const char *key, *value;
};

/* Load the library; once. *ret_kafka is borrowed. 0; -ENOENT, -ENOSYS with a line. */
int scribe_kafka_load(const struct scribe_kafka **ret_kafka, struct scribe_err *err);

/* Is it BROKERS/TOPIC? 0, or -EINVAL with a line. scribe_kafka_topic: of a valid one the topic, borrowed. */
int scribe_kafka_check(const char *name, struct scribe_err *err);
const char *scribe_kafka_topic(const char *name);

/*
 * Settings of a client at the brokers of a valid `name`: the user's own, of the file that IOSCRIBE_KAFKA_CONFIG names,
 * then `ours` (up to a NULL key), which stand. The library must be loaded; it prints nothing. *ret_conf is the caller's
 * until a client is made of it.
 */
int scribe_kafka_conf(const char *name, const struct scribe_kafka_setting *ours, rd_kafka_conf_t **ret_conf,
		      struct scribe_err *err);

/* A client; conf belongs to it, or is gone. 0, or negative with a line. */
int scribe_kafka_new(rd_kafka_type_t type, rd_kafka_conf_t *conf, rd_kafka_t **ret_client, struct scribe_err *err);

#endif
