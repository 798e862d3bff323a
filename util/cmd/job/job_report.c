// SPDX-License-Identifier: BSD-3-Clause
/* `ioscribe job report`: finds a job's logs and adds them up. Must not know the daemon. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logfmt/nodes/part.h"
#include "util/cmd/doctor/doctor_parts.h"
#include "util/cmd/job/job_report.h"
#include "util/cmd/summary/summary.h"
#include "util/logs/sum.h"
#include "util/text/human.h"
#include "util/text/print_record.h"
#include "util/tool/command.h"

#define DEPTH       3 /* year, month, day */
#define WITHOUT     7
#define LINE_MOUNTS 8 /* of the line; further ones are added up */
#define H           40

struct mount {
	char path[256], type[32]; /* empty path: of no mount */
	int64_t bytes_read, bytes_written;
	double seconds;
};

struct report {
	const char *id;
	char **log;
	size_t logs, capacity;
	uid_t owner;  /* of the first */
	bool several; /* owners */
	struct mount *mount;
	size_t mounts;
	int64_t operations, processes, failed, bytes_read, bytes_written;
	size_t read, incomplete; /* logs */
	struct scribe_out lines; /* of each log */
};

static int newest_first(const struct dirent **a, const struct dirent **b)
{
	return versionsort(b, a);
}

/* USER_PROGRAM_idID-PID_...: a program's name may contain "_id", too. */
static bool is_of_job(const char *name, const char *id)
{
	const char *at = NULL, *end = strrchr(name, '.');
	size_t n = strlen(id);

	for (const char *p = name; (p = strstr(p, "_id")); p++)
		at = p + 3;
	return at && !strncmp(at, id, n) && at[n] == '-' && end && !strcmp(end, ".darshan");
}

static bool is_dir(const char *path, const struct dirent *e)
{
	struct stat st;

	return e->d_type == DT_DIR || (e->d_type == DT_UNKNOWN && lstat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* Parts of jobs on several nodes are no logs yet. */
static bool may_have_logs(const char *dir)
{
	const char *dot = strrchr(dir, '.');

	return dir[0] != '.' && strcmp(dir, SCRIBE_PARTS_ALL) != 0 && !(dot && !strcmp(dot, SCRIBE_PARTS_ENDING));
}

/* In a shared directory others can write files with such names, too. */
static int add_log(struct report *r, const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode) || (geteuid() && st.st_uid != geteuid()))
		return 0;
	r->several = r->several || (r->logs && st.st_uid != r->owner);
	r->owner = st.st_uid;
	if (r->logs == r->capacity) {
		size_t capacity = r->capacity * 2 + 16;
		char **more = realloc(r->log, capacity * sizeof(*more));

		if (!more)
			return -ENOMEM;
		r->log = more;
		r->capacity = capacity;
	}
	r->log[r->logs] = strdup(path);
	return r->log[r->logs++] ? 0 : -ENOMEM;
}

/* Newest days first. Of a job that was found, seven directories without a log of it end the search. */
static int search(struct report *r, const char *dir, int depth, struct scribe_err *err)
{
	struct dirent **entry;
	int n = scandir(dir, &entry, NULL, newest_first), rc = 0;
	unsigned without = 0;

	if (n < 0)
		return depth || errno == EACCES ? 0 : scribe_err_set(err, -errno, "%s: %s", dir, strerror(errno));
	for (int i = 0; i < n; i++) {
		const char *name = entry[i]->d_name;
		size_t before = r->logs;
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%.3000s/%.255s", dir, name);
		if (rc == 0 && is_of_job(name, r->id))
			rc = add_log(r, path);
		else if (rc == 0 && depth < DEPTH && without < WITHOUT && may_have_logs(name) &&
			 is_dir(path, entry[i])) {
			rc = search(r, path, depth + 1, err);
			without = r->logs != before ? 0 : without + (before != 0);
		}
		free(entry[i]);
	}
	free(entry);
	return rc == -ENOMEM ? scribe_err_set(err, rc, "out of memory") : rc;
}

static struct mount *mount_of(struct report *r, const struct scribe_mount *m)
{
	const char *path = m ? m->path : "";
	struct mount *more;

	for (size_t i = 0; i < r->mounts; i++)
		if (!strncmp(r->mount[i].path, path, sizeof(r->mount[i].path) - 1))
			return &r->mount[i];
	more = realloc(r->mount, (r->mounts + 1) * sizeof(*more));
	if (!more)
		return NULL;
	r->mount = more;
	more += r->mounts++;
	*more = (struct mount){0};
	snprintf(more->path, sizeof(more->path), "%s", path);
	snprintf(more->type, sizeof(more->type), "%s", m ? m->type : "");
	return more;
}

static int add_files(struct report *r, const struct scribe_summary *s)
{
	for (size_t i = 0; i < s->facts.nfiles; i++) {
		const double *v = s->facts.file[i]->v;
		const double written = v[SCRIBE_FACT_stream_bytes] - v[SCRIBE_FACT_stream_bytes_read];
		const double in = v[SCRIBE_FACT_bytes_read] + v[SCRIBE_FACT_stream_bytes_read];
		size_t len = 0, at = s->log.nmounts;
		const char *name = scribe_names_find(s->log.names, s->facts.file[i]->id, &len);
		struct mount *m;

		if (name)
			at = scribe_mount_index(s->log.mounts, s->log.nmounts, name);
		m = mount_of(r, at < s->log.nmounts ? &s->log.mounts[at] : NULL);
		if (!m)
			return -ENOMEM;
		m->bytes_read = scribe_sum(m->bytes_read, scribe_whole(in));
		m->bytes_written = scribe_sum(m->bytes_written, scribe_whole(v[SCRIBE_FACT_bytes_written] + written));
		m->seconds += scribe_file_seconds(v);
	}
	return 0;
}

static void put_log(struct report *r, const char *path, const struct scribe_summary *s)
{
	const int64_t failed = scribe_sum(s->ended_badly, s->signalled);
	char name[2 * PATH_MAX], exe[256], a[H], b[H], text[1024];

	scribe_out_printf(&r->lines, "\nlog        %s\n", scribe_human_text(path, name, sizeof(name)));
	snprintf(text, sizeof(text), "%.200s: %s process%s, %.3f s",
		 scribe_human_text(scribe_reader_exe(s->log.reader), exe, sizeof(exe)),
		 scribe_human_count(s->processes, a, H), s->processes == 1 ? "" : "es",
		 scribe_reader_runtime(s->log.reader));
	if (failed)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "; %s did not end with 0",
			 scribe_human_count(failed, b, H));
	scribe_out_wrapped(&r->lines, "program    ", text);
	scribe_summary_print_findings(s, 3, &r->lines);
	scribe_summary_print_ledger_line(s, &r->lines);
}

static int add(struct report *r, const char *path, struct scribe_err *err)
{
	static struct scribe_summary s;
	int rc = scribe_summary_read(&s, path, err);

	if (rc >= 0 && add_files(r, &s) < 0)
		rc = scribe_err_set(err, -ENOMEM, "out of memory");
	if (rc >= 0) {
		r->read++;
		r->incomplete += !scribe_summary_complete(&s);
		r->operations = scribe_sum(r->operations, s.operations);
		r->processes = scribe_sum(r->processes, s.processes);
		r->failed = scribe_sum(r->failed, scribe_sum(s.ended_badly, s.signalled));
		put_log(r, path, &s);
	}
	scribe_summary_free(&s);
	return rc;
}

static int by_bytes(const void *a, const void *b)
{
	const struct mount *x = a, *y = b;
	const int64_t m = scribe_sum(x->bytes_read, x->bytes_written), n = scribe_sum(y->bytes_read, y->bytes_written);

	return m != n ? (m < n) - (m > n) : strcmp(x->path, y->path);
}

/* For a database: no blank or character that could end a word, whatever a mount is called. */
static void put_line(const struct report *r)
{
	int64_t in = 0, out = 0;

	printf("ioscribe log=%s logs=%zu processes=%lld failed=%lld operations=%lld read=%lld written=%lld",
	       r->incomplete ? "incomplete" : "complete", r->read, (long long)r->processes, (long long)r->failed,
	       (long long)r->operations, (long long)r->bytes_read, (long long)r->bytes_written);
	for (size_t i = 0; i < r->mounts; i++) {
		const struct mount *m = &r->mount[i];

		if (i >= LINE_MOUNTS || !m->path[0]) {
			in = scribe_sum(in, m->bytes_read);
			out = scribe_sum(out, m->bytes_written);
			continue;
		}
		putchar(' ');
		for (const char *p = m->path; *p; p++)
			putchar((*p >= '0' && *p <= '9') || (*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z') ||
						strchr("/._+-", *p)
					? *p
					: '_');
		printf("=%lld:%lld", (long long)m->bytes_read, (long long)m->bytes_written);
	}
	if (in || out)
		printf(" other=%lld:%lld", (long long)in, (long long)out);
	putchar('\n');
}

static int put_all(struct report *r, struct scribe_err *err)
{
	char a[H], b[H], c[H], path[1024], text[2048];
	struct scribe_out out = {0};
	int rc = scribe_out_open(&out, STDOUT_FILENO, err);

	if (rc < 0)
		return rc;
	snprintf(text, sizeof(text), "%s: %zu log%s, %s", scribe_human_text(r->id, path, sizeof(path)), r->read,
		 r->read == 1 ? "" : "s", r->incomplete ? "NOT complete" : "complete");
	scribe_out_wrapped(&out, "job        ", text);
	snprintf(text, sizeof(text), "%s read, %s written, %s operations", scribe_human_bytes(r->bytes_read, a, H),
		 scribe_human_bytes(r->bytes_written, b, H), scribe_human_count(r->operations, c, H));
	scribe_out_wrapped(&out, "moved      ", text);
	snprintf(text, sizeof(text), "%s, %s did not end with 0", scribe_human_count(r->processes, a, H),
		 r->failed ? scribe_human_count(r->failed, b, H) : "none");
	scribe_out_wrapped(&out, "processes  ", text);
	for (size_t i = 0; i < r->mounts; i++) {
		const struct mount *m = &r->mount[i];

		snprintf(text, sizeof(text), "%s%s%s%s: %s read, %s written, %.3f s",
			 m->path[0] ? scribe_human_text(m->path, path, sizeof(path)) : "of no mount",
			 m->type[0] ? " (" : "", m->type, m->type[0] ? ")" : "",
			 scribe_human_bytes(m->bytes_read, a, H), scribe_human_bytes(m->bytes_written, b, H),
			 m->seconds);
		scribe_out_wrapped(&out, i ? "           " : "mounts     ", text);
	}
	scribe_out_bytes(&out, r->lines.buf, r->lines.len);
	rc = scribe_out_flush(&out, err);
	scribe_out_close(&out);
	return rc;
}

static int print(struct report *r, bool line, struct scribe_err *err)
{
	qsort(r->mount, r->mounts, sizeof(*r->mount), by_bytes);
	for (size_t i = 0; i < r->mounts; i++) {
		r->bytes_read = scribe_sum(r->bytes_read, r->mount[i].bytes_read);
		r->bytes_written = scribe_sum(r->bytes_written, r->mount[i].bytes_written);
	}
	if (!line)
		return put_all(r, err);
	put_line(r);
	return fflush(stdout) ? scribe_err_set(err, -errno, "standard output: %s", strerror(errno)) : 0;
}

/* `dir` may contain %u: then all users' directories are searched. */
static int find(struct report *r, const char *dir, struct scribe_err *err)
{
	char base[PATH_MAX];
	const char *user = strstr(dir, "%u");
	int n = user ? (int)(user - dir) : (int)strlen(dir), rc;

	while (n > 1 && dir[n - 1] == '/')
		n--;
	snprintf(base, sizeof(base), "%.*s", n, dir);
	rc = search(r, base, 0, err);
	return rc;
}

int scribe_job_report(const char *self, const char *id, const char *log_dir, bool line)
{
	char dir[PATH_MAX], number[32];
	struct report r = {.id = number};
	struct scribe_err err = {0};
	int rc, bad = 0;

	/* as names of logs have it: of "12_3" and "12.host" 12 */
	snprintf(number, sizeof(number), "%.*s", (int)strspn(id, "0123456789"), id);
	if (!number[0]) {
		scribe_complain(self, "%s is no number of a job", id);
		return SCRIBE_EXIT_USAGE;
	}
	if (log_dir)
		snprintf(dir, sizeof(dir), "%s", log_dir);
	else
		scribe_site_log_dir(dir, sizeof(dir));
	rc = find(&r, dir, &err);
	if (rc >= 0 && !r.logs && line) {
		puts("ioscribe log=none");
		fflush(stdout);
	}
	if (rc >= 0 && !r.logs)
		rc = scribe_err_set(&err, -ENOENT, "no log of job %.60s in %.200s", id, dir);
	if (rc >= 0 && r.several)
		rc = scribe_err_set(&err, -EPERM, "logs of job %.60s in %.200s have several owners: ask as one of them",
				    id, dir);
	if (rc >= 0)
		rc = scribe_out_open_memory(&r.lines, &err);
	for (size_t i = 0; i < r.logs && rc >= 0; i++) {
		struct scribe_err one = {0};

		if (add(&r, r.log[i], &one) < 0) {
			scribe_complain_err(self, &one);
			r.incomplete++;
			bad++;
		}
	}
	if (rc >= 0)
		rc = print(&r, line, &err);
	if (rc < 0)
		scribe_complain_err(self, &err);
	for (size_t i = 0; i < r.logs; i++)
		free(r.log[i]);
	free(r.log);
	free(r.mount);
	scribe_out_close(&r.lines);
	return rc < 0 || bad ? SCRIBE_EXIT_FAILED : SCRIBE_EXIT_OK;
}
