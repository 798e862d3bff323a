// SPDX-License-Identifier: BSD-3-Clause
/*
 * What of a log's making goes over MPI: layout_mpi RECORDS FOLDER [ROUNDS]. Each rank has RECORDS records of
 * POSIX and as many of POSIX_EXT, in the order in which a program meets its files; every second file is that
 * of all ranks. Shared records are reduced where they stand, by an indexed datatype, or sorted to the front first;
 * what is left is compressed and written: by MPI-IO with Darshan's hints, a call a module or one call, by all
 * ranks themselves, or by one of 16. Prints CSV: medians over the rounds (9) of the slowest rank's milliseconds, and
 * the KiB that the step took beyond the records themselves, on the rank that took the most.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { POSIX = 704, EXT = 240, MODULES = 2, GROUP = 16, MOST_ROUNDS = 99 };

static const size_t bytes_of[MODULES] = {POSIX, EXT};
static int rank, size;
static size_t files, shared;
static char *records; /* POSIX, EXT, POSIX, EXT, ... */
static const char *path;

static void die(const char *what)
{
	fprintf(stderr, "layout_mpi: %s\n", what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void *memory(size_t n)
{
	void *p = malloc(n ? n : 1);

	if (!p)
		die("out of memory");
	return p;
}

static char *record_at(size_t file, int module)
{
	return records + file * (POSIX + EXT) + (module ? POSIX : 0);
}

static void fill(void)
{
	for (size_t i = 0; i < files; i++)
		for (int m = 0; m < MODULES; m++) {
			int64_t *w = (int64_t *)(void *)record_at(i, m);

			memset(w, 0, bytes_of[m]);
			w[0] = (int64_t)(i * 0x9e3779b97f4a7c15u);
			w[1] = rank;
			for (size_t k = 2; k < bytes_of[m] / 8; k += 3)
				w[k] = (int64_t)((i * 31 + k * 7) % 1000) + (k % 5 ? 0 : rank);
		}
}

/* ---- peaks of memory ---- */

static long status_kib(const char *key)
{
	char line[128];
	long v = 0;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			v = atol(line + strlen(key));
	if (f)
		fclose(f);
	return v;
}

static long begin_peak(void)
{
	FILE *f = fopen("/proc/self/clear_refs", "w");

	if (f) {
		fputs("5", f);
		fclose(f);
	}
	return status_kib("VmRSS:");
}

/* ---- reduction ---- */

static MPI_Aint *places; /* of the shared records of the module that is being reduced */
static size_t step;

static void add(int64_t *to, const int64_t *from)
{
	for (size_t k = 2; k < step / 8; k++)
		to[k] += from[k];
}

static void add_indexed(void *in, void *inout, int *len, MPI_Datatype *type)
{
	(void)len, (void)type;
	for (size_t i = 0; i < shared; i++)
		add((int64_t *)(void *)((char *)inout + places[i]), (int64_t *)(void *)((char *)in + places[i]));
}

static void add_packed(void *in, void *inout, int *len, MPI_Datatype *type)
{
	(void)type;
	for (int i = 0; i < *len; i++)
		add((int64_t *)(void *)((char *)inout + (size_t)i * step),
		    (int64_t *)(void *)((char *)in + (size_t)i * step));
}

static void reduce_indexed(void)
{
	for (int m = 0; m < MODULES; m++) {
		MPI_Datatype type;
		MPI_Op op;

		step = bytes_of[m];
		places = memory(shared * sizeof(*places));
		for (size_t i = 0; i < shared; i++)
			places[i] = record_at(2 * i, m) - records;
		MPI_Type_create_hindexed_block((int)shared, (int)step, places, MPI_BYTE, &type);
		MPI_Type_commit(&type);
		MPI_Op_create(add_indexed, 1, &op);
		MPI_Reduce(rank ? records : MPI_IN_PLACE, records, 1, type, op, 0, MPI_COMM_WORLD);
		MPI_Op_free(&op);
		MPI_Type_free(&type);
		free(places);
	}
}

struct item {
	int module, alone;
	const char *at;
};

static int by_place(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->module != y->module)
		return x->module - y->module;
	if (x->alone != y->alone)
		return x->alone - y->alone;
	return x->at < y->at ? -1 : x->at > y->at;
}

static struct item *items;
static char *sorted; /* all records of the first module, shared ones first, then the second's */

static void sort_and_gather(void)
{
	size_t n = 0, at = 0;

	items = memory(files * MODULES * sizeof(*items));
	sorted = memory(files * (POSIX + EXT));
	for (size_t i = 0; i < files; i++)
		for (int m = 0; m < MODULES; m++)
			items[n++] = (struct item){m, i % 2 != 0, record_at(i, m)};
	qsort(items, n, sizeof(*items), by_place);
	for (size_t i = 0; i < n; i++) {
		memcpy(sorted + at, items[i].at, bytes_of[items[i].module]);
		at += bytes_of[items[i].module];
	}
}

static void reduce_sorted(void)
{
	for (int m = 0; m < MODULES; m++) {
		char *from = sorted + (m ? files * POSIX : 0);
		MPI_Datatype type;
		MPI_Op op;

		step = bytes_of[m];
		MPI_Type_contiguous((int)step, MPI_BYTE, &type);
		MPI_Type_commit(&type);
		MPI_Op_create(add_packed, 1, &op);
		MPI_Reduce(rank ? from : MPI_IN_PLACE, from, (int)shared, type, op, 0, MPI_COMM_WORLD);
		MPI_Op_free(&op);
		MPI_Type_free(&type);
	}
}

/* Both ways give the same. */
static void compare(void)
{
	for (size_t i = 0; rank == 0 && i < shared; i++)
		if (memcmp(sorted + i * POSIX, record_at(2 * i, 0), POSIX) ||
		    memcmp(sorted + files * POSIX + i * EXT, record_at(2 * i, 1), EXT))
			die("the two reductions differ");
}

/* ---- writing ---- */

static char *packed[MODULES];
static uLongf packed_bytes[MODULES];

/* A rank's own records; rank 0 has the shared ones too. */
static void pack(void)
{
	for (int m = 0; m < MODULES; m++) {
		size_t skip = rank ? shared * bytes_of[m] : 0, n = files * bytes_of[m] - skip;

		packed_bytes[m] = compressBound(n);
		packed[m] = memory(packed_bytes[m]);
		if (compress2((Bytef *)packed[m], &packed_bytes[m], (Bytef *)sorted + (m ? files * POSIX : 0) + skip, n,
			      6))
			die("zlib");
	}
}

static long long scanned(long long mine, long long *ret_total)
{
	long long before = 0;

	MPI_Exscan(&mine, &before, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
	MPI_Allreduce(&mine, ret_total, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
	return rank ? before : 0;
}

static void put(int fd, const char *bytes, size_t n, long long at)
{
	if (pwrite(fd, bytes, n, at) != (ssize_t)n)
		die("pwrite");
}

/* With Darshan's default hints. `each`: a call and a scan for each module, else one for all. */
static void write_mpiio(int each)
{
	long long at = 0, total, mine = (long long)(packed_bytes[0] + packed_bytes[1]);
	char *all;
	MPI_Info info;
	MPI_File f;

	MPI_Info_create(&info);
	MPI_Info_set(info, "romio_no_indep_rw", "true");
	MPI_Info_set(info, "cb_nodes", "4");
	if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, info, &f))
		die("MPI_File_open");
	for (int m = 0; each && m < MODULES; m++) {
		long long before = scanned((long long)packed_bytes[m], &total);

		MPI_File_write_at_all(f, at + before, packed[m], (int)packed_bytes[m], MPI_BYTE, MPI_STATUS_IGNORE);
		at += total;
	}
	if (!each) {
		all = memory((size_t)mine);
		memcpy(all, packed[0], packed_bytes[0]);
		memcpy(all + packed_bytes[0], packed[1], packed_bytes[1]);
		at = scanned(mine, &total);
		MPI_File_write_at_all(f, at, all, (int)mine, MPI_BYTE, MPI_STATUS_IGNORE);
		free(all);
	}
	MPI_File_close(&f);
	MPI_Info_free(&info);
}

static void write_each_module(void)
{
	write_mpiio(1);
}

static void write_one_call(void)
{
	write_mpiio(0);
}

static void write_all_ranks(void)
{
	long long total, at = scanned((long long)(packed_bytes[0] + packed_bytes[1]), &total);
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	put(fd, packed[0], packed_bytes[0], at);
	put(fd, packed[1], packed_bytes[1], at + (long long)packed_bytes[0]);
	close(fd);
}

static void write_one_of_group(void)
{
	long long total, at = scanned((long long)(packed_bytes[0] + packed_bytes[1]), &total);
	int head = rank - rank % GROUP, end = head + GROUP < size ? head + GROUP : size, fd;
	unsigned long n[MODULES];
	char *bytes;

	if (rank != head) {
		MPI_Send(packed_bytes, MODULES, MPI_UNSIGNED_LONG, head, 1, MPI_COMM_WORLD);
		for (int m = 0; m < MODULES; m++)
			MPI_Send(packed[m], (int)packed_bytes[m], MPI_BYTE, head, 2, MPI_COMM_WORLD);
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	for (int m = 0; m < MODULES; at += (long long)packed_bytes[m++])
		put(fd, packed[m], packed_bytes[m], at);
	for (int from = head + 1; from < end; from++) {
		MPI_Recv(n, MODULES, MPI_UNSIGNED_LONG, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		for (int m = 0; m < MODULES; m++) {
			bytes = memory(n[m]);
			MPI_Recv(bytes, (int)n[m], MPI_BYTE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			put(fd, bytes, n[m], at);
			at += (long long)n[m];
			free(bytes);
		}
	}
	close(fd);
}

/* ---- all ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

struct step {
	const char *name;
	void (*run)(void);
	double ms[MOST_ROUNDS];
	long kib;
};

static void run(struct step *s, int round)
{
	double t, mine;
	long rss, kib;

	MPI_Barrier(MPI_COMM_WORLD);
	rss = begin_peak();
	t = MPI_Wtime();
	s->run();
	mine = (MPI_Wtime() - t) * 1e3;
	kib = status_kib("VmHWM:") - rss;
	MPI_Reduce(&mine, &s->ms[round], 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	MPI_Reduce(rank ? &kib : MPI_IN_PLACE, &kib, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
	s->kib = kib > s->kib ? kib : s->kib;
}

int main(int argc, char **argv)
{
	static struct step steps[] = {{.name = "sort and gather", .run = sort_and_gather},
				      {.name = "reduce, sorted", .run = reduce_sorted},
				      {.name = "reduce, indexed", .run = reduce_indexed},
				      {.name = "compress", .run = pack},
				      {.name = "write: MPI-IO, a call a module", .run = write_each_module},
				      {.name = "write: MPI-IO, one call", .run = write_one_call},
				      {.name = "write: all ranks", .run = write_all_ranks},
				      {.name = "write: one of 16", .run = write_one_of_group}};
	int n = sizeof(steps) / sizeof(steps[0]), rounds = argc > 3 ? atoi(argv[3]) : 9;
	char name[4096];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc < 3 || rounds < 1 || rounds > MOST_ROUNDS || atoi(argv[1]) < 2)
		die("usage: layout_mpi RECORDS FOLDER [ROUNDS]");
	files = (size_t)atoi(argv[1]);
	shared = (files + 1) / 2;
	snprintf(name, sizeof(name), "%s/layout_mpi.out", argv[2]);
	path = name;
	records = memory(files * (POSIX + EXT));
	for (int k = 0; k < rounds; k++) {
		fill();
		for (int i = 0; i < n; i++) {
			run(&steps[i], k);
			if (steps[i].run == reduce_indexed)
				compare();
			if (steps[i].run == write_each_module || steps[i].run == write_one_call ||
			    steps[i].run == write_all_ranks || steps[i].run == write_one_of_group) {
				MPI_Barrier(MPI_COMM_WORLD);
				if (rank == 0)
					unlink(path);
			}
		}
		free(items);
		free(sorted);
		for (int m = 0; m < MODULES; m++)
			free(packed[m]);
	}
	for (int i = 0; rank == 0 && i < n; i++) {
		qsort(steps[i].ms, (size_t)rounds, sizeof(double), by_value);
		printf("%zu,%d,\"%s\",%.3f,%ld\n", files, size, steps[i].name, steps[i].ms[rounds / 2], steps[i].kib);
	}
	free(records);
	MPI_Finalize();
	return 0;
}
