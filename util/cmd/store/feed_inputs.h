/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inputs of lines. What was read stays in an input's buffer until it is committed. feed_inputs.c opens and reads them,
 * feed_kafka.c topics, feed_lines.c makes transactions of their lines.
 */
#ifndef UTIL_CMD_STORE_FEED_INPUTS_H
#define UTIL_CMD_STORE_FEED_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "util/cmd/store/store_cmd.h"
#include "util/store/store.h"

#define SCRIBE_MAX_INPUTS 320    /* open at once, connections among them */
#define SCRIBE_USER_INPUTS 32     /* connections of one user who is not trusted */
#define SCRIBE_QUIET_MS    5000 /* of silence: then a connection goes for another one, where all are taken */
#define SCRIBE_MAX_LINE   262144 /* bytes */
#define SCRIBE_TOPIC_NAME 4096   /* bytes of "kafka:BROKERS/TOPIC", NUL included */

/* Sockets and topics have no lines themselves, but make inputs that have: connections and partitions. */
enum scribe_input_kind {
	SCRIBE_INPUT_FILE,
	SCRIBE_INPUT_PIPE,
	SCRIBE_INPUT_SOCKET,
	SCRIBE_INPUT_TOPIC,
	SCRIBE_INPUT_PARTITION, /* lines "OFFSET MESSAGE"; its position is an offset, not bytes */
};

struct scribe_topic;

struct scribe_input {
	enum scribe_input_kind kind;
	int fd;
	char *name; /* as messages call it */
	char *key;  /* as the store knows it; NULL: it cannot be read again, or is not known yet */
	char *path; /* of a socket: to be removed */
	char *buf;
	size_t used, cap, taken;               /* taken: of this transaction */
	struct scribe_store_position at, next; /* committed; by this transaction */
	uint64_t complained_line;              /* last line that was complained of */
	int complaints;
	bool ended, unfinished_told;
	int64_t uid;      /* of a connection: who sends, by the kernel; -1: an input that the store opened */
	int64_t heard_ms; /* of a connection: when something came last */
	bool skipping, next_skipping; /* within a line that is too long; committed; by this transaction */
	/* of a topic: take what has come, *ret_more: there is more, without a wait; at its end */
	struct scribe_topic *topic;
	int (*read)(struct scribe_input *in, bool *ret_more, struct scribe_err *err);
	void (*close)(struct scribe_input *in);
};

/* All inputs of a run, listeners among them. */
struct scribe_inputs {
	struct scribe_feed *f;
	struct scribe_input *in[SCRIBE_MAX_INPUTS];
	int n;
};

/* NULL: no memory, or too many inputs; the descriptor is still the caller's then. */
struct scribe_input *scribe_input_new(struct scribe_inputs *l, enum scribe_input_kind kind, int fd, const char *name);
/* Its descriptor is closed, a socket's file removed. */
void scribe_input_free(struct scribe_input *in);

/* A file, "-" or "unix:PATH". 0, or negative with a line. */
int scribe_input_open(struct scribe_inputs *l, const char *name, struct scribe_err *err);

/* "kafka:BROKERS/TOPIC" (feed_kafka.c). It is asked for when it is read. */
int scribe_topic_open(struct scribe_inputs *l, const char *name, struct scribe_err *err);

/* Read from all that have something, waiting up to that time for the first. The first file only. */
int scribe_inputs_read(struct scribe_inputs *l, int timeout_ms, struct scribe_err *err);

/* Does its sender speak for all users: root, who runs the store, --stream-user? */
bool scribe_input_is_trusted(const struct scribe_inputs *l, const struct scribe_input *in);

/* Inputs that have ended go; a followed file goes on. Is anything left? */
bool scribe_inputs_drop(struct scribe_inputs *l);

#endif
