// SPDX-License-Identifier: BSD-3-Clause
/*
 * Connections of ioscribe-serve. Clients without the token may have few, and only briefly. Each request has limits.
 * libmicrohttpd owns the sockets: shutting one down makes it close the connection. Must not know what requests
 * contain.
 */
#include "util/cmd/serve/connections.h"

#include <sys/socket.h>

#include "util/store/sql.h"

#define STRANGER_MS 10000 /* whole lifetime without the token */
#define NEXT_MS     60000 /* until the head of the next request is complete */

/* The entry stays until libmicrohttpd closes the descriptor. */
static void end(struct scribe_connection *c)
{
	shutdown(c->fd, SHUT_RDWR);
	c->state = SCRIBE_CLOSING;
}

static void make_room(struct scribe_connections *l)
{
	struct scribe_connection *oldest = NULL;
	int strangers = 0, used = 0;

	for (int i = 0; i < SCRIBE_SERVE_CONNECTIONS; i++) {
		struct scribe_connection *c = &l->all[i];

		used += c->state != SCRIBE_NO_CONNECTION;
		if (c->state != SCRIBE_STRANGER)
			continue;
		strangers++;
		if (!oldest || c->until_ms < oldest->until_ms)
			oldest = c;
	}
	if (strangers > SCRIBE_SERVE_STRANGERS || (strangers > 1 && used == SCRIBE_SERVE_CONNECTIONS))
		end(oldest);
}

static struct scribe_connection *begin(struct scribe_connections *l, int fd)
{
	for (int i = 0; i < SCRIBE_SERVE_CONNECTIONS; i++)
		if (l->all[i].state == SCRIBE_NO_CONNECTION) {
			l->all[i] = (struct scribe_connection){SCRIBE_STRANGER, fd, scribe_msg_now_ms() + STRANGER_MS};
			make_room(l);
			return &l->all[i];
		}
	return NULL;
}

void scribe_connections_notify(void *ctx, struct MHD_Connection *c, void **of, enum MHD_ConnectionNotificationCode code)
{
	struct scribe_connections *l = ctx;

	pthread_mutex_lock(&l->lock);
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		*of = begin(l, MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd);
	else if (*of)
		((struct scribe_connection *)*of)->state = SCRIBE_NO_CONNECTION;
	pthread_mutex_unlock(&l->lock);
}

void scribe_connection_step(struct scribe_connections *l, struct MHD_Connection *c, enum scribe_connection_step step)
{
	/* Sending is not limited here: libmicrohttpd closes a connection to a client that reads nothing. */
	static const int64_t ms[] = {[SCRIBE_CONNECTION_ALLOWED] = INT64_MAX / 2, [SCRIBE_CONNECTION_NEXT] = NEXT_MS};
	struct scribe_connection *of = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;

	pthread_mutex_lock(&l->lock);
	if (of && of->state == SCRIBE_STRANGER && step == SCRIBE_CONNECTION_ALLOWED)
		of->state = SCRIBE_KNOWN;
	if (of && of->state == SCRIBE_KNOWN)
		of->until_ms = scribe_msg_now_ms() + ms[step];
	pthread_mutex_unlock(&l->lock);
}

void scribe_connections_look(struct scribe_connections *l)
{
	pthread_mutex_lock(&l->lock);
	for (int i = 0; i < SCRIBE_SERVE_CONNECTIONS; i++) {
		struct scribe_connection *c = &l->all[i];

		if ((c->state == SCRIBE_STRANGER || c->state == SCRIBE_KNOWN) && scribe_msg_now_ms() >= c->until_ms)
			end(c);
	}
	pthread_mutex_unlock(&l->lock);
}
