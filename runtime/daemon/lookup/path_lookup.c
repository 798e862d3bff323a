/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links in paths that the kernel's dentry cache cannot tell: the job's helper opens the path, and
 * the daemon goes on. A job has one request under way; its later events are queued meanwhile
 * (collect/held_events.c). A state in struct scribe_path_lookup leads from request to answer; the
 * same call is repeated to take the answer. Owns the helper and its place in epoll. Main thread of
 * the daemon. Must not know what paths are for.
 */
#include "runtime/daemon/lookup/path_lookup.h"

#include <errno.h>
#include <string.h>

#include "logfmt/base/clock.h"
#include "runtime/daemon/base/event_loop.h"
#include "runtime/daemon/lookup/job_helper.h"

/* The most that one look counts as waiting, in ns (is_late). */
#define SLICE_NS    (SCRIBE_PATH_LOOKUP_MS * 1000000ull / 8)
#define DEADLINE_MS (100u * SCRIBE_PATH_LOOKUP_MS) /* the helper's own: never met */

/*
 * A helper that did not answer is left to itself. The pause before the next one doubles each time,
 * up to SCRIBE_PATH_LOOKUPS_MAX helpers of a job.
 */
static void drop_helper(struct scribe_job *job)
{
	struct scribe_path_lookup *l = &job->path_lookup;

	if (l->helper.sock >= 0)
		scribe_watch_end(job->daemon->epoll, l->helper.sock);
	scribe_helper_stop(&l->helper);
	l->has_helper = false;
	l->next_ns = scribe_now_ns() + (SCRIBE_PATH_LOOKUP_REST_NS << l->lost++);
}

/* False: none now. The user's quota of helpers counts them. */
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
		else /* whose every word wakes the loop, which looks for answers in each turn */
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

/* False: no helper takes it, and the path is resolved without. */
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

/* scribe_path_open_fn: the file system would have to be asked. */
static int not_by_heart(void *ctx, int root_fd, const char *path, unsigned flags)
{
	bool *wanted = ctx;

	(void)root_fd;
	(void)path;
	(void)flags;
	*wanted = true;
	return -EAGAIN;
}

/*
 * The same where the job has changed links: component by component, each question being one of
 * them. False: a question is under way. After GIVEN_UP no further one is asked for this name.
 */
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
		given_up = true;
	}
	job->names_unresolved += given_up || l->walk.cut;
	*ret_bytes = strlen(l->walk.done);
	memcpy(path, l->walk.done, *ret_bytes + 1);
	return true;
}

/*
 * While the job has no links of its own the helper resolves the whole path, and its answer is
 * final.
 */
bool scribe_path_lookup(struct scribe_job *job, char *path, const struct scribe_path_of *of, size_t *ret_bytes)
{
	struct scribe_path_lookup *l = &job->path_lookup;
	const bool nofollow = of->nofollow;
	const int root_fd = of->root_fd;
	char known[SCRIBE_NAME_ROOM];
	bool wanted = false;

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
	job->names_unresolved += wanted;
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

/*
 * A machine that stood still, hand and all, takes one slice of the time, not all of it. A turn may
 * be late itself: time in which the daemon did not run must not count against the helper.
 */
static bool is_late(struct scribe_path_lookup *l)
{
	uint64_t now = scribe_now_ns(), since = now - l->seen_ns;

	l->seen_ns = now;
	l->waited_ns += since < SLICE_NS ? since : SLICE_NS;
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

/*
 * A request under way is given up with its helper, since a late answer would be taken for the next.
 */
void scribe_path_lookup_quiet(struct scribe_job *job, bool quiet)
{
	struct scribe_path_lookup *l = &job->path_lookup;

	l->quiet = quiet;
	if (!quiet || l->state != SCRIBE_LOOKUP_ASKED)
		return;
	l->state = SCRIBE_LOOKUP_GIVEN_UP;
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
