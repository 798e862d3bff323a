/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paths of logs, as Darshan makes them: DIR[/YYYY/M/D]/user_exe_idJOB-PID_M-D-SECS-HASH_DURATION.darshan, or the
 * name set by the user with .2, .3 ... before its ending for further logs. Helpers do all access.
 */
#include "runtime/daemon/output/log_path.h"

#include "logfmt/nodes/part.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "logfmt/base/hash.h"
#include "runtime/daemon/lookup/job_helper.h"
#include "runtime/daemon/state/daemon.h"
#include "runtime/daemon/state/job_nodes.h"

#define ENDING    "darshan"
#define PARTIAL   "darshan_partial"
#define ANSWER_MS 2000 /* for directories that ranks wait for */

struct scribe_process *scribe_log_path_leader(struct scribe_job *job, const struct scribe_log_unit *u)
{
	struct scribe_process *best = NULL;

	if (!u->id)
		return scribe_worlds_find(&job->worlds, job->client.first_proc_id);
	for (struct scribe_process *p = u->first; p; p = p->next)
		if (p->is_root && (!best || p->rank->rank < best->rank->rank))
			best = p;
	return best;
}

/* A word for a file name: no slash, space or control character. */
static void word(const char *from, char *to, size_t cap)
{
	size_t n = 0;

	for (; *from && *from != ' ' && n < cap - 1; from++)
		to[n++] = *from > ' ' && *from != '/' && *from != 0x7f ? *from : '_';
	to[n] = 0;
	if (!n)
		snprintf(to, cap, "unknown");
}

static void program_word(const struct scribe_process *leader, char *to, size_t cap)
{
	char first[1024];
	const char *slash;
	size_t n;

	first[0] = 0;
	if (leader && leader->args && leader->args[0]) {
		n = strcspn(leader->args, " ");
		snprintf(first, sizeof(first), "%.*s", (int)(n < 1000 ? n : 1000), leader->args);
	} else if (leader && leader->exe) {
		snprintf(first, sizeof(first), "%.1000s", leader->exe);
	}
	slash = strrchr(first, '/');
	word(slash && slash[1] ? slash + 1 : first, to, cap);
}

static int asked_name(const struct scribe_job *job, uint32_t number, char *ret, size_t cap)
{
	const char *file = job->config.log_file, *slash = strrchr(file, '/');
	const char *dot = strrchr(slash ? slash : file, '.');
	int n;

	if (!dot || dot == slash + 1)
		dot = file + strlen(file);
	if (number < 2)
		n = snprintf(ret, cap, "%s", file);
	else
		n = snprintf(ret, cap, "%.*s.%u%s", (int)(dot - file), file, number, dot);
	return n < (int)cap ? 0 : -ENAMETOOLONG;
}

static void user_word(const struct scribe_job *job, char *to, size_t cap)
{
	if (job->config.user[0])
		word(job->config.user, to, cap);
	else
		snprintf(to, cap, "%u", job->config.uid);
	if (!strcmp(to, ".") || !strcmp(to, ".."))
		to[0] = '_';
}

static int log_dir(const struct scribe_job *job, char *ret, size_t cap)
{
	const char *from = job->config.log_dir;
	char user[64];
	size_t n = 0;

	user_word(job, user, sizeof(user));
	while (*from) {
		bool is_user = !strncmp(from, "%u", 2);
		size_t bytes = is_user ? strlen(user) : 1;

		if (n + bytes >= cap)
			return -ENAMETOOLONG;
		memcpy(ret + n, is_user ? user : from, bytes);
		n += bytes;
		from += is_user ? 2 : 1;
	}
	ret[n] = 0;
	return 0;
}

int scribe_log_path_stem(const struct scribe_job *job, char *ret_path, size_t cap)
{
	char dir[SCRIBE_PATH_MAX], user[64], id[160];
	int n;

	/* Equal on all nodes, hence without time and process id. */
	user_word(job, user, sizeof(user));
	word(job->spec.id, id, sizeof(id));
	if (job->config.log_file[0])
		n = snprintf(ret_path, cap, "%s", job->config.log_file);
	else if (log_dir(job, dir, sizeof(dir)) < 0)
		return -ENAMETOOLONG;
	else
		n = snprintf(ret_path, cap, "%s/%s%s_id%s", dir, job->config.dated ? SCRIBE_PARTS_ALL "/" : "", user,
			     id);
	return n < (int)cap ? 0 : -ENAMETOOLONG;
}

size_t scribe_log_path_shared(const struct scribe_job *job, const char *path)
{
	const struct scribe_config *c = &job->config;
	size_t n = strlen(c->log_dir);

	if (!c->dated || c->own_place || c->log_file[0] || strstr(c->log_dir, "%u"))
		return 0;
	return strncmp(path, c->log_dir, n) || path[n] != '/' ? 0 : n;
}

size_t scribe_log_path_own(const struct scribe_job *job, const char *path)
{
	const char *at = job->config.log_file[0] ? NULL : strstr(job->config.log_dir, "%u"), *end;

	if (!at || strlen(path) < (size_t)(at - job->config.log_dir))
		return 0;
	end = strchr(path + (at - job->config.log_dir), '/');
	return end ? (size_t)(end - path) : 0;
}

static int made_name(const struct scribe_job *job, const struct scribe_log_unit *u, char *ret, size_t cap)
{
	struct scribe_process *leader = scribe_log_path_leader((struct scribe_job *)(uintptr_t)job, u);
	uint64_t start = u->start_ns ? u->start_ns : scribe_now_ns();
	time_t seconds = (time_t)((int64_t)(start + (uint64_t)job->realtime_ns) / 1000000000);
	char exe[128], user[64], days[32] = "", dir[SCRIBE_PATH_MAX];
	int64_t pid = leader ? leader->tgid : 0, jobid = u->jobid;
	/* The salt makes the hash unique; Darshan has a random number in its place. */
	struct {
		char host[64];
		uint64_t ns;
		uint32_t unit;
		uint32_t number;
	} salt = {"", scribe_now_ns(), u->id, job->nlogs};
	struct tm tm;
	int n;

	localtime_r(&seconds, &tm);
	program_word(leader, exe, sizeof(exe));
	user_word(job, user, sizeof(user));
	if (log_dir(job, dir, sizeof(dir)) < 0)
		return -ENAMETOOLONG;
	if (jobid < 0 || job->config.job_number[0])
		jobid = job->log_job_id;
	if (job->config.dated)
		snprintf(days, sizeof(days), "/%d/%d/%d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
	memcpy(salt.host, job->host, sizeof(salt.host));
	n = snprintf(ret, cap, "%s%s/%s_%s_id%lld-%lld_%d-%d-%d-%llu." PARTIAL, dir, days, user, exe, (long long)jobid,
		     (long long)pid, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec,
		     (unsigned long long)scribe_hash64(&salt, sizeof(salt), 0));
	return n < (int)cap ? 0 : -ENAMETOOLONG;
}

int scribe_log_path_partial(struct scribe_job *job, const struct scribe_log_unit *u, char *ret_path, size_t cap,
			    struct scribe_err *err)
{
	/* Used up even if the log is not delivered. */
	uint32_t number = ++job->nlogs;
	size_t n;
	int rc;

	if (!job->config.log_file[0]) {
		rc = made_name(job, u, ret_path, cap);
	} else {
		rc = asked_name(job, number, ret_path, cap);
		n = strlen(ret_path);
		if (rc == 0 && n + sizeof("." PARTIAL) > cap)
			rc = -ENAMETOOLONG;
		/* x.darshan -> x.darshan_partial; otherwise the ending is appended. */
		if (rc == 0 && n > 8 && !strcmp(ret_path + n - 8, "." ENDING))
			strcpy(ret_path + n - 8, "." PARTIAL);
		else if (rc == 0)
			strcpy(ret_path + n, "." PARTIAL);
	}
	return rc < 0 ? scribe_err_set(err, rc, "the log's path is too long") : 0;
}

/* -EAGAIN: the request is under way. */
static int ask(struct scribe_job *job, struct scribe_preparing *at, bool days, bool remove, struct scribe_err *err)
{
	int rc = days ? scribe_helper_start(&at->helper, geteuid(), getegid(), "", err)
		      : scribe_job_start_writer(job, &at->helper, err);

	if (rc < 0)
		return rc;
	at->stage = days ? SCRIBE_PREPARE_DAYS : SCRIBE_PREPARE_OWN;
	rc = days ? scribe_helper_days(&at->helper, at->path, scribe_log_path_shared(job, at->path), ANSWER_MS)
		  : scribe_helper_ready(&at->helper, at->path, (unsigned)scribe_log_path_own(job, at->path), remove,
					ANSWER_MS);
	return rc < 0 ? scribe_err_set(err, rc, "cannot ask for the directories of %s: %s", at->path, strerror(-rc))
		      : -EAGAIN;
}

int scribe_log_path_prepare(struct scribe_job *job, const struct scribe_log_unit *u, struct scribe_preparing *at,
			    struct scribe_err *err)
{
	/* The ranks create their log anew: remove an existing one of the user-set name. */
	bool remove = job->config.log_file[0] && !scribe_node_parts_unit(job, u);
	int rc;

	if (at->stage == SCRIBE_PREPARE)
		return ask(job, at, !remove && job->daemon->spool && scribe_log_path_shared(job, at->path), remove,
			   err);
	if (!scribe_helper_answered(&at->helper, &rc))
		return -EAGAIN;
	scribe_helper_stop(&at->helper);
	/* Ranks must not run into a file system that hangs. */
	if (rc == -ETIMEDOUT)
		return scribe_err_set(err, rc, "cannot make the directories of %s: no answer in time", at->path);
	if (at->stage == SCRIBE_PREPARE_DAYS)
		return ask(job, at, false, remove, err);
	if (rc == 0 || (remove && rc == -ENOENT))
		return 0;
	return scribe_err_set(err, rc, "cannot %s %s: %s", remove ? "remove" : "make the directories of", at->path,
			      strerror(-rc));
}

int scribe_log_path_check(struct scribe_job *job, struct scribe_err *err)
{
	char path[SCRIBE_PATH_MAX], dir[SCRIBE_PATH_MAX] = "";
	int fd, n = log_dir(job, dir, sizeof(dir));

	if (job->config.log_file[0])
		n = snprintf(path, sizeof(path), "%s.ioscribe-%d", job->config.log_file, (int)job->helper.pid);
	else if (n == 0)
		n = snprintf(path, sizeof(path), "%s/.ioscribe-%d", dir, (int)job->helper.pid);
	else
		n = sizeof(path);
	if (n >= (int)sizeof(path))
		return scribe_err_set(err, -ENAMETOOLONG, "the log's path is too long");
	if (!job->config.log_file[0] &&
	    scribe_helper_mkdirs(&job->helper, path, (unsigned)scribe_log_path_own(job, path), err) < 0)
		return err->code;
	fd = scribe_helper_create(&job->helper, path, err);
	if (fd < 0) {
		path[strrchr(path, '/') - path] = 0;
		return scribe_err_set(err, fd, "no log can be written to %s/: %s", path, strerror(-fd));
	}
	close(fd);
	scribe_helper_remove(&job->helper, path, NULL);
	return 0;
}

int scribe_log_path_trial(const struct scribe_job *job, char *ret_partial, char *ret_path, size_t cap,
			  struct scribe_err *err)
{
	char dir[SCRIBE_PATH_MAX] = "", days[48] = "", host[65] = "";
	time_t now = time(NULL);
	struct tm tm;
	int n = log_dir(job, dir, sizeof(dir));

	localtime_r(&now, &tm);
	gethostname(host, sizeof(host) - 1);
	if (job->config.dated)
		snprintf(days, sizeof(days), "/%d/%d/%d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
	if (n == 0)
		n = snprintf(ret_partial, cap, "%s%s/.ioscribe-check-%s-%d", dir, days, host, (int)getpid());
	if (n < 0 || (size_t)n + sizeof(".done") > cap)
		return scribe_err_set(err, -ENAMETOOLONG, "the log's path is too long");
	snprintf(ret_path, cap, "%s.done", ret_partial);
	return 0;
}

int scribe_log_path_fallback(const char *wanted, char *ret_path, size_t cap)
{
	const char *slash = strrchr(wanted, '/');

	return snprintf(ret_path, cap, "/tmp/%s", slash ? slash + 1 : wanted) < (int)cap ? 0 : -ENAMETOOLONG;
}

int scribe_log_path_final(const struct scribe_job *job, const char *partial, uint64_t seconds, char *ret_path,
			  size_t cap)
{
	size_t n = strlen(partial), stem = n - strlen("." PARTIAL);
	int len;

	if (!job->config.log_file[0])
		len = snprintf(ret_path, cap, "%.*s_%llu." ENDING, (int)stem, partial, (unsigned long long)seconds);
	else if (strlen(job->config.log_file) > 8 &&
		 !strcmp(job->config.log_file + strlen(job->config.log_file) - 8, "." ENDING))
		len = snprintf(ret_path, cap, "%.*s." ENDING, (int)stem, partial);
	else
		len = snprintf(ret_path, cap, "%.*s", (int)stem, partial);
	return len < (int)cap ? 0 : -ENAMETOOLONG;
}
