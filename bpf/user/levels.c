// SPDX-License-Identifier: BSD-3-Clause
/*
 * Attach modes, and which programs fit this kernel: BTF lists tracepoints and functions; trace events are
 * opened by perf_event_open(). Main thread. Must not know what programs do.
 */
#include "bpf/user/levels.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "logfmt/counters/built.h"

/*
 * By preference where nothing is preempted: level, name, probe reads, programs, required kernel function, never
 * skipped.
 */
const struct scribe_bpf_level_row scribe_bpf_levels[] = {
	{SCRIBE_BPF_TP_BTF, "tp_btf", false, "scribe_sys_enter", "scribe_sys_exit", "bpf_rdonly_cast", false},
	{SCRIBE_BPF_TP_BTF_PROBE, "tp_btf_probe", true, "scribe_sys_enter", "scribe_sys_exit", NULL, false},
	{SCRIBE_BPF_TRACEPOINT, "tracepoint", false, "scribe_event_enter", "scribe_event_exit", "bpf_rdonly_cast",
	 true},
};
const size_t scribe_bpf_nlevels = sizeof(scribe_bpf_levels) / sizeof(scribe_bpf_levels[0]);

const struct scribe_bpf_level_row *scribe_bpf_level_row(enum scribe_bpf_level level)
{
	for (size_t i = 0; i < scribe_bpf_nlevels; i++)
		if (scribe_bpf_levels[i].level == level)
			return &scribe_bpf_levels[i];
	return NULL;
}

enum scribe_bpf_level scribe_bpf_level_of(const char *name)
{
	for (size_t i = 0; i < scribe_bpf_nlevels; i++)
		if (!strcmp(scribe_bpf_levels[i].name, name))
			return scribe_bpf_levels[i].level;
	return SCRIBE_BPF_AUTO;
}

const char *scribe_bpf_level_name(enum scribe_bpf_level level)
{
	const struct scribe_bpf_level_row *row = scribe_bpf_level_row(level);

	return row ? row->name : "auto";
}

/* 0: no such event, or no trace file system. */
static uint64_t event_number(const char *event)
{
	static const char *const roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	unsigned long long number = 0;

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]) && !number; i++) {
		char path[128];
		FILE *f;

		snprintf(path, sizeof(path), "%s/events/%s/id", roots[i], event);
		f = fopen(path, "re");
		if (f && fscanf(f, "%llu", &number) != 1)
			number = 0;
		if (f)
			fclose(f);
	}
	return number;
}

static int open_event(const char *event)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
				       .size = sizeof(attr),
				       .config = event_number(event),
				       .sample_period = 1,
				       .wakeup_events = 1};
	int fd;

	if (!attr.config)
		return -ENOENT;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int attach_event(const char *event, int fd)
{
	/* One event on any CPU is enough: the program runs on all of them. */
	int perf = open_event(event), link;

	if (perf < 0)
		return perf;
	link = bpf_link_create(fd, perf, BPF_PERF_EVENT, NULL);
	if (link < 0)
		link = -errno;
	close(perf);
	return link;
}

int scribe_bpf_level_event(const struct scribe_bpf_level_row *row)
{
	int fd = row->level == SCRIBE_BPF_TRACEPOINT ? open_event("raw_syscalls/sys_enter") : 0;

	if (fd > 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

bool scribe_bpf_level_fits(const struct scribe_bpf_level_row *row, const struct btf *btf)
{
	if (scribe_bpf_level_event(row) < 0)
		return false;
	return !row->kfunc || btf__find_by_name_kind(btf, row->kfunc, BTF_KIND_FUNC) > 0;
}

bool scribe_bpf_level_skips(const struct scribe_bpf_level_row *row, struct scribe_preempted preempted)
{
	return (preempted.calls && !row->whole) ||
	       (preempted.process_events && (row->probe_reads || !preempted.events));
}

static bool is_late(const struct scribe_bpf_level_row *row, struct scribe_preempted preempted)
{
	return preempted.calls || preempted.process_events ? scribe_bpf_level_skips(row, preempted) : row->whole;
}

const struct scribe_bpf_level_row *scribe_bpf_level_in_order(size_t i, struct scribe_preempted preempted)
{
	for (int late = 0; late < 2; late++)
		for (size_t row = 0; row < scribe_bpf_nlevels; row++)
			if (is_late(&scribe_bpf_levels[row], preempted) == late && i-- == 0)
				return &scribe_bpf_levels[row];
	return NULL;
}

/* A link's descriptor, or a negative errno. */
int scribe_bpf_attach_program(const char *program, int fd)
{
	static const struct {
		const char *program, *event;
	} events[] = {
		{"scribe_event_enter", "raw_syscalls/sys_enter"},
		{"scribe_event_exit", "raw_syscalls/sys_exit"},
		{"scribe_ev_fork", "sched/sched_process_fork"},
		{"scribe_ev_exec", "sched/sched_process_exec"},
		{"scribe_ev_own", "sched/sched_process_exec"},
		{"scribe_ev_end", "sched/sched_process_exit"},
		{"scribe_ev_sub", "io_uring/io_uring_submit_req"},
		{"scribe_ev_cqe", "io_uring/io_uring_complete"},
		{"scribe_ev_ovf", "io_uring/io_uring_cqe_overflow"},
		{"scribe_page_pause", "writeback/balance_dirty_pages"},
	};
	int link;

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (!strcmp(events[i].program, program))
			return attach_event(events[i].event, fd);
	link = bpf_raw_tracepoint_open(NULL, fd); /* the program names its raw tracepoint */
	return link < 0 ? -errno : link;
}

/* Number of parameters with the implicit first one; -1: no such tracepoint. */
static int tracepoint_params(const struct btf *btf, const char *name)
{
	char type_name[80];
	const struct btf_type *t;
	int id;

	snprintf(type_name, sizeof(type_name), "btf_trace_%s", name);
	id = btf__find_by_name_kind(btf, type_name, BTF_KIND_TYPEDEF);
	t = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
	t = t ? btf__type_by_id(btf, t->type) : NULL; /* pointer */
	t = t ? btf__type_by_id(btf, t->type) : NULL; /* function */
	return t && btf_is_func_proto(t) ? btf_vlen(t) : -1;
}

/* NULL: the tracepoint does not give the request (before Linux 5.17). */
static const char *uring_submit(const struct btf *btf)
{
	/* Name and arguments differ by version. */
	if (tracepoint_params(btf, "io_uring_submit_req") > 0)
		return "scribe_uring_sub"; /* 6.2 */
	switch (tracepoint_params(btf, "io_uring_submit_sqe")) {
	case 3:
		return "scribe_uring_sqe"; /* 6.0, 6.1 */
	case 8:
		return "scribe_uring_sqe2"; /* 5.17 to 5.19 */
	default:
		return NULL;
	}
}

/* All programs are marked "?", so none loads by default. */
static int choose(struct bpf_object *object, const char *program)
{
	struct bpf_program *p = bpf_object__find_program_by_name(object, program);

	return p ? bpf_program__set_autoload(p, true) : -ENOENT;
}

static int choose_uring(struct bpf_object *object, const struct btf *btf, bool events)
{
	const char *submit = uring_submit(btf), *done = "scribe_uring_res"; /* before 6.15 the result is an argument */
	int rc;

	if (!submit)
		return 0;
	if (tracepoint_params(btf, "io_uring_complete") == 4)
		done = "scribe_uring_cqe";
	rc = choose(object, events ? "scribe_ev_sub" : submit);
	if (rc == 0)
		rc = choose(object, events ? "scribe_ev_cqe" : done);
	if (rc == 0 && tracepoint_params(btf, "io_uring_cqe_overflow") == 6) /* 5.19 */
		rc = choose(object, events ? "scribe_ev_ovf" : "scribe_uring_ovf");
	return rc;
}

/* ---- the page cache ---- */

#define BIT(name)   (1u << SCRIBE_CACHE_##name)
#define F_BIT(name) (1u << (SCRIBE_CACHE_COUNT + SCRIBE_CACHE_F_##name))

/* The tracepoint, a structure's member that the program reads, and whether it runs where it can be preempted. */
static const struct {
	const char *program, *tracepoint, *type, *member;
	bool preemptible;
	uint32_t bits;
} cache_programs[] = {
	{"scribe_page_added", "mm_filemap_add_to_page_cache", "folio", NULL, false,
	 BIT(MAJOR_FAULTS) | BIT(BYTES_FAULTED)},
	{"scribe_page_dirty", "writeback_dirty_folio", "folio", NULL, false, BIT(MAPPED_BYTES_DIRTIED)},
	{"scribe_page_fault", "mm_filemap_fault", "address_space", "host", true, BIT(MINOR_FAULTS)},
	{"scribe_page_around", "mm_filemap_map_pages", "address_space", "host", true, BIT(MINOR_FAULTS)},
	{"scribe_page_pause", "balance_dirty_pages", "trace_event_raw_balance_dirty_pages", "pause", false,
	 F_BIT(THROTTLED_TIME)},
};
#define CACHE_PROGRAMS (sizeof(cache_programs) / sizeof(cache_programs[0]))

/* `member` NULL: whether there is the type. */
static bool has_member(const struct btf *btf, const char *type, const char *member)
{
	const int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
	const struct btf_member *m = t ? btf_members(t) : NULL;

	for (uint32_t i = 0; t && i < btf_vlen(t); i++)
		if (!member || !strcmp(btf__name_by_offset(btf, m[i].name_off), member))
			return true;
	return false;
}

uint32_t scribe_bpf_cache_choose(struct bpf_object *object, const struct btf *btf, struct scribe_preempted preempted,
				 bool events)
{
	uint32_t known, lacks = 0;

	if (!IOSCRIBE_MODULE_CACHE || !has_member(btf, "task_io_accounting", "read_bytes"))
		return 0;
	known = BIT(BYTES_FETCHED) | BIT(BYTES_DIRTIED) | BIT(READS_FETCHED) | BIT(DIRECT_BYTES_READ) |
		BIT(DIRECT_BYTES_WRITTEN) | F_BIT(FETCH_TIME);
	for (size_t i = 0; i < CACHE_PROGRAMS; i++) {
		if (events && !(cache_programs[i].preemptible && preempted.process_events) &&
		    has_member(btf, cache_programs[i].type, cache_programs[i].member) &&
		    tracepoint_params(btf, cache_programs[i].tracepoint) > 0 &&
		    choose(object, cache_programs[i].program) == 0)
			known |= cache_programs[i].bits;
		else
			lacks |= cache_programs[i].bits;
	}
	return known & ~lacks;
}

uint32_t scribe_bpf_cache_bits(const char *program)
{
	for (size_t i = 0; i < CACHE_PROGRAMS; i++)
		if (!strcmp(cache_programs[i].program, program))
			return cache_programs[i].bits;
	return 0;
}

int scribe_bpf_level_choose(const struct scribe_bpf_level_row *row, struct bpf_object *object, const struct btf *btf,
			    struct scribe_preempted preempted, bool nobody_joins)
{
	bool events = preempted.process_events && preempted.events && !row->probe_reads;
	const char *const own[] = {"scribe_sched_own", "scribe_ev_own"};
	const char *const exec[] = {"scribe_sched_exec", "scribe_ev_exec"};
	const char *const wanted[] = {
		row->enter_program, row->exit_program, events ? "scribe_ev_fork" : "scribe_sched_fork",
		(nobody_joins ? own : exec)[events], events ? "scribe_ev_end" : "scribe_sched_exit"};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(wanted) / sizeof(wanted[0]); i++)
		rc = choose(object, wanted[i]);
	return rc ? rc : choose_uring(object, btf, events);
}
