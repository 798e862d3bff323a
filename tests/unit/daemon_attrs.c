/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What files say of themselves: asked by a helper when their names become known
 * and again for the log; one that hangs costs its deadline, once. Files are
 * real, their attribute is a user's, the helper is a process.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cmocka.h>

#include "logfmt/base/clock.h"
#include "runtime/core/module_table.h"
#include "runtime/daemon/jobs/lifecycle.h"
#include "runtime/daemon/lookup/file_xattrs.h"
#include "runtime/daemon/state/daemon.h"

#define FILES 600 /* more than one question's */

static char base[64];
static struct scribe_daemon daemon_of_work; /* with no machine's root but its own */
static struct scribe_job *job;
static struct scribe_log_unit *unit;

static int setup(void **state)
{
	struct scribe_err err;

	(void)state;
	/* beside the build: /tmp may be a file system without attributes */
	strcpy(base, "scribe-attrs-XXXXXX");
	job = calloc(1, sizeof(*job));
	if (!mkdtemp(base) || !job || scribe_config_default(&job->config, &err) < 0 ||
	    scribe_worlds_init(&job->worlds, 100) < 0)
		return -1;
	job->daemon = &daemon_of_work;
	job->helper = (struct scribe_helper){.pid = -1, .sock = -1};
	job->config.uid = getuid();
	job->config.gid = getgid();
	job->config.user[0] = 0;
	job->mounts.mount[0] = (struct scribe_mount){.type = strdup("lustre"), .path = strdup("/")};
	job->mounts.n = 1;
	strcpy(job->config.layout_source, "lustre,user.lov");
	unit = job->worlds.rest;
	return 0;
}

static int teardown(void **state)
{
	char command[192];

	(void)state;
	scribe_job_free(job);
	snprintf(command, sizeof(command), "rm -rf %s", base);
	return system(command);
}

/* A file with this attribute, and its name in the table. */
static struct scribe_name_entry *file_with(const char *name, const char *value)
{
	char path[4096], *full;
	struct scribe_name_entry *entry;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", base, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	if (value)
		assert_int_equal(setxattr(path, "user.lov", value, strlen(value), 0), 0);
	full = realpath(path, NULL);
	assert_non_null(full);
	entry = scribe_name_table_intern(&job->names, full, strlen(full));
	assert_non_null(entry);
	free(full);
	return entry;
}

static void set(const struct scribe_name_entry *name, const char *value)
{
	assert_int_equal(setxattr(name->text, "user.lov", value, strlen(value), 0), 0);
}

static void says(const struct scribe_name_entry *name, const char *value)
{
	size_t bytes = 0;
	const void *is = scribe_file_xattrs_get(job, &scribe_module_lustre, name->id, &bytes);

	if (!value) {
		assert_null(is);
		return;
	}
	assert_non_null(is);
	assert_int_equal(bytes, strlen(value));
	assert_memory_equal(is, value, bytes);
}

static void settle(void)
{
	for (int i = 0; i < 60000 && !scribe_file_xattrs_complete(job); i++)
		usleep(1000);
	assert_true(scribe_file_xattrs_complete(job));
}

/* The unit has used these files. */
static void used(struct scribe_name_entry **name, size_t n)
{
	struct scribe_rank *r = scribe_map_get(&unit->ranks, 0);

	assert_non_null(r);
	r->records = scribe_records_new();
	assert_non_null(r->records);
	for (size_t i = 0; i < n; i++)
		assert_non_null(scribe_records_at(r->records, name[i]->id));
}

static void newest_answer_counts(void **state)
{
	struct scribe_name_entry *l[] = {file_with("stays", "one"), file_with("changes", "two"),
					 file_with("goes", "three"), file_with("bare", NULL)};

	(void)state;
	job->config.layout_deadline_ms = 60000;
	for (size_t i = 0; i < 4; i++)
		scribe_file_xattrs_request(job, l[i]);
	used(l, 4);
	scribe_file_xattrs_again(job, unit, -1);
	settle();
	says(l[0], "one");
	says(l[1], "two");
	says(l[2], "three");
	says(l[3], NULL);
	set(l[1], "another one");
	assert_int_equal(unlink(l[2]->text), 0);
	scribe_file_xattrs_again(job, unit, -1);
	settle();
	says(l[0], "one");
	says(l[1], "another one");
	says(l[2], "three");
	assert_int_equal(scribe_file_xattrs_silent(job), 0);
}

static void many_files(void **state)
{
	static struct scribe_name_entry *l[FILES];

	(void)state;
	job->config.layout_deadline_ms = 60000;
	for (size_t i = 0; i < FILES; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%zu", i);
		l[i] = file_with(name, name);
		scribe_file_xattrs_request(job, l[i]);
	}
	used(l, FILES);
	scribe_file_xattrs_again(job, unit, -1);
	settle();
	for (size_t i = 0; i < FILES; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%zu", i);
		says(l[i], name);
	}
}

static void not_asked(void **state)
{
	struct scribe_name_entry *other = file_with("other", "x"), *set_of = file_with("set", "x"),
				 *link = file_with("target", "x"), *off = file_with("off", "x");
	char path[4096];

	(void)state;
	strcpy(job->config.layout_source, "gpfs,user.lov");
	scribe_file_xattrs_request(job, other);
	assert_null(job->file_xattrs);
	strcpy(job->config.layout_source, "lustre,user.lov");
	set_of->file_id = 7; /* a dataset's name is no file's */
	scribe_file_xattrs_request(job, set_of);
	assert_null(job->file_xattrs);
	strcpy(job->config.modules, "-LUSTRE");
	scribe_file_xattrs_request(job, off);
	job->config.modules[0] = 0;
	job->config.exclusion_rules.modules_off = 1ull << SCRIBE_MOD_LUSTRE;
	scribe_file_xattrs_request(job, off);
	job->config.exclusion_rules.modules_off = 0;
	assert_null(job->file_xattrs);

	/* a link is not followed, a directory not asked */
	snprintf(path, sizeof(path), "%s.link", link->text);
	assert_int_equal(symlink(link->text, path), 0);
	link = scribe_name_table_intern(&job->names, path, strlen(path));
	assert_non_null(link);
	scribe_file_xattrs_request(job, link);
	assert_int_equal(setxattr(base, "user.lov", "x", 1, 0), 0);
	assert_non_null(realpath(base, path));
	other = scribe_name_table_intern(&job->names, path, strlen(path));
	assert_non_null(other);
	scribe_file_xattrs_request(job, other);
	scribe_file_xattrs_again(job, unit, -1);
	settle();
	says(link, NULL);
	says(other, NULL);
}

/* The helper is stopped in front of the second question: what came before stays, nobody waits for long. */
static void hangs(void **state)
{
	struct scribe_name_entry *l[] = {file_with("early", "one"), file_with("late", "two")};
	pid_t helper = -1;
	char path[64], name[32] = "";
	uint64_t init_state;

	(void)state;
	job->config.layout_deadline_ms = 60000;
	scribe_file_xattrs_request(job, l[0]);
	used(l, 2);
	scribe_file_xattrs_again(job, unit, -1);
	settle();
	says(l[0], "one");
	/* the only child of this test */
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)getpid(), (int)getpid());
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &helper), 1);
	fclose(f);
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)helper);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%31s", name), 1);
	fclose(f);
	assert_string_equal(name, "ioscribe-helper");
	assert_int_equal(kill(helper, SIGSTOP), 0);

	job->config.layout_deadline_ms = 300;
	scribe_file_xattrs_request(job, l[1]);
	init_state = scribe_now_ns();
	scribe_file_xattrs_again(job, unit, -1);
	settle();
	assert_true(scribe_now_ns() - init_state >= 300000000);
	says(l[0], "one");
	says(l[1], NULL);
	assert_int_equal(scribe_file_xattrs_silent(job), 1);
	/* and it is not asked again */
	scribe_file_xattrs_again(job, unit, -1);
	assert_true(scribe_file_xattrs_complete(job));
	assert_int_equal(kill(helper, SIGKILL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(newest_answer_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(many_files, setup, teardown),
		cmocka_unit_test_setup_teardown(not_asked, setup, teardown),
		cmocka_unit_test_setup_teardown(hangs, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
