/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The directory of a job's parts. State is only in file names, made by rename or O_EXCL, so that any node can
 * continue. In the daemon's helper with the job user's identity and in `ioscribe merge`. Must not know records.
 */
#include "logfmt/nodes/parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "logfmt/nodes/many.h"
#include "logfmt/nodes/part.h"
#include "logfmt/nodes/parts_join.h"
#include "logfmt/nodes/put_log.h"

#define PATH_BYTES   4400
#define CLAIM        "merging"
#define FRESH        "fresh"    /* a log that is not complete yet */
#define ENTRIES_MAX  1000000    /* more than any job has: a directory that was filled by mistake */
#define DELIVERY_MAX (1u << 20) /* bytes of NODE.done */

struct entry {
	char *name;
	char *world, *node; /* "": none; both in `name`'s memory */
	const char *kind;
};

struct delivery {
	const char *node;
	long nodes;
	char *text;
};

struct scan {
	const char *dir;
	struct entry *entry;
	size_t n, capacity;
	struct delivery *delivery;
	size_t ndeliveries;
	long nodes; /* of the job by the deliveries; 0: unknown */
	char missing[512];
	bool complete;
};

/* Bytes of the parent's path; 0: the current directory. */
static size_t parent_bytes(const char *dir, size_t n)
{
	while (n && dir[n - 1] != '/')
		n--;
	return n ? n - 1 : 0;
}

/* Bytes of the path of the directory of logs. */
static size_t place_bytes(const char *dir)
{
	size_t n = parent_bytes(dir, strlen(dir)), all = strlen(SCRIBE_PARTS_ALL);

	if (n > all && dir[n - all - 1] == '/' && !memcmp(dir + n - all, SCRIBE_PARTS_ALL, all))
		return n - all - 1;
	return n;
}

static void path_of(const char *dir, const char *name, char *ret)
{
	snprintf(ret, PATH_BYTES, "%s/%s", dir, name);
}

static void scan_clear(struct scan *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->entry[i].name);
	for (size_t i = 0; i < s->ndeliveries; i++)
		free(s->delivery[i].text);
	free(s->entry);
	free(s->delivery);
	*s = (struct scan){.dir = s->dir};
}

static int add_entry(struct scan *s, const char *name)
{
	size_t len = strlen(name);
	struct entry *e;
	char *at, *dot[3] = {NULL, NULL, NULL};
	int dots = 0;

	if (s->n == ENTRIES_MAX)
		return -E2BIG;
	if (s->n == s->capacity) {
		size_t capacity = s->capacity ? s->capacity * 2 : 64;
		struct entry *more = realloc(s->entry, capacity * sizeof(*more));

		if (!more)
			return -ENOMEM;
		s->entry = more;
		s->capacity = capacity;
	}
	e = &s->entry[s->n];
	e->name = malloc(2 * len + 2);
	if (!e->name)
		return -ENOMEM;
	memcpy(e->name, name, len + 1);
	at = e->name + len + 1;
	memcpy(at, name, len + 1);
	e->world = e->node = at + len; /* "" */
	e->kind = at;
	for (char *p = at; *p; p++)
		if (*p == '.' && dots < 3)
			dot[dots++] = p;
	if (dots == 1 || dots == 2) {
		for (int i = 0; i < dots; i++)
			*dot[i] = 0;
		e->kind = dot[dots - 1] + 1;
		e->node = dots == 2 ? dot[0] + 1 : at;
		e->world = dots == 2 ? at : at + len;
		if (dots == 1 && !strcmp(e->kind, SCRIBE_PART_RANKS)) {
			e->world = at;
			e->node = at + len;
		}
	}
	s->n++;
	return 0;
}

static bool is(const struct entry *e, const char *kind)
{
	return !strcmp(e->kind, kind);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static bool has(const struct scan *s, const char *name)
{
	struct entry key = {.name = (char *)(uintptr_t)name};

	return s->n && bsearch(&key, s->entry, s->n, sizeof(*s->entry), by_name);
}

/* A regular file as a string that the caller frees, or NULL. */
static char *read_text(const char *dir, const char *name)
{
	char path[PATH_BYTES], *text;
	struct stat st;
	ssize_t n;
	int fd;

	path_of(dir, name, path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	text = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size < DELIVERY_MAX ? malloc((size_t)st.st_size + 1)
										       : NULL;
	n = text ? pread(fd, text, (size_t)st.st_size, 0) : -1;
	close(fd);
	if (n < 0) {
		free(text);
		return NULL;
	}
	text[n] = 0;
	return text;
}

/* The next "part=NAME" from *at on. */
static bool next_part(const char **at, char *ret, size_t cap)
{
	const char *line = strstr(*at, "\npart=");
	size_t n;

	if (!line)
		return false;
	line += strlen("\npart=");
	n = strcspn(line, "\n");
	*at = line + n;
	snprintf(ret, cap, "%.*s", (int)(n < NAME_MAX ? n : NAME_MAX), line);
	return true;
}

static bool delivered(const struct scan *s, const char *node)
{
	for (size_t i = 0; i < s->ndeliveries; i++)
		if (!strcmp(s->delivery[i].node, node))
			return true;
	return false;
}

/* Cut if too long: only for messages and metadata. */
static void add_missing(struct scan *s, const char *what)
{
	size_t n = strlen(s->missing);

	snprintf(s->missing + n, sizeof(s->missing) - n, "%s%s", n ? "," : "", what);
}

static void find_missing(struct scan *s)
{
	long known = (long)s->ndeliveries;
	char text[64];

	for (size_t i = 0; i < s->n; i++)
		if (is(&s->entry[i], SCRIBE_PART_BEGUN) && !delivered(s, s->entry[i].node)) {
			add_missing(s, s->entry[i].node);
			known++;
		}
	if (s->nodes > known) {
		snprintf(text, sizeof(text), "%s%ld%s", s->missing[0] ? "+" : "", s->nodes - known,
			 s->missing[0] ? "" : " unknown");
		add_missing(s, text);
	}
	if (!s->nodes && !s->missing[0])
		add_missing(s, "unknown");
}

static int read_deliveries(struct scan *s)
{
	char name[NAME_MAX + 1];

	s->delivery = calloc(s->n + 1, sizeof(*s->delivery));
	if (!s->delivery)
		return -ENOMEM;
	s->complete = true;
	for (size_t i = 0; i < s->n; i++) {
		struct delivery *d = &s->delivery[s->ndeliveries];
		const char *at;

		if (!is(&s->entry[i], SCRIBE_PART_DONE) || s->entry[i].world[0])
			continue;
		d->text = read_text(s->dir, s->entry[i].name);
		if (!d->text)
			continue;
		d->node = s->entry[i].node;
		if (sscanf(d->text, "nodes=%ld", &d->nodes) == 1 && d->nodes > s->nodes)
			s->nodes = d->nodes;
		s->ndeliveries++;
		/* On a network file system a delivery can be visible before its parts. */
		for (at = d->text; next_part(&at, name, sizeof(name));)
			s->complete = s->complete && has(s, name);
	}
	find_missing(s);
	s->complete = s->complete && s->nodes && (long)s->ndeliveries >= s->nodes;
	return 0;
}

static int check_dir(const char *dir, struct scribe_err *err)
{
	struct stat st;

	if (lstat(dir, &st) < 0)
		return scribe_err_set(err, -errno, "%s: %s", dir, strerror(errno));
	/* Files in it are trusted, so only the caller's user may write there. */
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 022)
		return scribe_err_set(err, -EPERM, "%s is no directory that only its owner, you, may write to", dir);
	return 0;
}

/* A snapshot: a merge scans again after its claim. */
static int scan(struct scan *s, struct scribe_err *err)
{
	int rc = check_dir(s->dir, err);
	DIR *dir = rc == 0 ? opendir(s->dir) : NULL;
	struct dirent *e;

	if (rc < 0)
		return rc;
	if (!dir)
		return scribe_err_set(err, -errno, "%s: %s", s->dir, strerror(errno));
	while (rc == 0 && (e = readdir(dir)))
		if (e->d_name[0] != '.')
			rc = add_entry(s, e->d_name);
	closedir(dir);
	if (rc == 0 && s->n)
		qsort(s->entry, s->n, sizeof(*s->entry), by_name);
	if (rc == 0)
		rc = read_deliveries(s);
	return rc < 0 ? scribe_err_set(err, rc, "%s: %s", s->dir, scribe_strerror(rc)) : 0;
}

/* The claim is too old, or of a process of this node that has exited. */
static bool is_stale(const struct scan *s, const char *path)
{
	char host[256] = "", by[256], *who = read_text(s->dir, CLAIM);
	struct stat st;
	long pid = 0;
	bool gone = false;

	gethostname(host, sizeof(host) - 1);
	/* The state of a process on another node is unknown: then only the age counts. */
	if (who && sscanf(who, "%255[^,], process %ld", by, &pid) == 2 && pid > 0 && !strcmp(by, host))
		gone = kill((pid_t)pid, 0) < 0 && errno == ESRCH;
	free(who);
	return gone || (lstat(path, &st) == 0 && st.st_mtime + SCRIBE_PARTS_STALE_S < time(NULL));
}

static int claim(const struct scan *s, bool take_over, struct scribe_err *err)
{
	char path[PATH_BYTES], host[256] = "", *who;
	int fd;

	path_of(s->dir, CLAIM, path);
	/* Also on network file systems only one process can create the name. */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 && errno == EEXIST && take_over && is_stale(s, path) && unlink(path) == 0)
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 && errno == EEXIST) {
		who = read_text(s->dir, CLAIM);
		scribe_err_set(err, -EBUSY, "%s: its logs are being made by %.100s", s->dir,
			       who && who[0] ? who : "another node");
		free(who);
		return -EBUSY;
	}
	if (fd < 0)
		return scribe_err_set(err, -errno, "%s: %s", path, strerror(errno));
	gethostname(host, sizeof(host) - 1);
	dprintf(fd, "%s, process %ld", host, (long)getpid());
	close(fd);
	return 0;
}

static void remove_name(const struct scan *s, const char *name)
{
	char path[PATH_BYTES];

	path_of(s->dir, name, path);
	unlink(path);
}

/* `log_path` is below the directory of logs; `ret_path` has PATH_BYTES. */
static int put_log_path(const struct scan *s, const char *from, const char *log_path, bool replace, char *ret_path,
			struct scribe_err *err)
{
	size_t n = place_bytes(s->dir);
	struct stat st;
	int rc;

	if (snprintf(ret_path, PATH_BYTES, "%.*s/%s", n || s->dir[0] == '/' ? (int)n : 1,
		     n || s->dir[0] == '/' ? s->dir : ".", log_path) >= PATH_BYTES)
		return scribe_err_set(err, -ENAMETOOLONG, "%s: the log's path is too long", s->dir);
	rc = scribe_make_dirs(ret_path, 0);
	if (rc == 0)
		rc = scribe_put_name(from, ret_path, replace);
	/* A merge that died before it removed the parts had already moved the log. */
	if (rc == -EEXIST && lstat(ret_path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid())
		rc = 0;
	unlink(from);
	return rc < 0 ? scribe_err_set(err, rc, "cannot write %s: %s", ret_path, scribe_strerror(rc)) : 0;
}

/* Adds nodes that list a part of this world that is not there. */
static void missing_of(const struct scan *s, const char *world, char *ret, size_t cap)
{
	char name[NAME_MAX + 1];
	size_t n = (size_t)snprintf(ret, cap, "%s", s->missing);

	for (size_t i = 0; i < s->ndeliveries && n < cap; i++)
		for (const char *at = s->delivery[i].text; next_part(&at, name, sizeof(name)) && n < cap;)
			if (!strncmp(name, world, strlen(world)) && name[strlen(world)] == '.' && !has(s, name))
				n += (size_t)snprintf(ret + n, cap - n, "%s%s", n ? "," : "", s->delivery[i].node);
}

static void remove_parts(const struct scan *s, const struct scribe_parts_world *world, const struct entry *first,
			 size_t n, const bool *bad)
{
	for (size_t i = 0; i < n; i++) {
		bool is_bad = false;

		for (size_t k = 0; k < world->nodes; k++)
			is_bad = is_bad || (bad[k] && !strcmp(world->node[k], first[i].node));
		if (!is_bad)
			remove_name(s, first[i].name);
	}
	scribe_many_clean(world);
}

static int make_log(const struct scan *s, const struct scribe_parts_way *way, const struct entry *first, size_t n,
		    unsigned number, struct scribe_err *err)
{
	const char **node = calloc(n, sizeof(*node));
	bool *bad = calloc(n, sizeof(*bad));
	char fresh[PATH_BYTES], path[PATH_BYTES], log_path[1024], missing[600];
	struct scribe_parts_world world = {.dir = s->dir,
					   .name = first->world,
					   .node = node,
					   .missing = missing,
					   .number = number,
					   .job_nodes = s->nodes,
					   .threads = way->threads,
					   .without_bad = way->without_bad,
					   .report = way->report,
					   .ctx = way->ctx};
	bool named, lacks;
	int rc = node && bad ? 0 : scribe_err_set(err, -ENOMEM, "out of memory");

	for (size_t i = 0; i < n && rc == 0; i++)
		if (is(&first[i], SCRIBE_PART_LATE))
			node[world.nodes++] = first[i].node;
	missing_of(s, first->world, missing, sizeof(missing));
	path_of(s->dir, FRESH, fresh);
	unlink(fresh);
	if (rc == 0)
		rc = scribe_parts_join(&world, fresh, log_path, sizeof(log_path), &named, &lacks, bad, err);
	if (rc == 0)
		rc = put_log_path(s, fresh, log_path, named, path, err);
	/* Only after the log has its name, so that a merge that dies at any point can be repeated. */
	if (rc == 0)
		remove_parts(s, &world, first, n, bad);
	for (size_t i = 0, at = strlen(missing); i < world.nodes && at < sizeof(missing); i++)
		if (bad[i])
			at += (size_t)snprintf(missing + at, sizeof(missing) - at, "%s%s", at ? "," : "", node[i]);
	free(node);
	free(bad);
	if (rc == 0 && way->said)
		way->said(way->ctx, path, lacks ? missing : NULL);
	return rc;
}

static bool same_world(const struct entry *a, const struct entry *b)
{
	return !strcmp(a->world, b->world);
}

/* *ret_n: number of logs, which is part of names (NAME.2.darshan). */
static int make_logs(const struct scan *s, const struct scribe_parts_way *way, unsigned *ret_n, struct scribe_err *err)
{
	int rc = 0;

	/* "rest" sorts after the worlds, which have hexadecimal names. */
	for (size_t i = 0, next; i < s->n; i = next) {
		bool any = false;
		int made;

		for (next = i; next < s->n && same_world(&s->entry[i], &s->entry[next]); next++)
			any = any || (s->entry[next].node[0] && is(&s->entry[next], SCRIBE_PART_LATE));
		if (!any || !s->entry[i].world[0]) {
			next = next > i ? next : i + 1;
			continue;
		}
		made = make_log(s, way, &s->entry[i], next - i, *ret_n + 1, err);
		if (made == 0)
			(*ret_n)++;
		else
			rc = made;
	}
	return rc;
}

static void remove_all(const struct scan *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (is(&s->entry[i], SCRIBE_PART_DONE) || is(&s->entry[i], SCRIBE_PART_BEGUN) ||
		    is(&s->entry[i], SCRIBE_PART_RANKS) || is(&s->entry[i], SCRIBE_PART_BATCH))
			remove_name(s, s->entry[i].name);
}

static int merge(struct scan *s, const struct scribe_parts_way *way, struct scribe_err *err)
{
	unsigned made = 0;
	int rc;

	scan_clear(s);
	rc = scan(s, err);
	if (rc == 0)
		rc = make_logs(s, way, &made, err);
	if (rc == 0)
		remove_all(s);
	remove_name(s, CLAIM);
	if (rc == 0 && rmdir(s->dir) < 0 && errno != ENOTEMPTY && errno != EEXIST)
		rc = scribe_err_set(err, -errno, "%s: %s", s->dir, strerror(errno));
	return rc;
}

int scribe_parts_merge(const char *dir, const struct scribe_parts_way *way, struct scribe_err *err)
{
	struct scribe_err own;
	struct scan s = {.dir = dir};
	int rc;

	err = err ? err : &own;
	*err = (struct scribe_err){0};
	rc = scan(&s, err);
	if (rc == 0 && !s.n)
		rc = scribe_err_set(err, -ENOENT, "%s holds no parts", dir);
	/* Not a failure of the merge: the missing node calls this after its delivery. */
	if (rc == 0 && !s.complete && !way->incomplete)
		rc = scribe_err_set(err, -EAGAIN, "%s: not every node has delivered", dir);
	if (rc == 0)
		rc = claim(&s, way->incomplete, err);
	if (rc == 0)
		rc = merge(&s, way, err);
	scan_clear(&s);
	return rc;
}
