// SPDX-License-Identifier: BSD-3-Clause
/*
 * Places of a file are attached to at once: by a link of the kernel's (uprobe_multi), or by
 * trace events. Which of them the kernel takes is found by trying. Must not know: libraries,
 * processes, names, logs.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/map_calls.h"
#include "bpf/refusal.h"
#include "uprobes/attach_private.h"

#define MULTI_RETURN 1u

/* What the kernel reads of struct bpf_attr for this command (uapi/linux/bpf.h of 6.6). */
struct multi_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t cnt, multi_flags, pid, pad;
};

static int multi_link(int program, const char *path, const uint64_t *offset, const uint64_t *cookie,
		      const uint64_t *semaphore, uint32_t n, bool at_return)
{
	struct multi_attr attr = {
		.prog_fd = (uint32_t)program,
		.attach_type = SCRIBE_ATTACH_UPROBE_MULTI,
		.path = (uint64_t)(uintptr_t)path,
		.offsets = (uint64_t)(uintptr_t)offset,
		.cookies = (uint64_t)(uintptr_t)cookie,
		.ref_ctr_offsets = (uint64_t)(uintptr_t)semaphore,
		.cnt = n,
		.multi_flags = at_return ? MULTI_RETURN : 0,
	};
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return fd < 0 ? -errno : fd;
}

/* ---- ways of attaching ---- */

/* A program that does nothing, for a link of this kind. */
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

/* A folder has no places: a kernel that knows what is asked for says so (EBADF), others EINVAL. */
static int probe_multi(void)
{
	int program = nothing(SCRIBE_ATTACH_UPROBE_MULTI), rc;
	uint64_t offset = 0;

	if (program < 0)
		return program;
	rc = multi_link(program, "/", &offset, NULL, NULL, 1, false);
	close(program);
	if (rc >= 0)
		close(rc);
	return rc >= 0 || rc == -EBADF ? 0 : rc;
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
	/* Debian's kernels know a 3: all of perf is for CAP_SYS_ADMIN */
	return paranoid > 2;
}

int scribe_batch_level(struct scribe_uprobes *u, struct scribe_err *err)
{
	int rc = 0;

	u->level = SCRIBE_UPROBE_MULTI;
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
	return scribe_refused(err, code,
			      u->level == SCRIBE_UPROBE_MULTI ? SCRIBE_STEP_PROBE_MULTI : SCRIBE_STEP_PROBE_PERF,
			      label, NULL);
}

/* ---- attaching ---- */

void scribe_batch_add(struct scribe_batch *b, uint64_t offset, uint64_t address, uint64_t semaphore,
		      uint64_t cookie)
{
	b->offset[b->n] = offset;
	b->address[b->n] = address;
	b->semaphore[b->n] = semaphore;
	b->cookie[b->n++] = cookie;
}

static int attach_multi(struct scribe_uprobes *u, int program, const char *path, const struct scribe_batch *b,
			bool at_return, bool counts)
{
	struct scribe_probe_link l = {
		.fd = multi_link(program, path, b->offset, b->cookie,
					b->semaphore[0] ? b->semaphore : NULL, b->n, at_return),
		.event.perf = -1,
		.counts = counts,
	};

	if (l.fd < 0)
		return l.fd;
	scribe_pinned_link(u, &l);
	return scribe_uprobes_keep_link(u, &l);
}

/*
 * Places for one event, and their index in the batch; marked in `done`. Of entries no two end in
 * the same bits; returns have all the same cookie, and are told apart by the stack.
 */
static uint32_t pick_places(const struct scribe_batch *b, bool at_return, bool *done, struct scribe_event_place *ret,
			    uint32_t *ret_of)
{
	bool *taken = calloc(SCRIBE_PLACE_STEP, sizeof(*taken));
	uint32_t n = 0;

	for (uint32_t i = 0; taken && i < b->n; i++) {
		uint32_t end = b->address[i] & (SCRIBE_PLACE_STEP - 1);

		if (done[i] || (taken[end] && !at_return))
			continue;
		taken[end] = done[i] = true;
		ret[n].offset = b->offset[i];
		ret[n].semaphore = b->semaphore[i];
		ret_of[n++] = i;
	}
	free(taken);
	return n;
}

/* The program finds the site of an entry by the end of its address, as it stands in every process. */
static int announce_places(struct scribe_uprobes *u, const struct scribe_batch *b, const uint32_t *of, uint32_t n,
			   uint64_t *ret_cookie)
{
	int fd = scribe_uprobes_table(u, "scribe_places"), rc = 0;

	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		uint32_t end = b->address[of[i]] & (SCRIBE_PLACE_STEP - 1);
		uint32_t key = u->nplaces * SCRIBE_PLACE_STEP + end, site = (uint32_t)b->cookie[of[i]];

		rc = scribe_map_update(fd, &key, &site, BPF_ANY) ? -errno : 0;
	}
	*ret_cookie = SCRIBE_COOKIE_PLACES | u->nplaces++;
	return rc;
}

static int attach_event(struct scribe_uprobes *u, int program, const char *path,
			const struct scribe_event_place *place, uint32_t n, bool at_return, uint64_t cookie,
			bool counts)
{
	struct scribe_probe_link l = {.counts = counts};

	l.fd = scribe_events_attach(&u->events, program, path, place, n, at_return, cookie, &l.event);
	return l.fd < 0 ? l.fd : scribe_uprobes_keep_link(u, &l);
}

/* Events in as small a number as the ends of the addresses allow. */
static int attach_events(struct scribe_uprobes *u, int program, const char *path, const struct scribe_batch *b,
			 bool at_return, bool counts)
{
	struct scribe_event_place *place = calloc(b->n, sizeof(*place));
	uint32_t *of = calloc(b->n, sizeof(*of)), left = b->n;
	bool *done = calloc(b->n, sizeof(*done));
	int rc = place && of && done ? 0 : -ENOMEM;

	while (rc == 0 && left) {
		uint64_t cookie = b->cookie[0];
		uint32_t n = pick_places(b, at_return, done, place, of);

		rc = n ? 0 : -ENOMEM;
		if (rc == 0 && !at_return)
			rc = announce_places(u, b, of, n, &cookie);
		if (rc == 0)
			rc = attach_event(u, program, path, place, n, at_return, cookie, counts);
		left -= n;
	}
	free(place);
	free(of);
	free(done);
	return rc;
}

int scribe_batch_attach(struct scribe_uprobes *u, int program, const char *path, const struct scribe_batch *b,
			bool at_return, bool counts)
{
	if (!b->n)
		return 0;
	if (u->level == SCRIBE_UPROBE_MULTI)
		return attach_multi(u, program, path, b, at_return, counts);
	return attach_events(u, program, path, b, at_return, counts);
}

/* Where in its file the code at an address of ours lies. */
static int offset_of(const void *code, uint64_t *ret_offset)
{
	uint64_t at = (uint64_t)(uintptr_t)code, from, to, offset;
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		found = sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &from, &to, &offset) == 3 &&
			at >= from && at < to;
		if (found)
			*ret_offset = at - from + offset;
	}
	if (f)
		fclose(f);
	return found ? 0 : -ENOENT;
}

/* Nobody calls it. */
static __attribute__((noinline, used)) void nobodys(void)
{
	__asm__ volatile("nop");
}

int scribe_uprobes_try(struct scribe_uprobes *u, struct scribe_err *err)
{
	struct scribe_batch *b = calloc(1, sizeof(*b));
	uint64_t offset = 0;
	int rc = b ? offset_of((const void *)(uintptr_t)nobodys, &offset) : -ENOMEM, program = -1;

	for (uint32_t layer = 0; rc == 0 && layer < SCRIBE_LAYERS; layer++) {
		if (!(scribe_uprobes_layers(u) & 1u << layer))
			continue;
		rc = scribe_uprobes_load(u, layer, err);
		if (rc)
			break;
		program = u->program_fd[layer];
	}
	if (rc || program < 0) {
		free(b);
		return rc;
	}
	scribe_batch_add(b, offset, (uint64_t)(uintptr_t)nobodys, 0, SCRIBE_COOKIE_RETURN);
	rc = scribe_batch_attach(u, program, "/proc/self/exe", b, true, false);
	b->cookie[0] = SCRIBE_SITES_MAX; /* no site's */
	if (rc == 0)
		rc = scribe_batch_attach(u, program, "/proc/self/exe", b, false, false);
	free(b);
	return rc == 0 ? 0 : scribe_batch_refused(u, rc, "probing libraries", err);
}
