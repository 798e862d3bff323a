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
#include <sys/uio.h>
#include <unistd.h>

#include "logfmt/rules/lib_rules.h"
#include "runtime/daemon/keep.h"
#include "uprobes/attach.h"
#include "uprobes/find.h"
#include "uprobes/tables.h"
#include "uprobes/wire.h"

#define TEXT_MAX        (1u << 20) /* of a command line or environment */
#define WORDS_LOOKED_AT 256
#define CALL_COST_NS    1500 /* of a counted stream call, entry and return, here */
#define GUARD_NS        200000000ull
#define SWEEP_NS        2000000000ull /* between looks at the tables, */
#define SWEEP_ENDED     32            /* or so many ended processes */

struct scribe_libs {
	struct scribe_uprobes *uprobes;
	struct scribe_find *find;
	bool verbose;
	bool late;      /* what is attached now is in use already */
	char *searched; /* the last LD_LIBRARY_PATH of a program */
	uint64_t partial;
	bool stdio_calls;
	uint32_t stdio_share;
	uint64_t begun_ns; /* what is older was attached by an earlier daemon */
	uint64_t guard_ns, guard_calls;
	uint64_t swept_ns;
	uint32_t ended; /* processes since then */
};

static void attach_fd(struct scribe_libs *l, int fd, const char *path)
{
	struct scribe_uprobes_result r;
	struct scribe_err err = {0};

	if (scribe_uprobes_file(l->uprobes, fd, path, &r, &err) < 0 && l->verbose)
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
	attach_fd(ctx, fd, path);
	close(fd);
}

void scribe_libs_start(struct scribe_daemon *d, const struct scribe_config *c)
{
	struct scribe_uprobes_options o = {
		.modules = scribe_libs_modules(c->libraries),
		.inside = scribe_libs_modules_inside(c),
		.stdio_calls = c->stdio_calls,
		.level = scribe_libs_is_auto(c) ? SCRIBE_UPROBE_MULTI : SCRIBE_UPROBE_AUTO,
		.verbose = d->verbose,
	};
	char path[SCRIBE_PATH_MAX];
	struct scribe_err err = {0};
	struct scribe_libs *l;

	if (d->libs)
		return;
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
		if (d->verbose)
			fprintf(stderr, "ioscribed: %s\n", err.text);
		scribe_find_free(l->find);
		free(l);
		return;
	}
	d->libs = l;
	l->guard_ns = scribe_now_ns();
	l->guard_calls = scribe_uprobes_stream_calls(l->uprobes);
	if (scribe_uprobes_dropped_stream_calls(l->uprobes)) {
		l->stdio_calls = false;
		l->partial |= 1ull << SCRIBE_MOD_STDIO;
	}
	if (scribe_libs_inside_library(c, path, sizeof(path)))
		attach(l, path);
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
		scribe_find_needed(l->find, exe, search, attach, l);
	l->late = false;
	free(env);
}

/* ---- libraries that were in use before they were probed ---- */

/* A piece of code of a process. */
struct mapping {
	uint64_t start, offset, ino;
	char file[PATH_MAX + 64]; /* as seen from here */
};

/* The next executable mapping of a file; false: no more. */
static bool next_code(FILE *maps, struct mapping *m)
{
	char line[PATH_MAX + 128];

	while (fgets(line, sizeof(line), maps)) {
		unsigned long long start, offset, ino;
		char perms[8];
		int at = 0;

		if (sscanf(line, "%llx-%*x %7s %llx %*s %llu %n", &start, perms, &offset, &ino, &at) < 4 ||
		    !at || !ino || perms[2] != 'x' || line[at] != '/')
			continue;
		line[strcspn(line, "\n")] = 0;
		m->start = start;
		m->offset = offset;
		m->ino = ino;
		snprintf(m->file, sizeof(m->file), "%s", line + at);
		return true;
	}
	return false;
}

static FILE *maps_of(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	return fopen(path, "re");
}

/* Has the library been started in this process? Unknown is yes. */
static bool has_begun(pid_t pid, const struct scribe_begun *b, uint64_t base)
{
	uint32_t value = 0;
	struct iovec here = {&value, b->bytes}, there = {(void *)(uintptr_t)(base + b->vaddr), b->bytes};

	if (!b->vaddr || b->bytes > sizeof(value))
		return true;
	return process_vm_readv(pid, &here, 1, &there, 1, 0) != b->bytes || value >= b->least;
}

static uint64_t base_of(const struct scribe_uprobed *f, const struct mapping *m)
{
	return m->start - (m->offset + f->bias);
}

/* MPI, without which nobody calls PnetCDF. */
static bool mpi_has_begun(struct scribe_libs *l, pid_t pid)
{
	FILE *maps = maps_of(pid);
	bool begun = false, found = false;
	struct mapping m;

	while (maps && !begun && next_code(maps, &m)) {
		const struct scribe_uprobed *f = scribe_uprobes_known_inode(l->uprobes, m.ino);

		for (unsigned i = 0; f && i < f->nlibraries; i++) {
			if (f->library[i].layer != SCRIBE_LAYER_MPIIO)
				continue;
			found = true;
			begun |= has_begun(pid, &f->library[i].begun, base_of(f, &m));
		}
	}
	if (maps)
		fclose(maps);
	return begun || !found;
}

/* Modules of which calls may have gone by in a process that mapped the file before it was probed. */
static uint64_t missed_in(struct scribe_libs *l, pid_t pid, const struct scribe_uprobed *f,
			  const struct mapping *m)
{
	uint64_t missed = 0;

	for (unsigned i = 0; i < f->nlibraries; i++) {
		bool begun = f->library[i].layer == SCRIBE_LAYER_PNETCDF
				     ? mpi_has_begun(l, pid)
				     : has_begun(pid, &f->library[i].begun, base_of(f, m));

		if (begun)
			missed |= f->library[i].modules;
	}
	return missed;
}

/* Open the file that is mapped: the name may be another one here than in the process's root. */
static int open_mapped(pid_t pid, const struct mapping *m, char *ret_name, size_t cap)
{
	for (int i = 0; i < 2; i++) {
		struct stat st;
		int fd;

		if (i == 0)
			snprintf(ret_name, cap, "%s", m->file);
		else
			snprintf(ret_name, cap, "/proc/%d/root%s", (int)pid, m->file);
		fd = open(ret_name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd >= 0 && fstat(fd, &st) == 0 && st.st_ino == m->ino)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

/* The mapping of an inode, opened and looked at. */
static const struct scribe_uprobed *look_at(struct scribe_libs *l, pid_t pid, uint64_t ino, struct mapping *m)
{
	const struct scribe_uprobed *f = NULL;
	FILE *maps = maps_of(pid);
	char name[PATH_MAX + 128];
	struct stat st;
	int fd = -1;

	while (maps && fd < 0 && next_code(maps, m))
		if (m->ino == ino)
			fd = open_mapped(pid, m, name, sizeof(name));
	if (maps)
		fclose(maps);
	if (fd < 0)
		return NULL;
	l->late = true;
	attach_fd(l, fd, name);
	l->late = false;
	if (fstat(fd, &st) == 0)
		f = scribe_uprobes_known(l->uprobes, st.st_dev, st.st_ino);
	close(fd);
	return f;
}

void scribe_libs_mapped(struct scribe_daemon *d, const struct scribe_process *p, uint64_t dev, uint64_t ino,
			uint64_t when_ns)
{
	struct scribe_libs *l = d->libs;
	const struct scribe_uprobed *f;
	struct mapping m;
	uint64_t missed;

	if (!l)
		return;
	/* the kernel's form of a device number is another than stat's */
	f = scribe_uprobes_known(l->uprobes, makedev(dev >> 20, dev & 0xfffff), ino);
	if (!f)
		f = look_at(l, p->tgid, ino, &m);
	if (f)
		scribe_missed(p, f->refused);
	if (!f || !f->modules || f->since_ns <= when_ns)
		return;
	/* where it lies in this process */
	f = look_at(l, p->tgid, ino, &m);
	if (!f)
		return;
	missed = missed_in(l, p->tgid, f, &m);
	scribe_missed(p, missed);
	if (missed && l->verbose)
		fprintf(stderr, "ioscribed: %s: was called before it was probed, by %d\n", m.file, p->tgid);
}

void scribe_libs_resumed(struct scribe_daemon *d, const struct scribe_process *p)
{
	FILE *maps = d->libs ? maps_of(p->tgid) : NULL;
	struct mapping m;

	while (maps && next_code(maps, &m)) {
		const struct scribe_uprobed *f = scribe_uprobes_known_inode(d->libs->uprobes, m.ino);

		/* of probes that an earlier daemon has left each mapping is judged when it is told */
		if (f && f->since_ns >= d->libs->begun_ns)
			scribe_missed(p, missed_in(d->libs, p->tgid, f, &m));
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

static int by_serial(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Serials in the kernel's process table, in order; read when first asked for. */
struct living {
	const struct scribe_daemon *d;
	uint32_t *serial;
	size_t n;
};

static bool is_living(void *ctx, uint32_t serial)
{
	struct living *l = ctx;

	if (!l->serial) {
		l->serial = malloc((l->d->processes + 1) * sizeof(*l->serial));
		if (!l->serial)
			return true;
		for (uint32_t i = 1; i <= l->d->processes; i++) {
			const struct scribe_proc *p = scribe_bpf_proc(l->d->bpf, i);

			if (p && p->serial)
				l->serial[l->n++] = p->serial;
		}
		qsort(l->serial, l->n, sizeof(*l->serial), by_serial);
	}
	return l->n && bsearch(&serial, l->serial, l->n, sizeof(serial), by_serial);
}

/* Who lives is read for each table anew, when its entries have been. */
static void sweep_table(struct scribe_daemon *d, const char *name)
{
	struct living living = {.d = d};

	scribe_tables_sweep(scribe_uprobes_table(d->libs->uprobes, name), is_living, &living);
	free(living.serial);
}

/* To every job, because any may have a record with it. */
static void take_shape(void *ctx, int64_t key, const struct scribe_shape *shape)
{
	struct scribe_daemon *d = ctx;
	struct scribe_shape known;

	for (struct scribe_work *w = d->works; w; w = w->next)
		if (w->shapes.by_key.used < SCRIBE_SHAPES_MAX &&
		    !scribe_shapes_find(&w->shapes, key, &known) &&
		    scribe_shapes_keep(&w->shapes, key, shape) < 0)
			w->memory_out++;
}

void scribe_libs_ended(struct scribe_daemon *d)
{
	if (d->libs)
		d->libs->ended++;
}

void scribe_libs_sweep(struct scribe_daemon *d)
{
	struct scribe_libs *l = d->libs;
	uint64_t now = scribe_now_ns();

	if (!l || !l->ended || (l->ended < SWEEP_ENDED && now - l->swept_ns < SWEEP_NS))
		return;
	sweep_table(d, "scribe_handles");
	sweep_table(d, "scribe_above");
	scribe_tables_move_shapes(scribe_uprobes_table(l->uprobes, "scribe_shapes"), take_shape, d);
	l->ended = 0;
	l->swept_ns = now;
}

bool scribe_libs_shape(const struct scribe_daemon *d, int64_t key, struct scribe_shape *ret_shape)
{
	return d->libs && scribe_uprobes_shape(d->libs->uprobes, key, ret_shape);
}

size_t scribe_libs_covered(const struct scribe_daemon *d, uint32_t image,
			   struct scribe_probe_byte ret_byte[SCRIBE_PROBE_BYTES_MAX])
{
	return d->libs ? scribe_uprobes_covered(d->libs->uprobes, image, ret_byte) : 0;
}

uint64_t scribe_libs_partial(const struct scribe_daemon *d)
{
	return d->libs ? d->libs->partial : 0;
}

void scribe_libs_stop(struct scribe_daemon *d, bool for_good)
{
	if (!d->libs)
		return;
	if (for_good)
		scribe_uprobes_free(d->libs->uprobes);
	else
		scribe_uprobes_leave(d->libs->uprobes);
	scribe_find_free(d->libs->find);
	free(d->libs->searched);
	free(d->libs);
	d->libs = NULL;
}
