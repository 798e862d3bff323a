/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A log whatever happens to its place: missing, hung, taken by another; the
 * spool and the way back from there. Files are real, the helper is a process.
 */
#include <dirent.h>
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
#include <unistd.h>

#include <cmocka.h>

#include "logfmt/file/reader.h"
#include "runtime/daemon/jobs/lifecycle.h"
#include "runtime/daemon/output/log_commit.h"
#include "runtime/daemon/output/log_deliver.h"
#include "runtime/daemon/output/log_finalize.h"
#include "runtime/daemon/output/log_path.h"
#include "runtime/daemon/output/spool.h"
#include "runtime/daemon/state/daemon.h"

static char base[64];
static struct scribe_daemon no_kernel;
static struct scribe_job *job;

static int setup(void **state)
{
	struct scribe_err err;
	char spool[96];

	(void)state;
	strcpy(base, "/tmp/scribe-deliver-XXXXXX");
	job = calloc(1, sizeof(*job));
	if (!mkdtemp(base) || !job || scribe_config_default(&job->config, &err) < 0 ||
	    scribe_worlds_init(&job->worlds, 100) < 0 ||
	    scribe_helper_start(&job->helper, getuid(), getgid(), "", &err) < 0 ||
	    scribe_helper_meet(&job->helper, &err) < 0)
		return -1;
	snprintf(spool, sizeof(spool), "%s/spool", base);
	if (scribe_spool_open(spool, &no_kernel.spool, &err) < 0)
		return -1;
	job->daemon = &no_kernel;
	job->config.uid = getuid();
	job->config.gid = getgid();
	job->config.user[0] = 0;
	snprintf(job->config.log_dir, sizeof(job->config.log_dir), "%s/place", base);
	job->worlds.rest->has_non_launcher = true;
	return 0;
}

static int teardown(void **state)
{
	char command[192];

	(void)state;
	scribe_job_free(job);
	no_kernel.spool = scribe_spool_free(no_kernel.spool);
	snprintf(command, sizeof(command), "chmod -R u+w %s; rm -rf %s", base, base);
	return system(command);
}

static void deliver(void)
{
	scribe_commit_due(job, true);
	for (int i = 0; i < 60000 && scribe_deliver_busy(job); i++) {
		scribe_deliver_tick(job);
		usleep(1000);
	}
	assert_false(scribe_deliver_busy(job));
	assert_int_equal(job->logs, 1);
}

/* Files below base/FOLDER; a finished log among them is read. */
static unsigned files(const char *folder, char *ret_log, size_t cap)
{
	char path[512];
	struct dirent *e;
	unsigned n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%s", base, folder);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		size_t bytes = strlen(e->d_name);

		if (e->d_name[0] == '.')
			continue;
		n++;
		if (bytes > 8 && !strcmp(e->d_name + bytes - 8, ".darshan"))
			snprintf(ret_log, cap, "%s/%s", path, e->d_name);
	}
	if (dir)
		closedir(dir);
	return n;
}

static void is_a_log(const char *path)
{
	struct scribe_reader *r = NULL;
	struct scribe_err err;

	assert_int_equal(scribe_reader_open(path, &r, &err), 0);
	scribe_reader_free(r);
}

static bool starts_with(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* What is in its user's folder of the spool. */
static unsigned spooled(char *ret_log, size_t cap)
{
	char folder[32];

	snprintf(folder, sizeof(folder), "spool/%u", job->config.uid);
	return files(folder, ret_log, cap);
}

/* The spool moves what it holds. */
static void move(void)
{
	char log[1024] = "";

	for (int i = 0; i < 60000 && spooled(log, sizeof(log)); i++) {
		scribe_spool_tick(no_kernel.spool);
		usleep(1000);
	}
}

static void the_place_is_made(void **state)
{
	char log[1024] = "";

	(void)state;
	deliver();
	assert_string_equal(job->log[0].text, "");
	assert_int_equal(files("place", log, sizeof(log)), 1);
	assert_string_equal(job->log[0].path, log);
	is_a_log(log);
	assert_int_equal(access(base, F_OK), 0);
	assert_int_equal(spooled(log, sizeof(log)), 0);
}

/* Mode of the directory `up` levels above a log. */
static unsigned mode_above(const char *log, int up)
{
	char path[SCRIBE_PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s", log);
	while (up--)
		*strrchr(path, '/') = 0;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, getuid());
	return st.st_mode & 07777;
}

static void make_dir(const char *name, mode_t mode, char *ret_path, size_t cap)
{
	snprintf(ret_path, cap, "%s/%s", base, name);
	assert_int_equal(mkdir(ret_path, 0700), 0);
	assert_int_equal(chmod(ret_path, mode), 0);
}

/* Directories of the date are the daemon's; only the day's is for everybody, and sticky. */
static void days_are_shared(void **state)
{
	char path[96], log[1024] = "";

	(void)state;
	job->config.dated = true;
	make_dir("place", 0755, path, sizeof(path));
	deliver();
	assert_string_equal(job->log[0].text, "");
	assert_int_equal(files("place", log, sizeof(log)), 1); /* the year */
	is_a_log(job->log[0].path);
	assert_int_equal(mode_above(job->log[0].path, 1), 01777);
	for (int up = 2; up <= 4; up++)
		assert_int_equal(mode_above(job->log[0].path, up), 0755);
}

/* A place that others may change, and one of the user's own, are left to the user's helper. */
static void days_of_others(void **state)
{
	char path[96];

	(void)state;
	job->config.dated = true;
	make_dir("place", 0777, path, sizeof(path));
	deliver();
	is_a_log(job->log[0].path);
	assert_int_equal(mode_above(job->log[0].path, 1), 0755);
	assert_int_equal(scribe_log_path_shared(job, job->log[0].path), strlen(path));
	job->config.own_place = true;
	assert_int_equal(scribe_log_path_shared(job, job->log[0].path), 0);
}

/* A link that stands where a directory of the date belongs is not followed. */
static void days_are_no_links(void **state)
{
	char path[96], victim[96], log[192];
	int rc = 0;

	(void)state;
	make_dir("place", 0755, path, sizeof(path));
	make_dir("victim", 0755, victim, sizeof(victim));
	snprintf(log, sizeof(log), "%s/2026", path);
	assert_int_equal(symlink(victim, log), 0);
	snprintf(log, sizeof(log), "%s/2026/1/2/x.darshan", path);
	assert_int_equal(scribe_helper_days(&job->helper, log, strlen(path), 60000), 0);
	for (int i = 0; i < 60000 && !scribe_helper_answered(&job->helper, &rc); i++)
		usleep(1000);
	assert_true(rc == -ELOOP || rc == -ENOTDIR);
	assert_int_equal(files("victim", log, sizeof(log)), 0);
}

/* What waits in the spool gets its directories too. */
static void days_from_the_spool(void **state)
{
	char path[96], log[1024] = "";

	(void)state;
	job->config.dated = true;
	snprintf(path, sizeof(path), "%s/place", base);
	fclose(fopen(path, "w"));
	deliver();
	assert_int_equal(spooled(log, sizeof(log)), 2);
	assert_int_equal(unlink(path), 0);
	make_dir("place", 0755, path, sizeof(path));
	move();
	assert_int_equal(files("place", log, sizeof(log)), 1); /* the year */
}

/* A directory of each user's own: made for the user alone. */
static void own_directories(void **state)
{
	char path[96], log[1024] = "";

	(void)state;
	strcpy(job->config.user, "ann");
	snprintf(job->config.log_dir, sizeof(job->config.log_dir), "%s/%%u/logs", base);
	snprintf(path, sizeof(path), "%s/ann", base);
	deliver();
	assert_string_equal(job->log[0].text, "");
	assert_true(starts_with(job->log[0].path, path));
	assert_int_equal(scribe_log_path_own(job, job->log[0].path), strlen(path));
	assert_int_equal(mode_above(job->log[0].path, 1), 0755);
	assert_int_equal(mode_above(job->log[0].path, 2), 0700);
	is_a_log(job->log[0].path);
	assert_int_equal(spooled(log, sizeof(log)), 0);
}

/* Somebody else was quicker: the log goes to the spool, not to them. */
static void own_directory_of_another(void **state)
{
	char path[96], log[1024] = "";

	(void)state;
	if (getuid() != 0)
		return; /* only root can make another's */
	strcpy(job->config.user, "ann");
	snprintf(job->config.log_dir, sizeof(job->config.log_dir), "%s/%%u", base);
	make_dir("ann", 0777, path, sizeof(path));
	assert_int_equal(chown(path, 65534, 65534), 0);
	deliver();
	assert_int_equal(files("ann", log, sizeof(log)), 0);
	assert_int_equal(spooled(log, sizeof(log)), 2);
	assert_int_equal(chown(path, 0, 0), 0);
	move();
	assert_int_equal(files("ann", log, sizeof(log)), 1);
	is_a_log(log);
}

static void missing_then_there(void **state)
{
	char path[96], log[1024] = "";

	(void)state;
	snprintf(path, sizeof(path), "%s/place", base);
	fclose(fopen(path, "w")); /* a file stands where the directory shall be */
	deliver();
	assert_string_equal(job->log[0].text, "");
	assert_int_equal(spooled(log, sizeof(log)), 2); /* the log and its note */
	assert_string_equal(job->log[0].path, log);
	is_a_log(log);
	assert_int_equal(unlink(path), 0);
	move();
	assert_int_equal(spooled(log, sizeof(log)), 0);
	assert_int_equal(files("place", log, sizeof(log)), 1);
	is_a_log(log);
}

static void hung_then_alive(void **state)
{
	pid_t helper = job->helper.pid;
	char log[1024] = "";

	(void)state;
	job->config.write_deadline_ms = 200;
	assert_int_equal(kill(helper, SIGSTOP), 0);
	deliver();
	assert_string_equal(job->log[0].text, "");
	assert_int_equal(spooled(log, sizeof(log)), 2);
	is_a_log(log);
	/* it wakes, and puts the log to its place after all: there is still only one */
	assert_int_equal(kill(helper, SIGCONT), 0);
	for (int i = 0; i < 60000 && !files("place", log, sizeof(log)); i++)
		usleep(1000);
	move();
	assert_int_equal(spooled(log, sizeof(log)), 0);
	for (int i = 0; i < 60000 && files("place", log, sizeof(log)) != 1; i++)
		usleep(1000);
	assert_int_equal(files("place", log, sizeof(log)), 1);
	is_a_log(log);
}

static void killed_hand(void **state)
{
	char log[1024] = "";

	(void)state;
	assert_int_equal(kill(job->helper.pid, SIGKILL), 0);
	deliver();
	assert_string_equal(job->log[0].text, "");
	assert_int_equal(spooled(log, sizeof(log)), 0); /* another helper has put it there */
	assert_int_equal(files("place", log, sizeof(log)), 1);
	is_a_log(log);
}

static void links_lead_nowhere(void **state)
{
	char victim[96], path[512], log[1024] = "", text[8] = "";
	FILE *f;

	(void)state;
	snprintf(victim, sizeof(victim), "%s/victim", base);
	f = fopen(victim, "w");
	fputs("mine", f);
	fclose(f);
	snprintf(job->config.log_file, sizeof(job->config.log_file), "%s/x.darshan", base);
	snprintf(path, sizeof(path), "%s/x.darshan_partial", base);
	assert_int_equal(symlink(victim, path), 0);
	snprintf(path, sizeof(path), "%s/x.darshan", base);
	assert_int_equal(link(victim, path), 0);
	deliver();
	assert_string_equal(job->log[0].text, "");
	assert_string_equal(job->log[0].path, path);
	is_a_log(path);
	f = fopen(victim, "r");
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	assert_string_equal(text, "mine");
	assert_int_equal(spooled(log, sizeof(log)), 0);
}

/* The daemon before has written it, or a helper of that one, after it had noted where. */
static void claimed_and_there(void **state)
{
	char log[1024] = "", path[128];
	struct stat st;
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/place", base);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/place/x.darshan", base);
	f = fopen(path, "w");
	fputs("as it was", f);
	fclose(f);
	job->worlds.rest->claimed = strdup(path);
	deliver();
	assert_string_equal(job->log[0].text, "");
	assert_string_equal(job->log[0].path, path);
	assert_int_equal(files("place", log, sizeof(log)), 1);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, strlen("as it was"));
	assert_int_equal(spooled(log, sizeof(log)), 0);
}

static void no_place_at_all(void **state)
{
	char path[96];

	(void)state;
	snprintf(path, sizeof(path), "%s/place", base);
	fclose(fopen(path, "w"));
	snprintf(path, sizeof(path), "%s/spool", base);
	fclose(fopen(path, "w"));
	deliver();
	assert_true(starts_with(job->log[0].text, "cannot write "));
	assert_non_null(strstr(job->log[0].text, "Not a directory"));
}

static void the_spool_is_ours_alone(void **state)
{
	struct scribe_spool *s = NULL;
	struct scribe_err err = {0};
	char path[96];

	(void)state;
	snprintf(path, sizeof(path), "%s/open", base);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(scribe_spool_open(path, &s, &err), -EPERM);
	assert_non_null(strstr(err.text, "mode 0700"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_place_at_all, setup, teardown),
		cmocka_unit_test_setup_teardown(claimed_and_there, setup, teardown),
		cmocka_unit_test_setup_teardown(the_spool_is_ours_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(links_lead_nowhere, setup, teardown),
		cmocka_unit_test_setup_teardown(missing_then_there, setup, teardown),
		cmocka_unit_test_setup_teardown(hung_then_alive, setup, teardown),
		cmocka_unit_test_setup_teardown(killed_hand, setup, teardown),
		cmocka_unit_test_setup_teardown(the_place_is_made, setup, teardown),
		cmocka_unit_test_setup_teardown(days_are_shared, setup, teardown),
		cmocka_unit_test_setup_teardown(days_of_others, setup, teardown),
		cmocka_unit_test_setup_teardown(days_are_no_links, setup, teardown),
		cmocka_unit_test_setup_teardown(days_from_the_spool, setup, teardown),
		cmocka_unit_test_setup_teardown(own_directories, setup, teardown),
		cmocka_unit_test_setup_teardown(own_directory_of_another, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
