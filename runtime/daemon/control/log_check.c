/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trial for `ioscribe doctor --service`: writes an empty file with a log's helpers and directories, and removes it.
 * Three steps, each answered later by a helper. Must not know running jobs.
 */
#include "runtime/daemon/control/log_check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/daemon/base/event_loop.h"
#include "runtime/daemon/control/connection.h"
#include "runtime/daemon/lookup/job_helper.h"
#include "runtime/daemon/output/log_path.h"
#include "runtime/daemon/state/daemon.h"

/* per step */
#define STEP_MS 2000

struct scribe_check {
	struct scribe_job job; /* only its configuration is used */
	struct scribe_helper helper;
	enum { MAKING_DAYS, WRITING, TAKING_BACK } stage;
	int empty; /* memory file */
	char path[SCRIBE_PATH_MAX], to[SCRIBE_PATH_MAX];
};

struct scribe_check *scribe_check_free(struct scribe_check *k)
{
	if (!k)
		return NULL;
	scribe_helper_stop(&k->helper);
	scribe_config_clear(&k->job.config);
	if (k->empty >= 0)
		close(k->empty);
	free(k);
	return NULL;
}

static int explain(const struct scribe_check *k, int rc, struct scribe_err *err)
{
	const struct scribe_config *c = &k->job.config;
	const char *slash = strrchr(k->to, '/');
	int n = (int)(slash - k->to);

	if (rc == -ETIMEDOUT)
		return scribe_err_set(err, rc, "%.*s: its file system does not answer", n, k->to);
	if (k->stage == MAKING_DAYS)
		return scribe_err_set(err, rc, "%.*s: the daemon cannot make the directories of the date: %s", n, k->to,
				      strerror(-rc));
	return scribe_err_set(err, rc, "%.*s: user %s (%u) cannot write a log there: %s", n, k->to,
			      c->user[0] ? c->user : "?", c->uid, strerror(-rc));
}

static int ask(struct scribe_check *k, struct scribe_client *c, struct scribe_daemon *d, struct scribe_err *err)
{
	struct scribe_helper_put put = {.fd = k->empty,
					.partial = k->path,
					.to = k->to,
					.mkdirs = true,
					.own = (unsigned)scribe_log_path_own(&k->job, k->path),
					.drop = k->to};
	size_t shared = scribe_log_path_shared(&k->job, k->path);
	int rc = 0;

	/* the same helper must remove what it has created */
	if (k->stage != TAKING_BACK) {
		scribe_helper_stop(&k->helper);
		rc = k->stage == MAKING_DAYS ? scribe_helper_start(&k->helper, geteuid(), getegid(), "", err)
					     : scribe_job_start_helper(&k->job, &k->helper, err);
	}
	if (rc < 0)
		return rc;
	rc = k->stage == MAKING_DAYS ? scribe_helper_days(&k->helper, k->path, shared, STEP_MS)
	     : k->stage == WRITING   ? scribe_helper_put(&k->helper, &put, STEP_MS)
				     : scribe_helper_ready(&k->helper, k->path, 0, true, STEP_MS);
	if (rc == 0)
		(void)scribe_watch_edge(d->epoll, k->helper.sock, &d->bpf); /* wakes the loop */
	return rc < 0 ? explain(k, rc, err) : 0;
}

int scribe_check_begin(struct scribe_daemon *d, struct scribe_client *c, struct scribe_config *config,
		       struct scribe_err *err)
{
	struct scribe_check *k = calloc(1, sizeof(*k));
	int rc;

	if (!k) {
		scribe_config_clear(config);
		return scribe_err_set(err, -ENOMEM, "out of memory");
	}
	k->helper = (struct scribe_helper){.pid = -1, .sock = -1};
	k->job.daemon = d;
	k->job.config = *config;
	memset(config, 0, sizeof(*config));
	k->empty = memfd_create("ioscribe-check", MFD_CLOEXEC);
	rc = k->empty < 0 ? scribe_err_set(err, -errno, "no memory file: %s", strerror(errno))
			  : scribe_log_path_trial(&k->job, k->path, k->to, sizeof(k->path), err);
	/* the daemon's user makes directories of the date, in a shared log directory only */
	k->stage = rc == 0 && d->spool && scribe_log_path_shared(&k->job, k->path) ? MAKING_DAYS : WRITING;
	if (rc == 0)
		rc = ask(k, c, d, err);
	c->check = rc < 0 ? scribe_check_free(k) : k;
	return rc;
}

static void say_well(const struct scribe_check *k, struct scribe_client *c)
{
	char text[SCRIBE_PATH_MAX + 32];
	int n = snprintf(text, sizeof(text), "log_dir=%.*s\n", (int)(strrchr(k->to, '/') - k->to), k->to);

	if (scribe_client_send(c, SCRIBE_MSG_JOB_ENTRY, text, (size_t)n) == 0)
		(void)scribe_client_send(c, SCRIBE_MSG_JOB_OK, NULL, 0);
}

void scribe_check_tick(struct scribe_client *c)
{
	struct scribe_check *k = c->check;
	struct scribe_err err = {0};
	int rc;

	if (!k || !scribe_helper_answered(&k->helper, &rc))
		return;
	if (k->stage == TAKING_BACK || (rc == 0 && k->stage == WRITING && !scribe_log_path_own(&k->job, k->path))) {
		say_well(k, c);
		c->check = scribe_check_free(k);
		return;
	}
	if (rc < 0)
		explain(k, rc, &err);
	else if (k->stage == MAKING_DAYS)
		k->stage = WRITING;
	else
		k->stage = TAKING_BACK;
	/* the user's directory is removed unless something else is in it */
	if (k->stage == TAKING_BACK)
		k->path[scribe_log_path_own(&k->job, k->path) + 1] = 0;
	if (rc == 0)
		rc = ask(k, c, k->job.daemon, &err);
	if (rc == 0)
		return;
	c->check = scribe_check_free(k);
	scribe_client_refuse(c, SCRIBE_ST_FAILED, err.text);
}
