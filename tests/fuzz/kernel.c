/* SPDX-License-Identifier: BSD-3-Clause */
/* See kernel.h. */
#include "tests/fuzz/kernel.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "tests/fuzz/fuzz.h"

enum { EVENTS = 64, TEXT = 512 };

struct scribe_bpf {
	bool attached;
	struct scribe_proc proc[FUZZ_PROCS];
	struct scribe_slot slot[FUZZ_SLOTS];
	struct scribe_job_entry job[SCRIBE_JOBS_MAX];
	struct scribe_ledger ledger;
	uint32_t proc_id, generation, lost_job;
	struct {
		struct scribe_event e;
		char text[TEXT];
	} event[EVENTS];
	unsigned events;
	uint64_t taken;
};

static struct scribe_bpf kernel;
static bool is_open;
static unsigned failing;

void fuzz_kernel_reset(void)
{
	memset(&kernel, 0, sizeof(kernel));
	fuzz_hands(0, 0);
	fuzz_hands_file("", 0);
	is_open = false;
	failing = 0;
}

void fuzz_kernel_fail(unsigned what)
{
	failing = what;
}

static struct scribe_proc *living(int tgid)
{
	for (unsigned i = 1; i < FUZZ_PROCS; i++)
		if (kernel.proc[i].proc_id && kernel.proc[i].tgid == (uint32_t)tgid &&
		    !(kernel.proc[i].flags & SCRIBE_PF_EXITED))
			return &kernel.proc[i];
	return NULL;
}

bool fuzz_kernel_traces(int tgid)
{
	const struct scribe_proc *p = living(tgid);

	return p && p->job < SCRIBE_JOB_ORPHANED;
}

static void tell(struct scribe_event e, const void *text, uint32_t bytes)
{
	if (!is_open || kernel.events == EVENTS) {
		kernel.ledger.v[SCRIBE_L_EVENT_LOST]++;
		return;
	}
	e.text_bytes = bytes < TEXT ? bytes : TEXT;
	if (e.text_bytes)
		memcpy(kernel.event[kernel.events].text, text, e.text_bytes);
	kernel.event[kernel.events++].e = e;
}

static struct scribe_event event_of(const struct scribe_proc *p, unsigned type)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (struct scribe_event){
		.type = type,
		.proc_id = p->proc_id,
		.proc = (uint32_t)(p - kernel.proc),
		.tgid = p->tgid,
		.when_ns = (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec,
	};
}

static struct scribe_proc *appear(int tgid, uint32_t parent, uint32_t job, uint32_t uid)
{
	for (unsigned i = 1; i < FUZZ_PROCS; i++) {
		struct scribe_proc *p = &kernel.proc[i];

		if (p->proc_id)
			continue;
		*p = (struct scribe_proc){.proc_id = ++kernel.proc_id,
					  .parent_serial = parent,
					  .job = job,
					  .tgid = (uint32_t)tgid,
					  .uid = uid,
					  .threads = 1,
					  .comm = "fuzzed"};
		p->start_ns = event_of(p, 0).when_ns;
		kernel.job[job].proc_used++;
		return p;
	}
	return NULL;
}

void fuzz_kernel_fork(int tgid, int parent)
{
	const struct scribe_proc *of = living(parent);
	struct scribe_proc *p = of && !living(tgid) ? appear(tgid, of->proc_id, of->job, of->uid) : NULL;
	struct scribe_event e;

	if (!p)
		return;
	e = event_of(p, SCRIBE_EV_FORK);
	e.fork.parent = p->parent_serial;
	tell(e, NULL, 0);
}

void fuzz_kernel_join(int tgid, uint32_t job, uint32_t uid)
{
	struct scribe_proc *p;
	struct scribe_event e;

	if (job >= SCRIBE_JOB_ORPHANED || !kernel.job[job].active || kernel.job[job].uid != uid || living(tgid))
		return;
	p = appear(tgid, 0, job, uid);
	if (!p)
		return;
	p->flags |= SCRIBE_PF_JOINED;
	e = event_of(p, SCRIBE_EV_JOIN);
	e.join.job = job;
	tell(e, NULL, 0);
}

void fuzz_kernel_exec(int tgid, const char *argv, uint32_t bytes, bool hidden)
{
	struct scribe_proc *p = living(tgid);
	struct scribe_event e;

	if (!p)
		return;
	e = event_of(p, SCRIBE_EV_EXEC);
	p->exec_ns = e.when_ns;
	e.exec.flags = hidden ? SCRIBE_XF_HIDDEN : 0;
	tell(e, argv, bytes);
}

void fuzz_kernel_env(int tgid, const char *text, uint32_t bytes, bool last)
{
	struct scribe_proc *p = living(tgid);
	struct scribe_event e;

	if (!p)
		return;
	e = event_of(p, SCRIBE_EV_ENV);
	e.env.last = last;
	tell(e, text, bytes);
}

void fuzz_kernel_exit(int tgid, int status, bool told)
{
	struct scribe_proc *p = living(tgid);
	struct scribe_event e;

	if (!p)
		return;
	e = event_of(p, SCRIBE_EV_EXIT);
	e.exit.status = status;
	p->exit_code = status;
	p->exit_ns = e.when_ns;
	p->flags |= SCRIBE_PF_EXITED;
	if (told)
		tell(e, NULL, 0);
}

void fuzz_kernel_touch(int tgid, unsigned file, uint64_t bytes, unsigned kind, bool named)
{
	struct scribe_proc *p = living(tgid);
	struct scribe_slot *s = NULL;
	struct scribe_event e;
	char name[32];
	uint32_t at;

	if (!p || p->flags & SCRIBE_PF_NOT_RECORDED)
		return;
	for (at = p->head; at; at = kernel.slot[at].next)
		if (kernel.slot[at].ino == file && kernel.slot[at].state == SCRIBE_SLOT_LIVE)
			s = &kernel.slot[at];
	for (at = 1; !s && at < FUZZ_SLOTS; at++) {
		if (kernel.slot[at].state != SCRIBE_SLOT_FREE)
			continue;
		s = &kernel.slot[at];
		*s = (struct scribe_slot){.state = SCRIBE_SLOT_LIVE,
					  .kind = kind,
					  .proc_id = p->proc_id,
					  .ino = file,
					  .next = p->head,
					  .generation = ++kernel.generation,
					  .align = 4096};
		s->proc = (uint32_t)(p - kernel.proc);
		p->head = at;
		kernel.job[p->job].used++;
	}
	if (!s)
		return;
	s->shard.lock += 2;
	s->shard.events++;
	s->shard.ops[1]++;
	s->shard.bytes[1] += bytes;
	if (!named)
		return;
	e = event_of(p, SCRIBE_EV_NAME);
	e.name.slot = (uint32_t)(s - kernel.slot);
	e.name.generation = s->generation;
	e.name.chain_bytes = (uint32_t)snprintf(name, sizeof(name), "f%u/data", file);
	tell(e, name, e.name.chain_bytes);
}

void fuzz_kernel_stream(int tgid, uint32_t memory, uint32_t place)
{
	struct scribe_proc *p = living(tgid);
	struct scribe_event e;

	if (!p || !p->head)
		return;
	e = event_of(p, SCRIBE_EV_STREAM);
	e.stream.slot = p->head;
	e.stream.generation = kernel.slot[p->head].generation;
	e.stream.memory = memory;
	e.stream.index = place;
	e.stream.use = 1;
	tell(e, NULL, 0);
}

void fuzz_kernel_mapped(int tgid, uint32_t inode)
{
	struct scribe_proc *p = living(tgid);
	struct scribe_event e;

	if (!p)
		return;
	e = event_of(p, SCRIBE_EV_MAP);
	e.map.inode = inode;
	tell(e, NULL, 0);
}

void fuzz_kernel_lost(uint32_t job)
{
	kernel.ledger.v[SCRIBE_L_EVENT_LOST]++;
	kernel.lost_job = job;
}

/* ---- bpf/user/load.h ---- */

int scribe_bpf_open(const struct scribe_bpf_options *options, struct scribe_bpf **ret_bpf, struct scribe_err *err)
{
	if (failing & 1)
		return scribe_err_set(err, -EPERM, "no programs today");
	is_open = true;
	*ret_bpf = &kernel;
	return 0;
}

struct scribe_bpf *scribe_bpf_free(struct scribe_bpf *b)
{
	is_open = is_open && !b;
	return NULL;
}

struct scribe_bpf *scribe_bpf_close_keep_pins(struct scribe_bpf *b)
{
	return scribe_bpf_free(b);
}

int scribe_bpf_adopt(const char *pins, struct scribe_bpf **ret_bpf, struct scribe_err *err)
{
	return scribe_err_set(err, -ENOENT, "nothing is pinned");
}

int scribe_bpf_events_fd(const struct scribe_bpf *b)
{
	return -1;
}

void scribe_bpf_remove_pins(const char *pins)
{
}

int scribe_bpf_attach_processes(struct scribe_bpf *b, struct scribe_err *err)
{
	return 0;
}

int scribe_bpf_attach_calls(struct scribe_bpf *b, struct scribe_err *err)
{
	return scribe_bpf_attach(b, err);
}

bool scribe_bpf_calls_attached(const struct scribe_bpf *b)
{
	return b->attached;
}

void scribe_bpf_calls_complete(struct scribe_bpf *b, bool on)
{
}

bool scribe_bpf_detach_call(struct scribe_bpf *b)
{
	bool was = b->attached;

	b->attached = false;
	return was;
}

int scribe_bpf_attach(struct scribe_bpf *b, struct scribe_err *err)
{
	if (failing & 2)
		return scribe_err_set(err, -EBUSY, "no links today");
	b->attached = true;
	return 0;
}

enum scribe_bpf_level scribe_bpf_level_of(const char *name)
{
	return SCRIBE_BPF_AUTO;
}

bool scribe_bpf_attached(const struct scribe_bpf *b)
{
	return b->attached;
}

void scribe_bpf_detach(struct scribe_bpf *b)
{
	b->attached = false;
}

int scribe_bpf_set_job(struct scribe_bpf *b, uint32_t index, const struct scribe_job_entry *job)
{
	if (failing & 4)
		return -E2BIG;
	if (index >= SCRIBE_JOB_ORPHANED || job->variable_bytes >= SCRIBE_VARIABLE_MAX)
		return -EINVAL;
	b->job[index] = *job;
	return 0;
}

int scribe_job_set_variable(struct scribe_job_entry *job, const char *text)
{
	size_t n = strlen(text);

	if (!strchr(text, '=') || text[0] == '=' || n >= SCRIBE_VARIABLE_MAX)
		return -EINVAL;
	memcpy(job->variable, text, n);
	job->variable_bytes = (uint32_t)n;
	return 0;
}

void scribe_bpf_close_job(struct scribe_bpf *b, uint32_t index)
{
	b->job[index].active = 0;
}

void scribe_bpf_forget_job(struct scribe_bpf *b, uint32_t index)
{
	for (unsigned i = 1; i < FUZZ_PROCS; i++)
		if (b->proc[i].proc_id && b->proc[i].job == index) {
			b->proc[i].job = SCRIBE_JOB_ORPHANED;
			b->proc[i].flags |= SCRIBE_PF_DISABLED;
		}
	memset(&b->job[index], 0, sizeof(b->job[index]));
}

int scribe_bpf_exclude_top(struct scribe_bpf *b, const char *name, struct scribe_err *err)
{
	return strlen(name) < 32 ? 0 : scribe_err_set(err, -ENAMETOOLONG, "long");
}

void scribe_bpf_include_top(struct scribe_bpf *b, const char *name)
{
}

struct scribe_job_entry *scribe_bpf_job(struct scribe_bpf *b, uint32_t index)
{
	return b && index < SCRIBE_JOBS_MAX ? &b->job[index] : NULL;
}

int scribe_bpf_enrol(struct scribe_bpf *b, pid_t pid, uint32_t job, uint32_t *ret_index, uint32_t *ret_serial,
		     struct scribe_err *err)
{
	struct scribe_proc *p;

	if (pid < FUZZ_TGID || pid >= FUZZ_TGID + FUZZ_TGIDS || living(pid))
		return scribe_err_set(err, -ESRCH, "cannot enrol process %d", (int)pid);
	p = appear(pid, 0, job, 1000);
	if (!p)
		return scribe_err_set(err, -ENOSPC, "full");
	*ret_index = (uint32_t)(p - b->proc);
	*ret_serial = p->proc_id;
	return 0;
}

struct scribe_proc *scribe_bpf_proc(struct scribe_bpf *b, uint32_t index)
{
	return b && index < FUZZ_PROCS ? &b->proc[index] : NULL;
}

struct scribe_slot *scribe_bpf_slot(struct scribe_bpf *b, uint32_t index)
{
	return b && index < FUZZ_SLOTS ? &b->slot[index] : NULL;
}

int scribe_bpf_poll(struct scribe_bpf *b, int timeout_ms, scribe_event_fn fn, void *ctx)
{
	int n = 0;

	while (b->events) {
		struct scribe_event e = b->event[0].e;
		char text[TEXT];

		memcpy(text, b->event[0].text, sizeof(text));
		memmove(&b->event[0], &b->event[1], --b->events * sizeof(b->event[0]));
		b->taken += sizeof(e) + e.text_bytes;
		n++;
		if (fn(ctx, &e, text))
			break;
	}
	return n;
}

uint64_t scribe_bpf_position(const struct scribe_bpf *b)
{
	return b->taken;
}

uint64_t scribe_bpf_ring_bytes(const struct scribe_bpf *b, uint64_t *ret_most)
{
	(void)b;
	*ret_most = 0;
	return 0;
}

uint64_t scribe_bpf_taken(const struct scribe_bpf *b)
{
	return b->taken;
}

uint64_t scribe_bpf_put(const struct scribe_bpf *b)
{
	uint64_t put = b->taken;

	for (size_t i = 0; i < b->events; i++)
		put += sizeof(b->event[i].e) + b->event[i].e.text_bytes;
	return put;
}

void scribe_bpf_skip_to(struct scribe_bpf *b, uint64_t position)
{
}

enum how { LOOK, RETIRE };

static int walk(struct scribe_bpf *b, uint32_t proc, enum how how, scribe_slot_fn fn, void *ctx)
{
	struct scribe_proc *p = scribe_bpf_proc(b, proc);

	if (!p || !p->proc_id)
		return -EINVAL;
	for (uint32_t at = p->head; at; at = b->slot[at].next) {
		struct scribe_slot *s = &b->slot[at], copy = *s;
		struct scribe_slot_view v = {.index = at, .slot = &copy, .nshards = 1};
		int rc;

		if (s->state != SCRIBE_SLOT_LIVE)
			continue;
		if (how == RETIRE)
			s->state = SCRIBE_SLOT_RETIRED;
		v.shard[0] = &copy.shard;
		v.ext[0] = &copy.ext;
		v.part[0] = &copy;
		v.heat[0] = &copy.heat;
		rc = fn ? fn(ctx, &v) : 0;
		if (rc)
			return rc;
	}
	return 0;
}

int scribe_bpf_walk(struct scribe_bpf *b, uint32_t proc, struct scribe_bpf_walk *w, uint64_t until, scribe_slot_fn fn,
		    void *ctx)
{
	return walk(b, proc, LOOK, fn, ctx);
}

int scribe_bpf_give(struct scribe_bpf *b, uint32_t proc, const struct scribe_bpf_walk *w, uint64_t until_ns)
{
	return scribe_bpf_drain_and_free(b, proc, NULL, NULL);
}

/* No segments: what they are is decided before a message can say anything of it. */
int scribe_bpf_want_segbufs(struct scribe_bpf *b, uint32_t ahead)
{
	(void)b, (void)ahead;
	return 0;
}

void scribe_bpf_segbufs(struct scribe_bpf *b, scribe_segbuf_fn fn, void *ctx)
{
	(void)b, (void)fn, (void)ctx;
}

void scribe_bpf_segbufs_all(struct scribe_bpf *b, scribe_segbuf_fn fn, void *ctx)
{
	(void)b, (void)fn, (void)ctx;
}

void scribe_bpf_trace_job(struct scribe_bpf *b, uint32_t index, uint32_t flags, bool on)
{
	(void)b, (void)index, (void)flags, (void)on;
}

void scribe_bpf_trace_slots(struct scribe_bpf *b, uint32_t index, uint32_t flags, bool on)
{
	(void)b, (void)index, (void)flags, (void)on;
}

bool scribe_bpf_sync_begin(void)
{
	return true;
}

bool scribe_bpf_sync_done(void)
{
	return true;
}

int scribe_bpf_peek(struct scribe_bpf *b, uint32_t proc, uint32_t *slot, struct scribe_slot_copy *ret_copy)
{
	const struct scribe_proc *p = scribe_bpf_proc(b, proc);
	const struct scribe_slot *s = scribe_bpf_slot(b, *slot);

	if (!p || !p->proc_id || !s || !*slot || s->proc_id != p->proc_id)
		return -ENOENT;
	*slot = s->next;
	*ret_copy = (struct scribe_slot_copy){.kind = s->kind, .generation = s->generation, .events = s->shard.events};
	return s->state == SCRIBE_SLOT_LIVE;
}

int scribe_bpf_drain_live(struct scribe_bpf *b, uint32_t proc, scribe_slot_fn fn, void *ctx)
{
	return walk(b, proc, RETIRE, fn, ctx);
}

int scribe_bpf_drain_and_free(struct scribe_bpf *b, uint32_t proc, scribe_slot_fn fn, void *ctx)
{
	int rc = walk(b, proc, LOOK, fn, ctx);
	uint32_t at, next;

	if (rc)
		return rc;
	for (at = b->proc[proc].head; at; at = next) {
		next = b->slot[at].next;
		b->slot[at] = (struct scribe_slot){.generation = b->slot[at].generation};
		b->job[b->proc[proc].job].used--;
	}
	b->job[b->proc[proc].job].proc_used--;
	memset(&b->proc[proc], 0, sizeof(b->proc[proc]));
	return 0;
}

int scribe_bpf_ledger(struct scribe_bpf *b, uint32_t job, struct scribe_ledger *ret_ledger)
{
	*ret_ledger = job == b->lost_job ? b->ledger : (struct scribe_ledger){0};
	return 0;
}

int scribe_bpf_grow_value_tables(struct scribe_bpf *b)
{
	return 0;
}

void scribe_bpf_keep_growing(struct scribe_bpf *b)
{
}

uint64_t scribe_bpf_memory(struct scribe_bpf *b)
{
	return sizeof(*b);
}
