/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where messages go. A kind of sink is a row of a table (sink.c); what is behind ':' is its own. A sink may
 * be slow: a publisher has one, and a process of its own.
 */
#ifndef UTIL_PUBLISH_SINK_KIND_H
#define UTIL_PUBLISH_SINK_KIND_H

#include <stdbool.h>
#include <stddef.h>

#include "logfmt/base/err.h"

#define SCRIBE_SINK_SPEC 4096 /* bytes of a sink's name, NUL included */

struct scribe_sink {
	const struct scribe_sink_kind *kind;
	const char *spec, *rest; /* borrowed; `rest` is behind the prefix */
	bool is_open;
	int fd;    /* writable when there is room; -1: not told that way */
	void *own; /* the kind's */
	char why[256]; /* the last failure that came later than its call; empty: there was none */
};

struct scribe_sink_kind {
	const char *prefix; /* "json:unix:" */
	const char *form;   /* for messages: "json:unix:PATH" */
	/* Is what stands behind the prefix sound? 0, or -EINVAL with a line. Opens nothing. */
	int (*check)(const char *rest, struct scribe_err *err);
	/* Open it; again after a close. 0, or negative with a line: it is tried again. */
	int (*open)(struct scribe_sink *s, struct scribe_err *err);
	/*
	 * Lines, the last one whole; *ret_sent bytes of them have been taken, 0: none now. 0; -EPIPE, with a line:
	 * whoever took them is gone; other codes, with a line: it is tried again.
	 */
	int (*send)(struct scribe_sink *s, const char *lines, size_t bytes, size_t *ret_sent, struct scribe_err *err);
	/* Within `ms`, what it has taken reaches the other side; so many messages do not. */
	size_t (*close)(struct scribe_sink *s, int ms);
};

#endif
