// SPDX-License-Identifier: BSD-3-Clause
/*
 * `ioscribe doctor --selftest`: runs ioscribe-selftest by `ioscribe run` and compares its logs with what it did. Must
 * not know how tracing works.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/base/selftest_mark.h"
#include "util/cmd/doctor/doctor_parts.h"
#include "util/cmd/selftest/selftest.h"
#include "util/link/installed.h"
#include "util/link/service_link.h"
#include "util/logs/logfile.h"
#include "util/tool/command.h"

static const struct want {
	const char *way, *module, *counter;
	int64_t value;
} wants[] = {
#define SCRIBE_X(way, module, counter, value) {way, module, counter, value},
	SCRIBE_SELFTEST(SCRIBE_X)
#undef SCRIBE_X
};
#define NWANTS (sizeof(wants) / sizeof(wants[0]))

struct selftest {
	char dir[64];
	char program[PATH_MAX], self[PATH_MAX];
	char ways[256];       /* done by the program, each with a space before and behind it */
	int64_t have[NWANTS]; /* sums over records */
	unsigned logs;
};

/* One run. Lines that are no way's are the program's or those of `ioscribe run`. */
static void run(struct selftest *t, const char *what)
{
	char command[3 * PATH_MAX], line[512];
	FILE *f;

	snprintf(command, sizeof(command),
		 "'%s' run -q --require-trace --include '%s/' --log '%s/%s.darshan' -- '%s' '%s' %s 2>&1", t->self,
		 t->dir, t->dir, *what ? what : "calls", t->program, t->dir, what);
	f = popen(command, "re");
	while (f && fgets(line, sizeof(line), f)) {
		size_t used = strlen(t->ways);

		line[strcspn(line, "\n")] = 0;
		/* Where the service requires this test, root has a daemon of its own until it has passed. */
		if (!strncmp(line, "no ", 3) || strstr(line, "; a daemon of its own is started"))
			scribe_doctor_line(SCRIBE_DOCTOR_NOTE, "selftest", "%s", line);
		else if (strchr(line, ' '))
			scribe_doctor_line(SCRIBE_DOCTOR_FIX, "selftest", "%s", line);
		else
			snprintf(t->ways + used, sizeof(t->ways) - used, " %s ", line);
	}
	if (!f || pclose(f))
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "selftest", "the program was not run, or failed");
}

static int counter_by_name(const struct scribe_module *m, const char *name)
{
	for (int i = 0; i < m->ncounters; i++)
		if (!strcmp(m->counters[i].name, name))
			return i;
	return -1;
}

static void add_record(struct selftest *t, const struct scribe_module *m, const void *rec, const char *name)
{
	const size_t n = strlen(t->dir);

	if (!name || strncmp(name, t->dir, n) || name[n] != '/')
		return;
	for (size_t i = 0; i < NWANTS; i++) {
		const int at = !strcmp(wants[i].module, m->name) && !strcmp(wants[i].way, name + n + 1)
				       ? counter_by_name(m, wants[i].counter)
				       : -1;

		if (at >= 0)
			t->have[i] += scribe_record_counters(m, rec)[at];
	}
}

static void check_ledger(const struct scribe_module *m, const void *rec)
{
	for (int i = 0; i < m->ncounters; i++)
		if (scribe_ledger_meaning(i) >= SCRIBE_IS_LOSS && scribe_record_counters(m, rec)[i] > 0)
			scribe_doctor_line(SCRIBE_DOCTOR_FIX, "selftest", "the log is NOT complete: %s: %s",
					   m->counters[i].name, m->counters[i].text);
}

static int read_module(struct selftest *t, struct scribe_log *log, const struct scribe_module *m)
{
	const void *rec;
	size_t bytes;
	int rc;

	while ((rc = scribe_reader_borrow_record(log->reader, m->id, &rec, &bytes)) > 0) {
		const struct scribe_base_record *base = rec;

		if (m->id == SCRIBE_MOD_LEDGER)
			check_ledger(m, rec);
		else
			add_record(t, m, rec, scribe_names_find(log->names, base->id, NULL));
	}
	return rc;
}

static void read_log(struct selftest *t, const char *path)
{
	static const char *const modules[] = {"POSIX", "STDIO", "MPI-IO", "LEDGER"};
	struct scribe_err err = {0};
	struct scribe_log log;
	int rc = scribe_log_open(&log, path, SCRIBE_LOG_NAMES, &err);

	t->logs++;
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]) && rc >= 0; i++) {
		rc = read_module(t, &log, scribe_module_by_name(modules[i]));
		if (rc < 0)
			err = *scribe_reader_error(log.reader);
	}
	if (rc < 0)
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "selftest", "%s", err.text);
	scribe_log_close(&log);
}

/* Reads the logs, then removes the directory with all that is in it. */
static void read_logs(struct selftest *t)
{
	DIR *dir = opendir(t->dir);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		const size_t n = strlen(e->d_name);
		char path[sizeof(t->dir) + NAME_MAX + 2];

		snprintf(path, sizeof(path), "%s/%s", t->dir, e->d_name);
		if (n > 8 && !strcmp(e->d_name + n - 8, ".darshan"))
			read_log(t, path);
		if (e->d_name[0] != '.')
			unlink(path);
	}
	if (dir)
		closedir(dir);
	rmdir(t->dir);
}

static void compare(const struct selftest *t)
{
	for (size_t i = 0; i < NWANTS;) {
		const size_t first = i;
		char done[32];
		int right = 0;

		snprintf(done, sizeof(done), " %s ", wants[i].way);
		for (; i < NWANTS && !strcmp(wants[i].way, wants[first].way); i++) {
			if (!strstr(t->ways, done))
				continue;
			right += t->have[i] == wants[i].value;
			if (t->have[i] != wants[i].value)
				scribe_doctor_line(SCRIBE_DOCTOR_FIX, "selftest", "%s: %s is %lld, not %lld",
						   wants[i].way, wants[i].counter, (long long)t->have[i],
						   (long long)wants[i].value);
		}
		if (right == (int)(i - first))
			scribe_doctor_line(SCRIBE_DOCTOR_OK, "selftest", "%s: %d counters are right", wants[first].way,
					   right);
	}
}

/* For `require_selftest`. */
static void mark(void)
{
	const char *dir = scribe_job_dir();
	int rc;

	if (geteuid() != 0 || access(dir, F_OK) < 0)
		return;
	rc = scribe_selftest_mark(dir);
	if (rc < 0)
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "selftest", "%s/selftest: %s", dir, strerror(-rc));
}

int scribe_doctor_selftest(void)
{
	static const char *const programs[] = {SCRIBE_LIBEXEC_FROM_BIN "/ioscribe-selftest", "ioscribe-selftest", NULL};
	static const char *const own[] = {"ioscribe", NULL};
	static struct selftest t = {.dir = "/tmp/ioscribe-selftest.XXXXXX"};

	if (scribe_installed_find(programs, t.program, sizeof(t.program)) < 0 ||
	    scribe_installed_find(own, t.self, sizeof(t.self)) < 0 || strchr(t.program, '\'') || strchr(t.self, '\'')) {
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "selftest", "ioscribe-selftest is not installed beside ioscribe");
		return SCRIBE_EXIT_FAILED;
	}
	if (!mkdtemp(t.dir)) {
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "selftest", "%s: %s", t.dir, strerror(errno));
		return SCRIBE_EXIT_FAILED;
	}
	/* Under sudo `ioscribe run` would start the program as the user, without a right to the directory. */
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	unsetenv("SUDO_USER");
	run(&t, "");
	run(&t, "mpi");
	read_logs(&t);
	if (!t.logs)
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "selftest", "there is no log");
	compare(&t);
	if (!scribe_doctor_lines_to_fix)
		mark();
	return scribe_doctor_lines_to_fix ? SCRIBE_EXIT_FAILED : SCRIBE_EXIT_OK;
}
