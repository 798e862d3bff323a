/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two jobs on a node whose pool is small: one makes files and processes without
 * end, and nobody empties the ring; the other one's counts stay whole.
 */
#include "tests/kernel/watched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLOOD      1
#define CALM       2
#define SLOTS      2048
#define FILES      40 /* of the calm job's process that meets some */
#define ROUNDS     10
#define CALM_QUOTA 150 /* less than it wants: some are folded */

static struct watched W;
static char flood_dir[128], calm_dir[128];

static int begin(void **state)
{
	struct scribe_bpf_options options = {.slots = SLOTS, .procs = 256, .tables = 4096, .ring_bytes = 256 << 10};

	watched_begin(&W, &options);
	snprintf(flood_dir, sizeof(flood_dir), "%s/flood", W.dir);
	snprintf(calm_dir, sizeof(calm_dir), "%s/calm", W.dir);
	assert_int_equal(mkdir(flood_dir, 0777) | chmod(flood_dir, 0777), 0);
	assert_int_equal(mkdir(calm_dir, 0777) | chmod(calm_dir, 0777), 0);
	return 0;
}

static int end(void **state)
{
	watched_end(&W);
	return 0;
}

static void set(uint32_t index, uint32_t quota, uint32_t procs)
{
	struct scribe_job_entry job;
	char text[32];

	snprintf(text, sizeof(text), "JOB=%u", index);
	watched_job(text, &job);
	job.uid = WATCHED_UID + index;
	job.quota = quota;
	job.proc_quota = procs;
	job.reserve = 64;
	assert_int_equal(scribe_bpf_set_job(W.bpf, index, &job), 0);
}

static pid_t start(uint32_t job, const char *program, const char *count)
{
	const char *argv[] = {program, count, NULL};
	char text[32], *env[] = {"IOSCRIBE_ENABLE=1", text, NULL};
	struct how how = {.uid = WATCHED_UID + job, .gid = WATCHED_GID, .argv = argv, .env = env};

	how.cwd = job == FLOOD ? flood_dir : calm_dir;
	snprintf(text, sizeof(text), "JOB=%u", job);
	return watched_start(&how);
}

struct sum {
	uint64_t writes, bytes;
	unsigned processes;
};

static int add(void *ctx, const struct scribe_slot_view *view)
{
	struct sum *s = ctx;

	for (unsigned i = 0; i < view->nshards; i++) {
		s->writes += view->shard[i]->ops[1];
		s->bytes += view->shard[i]->bytes[1];
	}
	return 0;
}

static void harvest(uint32_t job, struct sum *ret_sum)
{
	memset(ret_sum, 0, sizeof(*ret_sum));
	for (uint32_t i = 1; i <= 256; i++) {
		struct scribe_proc *p = scribe_bpf_proc(W.bpf, i);

		if (!p->proc_id || p->job != job)
			continue;
		assert_true(p->flags & SCRIBE_PF_EXITED);
		assert_int_equal(scribe_bpf_drain_and_free(W.bpf, i, add, ret_sum), 0);
		ret_sum->processes++;
	}
}

/* Files are written with 1 to 50 bytes in turn. */
static uint64_t bytes_of(unsigned files)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < files; i++)
		n += i % 50 + 1;
	return n;
}

static void the_other_job_is_whole(void **state)
{
	const char *files = watched_program(&W, "many_files"), *procs = watched_program(&W, "many_procs");
	struct scribe_ledger ledger;
	pid_t a, b;
	struct sum sum;
	uint32_t before = scribe_bpf_free_slots(W.bpf);

	set(FLOOD, 100000, 64);
	set(CALM, CALM_QUOTA, 64);
	a = start(FLOOD, files, "4000");
	b = start(FLOOD, procs, "300");
	/* half of it while the flood goes on, half when the pool, the processes and the ring are used up */
	for (int i = 0; i < ROUNDS; i++) {
		if (i == ROUNDS / 2) {
			watched_wait(a);
			watched_wait(b);
		}
		watched_wait(start(CALM, files, "40")); /* FILES */
	}
	harvest(CALM, &sum);
	assert_int_equal(sum.processes, ROUNDS);
	assert_int_equal(sum.writes, ROUNDS * FILES);
	assert_int_equal(sum.bytes, ROUNDS * bytes_of(FILES));
	assert_int_equal(scribe_bpf_ledger(W.bpf, CALM, &ledger), 0);
	assert_int_equal(ledger.v[SCRIBE_L_DROP_NO_SLOT], 0);
	assert_int_equal(ledger.v[SCRIBE_L_DROP_NO_PROC], 0);
	assert_int_equal(ledger.v[SCRIBE_L_EVENT_LOST], 0);
	assert_int_equal(ledger.v[SCRIBE_L_ENV_LOST], 0);
	assert_true(ledger.v[SCRIBE_L_OVERFLOWED] > 0);
	watched_take(&W);
	assert_int_equal(watched_count(&W, 0, SCRIBE_EV_JOIN, 0), ROUNDS + 2);
	/* the flood itself: folded, and processes refused, but no other count is lost */
	assert_int_equal(scribe_bpf_ledger(W.bpf, FLOOD, &ledger), 0);
	assert_true(ledger.v[SCRIBE_L_DROP_NO_PROC] > 0);
	assert_true(ledger.v[SCRIBE_L_NAME_RETRY] > 0);
	harvest(FLOOD, &sum);
	assert_int_equal(sum.processes, 64);
	assert_int_equal(scribe_bpf_free_slots(W.bpf), before);
}

static void what_was_held_is_given_back(void **state)
{
	const char *files = watched_program(&W, "many_files");
	struct scribe_ledger before, after;
	struct sum sum;

	assert_int_equal(scribe_bpf_ledger(W.bpf, CALM, &before), 0);
	watched_wait(start(CALM, files, "60"));
	harvest(CALM, &sum);
	assert_int_equal(sum.writes, 60);
	assert_int_equal(scribe_bpf_ledger(W.bpf, CALM, &after), 0);
	assert_int_equal(before.v[SCRIBE_L_OVERFLOWED_FILES], after.v[SCRIBE_L_OVERFLOWED_FILES]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_other_job_is_whole),
		cmocka_unit_test(what_was_held_is_given_back),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
