/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Library modules as the daemon sees them: load the programs beside those of
 * system calls, look at files, attach to the libraries among them, detach.
 * A library that cannot be probed is an error of its own and harms nothing else.
 * Not thread safe.
 */
#ifndef UPROBES_ATTACH_ATTACH_H
#define UPROBES_ATTACH_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/user/load.h"
#include "logfmt/base/err.h"
#include "uprobes/elf/library_offsets.h"
#include "uprobes/attach/link.h"
#include "uprobes/elf/study.h"

struct scribe_uprobes;

enum scribe_uprobe_level {
	SCRIBE_UPROBE_AUTO = 0,   /* the first of these that the kernel takes */
	SCRIBE_UPROBE_MULTI = 1,  /* uprobe_multi: one link a file and direction (Linux 6.6) */
	SCRIBE_UPROBE_EVENTS = 2, /* trace events: the same by tracefs and perf (Linux 5.15) */
};

struct scribe_uprobes_options {
	uint64_t modules; /* bits of the modules wanted: MPI-IO, H5F, H5D, PNETCDF_*, STDIO */
	uint64_t wrapped;  /* of them: those that preloaded programs may count themselves */
	enum scribe_uprobe_level level;
	bool verbose;
	/*
	 * Has somebody else read an open file, whose owner is `uid`: scribe_study_file, in a process
	 * of its own with a deadline. NULL: no file can be looked at.
	 */
	int (*study)(void *ctx, int fd, uint32_t uid, struct scribe_study *ret_study);
	/* Why a file that holds a library, and is not the site's, must not be probed; NULL: it may be, or each. */
	const char *(*refuse)(void *ctx);
	bool leases; /* files that are not the site's are not probed where their file system has no leases */
	void *ctx;
	/* Links are made meanwhile (scribe_uprobes_tick), where the way is uprobe_multi; NULL: at once. */
	const struct scribe_link_maker *link_maker;
};

#define SCRIBE_UPROBED_NEVER UINT64_MAX

/* What is known of a file that has been looked at. */
struct scribe_uprobed {
	uint64_t dev, ino; /* as stat gives them */
	uint64_t modules;  /* of the log, that it feeds; 0: of no interest */
	uint64_t refused;  /* of the log, that it would feed, if it could be probed */
	uint64_t since_ns; /* CLOCK_MONOTONIC; from then on no call is missed; SCRIBE_UPROBED_NEVER: its links are
			      being made */
	bool site;         /* the site's: it stays probed as long as there are probes */
	uint64_t bias;     /* offset in its code + this = address */
	struct {
		enum scribe_layer layer;
		uint64_t modules; /* of the log, that calls of it feed; 0: not wanted */
		struct scribe_init_state init_state;
		bool counted_inside; /* programs that load it count its calls themselves: it is not probed */
		bool is_wrap; /* libioscribe-inside.so, or a copy: what it tells of itself, other libraries do, too */
	} library[SCRIBE_LIBRARIES_A_FILE];
	unsigned nlibraries;
	uint32_t uid;
	uint64_t bytes; /* and when it was changed: it is another file else */
	int64_t changed_s, changed_ns;
	uint32_t nsites, nimages, nplaces; /* of the kernel's tables, behind its own */
};

/* What became of a file. */
struct scribe_uprobes_result {
	uint64_t modules; /* of the log, that it feeds */
	unsigned places;  /* probed, entry and return */
	unsigned emulated;   /* of them: the kernel emulates the instruction */
	bool fresh;       /* attached by this call, or its links are under way */
	bool counted_inside; /* one of its libraries is (struct scribe_uprobed) */
	bool unread;      /* it could not be read now: nothing is known of it, and it may be tried again */
};

/*
 * The programs beside those of `bpf`: each layer's is loaded with the first library of it. Where
 * the folder of pins holds library programs that were loaded with the same options, these are
 * taken over with all that they are attached to. `err`: why libraries cannot be probed at all.
 */
int scribe_uprobes_open(struct scribe_bpf *bpf, const struct scribe_uprobes_options *options,
			struct scribe_uprobes **ret_u, struct scribe_err *err);
/* Load what the wanted modules need now, some 50 ms a layer. What is refused is said with a library of it. */
void scribe_uprobes_load_wanted(struct scribe_uprobes *u);
/* What an earlier daemon had attached and pinned has been taken over. */
bool scribe_uprobes_adopted(const struct scribe_uprobes *u);
/* Detach everything. NULL allowed; returns NULL. */
struct scribe_uprobes *scribe_uprobes_free(struct scribe_uprobes *u);
/* The same, but what is pinned stays attached, for the next scribe_uprobes_open with the same options. */
struct scribe_uprobes *scribe_uprobes_close_keep_pins(struct scribe_uprobes *u);
/* Detach what an earlier process has pinned beside `bpf`. */
void scribe_uprobes_drop_pinned(struct scribe_bpf *bpf);

/*
 * Look at an open file and attach to it when it is a known library (or a static
 * program that holds one). Each file (device, inode) is looked at once. 0 also
 * when it is of no interest; then ret->modules is 0. `site`: see struct scribe_uprobed.
 */
int scribe_uprobes_file(struct scribe_uprobes *u, int fd, const char *label, bool site,
			struct scribe_uprobes_result *ret, struct scribe_err *err);
/* As fstat, without waiting for a server; device, number, type, owner, size and time of change alone. */
struct stat;
int scribe_uprobes_stat(int fd, struct stat *ret);

/* ---- stand.c ---- */
/* Go on with links that others make. False: none is under way. `err`: code 0, or why a file cannot be probed. */
bool scribe_uprobes_tick(struct scribe_uprobes *u, struct scribe_err *err);
/* Is one, or is a file's to be taken off soon? */
bool scribe_uprobes_busy(const struct scribe_uprobes *u);
/*
 * Forget the files that are not the site's: nobody needs them. Their links are taken off by scribe_uprobes_detach_one,
 * one each, which may take a while; false: none is left.
 */
void scribe_uprobes_forget_others(struct scribe_uprobes *u);
bool scribe_uprobes_detach_one(struct scribe_uprobes *u);

/* ---- lease.c ---- */
/*
 * Each turn, and when SIGIO has come: files that somebody waits to write lose their probes. The modules that they have
 * fed, 0: there was none.
 */
uint64_t scribe_uprobes_give_way(struct scribe_uprobes *u);

/* Modules of the log that libraries called so feed, as far as they are wanted. */
uint64_t scribe_uprobes_named(const struct scribe_uprobes *u, const char *name);
/* What is known of a file; NULL: it has not been looked at. Good until the next file. */
const struct scribe_uprobed *scribe_uprobes_known(const struct scribe_uprobes *u, uint64_t dev, uint64_t ino);
/* The same by scribe_uprobes_stat; what is another file by now is forgotten, where nothing stands in it. */
const struct scribe_uprobed *scribe_uprobes_current(struct scribe_uprobes *u, const struct stat *st);
/* Are its links under way? */
bool scribe_uprobes_busy_with(const struct scribe_uprobes *u, uint64_t dev, uint64_t ino);
/* Since when has libioscribe-inside.so been probed? SCRIBE_UPROBED_NEVER: it is not. */
uint64_t scribe_uprobes_inside_since(const struct scribe_uprobes *u);
/* The same of a file that holds a library, on whatever device. */
const struct scribe_uprobed *scribe_uprobes_known_inode(const struct scribe_uprobes *u, uint64_t ino);

/* Will this way be that of trace events, and are perf events for CAP_SYS_ADMIN alone? */
bool scribe_uprobes_need_admin(enum scribe_uprobe_level level);
/* Links that there are. */
size_t scribe_uprobes_attached(const struct scribe_uprobes *u);
/*
 * Load, and attach to a function of this very program that nobody calls, as to one of a library's:
 * what the kernel refuses there it refuses everywhere. Detached with the rest, by scribe_uprobes_free.
 */
int scribe_uprobes_try(struct scribe_uprobes *u, struct scribe_err *err);
/* Why the kernel has refused a program, one line; "": it has refused none. */
const char *scribe_uprobes_why(const struct scribe_uprobes *u);
struct scribe_access_pattern;
/* What belongs to the key of a shape (logfmt/rules/lib_rules.h). */
bool scribe_uprobes_shape(const struct scribe_uprobes *u, int64_t key, struct scribe_access_pattern *ret_shape);
/* Descriptor, borrowed, of one of the programs' tables (uprobes/attach/kernel_tables.h); negative: there is none. */
int scribe_uprobes_table(const struct scribe_uprobes *u, const char *name);
#endif
