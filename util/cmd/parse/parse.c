// SPDX-License-Identifier: BSD-3-Clause
/* `ioscribe parse` (darshan-parser): a log as text, line for line as that tool prints it. One pass over each module. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "logfmt/file/names.h"
#include "logfmt/file/reader.h"
#include "util/logs/accum.h"
#include "util/logs/logfile.h"
#include "util/logs/print_job.h"
#include "util/logs/sum.h"
#include "util/text/describe.h"
#include "util/text/print_record.h"
#include "util/text/shown_name.h"
#include "util/tool/command.h"

enum what {
	WHAT_BASE = 1 << 0,
	WHAT_TOTAL = 1 << 1,
	WHAT_PERF = 1 << 2,
	WHAT_FILE = 1 << 3,
	WHAT_ALL = WHAT_BASE | WHAT_TOTAL | WHAT_PERF | WHAT_FILE,
};

struct parse {
	unsigned what; /* enum what */
	int show_incomplete;
	int escape;
	int apmpi;
	const char *argv0;
	struct scribe_out out;
	struct scribe_log log;
	struct scribe_printer printer;
	struct scribe_shown_name shown;
	struct scribe_err err;
};

static int take(void *ctx, int key, const char *value, struct scribe_err *err)
{
	struct parse *p = ctx;

	(void)value, (void)err;
	switch (key) {
	case 'a':
		p->what |= WHAT_ALL;
		p->show_incomplete = 1; /* as in darshan-parser */
		break;
	case 'b':
		p->what |= WHAT_BASE;
		break;
	case 'f':
		p->what |= WHAT_FILE;
		break;
	case 'p':
		p->what |= WHAT_PERF;
		break;
	case 't':
		p->what |= WHAT_TOTAL;
		break;
	case 'e':
		p->escape = 1;
		break;
	case 'm':
		p->apmpi = 1;
		break;
	default:
		p->show_incomplete = 1;
	}
	return 0;
}

static void print_columns(struct scribe_out *out)
{
	scribe_out_text(out, "\n# description of columns:\n"
			     "#   <module>: module responsible for this I/O record.\n"
			     "#   <rank>: MPI rank.  -1 indicates that the file is shared\n"
			     "#      across all processes and statistics are aggregated.\n"
			     "#   <record id>: hash of the record's file path\n"
			     "#   <counter name> and <counter value>: statistical counters.\n"
			     "#      A value of -1 indicates that Darshan could not monitor\n"
			     "#      that counter, and its value should be ignored.\n"
			     "#   <file name>: full file path for the record.\n"
			     "#   <mount pt>: mount point that the file resides on.\n"
			     "#   <fs type>: type of file system that the file resides on.\n");
}

static void print_total(struct scribe_out *out, const struct scribe_module *m, unsigned version,
			const struct scribe_accum *a)
{
	const int64_t *ints = scribe_record_counters(m, scribe_accum_total(a));
	const double *reals = scribe_record_fcounters(m, scribe_accum_total(a));

	scribe_describe(out, m->id, version);
	scribe_out_text(out, "\n");
	for (int i = 0; i < m->ncounters; i++)
		scribe_out_printf(out, "total_%s: %lld\n", m->counters[i].name, (long long)ints[i]);
	for (int i = 0; i < m->nfcounters; i++)
		scribe_out_printf(out, "total_%s: %f\n", m->fcounters[i].name, reals[i]);
}

static void print_category(struct scribe_out *out, const char *name, int64_t count, int64_t bytes, int64_t offset)
{
	scribe_out_printf(out, "# %s: %lld %lld %lld\n", name, (long long)count, (long long)bytes, (long long)offset);
}

static void print_files(struct scribe_out *out, const struct scribe_accum *a)
{
	static const char *const names[] = {"total", "read_only", "write_only", "read_write", "unique"};
	struct scribe_category c[SCRIBE_FILES_CATEGORIES];
	const struct scribe_category *shared = &c[SCRIBE_FILES_SHARED], *part = &c[SCRIBE_FILES_PART_SHARED];

	/* "shared": files of all ranks and files of several ranks together. */
	scribe_accum_files(a, c);
	scribe_out_text(out, "\n# Total file counts\n"
			     "# -----\n"
			     "# <file_type>: type of file access:\n"
			     "#    *read_only: file was only read\n"
			     "#    *write_only: file was only written\n"
			     "#    *read_write: file was read and written\n"
			     "#    *unique: file was opened by a single process only\n"
			     "#    *shared: file was accessed by a group of processes (maybe all processes)\n"
			     "# <file_count> total number of files of this type\n"
			     "# <total_bytes> total number of bytes moved to/from files of this type\n"
			     "# <max_byte_offset> maximum byte offset accessed for a file of this type\n"
			     "\n# <file_type> <file_count> <total_bytes> <max_byte_offset>\n");
	for (int i = 0; i < 5; i++)
		print_category(out, names[i], c[i].count, c[i].bytes, c[i].max_offset);
	print_category(out, "shared", shared->count + part->count, scribe_sum(shared->bytes, part->bytes),
		       scribe_sum(shared->max_offset, part->max_offset));
}

static void print_perf(struct scribe_out *out, const struct scribe_accum *a)
{
	struct scribe_perf p;

	scribe_accum_perf(a, &p);
	scribe_out_printf(out, "\n# performance\n# -----------\n# total_bytes: %lld\n#\n",
			  (long long)scribe_sum(p.bytes_read, p.bytes_written));
	scribe_out_printf(out,
			  "# I/O timing for unique files (seconds):\n"
			  "# ...........................\n"
			  "# unique files: slowest_rank_io_time: %f\n"
			  "# unique files: slowest_rank_meta_only_time: %f\n"
			  "# unique files: slowest_rank_rw_only_time: %f\n"
			  "# unique files: slowest_rank: %lld\n#\n",
			  p.unique_time, p.unique_meta_time, p.unique_rw_time, (long long)p.unique_slowest_rank);
	scribe_out_printf(out,
			  "# I/O timing for shared files (seconds):\n"
			  "# ...........................\n"
			  "# shared files: time_by_slowest: %f\n#\n"
			  "# Aggregate performance, including both shared and unique files:\n"
			  "# ...........................\n"
			  "# agg_time_by_slowest: %f # seconds\n"
			  "# agg_perf_by_slowest: %f # MiB/s\n",
			  p.shared_time, p.agg_time, p.agg_perf);
}

static int print_one(struct parse *p, const void *record, size_t len)
{
	const struct scribe_base_record *base = record;
	size_t name_len = 0;
	const char *name = scribe_names_find(p->log.names, base->id, &name_len);
	struct scribe_mount mount = scribe_print_mount_of(p->log.mounts, p->log.nmounts, name);

	if (p->escape)
		name = scribe_shown_name(&p->shown, name, &name_len);
	return scribe_printer_record(&p->printer, record, len, name, name_len, mount.path, mount.type, &p->err);
}

static int each_record(struct parse *p, const struct scribe_module *m, struct scribe_accum *accum)
{
	const void *record;
	size_t len;
	int rc;

	while ((rc = scribe_reader_borrow_record(p->log.reader, m->id, &record, &len)) > 0) {
		if (p->what & WHAT_BASE && print_one(p, record, len) < 0)
			return -1;
		if (accum && scribe_accum_add(accum, record, &p->err) < 0)
			return -1;
	}
	if (rc < 0)
		p->err = *scribe_reader_error(p->log.reader);
	return rc;
}

static int print_records(struct parse *p, const struct scribe_module *m)
{
	unsigned version = scribe_reader_header(p->log.reader)->mod_ver[m->id];
	unsigned want = (p->what & WHAT_TOTAL ? SCRIBE_WANT_TOTAL : 0) | (p->what & WHAT_FILE ? SCRIBE_WANT_FILES : 0) |
			(p->what & WHAT_PERF ? SCRIBE_WANT_PERF : 0);
	struct scribe_accum *accum = NULL;
	int rc;

	if (p->what & WHAT_BASE) {
		if (scribe_module_by_id(m->id))
			scribe_describe(&p->out, m->id, version);
		else
			scribe_out_printf(&p->out, "\n# this program does not know the module; its counters as the "
						   "log names them\n");
		scribe_out_text(&p->out, "\n#<module>\t<rank>\t<record id>\t<counter>\t<value>\t<file name>\t"
					 "<mount pt>\t<fs type>\n");
	}
	if (scribe_printer_module(&p->printer, &p->out, m, &p->err) < 0)
		return -1;
	if (want && scribe_accum_supports(m->id) && scribe_accum_new(m->id, want, &accum, &p->err) < 0)
		return -1;
	rc = each_record(p, m, accum);
	if (rc == 0 && accum) {
		if (p->what & WHAT_TOTAL)
			print_total(&p->out, m, version, accum);
		if (p->what & WHAT_FILE)
			print_files(&p->out, accum);
		if (p->what & WHAT_PERF)
			print_perf(&p->out, accum);
	}
	scribe_accum_free(accum);
	return rc;
}

/* `has_data` is 0 for a module that is only marked as incomplete. */
static int print_module(struct parse *p, const struct scribe_module *m, int has_data)
{
	char why[512];

	scribe_out_printf(&p->out,
			  "\n# *******************************************************\n"
			  "# %s module data\n"
			  "# *******************************************************\n",
			  m->name);
	if (scribe_is_partial(p->log.reader, m->id)) {
		if (!p->show_incomplete)
			return scribe_err_set(&p->err, -SCRIBE_E_STATE,
					      "%s: the %s module's data are incomplete, %s; "
					      "--show-incomplete prints what there is",
					      p->log.path, m->name,
					      scribe_partial_why(p->log.reader, why, sizeof(why)));
		scribe_print_partial(&p->out, m->name);
		scribe_out_text(&p->out, "\n# To avoid this error, consult the darshan-runtime\n"
					 "# documentation and consider setting the\n"
					 "# DARSHAN_EXCLUDE_DIRS environment variable to prevent\n"
					 "# Darshan from instrumenting unnecessary files.\n");
	}
	return has_data ? print_records(p, m) : 0;
}

static void warn_skipped(struct parse *p, int module)
{
	const struct scribe_module *m = scribe_module_by_id(module);
	const struct scribe_module *named = scribe_reader_module(p->log.reader, module);

	/* Flushed, so that the warning on standard error appears where the module would be. */
	scribe_out_flush(&p->out, NULL);
	if (!m && named)
		fprintf(stderr, "# Warning: module %s (id %d) has an encoding of its own, SKIPPING.\n", named->name,
			module);
	else if (m || module == SCRIBE_MOD_APXC)
		fprintf(stderr, "# Warning: no log utility handlers defined for module %s, SKIPPING.%s\n",
			m ? m->name : "APXC", m ? " (--apmpi prints it)" : "");
	else
		fprintf(stderr,
			"# Warning: module id %d is unknown. You may need a newer version of the tools to "
			"parse it.\n",
			module);
}

static int wanted(const struct parse *p, int module, int has_data)
{
	if (!has_data)
		return scribe_module_by_id(module) && scribe_is_partial(p->log.reader, module);
	/* Traces belong to `ioscribe dxt`. */
	if (module == SCRIBE_MOD_DXT_POSIX || module == SCRIBE_MOD_DXT_MPIIO)
		return 0;
	return p->what & WHAT_BASE || scribe_accum_supports(module);
}

static int described(const struct parse *p, int module)
{
	const struct scribe_reader_info *info = scribe_reader_info(p->log.reader);

	return (info->unknown & ~info->opaque) >> module & 1 && scribe_reader_module(p->log.reader, module);
}

static int print_modules(struct parse *p)
{
	const struct scribe_log_header *h = scribe_reader_header(p->log.reader);
	int empty = 0;

	for (int i = 0; i < SCRIBE_MAX_MODULES; i++) {
		int has_data = h->mod_map[i].len != 0, rc;
		int is_dxt = i == SCRIBE_MOD_DXT_POSIX || i == SCRIBE_MOD_DXT_MPIIO;

		empty += !has_data;
		if (described(p, i)) {
			rc = p->what & WHAT_BASE ? print_module(p, scribe_reader_module(p->log.reader, i), 1) : 0;
			if (rc < 0)
				return rc;
			continue;
		}
		if (has_data && !is_dxt && !scribe_printer_knows(i) && !(p->apmpi && i == SCRIBE_MOD_APMPI)) {
			warn_skipped(p, i);
			continue;
		}
		if (!wanted(p, i, has_data))
			continue;
		rc = print_module(p, scribe_module_by_id(i), has_data);
		if (rc < 0)
			return rc;
	}
	if (empty == SCRIBE_MAX_MODULES)
		scribe_out_text(&p->out, "\n# no module data available.\n");
	return 0;
}

static int parse_log(struct parse *p, const char *path)
{
	int rc = scribe_log_open(&p->log, path, p->what & WHAT_BASE ? SCRIBE_LOG_NAMES : 0, &p->err);

	if (rc < 0)
		return rc;
	rc = scribe_out_open(&p->out, STDOUT_FILENO, &p->err);
	if (rc < 0)
		return rc;
	/* Old POSIX records are shown with Darshan's errors, to equal its text (reader.h, as_stock). */
	scribe_reader_as_stock(p->log.reader, true);
	p->escape |= p->out.terminal;
	scribe_print_job(&p->out, &p->log);
	if (p->what & WHAT_BASE)
		print_columns(&p->out);
	rc = print_modules(p);
	return scribe_out_flush(&p->out, rc < 0 ? NULL : &p->err) < 0 ? -1 : rc;
}

static int cmd_parse(int argc, char **argv)
{
	struct parse p = {.argv0 = argv[0]};
	int first, rc, status = scribe_args_read(&scribe_command_parse, argc, argv, take, &p, &first);

	if (status >= 0)
		return status;
	if (!p.what)
		p.what = WHAT_BASE;
	rc = parse_log(&p, argv[first]);
	scribe_printer_free(&p.printer);
	scribe_log_close(&p.log);
	scribe_out_close(&p.out);
	scribe_shown_name_clear(&p.shown);
	return rc < 0 ? scribe_complain_err(argv[0], &p.err) : SCRIBE_EXIT_OK;
}

static const struct scribe_option options[] = {
	{"all", 'a', NULL, "print everything: records, totals, file counts and performance, incomplete data too"},
	{"base", 'b', NULL, "print every record's counters, one a line (this is the default)"},
	{"file", 'f', NULL, "print counts of files: read only, written only, both, unique, shared"},
	{"perf", 'p', NULL, "print the performance derived from the records"},
	{"total", 't', NULL, "print the sums of all records' counters"},
	{"show-incomplete", 'i', NULL, "print what there is of modules that are incomplete"},
	{"apmpi", 'm', NULL, "print counters of MPI calls (APMPI) too; the stock text has them only in some builds"},
	{"escape", 'e', NULL, "show names that hold control characters or no valid UTF-8 as \\xHH, losslessly"},
	{NULL, 0, NULL, NULL},
};

static const char *const examples[] = {
	"ioscribe parse job.darshan",
	"every counter of every record",
	"ioscribe parse --total --perf job.darshan",
	"the sums and the performance estimate",
	"ioscribe parse --base job.darshan | awk -F'\\t' '$4 == \"POSIX_BYTES_WRITTEN\" && $5 > 0'",
	"the files that were written",
	NULL,
};

const struct scribe_command scribe_command_parse = {
	.name = "parse",
	.summary = "print a log as text, as darshan-parser does",
	.main = cmd_parse,
	.operands = "LOG",
	.min_operands = 1,
	.max_operands = 1,
	.options = options,
	.about = "Prints a log as text: lines that begin with # about the job, the regions of the file and "
		 "the\n"
		 "mounted file systems, then one line a counter with the columns module, rank, record id,\n"
		 "counter, value, file name, mount point and file system type, separated by tabs. The text "
		 "is\n"
		 "that of darshan-parser.\n\n"
		 "Rank -1 stands for a record shared by all ranks and reduced. A value of -1 means that the\n"
		 "counter could not be monitored. Traces of single operations are printed by ioscribe dxt.\n\n"
		 "A module whose memory ran out while the job ran is marked in the log; its data are refused\n"
		 "unless --show-incomplete is given.\n\n"
		 "In POSIX records of versions 1 to 3 (Darshan before 3.2) the stock text has wrong values, "
		 "and\n"
		 "so has this: the variances and, in logs of the other byte order, META_TIME and MAX_*_TIME.\n"
		 "All other commands have the right ones.",
	.alias = "darshan-parser",
	.examples = examples,
};
