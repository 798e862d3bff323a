/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links in paths that the kernel's dentry cache cannot resolve: the job's helper opens the path. One request
 * per job; its later events are queued meanwhile (tables/held_events.c). Must not know what paths
 * are for.
 */
#include "runtime/daemon/lookup/path_lookup.h"

#include <errno.h>
#include <string.h>

#include "logfmt/base/clock.h"
#include "runtime/daemon/base/event_loop.h"
#include "runtime/daemon/base/procfs.h"
#include "runtime/daemon/lookup/job_helper.h"

#define SLICE_NS    (SCRIBE_PATH_LOOKUP_MS * 1000000ull / 8)
#define CHECK_NS    5000000ull /* between checks of the time */
#define STARVED     10u        /* so many times as long may a helper take that waits for a processor */
#define DEADLINE_MS (100u * SCRIBE_PATH_LOOKUP_MS) /* never reached */

static void drop_helper(struct scribe_job *job)
{
	struct scribe_path_lookup *l = &job->path_lookup;

	if (l->helper.sock >= 0)
		scribe_watch_end(job->daemon->epoll, l->helper.sock);
	scribe_helper_stop(&l->helper);
	l->has_helper = false;
	/* its file system may hang: retry ever more rarely */
	l->next_ns = scribe_now_ns() + (SCRIBE_PATH_LOOKUP_REST_NS << l->lost++);
}

static bool need_helper(struct scribe_job *job)
{
	struct scribe_path_lookup *l = &job->path_lookup;
	struct scribe_err err;

	if (!l->has_helper && l->lost < SCRIBE_PATH_LOOKUPS_MAX && scribe_now_ns() >= l->next_ns) {
		l->has_helper = true;
		l->helper.sock = -1;
		if (scribe_daemon_may(job->daemon, job->config.uid, SCRIBE_QUOTA_HELPERS, NULL) < 0 ||
		    scribe_job_start_helper(job, &l->helper, &err) < 0)
			drop_helper(job);
		else /* wakes the loop */
			(void)scribe_watch_edge(job->daemon->epoll, l->helper.sock, &job->daemon->bpf);
	}
	return l->has_helper;
}

static void begin_wait(struct scribe_path_lookup *l, bool text)
{
	l->state = SCRIBE_LOOKUP_ASKED;
	l->text = text;
	l->seen_ns = scribe_now_ns();
	l->waited_ns = 0;
}

static bool ask(struct scribe_job *job, int root_fd, const char *path, bool nofollow)
{
	struct scribe_path_lookup *l = &job->path_lookup;

	if (l->quiet || strlen(path) >= SCRIBE_PATH_MAX || !need_helper(job))
		return false;
	if (scribe_helper_resolve(&l->helper, root_fd, path, nofollow, DEADLINE_MS) < 0) {
		drop_helper(job);
		return false;
	}
	begin_wait(l, false);
	return true;
}

/* Only notes that a file system would have to be accessed. */
static int not_by_heart(void *ctx, int root_fd, const char *path, unsigned flags)
{
	bool *wanted = ctx;

	(void)root_fd;
	(void)path;
	(void)flags;
	*wanted = true;
	return -EAGAIN;
}

/* False: a request for one of the components is pending. */
static bool walk(struct scribe_job *job, char *path, const struct scribe_path_of *of, size_t *ret_bytes)
{
	struct scribe_path_lookup *l = &job->path_lookup;
	bool given_up = l->state == SCRIBE_LOOKUP_GIVEN_UP;

	if (l->state == SCRIBE_LOOKUP_NONE)
		scribe_path_walk_begin(&l->walk, path, of->nofollow);
	else if (l->state == SCRIBE_LOOKUP_ANSWERED)
		scribe_path_walk_answer(&l->walk, l->answer.text);
	l->state = SCRIBE_LOOKUP_NONE;
	while (!scribe_path_walk(&l->walk, of->root_fd, &job->links, of->root)) {
		if (!given_up && ask(job, of->root_fd, l->walk.done, false))
			return false;
		/* each further request could take the whole timeout */
		given_up = true;
	}
	job->losses.names_unresolved += given_up || l->walk.cut;
	*ret_bytes = strlen(l->walk.done);
	memcpy(path, l->walk.done, *ret_bytes + 1);
	return true;
}

bool scribe_path_lookup(struct scribe_job *job, char *path, const struct scribe_path_of *of, size_t *ret_bytes)
{
	struct scribe_path_lookup *l = &job->path_lookup;
	const bool nofollow = of->nofollow;
	const int root_fd = of->root_fd;
	char known[SCRIBE_NAME_CAPACITY];
	bool wanted = false;

	/* helpers see links as they are now, not at the time of the event */
	if (job->links.by_path.used && path[0] == '/') {
		if (l->state != SCRIBE_LOOKUP_NONE ||
		    !scribe_path_is_plain(path, root_fd, nofollow, &job->links, of->root))
			return walk(job, path, of, ret_bytes);
		*ret_bytes = strlen(path);
		return true;
	}
	if (l->state == SCRIBE_LOOKUP_ANSWERED) {
		l->state = SCRIBE_LOOKUP_NONE;
		*ret_bytes = l->answer.bytes;
		memcpy(path, l->answer.text, l->answer.bytes + 1);
		return true;
	}
	strcpy(known, path);
	*ret_bytes = scribe_path_resolve(known, sizeof(known), root_fd, nofollow, not_by_heart, &wanted);
	if (wanted && l->state == SCRIBE_LOOKUP_NONE && ask(job, root_fd, path, nofollow))
		return false;
	l->state = SCRIBE_LOOKUP_NONE;
	job->losses.names_unresolved += wanted;
	strcpy(path, known);
	return true;
}

bool scribe_path_lookup_text(struct scribe_job *job, const struct scribe_text_of *of, char *ret_text, size_t cap,
			     size_t *ret_bytes)
{
	struct scribe_path_lookup *l = &job->path_lookup;

	*ret_bytes = 0;
	if (l->state == SCRIBE_LOOKUP_ANSWERED) {
		*ret_bytes = l->answer.bytes < cap ? l->answer.bytes : cap;
		memcpy(ret_text, l->answer.text, *ret_bytes);
	} else if (l->state == SCRIBE_LOOKUP_NONE && !l->quiet && need_helper(job)) {
		if (scribe_helper_process_text(&l->helper, of->pid, of->environment, of->at, DEADLINE_MS) == 0) {
			begin_wait(l, true);
			return false;
		}
		drop_helper(job);
	}
	l->state = SCRIBE_LOOKUP_NONE;
	return true;
}

static bool is_late(struct scribe_path_lookup *l)
{
	uint64_t now = scribe_now_ns(), since = now - l->seen_ns;
	bool starved;

	if (since < CHECK_NS)
		return false;
	l->seen_ns = now;
	/* On a node with more to do than processors, the file system does not hang for that. */
	starved = l->helper.pid < 0 || scribe_process_state((uint32_t)l->helper.pid) == 'R';
	/* a pause of the daemon itself counts as one slice, because the helper may have been stopped, too */
	l->waited_ns += (since < SLICE_NS ? since : SLICE_NS) / (starved ? STARVED : 1);
	return l->waited_ns >= SCRIBE_PATH_LOOKUP_MS * 1000000ull;
}

bool scribe_path_lookup_waits(struct scribe_job *job)
{
	struct scribe_path_lookup *l = &job->path_lookup;
	int rc = -ETIMEDOUT;

	if (l->state != SCRIBE_LOOKUP_ASKED)
		return false;
	if (!(l->text ? scribe_helper_process_text_read : scribe_helper_resolved)(&l->helper, &l->answer, &rc) &&
	    !is_late(l))
		return true;
	l->state = rc == 0 ? SCRIBE_LOOKUP_ANSWERED : SCRIBE_LOOKUP_GIVEN_UP;
	if (rc < 0)
		drop_helper(job);
	return false;
}

void scribe_path_lookup_forget(struct scribe_job *job)
{
	job->path_lookup.state = SCRIBE_LOOKUP_NONE;
}

void scribe_path_lookup_quiet(struct scribe_job *job, bool quiet)
{
	struct scribe_path_lookup *l = &job->path_lookup;

	l->quiet = quiet;
	if (!quiet || l->state != SCRIBE_LOOKUP_ASKED)
		return;
	l->state = SCRIBE_LOOKUP_GIVEN_UP;
	/* a late answer would be taken as the answer to the next request */
	drop_helper(job);
}

void scribe_path_lookup_end(struct scribe_job *job)
{
	if (job->path_lookup.has_helper && job->path_lookup.helper.sock >= 0 && job->daemon)
		scribe_watch_end(job->daemon->epoll, job->path_lookup.helper.sock);
	if (job->path_lookup.has_helper)
		scribe_helper_stop(&job->path_lookup.helper);
	job->path_lookup.has_helper = false;
}
