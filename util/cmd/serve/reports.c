// SPDX-License-Identifier: BSD-3-Clause
/*
 * Finds logs by the job's id in their names, as Darshan names them, and has pages of them made by ioscribe-report: a
 * damaged log cannot harm the server. Must not know HTTP.
 */
#include "util/cmd/serve/reports.h"

#include <errno.h>
#include <fts.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "logfmt/base/keyed.h"
#include "util/store/store.h"
#include "util/tool/libexec.h"

void scribe_reports_key(const char *job, int64_t uid, char ret_key[17])
{
	char text[96];
	const int n = snprintf(text, sizeof(text), "report %" PRId64 " %.40s", uid, job);

	snprintf(ret_key, 17, "%016" PRIx64, scribe_keyed(text, (size_t)n));
}

/* USER_EXE_idJOB-PID_..., or the name of a job over nodes, which ends after JOB. */
static bool is_log_of(const FTSENT *e, const char *id)
{
	static const char ending[] = ".darshan";
	const size_t cut = sizeof(ending) - 1, len = strlen(id);

	if (e->fts_info != FTS_F || e->fts_namelen <= cut || strcmp(e->fts_name + e->fts_namelen - cut, ending))
		return false;
	for (const char *at = e->fts_name; (at = strstr(at, id)); at++)
		if (at[len] == '-' || at[len] == '_' || at[len] == '.')
			return true;
	return false;
}

int scribe_reports_find(const struct scribe_serve *serve, const struct scribe_serve_request *r, const char *job,
			char ret_path[PATH_MAX], struct scribe_err *err)
{
	char *roots[] = {(char *)serve->logs, NULL}, id[64];
	FTS *fts = serve->logs ? fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL) : NULL;
	time_t latest = 0;
	int rc = 0;
	FTSENT *e;

	*ret_path = 0;
	snprintf(id, sizeof(id), "_id%.40s", job);
	while (fts && rc == 0 && (e = fts_read(fts))) {
		if (scribe_msg_now_ms() >= r->limit.end_ms) {
			rc = scribe_err_set(err, -ETIMEDOUT, "%s: more than can be looked through in %d s", serve->logs,
					    SCRIBE_SERVE_SECONDS);
		} else if (is_log_of(e, id) && (r->uid == SCRIBE_SERVE_ALL || e->fts_statp->st_uid == r->uid) &&
			   strlen(e->fts_path) < PATH_MAX && e->fts_statp->st_mtime >= latest) {
			latest = e->fts_statp->st_mtime;
			snprintf(ret_path, PATH_MAX, "%s", e->fts_path);
		}
	}
	if (fts)
		fts_close(fts);
	return rc < 0 || *ret_path ? rc : scribe_err_set(err, -ENOENT, "no log of job %.40s is known", job);
}

/* Between fork and exec: only async-signal-safe calls. */
static _Noreturn void become(char **argv, pid_t parent, int page)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(SCRIBE_SERVE_SECONDS); /* survives exec, so that the program ends */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (getppid() == parent && dup2(page, STDOUT_FILENO) >= 0)
		scribe_libexec_exec("ioscribe-report", argv);
	_exit(127);
}

static int wait_for(pid_t pid, const char *log, struct scribe_err *err)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return scribe_err_set(err, -errno, "%s: %s", log, strerror(errno));
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		return scribe_err_set(err, -ETIMEDOUT, "%s: no report within %d s", log, SCRIBE_SERVE_SECONDS);
	/* Why stands in the server's standard error. */
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : scribe_err_set(err, -EIO, "%s: no report", log);
}

int scribe_reports_make(const char *log, int *ret_fd, struct scribe_err *err)
{
	char *argv[] = {"report", "--output", "/dev/stdout", "--", (char *)log, NULL};
	const int page = memfd_create("report", MFD_CLOEXEC);
	const pid_t parent = getpid(), pid = page < 0 ? -1 : fork();
	int rc;

	if (pid == 0)
		become(argv, parent, page);
	rc = pid > 0 ? wait_for(pid, log, err)
		     : scribe_err_set(err, -errno, "%s: cannot start a process: %s", log, strerror(errno));
	if (rc < 0 && page >= 0)
		close(page);
	*ret_fd = rc < 0 ? -1 : page;
	return rc;
}
