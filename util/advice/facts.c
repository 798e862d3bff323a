// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collects the facts of a log in one pass over each module. Memory: 500 bytes per file. Must not know rules or
 * text.
 */
#include "util/advice/facts.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_BUCKETS 5 /* up to 1 MiB */
#define SMALL_FILE    (1 << 20)
#define FEW           8
#define AHEAD         (4 << 20) /* read-ahead beyond what was read, at most */
#define TIME_MAX      1e12      /* s; longer is damage, not a job */

static struct scribe_file_facts *file_of(struct scribe_facts *f, uint64_t id)
{
	struct scribe_file_facts *file = scribe_map_get(&f->by_id, id);

	if (file)
		return file;
	if (f->nfiles == f->capacity) {
		size_t capacity = f->capacity ? 2 * f->capacity : 256;
		struct scribe_file_facts **more = realloc(f->file, capacity * sizeof(struct scribe_file_facts *));

		if (!more)
			return NULL;
		f->file = more;
		f->capacity = capacity;
	}
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->id = id;
	file->stripes = file->slow_rank = file->most_rank = -1;
	if (scribe_map_put(&f->by_id, id, file) < 0) {
		free(file);
		return NULL;
	}
	f->file[f->nfiles++] = file;
	return file;
}

/* Counters of -1 are unknown. Differences are of doubles: a log may hold any integers. */
static double count(int64_t n)
{
	return n > 0 ? (double)n : 0;
}

static double positive(double v)
{
	return v > 0 ? v : 0;
}

/* A damaged log may hold NaN or infinity: these count 0, so that sums and shares are finite. */
static double seconds(double v)
{
	return v > 0 && v < TIME_MAX ? v : 0;
}

static double difference(int64_t a, int64_t b, int64_t less)
{
	return positive((double)a - (double)b - (double)less);
}

/* `most`: highest byte read, highest byte written. */
static void raise_top(struct scribe_file_facts *file, const int64_t *most)
{
	for (int i = 0; i < 2; i++)
		if (most[i] > 0 && most[i] > file->top)
			file->top = most[i];
}

static double small_of(const int64_t *sizes)
{
	double n = 0;

	for (int i = 0; i < SMALL_BUCKETS; i++)
		n += count(sizes[i]);
	return n;
}

typedef int (*take_fn)(struct scribe_facts *f, const struct scribe_module *m, const void *record);

#define ADD(name, value) (v[SCRIBE_FACT_##name] += (value))

enum { BELOW, MPIIO }; /* levels */

static int add_rank_times(struct scribe_level *l, int64_t rank, double rw, double meta)
{
	struct scribe_rank_time *t = scribe_rank_time_of(&l->own, rank);

	if (!t)
		return -ENOMEM;
	t->rw += rw;
	t->meta += meta;
	t->total += rw + meta;
	return 0;
}

/* A record of all ranks has the slowest rank's time; the others' are known on average. */
static void add_shared_times(struct scribe_level *l, double slow, double rw, double meta)
{
	l->slow += slow;
	l->all += rw + meta;
	l->meta += meta;
}

/* Compares the ranks of a shared record. `c`: from FASTEST_RANK on (rank, bytes, rank, bytes). */
static void compare_ranks(struct scribe_file_facts *file, const int64_t *c, double slow, double mean)
{
	const double fast_bytes = count(c[1]), slow_bytes = count(c[3]);
	double *v = file->v;

	ADD(straggle, slow > mean ? slow - mean : 0);
	ADD(shared_time, slow);
	ADD(imbalance, fast_bytes > slow_bytes ? fast_bytes - slow_bytes : slow_bytes - fast_bytes);
	ADD(shared_bytes, fast_bytes > slow_bytes ? fast_bytes : slow_bytes);
	file->slow_rank = c[2];
	file->most_rank = c[fast_bytes > slow_bytes ? 0 : 2];
}

/*
 * With MPI-IO, aggregators move the others' bytes: what the ranks did is in MPI-IO's records, which come after
 * POSIX's and replace their values.
 */
static void compare_by_mpiio(struct scribe_file_facts *file)
{
	if (file->mpi)
		return;
	file->mpi = true;
	file->owners = 0;
	file->v[SCRIBE_FACT_straggle] = file->v[SCRIBE_FACT_shared_time] = 0;
	file->v[SCRIBE_FACT_imbalance] = file->v[SCRIBE_FACT_shared_bytes] = 0;
}

static void take_shared(struct scribe_facts *f, struct scribe_file_facts *file, const int64_t *c, const double *d)
{
	const double meta = seconds(d[SCRIBE_POSIX_F_META_TIME]), slow = seconds(d[SCRIBE_POSIX_F_SLOWEST_RANK_TIME]);
	const double rw = seconds(d[SCRIBE_POSIX_F_READ_TIME]) + seconds(d[SCRIBE_POSIX_F_WRITE_TIME]);
	double *v = file->v;

	ADD(shared_reads, count(c[SCRIBE_POSIX_READS]));
	ADD(shared_writes, count(c[SCRIBE_POSIX_WRITES]));
	ADD(small_shared_reads, small_of(&c[SCRIBE_POSIX_SIZE_READ_0_100]));
	ADD(small_shared_writes, small_of(&c[SCRIBE_POSIX_SIZE_WRITE_0_100]));
	ADD(shared_moved, count(c[SCRIBE_POSIX_BYTES_READ]) + count(c[SCRIBE_POSIX_BYTES_WRITTEN]));
	compare_ranks(file, &c[SCRIBE_POSIX_FASTEST_RANK], slow, (rw + meta) / f->v[SCRIBE_FACT_ranks]);
	add_shared_times(&f->level[BELOW], slow, rw, meta);
}

/* Ranks' own records of one file: the most and the least that one of them moved. */
static void take_owner(struct scribe_file_facts *file, int64_t rank, double bytes)
{
	if (!file->owners || bytes > file->most) {
		file->most = bytes;
		file->most_rank = rank;
	}
	if (!file->owners || bytes < file->least)
		file->least = bytes;
	file->owners++;
}

static int take_posix(struct scribe_facts *f, const struct scribe_module *m, const void *record)
{
	const struct scribe_base_record *base = record;
	const int64_t *c = scribe_record_counters(m, record);
	const double *d = scribe_record_fcounters(m, record);
	struct scribe_file_facts *file = file_of(f, base->id);
	const bool own = base->rank >= 0;
	double rw, meta, bytes, *v;

	if (!file)
		return -ENOMEM;
	v = file->v;
	rw = seconds(d[SCRIBE_POSIX_F_READ_TIME]) + seconds(d[SCRIBE_POSIX_F_WRITE_TIME]);
	meta = seconds(d[SCRIBE_POSIX_F_META_TIME]);
	bytes = count(c[SCRIBE_POSIX_BYTES_READ]) + count(c[SCRIBE_POSIX_BYTES_WRITTEN]);
	raise_top(file, &c[SCRIBE_POSIX_MAX_BYTE_READ]);
	ADD(opens, count(c[SCRIBE_POSIX_OPENS]));
	ADD(reads, count(c[SCRIBE_POSIX_READS]));
	ADD(writes, count(c[SCRIBE_POSIX_WRITES]));
	ADD(accesses, count(c[SCRIBE_POSIX_READS]) + count(c[SCRIBE_POSIX_WRITES]));
	ADD(bytes_read, count(c[SCRIBE_POSIX_BYTES_READ]));
	ADD(bytes_written, count(c[SCRIBE_POSIX_BYTES_WRITTEN]));
	ADD(small_reads, small_of(&c[SCRIBE_POSIX_SIZE_READ_0_100]));
	ADD(small_writes, small_of(&c[SCRIBE_POSIX_SIZE_WRITE_0_100]));
	/* The first access of a process counts as neither. */
	ADD(random_reads, difference(c[SCRIBE_POSIX_READS], c[SCRIBE_POSIX_SEQ_READS], own));
	ADD(random_writes, difference(c[SCRIBE_POSIX_WRITES], c[SCRIBE_POSIX_SEQ_WRITES], own));
	ADD(unaligned, count(c[SCRIBE_POSIX_FILE_NOT_ALIGNED]));
	ADD(unaligned_memory, count(c[SCRIBE_POSIX_MEM_NOT_ALIGNED]));
	ADD(switches, count(c[SCRIBE_POSIX_RW_SWITCHES]));
	ADD(seeks, count(c[SCRIBE_POSIX_SEEKS]));
	ADD(path_calls, count(c[SCRIBE_POSIX_STATS]));
	ADD(syncs, count(c[SCRIBE_POSIX_FSYNCS]) + count(c[SCRIBE_POSIX_FDSYNCS]));
	if (own) {
		ADD(reread, difference(c[SCRIBE_POSIX_BYTES_READ], c[SCRIBE_POSIX_MAX_BYTE_READ], 1));
		ADD(rewritten, difference(c[SCRIBE_POSIX_BYTES_WRITTEN], c[SCRIBE_POSIX_MAX_BYTE_WRITTEN], 1));
	}
	ADD(read_time, seconds(d[SCRIBE_POSIX_F_READ_TIME]));
	ADD(write_time, seconds(d[SCRIBE_POSIX_F_WRITE_TIME]));
	ADD(meta_time, meta);
	ADD(all_bytes, bytes);
	file->mapped |= c[SCRIBE_POSIX_MMAPS] > 0;
	if (!own) {
		take_shared(f, file, c, d);
		return 0;
	}
	take_owner(file, base->rank, bytes);
	return add_rank_times(&f->level[BELOW], base->rank, rw, meta);
}

static int take_ext(struct scribe_facts *f, const struct scribe_module *m, const void *record)
{
	const struct scribe_base_record *base = record;
	const int64_t *c = scribe_record_counters(m, record);
	struct scribe_file_facts *file = file_of(f, base->id);
	double *v;

	if (!file)
		return -ENOMEM;
	v = file->v;
	file->created |= c[SCRIBE_EXT_CREATES] > 0;
	file->removed |= c[SCRIBE_EXT_UNLINKS] > 0;
	ADD(mapped_bytes, count(c[SCRIBE_EXT_MAPPED_BYTES]));
	ADD(path_calls, count(c[SCRIBE_EXT_ACCESSES]) + count(c[SCRIBE_EXT_READLINKS]));
	ADD(failed_data, count(c[SCRIBE_EXT_FAILED_DATA]));
	return 0;
}

static int take_stdio(struct scribe_facts *f, const struct scribe_module *m, const void *record)
{
	const struct scribe_base_record *base = record;
	const int64_t *c = scribe_record_counters(m, record);
	const double *d = scribe_record_fcounters(m, record);
	struct scribe_file_facts *file = file_of(f, base->id);
	const double meta = seconds(d[SCRIBE_STDIO_F_META_TIME]);
	const double rw = seconds(d[SCRIBE_STDIO_F_READ_TIME]) + seconds(d[SCRIBE_STDIO_F_WRITE_TIME]);
	double bytes, *v;

	if (!file)
		return -ENOMEM;
	v = file->v;
	raise_top(file, &c[SCRIBE_STDIO_MAX_BYTE_READ]);
	bytes = count(c[SCRIBE_STDIO_BYTES_READ]) + count(c[SCRIBE_STDIO_BYTES_WRITTEN]);
	ADD(stream_bytes, bytes);
	ADD(stream_bytes_read, count(c[SCRIBE_STDIO_BYTES_READ]));
	ADD(stream_time, rw + meta);
	ADD(all_bytes, bytes);
	ADD(streams, count(c[SCRIBE_STDIO_READS]) + count(c[SCRIBE_STDIO_WRITES]));
	if (base->rank >= 0)
		return add_rank_times(&f->level[BELOW], base->rank, rw, meta);
	add_shared_times(&f->level[BELOW], seconds(d[SCRIBE_STDIO_F_SLOWEST_RANK_TIME]), rw, meta);
	return 0;
}

static int take_mpiio(struct scribe_facts *f, const struct scribe_module *m, const void *record)
{
	const struct scribe_base_record *base = record;
	const int64_t *c = scribe_record_counters(m, record);
	const double *d = scribe_record_fcounters(m, record);
	const double meta = seconds(d[SCRIBE_MPIIO_F_META_TIME]), slow = seconds(d[SCRIBE_MPIIO_F_SLOWEST_RANK_TIME]);
	const double rw = seconds(d[SCRIBE_MPIIO_F_READ_TIME]) + seconds(d[SCRIBE_MPIIO_F_WRITE_TIME]);
	struct scribe_file_facts *file = file_of(f, base->id);

	if (!file)
		return -ENOMEM;
	for (int write = 0; write < 2; write++) {
		const double alone = count(c[SCRIBE_MPIIO_INDEP_READS + write]);
		const double blocking = alone + count(c[SCRIBE_MPIIO_COLL_READS + write]);
		const double all =
			blocking + count(c[SCRIBE_MPIIO_SPLIT_READS + write]) + count(c[SCRIBE_MPIIO_NB_READS + write]);

		file->v[SCRIBE_FACT_mpi_reads + write] += all;
		file->v[SCRIBE_FACT_mpi_alone_reads + write] += alone;
		file->v[SCRIBE_FACT_mpi_blocking_reads + write] += blocking;
	}
	compare_by_mpiio(file);
	if (base->rank < 0) {
		compare_ranks(file, &c[SCRIBE_MPIIO_FASTEST_RANK], slow, (rw + meta) / f->v[SCRIBE_FACT_ranks]);
		add_shared_times(&f->level[MPIIO], slow, rw, meta);
		return 0;
	}
	take_owner(file, base->rank, count(c[SCRIBE_MPIIO_BYTES_READ]) + count(c[SCRIBE_MPIIO_BYTES_WRITTEN]));
	return add_rank_times(&f->level[MPIIO], base->rank, rw, meta);
}

static int take_layers(struct scribe_facts *f, const struct scribe_module *m, const void *record)
{
	static const int top[2][3] = {
		{SCRIBE_LAYERS_HDF5_BYTES_READ, SCRIBE_LAYERS_PNETCDF_BYTES_READ, SCRIBE_LAYERS_MPIIO_BYTES_READ},
		{SCRIBE_LAYERS_HDF5_BYTES_WRITTEN, SCRIBE_LAYERS_PNETCDF_BYTES_WRITTEN,
		 SCRIBE_LAYERS_MPIIO_BYTES_WRITTEN}};
	static const int posix[2] = {SCRIBE_LAYERS_POSIX_BYTES_READ, SCRIBE_LAYERS_POSIX_BYTES_WRITTEN};
	const struct scribe_base_record *base = record;
	const int64_t *c = scribe_record_counters(m, record);
	struct scribe_file_facts *file = file_of(f, base->id);

	if (!file)
		return -ENOMEM;
	for (int write = 0; write < 2; write++) {
		double asked = 0;

		for (int i = 0; i < 3 && asked == 0; i++)
			asked = count(c[top[write][i]]);
		file->v[SCRIBE_FACT_top_read + write] += asked;
		if (asked > 0)
			file->v[SCRIBE_FACT_amplified_read + write] += positive((double)c[posix[write]] - asked);
	}
	return 0;
}

static int take_cache(struct scribe_facts *f, const struct scribe_module *m, const void *record)
{
	const struct scribe_base_record *base = record;
	const int64_t *c = scribe_record_counters(m, record);
	const double *d = scribe_record_fcounters(m, record);
	struct scribe_file_facts *file = file_of(f, base->id);
	double *v;

	if (!file)
		return -ENOMEM;
	v = file->v;
	file->fetch_unknown |= c[SCRIBE_CACHE_BYTES_FETCHED] < 0;
	ADD(fetched, count(c[SCRIBE_CACHE_BYTES_FETCHED]));
	ADD(fetch_time, seconds(d[SCRIBE_CACHE_F_FETCH_TIME]));
	ADD(direct_read, count(c[SCRIBE_CACHE_DIRECT_BYTES_READ]));
	ADD(direct_written, count(c[SCRIBE_CACHE_DIRECT_BYTES_WRITTEN]));
	ADD(dirtied, count(c[SCRIBE_CACHE_BYTES_DIRTIED]));
	ADD(throttled, seconds(d[SCRIBE_CACHE_F_THROTTLED_TIME]));
	ADD(faults, count(c[SCRIBE_CACHE_MINOR_FAULTS]) + count(c[SCRIBE_CACHE_MAJOR_FAULTS]));
	ADD(faulted, count(c[SCRIBE_CACHE_BYTES_FAULTED]));
	return 0;
}

static int take_cufile(struct scribe_facts *f, const struct scribe_module *m, const void *record)
{
	const struct scribe_base_record *base = record;
	const int64_t *c = scribe_record_counters(m, record);
	struct scribe_file_facts *file = file_of(f, base->id);

	if (!file)
		return -ENOMEM;
	file->cufile = true;
	f->cufile_bytes += count(c[SCRIBE_CUFILE_BYTES_READ]) + count(c[SCRIBE_CUFILE_BYTES_WRITTEN]);
	f->cufile_unsized += count(c[SCRIBE_CUFILE_ASYNC_READS]) + count(c[SCRIBE_CUFILE_ASYNC_WRITES]) +
			     count(c[SCRIBE_CUFILE_BATCHED]);
	return 0;
}

static int take_lustre(struct scribe_facts *f, const struct scribe_module *m, const void *record)
{
	const struct scribe_lustre_record *l = record;
	struct scribe_file_facts *file = file_of(f, l->base.id);

	(void)m;
	if (!file)
		return -ENOMEM;
	for (int64_t i = 0; i < l->num_comps; i++) {
		const int64_t n = l->comps[i].counters[SCRIBE_LUSTRE_COMP_STRIPE_COUNT];

		file->stripes = n > file->stripes ? n : file->stripes;
	}
	return 0;
}

static bool is_python(const char *exe)
{
	const char *slash = strrchr(exe, '/');

	return !strncmp(slash ? slash + 1 : exe, "python", 6);
}

/*
 * Tools end with 1 in daily use (grep), pools end their workers by SIGTERM, and pipelines by SIGPIPE. Codes count of
 * ranks and of what the job started itself.
 */
static bool has_failed(const struct scribe_process_record *p)
{
	const int64_t signal_number = p->wait_status & 0x7f;

	if (p->end_kind == SCRIBE_END_SIGNALLED)
		return signal_number != SIGTERM && signal_number != SIGPIPE && signal_number != SIGINT &&
		       signal_number != SIGHUP;
	return p->end_kind == SCRIBE_END_EXITED && p->wait_status != 0 &&
	       (p->nranks_world > 0 || p->parent_serial == 0);
}

static int take_process(struct scribe_facts *f, const struct scribe_module *m, const void *record)
{
	const struct scribe_process_record *p = record;
	double *v = f->v;

	(void)m;
	ADD(processes, 1);
	if (has_failed(p)) {
		ADD(failed_processes, 1);
		f->failed_rank = f->failed_rank < 0 ? p->base.rank : f->failed_rank;
	}
	ADD(python, is_python(p->exe));
	ADD(cpu_time, seconds(p->cpu_time));
	ADD(tracing_time, seconds(p->tracing_time));
	if (p->base.rank < 0)
		ADD(outside_bytes, count(p->bytes_read) + count(p->bytes_written));
	return 0;
}

static int64_t ledger_counter(const struct scribe_module *m, const struct scribe_ledger_record *l, const char *name)
{
	for (int i = 0; i < m->ncounters; i++)
		if (!strcmp(scribe_counter_name(m, i), name))
			return l->counters[i];
	return 0;
}

static int take_ledger(struct scribe_facts *f, const struct scribe_module *m, const void *record)
{
	const struct scribe_ledger_record *l = record;
	const double unrecorded =
		difference(ledger_counter(m, l, "LEDGER_EVENTS"), ledger_counter(m, l, "LEDGER_RECORDED"),
			   ledger_counter(m, l, "LEDGER_OVERFLOWED"));
	double losses = 0;
	double *v = f->v;

	f->nodes++;
	ADD(tracer_time, seconds(l->fcounters[SCRIBE_LEDGER_F_DAEMON_CPU]));
	ADD(failed_paths, count(ledger_counter(m, l, "LEDGER_FAILED_PATHS")));
	ADD(overflowed, count(ledger_counter(m, l, "LEDGER_OVERFLOWED_FILES")));
	for (int i = 0; i < m->ncounters; i++) {
		const enum scribe_ledger_meaning is = scribe_ledger_meaning(i);

		if (is == SCRIBE_IS_LOSS || is == SCRIBE_IS_DROP)
			losses += count(l->counters[i]);
	}
	/* An operation without a record is mostly in a counter of losses, too: it counts once. */
	ADD(lost, losses > unrecorded ? losses : unrecorded);
	return 0;
}

static const struct module_facts {
	int module;
	take_fn take;
} sources[] = {
	{SCRIBE_MOD_POSIX, take_posix},     {SCRIBE_MOD_POSIX_EXT, take_ext}, {SCRIBE_MOD_STDIO, take_stdio},
	{SCRIBE_MOD_MPIIO, take_mpiio},     {SCRIBE_MOD_LAYERS, take_layers}, {SCRIBE_MOD_LUSTRE, take_lustre},
	{SCRIBE_MOD_PROCESS, take_process}, {SCRIBE_MOD_LEDGER, take_ledger}, {SCRIBE_MOD_CACHE, take_cache},
	{SCRIBE_MOD_CUFILE, take_cufile},
};

/* What follows from all records of a file together. */
static void finish_file(struct scribe_facts *f, struct scribe_file_facts *file)
{
	double *v = file->v;
	const bool mapped = file->mapped || v[SCRIBE_FACT_mapped_bytes] > 0;
	const double read = v[SCRIBE_FACT_bytes_read] + v[SCRIBE_FACT_stream_bytes_read];
	const bool used =
		mapped || file->cufile || v[SCRIBE_FACT_reads] + v[SCRIBE_FACT_writes] + v[SCRIBE_FACT_streams] > 0;

	/* A file of few operations is a small file, not one of small operations. */
	if (v[SCRIBE_FACT_writes] < FEW)
		v[SCRIBE_FACT_small_writes] = v[SCRIBE_FACT_small_shared_writes] = 0;
	if (v[SCRIBE_FACT_reads] < FEW)
		v[SCRIBE_FACT_small_reads] = v[SCRIBE_FACT_small_shared_reads] = 0;
	if (file->fetch_unknown)
		ADD(fetch_unknown, read);
	ADD(fetched_unread, positive(v[SCRIBE_FACT_fetched] - read));
	/* Each node has a page cache. Whole pages, and read-ahead beyond the last byte that was read. */
	ADD(fetched_again, positive(v[SCRIBE_FACT_fetched] - f->nodes * ((double)file->top + AHEAD)));
	if (file->cufile)
		f->cufile_calls += v[SCRIBE_FACT_bytes_read] + v[SCRIBE_FACT_bytes_written];
	if (!used)
		ADD(unused_opens, v[SCRIBE_FACT_opens]);
	if (file->created && file->removed && v[SCRIBE_FACT_bytes_read] == 0 && !mapped && !file->cufile)
		ADD(discarded, v[SCRIBE_FACT_bytes_written]);
	if (file->stripes == 1)
		ADD(one_stripe, v[SCRIBE_FACT_shared_moved]);
	if (v[SCRIBE_FACT_mpi_reads] + v[SCRIBE_FACT_mpi_writes] == 0)
		ADD(shared_posix, v[SCRIBE_FACT_shared_reads] + v[SCRIBE_FACT_shared_writes]);
	if (file->owners > 1) {
		ADD(imbalance, file->most - file->least);
		ADD(shared_bytes, file->most);
	}
	for (int i = 0; i < SCRIBE_NFILE_FACTS; i++)
		f->v[i] += v[i];
	f->v[SCRIBE_FACT_files] += v[SCRIBE_FACT_all_bytes] > 0;
	f->v[SCRIBE_FACT_small_files] += v[SCRIBE_FACT_all_bytes] > 0 && file->top < SMALL_FILE;
}

static void begin_job(struct scribe_facts *f)
{
	const struct scribe_log_job *job = scribe_reader_job(f->log->reader);
	const uint64_t flags = scribe_reader_header(f->log->reader)->partial_flag;
	double *v = f->v;

	v[SCRIBE_FACT_job] = 1;
	v[SCRIBE_FACT_ranks] = job->nprocs > 0 ? (double)job->nprocs : 1;
	v[SCRIBE_FACT_run_time] = scribe_reader_runtime(f->log->reader);
	v[SCRIBE_FACT_partial] = __builtin_popcountll(flags);
	f->slow_rank = f->slow_meta_rank = f->failed_rank = -1;
}

/* As in Darshan's estimate: own records of the slowest rank, and the slowest rank of each shared one. */
static void finish_level(struct scribe_facts *f, const struct scribe_level *l)
{
	double *v = f->v, most = 0, all = l->all;
	const double ranks = v[SCRIBE_FACT_ranks];
	int64_t slow_rank = -1;

	for (size_t i = 0; i < l->own.n; i++) {
		const struct scribe_rank_time *t = &l->own.entries[i];

		all += t->total;
		if (t->total > most) {
			most = t->total;
			slow_rank = t->rank;
		}
		if (l == &f->level[BELOW] && t->meta > v[SCRIBE_FACT_rank_meta_time]) {
			v[SCRIBE_FACT_rank_meta_time] = t->meta;
			f->slow_meta_rank = t->rank;
		}
	}
	if (l == &f->level[BELOW])
		ADD(rank_meta_time, l->meta / ranks);
	if (most + l->slow <= v[SCRIBE_FACT_io_time])
		return;
	v[SCRIBE_FACT_io_time] = most + l->slow;
	v[SCRIBE_FACT_rank_gap] = ranks > 1 ? positive(most + l->slow - all / ranks) : 0;
	f->slow_rank = slow_rank;
}

static void finish_job(struct scribe_facts *f)
{
	double *v = f->v;

	finish_level(f, &f->level[BELOW]);
	finish_level(f, &f->level[MPIIO]);
	v[SCRIBE_FACT_path_total] = v[SCRIBE_FACT_opens] + v[SCRIBE_FACT_path_calls] + v[SCRIBE_FACT_failed_paths];
}

int scribe_facts_read(struct scribe_facts *f, struct scribe_log *log, struct scribe_err *err)
{
	*f = (struct scribe_facts){.log = log};
	begin_job(f);
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		const struct scribe_module *m = scribe_module_by_id(sources[i].module);
		const void *record;
		size_t len;
		int rc;

		scribe_reader_rewind(log->reader, m->id);
		while ((rc = scribe_reader_borrow_record(log->reader, m->id, &record, &len)) > 0) {
			rc = sources[i].take(f, m, record);
			if (rc < 0)
				return scribe_err_set(err, rc, "out of memory");
		}
		if (rc < 0) {
			*err = *scribe_reader_error(log->reader);
			return rc;
		}
	}
	for (size_t i = 0; i < f->nfiles; i++)
		finish_file(f, f->file[i]);
	finish_job(f);
	return 0;
}

void scribe_facts_clear(struct scribe_facts *f)
{
	for (size_t i = 0; i < f->nfiles; i++)
		free(f->file[i]);
	free(f->file);
	scribe_map_clear(&f->by_id);
	for (int i = 0; i < 2; i++)
		scribe_rank_times_clear(&f->level[i].own);
	*f = (struct scribe_facts){0};
}
