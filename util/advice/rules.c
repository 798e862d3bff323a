// SPDX-License-Identifier: BSD-3-Clause
/* The table of rules, and a site's file of rules. Must not know logs. */
#include "util/advice/rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FACT(name) SCRIBE_FACT_##name
#define SEVERE     SCRIBE_SEVERITY_SEVERE
#define WARNING    SCRIBE_SEVERITY_WARNING
#define NOTE       SCRIBE_SEVERITY_NOTE
#define MIB        1048576.0
#define FILE_MAX   (1 << 20)
/* clang-format off */
#define JOB(name, severity, fact, of, threshold, guard, least, time, what, advice) \
	{name, severity, false, FACT(fact), FACT(of), threshold, FACT(guard), least, FACT(time), what, advice}
#define EACH(name, severity, fact, of, threshold, guard, least, time, what, advice) \
	{name, severity, true, FACT(fact), FACT(of), threshold, FACT(guard), least, FACT(time), what, advice}
#define ANY(name, severity, fact, threshold, what, advice) \
	{name, severity, false, FACT(fact), FACT(job), threshold, FACT(fact), 0, -1, what, advice}

/* Of findings that concern the same time, the first in this table comes first: causes before what they lead to. */
static const struct scribe_rule_row defaults[] = {
	ANY("incomplete", WARNING, lost, 0, "the log lacks operations or names",
	    "The ledger (ioscribe summary) names each loss; docs/counters.md says what causes it."),
	ANY("partial", WARNING, partial, 0, "modules of the log lack records",
	    "Memory ran out in the job: raise --records (Darshan: DARSHAN_MODMEM), or exclude directories."),
	ANY("overflowed", WARNING, overflowed, 0, "files share one record, their names are lost",
	    "Raise --records (records in the service's configuration)."),
	ANY("failed-processes", WARNING, failed_processes, 0, "processes ended by a signal or with an error",
	    "ioscribe summary lists them with program, rank and how they ended."),
	JOB("small-writes", SEVERE, small_writes, writes, 0.1, small_writes, 1000, write_time,
	    "of writes move less than 1 MiB",
	    "Collect data in a buffer and write larger pieces; with MPI-IO use collective writes."),
	JOB("small-reads", SEVERE, small_reads, reads, 0.1, small_reads, 1000, read_time,
	    "of reads move less than 1 MiB",
	    "Read larger pieces into a buffer; with MPI-IO use collective reads."),
	JOB("small-shared-writes", SEVERE, small_shared_writes, shared_writes, 0.1, small_shared_writes, 1000,
	    write_time,
	    "of writes to files of all ranks move less than 1 MiB",
	    "Small writes to one file contend for its locks: use collective MPI-IO, or one writer per node."),
	JOB("small-shared-reads", SEVERE, small_shared_reads, shared_reads, 0.1, small_shared_reads, 1000, read_time,
	    "of reads of files of all ranks move less than 1 MiB",
	    "Use collective MPI-IO, or read on one rank and broadcast."),
	JOB("unaligned", WARNING, unaligned, accesses, 0.1, unaligned, 1000, write_time,
	    "of operations do not begin at a block of the file system",
	    "Align offsets to the file system's block or stripe (HDF5: H5Pset_alignment, MPI-IO: striping_unit)."),
	JOB("unaligned-memory", NOTE, unaligned_memory, accesses, 0.5, unaligned_memory, 10000, write_time,
	    "of operations use memory that is not aligned", "Allocate buffers with posix_memalign."),
	JOB("random-reads", WARNING, random_reads, reads, 0.2, random_reads, 1000, read_time,
	    "of reads go backwards in the file",
	    "Sort requests by offset, or read larger blocks; read-ahead cannot help here."),
	JOB("random-writes", WARNING, random_writes, writes, 0.2, random_writes, 1000, write_time,
	    "of writes go backwards in the file", "Sort requests by offset, or collect them before writing."),
	JOB("reread", WARNING, reread, bytes_read, 0.5, reread, 10 * MIB, read_time,
	    "of bytes read were read before", "Keep the data in memory, or stage the file to a local disk."),
	JOB("rewritten", WARNING, rewritten, bytes_written, 0.5, rewritten, 10 * MIB, write_time,
	    "of bytes written replace bytes written before", "Write results once; keep intermediate state in memory."),
	EACH("straggler", SEVERE, straggle, shared_time, 0.3, shared_time, 0.1, straggle,
	     "of the slowest rank's time in a shared file is beyond the ranks' average",
	     "See which rank is slow (ioscribe parse --file): unequal data, or a node or target that is slow."),
	EACH("imbalance", WARNING, imbalance, shared_bytes, 0.3, shared_bytes, 10 * MIB, write_time,
	     "of the bytes that one rank moved in a file, another rank did not",
	     "Distribute the data evenly, or let collective buffering do so."),
	JOB("rank-imbalance", WARNING, rank_gap, io_time, 0.5, io_time, 1, read_time,
	    "of the slowest rank's I/O time is beyond the average: other ranks wait",
	    "Distribute files and data over ranks; read common input on one rank and broadcast."),
	JOB("streams", WARNING, stream_bytes, all_bytes, 0.1, stream_bytes, 10 * MIB, stream_time,
	    "of bytes go through streams (stdio)",
	    "Streams copy through small buffers: use read and write, or setvbuf with a larger buffer."),
	JOB("independent-writes", SEVERE, mpi_alone_writes, mpi_writes, 0.5, mpi_alone_writes, 1000, write_time,
	    "of MPI-IO writes are independent", "Use MPI_File_write_all or _at_all (HDF5: H5FD_MPIO_COLLECTIVE)."),
	JOB("independent-reads", SEVERE, mpi_alone_reads, mpi_reads, 0.5, mpi_alone_reads, 1000, read_time,
	    "of MPI-IO reads are independent", "Use MPI_File_read_all or _at_all (HDF5: H5FD_MPIO_COLLECTIVE)."),
	JOB("blocking-writes", NOTE, mpi_blocking_writes, mpi_writes, 0.99, mpi_blocking_writes, 1000, write_time,
	    "of MPI-IO writes block",
	    "Overlap them with computation: MPI_File_iwrite, HDF5's asynchronous VOL connector."),
	JOB("blocking-reads", NOTE, mpi_blocking_reads, mpi_reads, 0.99, mpi_blocking_reads, 1000, read_time,
	    "of MPI-IO reads block", "Overlap them with computation: MPI_File_iread, or read ahead in a thread."),
	JOB("shared-without-mpiio", WARNING, shared_posix, accesses, 0.5, shared_posix, 1000, write_time,
	    "of operations are on files of all ranks without MPI-IO",
	    "MPI-IO can combine the ranks' requests: MPI_File_write_all, or a library on top of it."),
	JOB("unused-opens", WARNING, unused_opens, opens, 0.5, unused_opens, 1000, meta_time,
	    "of opens are of files that are neither read, written nor mapped",
	    "Use stat or access where only existence matters; avoid opening each candidate of a search."),
	JOB("path-calls", WARNING, path_calls, accesses, 1, path_calls, 10000, meta_time,
	    "lookups of paths per read or write", "Cache what stat and access return; shorten search paths."),
	JOB("failed-paths", WARNING, failed_paths, path_total, 0.5, failed_paths, 1000, meta_time,
	    "of calls on paths fail",
	    "Shorten search paths (PYTHONPATH, LD_LIBRARY_PATH, RPATH), or stage the software locally."),
	JOB("small-files", WARNING, small_files, files, 0.9, small_files, 1000, meta_time,
	    "of files are below 1 MiB",
	    "Pack them: HDF5, tar or a database file; each small file costs a metadata server."),
	JOB("metadata-time", WARNING, rank_meta_time, io_time, 0.3, rank_meta_time, 0.5, meta_time,
	    "of the slowest rank's I/O time is open, close, stat and the like",
	    "Open files once and keep them open; make fewer, larger files; stat on one rank and broadcast the result."),
	JOB("discarded", WARNING, discarded, bytes_written, 0.3, discarded, 10 * MIB, write_time,
	    "of bytes written go to files that are removed unread",
	    "Leave such temporaries out, or put them on a local disk."),
	JOB("syncs", WARNING, syncs, writes, 0.1, syncs, 1000, write_time,
	    "fsync calls per write", "Synchronise once per checkpoint."),
	JOB("seeks", NOTE, seeks, accesses, 1, seeks, 10000, meta_time,
	    "seeks per read or write", "Use pread and pwrite."),
	JOB("switches", NOTE, switches, accesses, 0.3, switches, 1000, read_time,
	    "changes between reading and writing per operation",
	    "Separate phases of reading and writing: each change flushes buffers and locks."),
	JOB("failed-data", WARNING, failed_data, accesses, 0.1, failed_data, 100, read_time,
	    "failed reads and writes per successful one",
	    "Check the program's error handling, quotas and file descriptors."),
	EACH("amplified-reads", WARNING, amplified_read, top_read, 0.5, amplified_read, 10 * MIB, read_time,
	     "more bytes read by system calls than the library was asked for",
	     "Match HDF5 chunks and chunk cache to the access, or disable data sieving (romio_ds_read)."),
	EACH("amplified-writes", WARNING, amplified_written, top_written, 0.5, amplified_written, 10 * MIB, write_time,
	     "more bytes written by system calls than the library was asked for",
	     "Match HDF5 chunks to the access, or disable data sieving (romio_ds_write)."),
	EACH("fetched-unread", WARNING, fetched_unread, bytes_read, 0.5, fetched_unread, 10 * MIB, fetch_time,
	     "more bytes fetched from the device or server than read: read-ahead brings what is not used",
	     "Read larger blocks in order, or switch read-ahead off: posix_fadvise(POSIX_FADV_RANDOM)."),
	EACH("fetched-again", WARNING, fetched_again, fetched, 0.5, fetched_again, 100 * MIB, fetch_time,
	     "of the bytes that reads fetched were fetched before: the page cache did not keep them",
	     "Keep the data in memory, stage the file to a local disk, or request more memory for the job."),
	JOB("throttled", WARNING, throttled, write_time, 0.2, throttled, 1, throttled,
	    "of the time in writes the kernel held the writer back, because too many pages were dirty",
	    "Start the writing earlier (sync_file_range), write less at once, or use O_DIRECT for large files."),
	EACH("page-faults", WARNING, faulted, all_bytes, 0.5, faulted, 100 * MIB, read_time,
	     "times the bytes read and written came by page faults in mappings, a few pages at a time",
	     "Map with MAP_POPULATE, call madvise(MADV_POPULATE_READ) first, or read the file."),
	EACH("one-stripe", SEVERE, one_stripe, shared_moved, 0.5, one_stripe, 100 * MIB, write_time,
	     "of a shared file's bytes are on one Lustre target",
	     "Set the stripe count before the file is made: lfs setstripe -c N."),
	JOB("outside-ranks", NOTE, outside_bytes, all_bytes, 0.2, outside_bytes, 10 * MIB, read_time,
	    "of bytes are moved by processes that are not ranks",
	    "Helper processes (data loaders, shell steps) do this I/O: look at ioscribe summary's processes."),
	JOB("python-processes", NOTE, python, ranks, 8, python, 32, job,
	    "processes of Python per rank",
	    "Each imports its modules from the file system again: keep one pool for the whole run (PyTorch:"
	    " persistent_workers), or start workers by fork."),
	JOB("mapped", NOTE, mapped_bytes, all_bytes, 1, mapped_bytes, 100 * MIB, read_time,
	    "times the bytes moved are mapped into memory",
	    "Page faults show that I/O (CACHE_BYTES_FAULTED), not reads."),
	JOB("io-bound", NOTE, io_time, run_time, 0.5, io_time, 1, io_time,
	    "of the run time is I/O of the slowest rank", "ioscribe report shows it by file, rank, layer and time."),
	JOB("tracing-cost", NOTE, tracing_time, cpu_time, 0.1, tracing_time, 10, tracing_time,
	    "of the processes' processor time was tracing", "Exclude paths of many small operations (--exclude)."),
	JOB("tracer-cost", NOTE, tracer_time, run_time, 0.1, tracer_time, 10, tracer_time,
	    "of the run time is processor time of the tracer",
	    "Exclude directories of no interest (exclude), or leave out DXT."),
};
/* clang-format on */

void scribe_rules_default(struct scribe_rules *r)
{
	*r = (struct scribe_rules){.n = sizeof(defaults) / sizeof(defaults[0])};
	memcpy(r->row, defaults, sizeof(defaults));
}

void scribe_rules_clear(struct scribe_rules *r)
{
	free(r->text);
	*r = (struct scribe_rules){0};
}

static const char *const severities[] = {"off", "note", "warning", "severe"};

const char *scribe_severity_name(enum scribe_severity severity)
{
	return severities[severity];
}

static int severity_of(const char *word)
{
	for (int i = 0; i < 4; i++)
		if (!strcmp(word, severities[i]))
			return i;
	return -1;
}

/* The next word of the line, ended by NUL; "" at the end. */
static char *word(char **at)
{
	char *begin = *at + strspn(*at, " \t"), *end = begin + strcspn(begin, " \t");

	*at = *end ? end + 1 : end;
	*end = 0;
	return begin;
}

static bool is_number(const char *text, double *ret)
{
	char *end;

	*ret = strtod(text, &end);
	return end != text && !*end && *ret >= 0 && *ret < 1e18;
}

static struct scribe_rule_row *rule_of(struct scribe_rules *r, const char *name)
{
	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(r->row[i].name, name))
			return &r->row[i];
	return NULL;
}

/* set NAME severity|over|least VALUE */
static const char *change(struct scribe_rules *r, char *at)
{
	const char *name = word(&at), *what = word(&at), *value = word(&at);
	struct scribe_rule_row *row = rule_of(r, name);
	double number;
	int severity;

	if (!row)
		return "no rule of this name";
	if (!strcmp(what, "severity")) {
		severity = severity_of(value);
		if (severity < 0)
			return "severity is off, note, warning or severe";
		row->severity = (enum scribe_severity)severity;
		return NULL;
	}
	if (strcmp(what, "over") && strcmp(what, "least"))
		return "expected: set NAME severity|over|least VALUE";
	if (!is_number(value, &number))
		return "expected a number";
	*(*what == 'o' ? &row->threshold : &row->least) = number;
	return NULL;
}

#define FORM "expected: rule NAME SEVERITY file|job FACT per FACT over N if FACT least N: WHAT; ADVICE"

static const char *add(struct scribe_rules *r, char *at)
{
	static const char *const fixed[12] = {[4] = "per", [6] = "over", [8] = "if", [10] = "least"};
	char *what = strstr(at, ": "), *advice = what ? strstr(what, "; ") : NULL;
	struct scribe_rule_row row = {.time = -1};
	const char *w[12];
	int severity;

	if (r->n == SCRIBE_RULES_MAX)
		return "too many rules";
	if (!advice)
		return FORM;
	*what = *advice = 0;
	for (int i = 0; i < 12; i++) {
		w[i] = word(&at);
		if (!*w[i] || (fixed[i] && strcmp(w[i], fixed[i])))
			return FORM;
	}
	row.name = w[0];
	severity = severity_of(w[1]);
	row.by_file = !strcmp(w[2], "file");
	row.fact = scribe_fact_of(w[3]);
	row.of = scribe_fact_of(w[5]);
	row.guard = scribe_fact_of(w[9]);
	row.what = what + 2;
	row.advice = advice + 2;
	if (severity < 0 || *word(&at) || (!row.by_file && strcmp(w[2], "job")) || !is_number(w[7], &row.threshold) ||
	    !is_number(w[11], &row.least))
		return FORM;
	if (row.fact < 0 || row.of < 0 || row.guard < 0)
		return "no such fact: ioscribe advise --list prints them";
	if (row.by_file && (row.fact >= SCRIBE_NFILE_FACTS || row.guard >= SCRIBE_NFILE_FACTS ||
			    (row.of >= SCRIBE_NFILE_FACTS && row.of != SCRIBE_FACT_job)))
		return "a fact of the job in a rule of files";
	if (rule_of(r, row.name))
		return "there is a rule of this name already: set NAME ...";
	row.severity = (enum scribe_severity)severity;
	r->row[r->n++] = row;
	return NULL;
}

static const char *take_line(struct scribe_rules *r, char *line)
{
	char *at = line, *verb = word(&at);

	if (!*verb || *verb == '#')
		return NULL;
	if (!strcmp(verb, "set"))
		return change(r, at);
	if (!strcmp(verb, "rule"))
		return add(r, at);
	return "a line begins with set, rule or #";
}

int scribe_rules_file(struct scribe_rules *r, const char *path, struct scribe_err *err)
{
	FILE *file = fopen(path, "re");
	unsigned number = 0;
	size_t n;
	int rc;

	if (!file)
		return scribe_err_set(err, -errno, "%s: %s", path, strerror(errno));
	free(r->text);
	r->text = malloc(FILE_MAX);
	n = r->text ? fread(r->text, 1, FILE_MAX, file) : 0;
	rc = !r->text ? -ENOMEM : ferror(file) ? -EIO : n == FILE_MAX || memchr(r->text, 0, n) ? -EINVAL : 0;
	fclose(file);
	if (rc < 0)
		return scribe_err_set(err, rc, "%s: %s", path,
				      rc == -EINVAL ? "not a text of less than 1 MiB" : strerror(-rc));
	r->text[n] = 0;
	for (char *line = r->text, *next; line; line = next) {
		const char *wrong;

		number++;
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		wrong = take_line(r, line);
		if (wrong)
			return scribe_err_set(err, -EINVAL, "%s:%u: %s", path, number, wrong);
	}
	return 0;
}

void scribe_rules_print(const struct scribe_rules *r, struct scribe_out *out)
{
	for (int i = 0; i < SCRIBE_NFACTS; i++) {
		const struct scribe_fact_about *about = scribe_fact_about((enum scribe_fact)i);

		scribe_out_printf(out, "# %-20s %s%s%s%s%s\n", about->name,
				  i >= SCRIBE_NFILE_FACTS ? "of the job: " : "", about->text,
				  about->counters[0] ? " (" : "", about->counters, about->counters[0] ? ")" : "");
	}
	for (size_t i = 0; i < r->n; i++) {
		const struct scribe_rule_row *row = &r->row[i];

		scribe_out_printf(out, "rule %s %s %s %s per %s over %.12g if %s least %.12g: %s; %s\n", row->name,
				  severities[row->severity], row->by_file ? "file" : "job",
				  scribe_fact_about((enum scribe_fact)row->fact)->name,
				  scribe_fact_about((enum scribe_fact)row->of)->name, row->threshold,
				  scribe_fact_about((enum scribe_fact)row->guard)->name, row->least, row->what,
				  row->advice);
	}
}
