// SPDX-License-Identifier: BSD-3-Clause
/*
 * Frames of the daemon's ring into messages. Owns the names and the job that frames have told, and for
 * each record of a rank the counters that messages give (so many of its operations, highest byte,
 * switches between reading and writing, time so far), as Darshan's connector counts them
 * (docs/streams.md). Runs in the process `ioscribe-publish`. Must not know rings, sinks or sockets.
 */
#include "util/publish/message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/base/hash.h"
#include "logfmt/counters/module.h"
#include "logfmt/file/names.h"
#include "logfmt/records/hashmap.h"
#include "util/text/quoted.h"
#include "util/text/shown_name.h"

#define NONE "N/A"

/* An open, as it was told; what is needed to tell it again. */
struct opened {
	struct scribe_publish_event event;
	uint64_t total_ns;
	int64_t cnt, flushes; /* cnt 0: there was none */
};

/* A record of a rank. */
struct running {
	int64_t opens, closes, reads, writes, flushes, switches, max_read, max_written;
	int64_t selects[4]; /* by enum scribe_publish_select */
	uint64_t meta_ns, read_ns, write_ns;
	int last; /* enum scribe_publish_op, -1 none */
	struct opened open;
};

struct name {
	uint32_t bytes;
	char text[];
};

struct scribe_messages {
	struct scribe_publish_job job;
	struct scribe_map names;   /* id -> struct name */
	struct scribe_map records; /* rank, id and module -> struct running */
	struct scribe_shown_name shown;
};

int scribe_messages_new(struct scribe_messages **ret, struct scribe_err *err)
{
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return scribe_err_set(err, -ENOMEM, "out of memory");
	return 0;
}

static void free_all(struct scribe_map *m)
{
	for (size_t i = 0; i < m->places; i++)
		free(m->entry[i].value);
	scribe_map_clear(m);
}

struct scribe_messages *scribe_messages_free(struct scribe_messages *m)
{
	if (!m)
		return NULL;
	free_all(&m->names);
	free_all(&m->records);
	scribe_shown_name_clear(&m->shown);
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
	const uint64_t key = scribe_hash64(words, sizeof(words), 0);
	struct running *r = scribe_map_get(&m->records, key);

	if (r)
		return r;
	r = calloc(1, sizeof(*r));
	if (!r || scribe_map_put(&m->records, key, r) < 0) {
		free(r);
		return NULL;
	}
	r->max_read = r->max_written = -1;
	r->last = -1;
	return r;
}

/* ---- a line ---- */

/* What differs between messages; -1 for numbers that one has not. */
struct line {
	const struct scribe_publish_event *e;
	uint64_t total_ns;
	int64_t max_byte, switches, flushes, cnt, off, len;
	int64_t points, irregular, regular, ndims, npoints;
	const char *op;
};

/* What most messages have not. */
static struct line line_of(const struct scribe_publish_event *e)
{
	return (struct line){.e = e,
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

static void put_text(struct scribe_messages *m, struct scribe_out *out, const char *key, uint64_t id)
{
	const struct name *n = id ? scribe_map_get(&m->names, id) : NULL;
	const char *text = n ? n->text : NULL;
	size_t len = n ? n->bytes : 0;

	text = scribe_shown_name(&m->shown, text, &len);
	scribe_out_printf(out, ",\"%s\":", key);
	if (text && len)
		scribe_json_string(out, text, len);
	else
		scribe_out_text(out, "\"" NONE "\"");
}

static void put_seconds(struct scribe_out *out, const char *key, uint64_t ns)
{
	scribe_out_printf(out, ",\"%s\":%" PRIu64 ".%06" PRIu64, key, ns / 1000000000, ns % 1000000000 / 1000);
}

static void put_line(struct scribe_messages *m, const struct line *l, struct scribe_out *out)
{
	/* the connector's name has no hyphen */
	const char *module =
		l->e->module == SCRIBE_MOD_MPIIO ? "MPIIO" : scribe_module_by_id(l->e->module)->name;
	const bool is_open = l->e->op == SCRIBE_PUBLISH_OPEN;

	scribe_out_printf(out, "{\"schema\":\"%s\",\"uid\":%u", is_open ? "darshan_data" : NONE, m->job.uid);
	put_text(m, out, "exe", is_open ? l->e->exe : 0);
	scribe_out_printf(out, ",\"job_id\":%" PRId64 ",\"rank\":%" PRId64 ",\"ProducerName\":", m->job.number,
			  l->e->rank);
	scribe_json_string(out, m->job.node, strnlen(m->job.node, sizeof(m->job.node)));
	put_text(m, out, "file", is_open ? l->e->id : 0);
	scribe_out_printf(out,
			  ",\"record_id\":%" PRIu64 ",\"module\":\"%s\",\"type\":\"%s\",\"max_byte\":%" PRId64
			  ",\"switches\":%" PRId64 ",\"flushes\":%" PRId64 ",\"cnt\":%" PRId64
			  ",\"op\":\"%s\",\"seg\":[{\"pt_sel\":%" PRId64 ",\"irreg_hslab\":%" PRId64
			  ",\"reg_hslab\":%" PRId64 ",\"ndims\":%" PRId64 ",\"npoints\":%" PRId64
			  ",\"off\":%" PRId64 ",\"len\":%" PRId64,
			  l->e->id, module, is_open ? "MET" : "MOD", l->max_byte, l->switches, l->flushes, l->cnt,
			  l->op, l->points, l->irregular, l->regular, l->ndims, l->npoints, l->off, l->len);
	put_seconds(out, "start", l->e->start_ns > l->e->base_ns ? l->e->start_ns - l->e->base_ns : 0);
	put_seconds(out, "dur", l->e->end_ns - l->e->start_ns);
	put_seconds(out, "total", l->total_ns);
	put_seconds(out, "timestamp", l->e->end_ns + (uint64_t)m->job.realtime_ns);
	scribe_out_text(out, "}]}\n");
}

static void put_open(struct scribe_messages *m, const struct opened *o, struct scribe_out *out)
{
	struct line l = line_of(&o->event);

	l.total_ns = o->total_ns;
	l.flushes = o->flushes;
	l.cnt = o->cnt;
	l.op = "open";
	put_line(m, &l, out);
}

void scribe_messages_opens(struct scribe_messages *m, struct scribe_out *out)
{
	for (size_t i = 0; i < m->records.places; i++) {
		const struct running *r = m->records.entry[i].value;

		if (r && r->open.cnt)
			put_open(m, &r->open, out);
	}
}

/* ---- operations ---- */

/* HDF5 alone has flushes. */
static int64_t flushes_of(const struct running *r, const struct scribe_publish_event *e)
{
	return e->module == SCRIBE_MOD_H5F || e->module == SCRIBE_MOD_H5D ? r->flushes : -1;
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
	struct line l = line_of(e);

	r->meta_ns += e->end_ns - e->start_ns;
	l.total_ns = r->meta_ns;
	l.flushes = flushes_of(r, e);
	l.cnt = ++r->closes;
	l.op = "close";
	put_line(m, &l, out);
}

static void on_data(struct scribe_messages *m, struct running *r, const struct scribe_publish_event *e,
		    struct scribe_out *out)
{
	const bool is_write = e->op == SCRIBE_PUBLISH_WRITE;
	uint64_t *spent = is_write ? &r->write_ns : &r->read_ns;
	int64_t *most = is_write ? &r->max_written : &r->max_read, last = e->offset + (int64_t)e->length - 1;
	struct line l = line_of(e);

	*spent += e->end_ns - e->start_ns;
	r->switches += r->last >= 0 && r->last != (int)e->op;
	r->last = (int)e->op;
	if (e->offset >= 0 && last > *most)
		*most = last;
	l.total_ns = *spent;
	l.op = is_write ? "write" : "read";
	l.cnt = is_write ? ++r->writes : ++r->reads;
	l.switches = r->switches;
	l.flushes = flushes_of(r, e);
	l.max_byte = e->module == SCRIBE_MOD_POSIX ? *most : -1;
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
	put_line(m, &l, out);
}

static int take_event(struct scribe_messages *m, const struct scribe_publish_event *e, struct scribe_out *out)
{
	struct running *r;

	if (!scribe_module_by_id(e->module))
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
		on_data(m, r, e, out);
		return 1;
	}
}

int scribe_messages_take(struct scribe_messages *m, const struct scribe_publish_frame *frame, struct scribe_out *out)
{
	switch (frame->type) {
	case SCRIBE_PUBLISH_JOB:
		memcpy(&m->job, frame, sizeof(m->job));
		return 0;
	case SCRIBE_PUBLISH_NAME_OF:
		return take_name(m, (const void *)frame);
	case SCRIBE_PUBLISH_EVENT:
		return take_event(m, (const void *)frame, out);
	default:
		return 0;
	}
}
