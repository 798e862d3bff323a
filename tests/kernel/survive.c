/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is pinned outlives its daemon: processes join and are recorded while
 * none lives, the next one adopts all of it, once; another version does not.
 */
#include "tests/kernel/watched.h"

#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIVES 6
#define FILES "400"
#define BYTES 10200 /* of 400 files: 8 times 1 + … + 50 */

static struct watched W;
static char pins[64];
static const char *files;

static int begin(void **state)
{
	struct statfs fs;

	if (statfs("/sys/fs/bpf", &fs) < 0 || fs.f_type != BPF_FS_MAGIC)
		assert_int_equal(mount("bpf", "/sys/fs/bpf", "bpf", 0, NULL), 0);
	snprintf(pins, sizeof(pins), "/sys/fs/bpf/ioscribe-survive-%d", (int)getpid());
	watched_scratch(&W);
	files = watched_program(&W, "many_files");
	return 0;
}

static int end(void **state)
{
	scribe_bpf_remove_pins(pins);
	watched_end(&W);
	return 0;
}

static void describe(struct scribe_bpf *bpf)
{
	struct scribe_job_entry job;

	watched_job("JOB=1", &job);
	job.quota = 20000;
	assert_int_equal(scribe_bpf_set_job(bpf, 1, &job), 0);
}

static int forget(void *ctx, const struct scribe_event *ev, const char *text)
{
	return 0;
}

/* A daemon in a process of its own, ready when this returns. The first one loads, the others adopt. */
static pid_t live(bool first)
{
	struct scribe_bpf_options options = {
		.slots = 16384, .procs = 256, .tables = 8192, .ring_bytes = 4 << 20, .pins = pins};
	int ready[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct scribe_err err = {0};
		struct scribe_bpf *bpf;

		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves no daemon */
		if (first ? scribe_bpf_open(&options, &bpf, &err) || scribe_bpf_attach(bpf, &err)
			  : scribe_bpf_adopt(pins, &bpf, &err)) {
			fprintf(stderr, "%s\n", err.text);
			_exit(1);
		}
		if (first)
			describe(bpf);
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			scribe_bpf_poll(bpf, 1000, forget, NULL);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

static void die(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static pid_t start(void)
{
	const char *argv[] = {files, FILES, NULL};
	char *env[] = {"JOB=1", "IOSCRIBE_ENABLE=1", NULL};
	static unsigned n;
	char cwd[128];
	struct how how = {.uid = WATCHED_UID, .gid = WATCHED_GID, .argv = argv, .env = env, .cwd = cwd};

	snprintf(cwd, sizeof(cwd), "%s/%u", W.dir, n++);
	assert_int_equal(mkdir(cwd, 0777) | chmod(cwd, 0777), 0);
	return watched_start(&how);
}

static int add(void *ctx, const struct scribe_slot_view *view)
{
	uint64_t *sum = ctx;

	for (unsigned i = 0; i < view->nshards; i++) {
		sum[0] += view->shard[i]->ops[1];
		sum[1] += view->shard[i]->bytes[1];
	}
	return 0;
}

static unsigned harvest(struct scribe_bpf *bpf, uint64_t sum[2])
{
	unsigned n = 0;

	sum[0] = sum[1] = 0;
	for (uint32_t i = 1; i <= 256; i++) {
		struct scribe_proc *p = scribe_bpf_proc(bpf, i);

		if (!p->proc_id)
			continue;
		assert_true(p->flags & SCRIBE_PF_EXITED);
		assert_int_equal(scribe_bpf_drain_and_free(bpf, i, add, sum), 0);
		n++;
	}
	return n;
}

static void no_count_is_lost(void **state)
{
	struct scribe_ledger ledger;
	struct scribe_err err = {0};
	uint64_t sum[2];
	pid_t across = 0;
	uint32_t before;

	for (int i = 0; i < LIVES; i++) {
		pid_t daemon = live(i == 0), during = start();

		if (across)
			watched_wait(across);
		across = start(); /* it lives through the daemon's death */
		die(daemon);
		watched_wait(during);
		watched_wait(start()); /* nobody is there when it begins and ends */
	}
	watched_wait(across);
	assert_int_equal(scribe_bpf_adopt(pins, &W.bpf, &err), 0);
	assert_true(scribe_bpf_attached(W.bpf));
	before = scribe_bpf_free_slots(W.bpf);
	assert_int_equal(harvest(W.bpf, sum), 3 * LIVES);
	assert_int_equal(sum[0], 3 * LIVES * 400);
	assert_int_equal(sum[1], 3 * LIVES * BYTES);
	assert_true(scribe_bpf_free_slots(W.bpf) > before);
	assert_int_equal(scribe_bpf_ledger(W.bpf, 1, &ledger), 0);
	assert_int_equal(ledger.v[SCRIBE_L_DROP_NO_SLOT] + ledger.v[SCRIBE_L_DROP_NO_PROC], 0);
	assert_int_equal(ledger.v[SCRIBE_L_EVENTS], ledger.v[SCRIBE_L_RECORDED]);
}

static void what_waits_in_the_ring_comes_once(void **state)
{
	struct scribe_err err = {0};
	uint64_t seen;
	unsigned exits;

	assert_non_null(W.bpf);
	watched_take(&W);
	W.n = 0;
	watched_wait(start());
	W.bpf = scribe_bpf_close_keep_pins(W.bpf);
	assert_int_equal(scribe_bpf_adopt(pins, &W.bpf, &err), 0);
	watched_take(&W);
	exits = watched_count(&W, 0, SCRIBE_EV_EXIT, 0);
	assert_int_equal(exits, 1);
	assert_int_equal(watched_count(&W, 0, SCRIBE_EV_JOIN, 0), 1);
	/* noted before it was given back: not again in the next life */
	W.n = 0;
	seen = W.position;
	watched_wait(start());
	scribe_bpf_skip_to(W.bpf, seen);
	watched_take(&W);
	assert_int_equal(watched_count(&W, 0, SCRIBE_EV_EXIT, 0), 1);
	W.n = 0;
	watched_wait(start());
	scribe_bpf_skip_to(W.bpf, W.position + (1 << 20));
	watched_take(&W);
	assert_int_equal(watched_count(&W, 0, SCRIBE_EV_EXIT, 0), 0);
	scribe_bpf_skip_to(W.bpf, 0);
}

static void another_version_is_left_alone(void **state)
{
	struct scribe_err err = {0};
	struct scribe_bpf *other;
	uint32_t *version;

	assert_non_null(W.bpf);
	version = watched_version(W.bpf);
	*version = SCRIBE_WIRE_VERSION + 1;
	assert_int_equal(scribe_bpf_adopt(pins, &other, &err), -SCRIBE_E_VERSION);
	assert_non_null(strstr(err.text, "wire version"));
	*version = SCRIBE_WIRE_VERSION;
	W.bpf = scribe_bpf_close_keep_pins(W.bpf);
	assert_int_equal(scribe_bpf_adopt(pins, &W.bpf, &err), 0);
	assert_true(scribe_bpf_attached(W.bpf));
}

static void an_adopted_one_goes_on(void **state)
{
	struct scribe_err err = {0};
	struct stat st;
	uint64_t sum[2];

	assert_non_null(W.bpf);
	harvest(W.bpf, sum);
	scribe_bpf_detach(W.bpf);
	watched_wait(start());
	assert_int_equal(harvest(W.bpf, sum), 0);
	assert_int_equal(scribe_bpf_attach(W.bpf, &err), 0);
	watched_wait(start());
	assert_int_equal(harvest(W.bpf, sum), 1);
	assert_int_equal(sum[1], BYTES);
	W.bpf = scribe_bpf_free(W.bpf);
	assert_int_not_equal(stat(pins, &st), 0);
	assert_int_equal(scribe_bpf_adopt(pins, &W.bpf, &err), -2 /* ENOENT */);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_count_is_lost),
		cmocka_unit_test(what_waits_in_the_ring_comes_once),
		cmocka_unit_test(another_version_is_left_alone),
		cmocka_unit_test(an_adopted_one_goes_on),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
