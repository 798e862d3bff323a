/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Searches for libraries: one queue per user (uid, gid, user name), and another for lists. A searcher owns its
 * searches, helper and file. Must not know what results are used for.
 */
#include "runtime/daemon/attach/library_searches.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/base/clock.h"

#define WAITING 64u /* searches per user */

/* NULL: out of memory. */
static struct scribe_searcher *searcher_of(struct scribe_libs *l, const struct scribe_job *job, bool lists)
{
	const struct scribe_config *c = &job->config;
	const char *user = c->locked ? "" : c->user; /* a name set by the user must not add groups */
	struct scribe_searcher *s = l->searchers;

	while (s && (s->uid != c->uid || s->gid != c->gid || s->lists != lists || strcmp(s->user, user)))
		s = s->next;
	if (s || !(s = calloc(1, sizeof(*s))))
		return s;
	s->uid = c->uid;
	s->gid = c->gid;
	s->lists = lists;
	snprintf(s->user, sizeof(s->user), "%s", user);
	s->helper.sock = s->fd = -1;
	s->last = &s->first;
	s->next = l->searchers;
	l->searchers = s;
	return s;
}

struct scribe_process *scribe_search_process(struct scribe_daemon *d, const struct scribe_library_search *k)
{
	struct scribe_job *job = d->job[k->job];

	return job && k->proc_id ? scribe_worlds_find(&job->worlds, k->proc_id) : NULL;
}

bool scribe_search_is_list(const struct scribe_library_search *k)
{
	return k->search.what == SCRIBE_SEARCH_LIST;
}

int scribe_searchers_add(struct scribe_daemon *d, const struct scribe_job *job,
			 const struct scribe_library_search *seek)
{
	struct scribe_searcher *s = searcher_of(d->libs, job, scribe_search_is_list(seek));
	struct scribe_library_search *k = s && s->waiting < WAITING ? malloc(sizeof(*k)) : NULL;
	struct scribe_process *p = scribe_search_process(d, seek);

	if (!k)
		return -EAGAIN;
	/* its end waits for the search */
	if (p)
		p->held++;
	d->libs->listing += scribe_search_is_list(seek);
	*k = *seek;
	k->since_ns = scribe_now_ns();
	k->next = NULL;
	*s->last = k;
	s->last = &k->next;
	s->waiting++;
	return 0;
}

void scribe_searcher_drop_file(struct scribe_searcher *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	s->reader = NULL;
	s->linking = false;
}

void scribe_searchers_end_idle(struct scribe_libs *l, uint64_t used_before_ns)
{
	for (struct scribe_searcher **at = &l->searchers; *at;) {
		struct scribe_searcher *s = *at;

		if (s->first || s->used_ns > used_before_ns) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		scribe_helper_stop(&s->helper);
		free(s);
	}
}

void scribe_searchers_end_unused(struct scribe_libs *l)
{
	scribe_searchers_end_idle(l, UINT64_MAX);
}

void scribe_searchers_end(struct scribe_libs *l)
{
	l->listing = 0;
	while (l->searchers) {
		struct scribe_searcher *s = l->searchers;

		l->searchers = s->next;
		scribe_searcher_drop_file(s);
		while (s->first) {
			struct scribe_library_search *k = s->first;

			s->first = k->next;
			free(k);
		}
		scribe_helper_stop(&s->helper);
		free(s);
	}
}
