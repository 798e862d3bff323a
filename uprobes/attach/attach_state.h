/* SPDX-License-Identifier: BSD-3-Clause */
/* What the units of this folder share: the state of library probes, and calls among them. */
#ifndef UPROBES_ATTACH_ATTACH_STATE_H
#define UPROBES_ATTACH_ATTACH_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uprobes/attach/attach.h"
#include "uprobes/elf/elf.h"
#include "uprobes/attach/uprobe_events.h"
#include "uprobes/attach/link.h"

#define SCRIBE_OWN_TABLES_MAX 16

struct stat;

struct scribe_probe_link {
	int fd;                         /* -1: closed, or not made yet */
	struct scribe_event_link event; /* what it is on, where that is no uprobe_multi */
	char pin[64];                   /* its name in the folder of pins; "" none */
	struct scribe_link_plan *plan;  /* by which it is to be made; NULL: it has been */
	enum scribe_layer layer;
	uint64_t dev, ino; /* of its file */
	bool orphan;       /* its file has been forgotten: to be closed */
};

/* A file whose links are being made, one after the other. */
struct scribe_pending {
	uint64_t dev, ino;
	uint32_t uid;
	int fd;    /* of the file */
	int asked; /* for its next link; -1: not yet */
	uint64_t until_ns;
	bool unpinned;
	char label[256];
};

/* A file that is not to be written while it is probed. */
struct scribe_lease {
	int fd;
	uint64_t dev, ino;
};

/* A table of the library programs that those of the system calls do not have. */
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
	bool refused; /* a program could not be loaded, `why` says why */
	struct scribe_err why;
	int sites_fd, images_fd, shapes_fd;
	uint32_t nsites, nimages, nplaces;
	struct scribe_uprobed *seen;
	size_t nseen, seen_room;
	struct scribe_probe_link *link;
	size_t nlinks, links_room;
	struct scribe_lease *lease;
	size_t nleases;
	bool gives_way; /* a file's probes are being taken off, and its lease is kept until they are */
	struct scribe_pending *pending;
	size_t npending, pending_room;
	uint64_t rested_ns; /* when the last link was taken off */
	/* pinned.c; -1: nothing of ours is pinned */
	int head_fd, files_fd;
	uint32_t nfiles, npins;
	uint64_t dev, ino; /* of the file that is attached to now, */
	bool unpinned;     /* and that a link of it could not be pinned */
	bool adopted;      /* from the pins of an earlier daemon */
};

/* ---- attach_state.c ---- */
/* Name of a layer's program, which is that of its pin. */
const char *scribe_program_name(enum scribe_layer layer);
/* Layers that the wanted modules need. */
uint32_t scribe_uprobes_layers(const struct scribe_uprobes *u);
void scribe_probe_link_close(struct scribe_uprobes *u, struct scribe_probe_link *l);
/* It is not made any more. */
void scribe_probe_link_forget(struct scribe_probe_link *l);
/* Takes the link over, with its plan. -ENOMEM: it is closed. */
int scribe_uprobes_keep_link(struct scribe_uprobes *u, const struct scribe_probe_link *link);
/* One of those seen; its links are orphans. */
void scribe_uprobes_forget(struct scribe_uprobes *u, size_t which);
/* What is under way for one file is not waited for. */
void scribe_pending_close(struct scribe_pending *p);
/* Those that are under way are not made. */
void scribe_uprobes_drop_pending(struct scribe_uprobes *u);
int scribe_uprobes_keep_file(struct scribe_uprobes *u, const struct scribe_uprobed *file);

/* ---- load.c ---- */
/* Have a layer's program in the kernel. */
int scribe_uprobes_load(struct scribe_uprobes *u, enum scribe_layer layer, struct scribe_err *err);
/* Descriptors of the tables that are asked for often. */
void scribe_uprobes_find_tables(struct scribe_uprobes *u);

/* ---- batch.c ---- */
#define SCRIBE_COOKIES_MAX 4096

/* The places of a file, entry or return. */
struct scribe_batch {
	uint64_t offset[SCRIBE_COOKIES_MAX], address[SCRIBE_COOKIES_MAX], cookie[SCRIBE_COOKIES_MAX];
	uint64_t semaphore[SCRIBE_COOKIES_MAX]; /* where in the file a counter goes up while the place is
						   probed, 0 none */
	uint32_t n;
};

/* Which way this kernel takes: the first one, or that of the options. `err`: what it has not. */
int scribe_batch_level(struct scribe_uprobes *u, struct scribe_err *err);
/* A place; the address as it is linked. No room is looked for. */
void scribe_batch_add(struct scribe_batch *b, uint64_t offset, uint64_t address, uint64_t semaphore,
		      uint64_t cookie);
/* Links for them, made at once where nobody else makes them. */
int scribe_batch_attach(struct scribe_uprobes *u, enum scribe_layer layer, const char *path,
			const struct scribe_batch *b, bool at_return);
/* Make a link by its plan. */
int scribe_batch_make(struct scribe_uprobes *u, struct scribe_probe_link *l, const char *path);
/* That failed: the line that says why. Returns the code. */
int scribe_batch_refused(const struct scribe_uprobes *u, int code, const char *label, struct scribe_err *err);

/* ---- attach_file.c ---- */
/* Its links cannot be made: the line that says why. Returns the code. */
int scribe_uprobes_refused(struct scribe_uprobes *u, struct scribe_uprobed *f, int rc, const char *label,
			   struct scribe_err *err);
/* They are. */
void scribe_uprobes_made(struct scribe_uprobes *u, struct scribe_uprobed *f);

/* ---- lease.c ---- */
/* Hold a lease of an open file until it is not probed any more. Negative: somebody writes it, or there are none. */
int scribe_lease_take(struct scribe_uprobes *u, int fd, const struct scribe_uprobed *f);
/* The probes are off. */
void scribe_leases_end(struct scribe_uprobes *u);

/* ---- pinned.c ---- */
/* Pin the tables that have just been made. Where that cannot be had, probes end with this process. */
void scribe_pinned_begin(struct scribe_uprobes *u);
/* And a program. */
void scribe_pinned_program(struct scribe_uprobes *u, enum scribe_layer layer);
/* So many sites and images are in the kernel's tables. To be called before links use them. */
void scribe_pinned_counts(struct scribe_uprobes *u);
/* Pin a link of the file that is attached to; its name is kept in it. */
void scribe_pinned_link(struct scribe_uprobes *u, struct scribe_probe_link *l);
/* Files have been forgotten: those that are known now, and what they have in the kernel's tables. */
void scribe_pinned_anew(struct scribe_uprobes *u);
/* All links of a file are there. */
void scribe_pinned_file(struct scribe_uprobes *u, const struct scribe_uprobed *file);
/*
 * Take over what an earlier process has pinned. False: there is nothing, or it was made with other
 * options or by a build that has it otherwise, and has been detached.
 */
bool scribe_pinned_adopt(struct scribe_uprobes *u);
/* Its tables, which stay where they are pinned. */
void scribe_pinned_close(struct scribe_uprobes *u);
void scribe_pinned_remove(struct scribe_uprobes *u);

#endif
