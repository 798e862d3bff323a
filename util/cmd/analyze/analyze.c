// SPDX-License-Identifier: BSD-3-Clause
/* `ioscribe analyze`: statistics of many logs, read by several threads with one list of paths. */
#include <errno.h>
#include <fts.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/cmd/analyze/analyze_log.h"
#include "util/text/human.h"
#include "util/tool/command.h"

#define MAX_THREADS 256
#define BUCKETS     5
#define BAR         40
#define KEEP_BYTES  (64 << 20) /* free memory that malloc keeps */

struct analyze {
	int threads, top, quiet, as_stock;
	const char *argv0;
	char **paths;
	size_t npaths, cap, next, done;
	pthread_mutex_t lock; /* guards next, done and everything below */
	int64_t closed;
	int64_t logs, unread, shared, per_process, mpiio, pnetcdf, hdf5, buckets[BUCKETS];
	struct scribe_totals totals;
	struct scribe_tally users, programs, mounts;
	int no_memory, show_progress, shown;
};

static int take(void *ctx, int key, const char *value, struct scribe_err *err)
{
	struct analyze *a = ctx;
	int *to = key == 'j' ? &a->threads : &a->top, least = key == 'j' ? 1 : 0;
	char *end;
	long n;

	if (key == 'q') {
		a->quiet = 1;
		return 0;
	}
	n = strtol(value, &end, 10);
	if (end == value || *end || n < least || n > (key == 'j' ? MAX_THREADS : 1000000))
		return scribe_err_set(err, -EINVAL, "--%s takes a number from %d on, not '%.40s'",
				      key == 'j' ? "jobs" : "top", least, value);
	*to = (int)n;
	return 0;
}

static int add_path(struct analyze *a, const char *path)
{
	char *copy = strdup(path);

	if (a->npaths == a->cap) {
		size_t cap = a->cap ? 2 * a->cap : 1024;
		char **bigger = realloc(a->paths, cap * sizeof(*bigger));

		if (!bigger) {
			free(copy);
			return -ENOMEM;
		}
		a->paths = bigger;
		a->cap = cap;
	}
	if (!copy)
		return -ENOMEM;
	a->paths[a->npaths++] = copy;
	return 0;
}

static int skip(struct analyze *a, const FTSENT *e, struct scribe_err *err)
{
	/* An unreadable operand is an error; an unreadable directory below one is reported and skipped. */
	scribe_err_set(err, -e->fts_errno, "%s: %s", e->fts_path, strerror(e->fts_errno));
	if (e->fts_level <= FTS_ROOTLEVEL)
		return err->code;
	a->closed++;
	scribe_complain_err(a->argv0, err);
	return 0;
}

static int find_logs(struct analyze *a, char **roots, struct scribe_err *err)
{
	/* FTS_LOGICAL follows symbolic links; every regular file is tried as a log, whatever its name. */
	FTS *fts = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, NULL);
	FTSENT *e;
	int rc = 0;

	if (!fts)
		return scribe_err_set(err, -errno, "%s: %s", roots[0], strerror(errno));
	while (rc == 0 && (e = fts_read(fts))) {
		if (e->fts_info == FTS_F && add_path(a, e->fts_path) < 0)
			rc = scribe_err_set(err, -ENOMEM, "list of logs: out of memory");
		else if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR || e->fts_info == FTS_NS)
			rc = skip(a, e, err);
	}
	fts_close(fts);
	return rc;
}

/* Call with the lock held. */
static void progress(struct analyze *a)
{
	int now = a->npaths ? (int)(a->done * BAR / a->npaths) : BAR;

	if (!a->show_progress || (now == a->shown && a->done % 256 && a->done != a->npaths))
		return;
	a->shown = now;
	fprintf(stderr, "\r[%.*s%*s] %zu of %zu logs", now, "########################################", BAR - now, "",
		a->done, a->npaths);
	if (a->done == a->npaths)
		fputc('\n', stderr);
	fflush(stderr);
}

static int bucket_of(double ratio)
{
	/* Upper edges are inclusive, as in darshan-analyzer: 0.20 belongs to the first class. */
	static const double edges[BUCKETS - 1] = {0.20, 0.40, 0.60, 0.80};

	for (int i = 0; i < BUCKETS - 1; i++)
		if (ratio <= edges[i])
			return i;
	return ratio > edges[BUCKETS - 2] ? BUCKETS - 1 : -1; /* NaN belongs to no class */
}

/* Call with the lock held. */
static void count_log(struct analyze *a, const struct scribe_log_figures *f)
{
	int bucket = bucket_of(f->io_ratio), rc;

	a->logs++;
	a->shared += f->shared;
	a->per_process += f->per_process;
	a->mpiio += f->mpiio;
	a->pnetcdf += f->pnetcdf;
	a->hdf5 += f->hdf5;
	if (bucket >= 0)
		a->buckets[bucket]++;
	if (a->as_stock)
		return;
	scribe_totals_add(&a->totals, &f->totals);
	rc = scribe_tally_add(&a->users, f->user, &f->totals);
	rc |= scribe_tally_add(&a->programs, f->program, &f->totals);
	for (size_t i = 0; i < f->mounts.n; i++)
		rc |= scribe_tally_add(&a->mounts, f->mounts.entries[i].key, &f->mounts.entries[i].totals);
	a->no_memory |= rc < 0;
}

static void *work(void *ctx)
{
	struct analyze *a = ctx;

	pthread_mutex_lock(&a->lock);
	while (a->next < a->npaths) {
		const char *path = a->paths[a->next++];
		struct scribe_log_figures f = {0};
		struct scribe_err err = {0};
		int rc;

		pthread_mutex_unlock(&a->lock);
		rc = scribe_analyze_log(path, a->as_stock, &f, &err);
		pthread_mutex_lock(&a->lock);
		a->done++;
		if (rc < 0) {
			a->unread++;
			if (a->show_progress)
				fputs("\r\033[K", stderr);
			scribe_complain_err(a->argv0, &err);
		} else {
			count_log(a, &f);
		}
		scribe_tally_free(&f.mounts);
		progress(a);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

static void read_logs(struct analyze *a)
{
	pthread_t threads[MAX_THREADS];
	int n = 0;

	/* Each log allocates and frees the same buffers; with the defaults they would return to the kernel. */
	mallopt(M_TRIM_THRESHOLD, KEEP_BYTES);
	mallopt(M_MMAP_THRESHOLD, KEEP_BYTES);
	if (a->threads == 0) {
		long cpus = sysconf(_SC_NPROCESSORS_ONLN);

		a->threads = cpus < 1 ? 1 : cpus > MAX_THREADS ? MAX_THREADS : (int)cpus;
	}
	while (n < a->threads - 1 && (size_t)n + 1 < a->npaths && !pthread_create(&threads[n], NULL, work, a))
		n++;
	work(a);
	while (n > 0)
		pthread_join(threads[--n], NULL);
}

static void put_fraction(const char *what, int64_t part, int64_t all)
{
	printf("%s access: %f [%lld]\n", what, (double)part / (double)all, (long long)part);
}

static void print_stock(const struct analyze *a, char **roots)
{
	/* darshan-analyzer counts files that it could not read as logs; the misspelled labels are its own. */
	int64_t all = a->as_stock ? a->logs + a->unread : a->logs;
	static const char *const ranges[BUCKETS] = {"0.00-0.20", "0.20-0.40", "0.40-0.60", "0.60-0.80", "0.80-1.00"};

	printf("log dir:");
	for (char **r = roots; *r; r++)
		printf(" %s", *r);
	printf("\ntotal logs: %lld\n", (long long)all);
	put_fraction("      shared file", a->shared, all);
	put_fraction("file-per-proccess", a->per_process, all);
	put_fraction("             mpio", a->mpiio, all);
	put_fraction("          pnetcdf", a->pnetcdf, all);
	put_fraction("             hdf5", a->hdf5, all);
	printf("\nI/O percentage of runtime:\n");
	for (int i = 0; i < BUCKETS; i++)
		printf("%s: %lld\n", ranges[i], (long long)(a->buckets[i] + (i == 0 && a->as_stock ? a->unread : 0)));
}

static void print_row(const struct scribe_totals *t, const char *key, int with_run_time)
{
	char read[40], written[40], logs[40], run_time[40] = "", shown[1024];

	if (with_run_time)
		snprintf(run_time, sizeof(run_time), "%.1f", t->run_time);
	printf("%10s %12s %12s %14.1f %16s  %s\n", scribe_human_count(t->logs, logs, sizeof(logs)),
	       scribe_human_bytes(t->bytes_read, read, sizeof(read)),
	       scribe_human_bytes(t->bytes_written, written, sizeof(written)), t->io_time, run_time,
	       scribe_human_text(key, shown, sizeof(shown)));
}

static void print_tally(struct scribe_tally *t, const char *title, int top, int with_run_time)
{
	size_t most = top ? (size_t)top : t->n;

	scribe_tally_rank(t);
	printf("\n%10s %12s %12s %14s %16s  %s\n", "logs", "read", "written", "I/O time (s)",
	       with_run_time ? "processes x s" : "", title);
	for (size_t i = 0; i < t->n && i < most; i++)
		print_row(&t->entries[i].totals, t->entries[i].key, with_run_time);
	if (t->n > most)
		printf("%10s and %zu more\n", "", t->n - most);
}

static void print_more(struct analyze *a)
{
	print_tally(&a->users, "user id", a->top, 1);
	print_tally(&a->programs, "program", a->top, 1);
	print_tally(&a->mounts, "file system", a->top, 0);
	printf("\n");
	print_row(&a->totals, "in all", 1);
}

static int cmd_analyze(int argc, char **argv)
{
	struct analyze a = {.top = 10, .argv0 = argv[0], .lock = PTHREAD_MUTEX_INITIALIZER};
	struct scribe_err err = {0};
	int first, rc, status = scribe_args_read(&scribe_command_analyze, argc, argv, take, &a, &first);

	if (status >= 0)
		return status;
	a.as_stock = !strcmp(scribe_program_name(argv[0]), "darshan-analyzer");
	a.show_progress = !a.quiet && !a.as_stock && isatty(STDERR_FILENO);
	rc = find_logs(&a, argv + first, &err);
	if (rc >= 0 && !a.npaths && !a.as_stock)
		rc = scribe_err_set(&err, -ENOENT, "%s: no files", argv[first]);
	if (rc >= 0) {
		read_logs(&a);
		print_stock(&a, argv + first);
		if (!a.as_stock)
			print_more(&a);
		if (a.no_memory)
			rc = scribe_err_set(&err, -ENOMEM, "totals: out of memory");
		else if (fflush(stdout) || ferror(stdout))
			rc = scribe_err_set(&err, -errno, "cannot write the output: %s", strerror(errno));
	}
	for (size_t i = 0; i < a.npaths; i++)
		free(a.paths[i]);
	free(a.paths);
	scribe_tally_free(&a.users);
	scribe_tally_free(&a.programs);
	scribe_tally_free(&a.mounts);
	if (rc < 0)
		return scribe_complain_err(argv[0], &err);
	return (a.unread || a.closed) && !a.as_stock ? SCRIBE_EXIT_FAILED : SCRIBE_EXIT_OK;
}

static const struct scribe_option options[] = {
	{"jobs", 'j', "N", "read with N threads (as many as there are processors)"},
	{"top", 't', "N", "list the first N of each kind, by bytes moved; 0: all (10)"},
	{"quiet", 'q', NULL, "show no progress"},
	{NULL, 0, NULL, NULL},
};

static const char *const examples[] = {
	"ioscribe analyze /var/log/ioscribe/2026/11",
	"who moved how much in November, and where",
	NULL,
};

const struct scribe_command scribe_command_analyze = {
	.name = "analyze",
	.summary = "statistics of all logs of a folder",
	.main = cmd_analyze,
	.operands = "DIR...",
	.min_operands = 1,
	.max_operands = -1,
	.options = options,
	.about = "Reads every file below the folders given as a log and prints how many logs there are, "
		 "which part\n"
		 "of them uses shared files, files of single processes, MPI-IO, PnetCDF and HDF5, and how "
		 "the share\n"
		 "of I/O in the run time is distributed; then the totals by user, by program and by file "
		 "system:\n"
		 "bytes read and written and time in POSIX and stdio calls summed over all ranks, and run "
		 "time\n"
		 "times processes.\n\n"
		 "Files that are no logs, and folders that cannot be read, are named on standard error, one "
		 "line\n"
		 "each; the exit status is then 1 and the figures are those of the others.\n\n"
		 "Under the name darshan-analyzer only that tool's figures are printed, files that are no "
		 "logs are\n"
		 "counted as it does, and the exit status is 0. Times in POSIX records of versions 1 to 3 in "
		 "the\n"
		 "other byte order, which that tool takes wrongly, are right.",
	.alias = "darshan-analyzer",
	.examples = examples,
};
