// SPDX-License-Identifier: BSD-3-Clause
/* A summary as text, in a long and a brief form. Names are escaped. Must not know how it was collected. */
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "util/cmd/summary/summary.h"
#include "util/logs/print_job.h"
#include "util/logs/sum.h"
#include "util/text/human.h"

#define H   40
#define BAR 16

static const char *bytes(int64_t v, char *to)
{
	return scribe_human_bytes(v, to, H);
}

static const char *count(int64_t v, char *to)
{
	return scribe_human_count(v, to, H);
}

static void put_job(const struct scribe_summary *s, struct scribe_out *out)
{
	const struct scribe_log_job *job = scribe_reader_job(s->log.reader);
	time_t t = (time_t)job->start_time_sec;
	struct tm tm;
	const char *plural = job->nprocs == 1 ? "" : s->processes ? "s" : "es";
	char when[64] = "(no date)", command[160], text[256];

	if (localtime_r(&t, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	/* With a process table a rank may be several processes, which a line below counts. */
	snprintf(text, sizeof(text), "%lld: %lld %s%s, uid %lld, %s, %.3f s", (long long)job->jobid,
		 (long long)job->nprocs, s->processes ? "rank" : "process", plural, (long long)job->uid, when,
		 scribe_reader_runtime(s->log.reader));
	scribe_out_wrapped(out, "job        ", text);
	if (strstr(job->metadata, "finalize=collective\n"))
		scribe_out_text(out, "           reduced by the ranks\n");
	scribe_out_printf(out, "command    %s\n",
			  scribe_human_text(scribe_reader_exe(s->log.reader), command, sizeof(command)));
}

static void put_name(const struct scribe_summary *s, uint64_t id, size_t most, struct scribe_out *out)
{
	char text[512];
	size_t len = 0, need;
	const char *name = scribe_names_find(s->log.names, id, &len);

	if (!name) {
		scribe_out_printf(out, "(no name, record %llu)", (unsigned long long)id);
		return;
	}
	need = scribe_name_escape(name, len < 400 ? len : 400, text, sizeof(text));
	if (need < sizeof(text) && need <= most && len < 400)
		scribe_out_text(out, text);
	else
		scribe_out_printf(out, "...%.*s", (int)most,
				  (scribe_name_escape(len > most ? name + len - most : name, len > most ? most : len,
						      text, sizeof(text)),
				   text));
}

static const char *seconds(double v, char *to)
{
	char whole[H];

	if (v < 1000)
		snprintf(to, H, "%.4g s", v);
	else
		snprintf(to, H, "%.30s s", scribe_human_count(scribe_whole(v), whole, sizeof(whole)));
	return to;
}

static void put_time(const struct scribe_summary *s, struct scribe_out *out)
{
	static const struct {
		enum scribe_fact fact;
		const char *name;
	} kinds[] = {{SCRIBE_FACT_read_time, "reading"},
		     {SCRIBE_FACT_write_time, "writing"},
		     {SCRIBE_FACT_meta_time, "metadata"},
		     {SCRIBE_FACT_stream_time, "streams"}};
	const double *v = s->facts.v, all = scribe_file_seconds(v), run = v[SCRIBE_FACT_run_time];
	char a[H], text[256], *at = text, *const end = text + sizeof(text);
	const char *comma = "; of all ranks: ";

	if (all <= 0)
		return;
	at += snprintf(at, (size_t)(end - at), "%s of I/O in the slowest rank", seconds(v[SCRIBE_FACT_io_time], a));
	if (run > 0)
		at += snprintf(at, (size_t)(end - at), ", %.2g %% of the run", 100 * v[SCRIBE_FACT_io_time] / run);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const double share = 100 * v[kinds[i].fact] / all;

		if (share < 0.5)
			continue;
		at += snprintf(at, (size_t)(end - at), "%s%s %.0f %%", comma, kinds[i].name, share);
		comma = ", ";
	}
	scribe_out_wrapped(out, "time       ", text);
}

static void put_slowest(const struct scribe_summary *s, struct scribe_out *out)
{
	const struct scribe_file_facts *file = scribe_facts_slowest(&s->facts);
	char a[H], b[H];

	if (!file)
		return;
	scribe_out_printf(out, "slowest    %s, %s: ", seconds(scribe_file_seconds(file->v), a),
			  bytes(scribe_whole(file->v[SCRIBE_FACT_all_bytes]), b));
	put_name(s, file->id, 100, out);
	scribe_out_text(out, "\n");
}

void scribe_summary_print_findings(const struct scribe_summary *s, size_t most, struct scribe_out *out)
{
	const struct scribe_findings *found = &s->findings;
	char text[1024], line[1200];

	for (size_t i = 0; i < found->n && i < most; i++) {
		snprintf(line, sizeof(line), "%s, %s: %s", scribe_severity_name(found->at[i].severity),
			 found->at[i].rule->name, scribe_finding_text(&found->at[i], text, sizeof(text)));
		scribe_out_wrapped(out, i ? "           " : "findings   ", line);
	}
	if (!found->n) {
		scribe_out_text(out, "findings   none\n");
		return;
	}
	if (found->n > most)
		snprintf(line, sizeof(line), "and %zu more; ioscribe advise LOG: what to do", found->n - most);
	else
		snprintf(line, sizeof(line), "ioscribe advise LOG: what to do");
	scribe_out_wrapped(out, "           ", line);
}

static const char *module_name(int id)
{
	const struct scribe_module *m = scribe_module_by_id(id);

	return m ? m->name : "?";
}

/* In 8 columns. */
static const char *short_seconds(double v, char *to)
{
	if (v >= 1000)
		snprintf(to, H, "%.0f", v);
	else
		snprintf(to, H, "%.*g", v < 0.001 ? 2 : 4, v);
	return to;
}

static void put_modules(const struct scribe_summary *s, struct scribe_out *out)
{
	char a[H], b[H], c[H], d[H], e[H], f[H];

	if (!s->nmodules)
		scribe_out_text(out, "records    no I/O recorded\n");
	else
		scribe_out_text(out, "module       files       read      calls      wrote      calls    MiB/s  "
				     "seconds\n");
	for (int i = 0; i < s->nmodules; i++) {
		const struct scribe_summary_module *m = &s->modules[i];

		scribe_out_printf(out, "%-8s %9s %10s %10s %10s %10s %8.1f %8s\n", module_name(m->module),
				  count(m->files[SCRIBE_FILES_ALL].count, a), bytes(m->perf.bytes_read, b),
				  count(m->reads, c), bytes(m->perf.bytes_written, d), count(m->writes, e),
				  m->perf.agg_perf, short_seconds(m->perf.agg_time, f));
	}
}

static void put_others(const struct scribe_summary *s, struct scribe_out *out)
{
	const char *comma = "";

	if (!s->other_modules)
		return;
	scribe_out_text(out, "also       ");
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++) {
		if (!(s->other_modules >> i & 1))
			continue;
		scribe_out_printf(out, "%s%s", comma, module_name(i));
		comma = ", ";
	}
	scribe_out_text(out, "\n");
}

static void put_partial(const struct scribe_summary *s, struct scribe_out *out)
{
	uint64_t flags = scribe_reader_header(s->log.reader)->partial_flag;
	const char *comma = "", *why;
	char capacity[512], text[2048], *at = text, *const end = text + sizeof(text);

	if (!flags)
		return;
	/* Our own logs have the reason in their metadata. */
	why = scribe_partial_why(s->log.reader, capacity, sizeof(capacity));
	at += snprintf(at, (size_t)(end - at), "%.512s: records are missing of ",
		       why == capacity ? why : "memory ran out in the job");
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		if (flags >> i & 1) {
			at += snprintf(at, (size_t)(end - at), "%s%.16s", comma, module_name(i));
			comma = ", ";
		}
	scribe_out_wrapped(out, "INCOMPLETE ", text);
}

static const char *const bucket_names[SCRIBE_SIZE_BUCKETS] = {
	"0-100", "101-1K", "1K-10K", "10K-100K", "100K-1M", "1M-4M", "4M-10M", "10M-100M", "100M-1G", "over 1G",
};

static const struct scribe_summary_module *sized_module(const struct scribe_summary *s)
{
	for (int i = 0; i < s->nmodules; i++)
		if (s->modules[i].has_sizes && (s->modules[i].reads > 0 || s->modules[i].writes > 0))
			return &s->modules[i];
	return NULL;
}

static int64_t total_of(const int64_t *sizes)
{
	int64_t sum = 0;

	for (int i = 0; i < SCRIBE_SIZE_BUCKETS; i++)
		sum = sizes[i] > 0 ? scribe_sum(sum, sizes[i]) : sum; /* -1: not monitored */
	return sum;
}

/* The two most frequent size classes, in percent of operations: "1M-4M 90 %, 0-100 10 %". */
static void put_common_sizes(const int64_t *sizes, const char *kind, struct scribe_out *out)
{
	int64_t all = total_of(sizes);
	int first = -1, second = -1;

	for (int i = 0; i < SCRIBE_SIZE_BUCKETS; i++) {
		if (sizes[i] <= 0)
			continue;
		if (first < 0 || sizes[i] > sizes[first]) {
			second = first;
			first = i;
		} else if (second < 0 || sizes[i] > sizes[second]) {
			second = i;
		}
	}
	if (first < 0)
		return;
	scribe_out_printf(out, "  %s %s %.0f %%", kind, bucket_names[first],
			  100.0 * (double)sizes[first] / (double)all);
	if (second >= 0)
		scribe_out_printf(out, ", %s %.0f %%", bucket_names[second],
				  100.0 * (double)sizes[second] / (double)all);
}

static void put_sizes_brief(const struct scribe_summary *s, struct scribe_out *out)
{
	const struct scribe_summary_module *m = sized_module(s);

	if (!m)
		return;
	scribe_out_printf(out, "sizes    ");
	put_common_sizes(m->read_sizes, "reads", out);
	put_common_sizes(m->write_sizes, "writes", out);
	scribe_out_text(out, "\n");
}

static void put_bar(struct scribe_out *out, int64_t part, int64_t all)
{
	char bar[BAR + 1];
	int n = part <= 0 || all <= 0 ? 0 : part >= all ? BAR : (int)((double)BAR * (double)part / (double)all + 0.5);

	n = part > 0 && all > 0 && n == 0 ? 1 : n;
	memset(bar, ' ', BAR);
	memset(bar, '#', (size_t)n);
	bar[BAR] = '\0';
	scribe_out_printf(out, "  %s", bar);
}

static void put_sizes(const struct scribe_summary *s, struct scribe_out *out)
{
	const struct scribe_summary_module *m = sized_module(s);
	char a[H], b[H];

	if (!m)
		return;
	scribe_out_printf(out, "\naccess sizes (%s)%*sreads%*swrites\n", module_name(m->module),
			  (int)(8 - strlen(module_name(m->module))), "", BAR + 9, "");
	for (int i = 0; i < SCRIBE_SIZE_BUCKETS; i++) {
		if (m->read_sizes[i] <= 0 && m->write_sizes[i] <= 0)
			continue;
		scribe_out_printf(out, "  %-10s %14s", bucket_names[i], count(m->read_sizes[i], a));
		put_bar(out, m->read_sizes[i], total_of(m->read_sizes));
		scribe_out_printf(out, " %14s", count(m->write_sizes[i], b));
		put_bar(out, m->write_sizes[i], total_of(m->write_sizes));
		scribe_out_text(out, "\n");
	}
}

static void put_file(const struct scribe_summary *s, const struct scribe_summary_file *f, struct scribe_out *out)
{
	char a[H], b[H];

	scribe_out_printf(out, "  read %10s  wrote %10s  %-6s ", bytes(f->bytes_read, a), bytes(f->bytes_written, b),
			  module_name(f->module));
	if (f->nprocs < 0)
		scribe_out_printf(out, "%-10s ", "all ranks");
	else
		scribe_out_printf(out, "%lld rank%-4s ", (long long)f->nprocs, f->nprocs == 1 ? "" : "s");
	put_name(s, f->id, 100, out);
	scribe_out_text(out, "\n");
}

static void put_files(const struct scribe_summary *s, struct scribe_out *out, int most)
{
	if (!s->nfiles || most <= 0)
		return;
	scribe_out_text(out, "\nbusiest files\n");
	for (int i = 0; i < s->nfiles && i < most; i++)
		put_file(s, &s->files[i], out);
}

static void put_signals(const struct scribe_summary *s, struct scribe_out *out)
{
	char a[H];

	for (int i = 0; i < SCRIBE_SUMMARY_SIGNALS; i++) {
		/* NULL for real-time signals, which are printed by number. */
		const char *abbrev = sigabbrev_np(i);

		if (s->by_signal[i] && abbrev)
			scribe_out_printf(out, ", %s by SIG%s", count(s->by_signal[i], a), abbrev);
		else if (s->by_signal[i])
			scribe_out_printf(out, ", %s by signal %d", count(s->by_signal[i], a), i);
	}
}

static void put_processes_line(const struct scribe_summary *s, struct scribe_out *out)
{
	char a[H];

	if (!s->processes)
		return;
	scribe_out_printf(out, "processes  %s:", count(s->processes, a));
	scribe_out_printf(out, " %s ended with 0", count(s->ended_well, a));
	if (s->ended_badly)
		scribe_out_printf(out, ", %s with an error", count(s->ended_badly, a));
	put_signals(s, out);
	if (s->running)
		scribe_out_printf(out, ", %s still running", count(s->running, a));
	if (s->lost)
		scribe_out_printf(out, ", %s lost sight of", count(s->lost, a));
	scribe_out_text(out, "\n");
}

static void put_end(const struct scribe_summary_end *e, struct scribe_out *out)
{
	int sig = (int)(e->wait_status & 0x7f);
	const char *abbrev = sigabbrev_np(sig);
	char exe[4 * sizeof(e->exe)];

	scribe_out_printf(out, "  rank %-5lld pid %-8lld ", (long long)e->rank, (long long)e->pid);
	if (e->kind == SCRIBE_END_SIGNALLED && abbrev)
		scribe_out_printf(out, "SIG%s", abbrev);
	else if (e->kind == SCRIBE_END_SIGNALLED)
		scribe_out_printf(out, "signal %d", sig);
	else if (e->kind == SCRIBE_END_EXITED)
		scribe_out_printf(out, "exit %lld", (long long)(e->wait_status >> 8));
	else
		scribe_out_text(out, e->kind == SCRIBE_END_RUNNING ? "still running" : "lost sight of");
	scribe_out_printf(out, "  %s\n", scribe_human_text(e->exe, exe, sizeof(exe)));
}

static void put_ends(const struct scribe_summary *s, struct scribe_out *out)
{
	char a[H];
	int64_t bad = s->processes - s->ended_well;

	if (!bad)
		return;
	scribe_out_text(out, "\nprocesses that did not end with 0\n");
	for (int i = 0; i < s->nends; i++)
		put_end(&s->ends[i], out);
	if (bad > s->nends)
		scribe_out_printf(out, "  and %s more\n", count(bad - s->nends, a));
}

static void put_perf(const struct scribe_summary_module *m, struct scribe_out *out)
{
	char a[H], b[H], c[H], d[H], e[H], lead[32], text[512];

	snprintf(lead, sizeof(lead), "  %-8s ", module_name(m->module));
	snprintf(text, sizeof(text), "files: %s read only, %s written only, %s both; %s of one rank, %s shared",
		 count(m->files[SCRIBE_FILES_READ_ONLY].count, a), count(m->files[SCRIBE_FILES_WRITE_ONLY].count, b),
		 count(m->files[SCRIBE_FILES_READ_WRITE].count, c), count(m->files[SCRIBE_FILES_UNIQUE].count, d),
		 count(m->files[SCRIBE_FILES_SHARED].count + m->files[SCRIBE_FILES_PART_SHARED].count, e));
	scribe_out_wrapped(out, lead, text);
	snprintf(text, sizeof(text),
		 "time: %.3f s in files of one rank (slowest: rank %lld; %.3f s metadata), %.3f s in shared files",
		 m->perf.unique_time, (long long)m->perf.unique_slowest_rank, m->perf.unique_meta_time,
		 m->perf.shared_time);
	scribe_out_wrapped(out, "           ", text);
}

void scribe_summary_print(const struct scribe_summary *s, struct scribe_out *out, int nfiles)
{
	put_job(s, out);
	put_time(s, out);
	put_slowest(s, out);
	scribe_summary_print_findings(s, SCRIBE_RULES_MAX, out);
	put_modules(s, out);
	scribe_summary_print_more(s, out);
	scribe_summary_print_phases(s, out);
	put_others(s, out);
	put_partial(s, out);
	put_processes_line(s, out);
	if (s->nmodules)
		scribe_out_text(out, "\nI/O time and files\n");
	for (int i = 0; i < s->nmodules; i++)
		put_perf(&s->modules[i], out);
	put_sizes(s, out);
	scribe_summary_print_heat(s, out);
	put_files(s, out, nfiles);
	put_ends(s, out);
	scribe_summary_print_ledger(s, out);
	if (!s->has_ledger)
		scribe_out_text(out, "\nledger     none: the log does not say what its tracer missed\n");
}

void scribe_summary_print_brief(const struct scribe_summary *s, struct scribe_out *out)
{
	put_job(s, out);
	put_time(s, out);
	put_slowest(s, out);
	scribe_summary_print_findings(s, 3, out);
	put_modules(s, out);
	scribe_summary_print_more(s, out);
	put_partial(s, out);
	put_sizes_brief(s, out);
	for (int i = 0; i < s->nfiles && i < 2; i++) {
		scribe_out_text(out, i ? "         " : "busiest  ");
		put_file(s, &s->files[i], out);
	}
	put_processes_line(s, out);
	for (int i = 0; i < s->nends && i < 1; i++)
		put_end(&s->ends[i], out);
	scribe_summary_print_ledger_line(s, out);
}

int scribe_summary_brief(const char *path, FILE *to, struct scribe_err *err)
{
	struct scribe_summary s;
	struct scribe_out out = {0};
	int rc = scribe_summary_read(&s, path, err);

	if (rc >= 0)
		rc = scribe_out_open_memory(&out, err);
	if (rc >= 0) {
		scribe_summary_print_brief(&s, &out);
		for (const char *at = out.buf, *end; at < out.buf + out.len; at = end + 1) {
			end = memchr(at, '\n', (size_t)(out.buf + out.len - at));
			if (!end)
				break;
			fprintf(to, "  %.*s\n", (int)(end - at), at);
		}
	}
	scribe_out_close(&out);
	scribe_summary_free(&s);
	return rc;
}
