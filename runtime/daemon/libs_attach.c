// SPDX-License-Identifier: BSD-3-Clause
/*
 * Which libraries are attached to, and when: what a process needs that is about to run,
 * or has begun to; all that are known of, where it may come to use any. Must not know
 * of records or logs.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logfmt/rules/lib_rules.h"
#include "runtime/daemon/libs_private.h"

void scribe_libs_attach_fd(struct scribe_libs *l, int fd, const char *path)
{
	struct scribe_uprobes_result r;
	struct scribe_err err = {0};

	int rc = scribe_uprobes_file(l->uprobes, fd, path, &r, &err);

	if (rc < 0 && !l->why[0])
		snprintf(l->why, sizeof(l->why), "%.*s", (int)sizeof(l->why) - 1, err.text);
	if (rc < 0 && l->verbose)
		fprintf(stderr, "ioscribed: %s\n", err.text);
	else if (r.fresh && l->verbose)
		fprintf(stderr, "ioscribed: %s: %u places probed, %u of them cheap%s\n", path, r.places,
			r.cheap, l->late ? ", late" : "");
}

static void attach(void *ctx, const char *path)
{
	int fd = scribe_find_open(path);

	if (fd < 0)
		return;
	scribe_libs_attach_fd(ctx, fd, path);
	close(fd);
}

void scribe_libs_attach_inside(struct scribe_libs *l)
{
	if (l->inside[0])
		attach(l, l->inside);
}

/* A process has come that may use any library: what is known of is attached to before it does. */
static void attach_everything(struct scribe_libs *l)
{
	if (l->everything)
		return;
	l->everything = true;
	scribe_libs_attach_inside(l);
	if (l->cache)
		scribe_find_cached(l->find, attach, l);
	scribe_find_listed(l->paths, attach, l);
}

void scribe_libs_start(struct scribe_daemon *d, const struct scribe_config *c)
{
	struct scribe_uprobes_options o = {
		.modules = scribe_libs_wanted(c),
		.inside = scribe_libs_modules_inside(c),
		.stdio_calls = c->stdio_calls,
		.level = scribe_libs_level(c),
		.verbose = d->verbose,
		.study = scribe_libs_study,
		.ctx = d,
	};
	struct scribe_err err = {0};
	struct scribe_libs *l;

	if (d->libs)
		return;
	if (c->stdio_calls && !(o.modules & 1ull << SCRIBE_MOD_STDIO))
		fprintf(stderr, "ioscribed: stdio_calls = yes counts nothing: libraries = %s has no stdio\n",
			c->libraries);
	if (!o.modules) {
		/* an earlier daemon may have wanted some */
		scribe_uprobes_drop_pinned(d->bpf);
		return;
	}
	l = calloc(1, sizeof(*l));
	if (!l)
		return;
	l->roots.sock = l->reader.sock = l->peeker.sock = -1;
	l->begun_ns = scribe_now_ns();
	l->verbose = d->verbose;
	l->stdio_calls = c->stdio_calls;
	l->stdio_share = c->stdio_share;
	l->find = scribe_find_new(NULL);
	if (!l->find || scribe_uprobes_open(d->bpf, &o, &l->uprobes, &err) < 0) {
		/* who asked for libraries by name is told that there are none */
		if (d->verbose || strcmp(c->libraries, "auto") != 0)
			fprintf(stderr, "ioscribed: %s\n", err.text);
		scribe_find_free(l->find);
		free(l);
		return;
	}
	d->libs = l;
	l->guard_ns = scribe_now_ns();
	l->guard_calls = scribe_uprobes_stream_calls(l->uprobes);
	if (scribe_uprobes_dropped_stream_calls(l->uprobes))
		l->stdio_calls = false;
	l->cache = c->library_cache;
	snprintf(l->paths, sizeof(l->paths), "%s", c->library_paths);
	if (!scribe_libs_inside_library(c, l->inside, sizeof(l->inside)))
		l->inside[0] = 0;
	/* every program uses streams; and nobody says beforehand what joins a service's job */
	if (o.modules & 1ull << SCRIBE_MOD_STDIO || d->service)
		attach_everything(l);
}

/* A file as known of; false: it cannot be told. */
static bool stat_at(const char *path, struct stat *ret)
{
	int fd = open(path, O_PATH | O_CLOEXEC), rc;

	if (fd < 0)
		return false;
	rc = scribe_uprobes_stat(fd, ret);
	close(fd);
	return rc == 0;
}

/* Files that a process needs are attached to; all, where it may come to use any. */
static void attach_needed(struct scribe_daemon *d, struct scribe_work *w, const struct scribe_search *s)
{
	struct scribe_libs *l = d->libs;
	size_t before = scribe_uprobes_attached(l->uprobes);

	if (scribe_libs_search(d, w, s, NULL))
		attach_everything(l);
	else if (scribe_uprobes_attached(l->uprobes) > before)
		scribe_libs_attach_inside(l);
}

void scribe_libs_before(struct scribe_daemon *d, struct scribe_work *w, pid_t pid, uint32_t words)
{
	struct scribe_search s = {.what = SCRIBE_SEARCH_COMMAND, .pid = pid, .words = words};

	if (!d->libs)
		return;
	s.any = d->libs->everything;
	attach_needed(d, w, &s);
}

static bool same_root(pid_t pid)
{
	struct stat ours, its;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root/", (int)pid);
	return stat_at("/", &ours) && stat_at(path, &its) && ours.st_dev == its.st_dev && ours.st_ino == its.st_ino;
}

void scribe_libs_exec(struct scribe_daemon *d, const struct scribe_process *p)
{
	struct scribe_search s = {.what = SCRIBE_SEARCH_PROGRAM, .pid = p->tgid};
	struct scribe_libs *l = d->libs;
	char exe[64];
	struct stat st;

	if (!l)
		return;
	snprintf(exe, sizeof(exe), "/proc/%d/exe", p->tgid);
	/* below another root its names mean other files: those are found when it maps them */
	if (!stat_at(exe, &st) || !same_root(p->tgid))
		return;
	s.known = scribe_uprobes_known(l->uprobes, st.st_dev, st.st_ino) != NULL;
	l->late = true;
	attach_needed(d, p->work, &s);
	l->late = false;
}
