/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernel events: names, forks, executions, environments, exits. Feeds the world
 * model and the name table; must not know of logs or sockets.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logfmt/base/hash.h"
#include "runtime/daemon/attrs.h"
#include "runtime/daemon/daemon.h"
#include "runtime/daemon/jobenv.h"
#include "runtime/daemon/keep.h"
#include "runtime/daemon/libs.h"
#include "runtime/daemon/look.h"
#include "runtime/daemon/sources.h"
#include "runtime/daemon/streams.h"

#define SCRIBE_HIDDEN_EXE "<privileged>"
#define PROC_TEXT_MAX     (1u << 21) /* of a command line or environment read from /proc */

static void fill_from_proc(struct scribe_daemon *d, struct scribe_process *p, uint32_t index, int32_t tgid)
{
	struct scribe_proc *proc = scribe_bpf_proc(d->bpf, index);

	p->index = index;
	p->tgid = tgid;
	if (proc && proc->serial == p->serial) {
		p->uid = proc->uid;
		memcpy(p->comm, proc->comm, sizeof(p->comm));
		p->comm[sizeof(p->comm) - 1] = 0;
		if (!tgid)
			p->tgid = (int32_t)proc->tgid;
	}
	if (p->tgid && scribe_map_put(&d->by_tgid, (uint64_t)p->tgid, p) < 0)
		p->work->memory_out++;
}

/* A process that is new to its job. */
static struct scribe_process *appear(struct scribe_daemon *d, struct scribe_work *w, uint32_t index,
				     uint32_t serial, uint32_t parent, int32_t tgid, uint64_t when_ns)
{
	struct scribe_process *p = scribe_worlds_fork(&w->worlds, serial, parent, when_ns);

	if (!p) {
		w->memory_out++;
		return NULL;
	}
	p->work = w;
	fill_from_proc(d, p, index, tgid);
	scribe_keep_process(p);
	return p;
}

struct scribe_process *scribe_events_enrolled(struct scribe_daemon *d, struct scribe_work *w, uint32_t index,
					      uint32_t serial, pid_t pid)
{
	return appear(d, w, index, serial, 0, pid, scribe_now_ns());
}

/* The job of the process that an event speaks of: its entry knows, while it is its. */
static struct scribe_work *work_of(struct scribe_daemon *d, const struct scribe_event *e)
{
	const struct scribe_proc *proc = scribe_bpf_proc(d->bpf, e->proc);

	if (proc && proc->serial == e->serial)
		return proc->job < SCRIBE_JOBS_MAX ? d->work[proc->job] : NULL;
	for (struct scribe_work *w = d->works; w; w = w->next)
		if (scribe_worlds_find(&w->worlds, e->serial))
			return w;
	return NULL;
}

/* The process an event speaks of; made up from the shared table if its FORK was lost. */
static struct scribe_process *process_of(struct scribe_daemon *d, struct scribe_work *w,
					 const struct scribe_event *e)
{
	struct scribe_process *p = scribe_worlds_find(&w->worlds, e->serial);
	const struct scribe_proc *proc;

	if (p)
		return p;
	proc = scribe_bpf_proc(d->bpf, e->proc);
	if (!proc || proc->serial != e->serial)
		return NULL;
	return appear(d, w, e->proc, e->serial, proc->parent_serial, (int32_t)e->tgid, proc->start_ns);
}

static int open_root(const struct scribe_process *p)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root", p->tgid);
	return open(path, O_PATH | O_CLOEXEC | O_DIRECTORY);
}

/* Room for the names of all slots up to this one. */
static bool room_for(struct scribe_daemon *d, uint32_t index)
{
	struct scribe_slot_name *more;

	if (index < d->slots)
		return true;
	if (!scribe_bpf_slot(d->bpf, index))
		return false;
	more = realloc(d->slot, ((size_t)index + 1) * sizeof(*more));
	if (!more)
		return false;
	memset(more + d->slots, 0, ((size_t)index + 1 - d->slots) * sizeof(*more));
	d->slot = more;
	d->slots = index + 1;
	return true;
}

/* A name that is no path, as it stands. */
static size_t literal_name(const char *string, size_t bytes, char *path, size_t cap)
{
	if (bytes >= cap)
		bytes = cap - 1;
	memcpy(path, string, bytes);
	path[bytes] = 0;
	return strlen(path);
}

/* What follows the path of a file: ":/group/dataset". */
static size_t add_suffix(char *path, size_t bytes, size_t cap, const char *suffix, size_t n)
{
	if (n > cap - 1 - bytes)
		n = cap - 1 - bytes;
	memcpy(path + bytes, suffix, n);
	path[bytes + n] = 0;
	return bytes + strlen(path + bytes);
}

struct scribe_label *scribe_slot_label(const struct scribe_daemon *d, uint32_t slot, uint32_t birth)
{
	return slot < d->slots && d->slot[slot].birth == birth ? d->slot[slot].label : NULL;
}

void scribe_slot_name_set(struct scribe_daemon *d, struct scribe_work *w, uint32_t index, uint32_t birth,
			  struct scribe_label *label)
{
	if (!room_for(d, index))
		return;
	label->excluded = scribe_exclusions_match(&w->config.paths, label->text, label->bytes);
	d->slot[index] = (struct scribe_slot_name){birth, w->index, label};
	if (!label->excluded)
		scribe_judge_name(w, index, birth, label);
}

static void on_name(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_event *e,
		    const char *text)
{
	struct scribe_path_parts parts = {
		.chain = text,
		.chain_bytes = e->chain_bytes,
		.string = text + e->chain_bytes,
		.string_bytes = e->string_bytes,
		.has_string = e->flags & SCRIBE_NF_STRING,
		.cut = e->flags & SCRIBE_NF_CUT,
		.nofollow = e->flags & SCRIBE_NF_NOFOLLOW,
		.detached = e->flags & SCRIBE_NF_DETACHED,
	};
	char path[SCRIBE_NAME_ROOM];
	struct scribe_label *label;
	struct scribe_slot *slot;
	uint64_t file_id = 0;
	size_t bytes;

	if (!room_for(d, e->slot) || (uint64_t)e->chain_bytes + e->string_bytes > e->text_bytes)
		return;
	if (e->flags & SCRIBE_NF_SUFFIX && e->status > 0 && (uint32_t)e->status < e->string_bytes)
		parts.string_bytes -= (size_t)e->status; /* not part of the path: behind it later */
	bytes = scribe_path_join(&parts, path, sizeof(path));
	if (e->flags & SCRIBE_NF_BELOW) {
		label = scribe_slot_label(d, (uint32_t)e->status, e->tgid);
		if (!label)
			return;
		bytes = literal_name(label->text, label->bytes, path, sizeof(path));
		file_id = label->id;
		bytes = add_suffix(path, bytes, sizeof(path), ":", 1);
		bytes = add_suffix(path, bytes, sizeof(path), parts.string, parts.string_bytes);
	} else if (e->flags & SCRIBE_NF_LITERAL)
		bytes = literal_name(parts.string, parts.string_bytes, path, sizeof(path));
	else if (parts.has_string) {
		uint64_t missing = p->work->look.missing;
		int root = open_root(p);

		if (root < 0 && p->own_root_dir)
			root = d->root > 0 ? fcntl(d->root, F_DUPFD_CLOEXEC, 0)
					   : open("/", O_PATH | O_CLOEXEC | O_DIRECTORY);
		bytes = scribe_path_resolve(path, sizeof(path), root, parts.nofollow, scribe_look_open,
					    p->work);
		p->work->names_as_given += p->work->look.missing != missing;
		if (root >= 0)
			close(root);
	}
	if (parts.string_bytes < e->string_bytes) {
		file_id = scribe_record_id(path, bytes);
		bytes = add_suffix(path, bytes, sizeof(path), parts.string + parts.string_bytes,
				   e->string_bytes - parts.string_bytes);
	}
	label = scribe_labels_intern(&p->work->labels, path, bytes);
	if (!label) {
		p->work->memory_out++;
		return;
	}
	if (file_id)
		label->file_id = file_id;
	scribe_slot_name_set(d, p->work, e->slot, e->birth, label);
	scribe_keep_name(p->work, e->slot, e->birth, label);
	slot = scribe_bpf_slot(d->bpf, e->slot);
	if (slot && slot->birth == e->birth && slot->serial == e->serial && label->excluded)
		__atomic_fetch_or(&slot->flags, SCRIBE_SF_EXCLUDED, __ATOMIC_RELAXED);
	else if (p->own_root_dir) /* else its name means another file to the hand */
		scribe_attrs_want(p->work, label);
}

static bool same_file(const char *a, const char *b)
{
	const unsigned flags = AT_STATX_DONT_SYNC; /* whoever serves a root may not answer */
	struct statx x, y;

	return statx(AT_FDCWD, a, flags, STATX_INO, &x) == 0 && statx(AT_FDCWD, b, flags, STATX_INO, &y) == 0 &&
	       x.stx_dev_major == y.stx_dev_major && x.stx_dev_minor == y.stx_dev_minor && x.stx_ino == y.stx_ino;
}

static void look_at_root(const struct scribe_daemon *d, struct scribe_process *p)
{
	bool machine = d->root > 0;
	char root[64], mnt[64];

	snprintf(root, sizeof(root), "/proc/%d/root/", p->tgid);
	snprintf(mnt, sizeof(mnt), "/proc/%d/ns/mnt", p->tgid);
	if (access(root, F_OK) == 0)
		p->own_root_dir = same_file(root, machine ? "/proc/1/root/" : "/") &&
				  same_file(mnt, machine ? "/proc/1/ns/mnt" : "/proc/self/ns/mnt");
}

static void on_exec(struct scribe_daemon *d, struct scribe_process *p, const char *argv, size_t bytes)
{
	char link[64], exe[PATH_MAX];
	ssize_t n;

	fill_from_proc(d, p, p->index, p->tgid);
	snprintf(link, sizeof(link), "/proc/%d/exe", p->tgid);
	n = readlink(link, exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = 0;
	look_at_root(d, p);
	scribe_libs_exec(d, p);
	if (scribe_worlds_exec(&p->work->worlds, p, argv, bytes, n > 0 ? exe : NULL) < 0)
		p->work->memory_out++;
	scribe_judge_program(p);
	if (!p->env)
		p->env = malloc(sizeof(*p->env));
	if (p->env)
		scribe_envreader_begin(p->env);
	if (!p->jobenv && p->work->spec.id[0] && !p->work->told)
		p->jobenv = calloc(1, sizeof(*p->jobenv));
	scribe_keep_exec(p, argv, bytes, n > 0 ? exe : NULL);
}

/* It has gained privileges: its owner learns that it lives, and no more. */
static void on_hidden(struct scribe_process *p)
{
	static const char none[] = SCRIBE_HIDDEN_EXE;

	memset(p->comm, 0, sizeof(p->comm));
	if (scribe_worlds_exec(&p->work->worlds, p, none, sizeof(none), none) < 0)
		p->work->memory_out++;
	scribe_keep_exec(p, none, sizeof(none), none);
}

/* It wants no record: the kernel stops recording it and its children, what it did is dropped. */
static void disable(struct scribe_daemon *d, struct scribe_process *p)
{
	struct scribe_proc *proc = scribe_bpf_proc(d->bpf, p->index);

	p->disabled = true;
	if (proc && proc->serial == p->serial)
		__atomic_fetch_or(&proc->flags, SCRIBE_PF_DISABLED, __ATOMIC_RELAXED);
}

/* What a process's environment says of the job, if no other has said anything. */
static void end_jobenv(struct scribe_process *p)
{
	struct scribe_work *w = p->work;

	if (p->jobenv && !w->told && scribe_jobenv_says(p->jobenv)) {
		w->told = true;
		scribe_jobenv_apply(w, p->jobenv->text, p->jobenv->bytes);
		scribe_keep_settings(w, p->jobenv->text, p->jobenv->bytes);
		scribe_judge_program(p);
	}
	free(p->jobenv);
	p->jobenv = NULL;
}

static void feed_environment(struct scribe_process *p, const char *text, size_t bytes)
{
	if (p->env)
		scribe_envreader_feed(p->env, text, bytes);
	if (p->jobenv)
		scribe_jobenv_feed(p->jobenv, text, bytes);
}

static void end_environment(struct scribe_daemon *d, struct scribe_process *p)
{
	struct scribe_rankenv env;

	end_jobenv(p);
	if (!p->env)
		return;
	scribe_envreader_end(p->env, &env);
	free(p->env);
	p->env = NULL;
	if (env.disabled)
		disable(d, p);
	scribe_keep_env(p, &env);
	if (scribe_worlds_env(&p->work->worlds, p, &env) < 0)
		p->work->memory_out++;
}

/* What is known of it has been judged: its records are taken. */
static void end_now(struct scribe_daemon *d, struct scribe_process *p)
{
	scribe_clients_last_words(d, p);
	if (scribe_drain_exited(d, p) < 0)
		p->work->memory_out++;
	scribe_streams_forget(d, p);
	scribe_libs_ended(d);
	if (scribe_map_get(&d->by_tgid, (uint64_t)p->tgid) == p)
		scribe_map_take(&d->by_tgid, (uint64_t)p->tgid);
	scribe_keep_end(p, p->end_kind);
	scribe_sources_process_end(p);
	scribe_worlds_exit(&p->work->worlds, p, p->end_kind, p->status, p->end_ns);
}

static void on_end(struct scribe_daemon *d, struct scribe_process *p, int32_t status, uint64_t when,
		   enum scribe_process_end kind)
{
	if (p->ended || p->waits_for)
		return;
	end_environment(d, p);
	p->status = status;
	p->end_ns = when;
	p->end_kind = kind;
	if (!scribe_judge_keep_end(p))
		end_now(d, p);
}

void scribe_events_ends(struct scribe_work *w)
{
	for (struct scribe_process *p; (p = scribe_judge_ended(w));)
		end_now(w->daemon, p);
}

static enum scribe_process_end kind_of(int32_t status)
{
	return status & 0x7f ? SCRIBE_END_SIGNALLED : SCRIBE_END_EXITED;
}

/* The program that counted its streams has been replaced by another. */
static void end_streams(struct scribe_daemon *d, struct scribe_process *p, uint64_t when_ns)
{
	struct scribe_records *records;

	if (!scribe_map_get(&d->streams, p->serial))
		return;
	scribe_clients_last_words(d, p);
	records = scribe_drain_records(p);
	if (!records || scribe_streams_replaced(d, p, records, when_ns) < 0)
		p->work->memory_out++;
}

/* Whoever started a process that joins by itself may be the launcher of its world. */
static void look_above(struct scribe_process *p)
{
	char path[64], text[4096];
	unsigned above = 0;
	ssize_t n = -1;
	FILE *f;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", p->tgid);
	f = fopen(path, "re");
	if (!f)
		return;
	if (fgets(text, sizeof(text), f) && strrchr(text, ')'))
		(void)sscanf(strrchr(text, ')') + 1, " %*c %u", &above);
	fclose(f);
	snprintf(path, sizeof(path), "/proc/%u/cmdline", above);
	fd = above ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0) {
		n = read(fd, text, sizeof(text));
		close(fd);
	}
	if (n > 0) {
		scribe_worlds_above(p, text, (size_t)n);
		scribe_keep_above(p, text, (size_t)n);
	}
}

static int on_job_event(struct scribe_daemon *d, struct scribe_work *w, const struct scribe_event *e,
			const char *text)
{
	struct scribe_process *p;

	if (e->type == SCRIBE_EV_FORK) {
		appear(d, w, e->proc, e->serial, e->slot, (int32_t)e->tgid, e->when_ns);
		return 0;
	}
	if (e->type == SCRIBE_EV_JOIN) {
		p = appear(d, w, e->proc, e->serial, 0, (int32_t)e->tgid, e->when_ns);
		if (p && !w->first_serial)
			w->first_serial = e->serial;
		if (p)
			look_above(p);
		return 0;
	}
	p = process_of(d, w, e);
	if (!p || p->ended)
		return 0;
	switch (e->type) {
	case SCRIBE_EV_NAME:
		on_name(d, p, e, text);
		break;
	case SCRIBE_EV_MAP:
		scribe_libs_mapped(d, p, e->slot, (uint64_t)e->flags << 32 | e->birth, e->when_ns);
		break;
	case SCRIBE_EV_STREAM:
		scribe_streams_announced(d, p, e);
		break;
	case SCRIBE_EV_EXEC:
		end_environment(d, p);
		end_streams(d, p, e->when_ns);
		if (e->flags & SCRIBE_XF_HIDDEN)
			on_hidden(p);
		else
			on_exec(d, p, text, e->text_bytes);
		break;
	case SCRIBE_EV_ENV:
		feed_environment(p, text, e->text_bytes);
		if (e->flags & 1)
			end_environment(d, p);
		else
			scribe_keep_env(p, NULL);
		break;
	case SCRIBE_EV_EXIT:
		on_end(d, p, e->status, e->when_ns, kind_of(e->status));
		break;
	default:
		break;
	}
	return 0;
}

static int on_event(void *ctx, const struct scribe_event *e, const char *text)
{
	struct scribe_daemon *d = ctx;
	struct scribe_work *w;

	w = work_of(d, e);
	if (!w)
		return 0;
	on_job_event(d, w, e, text);
	scribe_keep_position(w, scribe_bpf_position(d->bpf));
	return 0;
}

int scribe_events_take(struct scribe_daemon *d)
{
	int n = d->bpf ? scribe_bpf_poll(d->bpf, 0, on_event, d) : 0;

	return n;
}

static char *read_proc_text(int32_t tgid, const char *what, size_t *ret_bytes)
{
	char path[64], *text = malloc(PROC_TEXT_MAX);
	size_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", tgid, what);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && text && n < PROC_TEXT_MAX) {
		ssize_t got = read(fd, text + n, PROC_TEXT_MAX - n);

		if (got <= 0)
			break;
		n += (size_t)got;
	}
	if (fd >= 0)
		close(fd);
	if (!n) {
		free(text);
		return NULL;
	}
	*ret_bytes = n;
	return text;
}

/* EXEC or ENV of this process may have been lost: read what the kernel still has. */
static void reread(struct scribe_daemon *d, struct scribe_process *p)
{
	size_t bytes;
	char *text = read_proc_text(p->tgid, "cmdline", &bytes);

	if (!text)
		return;
	on_exec(d, p, text, bytes);
	free(text);
	text = read_proc_text(p->tgid, "environ", &bytes);
	if (text)
		feed_environment(p, text, bytes);
	free(text);
	end_environment(d, p);
}

static void sweep_unit(struct scribe_daemon *d, struct scribe_unit *u, bool lost)
{
	struct scribe_process *p, *next;

	for (p = u->first; p; p = next) {
		struct scribe_proc *proc = scribe_bpf_proc(d->bpf, p->index);

		next = p->next;
		if (p->ended || !proc)
			continue;
		if (proc->serial != p->serial)
			on_end(d, p, 0, scribe_now_ns(), SCRIBE_END_LOST);
		else if (proc->flags & SCRIBE_PF_EXITED && !p->exit_seen)
			p->exit_seen = true; /* its event may still be in the ring */
		else if (proc->flags & SCRIBE_PF_EXITED)
			on_end(d, p, proc->exit_code, proc->exit_ns, kind_of(proc->exit_code));
		else if (lost && !(proc->flags & SCRIBE_PF_HIDDEN))
			reread(d, p);
	}
}

static void sweep_work(struct scribe_daemon *d, struct scribe_work *w)
{
	struct scribe_ledger ledger;
	uint64_t lost = 0;

	if (scribe_bpf_ledger(d->bpf, w->index, &ledger) == 0)
		lost = ledger.v[SCRIBE_L_EVENT_LOST] + ledger.v[SCRIBE_L_ENV_LOST];
	for (uint32_t i = 0; lost > w->lost_seen && i <= d->processes; i++) {
		struct scribe_proc *proc = scribe_bpf_proc(d->bpf, i);

		if (!proc)
			break;
		if (!proc->serial || proc->job != w->index || scribe_worlds_find(&w->worlds, proc->serial))
			continue;
		appear(d, w, i, proc->serial, proc->parent_serial, (int32_t)proc->tgid, proc->start_ns);
	}
	for (struct scribe_unit *u = w->worlds.units; u; u = u->next)
		if (!u->committed || w->over)
			sweep_unit(d, u, lost > w->lost_seen);
	w->lost_seen = lost;
}

void scribe_events_sweep(struct scribe_daemon *d)
{
	for (struct scribe_work *w = d->bpf ? d->works : NULL; w; w = w->next)
		sweep_work(d, w);
}
