// SPDX-License-Identifier: BSD-3-Clause
/* The end of `ioscribe run`: sends END, prints which logs were written, and a summary of the first. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/cmd/run/run_parts.h"
#include "util/cmd/summary/summary.h"
#include "util/text/human.h"
#include "util/tool/command.h"
#include "util/tool/libexec.h"

#define GRACE_MS  2000
#define COMMIT_MS 60000

static void summary(const struct scribe_msg_log *m)
{
	struct scribe_err err = {0};
	int rc = scribe_summary_brief(m->path, stderr, &err);

	/* only the spool has logs that their user may not open */
	if (rc == -EACCES)
		fprintf(stderr, "  note       it waits in the service's spool until its place can be written to "
				"(`ioscribe job list`)\n");
	else if (rc < 0)
		fprintf(stderr, "  note       %s\n", scribe_human_text(err.text, (char[2048]){0}, 2048));
	/* Only the daemon's message has the rest. */
	if (m->overflowed_files)
		fprintf(stderr, "  note       %" PRIu64 " files are folded into catch-all records\n",
			m->overflowed_files);
	if (m->still_running)
		fprintf(stderr, "  note       %u process%s still running when the log was written\n", m->still_running,
			m->still_running == 1 ? " was" : "es were");
	if (m->missing[0])
		fprintf(stderr, "  note       records are incomplete: %s\n",
			scribe_human_text(m->missing, (char[1024]){0}, 1024));
}

/* As the user: the log and its names are the user's. What fails is printed, and does not fail the run. */
static void write_page(const struct scribe_run *r, const char *log)
{
	static const char ending[] = ".darshan";
	const size_t len = strlen(log), cut = sizeof(ending) - 1;
	const bool usual = len > cut && !strcmp(log + len - cut, ending);
	char page[SCRIBE_PATH_MAX + 8], shown[2 * SCRIBE_PATH_MAX];
	char *argv[] = {"ioscribe report", "-o", page, (char *)log, NULL};
	int status = -1;
	pid_t pid;

	snprintf(page, sizeof(page), "%.*s.html", (int)(usual ? len - cut : len), log);
	pid = fork();
	if (pid == 0)
		_exit(scribe_run_take_identity(r) < 0 ? SCRIBE_EXIT_FAILED
						      : scribe_libexec_run("ioscribe-report", "writes pages", argv));
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid > 0 && status == 0 && !r->quiet)
		fprintf(stderr, "ioscribe: page %s\n", scribe_human_text(page, shown, sizeof(shown)));
}

static int one_log(const struct scribe_run *r, const struct scribe_msg_log *m, bool with_summary)
{
	char path[2 * SCRIBE_PATH_MAX];

	if (m->text[0]) {
		fprintf(stderr, "ioscribe run: no log%s%s", m->world[0] ? " of " : "",
			scribe_human_text(m->world, path, sizeof(path)));
		fprintf(stderr, ": %s\n", scribe_human_text(m->text, path, sizeof(path)));
		return -EIO;
	}
	if (!r->quiet)
		fprintf(stderr, "ioscribe: log %s\n", scribe_human_text(m->path, path, sizeof(path)));
	if (!r->quiet && with_summary)
		summary(m);
	if (r->report)
		write_page(r, m->path);
	return 0;
}

static void warn_remote(const struct scribe_msg_result *m, bool quiet)
{
	char shown[4 * sizeof(m->remote)];

	/* A launcher started processes on other nodes, which this daemon does not see. */
	if (m->remote[0] && !quiet)
		fprintf(stderr, "ioscribe run: what %s starts elsewhere is not traced\n",
			scribe_human_text(m->remote, shown, sizeof(shown)));
}

static int hear_logs(struct scribe_run *r, const struct scribe_msg_end *end, struct scribe_err *err)
{
	static char packet[SCRIBE_MSG_MAX] __attribute__((aligned(8)));
	const struct scribe_msg_header *h = (const void *)packet;
	int bad = 0;

	/* A daemon that is stopping has sent its report already, so a failure here is not final. */
	(void)scribe_msg_send(r->link, SCRIBE_MSG_END, 0, end, sizeof(*end), -1, GRACE_MS);
	for (unsigned n = 0;;) {
		ssize_t got = scribe_msg_recv(r->link, packet, NULL, GRACE_MS + COMMIT_MS, err);

		if (got == 0 || got == -ECONNRESET)
			return scribe_err_set(err, -EPIPE, "the daemon is gone: no log was written");
		if (got < 0)
			return (int)got;
		if (h->type == SCRIBE_MSG_RESULT) {
			r->reported = true;
			warn_remote((const void *)(h + 1), r->quiet);
			return bad;
		}
		/* BUILDING: the log takes long, so the wait starts again. */
		if (h->type == SCRIBE_MSG_BUILDING)
			continue;
		if (h->type != SCRIBE_MSG_LOG)
			return scribe_err_set(err, -EPROTO, "unexpected answer of the daemon (type %u)", h->type);
		if (one_log(r, (const void *)(h + 1), n++ == 0) < 0)
			bad = -EIO;
	}
}

int scribe_run_report(struct scribe_run *r, int wait_status, struct scribe_err *err)
{
	struct scribe_msg_end end = {.wait_status = wait_status, .exit_grace_ms = GRACE_MS};
	int rc = hear_logs(r, &end, err);

	while (rc == -EPIPE && r->survives) {
		/* The service's next daemon continues the job and writes its log. */
		rc = scribe_run_link_reattach(r, err);
		if (rc == 0)
			rc = hear_logs(r, &end, err);
	}
	return rc;
}
