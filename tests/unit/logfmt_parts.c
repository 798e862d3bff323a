/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The logs of a job made of its nodes' parts: who makes them and when, what is
 * reduced, what is missing, what is refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "logfmt/file/reader.h"
#include "logfmt/file/writer.h"
#include "logfmt/nodes/part.h"
#include "logfmt/nodes/parts.h"

#define WORLD "00112233aabbccdd"
#define PATHS 1400

static char top[] = "/tmp/ioscribe-parts.XXXXXX", dir[256];
static char made[PATHS], lacking[PATHS];
static int nmade;
static unsigned threads; /* 0: in memory */

static void said(void *ctx, const char *path, const char *missing)
{
	(void)ctx;
	nmade++;
	snprintf(made, sizeof(made), "%s", path);
	snprintf(lacking, sizeof(lacking), "%s", missing ? missing : "");
}

static int merge(bool incomplete)
{
	const struct scribe_parts_way way = {.incomplete = incomplete, .said = said, .threads = threads};
	struct scribe_err err;

	nmade = 0;
	return scribe_parts_merge(dir, &way, &err);
}

static void text(const char *name, const char *what)
{
	char path[PATHS];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0 && write(fd, what, strlen(what)) == (ssize_t)strlen(what));
	close(fd);
}

/* Three bins of 0.1 s of a rank: 30, 20 and 10 bytes written, 1, 2 and 3 read. */
static void put_heat(struct scribe_writer *w, int64_t rank)
{
	static const int64_t bins[] = {30, 20, 10, 1, 2, 3};
	uint64_t room[16] = {0};
	struct scribe_heatmap_record *r = (void *)room;

	r->base.id = 77;
	r->base.rank = rank;
	r->bin_width_seconds = 0.1;
	r->nbins = 3;
	memcpy(r->bins, bins, sizeof(bins));
	assert_int_equal(scribe_writer_record(w, SCRIBE_MOD_HEATMAP, r, sizeof(*r) + sizeof(bins)), 0);
}

/* A log of one record of the file `shared` of this rank; `info` NULL: no part's. */
static void make_log(const char *name, const struct scribe_part_info *info, int64_t rank, int64_t writes, int64_t start)
{
	struct scribe_log_job job = {.uid = 1, .start_time_sec = start, .end_time_sec = 2000, .nprocs = 2, .jobid = 7};
	struct scribe_posix_record r = {.base = {42, rank}};
	struct scribe_process_record p = {.base = {100 + (uint64_t)rank, rank}, .end_kind = 1};
	struct scribe_writer *w = NULL;
	struct scribe_err err;
	char path[PATHS];

	r.counters[SCRIBE_POSIX_WRITES] = writes;
	r.counters[SCRIBE_POSIX_BYTES_WRITTEN] = 10 * writes;
	r.fcounters[SCRIBE_POSIX_F_WRITE_START_TIMESTAMP] = 5;
	strcpy(job.metadata, "tracer=ioscribe\n");
	if (info)
		assert_true(scribe_part_info_write(info, job.metadata + strlen(job.metadata), 800) > 0);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
	assert_int_equal(scribe_writer_create(path, NULL, &w, &err), 0);
	assert_int_equal(scribe_writer_job(w, &job, "prog", NULL, 0), 0);
	assert_int_equal(scribe_writer_name(w, 42, "/shared", 7), 0);
	assert_int_equal(scribe_writer_name(w, 77, "heatmap:POSIX", 13), 0);
	if (writes)
		assert_int_equal(scribe_writer_record(w, SCRIBE_MOD_POSIX, &r, sizeof(r)), 0);
	if (info && rank >= 0)
		put_heat(w, rank);
	if (info && rank >= 0)
		assert_int_equal(scribe_writer_record(w, SCRIBE_MOD_PROCESS, &p, sizeof(p)), 0);
	assert_int_equal(scribe_writer_finish(w), 0);
	scribe_writer_free(w);
}

static struct scribe_part_info part_info(int64_t lowest)
{
	struct scribe_part_info info = {.lowest = lowest};

	snprintf(info.log_path, sizeof(info.log_path), "day/u_prog_of%lld", (long long)lowest);
	return info;
}

static void two_parts(int agreed, int split)
{
	struct scribe_part_info one = part_info(0), two = part_info(1);

	one.agreed = agreed;
	one.split = two.split = split;
	make_log(WORLD ".a.part", &one, 0, 3, 1010);
	make_log(WORLD ".b.part", &two, 1, 4, 1000);
}

/* The one record of `shared`, and the log's metadata. */
static struct scribe_posix_record read_shared(char *ret_metadata, uint64_t *ret_partial)
{
	struct scribe_posix_record r;
	struct scribe_reader *log = NULL;
	struct scribe_err err;
	const void *rec;
	size_t bytes;

	assert_int_equal(scribe_reader_open(made, &log, &err), 0);
	assert_int_equal(scribe_reader_borrow_record(log, SCRIBE_MOD_POSIX, &rec, &bytes), 1);
	memcpy(&r, rec, sizeof(r));
	assert_int_equal(scribe_reader_borrow_record(log, SCRIBE_MOD_POSIX, &rec, &bytes), 0);
	strcpy(ret_metadata, scribe_reader_job(log)->metadata);
	*ret_partial = scribe_reader_header(log)->partial_flag;
	scribe_reader_free(log);
	return r;
}

static int fresh(void **state)
{
	char command[600];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s/*", top);
	if (system(command))
		return -1;
	return mkdir(dir, 0700);
}

static void last_one_makes_it(void **state)
{
	struct scribe_posix_record r;
	char metadata[SCRIBE_JOB_METADATA_BYTES];
	uint64_t partial;

	two_parts(0, 0);
	text("a.begun", "");
	text("a.done", "nodes=2\npart=" WORLD ".a.part\n");
	assert_int_equal(merge(false), -EAGAIN);
	/* it has told of a part that has not come yet */
	text("b.done", "nodes=2\npart=" WORLD ".b.part\npart=rest.b.part\n");
	assert_int_equal(merge(false), -EAGAIN);
	text("b.done", "nodes=2\npart=" WORLD ".b.part\n");
	assert_int_equal(merge(false), 0);
	assert_int_equal(nmade, 1);
	/* the lowest rank's name, 1000 s and one */
	assert_non_null(strstr(made, "/day/u_prog_of0_1001.darshan"));
	assert_int_equal(access(dir, F_OK), -1);
	r = read_shared(metadata, &partial);
	assert_int_equal(r.base.rank, -1);
	assert_int_equal(r.counters[SCRIBE_POSIX_WRITES], 7);
	/* the earlier start of the two, in the time of the whole */
	assert_float_equal(r.fcounters[SCRIBE_POSIX_F_WRITE_START_TIMESTAMP], 5, 1e-9);
	assert_string_equal(metadata, "finalize=deferred\nnodes=2\ntracer=ioscribe\n");
	assert_int_equal(partial, 0);
}

static void missing_is_named(void **state)
{
	struct scribe_part_info info = part_info(0);
	char metadata[SCRIBE_JOB_METADATA_BYTES];
	uint64_t partial;

	make_log(WORLD ".a.part", &info, 0, 3, 1000);
	text("a.done", "nodes=4\npart=" WORLD ".a.part\n");
	text("b.begun", "");
	assert_int_equal(merge(true), 0);
	assert_string_equal(lacking, "b,+2");
	assert_int_equal(read_shared(metadata, &partial).base.rank, 0);
	assert_string_equal(metadata, "finalize=deferred\nnodes=1\nmissing_nodes=b,+2\ntracer=ioscribe\n");
	assert_int_equal(partial, 1u << SCRIBE_MOD_POSIX);
}

static void ranks_log_counts_when_agreed(void **state)
{
	static const struct {
		int agreed, split, writes;
		const char *how;
	} cases[] = {
		{1, 1, 100 + 7, "finalize=collective\n"},
		{0, 1, 30 + 40 + 7, "finalize=deferred\n"},
		{1, 0, 30 + 40 + 7, "finalize=deferred\n"},
	};
	char metadata[SCRIBE_JOB_METADATA_BYTES];
	uint64_t partial;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(fresh(state), 0);
		two_parts(cases[i].agreed, cases[i].split);
		make_log(WORLD ".ranks", NULL, -1, 100, 1005);
		make_log(WORLD ".a.first", NULL, 0, 30, 1010);
		make_log(WORLD ".b.first", NULL, 1, 40, 1000);
		text("a.done", "nodes=2\npart=" WORLD ".a.part\n");
		text("b.done", "nodes=2\npart=" WORLD ".b.part\n");
		assert_int_equal(merge(false), 0);
		assert_int_equal(read_shared(metadata, &partial).counters[SCRIBE_POSIX_WRITES], cases[i].writes);
		assert_memory_equal(metadata, cases[i].how, strlen(cases[i].how));
		assert_int_equal(access(dir, F_OK), -1);
	}
}

/* One node began ten seconds later: the heatmaps of both have bins of one width, from the job's start on. */
static void heatmaps_on_one_axis(void **state)
{
	struct scribe_reader *log = NULL;
	struct scribe_err err;
	const void *rec;
	size_t bytes;

	two_parts(0, 1);
	text("a.done", "nodes=2\npart=" WORLD ".a.part\n");
	text("b.done", "nodes=2\npart=" WORLD ".b.part\n");
	assert_int_equal(merge(false), 0);
	assert_int_equal(scribe_reader_open(made, &log, &err), 0);
	for (int64_t rank = 0; rank < 2; rank++) {
		const struct scribe_heatmap_record *h;
		const int64_t at = rank ? 0 : 100;
		int64_t sum = 0;

		assert_int_equal(scribe_reader_borrow_record(log, SCRIBE_MOD_HEATMAP, &rec, &bytes), 1);
		h = rec;
		assert_int_equal(h->base.rank, rank);
		assert_true(h->bin_width_seconds == 0.1);
		assert_int_equal(h->nbins, 103);
		for (int i = 0; i < 3; i++) {
			assert_int_equal(h->bins[at + i], 30 - 10 * i);
			assert_int_equal(h->bins[h->nbins + at + i], 1 + i);
		}
		for (int64_t i = 0; i < 2 * h->nbins; i++)
			sum += h->bins[i];
		assert_int_equal(sum, 66);
	}
	assert_int_equal(scribe_reader_borrow_record(log, SCRIBE_MOD_HEATMAP, &rec, &bytes), 0);
	scribe_reader_free(log);
}

/* Nodes that end at once: each puts its note, then looks. Exactly one makes the log. */
static void one_of_many_at_once(void **state)
{
	enum { NODES = 8 };
	char name[64], note[200];
	pid_t pid[NODES];
	int go[2], status, zero = 0;

	assert_int_equal(pipe(go), 0);
	for (int i = 0; i < NODES; i++) {
		struct scribe_part_info info = part_info(i);

		snprintf(name, sizeof(name), WORLD ".n%d.part", i);
		make_log(name, &info, i, 1, 1000);
	}
	for (int i = 0; i < NODES; i++) {
		pid[i] = fork();
		assert_true(pid[i] >= 0);
		if (pid[i])
			continue;
		close(go[1]);
		if (read(go[0], note, 1) != 0)
			_exit(9);
		snprintf(name, sizeof(name), "n%d.done", i);
		snprintf(note, sizeof(note), "nodes=%d\npart=" WORLD ".n%d.part\n", NODES, i);
		text(name, note);
		_exit(merge(false) == 0 ? nmade : 2);
	}
	close(go[0]);
	close(go[1]);
	for (int i = 0; i < NODES; i++) {
		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 1 || WEXITSTATUS(status) == 2));
		zero += WEXITSTATUS(status) == 1;
	}
	assert_int_equal(zero, 1);
	assert_int_equal(access(dir, F_OK), -1);
}

static void refused(void **state)
{
	static const char *const places[] = {"../out", "/out", "a/../../out", ""};
	struct scribe_part_info info = part_info(0);
	char claim[PATHS];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		strcpy(info.log_path, places[i]);
		make_log(WORLD ".a.part", &info, 0, 3, 1000);
		assert_int_equal(merge(true), -SCRIBE_E_FORMAT);
	}
	assert_int_equal(merge(false), -EAGAIN);
	info = part_info(0);
	make_log(WORLD ".a.part", &info, 0, 3, 1000);
	text("merging", "somebody");
	assert_int_equal(merge(true), -EBUSY);
	assert_int_equal(chmod(dir, 0777), 0);
	assert_int_equal(merge(true), -EPERM);
	assert_int_equal(chmod(dir, 0700), 0);
	/* one that has not moved for long has died */
	snprintf(claim, sizeof(claim), "%s/merging", dir);
	assert_int_equal(utimensat(AT_FDCWD, claim, (struct timespec[2]){{1, 0}, {1, 0}}, 0), 0);
	assert_int_equal(merge(true), 0);
	assert_int_equal(nmade, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(last_one_makes_it, fresh),
		cmocka_unit_test_setup(missing_is_named, fresh),
		cmocka_unit_test_setup(ranks_log_counts_when_agreed, fresh),
		cmocka_unit_test_setup(heatmaps_on_one_axis, fresh),
		cmocka_unit_test_setup(one_of_many_at_once, fresh),
		cmocka_unit_test_setup(refused, fresh),
	};
	char command[64];
	int failed;

	if (!mkdtemp(top))
		return 1;
	snprintf(dir, sizeof(dir), "%s/u_id7.parts", top);
	failed = cmocka_run_group_tests_name("in memory", tests, NULL, NULL);
	threads = 2;
	failed += cmocka_run_group_tests_name("read twice", tests, NULL, NULL);
	snprintf(command, sizeof(command), "rm -rf %s", top);
	return system(command) || failed;
}
