/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * librdkafka, loaded when needed. A topic is BROKERS/TOPIC with BROKERS [PROTOCOL://]HOST[:PORT],... Not
 * thread-safe.
 */
#ifndef UTIL_KAFKA_KAFKA_H
#define UTIL_KAFKA_KAFKA_H

#include <librdkafka/rdkafka.h>

#include "logfmt/base/err.h"

/* All in version 1.0. */
#define SCRIBE_KAFKA_FUNCTIONS(X) \
	X(conf_new) \
	X(conf_set) \
	X(conf_set_dr_msg_cb) \
	X(conf_set_error_cb) \
	X(conf_set_log_cb) \
	X(conf_set_opaque) \
	X(conf_destroy) \
	X(new) \
	X(destroy) \
	X(poll) \
	X(err2str) \
	X(producev) \
	X(flush) \
	X(outq_len) \
	X(topic_new) \
	X(topic_destroy) \
	X(metadata) \
	X(metadata_destroy) \
	X(query_watermark_offsets) \
	X(last_error) \
	X(queue_new) \
	X(queue_destroy) \
	X(queue_io_event_enable) \
	X(consume_start_queue) \
	X(consume_stop) \
	X(consume_batch_queue) \
	X(message_destroy)

struct scribe_kafka {
#define SCRIBE_X(name) __typeof__(rd_kafka_##name) *name;
	SCRIBE_KAFKA_FUNCTIONS(SCRIBE_X)
#undef SCRIBE_X
};

struct scribe_kafka_setting {
	const char *key, *value;
};

/* -ENOENT: not found; -ENOSYS: too old. */
int scribe_kafka_load(const struct scribe_kafka **ret_kafka, struct scribe_err *err);

/* -EINVAL: not BROKERS/TOPIC. */
int scribe_kafka_check(const char *name, struct scribe_err *err);
/* Borrowed. */
const char *scribe_kafka_topic(const char *name);

/*
 * IOSCRIBE_KAFKA_CONFIG, overridden by `ours` (ends with a NULL key). The caller owns *ret_conf until
 * scribe_kafka_new.
 */
int scribe_kafka_conf(const char *name, const struct scribe_kafka_setting *ours, rd_kafka_conf_t **ret_conf,
		      struct scribe_err *err);

/* conf is consumed, also after a failure. */
int scribe_kafka_new(rd_kafka_type_t type, rd_kafka_conf_t *conf, rd_kafka_t **ret_client, struct scribe_err *err);

#endif
