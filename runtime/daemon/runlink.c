/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The private daemon's conversation with `ioscribe run`: begin a job, enrol
 * CMD, and at its end write and report the logs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "runtime/core/core.h"
#include "runtime/daemon/daemon.h"
#include "runtime/daemon/libs.h"

#define SEND_MS 5000

void scribe_work_free(struct scribe_work *w)
{
	if (!w)
		return;
	for (struct scribe_unit *u = w->worlds.units; u; u = u->next)
		for (size_t i = 0; i < u->ranks.places; i++) {
			struct scribe_rank *r = u->ranks.place[i].value;

			if (r) {
				scribe_records_free(r->records);
				scribe_records_free(r->fetched);
				scribe_core_free(r->core);
			}
		}
	scribe_worlds_clear(&w->worlds, NULL);
	scribe_map_clear(&w->by_tgid);
	scribe_labels_clear(&w->labels);
	scribe_shapes_clear(&w->shapes);
	scribe_mounts_clear(&w->mounts);
	scribe_config_clear(&w->config);
	scribe_hand_stop(&w->hand);
	free(w->log);
	free(w);
}

static void refuse(struct scribe_daemon *d, const char *text)
{
	scribe_msg_send(d->run, SCRIBE_MSG_ERROR, SCRIBE_ST_FAILED, text, strnlen(text, SCRIBE_TEXT_MAX - 1),
			-1, SEND_MS);
	d->quit = true;
}

static int64_t realtime_offset(void)
{
	struct timespec real, mono;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	return (int64_t)(real.tv_sec - mono.tv_sec) * 1000000000 + real.tv_nsec - mono.tv_nsec;
}

static int exclude_top(void *ctx, const char *name)
{
	struct scribe_err err;

	/* what the kernel has no room for is dropped here */
	(void)scribe_bpf_exclude_top(ctx, name, &err);
	return 0;
}

static enum scribe_bpf_level level_of(const char *name)
{
	if (!strcmp(name, "tp_btf"))
		return SCRIBE_BPF_TP_BTF;
	return strcmp(name, "raw_tp") ? SCRIBE_BPF_AUTO : SCRIBE_BPF_RAW_TP;
}

/* Everything between the options' text and the attached programs. */
static int start_work(struct scribe_daemon *d, const char *text, size_t bytes, struct scribe_err *err)
{
	struct scribe_work *w = d->work = calloc(1, sizeof(*w));
	struct scribe_bpf_options options = {.verbose = d->verbose};
	struct scribe_job job = {.active = 1};
	int rc;

	if (!w)
		return scribe_err_set(err, -ENOMEM, "out of memory");
	w->hand = (struct scribe_hand){.pid = -1, .sock = -1};
	rc = scribe_config_default(&w->config, err);
	if (rc == 0)
		rc = scribe_config_text(&w->config, text, bytes, "options", err);
	if (rc == 0 && w->config.library[0])
		rc = scribe_exclusions_exclude_path(&w->config.paths, w->config.library);
	if (rc == 0 && scribe_worlds_init(&w->worlds, w->config.listed) < 0)
		rc = scribe_err_set(err, -ENOMEM, "out of memory");
	if (rc == 0)
		rc = scribe_hand_start(&w->hand, w->config.uid, w->config.gid, w->config.user, err);
	if (rc == 0)
		rc = scribe_place_check(w, err);
	if (rc < 0)
		return rc;
	gethostname(w->host, sizeof(w->host) - 1);
	w->realtime_ns = realtime_offset();
	scribe_mounts_read(&w->mounts, "/etc/mtab");
	options.slots = w->config.records;
	options.procs = w->config.processes;
	options.level = level_of(w->config.level);
	rc = scribe_bpf_open(&options, &d->bpf, err);
	if (rc < 0)
		return rc;
	d->slots = w->config.records + 1;
	d->slot = calloc(d->slots, sizeof(*d->slot));
	if (!d->slot)
		return scribe_err_set(err, -ENOMEM, "out of memory");
	job.quota = w->config.records;
	job.mem_align = w->config.mem_alignment;
	job.all_types = w->config.all_types;
	job.tell_maps = strcmp(w->config.libraries, "none") != 0;
	rc = scribe_bpf_set_job(d->bpf, w->index, &job);
	if (rc < 0)
		return scribe_err_set(err, rc, "cannot describe the job to the kernel: %s",
				      scribe_strerror(rc));
	scribe_exclusions_tops(&w->config.paths, exclude_top, d->bpf);
	rc = scribe_bpf_attach(d->bpf, err);
	if (rc == 0)
		scribe_libs_start(d);
	if (rc == 0 && w->config.runtime)
		rc = scribe_clients_listen(d, err);
	return rc;
}

static void on_begin(struct scribe_daemon *d, const char *text, size_t bytes)
{
	static struct scribe_msg_ready ready;
	struct scribe_err err = {0};

	if (d->work) {
		refuse(d, "a second RUN_BEGIN");
		return;
	}
	if (start_work(d, text, bytes, &err) < 0) {
		refuse(d, err.text[0] ? err.text : "cannot start");
		return;
	}
	snprintf(ready.socket, sizeof(ready.socket), "%s", d->work->config.runtime ? d->socket : "");
	ready.job = d->work->index;
	scribe_msg_send(d->run, SCRIBE_MSG_READY, 0, &ready, sizeof(ready), -1, SEND_MS);
}

static void on_enrol(struct scribe_daemon *d, const struct scribe_msg_enrol *m)
{
	struct scribe_msg_enrolled ok = {0};
	struct scribe_err err = {0};
	uint32_t index, serial;

	if (!d->work || !d->bpf) {
		refuse(d, "ENROL before RUN_BEGIN");
		return;
	}
	scribe_libs_before(d, m->pid);
	if (scribe_bpf_enrol(d->bpf, m->pid, d->work->index, &index, &serial, &err) < 0) {
		refuse(d, err.text);
		return;
	}
	if (!scribe_events_enrolled(d, index, serial, m->pid)) {
		refuse(d, "out of memory");
		return;
	}
	if (!d->work->first_serial) {
		d->work->first_serial = serial;
		d->work->number = m->pid;
	}
	ok.serial = serial;
	scribe_msg_send(d->run, SCRIBE_MSG_ENROLLED, 0, &ok, sizeof(ok), -1, SEND_MS);
}

static void on_end(struct scribe_daemon *d, const struct scribe_msg_end *m)
{
	if (!d->work) {
		refuse(d, "END before RUN_BEGIN");
		return;
	}
	d->work->ending = true;
	d->work->ending_deadline_ns = scribe_now_ns() + (uint64_t)m->grace_ms * 1000000;
}

/*
 * `ioscribe run` is gone without a word (killed). What it started goes on, and
 * its log is written when the last process has ended; nobody is told.
 */
static void on_lost(struct scribe_daemon *d)
{
	struct scribe_work *w = d->work;

	if (!w || !w->first_serial) {
		d->quit = true;
		return;
	}
	epoll_ctl(d->epoll, EPOLL_CTL_DEL, d->run, NULL);
	if (w->ending)
		return; /* the end is known, and near */
	w->ending = true;
	w->ending_deadline_ns = UINT64_MAX;
}

void scribe_runlink_serve(struct scribe_daemon *d)
{
	static char packet[SCRIBE_MSG_MAX] __attribute__((aligned(8)));
	const struct scribe_msg_header *h = (const void *)packet;
	struct scribe_err err = {0};
	ssize_t n = scribe_msg_recv(d->run, packet, NULL, 0, &err);

	if (n == -ETIMEDOUT)
		return;
	if (n <= 0) {
		on_lost(d);
		return;
	}
	switch (h->type) {
	case SCRIBE_MSG_RUN_BEGIN:
		on_begin(d, (const char *)(h + 1), h->len);
		break;
	case SCRIBE_MSG_ENROL:
		on_enrol(d, (const void *)(h + 1));
		break;
	case SCRIBE_MSG_END:
		on_end(d, (const void *)(h + 1));
		break;
	default:
		refuse(d, "not a message for the daemon");
	}
}

static void report(struct scribe_daemon *d)
{
	struct scribe_work *w = d->work;
	struct scribe_msg_result result = {.logs = (uint32_t)w->logs};
	struct scribe_ledger ledger;
	struct rusage usage;

	for (size_t i = 0; i < w->logs; i++) {
		result.failed += w->log[i].text[0] != 0;
		scribe_msg_send(d->run, SCRIBE_MSG_LOG, 0, &w->log[i], sizeof(w->log[i]), -1, SEND_MS);
	}
	snprintf(result.remote, sizeof(result.remote), "%s", w->worlds.remote);
	scribe_commit_partial(d, &ledger);
	result.events = ledger.v[SCRIBE_L_EVENTS];
	result.dropped = ledger.v[SCRIBE_L_DROP_NO_SLOT];
	getrusage(RUSAGE_SELF, &usage);
	result.tracer_seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
				(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	scribe_msg_send(d->run, SCRIBE_MSG_RESULT, 0, &result, sizeof(result), -1, SEND_MS);
}

void scribe_runlink_tick(struct scribe_daemon *d)
{
	struct scribe_work *w = d->work;

	if (d->asked_to_end && (!w || !w->first_serial))
		d->quit = true;
	if (!w || d->quit || (!w->ending && !d->asked_to_end))
		return;
	if (w->worlds.living && !d->asked_to_end && scribe_now_ns() < w->ending_deadline_ns)
		return;
	scribe_clients_serve_all(d);
	scribe_events_take(d);
	scribe_commit_due(d, true);
	report(d);
	d->quit = true;
}
