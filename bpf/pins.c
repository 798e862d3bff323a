// SPDX-License-Identifier: BSD-3-Clause
/*
 * Pins: maps, programs and links below a folder of a BPF file system, so that
 * they outlive the daemon, and their adoption by the next one. Must not know
 * what the records mean.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/load_private.h"
#include "bpf/map_calls.h"
#include "bpf/refusal.h"

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
		return scribe_refused(err, rc, SCRIBE_STEP_PIN, b->pins, b->pins);
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

int scribe_bpf_each_pin(struct scribe_bpf *b, const char *kind,
			int (*fn)(void *ctx, const char *name, int fd), void *ctx)
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

/* A pin's name into `cap` bytes; a longer one is none of ours. */
static int keep_name(char *ret, size_t cap, const char *name)
{
	size_t length = strlen(name);

	if (length >= cap)
		return -ENAMETOOLONG;
	memcpy(ret, name, length + 1);
	return 0;
}

/* Chunks of slots and tables are mapped later, in their order. */
static bool is_chunk(const char *name)
{
	return !strncmp(name, SCRIBE_SLOT_CHUNK_PIN "_", strlen(SCRIBE_SLOT_CHUNK_PIN "_")) ||
	       !strncmp(name, SCRIBE_TABLE_CHUNK_PIN "_", strlen(SCRIBE_TABLE_CHUNK_PIN "_"));
}

int scribe_pins_chunks(struct scribe_bpf *b, struct scribe_chunks *c, const char *kind)
{
	char name[28], path[256];
	int fd, rc = 0;

	while (rc == 0 && c->n < c->most) {
		snprintf(name, sizeof(name), "%s_%u", kind, c->n);
		rc = path_of(path, sizeof(path), b->pins, "maps", name);
		fd = rc ? -1 : bpf_obj_get(path);
		if (fd < 0)
			return rc ? rc : errno == ENOENT ? 0 : -errno;
		rc = scribe_chunks_map(c, c->n, fd);
		close(fd);
	}
	return rc;
}

static int adopt_map(void *ctx, const char *name, int fd)
{
	struct scribe_bpf *b = ctx;
	struct scribe_named *m = &b->map[b->nmaps];
	struct bpf_map_info info = {0};
	uint32_t bytes = sizeof(info);

	if (is_chunk(name)) {
		close(fd);
		return 0;
	}
	if (b->nmaps == SCRIBE_MAPS_MAX || bpf_obj_get_info_by_fd(fd, &info, &bytes)) {
		close(fd);
		return -EIO;
	}
	*m = (struct scribe_named){
		.fd = fd, .type = info.type, .entries = info.max_entries, .value_bytes = info.value_size};
	if (keep_name(m->name, sizeof(m->name), name)) {
		close(fd);
		return -EIO;
	}
	b->nmaps++;
	return 0;
}

static int adopt_prog(void *ctx, const char *name, int fd)
{
	struct scribe_bpf *b = ctx;

	if (b->nprogs == SCRIBE_PROGS_MAX ||
	    keep_name(b->prog[b->nprogs].name, sizeof(b->prog[0].name), name)) {
		close(fd);
		return -EIO;
	}
	b->prog[b->nprogs++].fd = fd;
	return 0;
}

static int adopt_link(void *ctx, const char *name, int fd)
{
	struct scribe_bpf *b = ctx;

	if (b->nlinks == SCRIBE_PROGS_MAX ||
	    keep_name(b->link_name[b->nlinks], sizeof(b->link_name[0]), name)) {
		close(fd);
		return -EIO;
	}
	b->link[b->nlinks++] = fd;
	return 0;
}

/* Are the maps laid out as this build has them? */
static int check_layout(struct scribe_bpf *b, struct scribe_err *err)
{
	const struct {
		const char *name;
		size_t bytes;
	} want[] = {
		{"scribe_procs", sizeof(struct scribe_proc)},
		{"scribe_jobs", sizeof(struct scribe_job)},      {"scribe_ctl", sizeof(struct scribe_ctl)},
		{"scribe_watches", sizeof(struct scribe_watch)},
	};
	const struct scribe_named *ctl = scribe_bpf_map(b, "scribe_ctl");
	uint32_t zero = 0, version = 0;
	void *value = ctl ? calloc(1, (ctl->value_bytes + 7) / 8 * 8) : NULL;

	if (value && ctl->value_bytes >= sizeof(version) && scribe_map_lookup(ctl->fd, &zero, value) == 0)
		memcpy(&version, value, sizeof(version));
	free(value);
	if (version != SCRIBE_WIRE_VERSION)
		return scribe_err_set(err, -SCRIBE_E_VERSION,
				      "%s: pinned by wire version %u, this is version %u", b->pins, version,
				      SCRIBE_WIRE_VERSION);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		const struct scribe_named *m = scribe_bpf_map(b, want[i].name);

		if (!m || m->value_bytes != want[i].bytes)
			return scribe_err_set(err, -SCRIBE_E_VERSION,
					      "%s: map %s is not as this build has it", b->pins,
					      want[i].name);
	}
	return 0;
}

int scribe_bpf_adopt(const char *pins, struct scribe_bpf **ret_bpf, struct scribe_err *err)
{
	struct scribe_bpf *b = calloc(1, sizeof(*b));
	int rc;

	if (!b)
		return scribe_err_set(err, -ENOMEM, "no memory for the loader");
	b->adopted = true;
	snprintf(b->pins, sizeof(b->pins), "%s", pins);
	rc = scribe_bpf_each_pin(b, "maps", adopt_map, b);
	if (rc == -ENOENT && b->nmaps == 0) {
		scribe_bpf_leave(b);
		return scribe_err_set(err, rc, "%s: nothing is pinned", pins);
	}
	if (rc == 0)
		rc = scribe_bpf_each_pin(b, "progs", adopt_prog, b);
	if (rc == 0)
		rc = scribe_bpf_each_pin(b, "links", adopt_link, b);
	if (rc < 0)
		scribe_err_set(err, rc, "%s: cannot be adopted: %s", pins, strerror(-rc));
	else
		rc = check_layout(b, err);
	if (rc == 0) {
		rc = scribe_bpf_map_all(b, false);
		if (rc < 0)
			scribe_err_set(err, rc, "%s: cannot be mapped: %s", pins, strerror(-rc));
	}
	if (rc < 0) {
		scribe_bpf_leave(b);
		return rc;
	}
	b->level = (enum scribe_bpf_level)b->ctl->level;
	b->opt.procs = b->procs.entries - 1;
	*ret_bpf = b;
	return 0;
}
