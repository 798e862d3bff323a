// SPDX-License-Identifier: BSD-3-Clause
// The runtime's own steps of MPI_Finalize by simulated ranks, on records made up: what they
// cost under the model of sim_mpi.h, and a log of them.
//
//   sim_finalize [--ranks N] [--records N] [--shared all|none|some] [--by hash|and|tree|daemon|nodes]
//                [--ranks-node N] [--seed N] [--log FILE] [--head]
//
// --shared some: each file is used by a share of the ranks of its own, that some ranks have none
// at all of a module. --by daemon: what a daemon makes of the same records, without ranks. --by nodes: what each
// node leaves for a merge of them, in the folder FILE.
// Prints a line of values with commas; --head the names of them.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "logfmt/base/hash.h"
#include "logfmt/file/reader.h"
#include "logfmt/file/writer.h"
#include "logfmt/nodes/part.h"
#include "logfmt/records/bundle.h"
#include "runtime/client/mpi/final.h"
#include "tests/sim/sim_mpi.h"

enum { START_S = 1700000000, STEPS = 6 };

static const char *const step_names[STEPS] = {"begin", "agree", "search", "reduce", "write", "vote"};

static struct options {
	int ranks, records, ranks_node;
	unsigned seed;
	const char *shared, *by, *log;
} opt = {.ranks = 4, .records = 10, .ranks_node = 128, .shared = "all", .by = "hash"};

// Two networks cards' worth of a cluster of today; the file system as many sites have it.
static struct sim_model model = {
	.near_alpha_ns = 500,
	.near_ns_byte = 0.1, // 10 GB/s
	.far_alpha_ns = 2000,
	.far_ns_byte = 0.08, // 12.5 GB/s
	.open_ns = 500e3,
	.open_server_ns = 50e3, // 20,000 opens a second
	.write_ns = 200e3,
	.client_ns_byte = 1, // 1 GB/s
	.fs_ns_byte = 0.02,  // 50 GB/s
};

static double step_end[STEPS]; // the latest rank's clock
static int failed;
static int common_fd = -1; // all ranks have the same records: one image
static struct scribe_log_image common;

static void die(const char *what)
{
	fprintf(stderr, "sim_finalize: %s\n", what);
	exit(1);
}

static uint64_t mixed(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t v[3] = {a + opt.seed, b, c};

	return scribe_hash64(v, sizeof(v), 0);
}

// Does this rank use file i?
static bool uses(int rank, int i)
{
	if (!strcmp(opt.shared, "all"))
		return true;
	if (!strcmp(opt.shared, "none"))
		return i % opt.ranks == rank;
	switch (mixed(1, (uint64_t)i, 0) % 4) {
	case 0:
		return true;
	case 1:
		return mixed(2, (uint64_t)i, 0) % (uint64_t)opt.ranks == (uint64_t)rank;
	default:
		return mixed(3, (uint64_t)i, (uint64_t)rank) % 16 < mixed(4, (uint64_t)i, 0) % 17;
	}
}

static int files(void)
{
	return !strcmp(opt.shared, "none") ? opt.records * opt.ranks : opt.records;
}

static bool has_module(int rank, int module)
{
	return strcmp(opt.shared, "some") != 0 || mixed(5, (uint64_t)module, 0) % 3 ||
	       mixed(6, (uint64_t)module, (uint64_t)rank) % 2;
}

static void put_record(struct scribe_writer *w, int rank, int i, uint64_t id)
{
	struct scribe_posix_record r = {.base = {id, rank}};
	int64_t writes = 1 + (int64_t)(mixed(7, (uint64_t)i, 0) % 100);

	r.counters[SCRIBE_POSIX_OPENS] = 1;
	r.counters[SCRIBE_POSIX_WRITES] = writes;
	r.counters[SCRIBE_POSIX_BYTES_WRITTEN] = writes * 100;
	r.counters[SCRIBE_POSIX_ACCESS1_ACCESS] = 100;
	r.counters[SCRIBE_POSIX_ACCESS1_COUNT] = writes;
	r.counters[SCRIBE_POSIX_MAX_BYTE_WRITTEN] = writes * 100 - 1;
	r.fcounters[SCRIBE_POSIX_F_WRITE_TIME] = (double)(mixed(8, (uint64_t)i, (uint64_t)rank) % 1000) / 1024;
	r.fcounters[SCRIBE_POSIX_F_OPEN_START_TIMESTAMP] = 1;
	r.fcounters[SCRIBE_POSIX_F_WRITE_END_TIMESTAMP] = 2 + i % 7;
	if (scribe_writer_record(w, SCRIBE_MOD_POSIX, &r, sizeof(r)) < 0)
		die("no record");
}

static void put_ext(struct scribe_writer *w, int rank, uint64_t id)
{
	struct scribe_posix_ext_record ext = {.base = {id, rank}};

	ext.counters[SCRIBE_EXT_CLOSES] = 1;
	ext.counters[SCRIBE_EXT_RANKS_WROTE] = 1;
	if (scribe_writer_record(w, SCRIBE_MOD_POSIX_EXT, &ext, sizeof(ext)) < 0)
		die("no record");
}

// A module with a reduction of its own.
static void put_null(struct scribe_writer *w, int rank, int i, uint64_t id)
{
	struct scribe_null_record r = {.base = {id, rank}};

	r.counters[SCRIBE_NULL_FOOS] = 1 + rank % 5;
	r.counters[SCRIBE_NULL_FOO_MAX_DAT] = (int64_t)(mixed(9, (uint64_t)i, (uint64_t)rank) % 100000);
	if (scribe_writer_record(w, SCRIBE_MOD_NULL, &r, sizeof(r)) < 0)
		die("no record");
}

static uint64_t name_of(int i, char *ret, size_t cap)
{
	int n = snprintf(ret, cap, "/scratch/project/run.%u/output.%08d", opt.seed, i);

	return scribe_record_id(ret, (size_t)n);
}

// The records of a rank as its daemon hands them over.
static int image_of(int rank)
{
	struct scribe_writer_options o = {.compression = SCRIBE_COMP_NONE, .list_own = true};
	struct scribe_log_job job = {.uid = 1000,
				     .start_time_sec = START_S + rank % 3 * !!strcmp(opt.shared, "all"),
				     .end_time_sec = START_S + 100,
				     .nprocs = opt.ranks,
				     .jobid = 77};
	int step = !strcmp(opt.shared, "none") ? opt.ranks : 1, first = step > 1 ? rank : 0;
	int fd = memfd_create("image", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct scribe_writer *w;
	char name[96];
	uint64_t id;

	strcpy(job.metadata, "lib_ver=sim\n");
	if (fd < 0 || scribe_writer_create_fd(fd, &o, &w, NULL) < 0 ||
	    scribe_writer_job(w, &job, "a program", &(struct scribe_mount){"ext4", "/"}, 1) < 0)
		die("no image");
	for (int i = first; i < files(); i += step)
		if (uses(rank, i) && (id = name_of(i, name, sizeof(name))) &&
		    scribe_writer_name(w, id, name, strlen(name)) < 0)
			die("no name");
	for (int i = first; i < files() && !strcmp(opt.shared, "some"); i += step)
		if (uses(rank, i) && has_module(rank, SCRIBE_MOD_NULL))
			put_null(w, rank, i, name_of(i, name, sizeof(name)));
	for (int i = first; i < files(); i += step)
		if (uses(rank, i) && has_module(rank, SCRIBE_MOD_POSIX))
			put_record(w, rank, i, name_of(i, name, sizeof(name)));
	for (int i = first; i < files(); i += step)
		if (uses(rank, i) && has_module(rank, SCRIBE_MOD_POSIX_EXT))
			put_ext(w, rank, name_of(i, name, sizeof(name)));
	if (scribe_writer_finish(w) < 0)
		die("no image");
	scribe_writer_free(w);
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
	return fd;
}

static void end_step(struct scribe_final *f, int step)
{
	double at = sim_clock(f->coll.mpi);

	if (at > step_end[step])
		step_end[step] = at;
}

// What a rank does from its records to the vote, as scribe_finalize.
static void rank_body(int rank, struct scribe_mpi *mpi, void *arg)
{
	struct scribe_final *f = calloc(1, sizeof(*f));
	int fd;

	(void)arg;
	f->coll.mpi = mpi;
	f->coll.deadline = INT64_MAX;
	f->rank = rank;
	f->size = opt.ranks;
	f->fd = -1;
	f->way = !strcmp(opt.by, "and")    ? SCRIBE_SHARED_AND
		 : !strcmp(opt.by, "tree") ? SCRIBE_SHARED_TREE
					   : SCRIBE_SHARED_HASH;
	if (common_fd >= 0) {
		f->image = common;
	} else {
		fd = image_of(rank);
		if (scribe_log_image_open(&f->image, fd, (uint64_t)lseek(fd, 0, SEEK_END)) < 0)
			die("the image is not read");
	}
	sim_begin(mpi);
	if (rank == 0) {
		f->path = scribe_coll_alloc(&f->coll, strlen(opt.log) + 1);
		strcpy(f->path, opt.log);
		f->fd = open(opt.log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	}
	scribe_coll_begin(&f->coll);
	end_step(f, 0);
	scribe_final_agree(f);
	end_step(f, 1);
	scribe_final_search(f);
	end_step(f, 2);
	scribe_final_reduce(f);
	end_step(f, 3);
	scribe_final_write(f);
	if (f->fd >= 0)
		close(f->fd);
	end_step(f, 4);
	failed += !scribe_final_vote(f) || f->failed || f->coll.broken;
	end_step(f, 5);
	if (common_fd < 0)
		scribe_log_image_close(&f->image);
	scribe_coll_free(&f->coll);
	free(f);
}

// The records of ranks from `first` on, up to `end`, as the daemon of their node has them.
static void join(int first, int end, struct scribe_bundle *b, struct scribe_log_job *ret_job)
{
	struct scribe_reader *r;

	for (int rank = first; rank < end; rank++) {
		int fd = image_of(rank);

		if (scribe_reader_open_fd(fd, "image", &r, NULL) < 0)
			die("the image is not read");
		*ret_job = *scribe_reader_job(r);
		if (scribe_bundle_join(b, r, (double)(ret_job->start_time_sec - START_S), NULL) < 0)
			die("records do not join");
		scribe_reader_free(r);
	}
	ret_job->start_time_sec = START_S;
}

static void write_bundle(struct scribe_bundle *b, const struct scribe_log_job *job, const char *path)
{
	struct scribe_writer_options o = {.compression = SCRIBE_COMP_ZLIB};
	struct scribe_writer *w;

	if (scribe_writer_create(path, &o, &w, NULL) < 0 ||
	    scribe_writer_job(w, job, "a program", &(struct scribe_mount){"ext4", "/"}, 1) < 0 ||
	    scribe_bundle_write_names(b, w) < 0 || scribe_bundle_write(b, w) < 0 || scribe_writer_finish(w) < 0)
		die("no log");
	scribe_writer_free(w);
	scribe_bundle_clear(b);
}

// The same records as a daemon reduces them.
static void by_daemon(void)
{
	struct scribe_log_job job;
	struct scribe_bundle b = {0};

	join(0, opt.ranks, &b, &job);
	if (scribe_bundle_reduce(&b, opt.ranks) < 0)
		die("not reduced");
	write_bundle(&b, &job, opt.log);
}

// The same records as the daemons of their nodes leave them.
static void by_nodes(void)
{
	int nodes = (opt.ranks + opt.ranks_node - 1) / opt.ranks_node;

	for (int node = 0; node < nodes; node++) {
		int first = node * opt.ranks_node, end = first + opt.ranks_node;
		struct scribe_part_info info = {.lowest = first, .log_path = "log"};
		struct scribe_bundle b = {0};
		struct scribe_log_job job;
		char path[600];
		size_t at;
		FILE *done;

		join(first, end < opt.ranks ? end : opt.ranks, &b, &job);
		at = strlen(job.metadata);
		snprintf(path, sizeof(path), "%s/00112233aabbccdd.node%d." SCRIBE_PART_LATE, opt.log, node);
		if (scribe_part_info_write(&info, job.metadata + at, sizeof(job.metadata) - at) < 0)
			die("no part");
		write_bundle(&b, &job, path);
		snprintf(path, sizeof(path), "%s/node%d." SCRIBE_PART_DONE, opt.log, node);
		done = fopen(path, "w");
		if (!done)
			die("no part");
		fprintf(done, "nodes=%d\npart=00112233aabbccdd.node%d." SCRIBE_PART_LATE "\n", nodes, node);
		fclose(done);
	}
}

static void options(int argc, char **argv)
{
	for (int i = 1; i < argc; i += 2) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";

		if (!strcmp(argv[i], "--head")) {
			printf("ranks,records,shared,by,ranks_node,messages,bytes,rank_bytes_most,opens,"
			       "writes,log_bytes");
			for (int k = 0; k < STEPS; k++)
				printf(",%s_ms", step_names[k]);
			puts(",all_ms,peak_rss_mib");
			exit(0);
		}
		if (!strcmp(argv[i], "--ranks"))
			opt.ranks = atoi(value);
		else if (!strcmp(argv[i], "--records"))
			opt.records = atoi(value);
		else if (!strcmp(argv[i], "--ranks-node"))
			opt.ranks_node = atoi(value);
		else if (!strcmp(argv[i], "--seed"))
			opt.seed = (unsigned)atoi(value);
		else if (!strcmp(argv[i], "--shared"))
			opt.shared = value;
		else if (!strcmp(argv[i], "--by"))
			opt.by = value;
		else if (!strcmp(argv[i], "--log"))
			opt.log = value;
		else
			die("see the head of tests/sim/finalize.c");
	}
	if (opt.ranks < 1 || opt.records < 0 || opt.ranks_node < 1 || !opt.log)
		die("usage: sim_finalize --ranks N --records N --log FILE ...");
}

static void print_line(void)
{
	const struct sim_costs *c = sim_costs();
	struct rusage usage;
	double before = 0;

	getrusage(RUSAGE_SELF, &usage);
	printf("%d,%d,%s,%s,%d,%llu,%llu,%llu,%llu,%llu,%llu", opt.ranks, opt.records, opt.shared, opt.by,
	       opt.ranks_node, (unsigned long long)c->messages, (unsigned long long)c->bytes,
	       (unsigned long long)c->rank_bytes_most, (unsigned long long)c->opens, (unsigned long long)c->writes,
	       (unsigned long long)c->written);
	for (int k = 0; k < STEPS; k++) {
		printf(",%.3f", (step_end[k] - before) / 1e6);
		before = step_end[k];
	}
	printf(",%.3f,%ld\n", before / 1e6, usage.ru_maxrss / 1024);
}

int main(int argc, char **argv)
{
	options(argc, argv);
	model.ranks_node = opt.ranks_node;
	if (!strcmp(opt.by, "daemon")) {
		by_daemon();
		return 0;
	}
	if (!strcmp(opt.by, "nodes")) {
		by_nodes();
		return 0;
	}
	if (!strcmp(opt.shared, "all")) {
		common_fd = image_of(0);
		if (scribe_log_image_open(&common, dup(common_fd), (uint64_t)lseek(common_fd, 0, SEEK_END)) < 0)
			die("the image is not read");
	}
	if (sim_run(opt.ranks, &model, opt.seed, rank_body, NULL) < 0)
		die("the ranks wait for each other");
	if (failed)
		die("a rank has failed");
	print_line();
	return 0;
}
