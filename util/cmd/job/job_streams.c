// SPDX-License-Identifier: BSD-3-Clause
/*
 * Streams of `ioscribe job begin`: starts a publisher for each --stream with the identity of the job's user,
 * and one for each sink of the service's key `stream` with that of `stream_uid`. What a user has named is
 * never opened by the command, which prologs run as root. Publishers end with the job. Must not know what
 * they send.
 */
#include "util/cmd/job/job_streams.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/base/proto.h"
#include "util/link/service_link.h"
#include "util/publish/publisher.h"
#include "util/publish/sink.h"
#include "util/tool/command.h"

#define BEGIN_MS 1000 /* for one to subscribe; it goes on trying */

/* It is opened from the root folder. */
static int sink_of(const char *spec, struct scribe_sink *ret, struct scribe_err *err)
{
	int rc = scribe_sink_of(spec, ret, err);

	if (rc == 0 && scribe_sink_is_path(ret) && ret->rest[0] != '/')
		rc = scribe_err_set(err, -EINVAL, "%.200s: an absolute path is needed", spec);
	return rc;
}

void scribe_job_streams_add(struct scribe_job_streams *s, const char *self, const char *sink)
{
	struct scribe_err err = {0};
	struct scribe_sink known;

	if (s->n < SCRIBE_JOB_STREAMS && sink_of(sink, &known, &err) == 0) {
		s->sink[s->n++] = sink;
		return;
	}
	s->refused = true;
	if (s->n == SCRIBE_JOB_STREAMS)
		scribe_complain(self, "--stream: at most %u", SCRIBE_JOB_STREAMS);
	else
		scribe_complain(self, "--stream %s", err.text);
}

static void take_line(struct scribe_job_streams *s, const char *line, size_t n)
{
	if (n > 4 && !strncmp(line, "new=", 4))
		s->is_again = line[4] == '0';
	else if (n > 13 && !strncmp(line, "stream_hosts=", 13))
		snprintf(s->hosts, sizeof(s->hosts), "%.*s", (int)(n - 13), line + 13);
	else if (n > 11 && !strncmp(line, "stream_uid=", 11))
		s->site_uid = (uid_t)strtoul(line + 11, NULL, 10);
	else if (n > 7 && !strncmp(line, "stream=", 7))
		snprintf(s->site, sizeof(s->site), "%.*s", (int)(n - 7), line + 7);
}

void scribe_job_streams_told(struct scribe_job_streams *s, const char *text, size_t bytes)
{
	const char *const end = text + bytes;

	while (text < end) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));
		const size_t n = (size_t)((line_end ? line_end : end) - text);

		take_line(s, text, n);
		text += n + 1;
	}
}

/* One publisher: 0, or negative with its line printed. */
static int start(const char *self, const char *spec, const char *job_id, const char *hosts, uid_t uid, gid_t gid)
{
	const struct passwd *pw = getpwuid(uid);
	char socket[SCRIBE_PATH_MAX];
	const struct scribe_publisher p = {.key = "--job",
					   .value = job_id,
					   .sink = spec,
					   .socket = socket,
					   .drop = getuid() == 0,
					   .uid = uid,
					   .gid = gid,
					   .user = pw ? pw->pw_name : NULL,
					   .on_its_own = true};
	struct scribe_err err = {0};
	struct scribe_sink sink;
	pid_t pid;
	int rc = sink_of(spec, &sink, &err);

	if (rc == 0 && hosts[0])
		rc = scribe_sink_may_reach(&sink, hosts, &err);
	snprintf(socket, sizeof(socket), "%s/%s", scribe_job_dir(), SCRIBE_SERVICE_SOCKET);
	if (rc == 0)
		rc = scribe_publisher_start(&p, BEGIN_MS, &pid, &err);
	if (rc < 0)
		scribe_complain_err(self, &err);
	return rc;
}

int scribe_job_streams_begin(const struct scribe_job_streams *s, const char *self, const char *job_id, uid_t uid,
			     gid_t gid)
{
	const struct passwd *pw = s->site_uid ? getpwuid(s->site_uid) : NULL;
	const gid_t site_gid = pw ? pw->pw_gid : (gid_t)s->site_uid;
	char site[sizeof(s->site)], *rest = site, *word;
	int rc, result = s->refused ? -EINVAL : 0;

	for (unsigned i = 0; i < s->n && !s->is_again; i++) {
		rc = start(self, s->sink[i], job_id, s->hosts, uid, gid);
		result = rc < 0 ? rc : result;
	}
	strcpy(site, s->site_uid && !s->is_again ? s->site : "");
	while ((word = strsep(&rest, " "))) {
		rc = *word ? start(self, word, job_id, "", s->site_uid, site_gid) : 0;
		result = rc < 0 ? rc : result;
	}
	return result;
}
