/* SPDX-License-Identifier: BSD-3-Clause */
/* How long connections may stay, and how many of clients that have not shown the token. */
#ifndef UTIL_CMD_SERVE_CONNECTIONS_H
#define UTIL_CMD_SERVE_CONNECTIONS_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define SCRIBE_SERVE_CONNECTIONS 64
#define SCRIBE_SERVE_STRANGERS   16 /* of them: those that have not shown the token */

enum scribe_connection_step { SCRIBE_CONNECTION_BODY, SCRIBE_CONNECTION_ANSWER, SCRIBE_CONNECTION_NEXT };

struct scribe_connection {
	enum { SCRIBE_NO_CONNECTION, SCRIBE_STRANGER, SCRIBE_KNOWN, SCRIBE_CLOSING } state;
	int fd; /* libmicrohttpd's */
	int64_t until_ms;
};

struct scribe_connections {
	pthread_mutex_t lock;  /* libmicrohttpd's thread and the one that looks */
	int64_t busy_since_ms; /* an answer is made, and nobody else served; 0: not so */
	struct scribe_connection all[SCRIBE_SERVE_CONNECTIONS];
};

/* For MHD_OPTION_NOTIFY_CONNECTION; ctx is the struct scribe_connections. */
void scribe_connections_notify(void *ctx, struct MHD_Connection *c, void **of,
			       enum MHD_ConnectionNotificationCode code);
/*
 * A request has come so far; SCRIBE_CONNECTION_BODY alone says that it has the token. Of a connection that
 * has shown it the time for what follows begins; nothing else prolongs it, and nothing at all that of a
 * stranger.
 */
void scribe_connection_step(struct scribe_connections *l, struct MHD_Connection *c,
			    enum scribe_connection_step step);
/* While an answer is made no time passes for connections. */
void scribe_connections_busy(struct scribe_connections *l, bool busy);
/* Close those whose time is over. */
void scribe_connections_look(struct scribe_connections *l);

#endif
