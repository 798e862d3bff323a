/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface of sinks. A sink may block, so each publisher process has only one. */
#ifndef UTIL_PUBLISH_SINK_KIND_H
#define UTIL_PUBLISH_SINK_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"

#define SCRIBE_SINK_SPEC 4096

struct scribe_sink_options {
	bool is_csv;
	uint32_t every;   /* of a record's reads, and of its writes, send the first of so many */
	uint32_t rate;    /* per second; 0: all */
	uint64_t modules; /* bit per module */
};

struct scribe_sink {
	const struct scribe_sink_kind *kind;
	const char *spec, *rest; /* borrowed; rest: after the prefix */
	struct scribe_sink_options options;
	bool is_open;
	int fd; /* for POLLOUT; -1: the sink cannot be polled */
	void *own;
	char why[256]; /* last asynchronous failure; empty: none */
};

struct scribe_sink_kind {
	const char *prefix; /* "json:unix:" */
	const char *form;   /* for messages: "json:unix:PATH" */
	bool is_csv;
	/* Validates the text after the prefix, without opening. 0 or -EINVAL. */
	int (*check)(const char *rest, struct scribe_err *err);
	/* The host of the n-th address of a valid sink; false: no more. NULL: a sink of this node. */
	bool (*host)(const char *rest, unsigned n, char *host, size_t capacity);
	/*
	 * Opens or reopens. Negative: try again later. This and the next two may hang; publish_guard.c then ends
	 * the process.
	 */
	int (*open)(struct scribe_sink *s, struct scribe_err *err);
	/* Sends whole lines; *ret_sent may be less, or 0. -EPIPE: disconnected; other codes: try again later. */
	int (*send)(struct scribe_sink *s, const char *lines, size_t bytes, size_t *ret_sent, struct scribe_err *err);
	/* Waits up to `ms` for delivery. Returns the number of messages not delivered. */
	size_t (*close)(struct scribe_sink *s, int ms);
};

#endif
