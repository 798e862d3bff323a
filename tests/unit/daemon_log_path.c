/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and places of logs; a whole commit of invented records to a file. */
#include <errno.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/daemon/jobs/lifecycle.h"
#include "runtime/daemon/output/log_commit.h"
#include "runtime/daemon/output/log_deliver.h"
#include "runtime/daemon/output/log_finalize.h"
#include "runtime/daemon/output/log_path.h"
#include "runtime/daemon/state/daemon.h"

static struct scribe_daemon no_kernel;
static struct scribe_job *job;
static char base[32];

static struct scribe_process *process(uint32_t proc_id, uint32_t parent, const char *argv, size_t bytes)
{
	struct scribe_process *p = scribe_worlds_fork(&job->worlds, proc_id, parent, proc_id * 1000000000ull);

	assert_non_null(p);
	assert_int_equal(scribe_worlds_exec(&job->worlds, p, argv, bytes, NULL), 0);
	p->tgid = (int32_t)(100 + proc_id);
	return p;
}

static int setup(void **state)
{
	struct scribe_err err;

	(void)state;
	strcpy(base, "/tmp/scribe-place-XXXXXX");
	job = calloc(1, sizeof(*job));
	if (!mkdtemp(base) || !job || scribe_config_default(&job->config, &err) < 0 ||
	    scribe_worlds_init(&job->worlds, 100) < 0 ||
	    scribe_helper_start(&job->helper, getuid(), getgid(), "", &err) < 0 ||
	    scribe_helper_meet(&job->helper, &err) < 0)
		return -1;
	job->daemon = &no_kernel;
	strcpy(job->host, "node");
	strcpy(job->config.log_dir, base);
	strcpy(job->config.user, "a/b c");
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	scribe_job_free(job);
	snprintf(command, sizeof(command), "chmod -R u+w %s; rm -rf %s", base, base);
	return system(command);
}

static void matches(const char *text, const char *pattern)
{
	regex_t re;

	assert_int_equal(regcomp(&re, pattern, REG_EXTENDED), 0);
	if (regexec(&re, text, 0, NULL, 0))
		fail_msg("'%s' is not like '%s'", text, pattern);
	regfree(&re);
}

static void made_names(void **state)
{
	char path[SCRIBE_PATH_MAX], last[SCRIBE_PATH_MAX], pattern[512];
	struct scribe_preparing at = {.helper.sock = -1};
	struct scribe_err err = {0};
	int rc;

	(void)state;
	process(1, 0, "/opt/my app\0-x", 15);
	job->client.first_proc_id = 1;
	job->worlds.rest->jobid = 77;
	assert_int_equal(scribe_log_path_partial(job, job->worlds.rest, path, sizeof(path), &err), 0);
	snprintf(pattern, sizeof(pattern), "^%s/a_b_my_id77-101_([0-9]+-){3}[0-9]+\\.darshan_partial$", base);
	matches(path, pattern);
	assert_int_equal(scribe_log_path_final(job, path, 12, last, sizeof(last)), 0);
	matches(last, "_12\\.darshan$");
	/* two logs of one second have two names */
	assert_int_equal(scribe_log_path_partial(job, job->worlds.rest, last, sizeof(last), &err), 0);
	assert_string_not_equal(path, last);
	/* dated: the directories are made */
	job->config.dated = true;
	assert_int_equal(scribe_log_path_partial(job, job->worlds.rest, path, sizeof(path), &err), 0);
	strcpy(at.path, path);
	assert_int_equal(scribe_log_path_prepare(job, job->worlds.rest, &at, &err), -EAGAIN);
	while ((rc = scribe_log_path_prepare(job, job->worlds.rest, &at, &err)) == -EAGAIN)
		usleep(1000);
	assert_int_equal(rc, 0);
	matches(path, "/[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}/a_b_");
	*strrchr(path, '/') = 0;
	assert_int_equal(access(path, W_OK), 0);
}

static void asked_names(void **state)
{
	static const char *const cases[][5] = {
		/* asked, first partial, first, second partial, second; all below the base */
		{"x.darshan", "x.darshan_partial", "x.darshan", "x.2.darshan_partial", "x.2.darshan"},
		{"x", "x.darshan_partial", "x", "x.2.darshan_partial", "x.2"},
		{"x.log", "x.log.darshan_partial", "x.log", "x.2.log.darshan_partial", "x.2.log"},
		{"a.b.darshan", "a.b.darshan_partial", "a.b.darshan", "a.b.2.darshan_partial", "a.b.2.darshan"},
		{".hidden", ".hidden.darshan_partial", ".hidden", ".hidden.2.darshan_partial", ".hidden.2"},
	};
	struct scribe_err err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		job->nlogs = 0;
		snprintf(job->config.log_file, sizeof(job->config.log_file), "%s/%s", base, cases[i][0]);
		for (int log = 0; log < 2; log++) {
			char path[SCRIBE_PATH_MAX], last[SCRIBE_PATH_MAX];

			assert_int_equal(scribe_log_path_partial(job, job->worlds.rest, path, sizeof(path), &err), 0);
			assert_string_equal(path + strlen(base) + 1, cases[i][1 + 2 * log]);
			assert_int_equal(scribe_log_path_final(job, path, 5, last, sizeof(last)), 0);
			assert_string_equal(last + strlen(base) + 1, cases[i][2 + 2 * log]);
		}
	}
}

static void place_is_checked(void **state)
{
	struct scribe_err err = {0};

	(void)state;
	assert_int_equal(scribe_log_path_check(job, &err), 0);
	strcpy(job->config.log_dir, "/proc/no");
	assert_true(scribe_log_path_check(job, &err) < 0);
	strcpy(job->config.log_file, "/proc/no.darshan");
	assert_true(scribe_log_path_check(job, &err) < 0);
	matches(err.text, "^no log can be written to /proc/: ");
}

/* Records of two ranks and of the rest, without a kernel: two logs, readable, complete. */
static void commit_without_a_kernel(void **state)
{
	static const char proxy[] = "hydra_pmi_proxy\0--control-port\0h:1\0--pgid\0000";
	struct scribe_posix_shard shard = {.opens = 1, .ops = {0, 4}, .bytes = {0, 400}};
	struct scribe_rankenv env = {.launcher = SCRIBE_RANK_PMI, .size = 2, .jobid = 9};
	struct scribe_worlds *worlds = &job->worlds;
	struct scribe_reader *r;
	struct scribe_err err = {0};
	const struct scribe_posix_record *rec;
	size_t bytes;

	(void)state;
	snprintf(job->config.log_file, sizeof(job->config.log_file), "%s/x.darshan", base);
	process(1, 0, "sh\0run", 7);
	worlds->rest->has_non_launcher = true;
	job->client.first_proc_id = 1;
	process(2, 1, proxy, sizeof(proxy));
	for (int64_t rank = 0; rank < 2; rank++) {
		struct scribe_process *p = process(3 + (uint32_t)rank, 2, "./app\0arg", 10);
		struct scribe_name_entry *shared, *own;

		env.rank = rank;
		assert_int_equal(scribe_worlds_env(worlds, p, &env), 0);
		p->rank->records = scribe_records_new();
		shared = scribe_name_table_intern(&job->names, "/shared", 7);
		own = scribe_name_table_intern(&job->names, rank ? "/own1" : "/own0", 5);
		assert_int_equal(
			scribe_posix_acc_add(&scribe_records_at(p->rank->records, shared->id)->acc, &shard, NULL, NULL),
			0);
		assert_int_equal(
			scribe_posix_acc_add(&scribe_records_at(p->rank->records, own->id)->acc, &shard, NULL, NULL),
			0);
	}
	for (uint32_t s = 4; s >= 1; s--)
		scribe_worlds_exit(worlds, scribe_worlds_find(worlds, s), SCRIBE_END_EXITED, s == 4 ? 3 << 8 : 0,
				   9000000000ull);
	scribe_commit_due(job, false);
	assert_int_equal(job->logs, 1); /* the world is over; the rest waits for the job's end */
	scribe_commit_due(job, true);
	scribe_commit_due(job, true); /* once is enough */
	for (int i = 0; i < 60000 && scribe_deliver_busy(job); i++) {
		scribe_deliver_tick(job);
		usleep(1000);
	}
	assert_false(scribe_deliver_busy(job));
	assert_int_equal(job->logs, 2);
	assert_string_equal(job->log[0].text, "");
	matches(job->log[0].path, "/x\\.darshan$");
	matches(job->log[1].path, "/x\\.2\\.darshan$");
	assert_int_equal(job->log[0].nprocs, 2);
	assert_int_equal(job->log[0].files, 3);
	assert_int_equal(job->log[0].failed, 1);
	assert_int_equal(job->log[0].bytes_written, 1600);
	assert_string_equal(job->log[0].exe, "./app arg");
	assert_string_equal(job->log[1].exe, "sh run");
	assert_int_equal(scribe_reader_open(job->log[0].path, &r, &err), 0);
	assert_int_equal(scribe_reader_job(r)->nprocs, 2);
	assert_int_equal(scribe_reader_job(r)->jobid, 9);
	assert_int_equal(scribe_reader_header(r)->partial_flag, 0);
	for (int i = 0, shared = 0; i < 3; i++) {
		assert_int_equal(scribe_reader_borrow_record(r, SCRIBE_MOD_POSIX, (const void **)&rec, &bytes), 1);
		shared += rec->base.rank == -1;
		assert_int_equal(rec->counters[SCRIBE_POSIX_WRITES], rec->base.rank == -1 ? 8 : 4);
		assert_true(i < 2 || shared == 1);
	}
	assert_int_equal(scribe_reader_borrow_record(r, SCRIBE_MOD_POSIX, (const void **)&rec, &bytes), 0);
	scribe_reader_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(made_names, setup, teardown),
		cmocka_unit_test_setup_teardown(asked_names, setup, teardown),
		cmocka_unit_test_setup_teardown(place_is_checked, setup, teardown),
		cmocka_unit_test_setup_teardown(commit_without_a_kernel, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
