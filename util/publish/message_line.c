// SPDX-License-Identifier: BSD-3-Clause
/* Messages of Darshan's connector as JSON, and as LDMS's CSV. Must not know where values come from. */
#include "util/publish/message_line.h"

#include <inttypes.h>
#include <string.h>

#include "logfmt/counters/module.h"
#include "util/text/quoted.h"

#define NONE "N/A"

static const char *module_of(const struct scribe_message_line *l)
{
	if (l->module)
		return l->module;
	return l->e->module == SCRIBE_MOD_MPIIO ? "MPIIO" : scribe_module_by_id(l->e->module)->name; /* no hyphen */
}

static bool is_open(const struct scribe_message_line *l)
{
	return l->e->op == SCRIBE_PUBLISH_OPEN;
}

static uint64_t start_of(const struct scribe_message_line *l)
{
	return l->e->start_ns > l->e->base_ns ? l->e->start_ns - l->e->base_ns : 0;
}

static void put_text(struct scribe_out *out, const char *key, const char *text, size_t bytes)
{
	scribe_out_printf(out, ",\"%s\":", key);
	if (text && bytes)
		scribe_json_string(out, text, bytes);
	else
		scribe_out_text(out, "\"" NONE "\"");
}

static void put_seconds(struct scribe_out *out, const char *key, uint64_t ns)
{
	scribe_out_printf(out, ",\"%s\":%" PRIu64 ".%09" PRIu64, key, ns / 1000000000, ns % 1000000000);
}

void scribe_message_json(struct scribe_out *out, const struct scribe_message_line *l)
{
	scribe_out_printf(out, "{\"schema\":\"%s\",\"uid\":%u", is_open(l) ? "darshan_data" : NONE, l->job->uid);
	put_text(out, "exe", l->exe, l->exe_bytes);
	scribe_out_printf(out, ",\"job_id\":%" PRId64 ",\"rank\":%" PRId64 ",\"ProducerName\":", l->job->number,
			  l->e->rank);
	scribe_json_string(out, l->job->node, strnlen(l->job->node, sizeof(l->job->node)));
	put_text(out, "file", l->file, l->file_bytes);
	scribe_out_printf(out,
			  ",\"record_id\":%" PRIu64 ",\"module\":\"%s\",\"type\":\"%s\",\"max_byte\":%" PRId64
			  ",\"switches\":%" PRId64 ",\"flushes\":%" PRId64 ",\"cnt\":%" PRId64
			  ",\"op\":\"%s\",\"seg\":[{\"pt_sel\":%" PRId64 ",\"irreg_hslab\":%" PRId64
			  ",\"reg_hslab\":%" PRId64 ",\"ndims\":%" PRId64 ",\"npoints\":%" PRId64 ",\"off\":%" PRId64
			  ",\"len\":%" PRId64,
			  l->e->id, module_of(l), is_open(l) ? "MET" : "MOD", l->max_byte, l->switches, l->flushes,
			  l->cnt, l->op, l->points, l->irregular, l->regular, l->ndims, l->npoints, l->off, l->len);
	put_seconds(out, "start", start_of(l));
	put_seconds(out, "dur", l->e->end_ns - l->e->start_ns);
	put_seconds(out, "total", l->total_ns);
	put_seconds(out, "timestamp", l->e->end_ns + (uint64_t)l->job->realtime_ns);
	scribe_out_text(out, "}]}\n");
}

static void put_field(struct scribe_out *out, const char *text, size_t bytes)
{
	if (!text || !bytes || scribe_csv_utf8(out, text, bytes) < 0) /* also when out of memory */
		scribe_out_text(out, NONE);
}

static void put_column(struct scribe_out *out, uint64_t ns)
{
	scribe_out_printf(out, ",%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

void scribe_message_csv_header(struct scribe_out *out)
{
	scribe_out_text(out, "#schema,uid,exe,job_id,rank,ProducerName,file,record_id,module,type,max_byte,switches,"
			     "flushes,cnt,op,seg:pt_sel,seg:irreg_hslab,seg:reg_hslab,seg:ndims,seg:npoints,seg:off,"
			     "seg:len,seg:start,seg:dur,seg:total,seg:timestamp\n");
}

void scribe_message_csv(struct scribe_out *out, const struct scribe_message_line *l)
{
	scribe_out_printf(out, "%s,%u,", is_open(l) ? "darshan_data" : NONE, l->job->uid);
	put_field(out, l->exe, l->exe_bytes);
	scribe_out_printf(out, ",%" PRId64 ",%" PRId64 ",", l->job->number, l->e->rank);
	put_field(out, l->job->node, strnlen(l->job->node, sizeof(l->job->node)));
	scribe_out_text(out, ",");
	put_field(out, l->file, l->file_bytes);
	scribe_out_printf(out,
			  ",%" PRIu64 ",%s,%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%s,%" PRId64 ",%" PRId64
			  ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64,
			  l->e->id, module_of(l), is_open(l) ? "MET" : "MOD", l->max_byte, l->switches, l->flushes,
			  l->cnt, l->op, l->points, l->irregular, l->regular, l->ndims, l->npoints, l->off, l->len);
	put_column(out, start_of(l));
	put_column(out, l->e->end_ns - l->e->start_ns);
	put_column(out, l->total_ns);
	put_column(out, l->e->end_ns + (uint64_t)l->job->realtime_ns);
	scribe_out_text(out, "\n");
}
