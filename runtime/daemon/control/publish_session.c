// SPDX-License-Identifier: BSD-3-Clause
/*
 * Session with a publisher: one request, answered with the memory file of its ring; then the publisher sends
 * how much it has read, until either side closes the connection. Must not know what is written to
 * the ring.
 */
#include "runtime/daemon/control/publish_session.h"

#include <errno.h>

#include "runtime/daemon/base/subuids.h"
#include "runtime/daemon/control/connection.h"
#include "runtime/daemon/operations/publish.h"

#define RINGS_A_USER 16u /* per node, 8 MiB each */

static int may_open(const struct scribe_daemon *d, const struct scribe_client *c, struct scribe_err *err)
{
	unsigned n = 0;

	for (const struct scribe_client *other = d->clients; other; other = other->next)
		n += other->publishes && !other->gone && scribe_subuids_same(other->uid, c->uid);
	/* no limit for root and for the account of the site's publishers */
	if (n < RINGS_A_USER || !c->uid || (d->service && c->uid == d->service->config.stream_uid))
		return 0;
	return scribe_err_set(err, -EDQUOT, "user %u has %u publishers already", (unsigned)c->uid, n);
}

int scribe_publish_session_open(struct scribe_daemon *d, struct scribe_client *c, struct scribe_job *job,
				struct scribe_err *err)
{
	int fd, rc;

	if (c->publishes)
		return scribe_err_set(err, -EPROTO, "a second subscription on one connection");
	if (job->state >= SCRIBE_JOB_CLOSED)
		return scribe_err_set(err, -ENOENT, "job %.100s has ended already", job->spec.id);
	rc = may_open(d, c, err);
	if (rc == 0)
		rc = scribe_publish_subscribe(job, c->id, &fd, err);
	if (rc < 0)
		return rc;
	c->publishes = true;
	return scribe_send_queue_send(&c->send_queue, c->fd, SCRIBE_MSG_PUBLISH_OK, 0, NULL, 0, fd);
}

int scribe_publish_session_taken(struct scribe_daemon *d, struct scribe_client *c,
				 const struct scribe_msg_publish_taken *m)
{
	if (!c->publishes)
		return scribe_client_refuse(c, SCRIBE_ST_BAD_MESSAGE, "no ring has been asked for");
	for (struct scribe_job *job = d->jobs; job; job = job->next)
		scribe_publish_taken(job, c->id, m->bytes);
	return 0;
}

void scribe_publish_session_lost(struct scribe_daemon *d, struct scribe_client *c)
{
	if (!c->publishes)
		return;
	c->publishes = false;
	for (struct scribe_job *job = d->jobs; job; job = job->next)
		scribe_publish_drop(job, c->id);
}
