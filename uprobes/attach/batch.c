// SPDX-License-Identifier: BSD-3-Clause
/*
 * Attaches to all addresses of a file at once, by uprobe_multi or trace events. Main thread. Must not know:
 * libraries, processes, names, logs.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/user/map_calls.h"
#include "bpf/user/refusal.h"
#include "uprobes/attach/attach_state.h"

/* An empty program for such a link. */
static int nothing(uint32_t attach_type)
{
	const struct bpf_insn does[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach_type);
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "scribe_nothing", "GPL", does, 2, &opts);

	return fd < 0 ? -errno : fd;
}

/* 0: supported; otherwise the error to report. */
static int probe_multi(void)
{
	int program = nothing(SCRIBE_ATTACH_UPROBE_MULTI), rc;

	if (program < 0)
		return program;
	rc = scribe_link_try_multi(program);
	close(program);
	return rc;
}

bool scribe_uprobes_need_admin(enum scribe_uprobe_level level)
{
	bool events = level == SCRIBE_UPROBE_EVENTS || (level == SCRIBE_UPROBE_AUTO && probe_multi());
	FILE *f = events ? fopen("/proc/sys/kernel/perf_event_paranoid", "re") : NULL;
	int paranoid = 0;

	if (!f)
		return false;
	if (fscanf(f, "%d", &paranoid) != 1)
		paranoid = 0;
	fclose(f);
	/* Debian's kernels have level 3: CAP_SYS_ADMIN for all of perf */
	return paranoid > 2;
}

int scribe_batch_level(struct scribe_uprobes *u, struct scribe_err *err)
{
	int rc = 0;

	u->level = SCRIBE_UPROBE_MULTI;
	/* Preferred: without tracefs, and its links can be pinned. */
	if (u->opt.level != SCRIBE_UPROBE_EVENTS) {
		rc = probe_multi();
		if (rc == 0)
			return 0;
		scribe_batch_refused(u, rc, "libraries", err);
	}
	if (u->opt.level == SCRIBE_UPROBE_MULTI)
		return rc;
	u->level = SCRIBE_UPROBE_EVENTS;
	return scribe_events_open(&u->events, err);
}

int scribe_batch_refused(const struct scribe_uprobes *u, int code, const char *label, struct scribe_err *err)
{
	return scribe_refused(
		err, code, u->level == SCRIBE_UPROBE_MULTI ? SCRIBE_STEP_PROBE_MULTI : SCRIBE_STEP_PROBE_PERF, label);
}

void scribe_batch_add(struct scribe_batch *b, uint64_t offset, uint64_t address, uint64_t semaphore, uint64_t cookie)
{
	b->offset[b->n] = offset;
	b->address[b->n] = address;
	b->semaphore[b->n] = semaphore;
	b->cookie[b->n++] = cookie;
}

int scribe_batch_make(struct scribe_uprobes *u, struct scribe_probe_link *l, const char *path)
{
	int fd = scribe_link_make(l->plan, &u->events, u->program_fd[l->layer], path, &l->event);

	if (fd < 0)
		return fd;
	l->fd = fd;
	scribe_probe_link_forget(l);
	scribe_pinned_link(u, l);
	return 0;
}

/* Takes over the plan. */
static int add_link(struct scribe_uprobes *u, struct scribe_link_plan *plan, enum scribe_layer layer, const char *path)
{
	const struct scribe_probe_link l = {
		.fd = -1, .event.perf = -1, .plan = plan, .layer = layer, .dev = u->dev, .ino = u->ino};
	int rc = scribe_uprobes_keep_link(u, &l);

	return rc == 0 && !u->opt.link_maker ? scribe_batch_make(u, &u->link[u->nlinks - 1], path) : rc;
}

/* Entries and returns need separate links. */
static int attach_multi(struct scribe_uprobes *u, enum scribe_layer layer, const char *path,
			const struct scribe_batch *b, bool at_return)
{
	struct scribe_link_plan *plan = scribe_link_plan_new(b->n);

	if (!plan)
		return -ENOMEM;
	plan->at_return = at_return;
	memcpy(plan->offset, b->offset, b->n * sizeof(b->offset[0]));
	memcpy(plan->cookie, b->cookie, b->n * sizeof(b->cookie[0]));
	memcpy(plan->semaphore, b->semaphore, b->n * sizeof(b->semaphore[0]));
	return add_link(u, plan, layer, path);
}

/* Indices of addresses for one event, marked in `done`. 0: no memory. */
static uint32_t pick_addresses(const struct scribe_batch *b, bool at_return, bool *done, uint32_t *ret_of)
{
	bool *taken = calloc(SCRIBE_ADDRESS_STEP, sizeof(*taken));
	uint32_t n = 0;

	for (uint32_t i = 0; taken && i < b->n; i++) {
		uint32_t end = b->address[i] & (SCRIBE_ADDRESS_STEP - 1);

		/*
		 * Entries are found by the end of their address, unique in an event; returns match by the
		 * stack.
		 */
		if (done[i] || (taken[end] && !at_return))
			continue;
		taken[end] = done[i] = true;
		ret_of[n++] = i;
	}
	free(taken);
	return n;
}

static int announce_addresses(struct scribe_uprobes *u, const struct scribe_batch *b, const uint32_t *of, uint32_t n,
			      uint64_t *ret_cookie)
{
	int fd = scribe_uprobes_table(u, "scribe_addrs"), rc = 0;

	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		/*
		 * The cookie selects a range of keys, the end of the address a point in it: load addresses are
		 * page-aligned.
		 */
		uint32_t end = b->address[of[i]] & (SCRIBE_ADDRESS_STEP - 1);
		uint32_t key = u->nplaces * SCRIBE_ADDRESS_STEP + end, point = (uint32_t)b->cookie[of[i]];

		rc = scribe_map_update(fd, &key, &point, BPF_ANY) ? -errno : 0;
	}
	*ret_cookie = SCRIBE_COOKIE_ADDRESSES | u->nplaces++;
	return rc;
}

static int attach_event(struct scribe_uprobes *u, enum scribe_layer layer, const char *path,
			const struct scribe_batch *b, const uint32_t *of, uint32_t n, bool at_return)
{
	struct scribe_link_plan *plan = scribe_link_plan_new(n);
	int rc;

	if (!plan)
		return -ENOMEM;
	plan->is_event = true;
	plan->at_return = at_return;
	plan->event_cookie = b->cookie[0];
	for (uint32_t i = 0; i < n; i++) {
		plan->offset[i] = b->offset[of[i]];
		plan->semaphore[i] = b->semaphore[of[i]];
	}
	rc = at_return ? 0 : announce_addresses(u, b, of, n, &plan->event_cookie);
	if (rc == 0)
		return add_link(u, plan, layer, path);
	free(plan);
	return rc;
}

static int attach_events(struct scribe_uprobes *u, enum scribe_layer layer, const char *path,
			 const struct scribe_batch *b, bool at_return)
{
	uint32_t *of = calloc(b->n, sizeof(*of)), left = b->n;
	bool *done = calloc(b->n, sizeof(*done));
	int rc = of && done ? 0 : -ENOMEM;

	while (rc == 0 && left) {
		uint32_t n = pick_addresses(b, at_return, done, of);

		rc = n ? attach_event(u, layer, path, b, of, n, at_return) : -ENOMEM;
		left -= n;
	}
	free(of);
	free(done);
	return rc;
}

int scribe_batch_attach(struct scribe_uprobes *u, enum scribe_layer layer, const char *path,
			const struct scribe_batch *b, bool at_return)
{
	if (!b->n)
		return 0;
	if (u->level == SCRIBE_UPROBE_MULTI)
		return attach_multi(u, layer, path, b, at_return);
	return attach_events(u, layer, path, b, at_return);
}
