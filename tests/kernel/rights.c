/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that gain privileges at exec (setuid, setgid, file capabilities) are
 * not shown to the job's owner, nor what they start, until something runs as
 * the plain user again; and never join on their own.
 */
#include "tests/kernel/watched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define VAR "PBS_JOBID=12.server"

static struct watched W;
static const char *plain;
static char *on[] = {VAR, "IOSCRIBE_ENABLE=1", NULL};

static int begin(void **state)
{
	struct scribe_bpf_options options = {.slots = 4096, .procs = 512, .tables = 8192, .ring_bytes = 8 << 20};

	watched_begin(&W, &options);
	plain = watched_program(&W, "drops");
	return 0;
}

static int end(void **state)
{
	watched_end(&W);
	return 0;
}

enum gain { BY_SETUID, BY_SETGID, BY_CAPABILITY, GAINS };

/* The same program under another name, with rights. */
static const char *privileged(enum gain gain)
{
	static const char *const name[] = {"by_setuid", "by_setgid", "by_capability"};
	/* VFS_CAP_REVISION_2, effective; permitted: CAP_NET_RAW */
	static const uint32_t caps[5] = {0x02000001, 1u << 13, 0, 0, 0};
	static char path[128];
	char command[512];

	snprintf(path, sizeof(path), "%s/%s", W.dir, name[gain]);
	snprintf(command, sizeof(command), "cp --remove-destination '%s' '%s'", plain, path);
	assert_int_equal(system(command), 0);
	if (gain == BY_SETUID)
		assert_int_equal(chmod(path, 04755), 0);
	if (gain == BY_SETGID)
		assert_int_equal(chmod(path, 02755), 0);
	if (gain == BY_CAPABILITY)
		assert_int_equal(setxattr(path, "security.capability", caps, sizeof(caps), 0), 0);
	return path;
}

static void set(uint32_t flags)
{
	struct scribe_job_entry job;

	watched_job(VAR, &job);
	job.flags = flags;
	assert_int_equal(scribe_bpf_set_job(W.bpf, 1, &job), 0);
	W.n = 0;
	unlink("a");
	unlink("b");
	unlink("c");
}

static pid_t run(const char *const *argv)
{
	struct how how = {.uid = WATCHED_UID, .gid = WATCHED_GID, .argv = argv, .env = on};

	return watched_run(&W, &how);
}

static void it_is_hidden_below_the_job(void **state)
{
	for (int gain = 0; gain < GAINS; gain++) {
		const char *up = privileged(gain);
		const char *argv[] = {plain, "fork", "a", up, "write", "b", NULL};

		set(0);
		assert_non_null(watched_join(&W, run(argv)));
		assert_true(watched_named(&W, 0, "a"));
		assert_false(watched_named(&W, 0, "b"));
		assert_int_equal(watched_count(&W, 0, SCRIBE_EV_FORK, 0), 1);
		assert_int_equal(watched_count(&W, 0, SCRIBE_EV_EXEC, SCRIBE_XF_HIDDEN), 1);
		assert_int_equal(watched_count(&W, 0, SCRIBE_EV_EXEC, 0), 2);
		assert_int_equal(watched_count(&W, 0, SCRIBE_EV_EXIT, 0), 2);
		for (size_t i = 0; i < W.n; i++)
			if (W.told[i].ev.type == SCRIBE_EV_EXEC && W.told[i].ev.exec.flags == SCRIBE_XF_HIDDEN)
				assert_int_equal(W.told[i].ev.text_bytes, 0);
	}
}

static void what_it_starts_is_hidden_too(void **state)
{
	const char *up = privileged(BY_SETUID);
	const char *argv[] = {plain, "fork", "a", up, "fork", "b", plain, "write", "c", NULL};

	set(0);
	run(argv);
	assert_true(watched_named(&W, 0, "a"));
	assert_false(watched_named(&W, 0, "b"));
	assert_false(watched_named(&W, 0, "c"));
	assert_int_equal(watched_count(&W, 0, SCRIBE_EV_EXEC, SCRIBE_XF_HIDDEN), 2);
}

static void the_plain_user_is_shown_again(void **state)
{
	for (int gain = 0; gain < GAINS; gain++) {
		const char *up = privileged(gain);
		const char *argv[] = {plain, "fork", "a", up, "exec", "b", plain, "write", "c", NULL};

		set(0);
		run(argv);
		assert_true(watched_named(&W, 0, "a"));
		assert_false(watched_named(&W, 0, "b"));
		assert_true(watched_named(&W, 0, "c"));
	}
}

static void the_site_may_show_it(void **state)
{
	const char *up = privileged(BY_SETUID);
	const char *argv[] = {plain, "fork", "a", up, "write", "b", NULL};
	const char *alone[] = {up, "write", "c", NULL};

	set(SCRIBE_JF_SHOW_PRIVILEGED);
	run(argv);
	assert_true(watched_named(&W, 0, "b"));
	assert_int_equal(watched_count(&W, 0, SCRIBE_EV_EXEC, SCRIBE_XF_HIDDEN), 0);
	assert_non_null(watched_join(&W, run(alone)));
}

static void it_does_not_join_but_what_it_becomes_does(void **state)
{
	for (int gain = 0; gain < GAINS; gain++) {
		const char *up = privileged(gain);
		const char *alone[] = {up, "write", "a", NULL};
		const char *drops[] = {up, "exec", "b", plain, "write", "c", NULL};

		set(0);
		assert_null(watched_join(&W, run(alone)));
		assert_int_equal(W.n, 0);
		assert_non_null(watched_join(&W, run(drops)));
		assert_false(watched_named(&W, 0, "b"));
		assert_true(watched_named(&W, 0, "c"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_hidden_below_the_job),
		cmocka_unit_test(what_it_starts_is_hidden_too),
		cmocka_unit_test(the_plain_user_is_shown_again),
		cmocka_unit_test(the_site_may_show_it),
		cmocka_unit_test(it_does_not_join_but_what_it_becomes_does),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
