/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks are queued, sent to a helper (privsep/exclusion_worker.c) in batches of up to SCRIBE_HELPER_JUDGED, and
 * answered in order. Ended processes wait in a second queue. The job owns the helper. Must not know
 * patterns.
 */
#include "runtime/daemon/lookup/exclusion_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/daemon/lookup/job_helper.h"
#include "runtime/daemon/state/daemon.h"
#include "runtime/daemon/state/record_policy.h"

/* per batch */
#define ANSWER_MS 5000
#define ASKED_MAX 200000u /* pending checks */

struct scribe_exclusion_query {
	struct scribe_exclusion_query *next;
	enum scribe_pattern_of of;
	uint32_t slot, generation; /* SCRIBE_PATTERN_NAME */
	uint32_t proc_id;          /* SCRIBE_PATTERN_PROGRAM */
	uint32_t bytes;
	char text[];
};

static void enqueue(struct scribe_job *job, struct scribe_exclusion_query what, const char *text, size_t bytes)
{
	struct scribe_exclusion_check *j = &job->exclusion;
	struct scribe_exclusion_query *q = NULL;

	if (j->lost < SCRIBE_EXCLUSION_CHECKS_MAX && j->asked - j->answered < ASKED_MAX)
		q = malloc(sizeof(*q) + bytes + 1);
	if (!q) {
		/* counted, and the record is kept: a full queue must not lose data */
		j->given_up++;
		return;
	}
	*q = what;
	q->bytes = (uint32_t)bytes + 1;
	memcpy(q->text, text, bytes);
	q->text[bytes] = 0;
	if (j->last)
		j->last->next = q;
	else
		j->first = q;
	j->last = q;
	j->asked++;
}

void scribe_exclusion_check_name(struct scribe_job *job, uint32_t slot, uint32_t generation,
				 const struct scribe_name_entry *name)
{
	if (scribe_exclusion_rules_have(&job->config.exclusion_rules, SCRIBE_PATTERN_NAME))
		enqueue(job,
			(struct scribe_exclusion_query){
				.of = SCRIBE_PATTERN_NAME, .slot = slot, .generation = generation},
			name->text, name->bytes);
}

void scribe_exclusion_check_program(struct scribe_process *p)
{
	size_t n = p->args ? strcspn(p->args, " \n") : 0;

	p->is_excluded = false;
	if (p->args && scribe_exclusion_rules_have(&p->job->config.exclusion_rules, SCRIBE_PATTERN_PROGRAM))
		enqueue(p->job, (struct scribe_exclusion_query){.of = SCRIBE_PATTERN_PROGRAM, .proc_id = p->proc_id},
			p->args, n < SCRIBE_PATH_MAX ? n : SCRIBE_PATH_MAX - 1);
}

bool scribe_exclusion_check_busy(const struct scribe_job *job)
{
	return job->exclusion.first || job->exclusion.ends;
}

static void apply(struct scribe_job *job, const struct scribe_exclusion_query *q, uint64_t out)
{
	struct scribe_daemon *d = job->daemon;
	struct scribe_process *p;
	struct scribe_slot *slot;

	if (q->of == SCRIBE_PATTERN_PROGRAM) {
		p = scribe_worlds_find(&job->worlds, q->proc_id);
		if (p)
			/* a program is excluded as a whole */
			p->is_excluded = out;
		return;
	}
	slot = scribe_bpf_slot(d->bpf, q->slot);
	/* it may have been reused meanwhile */
	if (!slot || slot->generation != q->generation)
		return;
	if (out >> (scribe_drain_module(slot->kind) & 63) & 1)
		/* atomic: kernel programs set other flags */
		__atomic_fetch_or(&slot->flags, SCRIBE_SF_EXCLUDED, __ATOMIC_RELAXED);
	if (out >> scribe_trace_module(slot->kind) & 1 && q->slot < d->slots &&
	    d->slot[q->slot].generation == q->generation)
		d->slot[q->slot].untraced = true;
}

/* Without an answer nothing is excluded. */
static void finish(struct scribe_job *job, unsigned n, const struct scribe_helper_answer *a)
{
	struct scribe_exclusion_check *j = &job->exclusion;

	for (unsigned i = 0; i < n; i++) {
		struct scribe_exclusion_query *q = j->first;
		bool known = a && !(a->given_up >> i & 1);

		j->given_up += !known;
		if (known)
			apply(job, q, a->out[i]);
		j->first = q->next;
		if (!j->first)
			j->last = NULL;
		free(q);
		j->answered++;
	}
	j->sent = 0;
}

static void lose_worker(struct scribe_job *job)
{
	struct scribe_exclusion_check *j = &job->exclusion;

	if (j->has_helper)
		scribe_helper_stop(&j->helper);
	j->has_helper = false;
	/* not sent again: one of its patterns may have exceeded the worker's limits */
	finish(job, j->sent, NULL);
	if (++j->lost < SCRIBE_EXCLUSION_CHECKS_MAX)
		return;
	while (j->first)
		finish(job, 1, NULL);
}

static int write_texts(struct scribe_job *job, int fd, bool anew, unsigned *ret_n)
{
	const struct scribe_exclusion_query *q = job->exclusion.first;
	uint32_t n = 0;
	int rc = 0;

	if (anew) {
		rc = write(fd, &n, sizeof(n)) == (ssize_t)sizeof(n)
			     ? scribe_exclusion_rules_write(&job->config.exclusion_rules, fd)
			     : -EIO;
		n = rc < 0 ? 0 : (uint32_t)rc;
		if (rc < 0 || pwrite(fd, &n, sizeof(n), 0) != (ssize_t)sizeof(n))
			return -EIO;
	}
	for (n = 0; q && n < SCRIBE_HELPER_JUDGED; q = q->next)
		n++;
	if (write(fd, &n, sizeof(n)) != (ssize_t)sizeof(n))
		return -EIO;
	*ret_n = n;
	for (q = job->exclusion.first; n; q = q->next, n--) {
		struct scribe_helper_text head = {.of = q->of, .bytes = q->bytes};

		if (write(fd, &head, sizeof(head)) != (ssize_t)sizeof(head) ||
		    write(fd, q->text, q->bytes) != (ssize_t)q->bytes)
			return -EIO;
	}
	return 0;
}

static int ask(struct scribe_job *job)
{
	struct scribe_exclusion_check *j = &job->exclusion;
	struct scribe_err err;
	int rc = 0, fd;
	bool anew;

	if (!j->has_helper) {
		rc = scribe_daemon_may(job->daemon, job->config.uid, SCRIBE_QUOTA_HELPERS, &err);
		rc = rc < 0 ? rc : scribe_job_start_helper(job, &j->helper, &err);
		j->has_helper = rc == 0;
		j->version = 0;
	}
	fd = rc == 0 ? memfd_create("ioscribe-names", MFD_CLOEXEC) : -1;
	if (fd < 0)
		return -EIO;
	anew = j->version != job->config.exclusion_rules.version;
	rc = write_texts(job, fd, anew, &j->sent);
	if (rc == 0)
		rc = scribe_helper_check_exclusion(&j->helper, fd, anew, ANSWER_MS);
	j->version = job->config.exclusion_rules.version;
	close(fd);
	return rc;
}

void scribe_exclusion_check_tick(struct scribe_job *job)
{
	struct scribe_exclusion_check *j = &job->exclusion;
	struct scribe_helper_answer a;

	/* one batch at a time */
	if (j->sent) {
		if (!scribe_helper_answer(&j->helper, &a))
			return;
		if (a.rc < 0 || a.n != j->sent)
			lose_worker(job);
		else
			finish(job, j->sent, &a);
	}
	/* the user's helpers may have used up their processor time */
	if (j->first && scribe_daemon_may(job->daemon, job->config.uid, SCRIBE_QUOTA_HELPER_SHARE, NULL) == 0 &&
	    ask(job) < 0)
		lose_worker(job);
}

bool scribe_exclusion_check_keep_end(struct scribe_process *p)
{
	struct scribe_exclusion_check *j = &p->job->exclusion;

	if (p->waits_for || j->ended || (!j->first && !p->held))
		return p->waits_for;
	/* + 1 because 0 means not waiting */
	p->waits_for = j->asked + 1;
	p->next_end = NULL;
	if (j->ends_last)
		j->ends_last->next_end = p;
	else
		j->ends = p;
	j->ends_last = p;
	return true;
}

struct scribe_process *scribe_exclusion_check_ended(struct scribe_job *job)
{
	struct scribe_exclusion_check *j = &job->exclusion;
	struct scribe_process *p = j->ends;

	if (!p || (!j->ended && (p->held || p->waits_for > j->answered + 1)))
		return NULL;
	j->ends = p->next_end;
	if (!j->ends)
		j->ends_last = NULL;
	p->waits_for = 0;
	return p;
}

void scribe_exclusion_check_end(struct scribe_job *job)
{
	struct scribe_exclusion_check *j = &job->exclusion;

	while (j->first)
		finish(job, 1, NULL);
	if (j->has_helper)
		scribe_helper_stop(&j->helper);
	j->has_helper = false;
	j->lost = SCRIBE_EXCLUSION_CHECKS_MAX;
	j->ended = true;
}
