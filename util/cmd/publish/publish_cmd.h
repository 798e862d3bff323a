/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_PUBLISH_PUBLISH_CMD_H
#define UTIL_CMD_PUBLISH_PUBLISH_CMD_H

#include "util/tool/command.h"

enum {
	SCRIBE_PUBLISH_KEY_JOB = 1,
	SCRIBE_PUBLISH_KEY_PID,
	SCRIBE_PUBLISH_KEY_NOTIFY,
	SCRIBE_PUBLISH_KEY_NODE,
};

int scribe_publish_main(int argc, char **argv);

struct scribe_sink;

/* Parses SECONDS of --node, 1 to 3600. 0 or -EINVAL. */
int scribe_publish_node_seconds(const char *value, int *ret_seconds, struct scribe_err *err);
/* Sends samples until a signal. The sink must not be open. Returns the exit status. */
int scribe_publish_node(const char *self, struct scribe_sink *sink, int seconds);

#endif
