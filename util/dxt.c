// SPDX-License-Identifier: BSD-3-Clause
/*
 * ioscribe dxt: traces of single operations as text, line for line what
 * darshan-dxt-parser prints. Logs that name the thread of an operation get the
 * two further columns that newer stock tools print.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/names.h"
#include "util/command.h"
#include "util/logfile.h"
#include "util/number.h"
#include "util/print_job.h"
#include "util/print_record.h"
#include "util/shown_name.h"

#define NO_NAME "(null)"

struct layout {
	uint64_t id;
	struct scribe_lustre_record *record;
};

struct dxt {
	int show_incomplete, escape;
	struct scribe_shown_name shown;
	struct scribe_out out;
	struct scribe_log log;
	struct layout *layouts; /* Lustre layouts by record id */
	size_t nlayouts, cap_layouts;
	struct scribe_err err;
};

/* Text of a DXT module; `threads_from`: first version with thread ids. */
static const struct trace_module {
	int module;
	unsigned threads_from;
	const char *tag;
	int trailing; /* blanks behind a line without further columns */
} traces[] = {
	{SCRIBE_MOD_DXT_POSIX, 2, " X_POSIX", 3},
	{SCRIBE_MOD_DXT_MPIIO, 3, " X_MPIIO", 0},
};

static int take(void *ctx, int key, const char *value, struct scribe_err *err)
{
	struct dxt *d = ctx;

	(void)value, (void)err;
	if (key == 'e')
		d->escape = 1;
	else
		d->show_incomplete = 1;
	return 0;
}

/* ---- Lustre layouts ---- */

static int by_id(const void *a, const void *b)
{
	const struct layout *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int layout_add(struct dxt *d, const void *record, size_t len)
{
	struct layout *l;

	if (d->nlayouts == d->cap_layouts) {
		size_t cap = d->cap_layouts ? 2 * d->cap_layouts : 64;
		struct layout *bigger = realloc(d->layouts, cap * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		d->layouts = bigger;
		d->cap_layouts = cap;
	}
	l = &d->layouts[d->nlayouts];
	l->record = malloc(len);
	if (!l->record)
		return -ENOMEM;
	memcpy(l->record, record, len);
	l->id = l->record->base.id;
	d->nlayouts++;
	return 0;
}

/* Refuse, or warn of, a module whose memory ran out in the job. */
static int check_partial(struct dxt *d, int module)
{
	const char *name = scribe_module_by_id(module)->name;

	if (!scribe_is_partial(d->log.reader, module))
		return 0;
	if (!d->show_incomplete)
		return scribe_err_set(
			&d->err, -SCRIBE_E_STATE,
			"%s: the %s module's data are incomplete, its memory ran out in the job; "
			"--show-incomplete prints what there is",
			d->log.path, name);
	scribe_print_partial(&d->out, name);
	scribe_out_text(&d->out, "\n# To avoid this error, consult the darshan-runtime\n"
				 "# documentation and consider setting the\n"
				 "# DARSHAN_EXCLUDE_DIRS or DXT_TRIGGER_CONF_PATH\n"
				 "# environment variable to prevent Darshan from\n"
				 "# instrumenting unecessary files.\n");
	return 0;
}

static int layouts_load(struct dxt *d)
{
	const void *record;
	size_t len;
	int rc = check_partial(d, SCRIBE_MOD_LUSTRE);

	if (rc < 0)
		return rc;
	while ((rc = scribe_reader_borrow_record(d->log.reader, SCRIBE_MOD_LUSTRE, &record, &len)) > 0)
		if (layout_add(d, record, len) < 0)
			return scribe_err_set(&d->err, -ENOMEM, "%s: LUSTRE records: out of memory",
					      d->log.path);
	if (rc < 0) {
		d->err = *scribe_reader_error(d->log.reader);
		return rc;
	}
	if (d->nlayouts)
		qsort(d->layouts, d->nlayouts, sizeof(*d->layouts), by_id);
	return 0;
}

static const struct scribe_lustre_record *layout_find(const struct dxt *d, uint64_t id)
{
	struct layout key = {.id = id}, *found = NULL;

	if (d->nlayouts)
		found = bsearch(&key, d->layouts, d->nlayouts, sizeof(*d->layouts), by_id);
	return found ? found->record : NULL;
}

static void print_layout(struct scribe_out *out, const struct scribe_lustre_record *l)
{
	const int64_t *osts = (const int64_t *)(l->comps + l->num_comps);
	int64_t at = 0;

	scribe_out_text(out, "# DXT, Lustre stripe components:\n");
	for (int64_t i = 0; i < l->num_comps; i++) {
		const int64_t *c = l->comps[i].counters;

		scribe_out_printf(out, "#\t[Component %d] stripe_ext: %lld - ", (int)i + 1,
				  (long long)c[SCRIBE_LUSTRE_COMP_EXT_START]);
		if (c[SCRIBE_LUSTRE_COMP_EXT_END] == -1)
			scribe_out_text(out, "EOF, ");
		else
			scribe_out_printf(out, "%lld, ", (long long)c[SCRIBE_LUSTRE_COMP_EXT_END]);
		scribe_out_printf(out, "stripe_size: %lld, stripe_count: %lld, OSTs:",
				  (long long)c[SCRIBE_LUSTRE_COMP_STRIPE_SIZE],
				  (long long)c[SCRIBE_LUSTRE_COMP_STRIPE_COUNT]);
		for (int64_t j = 0; j < c[SCRIBE_LUSTRE_COMP_STRIPE_COUNT] && at < l->num_stripes; j++)
			scribe_out_printf(out, " %lld", (long long)osts[at++]);
		scribe_out_text(out, "\n");
	}
}

/*
 * One component's targets that the bytes from *cur to `end` touch, each once; *cur
 * moves on. `osts` has at least STRIPE_COUNT places; sizes are positive.
 */
static void print_targets(struct scribe_out *out, const int64_t *c, const int64_t *osts, int64_t *cur,
			  int64_t end, int64_t *printed)
{
	int64_t size = c[SCRIBE_LUSTRE_COMP_STRIPE_SIZE], count = c[SCRIBE_LUSTRE_COMP_STRIPE_COUNT];
	int64_t from = c[SCRIBE_LUSTRE_COMP_EXT_START], to = c[SCRIBE_LUSTRE_COMP_EXT_END];
	int64_t in_comp = *cur - from, target = in_comp / size % count;

	while (*cur < end && (*cur < to || to == -1)) {
		scribe_out_printf(out, " [%lld]", (long long)osts[target]);
		target = target == count - 1 ? 0 : target + 1;
		if (__builtin_mul_overflow(in_comp / size + 1, size, &in_comp) ||
		    __builtin_add_overflow(from, in_comp, cur))
			*cur = end;
		if (++*printed >= count) {
			*cur = to == -1 ? end : to;
			break;
		}
	}
}

static void print_osts(struct scribe_out *out, const struct scribe_lustre_record *l,
		       const struct scribe_dxt_segment *s)
{
	const int64_t *osts = (const int64_t *)(l->comps + l->num_comps);
	int64_t cur = s->offset, first = 0, printed = 0, end;

	if (s->offset < 0 || __builtin_add_overflow(s->offset, s->length, &end))
		return;
	for (int64_t i = 0; i < l->num_comps; i++) {
		const int64_t *c = l->comps[i].counters;
		int64_t count = c[SCRIBE_LUSTRE_COMP_STRIPE_COUNT], from = c[SCRIBE_LUSTRE_COMP_EXT_START];
		int64_t to = c[SCRIBE_LUSTRE_COMP_EXT_END];

		if (count <= 0 || c[SCRIBE_LUSTRE_COMP_STRIPE_SIZE] <= 0)
			continue; /* data on the metadata server */
		if (count > l->num_stripes - first)
			return; /* the record does not name so many targets */
		if (from >= 0 && cur >= from && (cur < to || to == -1))
			print_targets(out, c, osts + first, &cur, end, &printed);
		first += count;
	}
}

/* ---- segments ---- */

/* Right-aligned in `width` columns, or longer. */
static char *put_right(char *to, const char *text, size_t n, size_t width)
{
	if (n < width) {
		memset(to, ' ', width - n);
		to += width - n;
	}
	memcpy(to, text, n);
	return to + n;
}

static char *put_int(char *to, int64_t v, size_t width)
{
	char text[24];

	return put_right(to, text, (size_t)(scribe_put_i64(text, v) - text), width);
}

static char *put_real(char *to, double v, size_t width)
{
	char text[SCRIBE_NUMBER_MAX];

	return put_right(to, text, (size_t)(scribe_put_fixed(text, v, 4) - text), width);
}

static void print_segments(struct dxt *d, const struct trace_module *t, const struct scribe_dxt_record *r,
			   int64_t from, int64_t n, const char *kind,
			   const struct scribe_lustre_record *layout, int threads)
{
	for (int64_t i = 0; i < n; i++) {
		const struct scribe_dxt_segment *s = &r->segments[from + i];
		char *p = scribe_out_room(&d->out, 1024);

		memcpy(p, t->tag, 8);
		p = put_int(p + 8, r->base.rank, 8);
		p = put_right(p, kind, strlen(kind), 7);
		p = put_int(p, i, 9);
		p = put_int(p, s->offset, 16);
		p = put_int(p, s->length, 16);
		p = put_real(p, s->start, 12);
		p = put_real(p, s->end, 12);
		memcpy(p, "   ", 3);
		scribe_out_done(&d->out, p + (threads ? 2 : t->trailing));
		if (layout)
			print_osts(&d->out, layout, s);
		if (threads && layout && layout->num_comps)
			scribe_out_text(&d->out, "  ");
		if (threads)
			scribe_out_printf(&d->out, " %4llu", (unsigned long long)s->thread);
		scribe_out_bytes(&d->out, "\n", 1);
	}
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* How many threads did the operations; 0: out of memory. */
static size_t count_threads(const struct scribe_dxt_record *r)
{
	size_t n = (size_t)(r->write_count + r->read_count), distinct = 1;
	uint64_t *ids;

	if (n == 0)
		return 1;
	ids = malloc(n * sizeof(*ids));
	if (!ids)
		return 0;
	for (size_t i = 0; i < n; i++)
		ids[i] = r->segments[i].thread;
	qsort(ids, n, sizeof(*ids), compare_u64);
	for (size_t i = 1; i < n; i++)
		distinct += ids[i] != ids[i - 1];
	free(ids);
	return distinct;
}

static void print_record(struct dxt *d, const struct trace_module *t, const struct scribe_dxt_record *r)
{
	int threads = scribe_reader_header(d->log.reader)->mod_ver[t->module] >= t->threads_from;
	size_t len = strlen(NO_NAME);
	const char *name = scribe_names_find(d->log.names, r->base.id, &len);
	struct scribe_mount mount = scribe_mount_of(d->log.mounts, d->log.nmounts, name);
	const struct scribe_lustre_record *layout =
		t->module == SCRIBE_MOD_DXT_POSIX ? layout_find(d, r->base.id) : NULL;
	struct scribe_out *out = &d->out;

	scribe_out_printf(out, "\n# DXT, file_id: %llu, file_name: ", (unsigned long long)r->base.id);
	if (d->escape)
		name = scribe_shown_name(&d->shown, name, &len);
	scribe_out_bytes(out, name ? name : NO_NAME, len);
	scribe_out_printf(out, "\n# DXT, rank: %lld, hostname: %.*s\n", (long long)r->base.rank,
			  (int)sizeof(r->hostname), r->hostname);
	if (threads)
		scribe_out_printf(out, "# DXT, number of threads: %zu\n", count_threads(r));
	scribe_out_printf(out, "# DXT, write_count: %lld, read_count: %lld\n", (long long)r->write_count,
			  (long long)r->read_count);
	scribe_out_printf(out, "# DXT, mnt_pt: %s, fs_type: %s\n", mount.path, mount.type);
	if (layout)
		print_layout(out, layout);
	scribe_out_printf(out,
			  "# Module    Rank  Wt/Rd  Segment          Offset       %sLength    Start(s)"
			  "      End(s)",
			  threads ? "   " : "");
	if (layout)
		scribe_out_text(out, "   [OST]");
	scribe_out_text(out, threads ? "   Pthread-ID\n" : "\n");
	print_segments(d, t, r, 0, r->write_count, "write", layout, threads);
	print_segments(d, t, r, r->write_count, r->read_count, "read", layout, threads);
}

/* ---- modules ---- */

static int print_trace(struct dxt *d, const struct trace_module *t)
{
	const char *name = scribe_module_by_id(t->module)->name;
	const void *record;
	size_t len;
	int rc;

	scribe_out_printf(&d->out,
			  "\n# ***************************************************\n"
			  "# %s module data\n"
			  "# ***************************************************\n",
			  name);
	rc = check_partial(d, t->module);
	if (rc < 0)
		return rc;
	while ((rc = scribe_reader_borrow_record(d->log.reader, t->module, &record, &len)) > 0)
		print_record(d, t, record);
	if (rc < 0)
		d->err = *scribe_reader_error(d->log.reader);
	return rc;
}

static int print_traces(struct dxt *d)
{
	int any = 0, rc;

	for (int i = 0; i < 2; i++)
		any |= scribe_reader_header(d->log.reader)->mod_map[traces[i].module].len != 0;
	if (!any) {
		scribe_out_text(&d->out, "\n# no DXT module data available for this Darshan log.\n");
		return 0;
	}
	rc = scribe_reader_has(d->log.reader, SCRIBE_MOD_LUSTRE) ? layouts_load(d) : 0;
	for (int i = 0; i < 2 && rc >= 0; i++)
		if (scribe_reader_header(d->log.reader)->mod_map[traces[i].module].len)
			rc = print_trace(d, &traces[i]);
	return rc;
}

static int print_log(struct dxt *d, const char *path)
{
	int rc = scribe_log_open(&d->log, path, SCRIBE_LOG_NAMES, &d->err);

	if (rc >= 0)
		rc = scribe_out_open(&d->out, STDOUT_FILENO, &d->err);
	if (rc < 0)
		return rc;
	scribe_print_job(&d->out, &d->log);
	rc = print_traces(d);
	return scribe_out_flush(&d->out, rc < 0 ? NULL : &d->err) < 0 ? -1 : rc;
}

static int cmd_dxt(int argc, char **argv)
{
	struct dxt d = {0};
	int first, rc, status = scribe_args_read(&scribe_command_dxt, argc, argv, take, &d, &first);

	if (status >= 0)
		return status;
	rc = print_log(&d, argv[first]);
	for (size_t i = 0; i < d.nlayouts; i++)
		free(d.layouts[i].record);
	free(d.layouts);
	scribe_shown_name_clear(&d.shown);
	scribe_log_close(&d.log);
	scribe_out_close(&d.out);
	return rc < 0 ? scribe_complain_err(argv[0], &d.err) : SCRIBE_EXIT_OK;
}

static const struct scribe_option options[] = {
	{"show-incomplete", 'i', NULL, "print what there is of modules whose memory ran out in the job"},
	{"escape", 'e', NULL,
	 "show names that hold control characters or no valid UTF-8 as \\xHH, losslessly"},
	{NULL, 0, NULL, NULL},
};

static const char *const examples[] = {
	"ioscribe dxt job.darshan",
	"every traced operation: module, rank, read or write, offset, length, start and end",
	NULL,
};

const struct scribe_command scribe_command_dxt = {
	.name = "dxt",
	.summary = "print the traced operations of a log, as darshan-dxt-parser does",
	.main = cmd_dxt,
	.operands = "LOG",
	.min_operands = 1,
	.max_operands = 1,
	.options = options,
	.about = "Prints the operations that extended tracing recorded: for each file and rank a head and "
		 "then\n"
		 "one line an operation with module, rank, kind, number, offset, length in bytes, start and "
		 "end\n"
		 "in seconds; on Lustre also the targets that hold the bytes. The text is that of\n"
		 "darshan-dxt-parser; where the log names threads, two columns more.",
	.alias = "darshan-dxt-parser",
	.examples = examples,
};
