// SPDX-License-Identifier: BSD-3-Clause
/*
 * Answers to START and PROBED of a traced process and JOB_READY of a hook, delayed until probes are attached or
 * the client's time is over.
 */
#include "runtime/daemon/control/attach_session.h"

#include "logfmt/base/clock.h"
#include "runtime/daemon/attach/library_probes.h"
#include "runtime/daemon/attach/syscall_attach.h"
#include "runtime/daemon/control/connection.h"

#define LINKS_NS 2000000000ull /* longest wait for JOB_READY */

/* NULL: the client is not the runtime of a starting process. */
static struct scribe_process *peer_that_begins(struct scribe_daemon *d, struct scribe_client *c, unsigned type)
{
	return type == SCRIBE_MSG_JOB_OK ? NULL : scribe_client_peer(d, c);
}

static bool has_to_wait(struct scribe_daemon *d, struct scribe_client *c, unsigned type)
{
	const struct scribe_process *p = peer_that_begins(d, c, type);

	return scribe_libs_busy(d) || (p && p->held);
}

static int goes_on(struct scribe_daemon *d, struct scribe_client *c, unsigned type, uint64_t until_ns)
{
	struct scribe_process *p = peer_that_begins(d, c, type);
	uint64_t now = scribe_now_ns();

	/* the program starts when its runtime's wait ends, even if the answer is late */
	if (p)
		p->began_ns = now < until_ns ? now : until_ns;
	return scribe_client_send(c, type, NULL, 0);
}

void scribe_attach_session_tick(struct scribe_daemon *d)
{
	uint64_t now = scribe_now_ns();

	for (struct scribe_client *c = d->clients; c; c = c->next) {
		unsigned type = c->awaits;

		if (!type || c->gone || (now < c->awaits_until_ns && has_to_wait(d, c, type)))
			continue;
		c->awaits = 0;
		(void)goes_on(d, c, type, c->awaits_until_ns);
	}
}

int scribe_attach_session_answer(struct scribe_daemon *d, struct scribe_client *c, unsigned type, uint64_t until_ns)
{
	struct scribe_process *p = peer_that_begins(d, c, type);

	if (!has_to_wait(d, c, type))
		return goes_on(d, c, type, until_ns);
	if (p)
		p->began_ns = until_ns;
	c->awaits = type;
	c->awaits_until_ns = until_ns;
	return 0;
}

int scribe_attach_session_start(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_start *m)
{
	struct scribe_process *p = scribe_client_peer(d, c);
	struct scribe_err err = {0};

	if (!p)
		return scribe_client_refuse(c, SCRIBE_ST_NOT_TRACED, "this process is not traced");
	if (scribe_sysattach_now(d, &err) < 0)
		return scribe_client_refuse(c, SCRIBE_ST_FAILED, err.text);
	/* otherwise the runtime stopped waiting before, and calls are missing */
	if (d->calls_since_ns < m->until_ns)
		scribe_sysattach_waited(p);
	if (scribe_libs_busy(d))
		scribe_libs_late(d, p);
	return scribe_attach_session_answer(d, c, SCRIBE_MSG_START_OK, m->until_ns);
}

int scribe_attach_session_probed(struct scribe_daemon *d, struct scribe_client *c, const struct scribe_msg_start *m)
{
	if (!scribe_client_peer(d, c))
		return scribe_client_refuse(c, SCRIBE_ST_NOT_TRACED, "this process is not traced");
	return scribe_attach_session_answer(d, c, SCRIBE_MSG_PROBED_OK, m->until_ns);
}

int scribe_attach_session_announced(struct scribe_daemon *d, struct scribe_client *c, bool hook)
{
	struct scribe_process *p = hook ? scribe_client_peer(d, c) : NULL;
	struct scribe_err err = {0};

	if (p)
		scribe_sysattach_spare(p);
	if (scribe_sysattach_soon(d, &err) < 0)
		return scribe_client_refuse(c, SCRIBE_ST_FAILED, err.text);
	return scribe_attach_session_answer(d, c, SCRIBE_MSG_JOB_OK, scribe_now_ns() + LINKS_NS);
}
