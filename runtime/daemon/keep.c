/* SPDX-License-Identifier: BSD-3-Clause */
/* What is noted of a job; keep_resume.c reads it. */
#include "runtime/daemon/keep.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/daemon/keep_entries.h"
#include "runtime/daemon/service.h"

int scribe_keep_path(const struct scribe_daemon *d, uint32_t index, char *ret_path, size_t cap)
{
	int n = snprintf(ret_path, cap, "%s/state/%u", d->service->dir, index);

	return n < 0 || (size_t)n >= cap ? -ENAMETOOLONG : 0;
}

static void put_pieces(struct scribe_work *w, enum scribe_keep_type type,
		       const struct scribe_journal_piece *piece, unsigned n)
{
	if (!w || !scribe_journal_is_open(&w->journal) || scribe_journal_is_broken(&w->journal))
		return;
	if (scribe_journal_put(&w->journal, type, piece, n) < 0)
		fprintf(stderr,
			"ioscribed: job %s: its journal cannot grow beyond %llu MiB: should this daemon die, "
			"its log will be incomplete\n",
			w->spec.id, (unsigned long long)(w->journal.bytes >> 20));
}

static void put(struct scribe_work *w, enum scribe_keep_type type, const void *head, size_t head_bytes,
		const void *text, size_t bytes)
{
	struct scribe_journal_piece piece[2] = {{head, head_bytes}, {text, bytes}};

	put_pieces(w, type, piece, 2);
}

void scribe_keep_begin(struct scribe_work *w, const struct scribe_client *c, const char *text, size_t bytes)
{
	struct scribe_keep_begin head = {.uid = c->uid,
					 .gid = c->gid,
					 .pid = c->pid,
					 .run = !w->spec.id[0],
					 .ticks = w->caller_ticks,
					 .begun_ns = w->begun_ns,
					 .realtime_ns = w->realtime_ns};
	struct scribe_daemon *d = w->daemon;
	char path[160];
	int rc;

	if (!d->service || !d->service->pin || scribe_keep_path(d, w->index, path, sizeof(path)) < 0)
		return;
	unlink(path);
	rc = scribe_journal_create(&w->journal, path, scribe_keep_layout());
	if (rc < 0)
		fprintf(stderr, "ioscribed: %s: %s: job %s will not survive this daemon\n", path,
			strerror(-rc), w->spec.id);
	put(w, SCRIBE_KEEP_BEGIN, &head, sizeof(head), text, bytes);
}

void scribe_keep_process(struct scribe_process *p)
{
	struct scribe_keep_process head = {.serial = p->serial,
					   .parent = p->parent_serial,
					   .index = p->index,
					   .tgid = p->tgid,
					   .uid = p->uid,
					   .start_ns = p->start_ns};

	memcpy(head.comm, p->comm, sizeof(head.comm));
	put(p->work, SCRIBE_KEEP_PROCESS, &head, sizeof(head), NULL, 0);
}

void scribe_keep_name(struct scribe_work *w, uint32_t slot, uint32_t birth, const struct scribe_label *label)
{
	struct scribe_keep_name head = {.slot = slot, .birth = birth, .file_id = label->file_id};

	put(w, SCRIBE_KEEP_NAME, &head, sizeof(head), label->text, label->bytes);
}

void scribe_keep_exec(struct scribe_process *p, const char *argv, size_t bytes, const char *exe)
{
	struct scribe_keep_exec head = {.serial = p->serial,
					.own_root_dir = p->own_root_dir,
					.exe_bytes = exe ? (uint32_t)strlen(exe) : 0};
	struct scribe_journal_piece piece[3] = {{&head, sizeof(head)}, {exe, head.exe_bytes}, {argv, bytes}};

	memcpy(head.comm, p->comm, sizeof(head.comm));
	put_pieces(p->work, SCRIBE_KEEP_EXEC, piece, 3);
}

void scribe_keep_above(struct scribe_process *p, const char *argv, size_t bytes)
{
	put(p->work, SCRIBE_KEEP_ABOVE, &p->serial, sizeof(p->serial), argv, bytes);
}

void scribe_keep_env(struct scribe_process *p, const struct scribe_rankenv *env)
{
	struct scribe_keep_env head = {.serial = p->serial, .disabled = p->disabled};

	if (env)
		put(p->work, SCRIBE_KEEP_ENV, &head, sizeof(head), env, sizeof(*env));
	else if (p->env)
		put(p->work, SCRIBE_KEEP_READER, &head, sizeof(head), p->env, sizeof(*p->env));
}

void scribe_keep_record(struct scribe_process *p, const struct scribe_slot_view *v, bool lives)
{
	static uint64_t room[(scribe_pack_room(sizeof(struct scribe_slot)) +
			      2 * scribe_pack_room(sizeof(struct scribe_value_table))) /
			     8 * 4];
	struct scribe_keep_record head = {
		.serial = p->serial, .slot = v->index, .parts = v->nparts, .lives = lives};
	char *at = (char *)room;
	struct scribe_slot slot;

	if (!scribe_journal_is_open(&p->work->journal))
		return;
	slot = *v->slot;
	for (unsigned i = 0; i < v->nparts; i++) {
		/* the first part is the slot's own; further ones need only their counters */
		if (i)
			memset(&slot, 0, sizeof(slot));
		slot.ext = *v->ext[i];
		slot.part = *v->part[i];
		head.tables[i] = (v->access[i] ? 1 : 0) | (v->stride[i] ? 2 : 0);
		at += scribe_pack(&slot, sizeof(slot), at);
		if (v->access[i])
			at += scribe_pack(v->access[i], sizeof(*v->access[i]), at);
		if (v->stride[i])
			at += scribe_pack(v->stride[i], sizeof(*v->stride[i]), at);
	}
	put(p->work, SCRIBE_KEEP_RECORD, &head, sizeof(head), room, (size_t)(at - (char *)room));
}

void scribe_keep_place(struct scribe_process *p, const struct scribe_stream_use *use, uint32_t slot,
		       uint32_t birth)
{
	struct scribe_keep_place head = {.serial = p->serial, .use = *use, .slot = slot, .birth = birth};

	put(p->work, SCRIBE_KEEP_PLACE, &head, sizeof(head), NULL, 0);
}

void scribe_keep_stream(struct scribe_process *p, const struct scribe_stream_use *use, uint64_t id,
			const struct scribe_stream *s, const struct scribe_stream_more *more)
{
	static uint64_t room[(scribe_pack_room(sizeof(s->part[0])) + scribe_pack_room(sizeof(more->ext[0])) +
			      scribe_pack_room(sizeof(more->access[0]))) /
			     8 * SCRIBE_STREAM_PARTS];
	struct scribe_keep_stream head = {.serial = p->serial, .use = *use, .id = id};
	char *at = (char *)room;

	if (!scribe_journal_is_open(&p->work->journal))
		return;
	for (int i = SCRIBE_PART_OWN; i <= SCRIBE_PART_OTHERS; i++) {
		at += scribe_pack(&s->part[i], sizeof(s->part[i]), at);
		if (!use->file)
			continue;
		at += scribe_pack(&more->ext[i], sizeof(more->ext[i]), at);
		at += scribe_pack(&more->access[i], sizeof(more->access[i]), at);
	}
	put(p->work, SCRIBE_KEEP_STREAM, &head, sizeof(head), room, (size_t)(at - (char *)room));
}

void scribe_keep_drained(struct scribe_process *p, uint64_t records)
{
	struct scribe_keep_drained head = {
		.serial = p->serial, .records = records, .folded_files = p->totals.folded_files};

	put(p->work, SCRIBE_KEEP_DRAINED, &head, sizeof(head), NULL, 0);
}

void scribe_missed(const struct scribe_process *p, uint64_t modules, const char *why)
{
	struct scribe_keep_missed head = {.serial = p->serial, .modules = modules};

	if (!(modules & ~p->unit->missed))
		return;
	p->unit->missed |= modules;
	if (!p->unit->why[0])
		snprintf(p->unit->why, sizeof(p->unit->why), "%s", why);
	put(p->work, SCRIBE_KEEP_MISSED, &head, sizeof(head), NULL, 0);
}

void scribe_keep_end(struct scribe_process *p, enum scribe_process_end kind)
{
	struct scribe_keep_end head = {
		.serial = p->serial, .kind = kind, .status = p->status, .end_ns = p->end_ns};

	put(p->work, SCRIBE_KEEP_END, &head, sizeof(head), NULL, 0);
}

void scribe_keep_hello(struct scribe_process *p, int64_t rank, int64_t size, const char *name)
{
	struct scribe_keep_hello head = {.serial = p->serial, .rank = rank, .size = size};

	snprintf(head.name, sizeof(head.name), "%s", name ? name : "");
	put(p->work, SCRIBE_KEEP_HELLO, &head, sizeof(head), NULL, 0);
}

void scribe_keep_settings(struct scribe_work *w, const char *lines, size_t bytes)
{
	put(w, SCRIBE_KEEP_SETTINGS, lines, bytes, NULL, 0);
}

void scribe_keep_ending(struct scribe_work *w)
{
	put(w, SCRIBE_KEEP_ENDING, &w->ending_deadline_ns, sizeof(w->ending_deadline_ns), NULL, 0);
}

void scribe_keep_committed(struct scribe_work *w, const struct scribe_unit *u, const struct scribe_msg_log *m)
{
	put(w, SCRIBE_KEEP_COMMITTED, &u->id, sizeof(u->id), m, m ? sizeof(*m) : 0);
}

void scribe_keep_position(struct scribe_work *w, uint64_t position)
{
	if (scribe_journal_is_open(&w->journal) && !scribe_journal_is_broken(&w->journal))
		__atomic_store_n(&w->journal.head->position, position, __ATOMIC_RELEASE);
}

void scribe_keep_forget(struct scribe_work *w)
{
	char path[160];

	if (!scribe_journal_is_open(&w->journal))
		return;
	scribe_journal_close(&w->journal);
	if (scribe_keep_path(w->daemon, w->index, path, sizeof(path)) == 0)
		unlink(path);
}
