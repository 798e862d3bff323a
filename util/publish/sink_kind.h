/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where messages go. A kind of sink is a row of a table (sink.c); what is behind ':' is its own. A sink may
 * be slow: a publisher has one, and a process of its own.
 */
#ifndef UTIL_PUBLISH_SINK_KIND_H
#define UTIL_PUBLISH_SINK_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/err.h"

#define SCRIBE_SINK_SPEC 4096 /* bytes of a sink's name, NUL included */

/* Which operations a sink gets, and how. */
struct scribe_sink_options {
	bool is_csv;
	uint32_t every;   /* of a record's reads the first of so many, of its writes, too */
	uint32_t rate;    /* most reads and writes a second; 0: all */
	uint64_t modules; /* bits of those whose operations are sent (enum scribe_module_id) */
};

struct scribe_sink {
	const struct scribe_sink_kind *kind;
	const char *spec, *rest; /* borrowed; `rest` is behind the prefix */
	struct scribe_sink_options options;
	bool is_open;
	int fd;    /* writable when there is room; -1: not told that way */
	void *own; /* the kind's */
	char why[256]; /* the last failure that came later than its call; empty: there was none */
};

struct scribe_sink_kind {
	const char *prefix; /* "json:unix:" */
	const char *form;   /* for messages: "json:unix:PATH" */
	bool is_csv;
	/* Is what stands behind the prefix sound? 0, or -EINVAL with a line. Opens nothing. */
	int (*check)(const char *rest, struct scribe_err *err);
	/* The host of the nth address of a valid sink, without its port; false: there is none. NULL: no host at all. */
	bool (*host)(const char *rest, unsigned n, char *host, size_t room);
	/*
	 * Open it; again after a close. 0, or negative with a line: it is tried again. This and the next two
	 * may hang, as a file system can: the process ends all the same (publish_guard.c).
	 */
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
