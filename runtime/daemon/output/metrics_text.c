// SPDX-License-Identifier: BSD-3-Clause
/*
 * Prometheus' text format. Families, types and help texts are from the lists in the header. Must not know
 * where values come from.
 */
#include "runtime/daemon/output/metrics_text.h"

#include <string.h>

#include "logfmt/file/names.h"

struct family {
	const char *name, *type, *help;
};

static const struct family of_job[] = {
#define SCRIBE_X(id, name, type, help) {"ioscribe_job_" name, type, help},
	SCRIBE_JOB_METRICS(SCRIBE_X)
#undef SCRIBE_X
};

static const struct family of_daemon[] = {
#define SCRIBE_X(id, name, type, help) {"ioscribe_" name, type, help},
	SCRIBE_DAEMON_METRICS(SCRIBE_X)
#undef SCRIBE_X
};

static void print_head(FILE *to, const struct family *f)
{
	fprintf(to, "# HELP %s %s\n# TYPE %s %s\n", f->name, f->help, f->name, f->type);
}

/* Escapes users' text as names are escaped, then the format's own characters. */
static void print_label(FILE *to, const char *key, const char *value)
{
	char shown[4 * 192 + 1];

	if (!scribe_name_printable(value, strlen(value))) {
		scribe_name_escape(value, strlen(value), shown, sizeof(shown));
		value = shown;
	}
	fprintf(to, "%s=\"", key);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			putc('\\', to);
		putc(*value, to);
	}
	putc('"', to);
}

static void print_job(FILE *to, const char *name, const struct scribe_job_metrics *j, const char *folder, double v)
{
	fprintf(to, "%s{", name);
	print_label(to, "jobid", j->id); /* Prometheus sets `job` itself */
	fprintf(to, ",kind=\"%s\",uid=\"%u\",", j->run ? "run" : "job", j->uid);
	print_label(to, "user", j->user);
	if (folder) {
		putc(',', to);
		print_label(to, "folder", folder);
		putc(',', to);
		print_label(to, "mount", j->mount);
	}
	fprintf(to, "} %.15g\n", v);
}

static void print_folders(FILE *to, const struct scribe_job_metrics *job, size_t jobs)
{
	static const struct family family = {
		"ioscribe_job_metadata_folder", "gauge",
		"Part of the opens and stats since the last file that is below this folder."};
	bool any = false;

	for (size_t k = 0; k < jobs; k++) {
		if (!job[k].begun_ns || !job[k].folder[0])
			continue;
		if (!any)
			print_head(to, &family);
		any = true;
		print_job(to, family.name, &job[k], job[k].folder, job[k].folder_part);
	}
}

void scribe_metrics_print(FILE *to, const double *daemon, const struct scribe_job_metrics *job, size_t jobs)
{
	static const struct family info = {"ioscribe_info", "gauge", "Which ioscribe writes this."};

	print_head(to, &info);
	fprintf(to, "%s{version=\"%s\"} 1\n", info.name, IOSCRIBE_VERSION);
	for (int i = 0; i < SCRIBE_DAEMON_NMETRICS; i++) {
		print_head(to, &of_daemon[i]);
		fprintf(to, "%s %.15g\n", of_daemon[i].name, daemon[i]);
	}
	/* lines of one family must be contiguous */
	for (int i = 0; i < SCRIBE_JOB_NMETRICS; i++) {
		bool any = false;

		for (size_t k = 0; k < jobs; k++) {
			if (!job[k].begun_ns)
				continue;
			if (!any)
				print_head(to, &of_job[i]);
			any = true;
			print_job(to, of_job[i].name, &job[k], NULL, job[k].v[i]);
		}
	}
	print_folders(to, job, jobs);
}
