// SPDX-License-Identifier: BSD-3-Clause
/* A summary as JSON: docs/summary.schema.json. Must not know how it was collected. */
#include <string.h>

#include "util/cmd/summary/summary.h"
#include "util/logs/sum.h"
#include "util/text/quoted.h"

#define VERSION 1

static void put_integer(struct scribe_out *out, const char *key, int64_t v)
{
	scribe_out_printf(out, "\"%s\":%lld,", key, (long long)v);
}

/* The last of an object: without a comma. */
static void put_last(struct scribe_out *out, const char *key, int64_t v)
{
	scribe_out_printf(out, "\"%s\":%lld", key, (long long)v);
}

static void put_real(struct scribe_out *out, const char *key, double v)
{
	scribe_out_printf(out, "\"%s\":", key);
	scribe_json_real(out, v == v && v < 1e300 && v > -1e300 ? v : 0);
	scribe_out_text(out, ",");
}

static void put_text(struct scribe_out *out, const char *key, const char *text)
{
	scribe_json_text(out, key, text, strlen(text));
	scribe_out_text(out, ",");
}

static void put_name(const struct scribe_summary *s, uint64_t id, struct scribe_out *out)
{
	size_t len = 0;
	const char *name = scribe_names_find(s->log.names, id, &len);

	if (name) {
		scribe_json_text(out, "name", name, len);
		scribe_out_text(out, ",");
	}
	scribe_out_printf(out, "\"record\":\"%llu\",", (unsigned long long)id);
}

static void put_job(const struct scribe_summary *s, struct scribe_out *out)
{
	const struct scribe_log_job *job = scribe_reader_job(s->log.reader);
	const uint64_t partial = scribe_reader_header(s->log.reader)->partial_flag;

	scribe_out_text(out, "\"job\":{");
	put_integer(out, "id", job->jobid);
	put_integer(out, "uid", job->uid);
	put_integer(out, "nprocs", job->nprocs);
	put_real(out, "start", (double)job->start_time_sec + (double)job->start_time_nsec / 1e9);
	put_real(out, "run_time", scribe_reader_runtime(s->log.reader));
	put_text(out, "command", scribe_reader_exe(s->log.reader));
	put_last(out, "partial_modules", __builtin_popcountll(partial));
	scribe_out_text(out, "},");
}

static void put_cache(const struct scribe_summary *s, struct scribe_out *out)
{
	const double *v = s->facts.v;

	if (!scribe_reader_has(s->log.reader, SCRIBE_MOD_CACHE)) {
		scribe_out_text(out, "\"cache\":null,");
		return;
	}
	scribe_out_text(out, "\"cache\":{");
	put_integer(out, "bytes_read", scribe_whole(v[SCRIBE_FACT_bytes_read] + v[SCRIBE_FACT_stream_bytes_read]));
	put_integer(out, "unknown_bytes_read", scribe_whole(v[SCRIBE_FACT_fetch_unknown]));
	put_integer(out, "bytes_fetched", scribe_whole(v[SCRIBE_FACT_fetched]));
	put_real(out, "fetch_time", v[SCRIBE_FACT_fetch_time]);
	put_integer(out, "direct_bytes_read", scribe_whole(v[SCRIBE_FACT_direct_read]));
	put_integer(out, "direct_bytes_written", scribe_whole(v[SCRIBE_FACT_direct_written]));
	put_integer(out, "bytes_dirtied", scribe_whole(v[SCRIBE_FACT_dirtied]));
	put_real(out, "throttled_time", v[SCRIBE_FACT_throttled]);
	put_integer(out, "page_faults", scribe_whole(v[SCRIBE_FACT_faults]));
	put_last(out, "bytes_faulted", scribe_whole(v[SCRIBE_FACT_faulted]));
	scribe_out_text(out, "},");
}

static void put_mounts(const struct scribe_summary *s, struct scribe_out *out)
{
	scribe_out_text(out, "\"mounts\":[");
	for (int i = 0; i < s->nmounts; i++) {
		const struct scribe_summary_mount *m = &s->mount[i];

		scribe_out_text(out, i ? ",{" : "{");
		put_text(out, "path", m->path);
		put_text(out, "type", m->type);
		put_integer(out, "bytes_read", scribe_whole(m->bytes_read));
		put_integer(out, "bytes_written", scribe_whole(m->bytes_written));
		put_real(out, "time", m->seconds);
		put_integer(out, "shared_nodes", m->shared);
		put_integer(out, "client_bytes_read", m->client_read);
		put_integer(out, "client_bytes_written", m->client_written);
		put_integer(out, "client_requests", m->requests);
		put_integer(out, "client_errors", m->errors);
		put_real(out, "client_rtt_time", m->rtt);
		scribe_out_text(out, "\"client_queue_time\":");
		scribe_json_real(out, m->queue);
		scribe_out_text(out, "}");
	}
	scribe_out_text(out, "],");
}

static void put_phases(const struct scribe_phases *phases, bool reads, struct scribe_out *out)
{
	scribe_out_text(out, reads ? "\"read_phases\":[" : "\"phases\":[");
	for (size_t i = 0; i < phases->n; i++) {
		const struct scribe_phase *p = &phases->phase[i];

		scribe_out_text(out, i ? ",{" : "{");
		put_real(out, "begin", p->begin);
		put_real(out, "end", p->end);
		put_real(out, "first_end", p->first_end);
		put_integer(out, "first_rank", p->first_rank);
		put_integer(out, "last_rank", p->last_rank);
		if (!reads) {
			put_integer(out, "files", p->files);
			put_integer(out, "fsyncs", p->syncs);
		}
		put_last(out, reads ? "bytes_read" : "bytes_written", p->bytes);
		scribe_out_text(out, "}");
	}
	scribe_out_text(out, "],");
}

static void put_tracing(const struct scribe_summary *s, struct scribe_out *out)
{
	scribe_out_text(out, "\"tracing\":{");
	put_real(out, "cpu_time", s->facts.v[SCRIBE_FACT_cpu_time]);
	put_real(out, "kernel_time", s->facts.v[SCRIBE_FACT_tracing_time]);
	put_real(out, "daemon_time", s->ledger_f[SCRIBE_LEDGER_F_DAEMON_CPU]);
	put_last(out, "processes", s->processes);
	scribe_out_text(out, "},");
}

static void put_time(const struct scribe_summary *s, struct scribe_out *out)
{
	const struct scribe_file_facts *file = scribe_facts_slowest(&s->facts);
	const double *v = s->facts.v;

	scribe_out_text(out, "\"time\":{");
	put_real(out, "slowest_rank", v[SCRIBE_FACT_io_time]);
	put_real(out, "read", v[SCRIBE_FACT_read_time]);
	put_real(out, "write", v[SCRIBE_FACT_write_time]);
	put_real(out, "metadata", v[SCRIBE_FACT_meta_time]);
	scribe_out_text(out, "\"streams\":");
	scribe_json_real(out, v[SCRIBE_FACT_stream_time]);
	scribe_out_text(out, "},\"slowest_file\":");
	if (file) {
		scribe_out_text(out, "{");
		put_name(s, file->id, out);
		scribe_out_text(out, "\"seconds\":");
		scribe_json_real(out, scribe_file_seconds(file->v));
		scribe_out_text(out, "},");
	} else {
		scribe_out_text(out, "null,");
	}
}

static void put_sizes(struct scribe_out *out, const char *key, const int64_t *sizes)
{
	scribe_out_printf(out, "\"%s\":[", key);
	for (int i = 0; i < SCRIBE_SIZE_BUCKETS; i++)
		scribe_out_printf(out, "%s%lld", i ? "," : "", (long long)sizes[i]);
	scribe_out_text(out, "],");
}

static void put_modules(const struct scribe_summary *s, struct scribe_out *out)
{
	scribe_out_text(out, "\"modules\":[");
	for (int i = 0; i < s->nmodules; i++) {
		const struct scribe_summary_module *m = &s->modules[i];

		scribe_out_text(out, i ? ",{" : "{");
		put_text(out, "name", scribe_module_by_id(m->module)->name);
		put_integer(out, "files", m->files[SCRIBE_FILES_ALL].count);
		put_integer(out, "opens", m->opens);
		put_integer(out, "reads", m->reads);
		put_integer(out, "writes", m->writes);
		put_integer(out, "bytes_read", m->perf.bytes_read);
		put_integer(out, "bytes_written", m->perf.bytes_written);
		put_real(out, "seconds", m->perf.agg_time);
		put_real(out, "mib_per_second", m->perf.agg_perf);
		if (m->has_sizes) {
			put_sizes(out, "read_sizes", m->read_sizes);
			put_sizes(out, "write_sizes", m->write_sizes);
		}
		put_last(out, "records", m->records);
		scribe_out_text(out, "}");
	}
	scribe_out_text(out, "],");
}

static void put_files(const struct scribe_summary *s, int nfiles, struct scribe_out *out)
{
	scribe_out_text(out, "\"files\":[");
	for (int i = 0; i < s->nfiles && i < nfiles; i++) {
		const struct scribe_summary_file *f = &s->files[i];

		scribe_out_text(out, i ? ",{" : "{");
		put_name(s, f->id, out);
		put_text(out, "module", scribe_module_by_id(f->module)->name);
		put_integer(out, "bytes_read", f->bytes_read);
		put_integer(out, "bytes_written", f->bytes_written);
		put_last(out, "ranks", f->nprocs);
		scribe_out_text(out, "}");
	}
	scribe_out_text(out, "],");
}

static void put_processes(const struct scribe_summary *s, struct scribe_out *out)
{
	scribe_out_text(out, "\"processes\":{");
	put_integer(out, "count", s->processes);
	put_integer(out, "exited_0", s->ended_well);
	put_integer(out, "exited_otherwise", s->ended_badly);
	put_integer(out, "signalled", s->signalled);
	put_integer(out, "running", s->running);
	put_last(out, "lost", s->lost);
	scribe_out_text(out, "},");
}

static void put_ledger(const struct scribe_summary *s, struct scribe_out *out)
{
	const struct scribe_module *m = scribe_module_by_id(SCRIBE_MOD_LEDGER);

	if (!s->has_ledger) {
		scribe_out_text(out, "\"ledger\":null");
		return;
	}
	scribe_out_printf(out, "\"ledger\":{\"complete\":%s,\"counters\":{",
			  scribe_summary_complete(s) ? "true" : "false");
	for (int i = 0; i < m->ncounters; i++)
		scribe_out_printf(out, "%s\"%s\":%lld", i ? "," : "", m->counters[i].name, (long long)s->ledger[i]);
	scribe_out_text(out, "}}");
}

void scribe_summary_print_json(const struct scribe_summary *s, struct scribe_out *out, int nfiles)
{
	scribe_out_printf(out, "{\"schema\":\"ioscribe_summary\",\"version\":%d,", VERSION);
	put_job(s, out);
	put_cache(s, out);
	put_mounts(s, out);
	put_phases(&s->phases, false, out);
	put_phases(&s->reads, true, out);
	put_tracing(s, out);
	put_time(s, out);
	scribe_out_text(out, "\"findings\":");
	scribe_findings_json(&s->facts, &s->findings, out);
	scribe_out_text(out, ",");
	put_modules(s, out);
	put_files(s, nfiles, out);
	put_processes(s, out);
	put_ledger(s, out);
	scribe_out_text(out, "}\n");
}
