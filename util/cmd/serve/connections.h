/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_SERVE_CONNECTIONS_H
#define UTIL_CMD_SERVE_CONNECTIONS_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define SCRIBE_SERVE_CONNECTIONS 64
#define SCRIBE_SERVE_STRANGERS   16

enum scribe_connection_step { SCRIBE_CONNECTION_ALLOWED, SCRIBE_CONNECTION_NEXT };

struct scribe_connection {
	enum { SCRIBE_NO_CONNECTION, SCRIBE_STRANGER, SCRIBE_KNOWN, SCRIBE_CLOSING } state;
	int fd; /* libmicrohttpd's */
	int64_t until_ms;
};

struct scribe_connections {
	pthread_mutex_t lock; /* used by libmicrohttpd's threads and the one that checks limits */
	struct scribe_connection all[SCRIBE_SERVE_CONNECTIONS];
};

/* For MHD_OPTION_NOTIFY_CONNECTION; ctx is the struct scribe_connections. */
void scribe_connections_notify(void *ctx, struct MHD_Connection *c, void **of,
			       enum MHD_ConnectionNotificationCode code);
/* SCRIBE_CONNECTION_ALLOWED: the token was valid. Extends the limit only of connections that have shown it. */
void scribe_connection_step(struct scribe_connections *l, struct MHD_Connection *c, enum scribe_connection_step step);
void scribe_connections_look(struct scribe_connections *l);

#endif
