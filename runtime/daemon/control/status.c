/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `ioscribe job status`: the service's load for root, and use of quotas per user, for root and for that user.
 * Must not know jobs' contents.
 */
#include "runtime/daemon/control/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "runtime/daemon/control/connection.h"
#include "runtime/daemon/control/user_quota.h"
#include "runtime/daemon/state/daemon.h"

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

/* The longest iterations by own time and by the clock are often different ones. */
static int send_service(struct scribe_daemon *d, struct scribe_client *c)
{
	const struct scribe_iterations *t = &d->iterations;
	uint64_t ring_most = 0, ring_bytes = d->bpf ? scribe_bpf_ring_bytes(d->bpf, &ring_most) : 0;
	unsigned jobs = 0, clients = 0;
	char text[1024];
	int n;

	for (const struct scribe_job *job = d->jobs; job; job = job->next)
		jobs++;
	for (const struct scribe_client *o = d->clients; o; o = o->next)
		clients += !o->gone;
	n = snprintf(text, sizeof(text),
		     "daemon=%d\nup_s=%" PRIu64 "\njobs=%u\njobs_begun=%" PRIu64 "\nconnections=%u\nturns=%" PRIu64
		     "\nturns_long=%" PRIu64 "\nlongest_turn_ms=%.1f\nlongest_turn_worked_ms=%.1f\n"
		     "longest_turn_mostly=%s\nlongest_turn_with_others_ms=%.1f\nring_bytes=%" PRIu64
		     "\nring_most_bytes=%" PRIu64 "\n",
		     (int)getpid(), (scribe_now_ns() - d->service->started_ns) / 1000000000, jobs, d->jobs_started,
		     clients, t->n, t->long_iterations, ms(scribe_iteration_own_ns(&t->longest)), ms(t->longest.cpu_ns),
		     scribe_iteration_mostly(&t->longest), ms(t->longest_wall_ns), ring_bytes, ring_most);
	return scribe_client_send(c, SCRIBE_MSG_JOB_ENTRY, text, (size_t)n);
}

struct to {
	struct scribe_daemon *d;
	struct scribe_client *c;
	int rc;
};

static void send_user(void *ctx, uid_t uid)
{
	static const char *const keys[] = {
#define SCRIBE_X(id, name, limit, what) #name,
		SCRIBE_QUOTAS(SCRIBE_X)
#undef SCRIBE_X
	};
	struct to *to = ctx;
	struct scribe_usage own;
	char text[1024];
	int n;

	if (to->rc < 0 || (to->c->uid && to->c->uid != uid))
		return;
	scribe_user_usage(to->d, uid, &own);
	n = snprintf(text, sizeof(text), "uid=%u\n", (unsigned)uid);
	for (int i = 0; i < SCRIBE_NQUOTAS; i++) {
		unsigned long long limit = scribe_user_limit(to->d, i);

		if (i == SCRIBE_QUOTA_SPOOL)
			continue; /* `job list` lists these */
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s=%llu\n", keys[i], (unsigned long long)own.v[i]);
		/* root is exempt */
		if (uid)
			n += snprintf(text + n, sizeof(text) - (size_t)n, "%s_most=%llu\n", keys[i], limit);
	}
	to->rc = scribe_client_send(to->c, SCRIBE_MSG_JOB_ENTRY, text, (size_t)n);
}

int scribe_status_message(struct scribe_daemon *d, struct scribe_client *c)
{
	struct to to = {d, c, 0};

	if (c->uid == 0)
		to.rc = send_service(d, c);
	scribe_user_each(d, send_user, &to);
	return to.rc < 0 ? to.rc : scribe_client_send(c, SCRIBE_MSG_JOB_OK, NULL, 0);
}
