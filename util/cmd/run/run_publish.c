// SPDX-License-Identifier: BSD-3-Clause
/*
 * Publishers of a run, with CMD's user, started before CMD's first instruction so that no operation is missed. Must
 * not know what they send.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "logfmt/base/proto.h"
#include "util/cmd/run/run_parts.h"
#include "util/link/service_link.h"
#include "util/publish/publisher.h"
#include "util/publish/sink.h"
#include "util/tool/command.h"

#define BEGIN_MS 5000
#define END_MS   7000
#define KILL_MS  1000 /* after SIGKILL: a dead disk can delay the exit */

int scribe_run_publish_add(struct scribe_run *r, const char *spec, struct scribe_err *err)
{
	struct scribe_sink sink;

	if (r->streams >= SCRIBE_RUN_STREAMS)
		return scribe_err_set(err, -E2BIG, "--stream: at most %u", SCRIBE_RUN_STREAMS);
	if (scribe_sink_of(spec, &sink, err) < 0) {
		struct scribe_err why = *err;

		return scribe_err_set(err, -EINVAL, "--stream %s", why.text);
	}
	r->stream[r->streams++] = spec;
	return 0;
}

int scribe_run_publish_darshan(struct scribe_run *r, struct scribe_err *err)
{
	static char spec[1024];
	char modules[32];
	const char *xprt = getenv("DARSHAN_LDMS_XPRT"), *host = getenv("DARSHAN_LDMS_HOST"),
		   *port = getenv("DARSHAN_LDMS_PORT"), *auth = getenv("DARSHAN_LDMS_AUTH");
	static const char *const names[] = {"POSIX", "STDIO", "MPIIO", "HDF5"};
	size_t used = 0;
	char variable[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(variable, sizeof(variable), "DARSHAN_LDMS_ENABLE_%s", names[i]);
		if (getenv("DARSHAN_LDMS_ENABLE_ALL") || getenv(variable))
			used += (size_t)snprintf(modules + used, sizeof(modules) - used, "%s%s", used ? "+" : "",
						 names[i]);
	}
	if (!getenv("DARSHAN_LDMS_ENABLE") || !used)
		return 0;
	snprintf(spec, sizeof(spec), "modules=%s,ldms:%s:%s:%s:%s", modules, xprt ? xprt : "", host ? host : "",
		 port ? port : "", auth ? auth : "");
	return scribe_run_publish_add(r, spec, err);
}

int scribe_run_publish_begin(struct scribe_run *r, pid_t pid, struct scribe_err *err)
{
	char socket[SCRIBE_PATH_MAX], number[24];
	struct scribe_publisher p = {.key = "--pid",
				     .value = number,
				     .socket = r->joined ? socket : r->socket,
				     .drop = r->drop,
				     .uid = r->uid,
				     .gid = r->gid,
				     .user = r->user};
	int rc = 0;

	snprintf(number, sizeof(number), "%d", (int)pid);
	snprintf(socket, sizeof(socket), "%s/%s", scribe_job_dir(), SCRIBE_SERVICE_SOCKET);
	for (unsigned i = 0; i < r->streams && rc == 0; i++) {
		if (!r->socket[0] && !r->joined)
			return scribe_err_set(err, -EINVAL, "--stream needs the runtime where no service traces");
		p.sink = r->stream[i];
		rc = scribe_publisher_start(&p, BEGIN_MS, &r->publisher[i], err);
	}
	return rc;
}

static bool has_ended(pid_t pid, int64_t until)
{
	const struct timespec nap = {.tv_nsec = 2000000};
	pid_t ended;

	while ((ended = waitpid(pid, NULL, WNOHANG)) == 0 && scribe_msg_now_ms() < until)
		nanosleep(&nap, NULL);
	return ended != 0;
}

void scribe_run_publish_end(struct scribe_run *r)
{
	const int64_t until = scribe_msg_now_ms() + END_MS;

	for (unsigned i = 0; i < r->streams; i++) {
		if (r->publisher[i] > 0 && !has_ended(r->publisher[i], until)) {
			kill(r->publisher[i], SIGKILL);
			has_ended(r->publisher[i], scribe_msg_now_ms() + KILL_MS);
			scribe_complain(r->self, "--stream %s: the last operations are missing, it takes none",
					r->stream[i]);
		}
		r->publisher[i] = 0;
	}
}
