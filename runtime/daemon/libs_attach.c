// SPDX-License-Identifier: BSD-3-Clause
/*
 * Which libraries are attached to, and when: what a process needs that is about to run,
 * or has begun to; all that are known of, where it may come to use any. Must not know
 * of records or logs.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logfmt/rules/lib_rules.h"
#include "runtime/daemon/libs_private.h"

#define TEXT_MAX        (1u << 20) /* of a command line or environment */
#define WORDS_LOOKED_AT 256

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
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return;
	scribe_libs_attach_fd(ctx, fd, path);
	close(fd);
}

/* A process has come that may use any library: what is known of is attached to before it does. */
static void attach_everything(struct scribe_libs *l)
{
	if (l->everything)
		return;
	l->everything = true;
	if (l->inside[0])
		attach(l, l->inside);
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

static char *read_text(pid_t pid, const char *what, size_t *ret_n)
{
	char path[64], *text = malloc(TEXT_MAX + 1);
	size_t n = 0;
	ssize_t got = 1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (text && fd >= 0 && got > 0 && n < TEXT_MAX) {
		got = read(fd, text + n, TEXT_MAX - n);
		n += got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0)
		close(fd);
	if (text)
		text[n] = 0;
	*ret_n = n;
	return text;
}

/* Value of a variable in an environment of NUL-ended strings; "" none. */
static const char *variable(const char *text, size_t n, const char *name)
{
	size_t k = strlen(name);

	for (size_t at = 0; text && at < n; at += strlen(text + at) + 1)
		if (!strncmp(text + at, name, k) && text[at + k] == '=')
			return text + at + k + 1;
	return "";
}

/* The program a word names: a path, or found by PATH. */
static bool program_of(pid_t pid, const char *word, const char *path_list, char *ret, size_t cap)
{
	struct stat st;

	if (word[0] == '/')
		snprintf(ret, cap, "%s", word);
	else if (strchr(word, '/'))
		snprintf(ret, cap, "/proc/%d/cwd/%s", (int)pid, word);
	if (strchr(word, '/'))
		return stat(ret, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0111);
	while (*path_list) {
		size_t n = strcspn(path_list, ":");

		if (n && (size_t)snprintf(ret, cap, "%.*s/%s", (int)n, path_list, word) < cap &&
		    stat(ret, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0111))
			return true;
		path_list += n + (path_list[n] == ':');
	}
	return false;
}

/* Known libraries that it needs are attached to; all, where it may come to use any. */
static void attach_needed(struct scribe_libs *l, const char *program, const char *search)
{
	size_t before = scribe_uprobes_attached(l->uprobes);

	if (scribe_find_needed(l->find, program, search, attach, l))
		attach_everything(l);
	else if (l->inside[0] && scribe_uprobes_attached(l->uprobes) > before)
		attach(l, l->inside);
}

/* Where the last `words` strings of the text begin; 0: it does not hold so many, or all of it is not known. */
static size_t last_words(const char *text, size_t n, uint32_t words)
{
	size_t at = n;

	if (!text || n >= TEXT_MAX || !n || text[n - 1])
		return 0;
	for (; words && at; words--)
		for (at--; at && text[at - 1];)
			at--;
	return at;
}

void scribe_libs_before(struct scribe_daemon *d, pid_t pid, uint32_t words)
{
	struct scribe_libs *l = d->libs;
	char *text, *env, program[PATH_MAX];
	const char *search;
	size_t n, nenv, first, seen = 0;

	if (!l)
		return;
	text = read_text(pid, "cmdline", &n);
	env = read_text(pid, "environ", &nenv);
	search = variable(env, nenv, "LD_LIBRARY_PATH");
	first = words ? last_words(text, n, words) : 0;
	if (!first || variable(env, nenv, "LD_PRELOAD")[0])
		attach_everything(l);
	for (size_t at = first; text && at < n && seen < WORDS_LOOKED_AT; at += strlen(text + at) + 1, seen++) {
		const char *word = text + at;

		/* what the program cannot start, or load, need not be looked at */
		if (seen && !l->everything)
			break;
		/* "-x" and "A=B" are no programs; a word of `env` may be both */
		if (word[0] == '-' || !word[0])
			continue;
		if (!strncmp(word, "LD_LIBRARY_PATH=", 16))
			scribe_find_listed(word + 16, attach, l);
		if (program_of(pid, word, variable(env, nenv, "PATH"), program, sizeof(program)))
			attach_needed(l, program, search);
	}
	if (l->everything)
		scribe_find_listed(search, attach, l);
	free(text);
	free(env);
}

static bool same_root(pid_t pid)
{
	struct stat ours, its;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root/", (int)pid);
	return stat("/", &ours) == 0 && stat(path, &its) == 0 && ours.st_dev == its.st_dev &&
	       ours.st_ino == its.st_ino;
}

void scribe_libs_exec(struct scribe_daemon *d, const struct scribe_process *p)
{
	struct scribe_libs *l = d->libs;
	const char *search;
	char exe[64], *env;
	struct stat st;
	size_t n;

	if (!l)
		return;
	snprintf(exe, sizeof(exe), "/proc/%d/exe", p->tgid);
	/* below another root its names mean other files: those are found when it maps them */
	if (stat(exe, &st) < 0 || !same_root(p->tgid))
		return;
	env = read_text(p->tgid, "environ", &n);
	search = variable(env, n, "LD_LIBRARY_PATH");
	l->late = true;
	if (!l->searched || strcmp(l->searched, search) != 0) {
		scribe_find_listed(search, attach, l);
		free(l->searched);
		l->searched = strdup(search);
	}
	if (!scribe_uprobes_known(l->uprobes, st.st_dev, st.st_ino))
		attach_needed(l, exe, search);
	l->late = false;
	free(env);
}
