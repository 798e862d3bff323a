// SPDX-License-Identifier: BSD-3-Clause
/*
 * Random MPI-IO of two ranks, and its account: random_ranks FIRST LAST OPERATIONS FOLDER does, for each seed
 * from FIRST to LAST, so many operations on four names in FOLDER/SEED: files opened by both ranks or by one,
 * open several times at once, closed and opened again, renamed and deleted while they are open, seen through
 * views. Prints what the counters of each name must be: NAME<TAB>COUNTER<TAB>VALUE, the sum over the ranks.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define COUNTERS(X) \
	X(MPIIO_INDEP_OPENS) \
	X(MPIIO_COLL_OPENS) \
	X(MPIIO_INDEP_READS) \
	X(MPIIO_INDEP_WRITES) \
	X(MPIIO_COLL_READS) \
	X(MPIIO_COLL_WRITES) \
	X(MPIIO_SPLIT_READS) \
	X(MPIIO_SPLIT_WRITES) \
	X(MPIIO_NB_READS) \
	X(MPIIO_NB_WRITES) \
	X(MPIIO_SYNCS) \
	X(MPIIO_HINTS) \
	X(MPIIO_VIEWS) \
	X(MPIIO_BYTES_READ) \
	X(MPIIO_BYTES_WRITTEN) \
	X(MPIIO_RW_SWITCHES) \
	X(MPIIO_SIZE_READ_AGG_0_100) \
	X(MPIIO_SIZE_READ_AGG_100_1K) \
	X(MPIIO_SIZE_READ_AGG_1K_10K) \
	X(MPIIO_SIZE_WRITE_AGG_0_100) \
	X(MPIIO_SIZE_WRITE_AGG_100_1K) \
	X(MPIIO_SIZE_WRITE_AGG_1K_10K)

enum counter {
#define X(name) name,
	COUNTERS(X)
#undef X
		COUNTERS_N
};

static const char *const counter_names[] = {
#define X(name) #name,
	COUNTERS(X)
#undef X
};

#define NAMES   4
#define HANDLES 6
#define PATHS   4096
#define MOST    2048 /* bytes of a call */

#define MUST(call) \
	do { \
		int rc_ = (call); \
		if (rc_ != MPI_SUCCESS) { \
			fprintf(stderr, "seed %lu: %s: failed (%d)\n", seed, #call, rc_); \
			MPI_Abort(MPI_COMM_WORLD, 3); \
		} \
	} while (0)

/* Both ranks know of all handles; `mine`: this one has it. */
struct handle {
	MPI_File fh;
	int name;
	bool open, both, mine, reads, writes;
	int etype; /* bytes */
};

static unsigned long seed;
static uint64_t same_dice, own_dice; /* the first rolls alike on both ranks */
static int rank;
static char folder[PATHS - 16];
static bool there[NAMES];
static struct handle handles[HANDLES];
static uint64_t count[NAMES][COUNTERS_N];
static int last_way[NAMES]; /* of this rank's calls: 0 none, 1 read, 2 write */
static char buffer[4 * MOST];
static MPI_Info hints;
static MPI_Datatype spread; /* 16 bytes of 24 */

static unsigned roll(uint64_t *dice, unsigned n)
{
	*dice ^= *dice << 13;
	*dice ^= *dice >> 7;
	*dice ^= *dice << 17;
	return (unsigned)((*dice * 2685821657736338717u) >> 33) % n;
}

static unsigned same(unsigned n)
{
	return roll(&same_dice, n);
}

static unsigned own(unsigned n)
{
	return roll(&own_dice, n);
}

static char *path_of(int name, char *path)
{
	snprintf(path, PATHS, "%s/f%d", folder, name);
	return path;
}

static void add(int name, enum counter c, uint64_t n)
{
	count[name][c] += n;
}

/* A call of this rank that asks for so many bytes. */
static void asked(const struct handle *h, bool write, enum counter reads, uint64_t bytes)
{
	int way = write ? 2 : 1, size = bytes <= 100 ? 0 : bytes <= 1024 ? 1 : 2;

	add(h->name, reads + (write ? 1 : 0), 1);
	add(h->name, write ? MPIIO_BYTES_WRITTEN : MPIIO_BYTES_READ, bytes);
	add(h->name, (write ? MPIIO_SIZE_WRITE_AGG_0_100 : MPIIO_SIZE_READ_AGG_0_100) + (enum counter)size, 1);
	if (last_way[h->name] && last_way[h->name] != way)
		add(h->name, MPIIO_RW_SWITCHES, 1);
	last_way[h->name] = way;
}

/* What a call moves: `*ret_n` of `*ret_type`, as the view has it. Returns the bytes. */
static uint64_t some_data(const struct handle *h, int *ret_n, MPI_Datatype *ret_type)
{
	switch (own(h->etype == 1 ? 4 : 2)) {
	case 0:
		*ret_type = MPI_INT;
		*ret_n = (int)own(MOST / 4);
		return 4u * (unsigned)*ret_n;
	case 1:
		*ret_type = spread;
		*ret_n = (int)own(MOST / 16);
		return 16u * (unsigned)*ret_n;
	case 2:
		*ret_type = MPI_BYTE;
		*ret_n = (int)own(100);
		return (unsigned)*ret_n;
	default:
		*ret_type = MPI_BYTE;
		*ret_n = own(4) ? 1 : 0;
		return (unsigned)*ret_n;
	}
}

static void made_of(uint64_t bytes)
{
	/* `spread` reaches over half as much again */
	memset(buffer, (int)own(256), bytes + bytes / 2);
}

static struct handle *some_handle(void)
{
	int first = (int)same(HANDLES);

	for (int i = 0; i < HANDLES; i++)
		if (handles[(first + i) % HANDLES].open)
			return &handles[(first + i) % HANDLES];
	return NULL;
}

/*
 * Has no other handle its name? MPICH keeps shared pointers in a hidden file, which gets the same name where
 * a file is opened twice within a second, and goes with the first that is closed.
 */
static bool may_share(const struct handle *h)
{
	for (int i = 0; i < HANDLES; i++)
		if (&handles[i] != h && handles[i].open && handles[i].name == h->name)
			return false;
	return true;
}

static void do_open(void)
{
	static const int modes[] = {MPI_MODE_RDWR, MPI_MODE_RDWR, MPI_MODE_RDONLY, MPI_MODE_WRONLY};
	struct handle *h = NULL;
	int mode = modes[same(4)], name = (int)same(NAMES), owner = (int)same(4), rc;
	MPI_Info info = same(3) ? MPI_INFO_NULL : hints;
	char path[PATHS];

	for (int i = 0; i < HANDLES && !h; i++)
		if (!handles[i].open)
			h = &handles[i];
	if (!h)
		return;
	if (mode != MPI_MODE_RDONLY && same(5))
		mode |= MPI_MODE_CREATE;
	*h = (struct handle){.name = name, .both = owner > 1, .mine = owner > 1 || owner == rank, .etype = 1};
	h->reads = !(mode & MPI_MODE_WRONLY);
	h->writes = !(mode & MPI_MODE_RDONLY);
	h->open = there[name] || mode & MPI_MODE_CREATE;
	if (h->mine) {
		rc = MPI_File_open(h->both ? MPI_COMM_WORLD : MPI_COMM_SELF, path_of(name, path), mode, info, &h->fh);
		if ((rc == MPI_SUCCESS) != h->open) {
			fprintf(stderr, "seed %lu: an open of f%d returns %d\n", seed, name, rc);
			MPI_Abort(MPI_COMM_WORLD, 3);
		}
		if (h->open) {
			add(name, h->both ? MPIIO_COLL_OPENS : MPIIO_INDEP_OPENS, 1);
			add(name, MPIIO_HINTS, info != MPI_INFO_NULL);
		}
	}
	there[name] = there[name] || h->open;
	MPI_Barrier(MPI_COMM_WORLD); /* the other knows that it is there */
}

static void do_close(struct handle *h)
{
	if (h->mine)
		MUST(MPI_File_close(&h->fh));
	h->open = false;
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Write or read. */
#define BOTH(name, ...) \
	do { \
		if (write) \
			MUST(MPI_File_write##name(__VA_ARGS__)); \
		else \
			MUST(MPI_File_read##name(__VA_ARGS__)); \
	} while (0)
#define BOTH_POSTED(name, ...) \
	do { \
		if (write) \
			MUST(MPI_File_iwrite##name(__VA_ARGS__)); \
		else \
			MUST(MPI_File_iread##name(__VA_ARGS__)); \
		MUST(MPI_Wait(&request, MPI_STATUS_IGNORE)); \
	} while (0)

/* Of one rank by itself. */
static void do_alone(struct handle *h)
{
	bool write = h->writes && (!h->reads || own(2));
	MPI_Offset at = (MPI_Offset)own(5000);
	MPI_Request request;
	MPI_Datatype type;
	enum counter what = MPIIO_INDEP_READS;
	uint64_t bytes;
	int n;

	if (!h->mine)
		return;
	bytes = some_data(h, &n, &type);
	made_of(bytes);
	switch (own(7)) {
	case 0:
		BOTH(, h->fh, buffer, n, type, MPI_STATUS_IGNORE);
		break;
	case 1:
	case 2:
		BOTH(_at, h->fh, at, buffer, n, type, MPI_STATUS_IGNORE);
		break;
	case 3:
		if (may_share(h))
			BOTH(_shared, h->fh, buffer, n, type, MPI_STATUS_IGNORE);
		else
			BOTH(, h->fh, buffer, n, type, MPI_STATUS_IGNORE);
		break;
	case 4:
		BOTH_POSTED(, h->fh, buffer, n, type, &request);
		what = MPIIO_NB_READS;
		break;
	case 5:
		BOTH_POSTED(_at, h->fh, at, buffer, n, type, &request);
		what = MPIIO_NB_READS;
		break;
	default:
		MUST(MPI_File_seek(h->fh, at, MPI_SEEK_SET));
		return;
	}
	asked(h, write, what, bytes);
}

/* Of all ranks that have the file: each its own data. */
static void do_together(struct handle *h)
{
	bool write = h->writes && (!h->reads || same(2));
	MPI_Offset at = (MPI_Offset)own(5000);
	MPI_Request request;
	MPI_Datatype type;
	enum counter what = MPIIO_COLL_READS;
	unsigned how = same(8);
	uint64_t bytes;
	int n;

	if (!h->mine)
		return;
	bytes = some_data(h, &n, &type);
	made_of(bytes);
	if ((how == 2 || how == 5) && !may_share(h))
		how--; /* the same without the shared pointer */
	switch (how) {
	case 0:
		BOTH(_all, h->fh, buffer, n, type, MPI_STATUS_IGNORE);
		break;
	case 1:
		BOTH(_at_all, h->fh, at, buffer, n, type, MPI_STATUS_IGNORE);
		break;
	case 2:
		BOTH(_ordered, h->fh, buffer, n, type, MPI_STATUS_IGNORE);
		break;
	case 3:
		BOTH(_all_begin, h->fh, buffer, n, type);
		BOTH(_all_end, h->fh, buffer, MPI_STATUS_IGNORE);
		what = MPIIO_SPLIT_READS;
		break;
	case 4:
		BOTH(_at_all_begin, h->fh, at, buffer, n, type);
		BOTH(_at_all_end, h->fh, buffer, MPI_STATUS_IGNORE);
		what = MPIIO_SPLIT_READS;
		break;
	case 5:
		BOTH(_ordered_begin, h->fh, buffer, n, type);
		BOTH(_ordered_end, h->fh, buffer, MPI_STATUS_IGNORE);
		what = MPIIO_SPLIT_READS;
		break;
	case 6:
		BOTH_POSTED(_all, h->fh, buffer, n, type, &request);
		what = MPIIO_NB_READS;
		break;
	default:
		BOTH_POSTED(_at_all, h->fh, at, buffer, n, type, &request);
		what = MPIIO_NB_READS;
		break;
	}
	asked(h, write, what, bytes);
}

static void do_view(struct handle *h)
{
	MPI_Info info = same(2) ? MPI_INFO_NULL : hints;
	MPI_Datatype etype = same(2) ? MPI_INT : MPI_BYTE;
	MPI_Offset from = 16 * (MPI_Offset)same(10);

	h->etype = etype == MPI_INT ? 4 : 1;
	if (!h->mine)
		return;
	MUST(MPI_File_set_view(h->fh, from, etype, etype, "native", info));
	add(h->name, MPIIO_VIEWS, 1);
	add(h->name, MPIIO_HINTS, info != MPI_INFO_NULL);
}

static void do_other(struct handle *h)
{
	MPI_Offset bytes = (MPI_Offset)same(20000);
	bool sync = same(2);

	if (!h->mine)
		return;
	if (!h->writes) {
		MUST(MPI_File_get_size(h->fh, &bytes));
	} else if (sync) {
		MUST(MPI_File_sync(h->fh));
		add(h->name, MPIIO_SYNCS, 1);
	} else {
		MUST(MPI_File_set_size(h->fh, bytes));
	}
}

/* One name goes, or becomes another; files that are open stay what they are. */
static void do_names(void)
{
	int from = (int)same(NAMES), to = (int)same(NAMES);
	char a[PATHS], b[PATHS];
	bool gone = same(2);

	MPI_Barrier(MPI_COMM_WORLD);
	if (there[from] && rank == 0) {
		if (gone)
			MUST(MPI_File_delete(path_of(from, a), MPI_INFO_NULL));
		else
			MUST(rename(path_of(from, a), path_of(to, b)) ? MPI_ERR_OTHER : MPI_SUCCESS);
	}
	if (there[from] && gone) {
		there[from] = false;
	} else if (there[from] && from != to) {
		there[from] = false;
		there[to] = true;
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static void operation(void)
{
	unsigned what = same(16);
	struct handle *h = some_handle();

	if (what < 3 || !h)
		do_open();
	else if (what < 5)
		do_close(h);
	else if (what < 9)
		for (unsigned n = own(3); n < 3; n++)
			do_alone(h);
	else if (what < 13)
		do_together(h);
	else if (what < 14)
		do_view(h);
	else if (what < 15)
		do_other(h);
	else
		do_names();
}

static void one_seed(const char *below, unsigned operations)
{
	uint64_t sum[NAMES][COUNTERS_N];
	char path[PATHS];

	snprintf(folder, sizeof(folder), "%s/%lu", below, seed);
	if (rank == 0 && mkdir(folder, 0755) < 0) {
		perror(folder);
		MPI_Abort(MPI_COMM_WORLD, 3);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	same_dice = seed * 0x9e3779b97f4a7c15u + 1;
	own_dice = same_dice + 0x1234567u * (unsigned)(rank + 1);
	memset(count, 0, sizeof(count));
	memset(last_way, 0, sizeof(last_way));
	memset(there, 0, sizeof(there));
	for (int i = 0; i < 10; i++) {
		same(2);
		own(2);
	}
	for (unsigned i = 0; i < operations; i++)
		operation();
	for (int i = 0; i < HANDLES; i++)
		if (handles[i].open)
			do_close(&handles[i]);
	MPI_Reduce(count, sum, NAMES * COUNTERS_N, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	for (int i = 0; rank == 0 && i < NAMES; i++)
		for (int c = 0; c < COUNTERS_N; c++)
			if (sum[i][c])
				printf("%s\t%s\t%llu\n", path_of(i, path), counter_names[c],
				       (unsigned long long)sum[i][c]);
}

int main(int argc, char **argv)
{
	unsigned long last;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc != 5)
		MPI_Abort(MPI_COMM_WORLD, 2);
	MPI_Info_create(&hints);
	MPI_Info_set(hints, "access_style", "random");
	MPI_Type_vector(2, 2, 4, MPI_INT, &spread);
	MPI_Type_commit(&spread);
	last = strtoul(argv[2], NULL, 10);
	for (seed = strtoul(argv[1], NULL, 10); seed <= last; seed++)
		one_seed(argv[4], (unsigned)strtoul(argv[3], NULL, 10));
	MPI_Type_free(&spread);
	MPI_Info_free(&hints);
	MPI_Finalize();
	return 0;
}
