/* SPDX-License-Identifier: BSD-3-Clause */
/* What load.c, attach.c and pinned.c share. */
#ifndef UPROBES_ATTACH_PRIVATE_H
#define UPROBES_ATTACH_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uprobes/attach.h"
#include "uprobes/covered.h"
#include "uprobes/elf.h"
#include "uprobes/events.h"

#define SCRIBE_ATTACH_UPROBE_MULTI 48 /* BPF_TRACE_UPROBE_MULTI, Linux 6.6 */
#define SCRIBE_OWN_TABLES_MAX      16

struct scribe_probe_link {
	int fd;                         /* -1: closed */
	struct scribe_event_link event; /* what it is on, where that is no uprobe_multi */
	bool counts;                    /* single stream calls */
	char pin[64];                   /* its name in the folder of pins; "" none */
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
	int sites_fd, images_fd, guard_fd, calls_fd, shapes_fd;
	uint32_t nsites, nimages, nplaces;
	struct scribe_uprobed *seen;
	size_t nseen, seen_room;
	struct scribe_probe_link *link;
	size_t nlinks, links_room;
	struct scribe_covered covered;
	/* pinned.c; -1: nothing of ours is pinned */
	int head_fd, files_fd, bytes_fd;
	uint32_t nfiles, nbytes, npins;
	uint64_t dev, ino; /* of the file that is attached to now, */
	bool unpinned;     /* and that a link of it could not be pinned */
};

/* ---- load.c ---- */
/* Name of a layer's program, which is that of its pin. */
const char *scribe_layer_program(enum scribe_layer layer);
/* Have a layer's program in the kernel. */
int scribe_uprobes_load(struct scribe_uprobes *u, enum scribe_layer layer, struct scribe_err *err);
/* Descriptors of the tables that are asked for often. */
void scribe_uprobes_find_tables(struct scribe_uprobes *u);
/* Layers that the wanted modules need. */
uint32_t scribe_uprobes_layers(const struct scribe_uprobes *u);
void scribe_probe_link_close(struct scribe_uprobes *u, struct scribe_probe_link *l);

/* ---- batch.c ---- */
#define SCRIBE_COOKIES_MAX 4096

/* The places of one kind (single stream calls or not) of a file, entry or return. */
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
int scribe_batch_attach(struct scribe_uprobes *u, int program, const char *path, const struct scribe_batch *b,
			bool at_return, bool counts);
/* That failed: the line that says why. Returns the code. */
int scribe_batch_refused(const struct scribe_uprobes *u, int code, const char *label, struct scribe_err *err);

/* ---- attach.c ---- */
/* Takes the link over. -ENOMEM: it is closed. */
int scribe_uprobes_keep_link(struct scribe_uprobes *u, const struct scribe_probe_link *link);
int scribe_uprobes_keep_file(struct scribe_uprobes *u, const struct scribe_uprobed *file);

/* ---- pinned.c ---- */
/* Pin the tables that have just been made. Where that cannot be had, probes end with this process. */
void scribe_pinned_begin(struct scribe_uprobes *u);
/* And a program. */
void scribe_pinned_program(struct scribe_uprobes *u, enum scribe_layer layer);
/* So many sites and images are in the kernel's tables. To be called before links use them. */
void scribe_pinned_counts(struct scribe_uprobes *u);
/* Pin a link of the file that is attached to; its name is kept in it. */
void scribe_pinned_link(struct scribe_uprobes *u, struct scribe_probe_link *l);
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
