/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stores a built log by a helper of the job's user, otherwise in the spool or in /tmp. Must not
 * know what logs hold.
 */
#include "runtime/daemon/output/log_put.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "runtime/daemon/base/audit_log.h"
#include "runtime/daemon/journal/job_journal.h"
#include "runtime/daemon/lookup/job_helper.h"
#include "runtime/daemon/output/log_path.h"
#include "runtime/daemon/output/node_parts.h"
#include "runtime/daemon/output/spool.h"
#include "runtime/daemon/state/job_nodes.h"

#define RETRIES  600 /* to start a process that writes to the spool */
#define RETRY_NS 1000000000ull
#define MERGE_MS 120000 /* for merging the parts of all nodes */

static bool in_parts(const struct scribe_job *job, const struct scribe_delivery *v)
{
	return !v->unit || scribe_node_parts_unit(job, v->unit);
}

/* False: not answered yet. */
static bool put_at(struct scribe_delivery *v, struct scribe_helper *h, const struct scribe_helper_put *put,
		   uint32_t deadline_ms, int *ret_rc)
{
	if (v->asked)
		return scribe_helper_answered(h, ret_rc);
	*ret_rc = scribe_helper_put(h, put, deadline_ms);
	v->asked = *ret_rc == 0;
	return *ret_rc < 0 && *ret_rc != -EBUSY;
}

static void no_place(struct scribe_job *job, struct scribe_delivery *v, int rc)
{
	scribe_err_set(&v->err, rc, "cannot write %.400s: %s", v->wanted,
		       rc == -ETIMEDOUT ? "no answer in time" : strerror(-rc));
	if (job->daemon->service)
		scribe_audit_log_no_place(job->config.uid, v->err.text);
	v->stage = job->daemon->spool ? STAGE_SPOOL : STAGE_ELSEWHERE;
}

void scribe_delivery_days(struct scribe_job *job, struct scribe_delivery *v)
{
	const char *path = v->part_days ? v->unit->log_path : v->wanted;
	size_t shared = job->daemon->spool ? scribe_log_path_shared(job, path) : 0;
	int rc = 0;

	if (shared && !v->asked) {
		rc = scribe_helper_start(&v->root, geteuid(), getegid(), "", &v->err);
		if (rc == 0)
			rc = scribe_helper_days(&v->root, path, shared, job->config.write_deadline_ms);
		v->asked = rc == 0;
		if (v->asked)
			return;
	} else if (shared && !scribe_helper_answered(&v->root, &rc)) {
		return;
	}
	scribe_helper_stop(&v->root);
	v->asked = false;
	if (v->what == WHAT_LOG && shared && v->unit->log_path && !v->part_days && rc != -ETIMEDOUT) {
		v->part_days = true;
		return;
	}
	v->stage = STAGE_PUT;
	if (rc == -ETIMEDOUT) /* the user's helper would hang as well */
		no_place(job, v, rc);
}

static void is_put(struct scribe_job *job, struct scribe_delivery *v)
{
	if (v->what == WHAT_DONE)
		v->stage = STAGE_MERGE;
	else
		scribe_delivery_finished(job, v);
}

void scribe_delivery_put(struct scribe_job *job, struct scribe_delivery *v)
{
	const bool parts = in_parts(job, v), named = job->config.log_file[0] != 0;
	/* A node without records only checks whether another has some. */
	const bool asks = v->what == WHAT_DONE && !job->begun_reported;
	char fresh[SCRIBE_PATH_MAX];
	const char *theirs = parts ? NULL : v->unit->partial;
	struct scribe_helper_put put = {
		.fd = v->log,
		.partial = fresh,
		.to = v->wanted,
		.replace = parts || named,
		.mkdirs = parts ? !asks : !named,
		.own = (unsigned)scribe_log_path_own(job, v->wanted),
		.drop = theirs,
	};
	int rc;

	/* The ranks' log may have the temporary name, and must survive. */
	snprintf(fresh, sizeof(fresh), "%.4000s%s", v->partial, theirs || parts ? "_new" : "");
	if (v->what == WHAT_LOG && !parts && !v->asked)
		scribe_job_journal_claimed(job, v->unit, v->wanted);
	if (!put_at(v, &job->helper, &put, job->config.write_deadline_ms, &rc))
		return;
	v->asked = false;
	if (rc == -EEXIST && v->unit && v->unit->claimed) /* the earlier daemon wrote it */
		rc = 0;
	if (rc == 0) {
		is_put(job, v);
		return;
	}
	/* The user or the kernel may have killed the helper: try once more. */
	if (rc == -EPIPE && !v->new_helper && scribe_job_new_helper(job, NULL) == 0) {
		v->new_helper = true;
		return;
	}
	if (asks) {
		scribe_delivery_finished(job, v);
		return;
	}
	no_place(job, v, rc);
	if (v->what == WHAT_BEGUN)
		scribe_delivery_failed(job, v); /* the parts are tried again */
}

void scribe_delivery_merge(struct scribe_job *job, struct scribe_delivery *v)
{
	char dir[SCRIBE_PATH_MAX];
	int rc;

	if (!v->asked) {
		size_t n = 0;

		(void)scribe_parts_in(v->wanted, &n);
		snprintf(dir, sizeof(dir), "%.*s", (int)n, v->wanted);
		v->theirs = memfd_create("ioscribe-made", MFD_CLOEXEC);
		rc = v->theirs < 0 ? -errno
				   : scribe_helper_merge(&job->helper, dir, job->spec.last_node, v->theirs, MERGE_MS);
		v->asked = rc == 0;
		if (rc == 0)
			return;
	} else if (!scribe_helper_answered(&job->helper, &rc)) {
		return;
	}
	v->asked = false;
	if (rc == 0)
		scribe_parts_made(job, v->theirs);
	else if (rc != -EAGAIN && rc != -EBUSY && rc != -ENOENT)
		fprintf(stderr, "ioscribed: job %s: cannot merge the parts beside %s into its logs: %s\n", job->spec.id,
			v->wanted, rc == -ETIMEDOUT ? "no answer in time" : scribe_strerror(rc));
	scribe_delivery_finished(job, v);
}

/* rc < 0: not stored at all. */
static void ended_at(struct scribe_job *job, struct scribe_delivery *v, const char *path, int rc)
{
	v->asked = false;
	if (rc < 0) {
		scribe_delivery_failed(job, v);
		return;
	}
	if (scribe_delivery_message(job, v))
		strcpy(scribe_delivery_message(job, v)->path, path);
	scribe_delivery_finished(job, v);
}

void scribe_delivery_elsewhere(struct scribe_job *job, struct scribe_delivery *v)
{
	char path[SCRIBE_PATH_MAX], fresh[SCRIBE_PATH_MAX];
	struct scribe_helper_put put = {.fd = v->log, .partial = fresh, .to = path, .replace = true};
	int rc = scribe_log_path_fallback(v->wanted, path, sizeof(path));

	snprintf(fresh, sizeof(fresh), "%.4000s_partial", path);
	if (!v->asked && rc == 0 && job->helper.sock < 0)
		rc = scribe_job_new_helper(job, NULL);
	if (rc == 0 && !put_at(v, &job->helper, &put, job->config.write_deadline_ms, &rc))
		return;
	ended_at(job, v, path, rc);
}

/* The spool has a quota per user; then both errors are reported. */
static int check_spool(struct scribe_job *job, struct scribe_delivery *v)
{
	struct scribe_err full = {0}, unwritable = v->err;
	int rc = scribe_daemon_may(job->daemon, job->config.uid, SCRIBE_QUOTA_SPOOL, &full);

	return rc < 0 ? scribe_err_set(&v->err, rc, "%.300s; %.150s", unwritable.text, full.text) : 0;
}

/* The helper could not be started, or was killed. */
static bool is_without_helper(int rc)
{
	return rc == -EAGAIN || rc == -ENOMEM || rc == -EPIPE;
}

static bool try_again(const struct scribe_job *job, struct scribe_delivery *v)
{
	if (v->retries++ == RETRIES || job->daemon->asked_to_end)
		return false;
	v->asked = false;
	v->retry_ns = scribe_now_ns() + RETRY_NS;
	return true;
}

void scribe_delivery_spool(struct scribe_job *job, struct scribe_delivery *v)
{
	char path[SCRIBE_PATH_MAX], fresh[SCRIBE_PATH_MAX], note[SCRIBE_PATH_MAX + 256];
	struct scribe_helper_put put = {.fd = v->log, .partial = fresh, .to = path, .replace = true, .note = note};
	struct scribe_spool *s = job->daemon->spool;
	int rc;

	if (scribe_now_ns() < v->retry_ns)
		return;
	rc = scribe_spool_name(s, job, v->wanted, path, sizeof(path), note, sizeof(note));
	if (rc == 0 && !v->asked)
		rc = check_spool(job, v);
	snprintf(fresh, sizeof(fresh), "%.4000s_partial", path);
	if (rc == 0 && !put_at(v, scribe_spool_helper(s), &put, job->config.write_deadline_ms, &rc))
		return;
	/* The log is in memory only: retry rather than lose it. */
	if (is_without_helper(rc) && try_again(job, v)) {
		scribe_helper_stop(scribe_spool_helper(s));
		return;
	}
	if (rc == 0)
		(void)scribe_spool_add(s, job->config.uid, path);
	ended_at(job, v, path, rc);
}
