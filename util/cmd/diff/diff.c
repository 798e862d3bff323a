// SPDX-License-Identifier: BSD-3-Clause
/*
 * `ioscribe diff` (darshan-diff): compares two logs counter by counter. Records are sorted by file, module and rank and
 * merged; equal rows are dropped.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "logfmt/records/sum.h"
#include "util/cmd/diff/segments.h"
#include "util/logs/logfile.h"
#include "util/logs/record_sort.h"
#include "util/text/print_record.h"
#include "util/tool/command.h"

struct side {
	struct scribe_log log;
	struct scribe_record_sort *records;
	const struct scribe_record *head;
	struct scribe_out text;
	struct scribe_printer printer;
	char name[80];
};

struct diff {
	int as_stock;
	struct side side[2];
	struct scribe_out out;
	uint64_t warned; /* modules for which the version warning was printed */
	struct scribe_err err;
};

static int take(void *ctx, int key, const char *value, struct scribe_err *err)
{
	(void)ctx, (void)key, (void)value;
	return scribe_err_set(err, -1, "no options");
}

static int diff_job(struct diff *d)
{
	const struct scribe_log_job *a = scribe_reader_job(d->side[0].log.reader);
	const struct scribe_log_job *b = scribe_reader_job(d->side[1].log.reader);
	const char *exe[2] = {scribe_reader_exe(d->side[0].log.reader), scribe_reader_exe(d->side[1].log.reader)};
	const struct {
		const char *what;
		int64_t v[2];
	} lines[] = {
		{"# uid:", {a->uid, b->uid}},
		{"# start_time:", {a->start_time_sec, b->start_time_sec}},
		{"# end_time:", {a->end_time_sec, b->end_time_sec}},
		{"# nprocs:", {a->nprocs, b->nprocs}},
		/* whole seconds plus one, as darshan-diff prints it for logs of any version */
		{"# run time:",
		 {scribe_sum(scribe_difference(a->end_time_sec, a->start_time_sec), 1),
		  scribe_sum(scribe_difference(b->end_time_sec, b->start_time_sec), 1)}},
	};

	if (strcmp(exe[0], exe[1]))
		scribe_out_printf(&d->out, "- # exe:  %s\n+ # exe:  %s\n", exe[0], exe[1]);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (lines[i].v[0] != lines[i].v[1])
			scribe_out_printf(&d->out, "- %s %lld\n+ %s %lld\n", lines[i].what, (long long)lines[i].v[0],
					  lines[i].what, (long long)lines[i].v[1]);
	return 0;
}

static int render(struct diff *d, int which, const struct scribe_record *r)
{
	struct side *s = &d->side[which];
	const struct scribe_module *m = scribe_module_by_id(r->module);
	size_t len = 0;
	const char *name = scribe_names_find(s->log.names, r->id, &len);

	s->text.len = 0;
	snprintf(s->name, sizeof(s->name), "%c %s", which ? '+' : '-', m->name);
	if (s->printer.module != m) {
		int rc = scribe_printer_module(&s->printer, &s->text, m, &d->err);

		if (rc < 0)
			return rc;
	}
	s->printer.plain_place = 1;
	s->printer.as_module = s->name;
	return scribe_printer_record(&s->printer, r->data, r->len, name, len, "", "", &d->err);
}

static size_t line_len(const struct scribe_out *text, size_t at)
{
	const char *end = memchr(text->buf + at, '\n', text->len - at);

	return end ? (size_t)(end - text->buf) - at + 1 : text->len - at;
}

static const char *columns(const char *line, size_t len, size_t *ret_len)
{
	const char *p = line, *end = line + len, *from = line;

	for (int tabs = 0; p < end; p++) {
		if (*p != '\t')
			continue;
		if (++tabs == 3)
			from = p + 1;
		if (tabs == 5)
			break;
	}
	*ret_len = (size_t)(p - from);
	return from;
}

static int same_text(const struct scribe_out *a, size_t at_a, size_t len_a, const struct scribe_out *b, size_t at_b,
		     size_t len_b)
{
	size_t na, nb;
	/* Module, rank, id and name are left out: they are equal or differ only by the mark. */
	const char *ca = columns(a->buf + at_a, len_a, &na), *cb = columns(b->buf + at_b, len_b, &nb);

	return na == nb && !memcmp(ca, cb, na);
}

/* 1 or 0: row k is equal or not; -1: compare the rows' text. */
static int same_counter(const struct scribe_module *m, const void *a, const void *b, int k)
{
	/* Values, not text: a difference beyond the sixth decimal must be shown. Two NaN are equal. */
	if (k < m->ncounters)
		return scribe_record_counters(m, a)[k] == scribe_record_counters(m, b)[k];
	k -= m->ncounters;
	if (k < m->nfcounters)
		return !(scribe_record_fcounters(m, a)[k] != scribe_record_fcounters(m, b)[k]);
	return -1;
}

static int skip_row(const struct diff *d, const struct scribe_module *m, int k)
{
	/* The file ids of HDF5 datasets and PnetCDF variables follow the counters; darshan-diff omits them. */
	return d->as_stock && (m->id == SCRIBE_MOD_H5D || m->id == SCRIBE_MOD_PNETCDF_VAR) &&
	       k >= m->ncounters + m->nfcounters;
}

static void diff_rows(struct diff *d, const struct scribe_module *m, const void *rec_a, const void *rec_b)
{
	const struct scribe_out *a = &d->side[0].text, *b = &d->side[1].text;
	size_t at_a = 0, at_b = 0;

	/* Rows have a fixed order per module, so row k is the same counter in both texts. */
	for (int k = 0; (rec_a && at_a < a->len) || (rec_b && at_b < b->len); k++) {
		size_t len_a = rec_a && at_a < a->len ? line_len(a, at_a) : 0;
		size_t len_b = rec_b && at_b < b->len ? line_len(b, at_b) : 0;
		int same = rec_a && rec_b ? same_counter(m, rec_a, rec_b, k) : 0;

		if (same < 0)
			same = len_a && len_b && same_text(a, at_a, len_a, b, at_b, len_b);
		if (!same && !skip_row(d, m, k)) {
			if (len_a)
				scribe_out_bytes(&d->out, a->buf + at_a, len_a);
			if (len_b)
				scribe_out_bytes(&d->out, b->buf + at_b, len_b);
		}
		at_a += len_a;
		at_b += len_b;
	}
}

static bool is_traced(int module)
{
	return module == SCRIBE_MOD_DXT_POSIX || module == SCRIBE_MOD_DXT_MPIIO;
}

static void diff_traced(struct diff *d, const struct scribe_module *m, const struct scribe_record *a,
			const struct scribe_record *b)
{
	struct scribe_diff_segments in[2] = {{a ? a->data : NULL, NULL, 0}, {b ? b->data : NULL, NULL, 0}};

	for (int i = 0; i < 2; i++)
		in[i].name = scribe_names_find(d->side[i].log.names, a ? a->id : b->id, &in[i].len);
	scribe_diff_segments(&d->out, m, in);
}

static int diff_records(struct diff *d, const struct scribe_record *a, const struct scribe_record *b)
{
	const struct scribe_module *m = scribe_module_by_id(a ? a->module : b->module);

	if (d->as_stock && m->id == SCRIBE_MOD_LUSTRE)
		return 0;
	if (is_traced(m->id)) {
		diff_traced(d, m, a, b);
		return 0;
	}
	if ((a && render(d, 0, a) < 0) || (b && render(d, 1, b) < 0))
		return -1;
	diff_rows(d, m, a ? a->data : NULL, b ? b->data : NULL);
	return 0;
}

static int version_differs(struct diff *d, int module)
{
	unsigned va = scribe_reader_header(d->side[0].log.reader)->mod_ver[module];
	unsigned vb = scribe_reader_header(d->side[1].log.reader)->mod_ver[module];

	/* darshan-diff skips a module with two versions when both logs have the file in it. */
	if (!d->as_stock || va == vb)
		return 0;
	if (!(d->warned >> module & 1))
		fprintf(stderr,
			"Warning: skipping %s module data due to incompatible version numbers (file1=%u, "
			"file2=%u).\n",
			scribe_module_by_id(module)->name, va, vb);
	d->warned |= UINT64_C(1) << module;
	return 1;
}

static int wanted(void *ctx, int module)
{
	const struct diff *d = ctx;

	if (is_traced(module))
		return !d->as_stock;
	if (!scribe_printer_knows(module))
		return 0;
	/* darshan-diff knows neither heatmaps nor our own modules. */
	return !d->as_stock || (module != SCRIBE_MOD_HEATMAP && module < SCRIBE_MOD_POSIX_EXT);
}

static int advance(struct diff *d, int which)
{
	return scribe_record_sort_next(d->side[which].records, &d->side[which].head, &d->err);
}

static int is_at(const struct scribe_record *r, uint64_t file, int module)
{
	return r && r->file == file && r->module == module;
}

static int diff_records_of_all(struct diff *d)
{
	uint64_t file = UINT64_MAX;
	int module = -1, skip = 0, rc = 0;

	while (rc >= 0 && (d->side[0].head || d->side[1].head)) {
		const struct scribe_record *a = d->side[0].head, *b = d->side[1].head;
		int order = !a ? 1 : !b ? -1 : scribe_record_compare(a, b);
		const struct scribe_record *first = order <= 0 ? a : b;

		if (d->as_stock && first->file != file && a && a->file == first->file)
			/* one empty line per file of the first log, also without differences */
			scribe_out_text(&d->out, "\n");
		if (!is_at(first, file, module)) {
			file = first->file;
			module = first->module;
			skip = is_at(a, file, module) && is_at(b, file, module) && version_differs(d, module);
		}
		if (!skip)
			rc = diff_records(d, order <= 0 ? a : NULL, order >= 0 ? b : NULL);
		if (rc >= 0 && order <= 0)
			rc = advance(d, 0);
		if (rc >= 0 && order >= 0)
			rc = advance(d, 1);
	}
	return rc;
}

static int diff_logs(struct diff *d)
{
	int rc = advance(d, 0);

	if (rc >= 0)
		rc = advance(d, 1);
	diff_job(d);
	return rc < 0 ? rc : diff_records_of_all(d);
}

static int side_open(struct diff *d, int which, const char *path)
{
	struct side *s = &d->side[which];
	int rc = scribe_log_open(&s->log, path, SCRIBE_LOG_NAMES, &d->err);

	/* The second log's files are numbered as in the first one, so that both orders agree. */
	if (rc >= 0)
		rc = scribe_record_sort(s->log.reader, wanted, d, which ? d->side[0].records : NULL, &s->records,
					&d->err);
	if (rc >= 0)
		rc = scribe_out_open_memory(&s->text, &d->err);
	return rc;
}

static int cmd_diff(int argc, char **argv)
{
	struct diff d = {.as_stock = !strcmp(scribe_program_name(argv[0]), "darshan-diff")};
	int first, rc = 0, status = scribe_args_read(&scribe_command_diff, argc, argv, take, &d, &first);

	if (status >= 0)
		return status;
	for (int i = 0; i < 2 && rc >= 0; i++)
		rc = side_open(&d, i, argv[first + i]);
	if (rc >= 0)
		rc = scribe_out_open(&d.out, STDOUT_FILENO, &d.err);
	if (rc >= 0)
		rc = diff_logs(&d);
	if (rc >= 0)
		rc = scribe_out_flush(&d.out, &d.err);
	for (int i = 1; i >= 0; i--) {
		scribe_record_sort_free(d.side[i].records);
		scribe_printer_free(&d.side[i].printer);
		scribe_out_close(&d.side[i].text);
		scribe_log_close(&d.side[i].log);
	}
	scribe_out_close(&d.out);
	return rc < 0 ? scribe_complain_err(argv[0], &d.err) : SCRIBE_EXIT_OK;
}

static const struct scribe_option options[] = {
	{NULL, 0, NULL, NULL},
};

static const char *const examples[] = {
	"ioscribe diff before.darshan after.darshan",
	"what has changed between two runs",
	NULL,
};

const struct scribe_command scribe_command_diff = {
	.name = "diff",
	.summary = "compare two logs, counter by counter",
	.main = cmd_diff,
	.operands = "LOG1 LOG2",
	.min_operands = 2,
	.max_operands = 2,
	.options = options,
	.about = "Prints what differs between two logs: lines of the first log begin with \"- \", those of "
		 "the\n"
		 "second with \"+ \". Records are compared file by file, module by module and rank by rank; "
		 "a\n"
		 "record that only one log has is printed whole. Values are compared exactly: two lines that "
		 "look\n"
		 "the same differ beyond the sixth decimal. Traced operations (DXT) are compared by their "
		 "number\n"
		 "among the writes, or reads, of a rank's file. MPI call counters are not compared.\n"
		 "Memory does not follow the size of the logs: what does not fit goes through a temporary "
		 "file\n"
		 "in TMPDIR, else /tmp, of the size of the records; one record's traced operations are in "
		 "memory.\n\n"
		 "Under the name darshan-diff the text is that tool's: an empty line for each file, no "
		 "Lustre\n"
		 "layouts, heatmaps, traces and records of ioscribe's own, and modules whose record version "
		 "differs\n"
		 "are left out. It misreads some values of POSIX records of versions 1 to 3 (see ioscribe-parse);\n"
		 "they are right here.",
	.alias = "darshan-diff",
	.examples = examples,
};
