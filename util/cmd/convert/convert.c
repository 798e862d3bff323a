// SPDX-License-Identifier: BSD-3-Clause
/*
 * `ioscribe convert` (darshan-convert): rewrites a log in the newest format, with another compression, obfuscated,
 * annotated, or reduced to one file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/file/writer.h"
#include "util/logs/copy.h"
#include "util/logs/logfile.h"
#include "util/logs/obfuscate.h"
#include "util/tool/command.h"

enum hide { HIDE_JOBID = 1, HIDE_UID = 2, HIDE_EXE = 4, HIDE_NAMES = 8, HIDE_ALL = 15 };
enum { KEY_HIDE = 0x100, KEY_ZSTD = 0x200 };

struct convert {
	int compression; /* enum scribe_compression; -1: the layout's default */
	enum scribe_layout layout;
	int level;
	unsigned hide;
	uint32_t key;
	int only_one;
	uint64_t only;
	int found; /* a record or name with this id exists */
	int reset_metadata;
	const char *notes;
	struct scribe_log log;
	int force, as_stock, rows;
	struct scribe_output out;
	struct scribe_err err;
};

static int take_number(const char *what, const char *text, uint64_t most, uint64_t *ret, struct scribe_err *err)
{
	char *end;
	uint64_t v;

	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || v > most)
		return scribe_err_set(err, -EINVAL, "--%s takes a number up to %" PRIu64 ", not '%.40s'", what, most,
				      text);
	*ret = v;
	return 0;
}

static int take_key(const char *text, uint32_t *ret, struct scribe_err *err)
{
	char *end;
	long long v;

	/* As in darshan-convert, a negative key means its 32-bit two's complement. */
	errno = 0;
	v = strtoll(text, &end, 10);
	if (errno || end == text || *end || v < INT32_MIN || v > UINT32_MAX)
		return scribe_err_set(err, -EINVAL, "--key takes a number of 32 bits, not '%.40s'", text);
	*ret = (uint32_t)v;
	return 0;
}

static int take_layout(const char *text, enum scribe_layout *ret, struct scribe_err *err)
{
	if (strcmp(text, "default") != 0 && strcmp(text, "unified") != 0)
		return scribe_err_set(err, -EINVAL, "--layout takes default or unified, not '%.40s'", text);
	*ret = strcmp(text, "unified") == 0 ? SCRIBE_LAYOUT_UNIFIED : SCRIBE_LAYOUT_DEFAULT;
	return 0;
}

static int take(void *ctx, int key, const char *value, struct scribe_err *err)
{
	struct convert *c = ctx;
	uint64_t v = 0;
	int rc;

	switch (key) {
	case 'b':
		c->compression = SCRIBE_COMP_BZIP2;
		return 0;
	case 'z':
		c->compression = SCRIBE_COMP_ZLIB;
		return 0;
	case KEY_ZSTD:
		c->compression = SCRIBE_COMP_ZSTD;
		return 0;
	case '0':
		c->compression = SCRIBE_COMP_NONE;
		return 0;
	case 'l':
		rc = take_number("level", value, 9, &v, err);
		if (rc >= 0 && v == 0)
			rc = scribe_err_set(err, -EINVAL, "--level takes 1 to 9; --uncompressed is for none");
		c->level = (int)v;
		return rc;
	case 'k':
		return take_key(value, &c->key, err);
	case 'f':
		c->only_one = 1;
		return take_number("file", value, UINT64_MAX, &c->only, err);
	case 'a':
		c->notes = value;
		return 0;
	case 'r':
		c->reset_metadata = 1;
		return 0;
	case 'F':
		c->force = 1;
		return 0;
	case 'R':
		c->rows = 1;
		return 0;
	case 'L':
		return take_layout(value, &c->layout, err);
	default: /* keys of --obfuscate_X are KEY_HIDE plus the bit of enum hide */
		c->hide |= key == 'o' ? HIDE_ALL : (unsigned)key - KEY_HIDE;
		return 0;
	}
}

static int add_notes(char *metadata, const char *notes, struct scribe_err *err)
{
	size_t n = strnlen(metadata, SCRIBE_JOB_METADATA_BYTES);

	if (n && n < SCRIBE_JOB_METADATA_BYTES - 1 && metadata[n - 1] != '\n')
		metadata[n++] = '\n';
	while (*notes) {
		/* Tabs separate notes; each becomes a line. A note that does not fit is an error, never cut. */
		size_t len = strcspn(notes, "\t");

		if (n + len + 2 > SCRIBE_JOB_METADATA_BYTES)
			return scribe_err_set(err, -ENOSPC,
					      "--annotate: no room: the log's metadata holds %d bytes, %zu are used",
					      SCRIBE_JOB_METADATA_BYTES - 1, n);
		if (len) {
			memcpy(metadata + n, notes, len);
			n += len;
			metadata[n++] = '\n';
		}
		notes += len + (notes[len] == '\t');
	}
	metadata[n] = '\0';
	return 0;
}

static int put_job(struct convert *c)
{
	struct scribe_log_job job = scribe_copy_job(c->log.reader);
	const struct scribe_mount *mounts;
	size_t n = scribe_reader_mounts(c->log.reader, &mounts);
	const char *exe = scribe_reader_exe(c->log.reader);
	char hidden[32];

	/* Reset comes before notes: both options together leave only the notes. */
	if (c->reset_metadata)
		memset(job.metadata, 0, sizeof(job.metadata));
	if (c->hide & HIDE_JOBID)
		scribe_obfuscate_jobid(&job, c->key);
	if (c->hide & HIDE_UID)
		scribe_obfuscate_uid(&job, c->key);
	if (c->notes && add_notes(job.metadata, c->notes, &c->err) < 0)
		return -1;
	if (c->hide & HIDE_EXE) {
		scribe_obfuscate_exe(exe, c->key, hidden, sizeof(hidden));
		exe = hidden;
	}
	return scribe_copy_check(c->out.writer, scribe_writer_job(c->out.writer, &job, exe, mounts, n), &c->err);
}

/*
 * The single-region layout stores names with a NUL, and shared records, before the others: names and each
 * module are read twice, and `first` decides which pass writes an item.
 */
static bool in_pass(const struct convert *c, int pass, bool first)
{
	return c->layout != SCRIBE_LAYOUT_UNIFIED || pass == !first;
}

static int put_name(struct convert *c, int pass, const struct scribe_name *n, char *hidden)
{
	const char *name = NULL;

	if (c->only_one && n->id != c->only)
		return 0;
	c->found = 1;
	if (c->hide & HIDE_NAMES)
		name = scribe_obfuscate_name(&c->log, n->bytes, n->len, c->key, hidden, SCRIBE_JOB_REGION_BYTES + 64);
	/* Obfuscation removes a NUL, so the new name decides the pass. */
	if (!in_pass(c, pass, !name && memchr(n->bytes, 0, n->len)))
		return 0;
	return scribe_writer_name(c->out.writer, n->id, name ? name : n->bytes, name ? strlen(name) : n->len);
}

static int passes(const struct convert *c)
{
	return c->layout == SCRIBE_LAYOUT_UNIFIED ? 2 : 1;
}

static int put_names(struct convert *c)
{
	/* A hidden name is at most a mount path, which the job region bounds, and a 32-bit number. */
	char *hidden = malloc(SCRIBE_JOB_REGION_BYTES + 64);
	int rc = 0;

	if (!hidden)
		return scribe_err_set(&c->err, -ENOMEM, "names: out of memory");
	for (int pass = 0; pass < passes(c); pass++)
		for (size_t i = 0; i < scribe_names_count(c->log.names) && rc >= 0; i++) {
			struct scribe_name n = scribe_names_at(c->log.names, i);

			rc = put_name(c, pass, &n, hidden);
		}
	free(hidden);
	return scribe_copy_check(c->out.writer, rc, &c->err);
}

/* 1: write ret_rec, which is `record` or `scratch`; 0: drop the record. */
static int change(struct convert *c, int module, const void *record, struct scribe_process_record *scratch,
		  const void **ret_rec)
{
	const struct scribe_base_record *base = record;
	/* Others belong to the job, not to a file: --file keeps them. */
	const bool of_file = module != SCRIBE_MOD_PROCESS && module != SCRIBE_MOD_LEDGER && module != SCRIBE_MOD_MOUNTS;

	if (c->only_one && base->id != c->only && of_file)
		return 0;
	c->found |= of_file;
	*ret_rec = record;
	if (module != SCRIBE_MOD_PROCESS || !(c->hide & (HIDE_UID | HIDE_EXE | HIDE_NAMES)))
		return 1;
	*scratch = *(const struct scribe_process_record *)record;
	scribe_obfuscate_process(scratch, c->key, c->hide & HIDE_UID, c->hide & HIDE_EXE, c->hide & HIDE_NAMES);
	*ret_rec = scratch;
	return 1;
}

static int put_pass(struct convert *c, int module, int pass)
{
	struct scribe_process_record scratch;
	const void *record;
	size_t len;
	int rc;

	while ((rc = scribe_reader_borrow_record(c->log.reader, module, &record, &len)) > 0) {
		const struct scribe_base_record *base = record;
		const void *changed;

		if (!in_pass(c, pass, base->rank == -1) || !change(c, module, record, &scratch, &changed))
			continue;
		if (scribe_copy_check(c->out.writer, scribe_writer_record(c->out.writer, module, changed, len),
				      &c->err) < 0)
			return -1;
	}
	if (rc < 0)
		c->err = *scribe_reader_error(c->log.reader);
	return rc;
}

static int put_module(struct convert *c, int module)
{
	int rc = 0;

	for (int pass = 0; pass < passes(c) && rc >= 0; pass++) {
		if (pass)
			scribe_reader_rewind(c->log.reader, module);
		rc = put_pass(c, module, pass);
	}
	return rc;
}

static int put_unknown(struct convert *c, int module)
{
	const struct scribe_reader_info *info = scribe_reader_info(c->log.reader);
	int rc;

	/* Opaque modules have an encoding of unknown meaning: their bytes are copied. */
	if (info->opaque >> module & 1 || !scribe_reader_module(c->log.reader, module))
		return scribe_copy_unknown(c->log.reader, c->out.writer, module, &c->err);
	rc = scribe_copy_described(c->log.reader, c->out.writer, module, &c->err);
	/* Otherwise the log's own description of the module is used, which makes records readable. */
	return rc < 0 ? rc : put_module(c, module);
}

static int put_all(struct convert *c)
{
	uint64_t partial = scribe_reader_header(c->log.reader)->partial_flag;
	int rc = put_job(c);

	if (rc >= 0)
		rc = put_names(c);
	for (int i = 0; i < SCRIBE_MAX_MODULES && rc >= 0; i++) {
		if (partial >> i & 1)
			scribe_writer_partial(c->out.writer, i);
		if (scribe_reader_has(c->log.reader, i))
			rc = put_module(c, i);
		else if (scribe_reader_info(c->log.reader)->unknown >> i & 1 && !c->only_one)
			rc = put_unknown(c, i);
	}
	if (rc >= 0 && c->only_one && !c->found && !c->as_stock)
		rc = scribe_err_set(&c->err, -ENOENT, "%s: no record %" PRIu64 " to keep", c->log.path, c->only);
	return rc < 0 ? rc : scribe_output_finish(&c->out, &c->err);
}

static int convert(struct convert *c, const char *from, const char *to)
{
	struct scribe_writer_options options = {.level = c->level, .layout = c->layout, .rows = c->rows};
	int rc = scribe_log_open(&c->log, from, SCRIBE_LOG_NAMES, &c->err);

	if (rc < 0)
		return rc;
	if (c->compression >= 0)
		options.compression = (enum scribe_compression)c->compression;
	else
		options.compression = c->layout == SCRIBE_LAYOUT_UNIFIED ? SCRIBE_COMP_ZSTD : SCRIBE_COMP_ZLIB;
	options.dxt_threads = scribe_copy_has_threads(c->log.reader);
	rc = scribe_output_create(&c->out, to, c->force, c->as_stock, &options, &c->err);
	return rc < 0 ? rc : put_all(c);
}

static int cmd_convert(int argc, char **argv)
{
	struct convert c = {.compression = -1};
	int first, rc, status = scribe_args_read(&scribe_command_convert, argc, argv, take, &c, &first);

	if (status >= 0)
		return status;
	c.as_stock = !strcmp(scribe_program_name(argv[0]), "darshan-convert");
	rc = convert(&c, argv[first], argv[first + 1]);
	scribe_output_free(&c.out);
	scribe_log_close(&c.log);
	return rc < 0 ? scribe_complain_err(argv[0], &c.err) : SCRIBE_EXIT_OK;
}

static const struct scribe_option options[] = {
	{"zlib", 'z', NULL, "compress with zlib (the default of Darshan's layout)"},
	{"bzip2", 'b', NULL, "compress with bzip2"},
	{"zstd", KEY_ZSTD, NULL, "compress with zstd (--layout unified, and its default)"},
	{"uncompressed", '0', NULL, "do not compress"},
	{"level", 'l', "N", "compression level, 1 to 9"},
	{"layout", 'L', "WHICH", "default: Darshan's; unified: one region for the records of all modules"},
	{"rows", 'R', NULL, "with --layout unified: records one after another, not transposed"},
	{"obfuscate", 'o', NULL, "replace job id, user id, command line and names by numbers"},
	{"obfuscate_jobid", KEY_HIDE + HIDE_JOBID, NULL, "replace the job id"},
	{"obfuscate_uid", KEY_HIDE + HIDE_UID, NULL, "replace the user id"},
	{"obfuscate_exe", KEY_HIDE + HIDE_EXE, NULL, "replace the command line"},
	{"obfuscate_names", KEY_HIDE + HIDE_NAMES, NULL, "replace file names; mount points stay"},
	{"key", 'k', "N", "key of the numbers that replace (0)"},
	{"annotate", 'a', "TEXT", "add lines to the metadata: key=value, several separated by tabs"},
	{"reset-md", 'r', NULL, "forget the metadata first"},
	{"file", 'f', "ID", "keep the records of one file, by its record id"},
	{"force", 'F', NULL, "replace OUT if it is there; it may be IN"},
	{NULL, 0, NULL, NULL},
};

static const char *const examples[] = {
	"ioscribe convert old.darshan new.darshan",
	"an old or uncompressed log in today's format",
	"ioscribe convert --obfuscate --key 4711 job.darshan public.darshan",
	"a log to be given away",
	"ioscribe convert --layout unified job.darshan small.darshan",
	"all modules' records in one region; ioscribe's tools read it, others need it converted back",
	NULL,
};

const struct scribe_command scribe_command_convert = {
	.name = "convert",
	.summary = "rewrite a log: newest format, compression, obfuscation, notes",
	.main = cmd_convert,
	.operands = "IN OUT",
	.min_operands = 2,
	.max_operands = 2,
	.options = options,
	.about = "Reads the log IN, of any version and byte order, and writes it to the file OUT in "
		 "format\n"
		 "3.41. Records come out in their newest layout; incomplete modules stay marked; modules "
		 "that\n"
		 "this program does not know are carried over unread. Logs before 3.41 count a run time of "
		 "whole\n"
		 "seconds plus one; the end keeps that second, in its nanoseconds.\n\n"
		 "--layout unified writes the single-region layout (docs/format.md), which loses nothing: converted\n"
		 "back and again it is the same bytes. Within a module, shared records come first then. Records\n"
		 "are transposed byte by byte before they are compressed, which takes about 0.6 of the bytes;\n"
		 "with --rows they are not. Tools for Darshan's logs do not read the layout.\n\n"
		 "The numbers that --obfuscate puts in place of values are those of darshan-convert: 32-bit\n"
		 "hashes with the key. They hide values from readers who can neither guess them nor know the\n"
		 "key. Host names in traces stay.\n\n"
		 "Under the name darshan-convert an OUT that is there is replaced if it may be written, and\n"
		 "--file with an id that is not in the log writes a log without records. What that tool "
		 "would\n"
		 "change stays: mount points keep their order, the run time of old logs is the same after as\n"
		 "before, and values of POSIX records of versions 1 to 3 are right (see ioscribe-parse).",
	.alias = "darshan-convert",
	.examples = examples,
};
