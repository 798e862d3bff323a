// SPDX-License-Identifier: BSD-3-Clause
/*
 * Samples of the service's counts, by logfmt/base/live_view.h. The connection is closed after any failure. Must
 * not know what is shown.
 */
#include "util/cmd/top/sample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "logfmt/base/proto.h"
#include "util/link/service_link.h"

/* Per page: the daemon serves these requests when it has time. */
#define ANSWER_MS 10000

typedef int (*item_fn)(void *ctx, uint32_t type, const void *item, size_t bytes, uint64_t now_ns,
		       struct scribe_err *err);

void scribe_live_link_close(struct scribe_live_link *l)
{
	if (l->sock >= 0)
		close(l->sock);
	l->sock = -1;
}

void scribe_sample_clear(struct scribe_top_sample *s)
{
	free(s->job);
	free(s->process);
	free(s->record);
	*s = (struct scribe_top_sample){0};
}

static int no_page(struct scribe_err *err)
{
	return scribe_err_set(err, -EPROTO, "an answer of the daemon that cannot be read: is it of another version?");
}

static int read_items(const char *page, size_t bytes, item_fn fn, void *ctx, struct scribe_err *err)
{
	const struct scribe_msg_live_reply *looked = (const void *)page;
	size_t at = sizeof(*looked);
	int rc = 0;

	for (uint32_t i = 0; i < looked->items && rc == 0; i++) {
		struct scribe_live_head head;

		if (bytes - at < sizeof(head))
			return no_page(err);
		memcpy(&head, page + at, sizeof(head));
		at += sizeof(head);
		if (head.bytes > bytes - at || bytes - at < ((size_t)head.bytes + 7) / 8 * 8)
			return no_page(err);
		rc = fn(ctx, head.type, page + at, head.bytes, looked->now_ns, err);
		at += ((size_t)head.bytes + 7) / 8 * 8;
	}
	return rc;
}

static int ask(struct scribe_live_link *l, struct scribe_msg_live_request *m, item_fn fn, void *ctx,
	       struct scribe_err *err)
{
	static char packet[SCRIBE_MSG_MAX] __attribute__((aligned(8)));
	const struct scribe_msg_header *h = (const void *)packet;
	const struct scribe_msg_live_reply *looked = (const void *)(h + 1);
	int64_t deadline_ms = scribe_msg_now_ms() + ANSWER_MS;
	int rc;

	/* Between pages the caller may cancel. */
	if (l->go_on && !l->go_on(l->ctx))
		return -ECANCELED;
	rc = scribe_msg_send(l->sock, SCRIBE_MSG_LIVE_REQUEST, 0, m, sizeof(*m), -1, ANSWER_MS);
	if (rc < 0)
		return scribe_err_set(err, rc, "the daemon at %s cannot be asked: %s", scribe_job_dir(), strerror(-rc));
	rc = scribe_job_receive(l->sock, packet, deadline_ms, err);
	if (rc < 0)
		return rc;
	if (rc != SCRIBE_MSG_LIVE_REPLY || h->len < sizeof(*looked))
		return no_page(err);
	rc = read_items((const char *)looked, h->len, fn, ctx, err);
	m->from = looked->next;
	return rc < 0 ? rc : looked->more != 0;
}

static void *more(void *items, size_t *capacity, size_t n, size_t size)
{
	void *grown;

	if (n < *capacity)
		return items;
	grown = realloc(items, (*capacity * 2 + 64) * size);
	if (grown)
		*capacity = *capacity * 2 + 64;
	return grown;
}

struct taking {
	struct scribe_live_link *link;
	struct scribe_top_sample *sample;
	size_t job; /* index of the job being read */
	bool again; /* all records were read: what the service learnt from that */
};

static int take_job(struct taking *t, const void *item)
{
	struct scribe_top_sample *s = t->sample;
	struct scribe_live_job *all;
	struct scribe_live_job job;

	memcpy(&job, item, sizeof(job));
	/* Received text is not trusted to end with NUL. */
	job.id[sizeof(job.id) - 1] = job.user[sizeof(job.user) - 1] = 0;
	job.folder[sizeof(job.folder) - 1] = job.mount[sizeof(job.mount) - 1] = 0;
	for (size_t i = 0; t->again && i < s->jobs; i++)
		if (s->job[i].job == job.job && s->job[i].begun_ns == job.begun_ns) {
			s->job[i].folder_part = job.folder_part;
			memcpy(s->job[i].folder, job.folder, sizeof(job.folder));
			memcpy(s->job[i].mount, job.mount, sizeof(job.mount));
		}
	if (t->again || (t->link->job_id && strcmp(t->link->job_id, job.id)))
		return 0;
	all = more(s->job, &s->jobs_capacity, s->jobs, sizeof(*all));
	if (!all)
		return -ENOMEM;
	s->job = all;
	s->job[s->jobs++] = job;
	return 0;
}

static int take_process(struct taking *t, const void *item, uint64_t now_ns)
{
	struct scribe_top_sample *s = t->sample;
	struct scribe_sampled_process *all = more(s->process, &s->processes_capacity, s->processes, sizeof(*all)), *p;

	if (!all)
		return -ENOMEM;
	s->process = all;
	p = &all[s->processes++];
	/* Each page has its own time, because pages are taken one after another. */
	*p = (struct scribe_sampled_process){.job = t->job, .at_ns = now_ns};
	memcpy(&p->is, item, sizeof(p->is));
	p->is.program[sizeof(p->is.program) - 1] = 0;
	return 0;
}

static int take_record(struct taking *t, const void *item, uint64_t now_ns, struct scribe_err *err)
{
	struct scribe_top_sample *s = t->sample;
	struct scribe_sampled_record *all = more(s->record, &s->records_capacity, s->records, sizeof(*all)), *r;

	if (!all)
		return -ENOMEM;
	s->record = all;
	r = &all[s->records];
	memcpy(&r->is, item, sizeof(r->is));
	/* Records must follow their process. */
	if (!s->processes || s->process[s->processes - 1].is.proc_id != r->is.proc_id)
		return no_page(err);
	r->process = s->processes - 1;
	r->at_ns = now_ns;
	s->records++;
	return 0;
}

static int take(void *ctx, uint32_t type, const void *item, size_t bytes, uint64_t now_ns, struct scribe_err *err)
{
	struct taking *t = ctx;
	const struct scribe_top_sample *s = t->sample;

	if (s->jobs + s->processes + s->records >= SCRIBE_SAMPLE_MAX)
		return scribe_err_set(err, -E2BIG, "more than %u records", SCRIBE_SAMPLE_MAX);
	if (type == SCRIBE_LIVE_JOB && bytes == sizeof(struct scribe_live_job))
		return take_job(t, item);
	if (type == SCRIBE_LIVE_PROCESS && bytes == sizeof(struct scribe_live_process))
		return take_process(t, item, now_ns);
	if (type == SCRIBE_LIVE_RECORD && bytes == sizeof(struct scribe_live_record))
		return take_record(t, item, now_ns, err);
	return no_page(err);
}

static int take_all(struct taking *t, struct scribe_err *err)
{
	struct scribe_top_sample *s = t->sample;
	struct scribe_msg_live_request m = {.what = SCRIBE_LIVE_JOBS};
	int rc;

	do
		rc = ask(t->link, &m, take, t, err);
	while (rc > 0);
	for (t->job = 0; t->job < s->jobs && rc == 0; t->job++) {
		m = (struct scribe_msg_live_request){
			.what = SCRIBE_LIVE_RECORDS, .job = s->job[t->job].job, .begun_ns = s->job[t->job].begun_ns};
		do
			rc = ask(t->link, &m, take, t, err);
		while (rc > 0);
	}
	m = (struct scribe_msg_live_request){.what = SCRIBE_LIVE_JOBS};
	t->again = true;
	while (rc == 0 && (rc = ask(t->link, &m, take, t, err)) > 0)
		rc = 0;
	return rc;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static int reach(struct scribe_live_link *l, struct scribe_err *err)
{
	if (l->sock >= 0)
		return 0;
	l->sock = scribe_job_connect(scribe_msg_now_ms() + ANSWER_MS, err);
	if (l->sock == -ENOENT)
		return scribe_err_set(err, -ENOENT, "no service at %s: only jobs that it traces can be seen",
				      scribe_job_dir());
	return l->sock < 0 ? l->sock : 0;
}

static int end(struct scribe_live_link *l, int rc, struct scribe_err *err)
{
	if (rc == -ENOMEM && !err->text[0])
		scribe_err_set(err, rc, "out of memory");
	/* Requests and replies may be out of step: reconnect for the next sample. */
	if (rc < 0)
		scribe_live_link_close(l);
	return rc;
}

int scribe_sample_take(struct scribe_live_link *l, struct scribe_top_sample *ret_sample, struct scribe_err *err)
{
	struct scribe_top_sample s = {.at_ns = clock_ns(CLOCK_MONOTONIC), .real_ns = (int64_t)clock_ns(CLOCK_REALTIME)};
	struct taking t = {.link = l, .sample = &s};
	int rc = reach(l, err);

	if (rc == 0)
		rc = take_all(&t, err);
	if (rc == 0)
		*ret_sample = s;
	else
		scribe_sample_clear(&s);
	return end(l, rc, err);
}

struct naming {
	scribe_live_name_fn fn;
	void *ctx;
	uint64_t last;
};

static int take_name(void *ctx, uint32_t type, const void *item, size_t bytes, uint64_t now_ns, struct scribe_err *err)
{
	struct naming *x = ctx;

	(void)now_ns;
	if (type != SCRIBE_LIVE_NAME || bytes < sizeof(x->last))
		return no_page(err);
	memcpy(&x->last, item, sizeof(x->last));
	return x->fn(x->ctx, x->last, (const char *)item + sizeof(x->last), bytes - sizeof(x->last));
}

int scribe_live_names(struct scribe_live_link *l, const struct scribe_live_job *job, const uint64_t *id, size_t n,
		      scribe_live_name_fn fn, void *ctx, struct scribe_err *err)
{
	struct naming x = {.fn = fn, .ctx = ctx};
	int rc = reach(l, err);

	while (rc >= 0 && n) {
		struct scribe_msg_live_request m = {
			.what = SCRIBE_LIVE_NAMES, .job = job->job, .begun_ns = job->begun_ns, .names = (uint32_t)n};

		memcpy(m.name, id, n * sizeof(*id));
		rc = ask(l, &m, take_name, &x, err);
		if (rc <= 0)
			break;
		while (n && *id != x.last)
			id++, n--;
		if (n)
			id++, n--;
	}
	return end(l, rc < 0 ? rc : 0, err);
}
