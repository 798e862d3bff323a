// SPDX-License-Identifier: BSD-3-Clause
/*
 * Library probes that outlive the daemon, because probes that never went away miss nothing: programs, tables
 * and links are pinned, probed files listed. A file is listed after all its links; the next daemon drops links
 * of others. Main thread. Must not know: processes, names, logs.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/user/map_calls.h"
#include "bpf/wire.h"
#include "logfmt/base/hash.h"
#include "uprobes/attach/attach_state.h"
#include "uprobes/elf/sites.h"
#include "uprobes/wire.h"

#define FILES_MAX 65536u
/* pins */
#define HEAD  "scribe_known"
#define FILES "scribe_known_files"

/* Use of the kernel's tables, and the settings of the probes. */
struct head {
	uint64_t layout, modules, wrapped;
	uint32_t nsites, nimages, nfiles, npins;
};

/* Differs for builds with other structures. */
static uint64_t layout(void)
{
	const size_t sizes[] = {SCRIBE_WIRE_VERSION, sizeof(struct head), sizeof(struct scribe_uprobed),
				sizeof(struct scribe_point), sizeof(struct scribe_library_offsets)};

	return scribe_hash64(sizes, sizeof(sizes), 0);
}

static void note_head(const struct scribe_uprobes *u)
{
	struct head h = {.layout = layout(),
			 .modules = u->opt.modules,
			 .wrapped = u->opt.wrapped,
			 .nsites = u->nsites,
			 .nimages = u->nimages,
			 .nfiles = u->nfiles,
			 .npins = u->npins};
	uint32_t zero = 0;

	scribe_map_update(u->head_fd, &zero, &h, BPF_ANY);
}

void scribe_pinned_close(struct scribe_uprobes *u)
{
	int *fd[] = {&u->head_fd, &u->files_fd};

	for (size_t i = 0; i < sizeof(fd) / sizeof(fd[0]); i++) {
		if (*fd[i] >= 0)
			close(*fd[i]);
		*fd[i] = -1;
	}
}

void scribe_uprobes_drop_pinned(struct scribe_bpf *bpf)
{
	scribe_bpf_unpin_all(bpf, "lib_links");
	scribe_bpf_unpin_all(bpf, "lib_progs");
	scribe_bpf_unpin_all(bpf, "lib_maps");
}

void scribe_pinned_remove(struct scribe_uprobes *u)
{
	scribe_uprobes_drop_pinned(u->bpf);
	scribe_pinned_close(u);
}

static int new_table(struct scribe_uprobes *u, enum bpf_map_type type, const char *name, uint32_t bytes,
		     uint32_t entries)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = type == BPF_MAP_TYPE_HASH ? BPF_F_NO_PREALLOC : 0);
	/* names of maps are cut to 15 bytes, those of pins are not */
	char kept[16];
	int fd;

	snprintf(kept, sizeof(kept), "%.15s", name);
	fd = bpf_map_create(type, kept, sizeof(uint32_t), bytes, entries, &opts);
	if (fd >= 0 && scribe_bpf_pin(u->bpf, "lib_maps", name, fd) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

void scribe_pinned_begin(struct scribe_uprobes *u)
{
	bool done;

	/* Links of trace events cannot be pinned. */
	if (!scribe_bpf_pinned(u->bpf) || u->level != SCRIBE_UPROBE_MULTI)
		return;
	u->head_fd = new_table(u, BPF_MAP_TYPE_ARRAY, HEAD, sizeof(struct head), 1);
	u->files_fd = new_table(u, BPF_MAP_TYPE_HASH, FILES, sizeof(struct scribe_uprobed), FILES_MAX);
	done = u->head_fd >= 0 && u->files_fd >= 0;
	for (size_t i = 0; done && i < u->nown; i++)
		done = scribe_bpf_pin(u->bpf, "lib_maps", u->own[i].name, u->own[i].fd) == 0;
	if (done) {
		note_head(u);
		return;
	}
	fprintf(stderr, "ioscribed: library probes cannot be pinned: they end with this daemon\n");
	scribe_pinned_remove(u);
}

void scribe_pinned_program(struct scribe_uprobes *u, enum scribe_layer layer)
{
	/* without its pin the next daemon attaches again */
	if (u->head_fd >= 0)
		scribe_bpf_pin(u->bpf, "lib_progs", scribe_attach_program_name(layer), u->program_fd[layer]);
}

void scribe_pinned_counts(struct scribe_uprobes *u)
{
	/* Before links exist: the next daemon must not reuse their indices. */
	if (u->head_fd < 0)
		return;
	note_head(u);
}

void scribe_pinned_link(struct scribe_uprobes *u, struct scribe_probe_link *l)
{
	if (u->head_fd < 0 || l->fd < 0)
		return;
	snprintf(l->pin, sizeof(l->pin), "%llx-%llx-%x", (unsigned long long)l->dev, (unsigned long long)l->ino,
		 u->npins++);
	if (scribe_bpf_pin(u->bpf, "lib_links", l->pin, l->fd) == 0)
		return;
	u->unpinned = true;
	l->pin[0] = 0;
}

void scribe_pinned_file(struct scribe_uprobes *u, const struct scribe_uprobed *file)
{
	if (u->head_fd < 0 || u->unpinned || u->nfiles == FILES_MAX ||
	    scribe_map_update(u->files_fd, &u->nfiles, file, BPF_ANY))
		return;
	u->nfiles++;
	/* The entry before the count, which limits what the next daemon reads. */
	note_head(u);
}

static bool is_pinned(const struct scribe_uprobes *u, const struct scribe_uprobed *file)
{
	for (size_t i = 0; i < u->nlinks; i++)
		if (u->link[i].ino == file->ino && u->link[i].dev == file->dev && !u->link[i].orphan &&
		    !u->link[i].pin[0])
			return false;
	return true;
}

void scribe_pinned_anew(struct scribe_uprobes *u)
{
	if (u->head_fd < 0)
		return;
	/* a daemon starting now finds fewer files, and drops the other links */
	u->nfiles = 0;
	note_head(u);
	u->unpinned = false;
	for (size_t i = 0; i < u->nseen; i++)
		if (u->seen[i].modules && u->seen[i].since_ns != SCRIBE_UPROBED_NEVER && is_pinned(u, &u->seen[i]))
			scribe_pinned_file(u, &u->seen[i]);
}

static int adopt_program(void *ctx, const char *name, int fd)
{
	struct scribe_uprobes *u = ctx;

	for (unsigned i = 0; i < SCRIBE_LAYERS; i++) {
		if (strcmp(name, scribe_attach_program_name(i)) != 0 || u->program_fd[i] >= 0)
			continue;
		u->program_fd[i] = fd;
		return 0;
	}
	close(fd);
	return -EIO;
}

static int adopt_table(void *ctx, const char *name, int fd)
{
	struct scribe_uprobes *u = ctx;
	int *ours = !strcmp(name, HEAD) ? &u->head_fd : !strcmp(name, FILES) ? &u->files_fd : NULL;
	struct scribe_own_table *own = &u->own[u->nown];

	if (ours) {
		*ours = fd;
		return 0;
	}
	if (u->nown == SCRIBE_OWN_TABLES_MAX || strlen(name) >= sizeof(own->name)) {
		close(fd);
		return -EIO;
	}
	memcpy(own->name, name, strlen(name) + 1);
	own->fd = fd;
	u->nown++;
	return 0;
}

static int adopt_link(void *ctx, const char *name, int fd)
{
	struct scribe_uprobes *u = ctx;
	struct scribe_probe_link l = {.fd = fd, .event.perf = -1};
	unsigned long long dev, ino;
	unsigned n;

	if (strlen(name) < sizeof(l.pin) && sscanf(name, "%llx-%llx-%x", &dev, &ino, &n) == 3 &&
	    scribe_uprobes_known(u, dev, ino)) {
		memcpy(l.pin, name, strlen(name) + 1);
		l.dev = dev;
		l.ino = ino;
		return scribe_uprobes_keep_link(u, &l);
	}
	scribe_bpf_unpin(u->bpf, "lib_links", name);
	/* Not listed: the daemon ended before all links of the file were made. */
	close(fd);
	return 0;
}

static int adopt_files(struct scribe_uprobes *u, const struct head *h)
{
	struct scribe_uprobed file;
	int rc = 0;

	for (; rc == 0 && u->nfiles < h->nfiles; u->nfiles++)
		rc = scribe_map_lookup(u->files_fd, &u->nfiles, &file) ? -errno : scribe_uprobes_keep_file(u, &file);
	return rc;
}

/* False: nothing fits; the caller frees what was adopted. */
bool scribe_pinned_adopt(struct scribe_uprobes *u)
{
	struct head h = {0};
	uint32_t zero = 0;
	int rc;

	if (!scribe_bpf_pinned(u->bpf) || u->opt.level == SCRIBE_UPROBE_EVENTS)
		return false;
	rc = scribe_bpf_each_pin(u->bpf, "lib_maps", adopt_table, u);
	if (rc == 0)
		rc = scribe_bpf_each_pin(u->bpf, "lib_progs", adopt_program, u);
	if (rc == 0 && (u->head_fd < 0 || u->files_fd < 0))
		rc = -ENOENT;
	if (rc == 0 && scribe_map_lookup(u->head_fd, &zero, &h))
		rc = -errno;
	if (rc == 0 && (h.layout != layout() || h.modules != u->opt.modules || h.wrapped != u->opt.wrapped))
		rc = -EPROTONOSUPPORT;
	if (rc == 0)
		rc = adopt_files(u, &h);
	/* Files before links, which refer to them. */
	if (rc == 0) {
		u->level = SCRIBE_UPROBE_MULTI;
		u->nsites = h.nsites;
		u->nimages = h.nimages;
		u->npins = h.npins;
		rc = scribe_bpf_each_pin(u->bpf, "lib_links", adopt_link, u);
	}
	/* nothing uses these indices any more */
	if (rc == 0 && !u->nfiles)
		u->nsites = u->nimages = 0;
	return rc == 0;
}
