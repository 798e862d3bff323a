/* SPDX-License-Identifier: BSD-3-Clause */
/* Kafka topics: feed_kafka.c; lines are stored by feed_lines.c. */
#ifndef UTIL_CMD_STORE_FEED_INPUTS_H
#define UTIL_CMD_STORE_FEED_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "util/cmd/store/store_cmd.h"
#include "util/store/store.h"

#define SCRIBE_MAX_INPUTS  320
#define SCRIBE_USER_INPUTS 32   /* connections of one untrusted user */
#define SCRIBE_QUIET_MS    5000 /* idle time after which a connection may be closed for a new one */
#define SCRIBE_MAX_LINE    262144
#define SCRIBE_TOPIC_NAME  4096

enum scribe_input_kind {
	SCRIBE_INPUT_FILE,
	SCRIBE_INPUT_PIPE,
	SCRIBE_INPUT_SOCKET,
	SCRIBE_INPUT_TOPIC,
	SCRIBE_INPUT_PARTITION, /* lines "OFFSET MESSAGE"; position.bytes is an offset */
};

struct scribe_topic;

struct scribe_input {
	enum scribe_input_kind kind;
	int fd;
	char *name;
	char *key; /* in the store; NULL: not repeatable, or not known yet */
	char *path;
	char *buf;
	size_t used, cap, taken;               /* taken: by the open transaction */
	struct scribe_store_position at, next; /* committed; after the open transaction */
	uint64_t complained_line;              /* last line that was reported */
	int complaints;
	bool ended, unfinished_reported;
	int64_t uid;                  /* of a connection: the sender's, from SO_PEERCRED; -1: other inputs */
	int64_t heard_ms;             /* of a connection: time of the last data */
	bool skipping, next_skipping; /* within an overlong line: committed; after the open transaction */
	/* of a topic: reads what has arrived; *ret_more: call again without a wait */
	struct scribe_topic *topic;
	int (*read)(struct scribe_input *in, bool *ret_more, struct scribe_err *err);
	void (*close)(struct scribe_input *in);
};

struct scribe_inputs {
	struct scribe_feed *f;
	struct scribe_input *in[SCRIBE_MAX_INPUTS];
	int n;
};

struct scribe_input *scribe_input_new(struct scribe_inputs *l, enum scribe_input_kind kind, int fd, const char *name);
void scribe_input_free(struct scribe_input *in);

int scribe_input_open(struct scribe_inputs *l, const char *name, struct scribe_err *err);

/* Opens "kafka:BROKERS/TOPIC" (feed_kafka.c); brokers are contacted by the first read. */
int scribe_topic_open(struct scribe_inputs *l, const char *name, struct scribe_err *err);

/* Waits up to timeout_ms and reads all ready inputs, but of files only the first, unless followed. */
int scribe_inputs_read(struct scribe_inputs *l, int timeout_ms, struct scribe_err *err);

/* May the sender set any uid? True for root, the store's own user and --stream-user. */
bool scribe_input_is_trusted(const struct scribe_inputs *l, const struct scribe_input *in);

bool scribe_inputs_drop(struct scribe_inputs *l);

#endif
