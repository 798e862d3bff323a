// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two logs compared, and a survey of all logs below a directory: a row a log. Groups are made by the page. Memory: one
 * log at a time and 300 bytes of text a log.
 */
#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/cmd/report/report.h"
#include "util/logs/sum.h"
#include "util/text/human.h"
#include "util/text/print_record.h"
#include "util/text/quoted.h"
#include "util/tool/command.h"

#define LOGS_MAX 20000

static void put_log(struct scribe_out *json, const char *key, const struct scribe_summary *s)
{
	const char *slash = strrchr(s->log.path, '/'), *file = slash ? slash + 1 : s->log.path;

	scribe_out_printf(json, "\"%s\":{", key);
	scribe_json_text(json, "log", file, strlen(file));
	scribe_out_text(json, ",\"summary\":");
	scribe_summary_print_json(s, json, SCRIBE_SUMMARY_FILES);
	scribe_out_text(json, "},");
}

static void put_changes(struct scribe_out *json, const struct scribe_summary *s)
{
	static const char *const units[] = {"count", "bytes", "seconds"};
	struct scribe_summary_change change[SCRIBE_SUMMARY_CHANGES];
	const size_t n = scribe_summary_changes(&s[0], &s[1], change);

	scribe_out_text(json, "\"changes\":[");
	for (size_t i = 0; i < n; i++) {
		scribe_out_printf(json, "%s[\"%s\",\"%s\",", i ? "," : "", change[i].name, units[change[i].unit]);
		scribe_json_real(json, change[i].a);
		scribe_out_text(json, ",");
		scribe_json_real(json, change[i].b);
		scribe_out_text(json, "]");
	}
	scribe_out_text(json, "]");
}

static void put_files(struct scribe_out *json, const struct scribe_summary *s)
{
	struct scribe_summary_file_change most[SCRIBE_SUMMARY_CHANGED_FILES];
	const size_t n = scribe_summary_file_changes(&s[0], &s[1], most);

	scribe_out_text(json, ",\"files\":[");
	for (size_t i = 0; i < n; i++) {
		const char *name = scribe_summary_changed_name(&s[0], &s[1], most[i].id);

		scribe_out_text(json, i ? ",{" : "{");
		scribe_json_text(json, "name", name, strlen(name));
		scribe_out_text(json, ",\"seconds\":[");
		scribe_json_real(json, most[i].a);
		scribe_out_text(json, ",");
		scribe_json_real(json, most[i].b);
		scribe_out_text(json, "]}");
	}
	scribe_out_text(json, "]");
}

int scribe_report_compare(char **paths, struct scribe_out *json, struct scribe_out *text, struct scribe_err *err)
{
	static struct scribe_summary s[2];
	int rc = scribe_summary_read(&s[0], paths[0], err);

	if (rc >= 0)
		rc = scribe_summary_read(&s[1], paths[1], err);
	if (rc >= 0) {
		scribe_out_text(json, "{");
		put_log(json, "first", &s[0]);
		put_log(json, "second", &s[1]);
		put_changes(json, s);
		put_files(json, s);
		scribe_out_text(json, "}");
		scribe_summary_print_compared(&s[0], &s[1], text);
	}
	scribe_summary_free(&s[0]);
	scribe_summary_free(&s[1]);
	return rc;
}

static void put_text(struct scribe_out *json, const char *text)
{
	char escaped[4096];

	if (!scribe_text_utf8(text, strlen(text))) {
		scribe_name_escape(text, strlen(text), escaped, sizeof(escaped));
		text = escaped;
	}
	scribe_json_string(json, text, strlen(text));
	scribe_out_text(json, ",");
}

static void put_real(struct scribe_out *json, double v)
{
	scribe_json_real(json, v == v && v < 1e300 && v > -1e300 ? v : 0);
	scribe_out_text(json, ",");
}

/* The mount with most of the bytes. */
static const char *busiest_mount(const struct scribe_facts *f, const struct scribe_log *log)
{
	double *sum = calloc(log->nmounts + 1, sizeof(*sum));
	size_t most = log->nmounts;

	for (size_t i = 0; sum && i < f->nfiles; i++) {
		const char *name = scribe_names_find(log->names, f->file[i]->id, NULL);
		const size_t at = name ? scribe_mount_index(log->mounts, log->nmounts, name) : log->nmounts;

		sum[at] += f->file[i]->v[SCRIBE_FACT_all_bytes];
		most = sum[at] > sum[most] ? at : most;
	}
	free(sum);
	return most < log->nmounts ? log->mounts[most].path : "";
}

/* The command without folders and arguments. */
static const char *program_of(const char *exe, char *to, size_t cap)
{
	const size_t word = strcspn(exe, " \t");
	const char *slash = memrchr(exe, '/', word);
	const char *begin = slash ? slash + 1 : exe;

	snprintf(to, cap, "%.*s", (int)(word - (size_t)(begin - exe)), begin);
	return to;
}

/* A row: see `columns` in many.js. */
static void put_row(struct scribe_out *json, const char *path, const struct scribe_log *log,
		    const struct scribe_facts *f, const struct scribe_findings *found)
{
	const struct scribe_log_job *job = scribe_reader_job(log->reader);
	const struct scribe_file_facts *slow = scribe_facts_slowest(f);
	const char *name = slow ? scribe_names_find(log->names, slow->id, NULL) : NULL;
	const time_t start = (time_t)job->start_time_sec;
	char program[256], day[32] = "";
	int64_t severities[4] = {0};
	struct tm tm;

	for (size_t i = 0; i < found->n; i++)
		severities[found->at[i].severity]++;
	if (gmtime_r(&start, &tm))
		strftime(day, sizeof(day), "%Y-%m-%d", &tm);
	scribe_out_text(json, "[");
	put_text(json, path);
	scribe_out_printf(json, "\"%lld\",\"%lld\",", (long long)job->jobid, (long long)job->uid);
	put_text(json, program_of(scribe_reader_exe(log->reader), program, sizeof(program)));
	put_text(json, day);
	put_text(json, busiest_mount(f, log));
	put_real(json, f->v[SCRIBE_FACT_ranks]);
	put_real(json, f->v[SCRIBE_FACT_run_time]);
	put_real(json, f->v[SCRIBE_FACT_io_time]);
	put_real(json, scribe_file_seconds(f->v));
	put_real(json, f->v[SCRIBE_FACT_bytes_read] + f->v[SCRIBE_FACT_stream_bytes_read]);
	put_real(json, f->v[SCRIBE_FACT_bytes_written] + f->v[SCRIBE_FACT_stream_bytes] -
			       f->v[SCRIBE_FACT_stream_bytes_read]);
	put_real(json, (double)severities[SCRIBE_SEVERITY_SEVERE]);
	put_real(json, (double)severities[SCRIBE_SEVERITY_WARNING]);
	put_text(json, found->n ? found->at[0].rule->name : "");
	put_text(json, name ? name : "");
	json->len--; /* the last comma */
	scribe_out_text(json, "]");
}

static int survey_log(struct scribe_out *json, const char *path, const char *shown, bool first,
		      const struct scribe_rules *known, struct scribe_err *err)
{
	static struct scribe_findings found;
	struct scribe_facts facts = {0};
	struct scribe_log log;
	int rc = scribe_log_open(&log, path, SCRIBE_LOG_NAMES, err);

	if (rc >= 0)
		rc = scribe_facts_read(&facts, &log, err);
	if (rc >= 0) {
		scribe_findings_of(&facts, known, &found);
		scribe_out_text(json, first ? "" : ",");
		put_row(json, shown, &log, &facts, &found);
	}
	scribe_facts_clear(&facts);
	scribe_log_close(&log);
	return rc;
}

static bool is_log(const FTSENT *e)
{
	static const char ending[] = ".darshan";
	const size_t cut = sizeof(ending) - 1;

	return e->fts_info == FTS_F && e->fts_namelen > cut && !strcmp(e->fts_name + e->fts_namelen - cut, ending);
}

int scribe_report_survey(const char *argv0, const char *directory, struct scribe_out *json, struct scribe_out *text,
			 struct scribe_err *err)
{
	char *roots[] = {(char *)directory, NULL};
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	static struct scribe_rules known;
	size_t logs = 0, bad = 0;
	FTSENT *e;

	if (!fts)
		return scribe_err_set(err, -errno, "%s: %s", directory, strerror(errno));
	scribe_rules_default(&known);
	scribe_out_text(json, "{");
	scribe_json_text(json, "directory", directory, strlen(directory));
	scribe_out_text(json, ",\"logs\":[");
	while (logs < LOGS_MAX && (e = fts_read(fts))) {
		const char *shown = e->fts_path + strlen(directory);
		struct scribe_err why = {0};
		int rc = 0;

		shown += strspn(shown, "/");
		if (is_log(e))
			rc = survey_log(json, e->fts_path, shown, logs == 0, &known, &why);
		else if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR || e->fts_info == FTS_NS)
			rc = scribe_err_set(&why, -e->fts_errno, "%s: %s", e->fts_path, strerror(e->fts_errno));
		else
			continue;
		logs += rc >= 0;
		bad += rc < 0;
		if (rc < 0)
			scribe_complain_err(argv0, &why);
	}
	fts_close(fts);
	scribe_out_printf(json, "],\"unread\":%zu}", bad);
	scribe_out_printf(text, "%zu logs below %s\n", logs, directory);
	if (logs == LOGS_MAX)
		return scribe_err_set(err, -E2BIG, "%s: more than %d logs: name a part of it", directory, LOGS_MAX - 1);
	return logs ? 0 : scribe_err_set(err, -ENOENT, "%s: no logs (*.darshan) below it", directory);
}
