/* SPDX-License-Identifier: BSD-3-Clause */
/* What the clients of network file systems have done since each was mounted, from the kernel's text files. */
#ifndef LOGFMT_BASE_CLIENT_TOTALS_H
#define LOGFMT_BASE_CLIENT_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

enum scribe_client_total {
	SCRIBE_CLIENT_BYTES_READ, /* from the server */
	SCRIBE_CLIENT_BYTES_WRITTEN,
	SCRIBE_CLIENT_REQUESTS,
	SCRIBE_CLIENT_ERRORS,   /* requests that the server refused, also ENOENT */
	SCRIBE_CLIENT_RTT_US,   /* of all requests, from sending to the reply */
	SCRIBE_CLIENT_QUEUE_US, /* of all requests, until they were sent */
	SCRIBE_CLIENT_TOTALS
};

struct scribe_client_mount {
	const char *path, *type;             /* borrowed */
	bool again;                          /* a mount of the same file system came before, with the same totals */
	int64_t total[SCRIBE_CLIENT_TOTALS]; /* -1: not kept */
};

typedef void (*scribe_client_mount_fn)(void *ctx, const struct scribe_client_mount *m);

/*
 * `root`: prefix of /proc and /sys, normally ""; `process`: "self", or a number: its mounts count.
 * Missing files are skipped.
 */
void scribe_client_nfs(const char *root, const char *process, scribe_client_mount_fn each, void *ctx);
void scribe_client_lustre(const char *root, const char *process, scribe_client_mount_fn each, void *ctx);

#endif
