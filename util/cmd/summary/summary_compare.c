// SPDX-License-Identifier: BSD-3-Clause
/* Two logs beside each other: figures, files and findings that changed. Must not know how they were collected. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/cmd/summary/summary.h"
#include "util/logs/sum.h"
#include "util/text/human.h"

#define H     40
#define LEAST 0.0005 /* a smaller part is not a change */

static size_t add(struct scribe_summary_change *to, size_t n, const char *name, enum scribe_fact_unit unit, double a,
		  double b)
{
	struct scribe_summary_change *c = &to[n];

	if (n == SCRIBE_SUMMARY_CHANGES || (a == 0 && b == 0))
		return n;
	*c = (struct scribe_summary_change){.unit = unit, .a = isfinite(a) ? a : 0, .b = isfinite(b) ? b : 0};
	snprintf(c->name, sizeof(c->name), "%s", name);
	return n + 1;
}

static const struct scribe_summary_module *module_in(const struct scribe_summary *s, int module)
{
	static const struct scribe_summary_module none;

	for (int i = 0; i < s->nmodules; i++)
		if (s->modules[i].module == module)
			return &s->modules[i];
	return &none;
}

static size_t add_module(struct scribe_summary_change *to, size_t n, const char *module,
			 const struct scribe_summary_module *a, const struct scribe_summary_module *b)
{
	const struct {
		const char *name;
		enum scribe_fact_unit unit;
		double a, b;
	} figures[] = {
		{"time", SCRIBE_UNIT_SECONDS, a->perf.agg_time, b->perf.agg_time},
		{"read", SCRIBE_UNIT_BYTES, (double)a->perf.bytes_read, (double)b->perf.bytes_read},
		{"written", SCRIBE_UNIT_BYTES, (double)a->perf.bytes_written, (double)b->perf.bytes_written},
		{"reads", SCRIBE_UNIT_COUNT, (double)a->reads, (double)b->reads},
		{"writes", SCRIBE_UNIT_COUNT, (double)a->writes, (double)b->writes},
		{"opens", SCRIBE_UNIT_COUNT, (double)a->opens, (double)b->opens},
		{"files", SCRIBE_UNIT_COUNT, (double)a->files[SCRIBE_FILES_ALL].count,
		 (double)b->files[SCRIBE_FILES_ALL].count},
	};
	char name[32];

	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		snprintf(name, sizeof(name), "%s %s", module, figures[i].name);
		n = add(to, n, name, figures[i].unit, figures[i].a, figures[i].b);
	}
	return n;
}

size_t scribe_summary_changes(const struct scribe_summary *a, const struct scribe_summary *b,
			      struct scribe_summary_change *ret_changes)
{
	static const enum scribe_fact job[] = {SCRIBE_FACT_run_time,   SCRIBE_FACT_io_time,   SCRIBE_FACT_read_time,
					       SCRIBE_FACT_write_time, SCRIBE_FACT_meta_time, SCRIBE_FACT_stream_time,
					       SCRIBE_FACT_ranks};
	static const char *const names[] = {"run time", "slowest rank", "reading", "writing",
					    "metadata", "streams",      "ranks"};
	size_t n = 0;

	for (size_t i = 0; i < sizeof(job) / sizeof(job[0]); i++)
		n = add(ret_changes, n, names[i], scribe_fact_about(job[i])->unit, a->facts.v[job[i]],
			b->facts.v[job[i]]);
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		if (scribe_accum_supports(i))
			n = add_module(ret_changes, n, scribe_module_by_id(i)->name, module_in(a, i), module_in(b, i));
	return n;
}

static const char *quantity(enum scribe_fact_unit unit, double v, char *to)
{
	if (unit == SCRIBE_UNIT_BYTES)
		return scribe_human_bytes(scribe_whole(v), to, H);
	if (unit == SCRIBE_UNIT_COUNT)
		return scribe_human_count(scribe_whole(v), to, H);
	snprintf(to, H, "%.4g s", v);
	return to;
}

static const char *change_of(double a, double b, char *to)
{
	if (a == b)
		return "";
	if (a == 0)
		snprintf(to, H, "new");
	else if (fabs(b / a) >= 10)
		snprintf(to, H, "x %.3g", b / a);
	else if (fabs(b / a - 1) < LEAST)
		snprintf(to, H, "+-0 %%");
	else
		snprintf(to, H, "%+.3g %%", 100 * (b / a - 1));
	return to;
}

static void put_figures(const struct scribe_summary *a, const struct scribe_summary *b, struct scribe_out *out)
{
	struct scribe_summary_change change[SCRIBE_SUMMARY_CHANGES];
	const size_t n = scribe_summary_changes(a, b, change);
	char x[H], y[H], z[H];

	scribe_out_printf(out, "%-16s %20s %20s %12s\n", "", "first", "second", "change");
	for (size_t i = 0; i < n; i++) {
		const char *by = change_of(change[i].a, change[i].b, z);

		scribe_out_printf(out, "%-16s %20s %20s%s%*s\n", change[i].name,
				  quantity(change[i].unit, change[i].a, x), quantity(change[i].unit, change[i].b, y),
				  by[0] ? " " : "", by[0] ? 12 : 0, by);
	}
}

static double seconds_of(const struct scribe_facts *f, uint64_t id)
{
	const struct scribe_file_facts *file = scribe_map_get(&f->by_id, id);

	return file ? scribe_file_seconds(file->v) : 0;
}

static void insert(struct scribe_summary_file_change *most, size_t *n, uint64_t id, double a, double b)
{
	size_t at = *n;

	while (at > 0 && fabs(most[at - 1].b - most[at - 1].a) < fabs(b - a))
		at--;
	if (at == SCRIBE_SUMMARY_CHANGED_FILES || a == b)
		return;
	*n += *n < SCRIBE_SUMMARY_CHANGED_FILES;
	for (size_t i = *n - 1; i > at; i--)
		most[i] = most[i - 1];
	most[at] = (struct scribe_summary_file_change){id, a, b};
}

size_t scribe_summary_file_changes(const struct scribe_summary *a, const struct scribe_summary *b,
				   struct scribe_summary_file_change *ret_most)
{
	size_t n = 0;

	for (size_t i = 0; i < a->facts.nfiles; i++)
		insert(ret_most, &n, a->facts.file[i]->id, scribe_file_seconds(a->facts.file[i]->v),
		       seconds_of(&b->facts, a->facts.file[i]->id));
	for (size_t i = 0; i < b->facts.nfiles; i++)
		if (!scribe_map_get(&a->facts.by_id, b->facts.file[i]->id))
			insert(ret_most, &n, b->facts.file[i]->id, 0, scribe_file_seconds(b->facts.file[i]->v));
	return n;
}

const char *scribe_summary_changed_name(const struct scribe_summary *a, const struct scribe_summary *b, uint64_t id)
{
	const char *name = scribe_names_find(a->log.names, id, NULL);

	name = name ? name : scribe_names_find(b->log.names, id, NULL);
	return name ? name : "(no name)";
}

static void put_files(const struct scribe_summary *a, const struct scribe_summary *b, struct scribe_out *out)
{
	struct scribe_summary_file_change most[SCRIBE_SUMMARY_CHANGED_FILES];
	const size_t n = scribe_summary_file_changes(a, b, most);
	char x[H], y[H], shown[4 * 4096];

	if (n)
		scribe_out_text(out, "\nfiles whose I/O time changed most\n");
	for (size_t i = 0; i < n; i++)
		scribe_out_printf(
			out, "  %12s %12s  %s\n", quantity(SCRIBE_UNIT_SECONDS, most[i].a, x),
			quantity(SCRIBE_UNIT_SECONDS, most[i].b, y),
			scribe_human_text(scribe_summary_changed_name(a, b, most[i].id), shown, sizeof(shown)));
}

static bool has(const struct scribe_findings *found, const char *rule)
{
	for (size_t i = 0; i < found->n; i++)
		if (!strcmp(found->at[i].rule->name, rule))
			return true;
	return false;
}

static void put_findings(const struct scribe_findings *of, const struct scribe_findings *other, const char *what,
			 struct scribe_out *out)
{
	char text[1024], line[1200];

	for (size_t i = 0; i < of->n; i++) {
		const struct scribe_finding *x = &of->at[i];

		if (has(other, x->rule->name))
			continue;
		snprintf(line, sizeof(line), "%s, %s: %s", scribe_severity_name(x->severity), x->rule->name,
			 scribe_finding_text(x, text, sizeof(text)));
		scribe_out_wrapped(out, what, line);
	}
}

void scribe_summary_print_compared(const struct scribe_summary *a, const struct scribe_summary *b,
				   struct scribe_out *out)
{
	char shown[4096];

	scribe_out_printf(out, "first      %s\n", scribe_human_text(a->log.path, shown, sizeof(shown)));
	scribe_out_printf(out, "second     %s\n", scribe_human_text(b->log.path, shown, sizeof(shown)));
	put_findings(&a->findings, &b->findings, "gone       ", out);
	put_findings(&b->findings, &a->findings, "new        ", out);
	put_figures(a, b, out);
	put_files(a, b, out);
}
