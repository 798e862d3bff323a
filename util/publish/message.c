// SPDX-License-Identifier: BSD-3-Clause
/*
 * Converts frames of the daemon's ring to messages. Owns names, the job, and per record of a rank the counters
 * of Darshan's connector (docs/streams.md). Must not know rings, sinks or sockets.
 */
#include "util/publish/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/base/clock.h"
#include "logfmt/base/keyed.h"
#include "logfmt/counters/module.h"
#include "logfmt/records/hashmap.h"
#include "util/publish/message_line.h"
#include "util/text/shown_name.h"

#define SECOND_NS 1000000000ull

/* The last open. */
struct opened {
	struct scribe_publish_event event;
	uint64_t total_ns;
	int64_t cnt, flushes; /* cnt 0: none */
};

struct running {
	struct running *next;
	int64_t opens, closes, reads, writes, flushes, switches, max_read, max_written;
	int64_t selects[4]; /* index: enum scribe_publish_select */
	uint64_t meta_ns, read_ns, write_ns;
	int last; /* enum scribe_publish_op; -1: none */
	struct opened open;
};

struct name {
	uint32_t bytes;
	char text[];
};

struct scribe_messages {
	struct scribe_publish_job job;
	struct scribe_map names;        /* id -> struct name */
	struct scribe_map records;      /* rank, id and module -> struct running */
	struct running *first, *latest; /* list in order of appearance */
	struct scribe_shown_name exe, file;
	struct scribe_sink_options options;
	uint64_t second; /* current second of --rate, and its reads and writes */
	uint32_t in_second;
	uint64_t since_us; /* since 1970; identifies the stream in totals */
	uint64_t sent, skipped, reported_sent, reported_skipped,
		reported_lost; /* operations; reported_: in the last totals */
};

int scribe_messages_new(struct scribe_messages **ret, const struct scribe_sink_options *options, struct scribe_err *err)
{
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return scribe_err_set(err, -ENOMEM, "out of memory");
	(*ret)->options = *options;
	return 0;
}

static void free_all(struct scribe_map *m)
{
	for (size_t i = 0; i < m->buckets; i++)
		free(m->entry[i].value);
	scribe_map_clear(m);
}

struct scribe_messages *scribe_messages_free(struct scribe_messages *m)
{
	if (!m)
		return NULL;
	free_all(&m->names);
	free_all(&m->records);
	scribe_shown_name_clear(&m->exe);
	scribe_shown_name_clear(&m->file);
	free(m);
	return NULL;
}

static int take_name(struct scribe_messages *m, const struct scribe_publish_name *f)
{
	struct name *n;

	if (scribe_map_get(&m->names, f->id))
		return 0;
	n = malloc(sizeof(*n) + f->bytes);
	if (!n)
		return -ENOMEM;
	n->bytes = f->bytes;
	memcpy(n->text, f->text, f->bytes);
	if (scribe_map_put(&m->names, f->id, n) == 0)
		return 0;
	free(n);
	return -ENOMEM;
}

static struct running *running_of(struct scribe_messages *m, const struct scribe_publish_event *e)
{
	const uint64_t words[] = {(uint64_t)e->rank, e->id, e->module};
	const uint64_t key = scribe_keyed(words, sizeof(words));
	struct running *r = scribe_map_get(&m->records, key);

	if (r)
		return r;
	r = calloc(1, sizeof(*r));
	if (!r || scribe_map_put(&m->records, key, r) < 0) {
		free(r);
		return NULL;
	}
	*(m->latest ? &m->latest->next : &m->first) = r;
	m->latest = r;
	r->max_read = r->max_written = -1;
	r->last = -1;
	return r;
}

static struct scribe_message_line line_of(const struct scribe_publish_event *e)
{
	return (struct scribe_message_line){.e = e,
					    .max_byte = -1,
					    .switches = -1,
					    .flushes = -1,
					    .off = -1,
					    .len = -1,
					    .points = -1,
					    .irregular = -1,
					    .regular = -1,
					    .ndims = -1,
					    .npoints = -1};
}

static const char *name_of(const struct scribe_messages *m, uint64_t id, size_t *ret_bytes)
{
	const struct name *n = id ? scribe_map_get(&m->names, id) : NULL;

	*ret_bytes = n ? n->bytes : 0;
	return n ? n->text : NULL;
}

static void put_line(struct scribe_messages *m, struct scribe_message_line *l, struct scribe_out *out)
{
	l->job = &m->job;
	if (l->e->op == SCRIBE_PUBLISH_OPEN) {
		l->exe = name_of(m, l->e->exe, &l->exe_bytes);
		l->file = name_of(m, l->e->id, &l->file_bytes);
	}
	if (m->options.is_csv) {
		scribe_message_csv(out, l);
		return;
	}
	l->exe = scribe_sent_name(&m->exe, l->exe, &l->exe_bytes);
	l->file = scribe_sent_name(&m->file, l->file, &l->file_bytes);
	scribe_message_json(out, l);
}

static void put_open(struct scribe_messages *m, const struct opened *o, struct scribe_out *out)
{
	struct scribe_message_line l = line_of(&o->event);

	l.total_ns = o->total_ns;
	l.flushes = o->flushes;
	l.cnt = o->cnt;
	l.op = "open";
	put_line(m, &l, out);
}

void scribe_messages_begin(struct scribe_messages *m, bool again, struct scribe_out *out)
{
	if (m->options.is_csv)
		scribe_message_csv_header(out);
	if (!again)
		return;
	for (const struct running *r = m->first; r; r = r->next)
		if (r->open.cnt)
			put_open(m, &r->open, out);
}

static void put_total(struct scribe_messages *m, const char *op, uint64_t total, struct scribe_out *out)
{
	const uint64_t now = scribe_now_ns();
	const struct scribe_publish_event e = {.id = m->since_us,
					       .rank = -1,
					       .start_ns = now,
					       .end_ns = now,
					       .base_ns = now,
					       .op = SCRIBE_PUBLISH_FLUSH};
	struct scribe_message_line l = line_of(&e);

	l.module = "STREAM";
	l.op = op;
	l.cnt = (int64_t)total;
	put_line(m, &l, out);
}

void scribe_messages_totals(struct scribe_messages *m, uint64_t lost, bool last, struct scribe_out *out)
{
	if (!m->job.frame.bytes || !(lost | m->skipped | m->sent))
		return;
	if (!m->since_us)
		m->since_us = (scribe_now_ns() + (uint64_t)m->job.realtime_ns) / 1000;
	if (lost != m->reported_lost)
		put_total(m, "lost", lost, out);
	if (m->skipped != m->reported_skipped)
		put_total(m, "skipped", m->skipped, out);
	if (m->sent != m->reported_sent || last)
		put_total(m, last ? "end" : "sent", m->sent, out);
	m->reported_lost = lost;
	m->reported_skipped = m->skipped;
	m->reported_sent = m->sent;
}

/* -1: not applicable. */
static int64_t flushes_of(const struct running *r, const struct scribe_publish_event *e)
{
	const bool of_stream =
		e->module == SCRIBE_MOD_STDIO && (e->op == SCRIBE_PUBLISH_WRITE || e->op == SCRIBE_PUBLISH_CLOSE);

	return e->module == SCRIBE_MOD_H5F || e->module == SCRIBE_MOD_H5D || of_stream ? r->flushes : -1;
}

static void on_open(struct scribe_messages *m, struct running *r, const struct scribe_publish_event *e,
		    struct scribe_out *out)
{
	r->meta_ns += e->end_ns - e->start_ns;
	r->open = (struct opened){*e, r->meta_ns, ++r->opens, flushes_of(r, e)};
	put_open(m, &r->open, out);
}

static void on_close(struct scribe_messages *m, struct running *r, const struct scribe_publish_event *e,
		     struct scribe_out *out)
{
	struct scribe_message_line l = line_of(e);

	r->meta_ns += e->end_ns - e->start_ns;
	l.total_ns = r->meta_ns;
	l.flushes = flushes_of(r, e);
	l.cnt = ++r->closes;
	l.op = "close";
	put_line(m, &l, out);
}

static bool is_sent(struct scribe_messages *m, int64_t cnt, uint64_t end_ns)
{
	const struct scribe_sink_options *o = &m->options;

	/* every: per record, for reads and writes separately; rate: all records together. */
	if (o->every > 1 && cnt % o->every != 1)
		return false;
	if (!o->rate)
		return true;
	if (end_ns / SECOND_NS != m->second) {
		m->second = end_ns / SECOND_NS;
		m->in_second = 0;
	}
	return m->in_second++ < o->rate;
}

static int on_data(struct scribe_messages *m, struct running *r, const struct scribe_publish_event *e,
		   struct scribe_out *out)
{
	const bool is_write = e->op == SCRIBE_PUBLISH_WRITE;
	uint64_t *spent = is_write ? &r->write_ns : &r->read_ns;
	int64_t *most = is_write ? &r->max_written : &r->max_read,
		last = (int64_t)((uint64_t)e->offset + e->length - 1);
	struct scribe_message_line l = line_of(e);

	*spent += e->end_ns - e->start_ns;
	r->switches += r->last >= 0 && r->last != (int)e->op;
	r->last = (int)e->op;
	if (e->offset >= 0 && last > *most)
		*most = last;
	l.total_ns = *spent;
	l.op = is_write ? "write" : "read";
	l.cnt = is_write ? ++r->writes : ++r->reads;
	l.switches = e->module == SCRIBE_MOD_STDIO ? -1 : r->switches;
	l.flushes = flushes_of(r, e);
	l.max_byte = e->module == SCRIBE_MOD_POSIX || e->module == SCRIBE_MOD_STDIO ? *most : -1;
	l.off = e->offset;
	l.len = (int64_t)e->length;
	if (e->module == SCRIBE_MOD_H5D) {
		r->selects[e->select & 3]++;
		l.points = r->selects[SCRIBE_PUBLISH_SELECT_POINTS];
		l.irregular = r->selects[SCRIBE_PUBLISH_SELECT_IRREGULAR];
		l.regular = r->selects[SCRIBE_PUBLISH_SELECT_REGULAR];
		l.ndims = e->ndims;
		l.npoints = e->npoints;
	}
	if (!is_sent(m, l.cnt, e->end_ns)) {
		m->skipped++;
		return 0;
	}
	put_line(m, &l, out);
	return 1;
}

static int take_event(struct scribe_messages *m, const struct scribe_publish_event *e, struct scribe_out *out)
{
	struct running *r;

	if (!scribe_module_by_id(e->module) || e->module >= 64 || !(m->options.modules >> e->module & 1))
		/* other modules are not counted at all, not even as skipped */
		return 0;
	r = running_of(m, e);
	if (!r)
		return -ENOMEM;
	switch (e->op) {
	case SCRIBE_PUBLISH_OPEN:
		on_open(m, r, e, out);
		return 1;
	case SCRIBE_PUBLISH_CLOSE:
		on_close(m, r, e, out);
		return 1;
	case SCRIBE_PUBLISH_FLUSH:
		r->flushes++;
		return 0;
	default:
		return on_data(m, r, e, out);
	}
}

int scribe_messages_take(struct scribe_messages *m, const struct scribe_publish_frame *frame, struct scribe_out *out)
{
	int rc;

	switch (frame->type) {
	case SCRIBE_PUBLISH_JOB:
		memcpy(&m->job, frame, sizeof(m->job));
		return 0;
	case SCRIBE_PUBLISH_NAME_OF:
		return take_name(m, (const void *)frame);
	case SCRIBE_PUBLISH_EVENT:
		rc = take_event(m, (const void *)frame, out);
		m->sent += rc > 0;
		return rc;
	default:
		return 0;
	}
}
