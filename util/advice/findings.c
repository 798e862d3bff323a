// SPDX-License-Identifier: BSD-3-Clause
/* Compares a log's facts with rules. Must not know modules or counters. */
#include "util/advice/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/logs/sum.h"
#include "util/text/human.h"
#include "util/text/quoted.h"

#define NOTE     SCRIBE_SEVERITY_NOTE
#define LITTLE   0.01 /* of the run time */
#define INDENT   9
#define TEXT_MAX 1024

static double of_value(const struct scribe_rule_row *rule, const double *v)
{
	return rule->of == SCRIBE_FACT_job ? 1 : v[rule->of];
}

static bool holds(const struct scribe_rule_row *rule, const double *v)
{
	const double of = of_value(rule, v);

	return v[rule->guard] >= rule->least && of > 0 && v[rule->fact] / of > rule->threshold;
}

/* The file with the largest part of the fact; NULL: a fact of the job alone. */
static const struct scribe_file_facts *worst(const struct scribe_facts *f, const struct scribe_rule_row *rule,
					     size_t *ret_files)
{
	const struct scribe_file_facts *most = NULL;

	*ret_files = 0;
	if (rule->fact >= SCRIBE_NFILE_FACTS)
		return NULL;
	for (size_t i = 0; i < f->nfiles; i++) {
		const struct scribe_file_facts *file = f->file[i];
		const bool counts = rule->by_file ? holds(rule, file->v) : file->v[rule->fact] > 0;

		*ret_files += counts;
		if (counts && (!most || file->v[rule->fact] > most->v[rule->fact]))
			most = file;
	}
	return most;
}

static void look(const struct scribe_facts *f, const struct scribe_rule_row *rule, struct scribe_findings *found)
{
	const struct scribe_file_facts *file;
	struct scribe_finding *x = &found->at[found->n];
	const double all = scribe_file_seconds(f->v);
	const double *v = f->v;
	double seconds, wall;
	size_t files;

	if (rule->severity == SCRIBE_SEVERITY_OFF || (!rule->by_file && !holds(rule, f->v)))
		return;
	file = worst(f, rule, &files);
	if (rule->by_file && !file)
		return;
	if (rule->by_file)
		v = file->v;
	seconds = rule->time >= 0 && rule->time < SCRIBE_NFILE_FACTS ? v[rule->time] : 0;
	*x = (struct scribe_finding){.rule = rule,
				     .severity = rule->severity,
				     .fact = v[rule->fact],
				     .of = of_value(rule, v),
				     .files = rule->by_file ? files : 0,
				     .file = file ? file->id : 0,
				     .in_file = file ? file->v[rule->fact] : 0,
				     .rank = scribe_fact_rank(f, file, (enum scribe_fact)rule->fact),
				     .seconds = seconds};
	/* Of the slowest rank's I/O time as much as the finding has of all ranks' time. */
	wall = all > 0 ? f->v[SCRIBE_FACT_io_time] * (seconds < all ? seconds / all : 1) : 0;
	if (rule->time >= 0 && rule->time < SCRIBE_NFILE_FACTS && wall < LITTLE * f->v[SCRIBE_FACT_run_time] &&
	    rule->severity > NOTE)
		x->severity = NOTE;
	found->n++;
}

static int by_weight(const void *a, const void *b)
{
	const struct scribe_finding *x = a, *y = b;

	if (x->severity != y->severity)
		return x->severity > y->severity ? -1 : 1;
	if (x->seconds != y->seconds)
		return x->seconds > y->seconds ? -1 : 1;
	/* The order of the table, as qsort is not stable. */
	return (x->rule > y->rule) - (x->rule < y->rule);
}

void scribe_findings_of(const struct scribe_facts *f, const struct scribe_rules *rules, struct scribe_findings *ret)
{
	ret->n = 0;
	for (size_t i = 0; i < rules->n; i++)
		look(f, &rules->row[i], ret);
	qsort(ret->at, ret->n, sizeof(ret->at[0]), by_weight);
}

static const char *quantity(int fact, double value, char *to, size_t cap)
{
	switch (scribe_fact_about((enum scribe_fact)fact)->unit) {
	case SCRIBE_UNIT_BYTES:
		return scribe_human_bytes(scribe_whole(value), to, cap);
	case SCRIBE_UNIT_SECONDS:
		snprintf(to, cap, "%.3g s", value);
		return to;
	default:
		return scribe_human_count(scribe_whole(value), to, cap);
	}
}

static const char *name_of(const struct scribe_facts *f, uint64_t id)
{
	const char *name = id ? scribe_names_find(f->log->names, id, NULL) : NULL;

	return name ? name : "";
}

/* "100 % of writes move less than 1 MiB (41,632 of 41,632)" */
const char *scribe_finding_text(const struct scribe_finding *x, char *to, size_t cap)
{
	const struct scribe_rule_row *rule = x->rule;
	char a[40], b[40], rank[40] = "";

	quantity(rule->fact, x->fact, a, sizeof(a));
	quantity(rule->of, x->of, b, sizeof(b));
	if (x->rank >= 0)
		snprintf(rank, sizeof(rank), "; rank %lld", (long long)x->rank);
	if (rule->of == SCRIBE_FACT_job)
		snprintf(to, cap, "%s (%s%s)", rule->what, a, rank);
	else if (rule->threshold < 1)
		snprintf(to, cap, "%.0f %% %s (%s of %s%s)", 100 * x->fact / x->of, rule->what, a, b, rank);
	else
		snprintf(to, cap, "%.1f %s (%s to %s%s)", x->fact / x->of, rule->what, a, b, rank);
	return to;
}

static void put_file(const struct scribe_facts *f, const struct scribe_finding *x, struct scribe_out *out)
{
	const char *name = name_of(f, x->file);
	char a[40], *shown;

	if (!name[0])
		return;
	shown = malloc(4 * strlen(name) + 1);
	if (!shown)
		return;
	scribe_human_text(name, shown, 4 * strlen(name) + 1);
	if (x->files > 1)
		scribe_out_printf(out, "%*s%zu files, most: %s\n", INDENT, "", x->files, shown);
	else if (x->rule->by_file)
		scribe_out_printf(out, "%*sin %s\n", INDENT, "", shown);
	else
		scribe_out_printf(out, "%*smost (%s): %s\n", INDENT, "",
				  quantity(x->rule->fact, x->in_file, a, sizeof(a)), shown);
	free(shown);
}

void scribe_findings_print(const struct scribe_facts *f, const struct scribe_findings *found, struct scribe_out *out)
{
	char text[TEXT_MAX];

	if (!found->n)
		scribe_out_text(out, "no findings\n");
	for (size_t i = 0; i < found->n; i++) {
		const struct scribe_finding *x = &found->at[i];

		scribe_out_printf(out, "%-*s%s\n", INDENT, scribe_severity_name(x->severity), x->rule->name);
		scribe_out_wrapped(out, "         ", scribe_finding_text(x, text, sizeof(text)));
		put_file(f, x, out);
		scribe_out_wrapped(out, "         -> ", x->rule->advice);
	}
}

static void put_json(const struct scribe_facts *f, const struct scribe_finding *x, struct scribe_out *out)
{
	const struct scribe_rule_row *rule = x->rule;
	const struct scribe_fact_about *fact = scribe_fact_about((enum scribe_fact)rule->fact);
	const char *name = name_of(f, x->file);
	char text[TEXT_MAX];

	scribe_out_text(out, "{\"rule\":");
	scribe_json_string(out, rule->name, strlen(rule->name));
	scribe_out_printf(out, ",\"severity\":\"%s\",\"fact\":\"%s\",\"counters\":\"%s\",\"value\":",
			  scribe_severity_name(x->severity), fact->name, fact->counters);
	scribe_json_real(out, x->fact);
	scribe_out_printf(out, ",\"of\":\"%s\",\"of_value\":", scribe_fact_about((enum scribe_fact)rule->of)->name);
	scribe_json_real(out, x->of);
	scribe_out_text(out, ",\"threshold\":");
	scribe_json_real(out, rule->threshold);
	scribe_out_text(out, ",\"seconds\":");
	scribe_json_real(out, x->seconds);
	if (x->rank >= 0)
		scribe_out_printf(out, ",\"rank\":%lld", (long long)x->rank);
	if (x->files)
		scribe_out_printf(out, ",\"files\":%zu", x->files);
	if (name[0]) {
		scribe_out_text(out, ",");
		scribe_json_text(out, "file", name, strlen(name));
	}
	scribe_out_text(out, ",\"text\":");
	scribe_finding_text(x, text, sizeof(text));
	scribe_json_string(out, text, strlen(text));
	scribe_out_text(out, ",\"what\":");
	scribe_json_string(out, rule->what, strlen(rule->what));
	scribe_out_text(out, ",\"advice\":");
	scribe_json_string(out, rule->advice, strlen(rule->advice));
	scribe_out_text(out, "}");
}

void scribe_findings_json(const struct scribe_facts *f, const struct scribe_findings *found, struct scribe_out *out)
{
	scribe_out_text(out, "[");
	for (size_t i = 0; i < found->n; i++) {
		scribe_out_text(out, i ? "," : "");
		put_json(f, &found->at[i], out);
	}
	scribe_out_text(out, "]");
}
