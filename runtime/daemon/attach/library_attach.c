// SPDX-License-Identifier: BSD-3-Clause
/*
 * Selects the libraries to probe: those found, or all known ones if a process may use any. Users' files only as
 * user_libraries allows. Main thread; link makers attach. Must not know processes, records or logs.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "logfmt/rules/lib_rules.h"
#include "runtime/daemon/attach/library_probes_private.h"
#include "runtime/daemon/attach/library_searches.h"
#include "runtime/daemon/base/procfs.h"
#include "runtime/daemon/config/library_selection.h"
#include "runtime/daemon/journal/job_journal.h"
#include "runtime/daemon/privsep/link_maker.h"

/* 0 also if it is refused (see `why`). */
int scribe_libs_attach_fd(struct scribe_libs *l, int fd, const char *path, bool site)
{
	struct scribe_uprobes_result r;
	struct scribe_err err = {0};

	int rc = scribe_uprobes_file(l->uprobes, fd, path, site, &r, &err);

	l->needs_wrap |= r.counted_inside;
	if (rc < 0 && !r.unread && !l->why[0])
		snprintf(l->why, sizeof(l->why), "%.*s", (int)sizeof(l->why) - 1, err.text);
	if (rc < 0 && l->verbose)
		fprintf(stderr, "ioscribed: %s\n", err.text);
	else if (r.fresh && l->verbose)
		fprintf(stderr, "ioscribed: %s: %u places probed, %u of them cheap%s\n", path, r.addresses, r.emulated,
			l->late ? ", late" : "");
	return r.unread ? rc : 0;
}

static bool is_roots(int fd)
{
	struct stat st;

	/* a user that can write the file could move its probes to any instruction */
	return scribe_uprobes_stat(fd, &st) == 0 && st.st_uid == 0 && !(st.st_mode & 022);
}

static void attach_path(void *ctx, const char *path)
{
	int fd = scribe_find_open(path);

	if (fd < 0)
		return;
	if (is_roots(fd))
		(void)scribe_libs_attach_fd(ctx, fd, path, true);
	else
		fprintf(stderr, "ioscribed: %s is not probed for all jobs: others than root may change it\n", path);
	close(fd);
}

/* Opened by a helper with the identity of the command's user. */
static void list(struct scribe_daemon *d, bool cache, const char *paths)
{
	struct scribe_library_search k = {.then = SCRIBE_SEEK_ATTACH,
					  .search = {.what = SCRIBE_SEARCH_LIST, .cache = cache}};

	if (!d->jobs)
		return;
	k.job = d->jobs->index;
	snprintf(k.search.list, sizeof(k.search.list), "%s", paths);
	(void)scribe_searchers_add(d, d->jobs, &k);
}

void scribe_libs_attach_wrap(struct scribe_daemon *d)
{
	struct scribe_libs *l = d->libs;

	if (!l->wrap_path[0] || l->wrap_asked)
		return;
	if (d->service) {
		attach_path(l, l->wrap_path);
		return;
	}
	l->wrap_asked = true;
	list(d, false, l->wrap_path);
}

void scribe_libs_attach_everything(struct scribe_daemon *d)
{
	struct scribe_libs *l = d->libs;

	if (l->everything)
		return;
	l->everything = true;
	scribe_libs_attach_wrap(d);
	if (!d->service) {
		list(d, l->cache, l->paths);
		return;
	}
	if (l->cache)
		scribe_find_cached(l->find, attach_path, l);
	scribe_find_listed(l->paths, attach_path, l);
}

static void tell(struct scribe_libs *l, const struct scribe_err *err)
{
	if (err->code && !l->why[0])
		snprintf(l->why, sizeof(l->why), "%.*s", (int)sizeof(l->why) - 1, err->text);
	if (err->code && l->verbose)
		fprintf(stderr, "ioscribed: %s\n", err->text);
}

static void give_way(struct scribe_daemon *d)
{
	static const char written[] = "a library of its was opened for writing, and lost its probes";
	/* a writer waits for the lease until the probes are detached: from here on calls are missing */
	uint64_t modules = scribe_uprobes_give_way(d->libs->uprobes);

	for (struct scribe_job *job = modules ? d->jobs : NULL; job; job = job->next)
		for (struct scribe_log_unit *u = job->worlds.units; u; u = u->next)
			for (struct scribe_process *p = u->first; p; p = p->next)
				if (!p->ended)
					scribe_mark_incomplete(p, modules, written);
}

void scribe_libs_tick(struct scribe_daemon *d)
{
	struct scribe_libs *l = d->libs;
	struct scribe_err err = {0};

	if (!l)
		return;
	give_way(d);
	if (!scribe_uprobes_busy(l->uprobes))
		return;
	(void)scribe_uprobes_tick(l->uprobes, &err);
	tell(l, &err);
}

bool scribe_libs_busy(const struct scribe_daemon *d)
{
	return d->libs && (d->libs->listing || scribe_uprobes_busy(d->libs->uprobes));
}

void scribe_libs_rest(struct scribe_daemon *d)
{
	struct scribe_libs *l = d->libs;

	if (!l || !l->searched)
		return;
	l->searched = false;
	scribe_uprobes_forget_others(l->uprobes);
	/* they remember files reported before, of which the probes are now forgotten */
	scribe_searchers_end_unused(l);
}

/* For a file that is not root's. NULL: allowed. */
static const char *refuse(void *ctx)
{
	const struct scribe_daemon *d = ctx;

	return strcmp(d->service->config.user_libraries, "always") != 0
		       ? "it is none of the site's, and others are not probed (user_libraries)"
		       : NULL;
}

void scribe_libs_stop(struct scribe_daemon *d, bool for_good)
{
	if (!d->libs)
		return;
	if (for_good)
		scribe_uprobes_free(d->libs->uprobes);
	else
		scribe_uprobes_close_keep_pins(d->libs->uprobes);
	scribe_find_free(d->libs->find);
	scribe_searchers_end(d->libs);
	scribe_libs_read_end(d->libs);
	free(d->libs);
	d->libs = NULL;
}

void scribe_libs_idle(struct scribe_daemon *d)
{
	struct scribe_libs *l = d->libs;
	struct scribe_find *find;

	if (!l || !l->everything)
		return;
	scribe_libs_rest(d);
	scribe_searchers_end(l);
	scribe_libs_read_end(l);
	/* the cache is read again before the next job: the site may have installed libraries */
	l->everything = false;
	find = scribe_find_new(NULL);
	if (find) {
		scribe_find_free(l->find);
		l->find = find;
	}
}

bool scribe_libs_detach_one(struct scribe_daemon *d)
{
	return d->libs && scribe_uprobes_detach_one(d->libs->uprobes);
}

static void on_lease(int number)
{
	(void)number;
}

/* The first job creates the state. Failures leave jobs without library modules. */
void scribe_libs_start(struct scribe_daemon *d, const struct scribe_config *c)
{
	struct scribe_uprobes_options o = {
		.modules = scribe_libs_wanted(c),
		.wrapped = scribe_libs_modules_wrapped(c),
		.level = scribe_libs_level(c),
		.verbose = d->verbose,
		.study = scribe_libs_analyse,
		.refuse = d->service ? refuse : NULL,
		.leases = d->service != NULL,
		.ctx = d,
		.link_maker = scribe_linker_is_there() ? &scribe_linker : NULL,
	};
	const struct sigaction wakes = {.sa_handler = on_lease};
	struct scribe_err err = {0};
	struct scribe_libs *l;

	if (d->libs && d->service)
		scribe_libs_attach_everything(d);
	if (d->libs)
		return;
	if (!o.modules) {
		/* pinned by an earlier daemon */
		scribe_uprobes_drop_pinned(d->bpf);
		return;
	}
	l = calloc(1, sizeof(*l));
	if (!l)
		return;
	/* a writer waits for a lease (uprobes/attach/lease.c): wake the loop */
	sigaction(SIGIO, &wakes, NULL);
	l->roots.sock = l->reader.sock = l->peeker.sock = -1;
	l->verbose = d->verbose;
	l->find = scribe_find_new(NULL);
	if (!l->find || scribe_uprobes_open(d->bpf, &o, &l->uprobes, &err) < 0) {
		/* libraries requested by name: report that there are none */
		if (d->verbose || strcmp(c->trace_libraries, "auto") != 0)
			fprintf(stderr, "ioscribed: %s\n", err.text);
		scribe_find_free(l->find);
		free(l);
		return;
	}
	d->libs = l;
	l->cache = c->library_cache;
	snprintf(l->paths, sizeof(l->paths), "%s", c->library_paths);
	if (!scribe_libs_wrap_library(c, l->wrap_path, sizeof(l->wrap_path)))
		l->wrap_path[0] = 0;
	/* now, because loading later would delay a loop iteration */
	if (d->service)
		scribe_uprobes_load_wanted(l->uprobes);
	/* every program uses streams; which libraries a service's jobs use is not known */
	if (o.modules & 1ull << SCRIBE_MOD_STDIO || d->service)
		scribe_libs_attach_everything(d);
}
