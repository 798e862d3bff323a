/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UPROBES_ATTACH_ATTACH_STATE_H
#define UPROBES_ATTACH_ATTACH_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uprobes/attach/attach.h"
#include "uprobes/attach/link.h"
#include "uprobes/attach/uprobe_events.h"
#include "uprobes/elf/elf.h"

#define SCRIBE_OWN_TABLES_MAX 16

struct stat;

struct scribe_probe_link {
	int fd;                         /* -1: closed, or not made yet */
	struct scribe_event_link event; /* unless uprobe_multi */
	char pin[64];                   /* "" none */
	struct scribe_link_plan *plan;  /* NULL: made */
	enum scribe_layer layer;
	uint64_t dev, ino;
	bool orphan; /* file forgotten: close it */
};

/* Links of a file are made one by one. */
struct scribe_pending {
	uint64_t dev, ino;
	uint32_t uid;
	int fd;
	int asked; /* for the next link; -1: not yet */
	uint64_t until_ns;
	bool unpinned;
	char label[256];
};

/* The file must not be written while probed. */
struct scribe_lease {
	int fd;
	uint64_t dev, ino;
};

/* A table that the system call programs lack. */
struct scribe_own_table {
	char name[32];
	int fd;
};

struct scribe_uprobes {
	struct scribe_bpf *bpf;
	struct scribe_uprobes_options opt;
	enum scribe_uprobe_level level;
	struct scribe_events events;
	int program_fd[SCRIBE_LAYERS]; /* -1: not loaded */
	struct scribe_own_table own[SCRIBE_OWN_TABLES_MAX];
	size_t nown;
	bool refused; /* `why` has the reason */
	struct scribe_err why;
	int points_fd, images_fd, shapes_fd;
	uint32_t nsites, nimages, nplaces;
	struct scribe_uprobed *seen;
	size_t nseen, seen_capacity;
	struct scribe_probe_link *link;
	size_t nlinks, links_capacity;
	struct scribe_lease *lease;
	size_t nleases;
	bool gives_way; /* a lease is kept until its file's probes are off */
	struct scribe_pending *pending;
	size_t npending, pending_capacity;
	uint64_t rested_ns; /* last detach */
	/* pinned.c; -1: not pinned */
	int head_fd, files_fd;
	uint32_t nfiles, npins;
	uint64_t dev, ino; /* being attached to */
	bool unpinned;     /* a link of it could not be pinned */
	bool adopted;      /* pins of an earlier daemon */
};

/* Also the name of its pin. */
const char *scribe_attach_program_name(enum scribe_layer layer);
uint32_t scribe_uprobes_layers(const struct scribe_uprobes *u);
void scribe_probe_link_close(struct scribe_uprobes *u, struct scribe_probe_link *l);
/* Frees its plan. */
void scribe_probe_link_forget(struct scribe_probe_link *l);
/* Takes over link and plan. -ENOMEM: closed. */
int scribe_uprobes_keep_link(struct scribe_uprobes *u, const struct scribe_probe_link *link);
/* Its links become orphans. */
void scribe_uprobes_forget(struct scribe_uprobes *u, size_t which);
void scribe_pending_close(struct scribe_pending *p);
void scribe_uprobes_drop_pending(struct scribe_uprobes *u);
int scribe_uprobes_keep_file(struct scribe_uprobes *u, const struct scribe_uprobed *file);

/* If necessary. */
int scribe_uprobes_load(struct scribe_uprobes *u, enum scribe_layer layer, struct scribe_err *err);
void scribe_uprobes_find_tables(struct scribe_uprobes *u);

#define SCRIBE_COOKIES_MAX 4096

/* Entries or returns of a file. */
struct scribe_batch {
	uint64_t offset[SCRIBE_COOKIES_MAX], address[SCRIBE_COOKIES_MAX], cookie[SCRIBE_COOKIES_MAX];
	uint64_t semaphore[SCRIBE_COOKIES_MAX]; /* 0 none */
	uint32_t n;
};

/* Chooses the level, unless an option sets it. `err`: what is missing. */
int scribe_batch_level(struct scribe_uprobes *u, struct scribe_err *err);
/* `address` as linked. Not checked for overflow. */
void scribe_batch_add(struct scribe_batch *b, uint64_t offset, uint64_t address, uint64_t semaphore, uint64_t cookie);
/* Makes the links now, unless there is a link maker. */
int scribe_batch_attach(struct scribe_uprobes *u, enum scribe_layer layer, const char *path,
			const struct scribe_batch *b, bool at_return);
int scribe_batch_make(struct scribe_uprobes *u, struct scribe_probe_link *l, const char *path);
/* Reports the reason. Returns the code. */
int scribe_batch_refused(const struct scribe_uprobes *u, int code, const char *label, struct scribe_err *err);

/* Its links cannot be made. Returns the code. */
int scribe_uprobes_refused(struct scribe_uprobes *u, struct scribe_uprobed *f, int rc, const char *label,
			   struct scribe_err *err);
void scribe_uprobes_made(struct scribe_uprobes *u, struct scribe_uprobed *f);

/* Until it is not probed any more. Negative: open for writing, or leases are not supported. */
int scribe_lease_take(struct scribe_uprobes *u, int fd, const struct scribe_uprobed *f);
/* After the probes are off. */
void scribe_leases_end(struct scribe_uprobes *u);

/* New tables. On failure probes end with this process. */
void scribe_pinned_begin(struct scribe_uprobes *u);
void scribe_pinned_program(struct scribe_uprobes *u, enum scribe_layer layer);
/* Stores these counts; call it before links use them. */
void scribe_pinned_counts(struct scribe_uprobes *u);
/* Names it in its pin. */
void scribe_pinned_link(struct scribe_uprobes *u, struct scribe_probe_link *l);
/* Rewrites the list after files were forgotten. */
void scribe_pinned_anew(struct scribe_uprobes *u);
/* After all of its links. */
void scribe_pinned_file(struct scribe_uprobes *u, const struct scribe_uprobed *file);
/* False: nothing usable is pinned; the rest has been detached. */
bool scribe_pinned_adopt(struct scribe_uprobes *u);
/* Pins stay. */
void scribe_pinned_close(struct scribe_uprobes *u);
void scribe_pinned_remove(struct scribe_uprobes *u);

#endif
