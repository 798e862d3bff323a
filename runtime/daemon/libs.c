// SPDX-License-Identifier: BSD-3-Clause
/* Library modules: when to attach to what. Must not know of records or logs. */
#include "runtime/daemon/libs.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "uprobes/attach.h"
#include "uprobes/find.h"

#define TEXT_MAX        (1u << 20) /* of a command line or environment */
#define WORDS_LOOKED_AT 256
#define CALL_COST_NS    1500 /* of a counted stream call, entry and return, here */
#define GUARD_NS        200000000ull

struct scribe_libs {
	struct scribe_uprobes *uprobes;
	struct scribe_find *find;
	bool verbose;
	bool late; /* what is attached now may have been called before */
	uint64_t partial;
	bool stdio_calls;
	uint32_t stdio_share;
	uint64_t guard_ns, guard_calls;
};

static uint64_t modules_of(const char *list)
{
	static const struct {
		const char *name;
		uint64_t modules;
	} known[] = {
		{"stdio", 1ull << SCRIBE_MOD_STDIO},
		{"mpiio", 1ull << SCRIBE_MOD_MPIIO},
		{"hdf5", 1ull << SCRIBE_MOD_H5F | 1ull << SCRIBE_MOD_H5D},
		{"pnetcdf", 1ull << SCRIBE_MOD_PNETCDF_FILE | 1ull << SCRIBE_MOD_PNETCDF_VAR},
	};
	uint64_t modules = 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const char *at = strstr(list, known[i].name);

		if (at && (at == list || at[-1] == ',' || at[-1] == ' '))
			modules |= known[i].modules;
		if (!strcmp(list, "all"))
			modules |= known[i].modules;
	}
	return modules;
}

static void attach(void *ctx, const char *path)
{
	struct scribe_libs *l = ctx;
	struct scribe_uprobes_result r;
	struct scribe_err err = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return;
	if (scribe_uprobes_file(l->uprobes, fd, path, &r, &err) < 0 && l->verbose)
		fprintf(stderr, "ioscribed: %s\n", err.text);
	else if (r.fresh && l->verbose)
		fprintf(stderr, "ioscribed: %s: %u places probed, %u of them cheap%s\n", path, r.places,
			r.cheap, l->late ? ", late" : "");
	if (r.fresh && l->late)
		l->partial |= r.modules;
	close(fd);
}

void scribe_libs_start(struct scribe_daemon *d, const struct scribe_config *c)
{
	struct scribe_uprobes_options o = {
		.modules = modules_of(c->libraries),
		.stdio_calls = c->stdio_calls,
		.verbose = d->verbose,
	};
	struct scribe_err err = {0};
	struct scribe_libs *l;

	if (!o.modules || d->libs)
		return;
	l = calloc(1, sizeof(*l));
	if (!l)
		return;
	l->verbose = d->verbose;
	l->stdio_calls = c->stdio_calls;
	l->stdio_share = c->stdio_share;
	l->find = scribe_find_new(NULL);
	if (!l->find || scribe_uprobes_open(d->bpf, &o, &l->uprobes, &err) < 0) {
		if (d->verbose)
			fprintf(stderr, "ioscribed: %s\n", err.text);
		scribe_find_free(l->find);
		free(l);
		return;
	}
	d->libs = l;
	l->guard_ns = scribe_now_ns();
	if (c->library_cache)
		scribe_find_cached(l->find, attach, l);
	scribe_find_listed(c->library_paths, attach, l);
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

void scribe_libs_before(struct scribe_daemon *d, pid_t pid)
{
	struct scribe_libs *l = d->libs;
	char *words, *env, program[PATH_MAX];
	size_t nwords, nenv, seen = 0;

	if (!l)
		return;
	words = read_text(pid, "cmdline", &nwords);
	env = read_text(pid, "environ", &nenv);
	scribe_find_listed(variable(env, nenv, "LD_LIBRARY_PATH"), attach, l);
	for (size_t at = 0; words && at < nwords && seen < WORDS_LOOKED_AT;
	     at += strlen(words + at) + 1, seen++) {
		const char *word = words + at;

		/* "-x" and "A=B" are no programs; a word of `env` may be both */
		if (word[0] == '-' || !word[0])
			continue;
		if (!strncmp(word, "LD_LIBRARY_PATH=", 16))
			scribe_find_listed(word + 16, attach, l);
		if (program_of(pid, word, variable(env, nenv, "PATH"), program, sizeof(program)))
			scribe_find_needed(l->find, program, variable(env, nenv, "LD_LIBRARY_PATH"), attach,
					   l);
	}
	free(words);
	free(env);
}

void scribe_libs_exec(struct scribe_daemon *d, const struct scribe_process *p)
{
	struct scribe_libs *l = d->libs;
	char exe[64], *env;
	struct stat st;
	size_t n;

	if (!l)
		return;
	snprintf(exe, sizeof(exe), "/proc/%d/exe", p->tgid);
	if (stat(exe, &st) < 0 || scribe_uprobes_knows(l->uprobes, st.st_dev, st.st_ino))
		return;
	env = read_text(p->tgid, "environ", &n);
	l->late = true;
	scribe_find_needed(l->find, exe, variable(env, n, "LD_LIBRARY_PATH"), attach, l);
	l->late = false;
	free(env);
}

void scribe_libs_mapped(struct scribe_daemon *d, const struct scribe_process *p, uint64_t dev, uint64_t ino)
{
	struct scribe_libs *l = d->libs;
	char path[64], line[PATH_MAX + 128], file[PATH_MAX + 64];
	FILE *maps;

	/* the kernel's form of a device number is another than stat's */
	if (!l || scribe_uprobes_knows(l->uprobes, makedev(dev >> 20, dev & 0xfffff), ino))
		return;
	snprintf(path, sizeof(path), "/proc/%d/maps", p->tgid);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned major_no, minor_no;
		unsigned long long inode;
		char perms[8];
		int at = 0;

		if (sscanf(line, "%*s %7s %*s %x:%x %llu %n", perms, &major_no, &minor_no, &inode, &at) < 4 ||
		    !at || inode != ino || perms[2] != 'x')
			continue;
		line[strcspn(line, "\n")] = 0;
		snprintf(file, sizeof(file), "/proc/%d/root%s", p->tgid, line + at);
		l->late = true;
		attach(l, file);
		l->late = false;
		break;
	}
	if (maps)
		fclose(maps);
}

/* Streams whose calls are no longer counted: from now on their system calls are. */
static void forget_calls(struct scribe_daemon *d)
{
	for (uint32_t i = 1; i <= d->processes; i++) {
		const struct scribe_proc *p = scribe_bpf_proc(d->bpf, i);
		uint32_t at = p && p->serial ? p->head : 0;

		for (uint32_t n = 0; at && n < d->slots; n++) {
			struct scribe_slot *s = scribe_bpf_slot(d->bpf, at);

			if (!s || s->serial != p->serial)
				break;
			if (s->kind == SCRIBE_KIND_STDIO)
				__atomic_fetch_and(&s->flags, ~(uint32_t)SCRIBE_SF_CALLS, __ATOMIC_RELAXED);
			at = s->next == SCRIBE_LINKING ? 0 : s->next;
		}
	}
}

void scribe_libs_guard(struct scribe_daemon *d)
{
	struct scribe_libs *l = d->libs;
	uint64_t now = scribe_now_ns(), calls, spent;

	if (!l || !l->stdio_calls || now - l->guard_ns < GUARD_NS)
		return;
	calls = scribe_uprobes_stream_calls(l->uprobes);
	spent = (calls - l->guard_calls) * CALL_COST_NS;
	if (spent * 100 > (now - l->guard_ns) * l->stdio_share) {
		scribe_uprobes_drop_stream_calls(l->uprobes);
		forget_calls(d);
		l->stdio_calls = false;
		l->partial |= 1ull << SCRIBE_MOD_STDIO;
		if (l->verbose)
			fprintf(stderr, "ioscribed: counting stream calls cost too much: stopped\n");
	}
	l->guard_calls = calls;
	l->guard_ns = now;
}

bool scribe_libs_shape(const struct scribe_daemon *d, int64_t key, struct scribe_shape *ret_shape)
{
	return d->libs && scribe_uprobes_shape(d->libs->uprobes, key, ret_shape);
}

uint64_t scribe_libs_partial(const struct scribe_daemon *d)
{
	return d->libs ? d->libs->partial : 0;
}

void scribe_libs_stop(struct scribe_daemon *d)
{
	if (!d->libs)
		return;
	scribe_uprobes_free(d->libs->uprobes);
	scribe_find_free(d->libs->find);
	free(d->libs);
	d->libs = NULL;
}
