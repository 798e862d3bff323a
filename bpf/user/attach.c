// SPDX-License-Identifier: BSD-3-Clause
/*
 * Links of the programs in two groups: for processes, without cost for system calls, and at system calls, which
 * every process pays for. Main thread. Must not know for which job, nor when.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/user/levels.h"
#include "bpf/user/load_private.h"
#include "bpf/user/refusal.h"
#include "logfmt/base/clock.h"

/* All programs not named here are at calls. */
static bool is_of_calls(const char *program)
{
	return strncmp(program, "scribe_sched_", strlen("scribe_sched_")) != 0 &&
	       strcmp(program, "scribe_ev_fork") != 0 && strcmp(program, "scribe_ev_exec") != 0 &&
	       strcmp(program, "scribe_ev_own") != 0 && strcmp(program, "scribe_ev_end") != 0;
}

static bool has_link(const struct scribe_bpf *b, const char *program)
{
	for (unsigned i = 0; i < b->nlinks; i++)
		if (!strcmp(b->link_name[i], program))
			return true;
	return false;
}

/*
 * Attached last and detached first, so that a call seen at entry is also seen at return. A return without an
 * entry is ignored, and counts as late.
 */
static bool is_entry(const char *program)
{
	return strstr(program, "enter") != NULL;
}

enum group { OF_PROCESSES, OF_RETURNS, OF_ENTRIES };

static enum group group_of(const char *program)
{
	return !is_of_calls(program) ? OF_PROCESSES : is_entry(program) ? OF_ENTRIES : OF_RETURNS;
}

static int attach_group(struct scribe_bpf *b, enum group group, struct scribe_err *err)
{
	for (unsigned i = 0; i < b->nprogs; i++) {
		const char *name = b->prog[i].name;
		int fd, rc;

		if (group_of(name) != group || has_link(b, name))
			continue;
		fd = scribe_bpf_attach_program(name, b->prog[i].fd);
		rc = fd < 0 ? fd : 0;
		if (rc < 0 && scribe_bpf_cache_bits(name)) {
			b->ctl->cache &= ~scribe_bpf_cache_bits(name);
			continue;
		}
		if (rc == 0) {
			/* Into the table before the pin can fail, so that the caller can detach it. */
			memcpy(b->link_name[b->nlinks], name, sizeof(b->link_name[0]));
			b->link[b->nlinks++] = fd;
			rc = scribe_bpf_pin(b, "links", name, fd);
		}
		if (rc < 0)
			return scribe_refused(err, rc, SCRIBE_STEP_ATTACH, name);
	}
	return 0;
}

static bool has_calls(const struct scribe_bpf *b)
{
	for (unsigned i = 0; i < b->nlinks; i++)
		if (group_of(b->link_name[i]) != OF_PROCESSES)
			return true;
	return false;
}

static void detach_one(struct scribe_bpf *b, unsigned i)
{
	/* While a pin exists, closing the descriptor does not detach. */
	scribe_bpf_unpin(b, "links", b->link_name[i]);
	close(b->link[i]);
	b->nlinks--;
	for (; i < b->nlinks; i++) {
		b->link[i] = b->link[i + 1];
		memcpy(b->link_name[i], b->link_name[i + 1], sizeof(b->link_name[0]));
	}
}

int scribe_bpf_attach_processes(struct scribe_bpf *b, struct scribe_err *err)
{
	return attach_group(b, OF_PROCESSES, err);
}

/* Of a call that does nothing, at best. */
static uint32_t call_ns(void)
{
	const unsigned calls = 64, rounds = 8;
	uint64_t best = UINT64_MAX;

	for (unsigned k = 0; k < rounds; k++) {
		const uint64_t begin = scribe_now_ns();
		uint64_t took;

		for (unsigned i = 0; i < calls; i++)
			syscall(SYS_getppid);
		took = scribe_now_ns() - begin;
		best = took < best ? took : best;
	}
	return (uint32_t)(best / calls);
}

int scribe_bpf_attach_calls(struct scribe_bpf *b, struct scribe_err *err)
{
	const bool first = !has_calls(b);
	const uint32_t before = first ? call_ns() : 0;
	uint32_t after;
	int rc = attach_group(b, OF_RETURNS, err);

	if (rc == 0)
		rc = attach_group(b, OF_ENTRIES, err);
	if (rc < 0)
		return rc;
	after = first ? call_ns() : 0;
	if (after > before)
		b->ctl->call_ns = after - before;
	scribe_bpf_calls_complete(b, true);
	return 0;
}

uint32_t scribe_bpf_call_ns(const struct scribe_bpf *b)
{
	return b->ctl->call_ns;
}

int scribe_bpf_attach(struct scribe_bpf *b, struct scribe_err *err)
{
	int rc = scribe_bpf_attach_processes(b, err);

	if (rc == 0)
		rc = scribe_bpf_attach_calls(b, err);
	if (rc < 0)
		scribe_bpf_detach(b);
	return rc;
}

void scribe_bpf_calls_complete(struct scribe_bpf *b, bool on)
{
	/* must be an exchange: see scribe_joins_late (bpf/kern/process.bpf.h) */
	__atomic_exchange_n(&b->ctl->calls, on, __ATOMIC_SEQ_CST);
}

/* One link per call, because closing one may take tens of ms. False: none left. */
bool scribe_bpf_detach_call(struct scribe_bpf *b)
{
	for (enum group group = OF_ENTRIES; group != OF_PROCESSES; group--)
		for (unsigned i = b->nlinks; i-- > 0;)
			if (group_of(b->link_name[i]) == group) {
				detach_one(b, i);
				return true;
			}
	return false;
}

bool scribe_bpf_attached(const struct scribe_bpf *b)
{
	return b->nlinks != 0;
}

bool scribe_bpf_calls_attached(const struct scribe_bpf *b)
{
	for (unsigned i = 0; i < b->nprogs; i++)
		if (is_of_calls(b->prog[i].name) && !scribe_bpf_cache_bits(b->prog[i].name) &&
		    !has_link(b, b->prog[i].name))
			return false;
	return b->nprogs;
}

uint32_t scribe_bpf_cache(const struct scribe_bpf *b)
{
	return b->ctl->cache;
}

void scribe_bpf_detach(struct scribe_bpf *b)
{
	if (b->ctl)
		scribe_bpf_calls_complete(b, false);
	while (b->nlinks)
		detach_one(b, b->nlinks - 1);
}
