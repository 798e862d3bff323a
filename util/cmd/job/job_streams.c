// SPDX-License-Identifier: BSD-3-Clause
/*
 * Streams of `ioscribe job begin`: a publisher per --stream, and one per sink of the key `stream`. Prologs run
 * this as root, so it never opens a path that a user named. Must not know what publishers send.
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

static int sink_of(const char *spec, struct scribe_sink *ret, struct scribe_err *err)
{
	int rc = scribe_sink_of(spec, ret, err);

	/* Publishers run in the root directory, where a relative path would mean another file. */
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

void scribe_job_streams_parse_answer(struct scribe_job_streams *s, const char *text, size_t bytes)
{
	const char *const end = text + bytes;

	while (text < end) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));
		const size_t n = (size_t)((line_end ? line_end : end) - text);

		take_line(s, text, n);
		text += n + 1;
	}
}

static int start(const struct scribe_job_streams *s, const char *self, const char *spec, bool is_site, int64_t deadline)
{
	const uid_t uid = is_site ? s->site_uid : s->uid;
	const gid_t gid = is_site ? SCRIBE_JOB_STREAMS_GID : s->gid;
	const struct passwd *pw = getpwuid(uid);
	char socket[SCRIBE_PATH_MAX];
	const struct scribe_publisher p = {.key = "--job",
					   .value = s->job_id,
					   .sink = spec,
					   .socket = socket,
					   .drop = getuid() == 0,
					   .uid = uid,
					   /* never 0: without an entry, the gid of that number */
					   .gid = gid != SCRIBE_JOB_STREAMS_GID ? gid
						  : pw                          ? pw->pw_gid
										: (gid_t)uid,
					   .user = pw ? pw->pw_name : NULL,
					   .on_its_own = true};
	struct scribe_err err = {0};
	struct scribe_sink sink;
	pid_t pid;
	int rc = sink_of(spec, &sink, &err);

	if (rc == 0 && !is_site && s->hosts[0])
		rc = scribe_sink_may_reach(&sink, s->hosts, &err);
	snprintf(socket, sizeof(socket), "%s/%s", scribe_job_dir(), SCRIBE_SERVICE_SOCKET);
	if (rc == 0)
		rc = scribe_publisher_start(&p, scribe_msg_left_ms(deadline), &pid, &err);
	if (rc < 0)
		scribe_complain_err(self, &err);
	return rc;
}

int scribe_job_streams_begin(const struct scribe_job_streams *s, const char *self, int64_t deadline)
{
	char site[sizeof(s->site)], *rest = site, *word;
	int rc, result = s->refused ? -EINVAL : 0;

	if (s->is_again)
		return result;
	for (unsigned i = 0; i < s->n; i++) {
		rc = start(s, self, s->sink[i], false, deadline);
		result = rc < 0 ? rc : result;
	}
	strcpy(site, s->site_uid ? s->site : "");
	while ((word = strsep(&rest, " "))) {
		rc = *word ? start(s, self, word, true, deadline) : 0;
		result = rc < 0 ? rc : result;
	}
	return result;
}
