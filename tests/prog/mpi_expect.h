/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plain reference for the counters of a file: every operation is done, noted,
 * and at the end counted from the list, the slow and obvious way. Ranks print
 * what the log must say, one "FILE RANK COUNTER VALUE" a line; rank -1 is the
 * record shared by all. Shares nothing with the code that is tested.
 */
#ifndef TESTS_PROG_MPI_EXPECT_H
#define TESTS_PROG_MPI_EXPECT_H

#include <mpi.h>
#include <sys/statfs.h>

#include "prog.h"

enum { EX_OPS = 4096, EX_FILES = 8, EX_VALUES = 64, EX_BUCKETS = 10, EX_TOP = 4 };

struct ex_op {
	char kind; /* 'o' open, 'r', 'w', 's' seek, 't' stat, 'f' fsync, 'y' fdatasync, 'd' dup */
	long long offset, bytes;
	int unaligned;
};

struct ex_value {
	long long value, count;
};

struct ex_file {
	char path[512];
	const char *name;
	int fd, append;
	long long pos, align;
	int mode;
	int nops;
	struct ex_op op[EX_OPS];
};

struct ex_counts {
	long long opens, dups, reads, writes, seeks, stats, fsyncs, fdsyncs, mode;
	long long bytes_read, bytes_written, max_read, max_write;
	long long seq[2], consec[2], switches, mem, file, align;
	long long size[2][EX_BUCKETS];
	long long ranks_read, ranks_wrote;
	struct ex_value access[EX_VALUES], stride[EX_VALUES];
};

static inline void ex_note(struct ex_file *f, char kind, long long offset, long long bytes, const void *buf)
{
	if (f->nops == EX_OPS) {
		fprintf(stderr, "mpi_expect: too many operations\n");
		exit(3);
	}
	f->op[f->nops++] = (struct ex_op){kind, offset, bytes, buf && (uintptr_t)buf % 8 != 0};
}

static inline void ex_open(struct ex_file *f, const char *dir, const char *name, int flags, int mode)
{
	struct statfs fs;

	f->name = name;
	snprintf(f->path, sizeof(f->path), "%s/%s", dir, name);
	f->fd = (int)MUST(open(f->path, flags, mode));
	f->append = (flags & O_APPEND) != 0;
	f->pos = 0;
	if (flags & O_CREAT)
		f->mode = mode;
	MUST(statfs(dir, &fs));
	f->align = (long long)fs.f_bsize;
	ex_note(f, 'o', 0, 0, NULL);
}

static inline void ex_pwrite(struct ex_file *f, const void *buf, size_t n, long long at)
{
	EXACT(pwrite(f->fd, buf, n, at), n);
	ex_note(f, 'w', at, (long long)n, buf);
}

static inline void ex_pread(struct ex_file *f, void *buf, size_t n, long long at)
{
	ex_note(f, 'r', at, MUST(pread(f->fd, buf, n, at)), buf);
}

static inline void ex_write(struct ex_file *f, const void *buf, size_t n)
{
	if (f->append)
		f->pos = (long long)MUST(lseek(f->fd, 0, SEEK_END)), ex_note(f, 's', 0, 0, NULL);
	EXACT(write(f->fd, buf, n), n);
	ex_note(f, 'w', f->pos, (long long)n, buf);
	f->pos += (long long)n;
}

static inline void ex_read(struct ex_file *f, void *buf, size_t n)
{
	long long got = MUST(read(f->fd, buf, n));

	ex_note(f, 'r', f->pos, got, buf);
	f->pos += got;
}

static inline void ex_seek(struct ex_file *f, long long to)
{
	f->pos = MUST(lseek(f->fd, to, SEEK_SET));
	ex_note(f, 's', 0, 0, NULL);
}

static inline void ex_stat(struct ex_file *f)
{
	struct stat st;

	MUST(fstat(f->fd, &st));
	ex_note(f, 't', 0, 0, NULL);
}

static inline void ex_sync(struct ex_file *f, int data_only)
{
	MUST(data_only ? fdatasync(f->fd) : fsync(f->fd));
	ex_note(f, data_only ? 'y' : 'f', 0, 0, NULL);
}

static inline void ex_dup(struct ex_file *f)
{
	MUST(close((int)MUST(dup(f->fd))));
	ex_note(f, 'd', 0, 0, NULL);
}

static inline int ex_bucket(long long n)
{
	static const long long edge[] = {100, 1024, 10240, 102400, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1ll << 30};
	int b = 0;

	while (b < EX_BUCKETS - 1 && n > edge[b])
		b++;
	return b;
}

static inline void ex_add(struct ex_value *v, long long value, long long count)
{
	if (value == 0)
		return;
	while (v->count && v->value != value)
		v++;
	v->value = value;
	v->count += count;
}

static inline int ex_more(const void *a, const void *b)
{
	const struct ex_value *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->value > y->value ? -1 : x->value < y->value;
}

/* Sort, and forget all but the four most common: a record holds no more. */
static inline void ex_top(struct ex_value *v)
{
	qsort(v, EX_VALUES, sizeof(*v), ex_more);
	memset(v + EX_TOP, 0, (EX_VALUES - EX_TOP) * sizeof(*v));
}

static inline void ex_count_data(struct ex_counts *c, const struct ex_op *op, long long last[2], int *last_kind)
{
	int w = op->kind == 'w';
	long long end = op->offset + op->bytes - 1;

	*(w ? &c->writes : &c->reads) += 1;
	*(w ? &c->bytes_written : &c->bytes_read) += op->bytes;
	if (end > *(w ? &c->max_write : &c->max_read))
		*(w ? &c->max_write : &c->max_read) = end;
	c->seq[w] += op->offset > last[w];
	c->consec[w] += op->offset == last[w] + 1;
	if (op->offset > last[w] && last[w] != 0)
		ex_add(c->stride, op->offset - last[w] - 1, 1);
	last[w] = end;
	c->switches += *last_kind && *last_kind != op->kind;
	*last_kind = op->kind;
	c->mem += op->unaligned;
	c->file += op->offset % c->align != 0;
	c->size[w][ex_bucket(op->bytes)]++;
	ex_add(c->access, op->bytes, 1);
}

static inline void ex_count(const struct ex_file *f, struct ex_counts *c)
{
	long long last[2] = {0, 0};
	int last_kind = 0;

	memset(c, 0, sizeof(*c));
	c->align = f->align;
	c->mode = f->mode;
	for (int i = 0; i < f->nops; i++) {
		switch (f->op[i].kind) {
		case 'o':
			c->opens++;
			last[0] = last[1] = 0;
			break;
		case 'd':
			c->opens++; /* Darshan counts a dup as an open too */
			c->dups++;
			break;
		case 's':
			c->seeks++;
			break;
		case 't':
			c->stats++;
			break;
		case 'f':
			c->fsyncs++;
			break;
		case 'y':
			c->fdsyncs++;
			break;
		default:
			ex_count_data(c, &f->op[i], last, &last_kind);
		}
	}
	c->ranks_read = c->reads > 0;
	c->ranks_wrote = c->writes > 0;
	ex_top(c->access);
	ex_top(c->stride);
}

static inline void ex_line(const char *file, int rank, const char *counter, long long value)
{
	printf("%s %d POSIX_%s %lld\n", file, rank, counter, value);
}

static inline void ex_print_values(const char *file, int rank, const char *what, const struct ex_value *v)
{
	char name[64];

	for (int i = 0; i < EX_TOP; i++) {
		snprintf(name, sizeof(name), "%s%d_%s", what, i + 1, what);
		ex_line(file, rank, name, v[i].value);
		snprintf(name, sizeof(name), "%s%d_COUNT", what, i + 1);
		ex_line(file, rank, name, v[i].count);
	}
}

static inline void ex_print(const char *file, int rank, const struct ex_counts *c)
{
	static const char *const bucket[EX_BUCKETS] = {"0_100", "100_1K", "1K_10K",   "10K_100K", "100K_1M",
						       "1M_4M", "4M_10M", "10M_100M", "100M_1G",  "1G_PLUS"};
	char name[64];

	ex_line(file, rank, "OPENS", c->opens);
	ex_line(file, rank, "DUPS", c->dups);
	ex_line(file, rank, "READS", c->reads);
	ex_line(file, rank, "WRITES", c->writes);
	ex_line(file, rank, "SEEKS", c->seeks);
	ex_line(file, rank, "STATS", c->stats);
	ex_line(file, rank, "FSYNCS", c->fsyncs);
	ex_line(file, rank, "FDSYNCS", c->fdsyncs);
	ex_line(file, rank, "MODE", c->mode);
	ex_line(file, rank, "EXT_RANKS_READ", c->ranks_read);
	ex_line(file, rank, "EXT_RANKS_WROTE", c->ranks_wrote);
	ex_line(file, rank, "BYTES_READ", c->bytes_read);
	ex_line(file, rank, "BYTES_WRITTEN", c->bytes_written);
	ex_line(file, rank, "MAX_BYTE_READ", c->max_read);
	ex_line(file, rank, "MAX_BYTE_WRITTEN", c->max_write);
	ex_line(file, rank, "SEQ_READS", c->seq[0]);
	ex_line(file, rank, "SEQ_WRITES", c->seq[1]);
	ex_line(file, rank, "CONSEC_READS", c->consec[0]);
	ex_line(file, rank, "CONSEC_WRITES", c->consec[1]);
	ex_line(file, rank, "RW_SWITCHES", c->switches);
	ex_line(file, rank, "MEM_NOT_ALIGNED", c->mem);
	ex_line(file, rank, "MEM_ALIGNMENT", 8);
	ex_line(file, rank, "FILE_NOT_ALIGNED", c->file);
	ex_line(file, rank, "FILE_ALIGNMENT", c->align);
	for (int i = 0; i < EX_BUCKETS; i++) {
		snprintf(name, sizeof(name), "SIZE_READ_%s", bucket[i]);
		ex_line(file, rank, name, c->size[0][i]);
		snprintf(name, sizeof(name), "SIZE_WRITE_%s", bucket[i]);
		ex_line(file, rank, name, c->size[1][i]);
	}
	ex_print_values(file, rank, "ACCESS", c->access);
	ex_print_values(file, rank, "STRIDE", c->stride);
}

static inline void ex_join(struct ex_counts *a, const struct ex_counts *b)
{
	a->ranks_read += b->ranks_read;
	a->ranks_wrote += b->ranks_wrote;
	a->opens += b->opens;
	a->dups += b->dups;
	a->reads += b->reads;
	a->writes += b->writes;
	a->seeks += b->seeks;
	a->stats += b->stats;
	a->fsyncs += b->fsyncs;
	a->fdsyncs += b->fdsyncs;
	a->bytes_read += b->bytes_read;
	a->bytes_written += b->bytes_written;
	a->max_read = a->max_read > b->max_read ? a->max_read : b->max_read;
	a->max_write = a->max_write > b->max_write ? a->max_write : b->max_write;
	a->switches += b->switches;
	a->mem += b->mem;
	a->file += b->file;
	for (int w = 0; w < 2; w++) {
		a->seq[w] += b->seq[w];
		a->consec[w] += b->consec[w];
		for (int i = 0; i < EX_BUCKETS; i++)
			a->size[w][i] += b->size[w][i];
	}
	for (int i = 0; i < EX_TOP; i++) {
		ex_add(a->access, b->access[i].value, b->access[i].count);
		ex_add(a->stride, b->stride[i].value, b->stride[i].count);
	}
}

/* Rank 0 prints for all ranks: one record a rank, or one shared by all. */
static inline void ex_report(const struct ex_file *f, int used, int shared)
{
	static struct ex_counts mine, all[64];
	long long moved;
	int rank, size, use[64];
	double mean = 0, variance = 0;
	char names[64][64] = {{0}};

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	memset(&mine, 0, sizeof(mine));
	if (used)
		ex_count(f, &mine);
	snprintf(names[rank], sizeof(names[0]), "%s", used ? f->name : "");
	MPI_Gather(rank ? names[rank] : MPI_IN_PLACE, 64, MPI_CHAR, names, 64, MPI_CHAR, 0, MPI_COMM_WORLD);
	MPI_Gather(&mine, sizeof(mine), MPI_CHAR, all, sizeof(mine), MPI_CHAR, 0, MPI_COMM_WORLD);
	MPI_Gather(&used, 1, MPI_INT, use, 1, MPI_INT, 0, MPI_COMM_WORLD);
	if (rank != 0)
		return;
	for (int r = 0; r < size && !shared; r++)
		if (use[r])
			ex_print(names[r], r, &all[r]);
	if (!shared)
		return;
	for (int r = 0; r < size; r++)
		mean += (double)(all[r].bytes_read + all[r].bytes_written) / size;
	for (int r = 0; r < size; r++) {
		moved = all[r].bytes_read + all[r].bytes_written;
		variance += ((double)moved - mean) * ((double)moved - mean) / size;
		printf("%s -1 RANK_BYTES_%d %lld\n", f->name, r, moved);
	}
	for (int r = 1; r < size; r++)
		ex_join(&all[0], &all[r]);
	ex_top(all[0].access);
	ex_top(all[0].stride);
	ex_print(f->name, -1, &all[0]);
	printf("%s -1 POSIX_F_VARIANCE_RANK_BYTES %f\n", f->name, variance);
}

#endif
