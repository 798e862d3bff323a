/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A helper per user makes one search at a time; a second helper analyses the files before link makers attach. All
 * searchers advance in turn, bounded per loop iteration and by deadlines. Must not know what libraries contain.
 */
#include "runtime/daemon/attach/library_queue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "runtime/daemon/base/event_loop.h"
#include "runtime/daemon/journal/job_journal.h"

/* in ms: a search, during which an enrolment waits; analysis of a file; attaching */
#define SEARCH_MS 500
#define STUDY_MS  500
#define LINKS_MS  1000
#define RUN_MS    5000          /* each of them in a private daemon */
#define IDLE_NS   5000000000ull /* unused helpers are stopped */
#define ENROL_NS  1000000000ull /* a client waits 2 s for its enrolment, connecting included */

/* Calls before the program started are impossible. False: pending. */
static bool check_late(struct scribe_daemon *d, struct scribe_searcher *s)
{
	struct scribe_process *p = s->first->then == SCRIBE_SEEK_LATE ? scribe_search_process(d, s->first) : NULL;
	const char *slash = strrchr(s->found.label, '/');

	if (p && !scribe_uprobes_known(d->libs->uprobes, s->found.dev, s->inode))
		scribe_libs_unread(d, p, slash ? slash + 1 : s->found.label,
				   s->unread[0] ? s->unread : "it could not be read");
	else if (p && !scribe_libs_check_mapping(d, p, s->inode, p->began_ns ? p->began_ns : p->start_ns, &s->found,
						 &s->peeks))
		return false;
	scribe_libs_forget_peeks(d->libs, &s->peeks);
	return true;
}

static void check_unseen(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_library_search *k,
			 const char *cause)
{
	/* may have been analysed for another process meanwhile */
	const struct scribe_uprobed *f = scribe_uprobes_known(d->libs->uprobes, k->dev, k->search.inode);

	if (!f)
		scribe_libs_unread(d, p, k->name, cause);
	else if (scribe_libs_since(d, p, f, k->name) > k->when_ns)
		/* streams not seen to open are counted by system calls */
		scribe_mark_incomplete(p, scribe_libs_fed(f) & ~(1ull << SCRIBE_MOD_STDIO),
				       "a process that maps a library ended before it had been looked into");
}

/* False: pending. */
static bool check_mapping(struct scribe_daemon *d, struct scribe_searcher *s)
{
	const struct scribe_library_search *k = s->first;
	struct scribe_process *p = scribe_search_process(d, k);

	if (k->then != SCRIBE_SEEK_JUDGE || !p)
		return true;
	if (s->mapped.more && !s->unread[0])
		return scribe_libs_check_mapping(d, p, k->search.inode, k->when_ns, &s->mapped, &s->peeks);
	check_unseen(d, p, k, s->unread[0] ? s->unread : "its file could not be opened");
	return true;
}

/* `rc`: 0 no more libraries, 1 may load any, negative: not known. */
static void attach_more(struct scribe_daemon *d, const struct scribe_library_search *k, size_t attached, int rc)
{
	if (scribe_search_is_list(k))
		return;
	if ((k->then == SCRIBE_SEEK_ENROL || k->then == SCRIBE_SEEK_ATTACH) && rc)
		scribe_libs_attach_everything(d);
	else if (scribe_uprobes_attached(d->libs->uprobes) > attached || d->libs->needs_wrap)
		scribe_libs_attach_wrap(d);
}

static void then(struct scribe_daemon *d, const struct scribe_library_search *k)
{
	struct scribe_process *p = scribe_search_process(d, k);

	/* the process's end may wait for this */
	if (p)
		p->held--;
	d->libs->listing -= scribe_search_is_list(k);
	if (k->then == SCRIBE_SEEK_ENROL)
		scribe_daemon_go_on(d, k->client);
}

static void end_search(struct scribe_daemon *d, struct scribe_searcher *s)
{
	struct scribe_library_search *k = s->first;

	scribe_searcher_drop_file(s);
	scribe_libs_forget_peeks(d->libs, &s->peeks);
	s->first = k->next;
	if (!s->first)
		s->last = &s->first;
	s->waiting--;
	s->asked = false;
	s->used_ns = scribe_now_ns();
	then(d, k);
	free(k);
}

void scribe_libs_search(struct scribe_daemon *d, struct scribe_job *job, const struct scribe_library_search *seek)
{
	struct scribe_process *p = scribe_search_process(d, seek);

	d->libs->searched = true;
	if (scribe_searchers_add(d, job, seek) == 0)
		return;
	/* the queue is full: treat as failed */
	if (p && seek->then == SCRIBE_SEEK_JUDGE)
		check_unseen(d, p, seek, "too many files of its user wait to be read");
	attach_more(d, seek, 0, -EAGAIN);
	if (seek->then == SCRIBE_SEEK_ENROL)
		scribe_daemon_go_on(d, seek->client);
}

static uint32_t wait_ms(const struct scribe_daemon *d, uint32_t service_ms)
{
	return d->service ? service_ms : RUN_MS;
}

static struct scribe_helper *idle(struct scribe_helper *h)
{
	return h && h->sock >= 0 && !h->asked ? h : NULL;
}

static void note_unread(struct scribe_searcher *s, int rc)
{
	const char *cause = rc == -ETIMEDOUT ? "it was not read in time" : strerror(-rc);

	snprintf(s->unread, sizeof(s->unread), "%s", rc < 0 ? cause : "");
}

static void attach_found(struct scribe_daemon *d, struct scribe_searcher *s, int rc)
{
	struct scribe_libs *l = d->libs;

	/* passed to scribe_libs_analyse(), which uprobes/attach calls */
	l->analysis_rc = rc;
	l->studied = true;
	l->late = s->first->then != SCRIBE_SEEK_ENROL && !s->lists;
	note_unread(s, scribe_libs_attach_fd(l, s->fd, s->found.label, false));
	l->studied = l->late = false;
	s->linking = true;
}

/* True: attached, or failed. */
static bool is_linked(struct scribe_daemon *d, struct scribe_searcher *s)
{
	if (scribe_uprobes_busy_with(d->libs->uprobes, s->found.dev, s->inode))
		return false;
	if (!check_late(d, s))
		return false;
	s->linking = false;
	scribe_searcher_drop_file(s);
	return true;
}

/* True: complete. */
static bool read_file(struct scribe_daemon *d, struct scribe_searcher *s)
{
	struct scribe_libs *l = d->libs;
	int rc;

	if (s->linking)
		return is_linked(d, s);
	if (!s->reader) {
		if (s->ready || scribe_libs_is_slow(l, s->owner)) {
			attach_found(d, s, -ETIMEDOUT);
			return true;
		}
		/* one of root's files and one of users' at a time */
		if ((s->owner ? &l->reader : &l->roots)->asked)
			return false;
		s->reader = idle(scribe_libs_reader(l, s->owner));
		if (s->reader)
			(void)scribe_watch_edge(d->epoll, s->reader->sock, &d->bpf);
		rc = s->reader ? scribe_helper_analyse_begin(s->reader, s->fd, wait_ms(d, STUDY_MS)) : -EIO;
		if (rc < 0) {
			attach_found(d, s, rc);
			return true;
		}
		return false;
	}
	if (!scribe_helper_analysed(s->reader, &l->study, &rc))
		return false;
	if (s->reader->sock < 0)
		scribe_libs_lose(l, s->reader, s->owner);
	attach_found(d, s, rc);
	return true;
}

/* `fd` is kept or closed. */
static void take(struct scribe_daemon *d, struct scribe_searcher *s, struct scribe_helper_found *f, int fd)
{
	struct scribe_libs *l = d->libs;
	const struct scribe_search *q = &s->first->search;
	const struct scribe_uprobed *known;
	const char *refused;
	struct stat st;

	refused = scribe_libs_refused(fd, q->inode, &st);
	if (refused) {
		snprintf(s->unread, sizeof(s->unread), "%s", refused);
		close(fd);
		return;
	}
	known = scribe_uprobes_current(l->uprobes, &st);
	f->dev = st.st_dev;
	if (s->first->then == SCRIBE_SEEK_JUDGE)
		s->mapped = *f;
	s->fd = fd;
	s->found = *f;
	s->owner = st.st_uid;
	s->inode = st.st_ino;
	s->ready = known;
	/* of a known file only the links may be pending */
	if (!known)
		return;
	s->linking = true;
	(void)is_linked(d, s);
}

static void found_all(struct scribe_daemon *d, struct scribe_searcher *s, int any)
{
	s->found_all = true;
	s->more = false;
	s->any = any;
	s->deadline_ns = scribe_now_ns() + wait_ms(d, LINKS_MS) * 1000000ull;
}

static void ask(struct scribe_daemon *d, struct scribe_searcher *s)
{
	struct scribe_err err;
	int rc = scribe_libs_is_slow(d->libs, s->uid) ? -ETIMEDOUT : 0;

	/* a slow user, or one over a quota, gets a failed search */
	if (rc == 0)
		rc = scribe_daemon_may(d, s->uid, SCRIBE_QUOTA_HELPER_SHARE, NULL);
	if (rc == 0 && s->helper.sock < 0)
		rc = scribe_daemon_may(d, s->uid, SCRIBE_QUOTA_HELPERS, NULL);
	if (rc == 0 && s->helper.sock < 0) {
		rc = scribe_helper_start(&s->helper, s->uid, s->gid, s->user, &err);
		if (rc >= 0)
			(void)scribe_watch_edge(d->epoll, s->helper.sock, &d->bpf);
	}
	if (rc == 0)
		rc = scribe_helper_search(&s->helper, &s->first->search);
	s->mapped.more = 0;
	note_unread(s, rc);
	s->attached = scribe_uprobes_attached(d->libs->uprobes);
	s->asked = true;
	s->found_all = false;
	s->deadline_ns = scribe_now_ns() + wait_ms(d, SEARCH_MS) * 1000000ull;
	if (rc < 0)
		found_all(d, s, rc);
}

static bool conclude(struct scribe_daemon *d, struct scribe_searcher *s)
{
	if (!s->more)
		attach_more(d, s->first, s->attached, s->any);
	s->more = true;
	/* the command starts when all probes are attached */
	if (s->first->then == SCRIBE_SEEK_ENROL && scribe_libs_busy(d) && scribe_now_ns() < s->deadline_ns)
		return false;
	if (!check_mapping(d, s))
		return false;
	end_search(d, s);
	return true;
}

/* True: more can be done at once. */
static bool go_on(struct scribe_daemon *d, struct scribe_searcher *s)
{
	struct scribe_helper_found f = {0};
	int fd = -1, rc;

	if (!s->first)
		return false;
	if (!s->asked)
		ask(d, s);
	if (s->fd >= 0)
		return read_file(d, s);
	if (s->found_all)
		return conclude(d, s);
	rc = scribe_helper_found(&s->helper, &f, &fd, 0);
	if (rc == -EAGAIN && scribe_now_ns() < s->deadline_ns)
		return false;
	if (rc < 0) {
		scribe_libs_lose(d->libs, &s->helper, s->uid);
		found_all(d, s, rc);
		return true;
	}
	if (!f.more) {
		found_all(d, s, f.any != 0);
		return true;
	}
	if (fd >= 0)
		take(d, s, &f, fd);
	else if (f.by_user)
		snprintf(s->unread, sizeof(s->unread), "a program of a user's serves its file system");
	return true;
}

/*
 * A search may be late, after other searches of the user or without a helper process. Its command is then
 * enrolled without it; calls into a library that was mapped before it is attached count as missed.
 */
static void enrol_late(struct scribe_daemon *d, uint64_t now_ns)
{
	for (struct scribe_searcher *s = d->libs->searchers; s; s = s->next) {
		for (struct scribe_library_search *k = s->first; k; k = k->next) {
			if (k->then != SCRIBE_SEEK_ENROL || now_ns - k->since_ns < ENROL_NS)
				continue;
			k->then = SCRIBE_SEEK_ATTACH;
			scribe_daemon_go_on(d, k->client);
		}
	}
}

void scribe_libs_search_tick(struct scribe_daemon *d)
{
	struct scribe_libs *l = d->libs;
	uint64_t now = scribe_now_ns();

	/* one step each: many files of one user must not delay others */
	for (bool more = l; more && scribe_now_ns() - now < SCRIBE_LIBS_ITERATION_NS;) {
		more = false;
		for (struct scribe_searcher *s = l->searchers; s; s = s->next)
			more |= go_on(d, s);
	}
	if (!l)
		return;
	if (d->service)
		enrol_late(d, scribe_now_ns());
	scribe_searchers_end_idle(l, now - IDLE_NS);
}

void scribe_libs_search_cut(struct scribe_daemon *d, const struct scribe_job *job)
{
	for (const struct scribe_searcher *s = d->libs ? d->libs->searchers : NULL; s; s = s->next) {
		for (const struct scribe_library_search *k = s->first; k; k = k->next) {
			struct scribe_process *p = k->job == job->index ? scribe_search_process(d, k) : NULL;
			const struct scribe_uprobed *f = scribe_uprobes_known_inode(d->libs->uprobes, k->search.inode);

			if (!p || k->then != SCRIBE_SEEK_JUDGE)
				continue;
			if (!f)
				scribe_libs_unread(d, p, k->name, "the job ended before");
			else if (scribe_libs_since(d, p, f, k->name) > k->when_ns)
				scribe_mark_incomplete(p, scribe_libs_fed(f),
						       "the job ended before a process that maps a library had been "
						       "looked into");
		}
	}
}

bool scribe_libs_searching(const struct scribe_daemon *d)
{
	for (const struct scribe_searcher *s = d->libs ? d->libs->searchers : NULL; s; s = s->next)
		if (s->first)
			return true;
	return false;
}

void scribe_libs_searchers(const struct scribe_daemon *d, void (*fn)(void *ctx, uint32_t uid, struct scribe_helper *h),
			   void *ctx)
{
	for (struct scribe_searcher *s = d->libs ? d->libs->searchers : NULL; s; s = s->next)
		if (s->helper.sock >= 0)
			fn(ctx, s->uid, &s->helper);
}
