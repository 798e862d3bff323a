// SPDX-License-Identifier: BSD-3-Clause
/*
 * Pins maps, programs and links below a directory of a BPF file system, one subdirectory per kind, to outlive
 * the daemon. Main thread. Must not know what the records mean.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/user/load_private.h"

/* In order of removal: links first, so that nothing runs when maps go. */
static const char *const kinds[] = {"links", "progs", "maps", "lib_links", "lib_progs", "lib_maps"};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static int path_of(char *ret, size_t cap, const char *pins, const char *kind, const char *name)
{
	int n = snprintf(ret, cap, "%s/%s%s%s", pins, kind, name ? "/" : "", name ? name : "");

	return n < 0 || (size_t)n >= cap ? -ENAMETOOLONG : 0;
}

bool scribe_bpf_pinned(const struct scribe_bpf *b)
{
	return b->pins[0];
}

int scribe_bpf_pin(struct scribe_bpf *b, const char *kind, const char *name, int fd)
{
	char path[256];
	int rc;

	if (!b->pins[0])
		return 0;
	rc = path_of(path, sizeof(path), b->pins, kind, name);
	if (rc < 0)
		return rc;
	return bpf_obj_pin(fd, path) ? -errno : 0;
}

void scribe_bpf_unpin(struct scribe_bpf *b, const char *kind, const char *name)
{
	char path[256];

	if (b->pins[0] && path_of(path, sizeof(path), b->pins, kind, name) == 0)
		unlink(path);
}

int scribe_pins_all(struct scribe_bpf *b, struct scribe_err *err)
{
	char path[256];
	int rc = mkdir(b->pins, 0700) && errno != EEXIST ? -errno : 0;

	for (size_t i = 0; rc == 0 && i < KINDS; i++) {
		rc = path_of(path, sizeof(path), b->pins, kinds[i], NULL);
		if (rc == 0 && mkdir(path, 0700))
			rc = -errno;
	}
	for (unsigned i = 0; rc == 0 && i < b->nmaps; i++)
		rc = scribe_bpf_pin(b, "maps", b->map[i].name, b->map[i].fd);
	for (unsigned i = 0; rc == 0 && i < b->nprogs; i++)
		rc = scribe_bpf_pin(b, "progs", b->prog[i].name, b->prog[i].fd);
	if (rc < 0)
		return scribe_err_set(err, rc, "cannot pin below %s, which must be on a BPF file system: %s", b->pins,
				      strerror(-rc));
	return 0;
}

static void empty(const char *pins, const char *kind)
{
	char path[256];
	struct dirent *e;
	DIR *dir = path_of(path, sizeof(path), pins, kind, NULL) ? NULL : opendir(path);

	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.' && path_of(path, sizeof(path), pins, kind, e->d_name) == 0)
			unlink(path);
	if (dir)
		closedir(dir);
}

void scribe_bpf_unpin_all(struct scribe_bpf *b, const char *kind)
{
	if (b->pins[0])
		empty(b->pins, kind);
}

void scribe_bpf_remove_pins(const char *pins)
{
	char path[256];

	for (size_t i = 0; i < KINDS; i++) {
		empty(pins, kinds[i]);
		if (path_of(path, sizeof(path), pins, kinds[i], NULL) == 0)
			rmdir(path);
	}
	rmdir(pins);
}

int scribe_bpf_each_pin(struct scribe_bpf *b, const char *kind, int (*fn)(void *ctx, const char *name, int fd),
			void *ctx)
{
	char path[256];
	struct dirent *e;
	int rc = path_of(path, sizeof(path), b->pins, kind, NULL);
	DIR *dir = rc ? NULL : opendir(path);

	if (!dir)
		return rc ? rc : -errno;
	while (rc == 0 && (e = readdir(dir))) {
		int fd;

		if (e->d_name[0] == '.')
			continue;
		rc = path_of(path, sizeof(path), b->pins, kind, e->d_name);
		fd = rc ? -1 : bpf_obj_get(path);
		if (rc == 0)
			rc = fd < 0 ? -errno : fn(ctx, e->d_name, fd);
	}
	closedir(dir);
	return rc;
}

int scribe_pins_chunks(struct scribe_bpf *b, struct scribe_chunks *c, const char *kind)
{
	char name[28], path[256];
	int fd, rc = 0;

	while (rc == 0 && c->n < c->most) {
		snprintf(name, sizeof(name), "%s_%u", kind, c->n);
		rc = path_of(path, sizeof(path), b->pins, "maps", name);
		fd = rc ? -1 : bpf_obj_get(path);
		/* Numbers have no gaps: the first missing one is the end. */
		if (fd < 0)
			return rc ? rc : errno == ENOENT ? 0 : -errno;
		rc = scribe_chunks_map(c, c->n, fd);
		close(fd);
	}
	return rc;
}
