/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_PUBLISH_NODE_SAMPLE_H
#define UTIL_PUBLISH_NODE_SAMPLE_H

#include <stdint.h>

#include "logfmt/base/err.h"
#include "util/text/outbuf.h"

/* X(metric): totals since boot or mount. */
#define SCRIBE_NODE_METRICS(X) \
	X(cpu_some_us) \
	X(io_some_us) \
	X(io_full_us) \
	X(memory_some_us) \
	X(memory_full_us) \
	X(disk_read_bytes) \
	X(disk_written_bytes) \
	X(disk_io_us) \
	X(nfs_read_bytes) \
	X(nfs_written_bytes) \
	X(nfs_operations) \
	X(nfs_rtt_us) \
	X(lustre_read_bytes) \
	X(lustre_written_bytes) \
	X(lustre_opens) \
	X(lustre_closes)

enum scribe_node_metric {
#define SCRIBE_X(name) SCRIBE_NODE_##name,
	SCRIBE_NODE_METRICS(SCRIBE_X)
#undef SCRIBE_X
		SCRIBE_NODE_NMETRICS
};

struct scribe_node_sample {
	int64_t value[SCRIBE_NODE_NMETRICS]; /* -1: not on this node */
};

/* root: prefix of /proc and /sys, normally "". -SCRIBE_E_UNSUPPORTED: no value at all. */
int scribe_node_sample_read(const char *root, struct scribe_node_sample *ret_sample, struct scribe_err *err);

/* Writes a JSON line (docs/streams.md). time_us: since 1970; node: UTF-8. */
void scribe_node_sample_put(const struct scribe_node_sample *s, const char *node, int64_t time_us,
			    struct scribe_out *out);

#endif
