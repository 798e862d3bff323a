/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Resumes an earlier daemon's work at start, in the main thread. Jobs of another build are finished by a saved
 * copy of it.
 */
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "runtime/daemon/attach/syscall_attach.h"
#include "runtime/daemon/base/event_loop.h"
#include "runtime/daemon/base/sd_notify.h"
#include "runtime/daemon/journal/entries.h"
#include "runtime/daemon/journal/job_journal.h"
#include "runtime/daemon/journal/saved_binary.h"
#include "runtime/daemon/recover.h"

#define READERS          2u /* starts that may fail on a journal */
#define BPF_FS           "/sys/fs/bpf"
#define SCRIBE_EXTEND_US "150000000" /* longer than SCRIBE_BUILD_FINISH_S */

static bool mounted(void)
{
	struct statfs fs;

	if (statfs(BPF_FS, &fs) == 0 && fs.f_type == BPF_FS_MAGIC)
		return true;
	/* Needs CAP_SYS_ADMIN, which the daemon still has. */
	return mount("bpf", BPF_FS, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=700") == 0;
}

/* Number of journals that this build cannot read. */
static unsigned foreign_journals(struct scribe_daemon *d)
{
	struct scribe_journal j;
	char path[160];
	unsigned n = 0;

	for (uint32_t i = 0; i < SCRIBE_JOBS_MAX; i++) {
		int rc = scribe_job_journal_path(d, i, path, sizeof(path));

		if (rc == 0)
			rc = scribe_journal_open(&j, path, scribe_job_journal_layout());
		n += rc == -EPROTONOSUPPORT;
		if (rc == 0)
			scribe_journal_close(&j);
	}
	return n;
}

static void remove_journals(struct scribe_daemon *d)
{
	unsigned n = 0;
	char path[160];

	for (uint32_t i = 0; i < SCRIBE_JOBS_MAX; i++)
		if (scribe_job_journal_path(d, i, path, sizeof(path)) == 0)
			n += unlink(path) == 0;
	if (n)
		fprintf(stderr, "ioscribed: %u job%s of an earlier daemon cannot be taken up: no log\n", n,
			n == 1 ? "" : "s");
}

static int adopt(struct scribe_daemon *d, const char *pins, struct scribe_err *err)
{
	int rc = scribe_bpf_adopt(pins, &d->bpf, err);

	if (rc == 0 && foreign_journals(d)) {
		d->bpf = scribe_bpf_close_keep_pins(d->bpf);
		rc = scribe_err_set(err, -SCRIBE_E_VERSION, "%s: pinned by a build that notes jobs otherwise", pins);
	}
	if (rc == 0) {
		/* Edge-triggered: the ring is rarely empty, and only a wake-up by the programs is urgent. */
		(void)scribe_watch_edge(d->epoll, scribe_bpf_events_fd(d->bpf), &d->bpf);
		scribe_sysattach_resume(d);
	}
	return rc;
}

static int finish_by_its_build(struct scribe_daemon *d, const char *pins, struct scribe_err *err)
{
	struct scribe_service *s = d->service;
	struct scribe_err why = {0}, again = {0};
	int rc;

	fprintf(stderr, "ioscribed: %s; it finishes its jobs first\n", err->text);
	scribe_notify("EXTEND_TIMEOUT_USEC=" SCRIBE_EXTEND_US "\nSTATUS=an earlier build finishes its jobs");
	rc = scribe_build_finish(s->dir, s->pid_file, &why);
	if (rc == 0)
		rc = adopt(d, pins, &again);
	if (rc != -SCRIBE_E_VERSION && (rc == 0 || again.code))
		return rc;
	/* Its pins are in the way of ours, so this daemon's jobs cannot be pinned. */
	fprintf(stderr,
		"ioscribed: %s: that build cannot finish its jobs (%s): all is left as it is, to be finished "
		"by "
		"that build's ioscribed --finish; until then jobs do not survive this daemon\n",
		pins, why.code ? why.text : again.text);
	s->pin = false;
	return -SCRIBE_E_VERSION;
}

static void forget_all(struct scribe_daemon *d, const char *pins)
{
	scribe_bpf_remove_pins(pins);
	remove_journals(d);
	scribe_build_forget(d->service->dir);
}

/* What exhausted the memory of READERS daemons in a row would exhaust ours: the largest such journal is dropped. */
static void give_up_fatal(const struct scribe_daemon *d)
{
	struct scribe_journal j;
	uint64_t most = 0;
	char path[160], worst[160];

	for (uint32_t i = 0; i < SCRIBE_JOB_ORPHANED; i++) {
		if (scribe_job_journal_path(d, i, path, sizeof(path)) < 0 ||
		    scribe_journal_open(&j, path, scribe_job_journal_layout()) < 0)
			continue;
		if (j.head->read >= READERS && j.bytes > most) {
			most = j.bytes;
			strcpy(worst, path);
		}
		scribe_journal_close(&j);
	}
	if (!most)
		return;
	fprintf(stderr, "ioscribed: %s: %u daemons have died reading this journal of %llu MiB: its job has no log\n",
		worst, READERS, (unsigned long long)(most >> 20));
	unlink(worst);
}

int scribe_job_journal_resume(struct scribe_daemon *d, struct scribe_err *err)
{
	struct scribe_service *s = d->service;
	uint64_t position = 0;
	char pins[128], state[128];
	int rc;

	if (!s->pin)
		return 0;
	snprintf(state, sizeof(state), "%s/state", s->dir);
	if (mkdir(state, 0700) < 0 && errno != EEXIST)
		return scribe_err_set(err, -errno, "cannot make %s: %s", state, strerror(errno));
	if (!mounted()) {
		fprintf(stderr, "ioscribed: no BPF file system at " BPF_FS
				": jobs will not survive this daemon: mount -t bpf bpf " BPF_FS " before it starts\n");
		s->pin = false;
		return 0;
	}
	scribe_job_journal_pins(s->dir, pins, sizeof(pins));
	rc = adopt(d, pins, err);
	if (rc == -SCRIBE_E_VERSION && s->finish)
		return rc;
	if (rc == -SCRIBE_E_VERSION)
		rc = finish_by_its_build(d, pins, err);
	if (rc == -SCRIBE_E_VERSION)
		return 0;
	if (rc < 0) {
		if (rc != -ENOENT)
			fprintf(stderr, "ioscribed: %s\n", err->text);
		forget_all(d, pins);
		return 0;
	}
	give_up_fatal(d);
	for (uint32_t i = 0; i < SCRIBE_JOB_ORPHANED; i++) {
		uint64_t to = scribe_recover_job(d, i);

		if (to > position)
			position = to;
	}
	/* Events before this position are in the journals and must not be taken twice. */
	scribe_bpf_skip_to(d->bpf, position);
	/* Jobs in the kernel's table without a journal are unknown. */
	for (uint32_t i = 0; i < SCRIBE_JOB_ORPHANED; i++)
		if (!d->job[i] && scribe_bpf_job(d->bpf, i)->active)
			scribe_bpf_forget_job(d->bpf, i);
	return 0;
}
