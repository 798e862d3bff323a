// SPDX-License-Identifier: BSD-3-Clause
/*
 * Requests of `ioscribe top` about running jobs. A request is kept in its connection until a tick answers it
 * with one static page. Connections are served in turn; all pages together take at most a tenth of the time,
 * and ITERATION_NS per loop iteration. Must not know what records hold.
 */
#include "runtime/daemon/control/live_session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "logfmt/base/clock.h"
#include "runtime/daemon/control/connection.h"
#include "runtime/daemon/events/live_walk.h"
#include "runtime/daemon/tables/folder_load.h"

#define ITERATION_NS 1000000ull /* per loop iteration */
#define PAGE_NS      500000ull  /* per page */
#define SHARE        10         /* one tenth of the time */
#define SAVED_NS     2000000ull /* unused time, at most */

_Static_assert(sizeof(struct scribe_msg_live_reply) % 8 == 0, "items begin at a multiple of 8");

/* Items are at multiples of 8 bytes. */
struct page {
	char bytes[sizeof(struct scribe_msg_live_reply) + SCRIBE_LIVE_BYTES_MAX] __attribute__((aligned(8)));
	size_t used;
};

/* Bytes of earlier pages are not sent. */
static struct scribe_msg_live_reply *begin(struct page *page)
{
	struct scribe_msg_live_reply *looked = (void *)page->bytes;

	*looked = (struct scribe_msg_live_reply){.now_ns = scribe_now_ns()};
	page->used = sizeof(*looked);
	return looked;
}

/* False: it does not fit; the page is unchanged. */
static bool put(struct page *page, enum scribe_live_item type, const void *item, size_t bytes, const void *more,
		size_t more_bytes)
{
	const struct scribe_live_head head = {.type = type, .bytes = (uint32_t)(bytes + more_bytes)};
	const size_t padded = (bytes + more_bytes + 7) / 8 * 8;
	struct scribe_msg_live_reply *looked = (void *)page->bytes;
	char *to = page->bytes + page->used;

	if (sizeof(head) + padded > sizeof(page->bytes) - page->used)
		return false;
	/* no bytes of an earlier page in the padding */
	memset(to, 0, sizeof(head) + padded);
	memcpy(to, &head, sizeof(head));
	memcpy(to + sizeof(head), item, bytes);
	if (more_bytes)
		memcpy(to + sizeof(head) + bytes, more, more_bytes);
	page->used += sizeof(head) + padded;
	looked->items++;
	return true;
}

static bool take(void *ctx, enum scribe_live_item type, const void *item, size_t bytes)
{
	return put(ctx, type, item, bytes, NULL, 0);
}

static bool may(const struct scribe_client *c, const struct scribe_job *job)
{
	return job->state < SCRIBE_JOB_OVER && (c->uid == 0 || c->uid == job->config.uid);
}

static bool put_job(struct page *page, struct scribe_job *job)
{
	const struct scribe_job_entry *entry = scribe_bpf_job(job->daemon->bpf, job->index);
	const struct scribe_process_totals *ended = &job->worlds.ended;
	struct scribe_live_job item = {.job = job->index,
				       .uid = job->config.uid,
				       .begun_ns = job->begun_ns,
				       .begun_s = (int64_t)(job->begun_ns + (uint64_t)job->realtime_ns) / 1000000000,
				       .living = (uint32_t)job->worlds.living,
				       .ending = job->state >= SCRIBE_JOB_ENDING,
				       .records = entry ? entry->used : 0,
				       .records_most = entry ? entry->quota : 0,
				       /* without living processes, of which the records follow */
				       .ended = {.operations = ended->operations,
						 .bytes = {ended->bytes_read, ended->bytes_written},
						 .opens = ended->opens,
						 .stats = ended->stats}};
	struct scribe_folder_most most;
	struct scribe_ledger ledger;

	for (const struct scribe_log_unit *u = job->worlds.units; u; u = u->next)
		item.processes += u->processes;
	if (scribe_bpf_ledger(job->daemon->bpf, job->index, &ledger) == 0)
		item.failed_lookups = ledger.v[SCRIBE_L_FAILED_PATHS];
	if (scribe_folder_load_most(job, &most)) {
		item.folder_part = most.part;
		snprintf(item.folder, sizeof(item.folder), "%s", most.path);
		if (most.mount)
			snprintf(item.mount, sizeof(item.mount), "%s (%s)", most.mount->path, most.mount->type);
	}
	if (job->spec.id[0])
		snprintf(item.id, sizeof(item.id), "%s", job->spec.id);
	else
		snprintf(item.id, sizeof(item.id), "%" PRId64, job->log_job_id);
	snprintf(item.user, sizeof(item.user), "%s", job->config.user);
	return take(page, SCRIBE_LIVE_JOB, &item, sizeof(item));
}

static void answer_jobs(struct scribe_daemon *d, const struct scribe_client *c, struct page *page)
{
	struct scribe_msg_live_reply *looked = begin(page);
	const uint64_t until_ns = scribe_now_ns() + PAGE_NS;

	looked->next = c->look.from;
	for (uint32_t i = c->look.from.proc; i < SCRIBE_JOBS_MAX; i++) {
		struct scribe_job *job = d->job[i];

		/* a job that does not fit is the first of the next page */
		looked->next.proc = i;
		looked->more = 1;
		if (!job || !may(c, job))
			continue;
		if ((looked->items && scribe_now_ns() >= until_ns) || !put_job(page, job))
			return;
	}
	looked->more = 0;
}

static void answer_names(const struct scribe_job *job, const struct scribe_client *c, struct page *page)
{
	struct scribe_msg_live_reply *looked = begin(page);

	for (uint32_t i = 0; i < c->look.names; i++) {
		const struct scribe_name_entry *name = scribe_name_table_by_id(&job->names, c->look.name[i]);

		if (name && !put(page, SCRIBE_LIVE_NAME, &name->id, sizeof(name->id), name->text, name->bytes)) {
			looked->more = 1;
			return;
		}
	}
}

static void answer_records(struct scribe_daemon *d, struct scribe_job *job, const struct scribe_client *c,
			   struct page *page)
{
	struct scribe_msg_live_reply *looked = begin(page);

	looked->next = c->look.from;
	/* also by the clock: records without an item take time, too */
	looked->more = !scribe_live_walk(d, job, &looked->next, looked->now_ns + PAGE_NS, take, page);
}

static int answer(struct scribe_daemon *d, struct scribe_client *c)
{
	static struct page page;
	struct scribe_job *job = c->look.what != SCRIBE_LIVE_JOBS ? d->job[c->look.job] : NULL;

	if (c->look.what == SCRIBE_LIVE_JOBS)
		answer_jobs(d, c, &page);
	else if (!job || !may(c, job) || job->begun_ns != c->look.begun_ns) /* an index is used again */
		(void)begin(&page); /* empty: whether another user has a job is not revealed */
	else if (c->look.what == SCRIBE_LIVE_NAMES)
		answer_names(job, c, &page);
	else
		answer_records(d, job, c, &page);
	return scribe_client_send(c, SCRIBE_MSG_LIVE_REPLY, page.bytes, page.used);
}

/* One request per connection, so that others are not delayed. */
int scribe_live_session_message(struct scribe_daemon *d, struct scribe_client *c,
				const struct scribe_msg_live_request *m)
{
	if (!d->service)
		return scribe_client_refuse(c, SCRIBE_ST_REFUSED, "not a message for this socket");
	if (c->look.what)
		return scribe_client_refuse(c, SCRIBE_ST_BAD_MESSAGE, "a second LOOK before the answer to the first");
	if (m->what < SCRIBE_LIVE_JOBS || m->what > SCRIBE_LIVE_NAMES)
		return scribe_client_refuse(c, SCRIBE_ST_BAD_MESSAGE, "LOOK at nothing that there is");
	if (m->job >= SCRIBE_JOBS_MAX || m->names > SCRIBE_LIVE_NAMES_MAX)
		return scribe_client_refuse(c, SCRIBE_ST_BAD_MESSAGE, "LOOK with an impossible number");
	c->look = *m;
	d->looks.waiting++;
	return 0;
}

/* In turn, by id; NULL: none. */
static struct scribe_client *next(const struct scribe_daemon *d)
{
	struct scribe_client *first = NULL;

	for (struct scribe_client *c = d->clients; c; c = c->next) {
		if (!c->look.what || c->gone)
			continue;
		if (c->id > d->looks.last)
			return c;
		first = first ? first : c;
	}
	return first;
}

/* Negative after a long page, until time has elapsed. */
static int64_t allowance(struct scribe_live *l, uint64_t now_ns)
{
	l->saved_ns += (int64_t)((now_ns - l->counted_ns) / SHARE);
	l->counted_ns = now_ns;
	/* no long burst after an idle phase */
	if (l->saved_ns > (int64_t)SAVED_NS)
		l->saved_ns = SAVED_NS;
	return l->saved_ns;
}

void scribe_live_session_tick(struct scribe_daemon *d)
{
	const uint64_t begun_ns = d->looks.waiting ? scribe_now_ns() : 0;
	uint64_t now_ns = begun_ns;
	struct scribe_client *c;

	/* without jobs the loop sleeps and the allowance does not grow */
	while (d->looks.waiting && now_ns - begun_ns < ITERATION_NS && (allowance(&d->looks, now_ns) > 0 || !d->jobs)) {
		c = next(d);
		if (!c) {
			d->looks.waiting = 0; /* it counts closed connections, too */
			break;
		}
		d->looks.last = c->id;
		if (answer(d, c) < 0)
			scribe_client_hang_up(d, c);
		c->look.what = 0;
		d->looks.saved_ns -= (int64_t)(scribe_now_ns() - now_ns);
		now_ns = scribe_now_ns();
	}
}
