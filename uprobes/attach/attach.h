/* SPDX-License-Identifier: BSD-3-Clause */
/* Library modules for the daemon. A library that cannot be probed is a separate error. Not thread safe. */
#ifndef UPROBES_ATTACH_ATTACH_H
#define UPROBES_ATTACH_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/user/load.h"
#include "logfmt/base/err.h"
#include "uprobes/attach/link.h"
#include "uprobes/elf/analysis.h"
#include "uprobes/elf/library_offsets.h"

struct scribe_uprobes;

enum scribe_uprobe_level {
	SCRIBE_UPROBE_AUTO = 0,   /* the first that works */
	SCRIBE_UPROBE_MULTI = 1,  /* one link per file and direction (Linux 6.6) */
	SCRIBE_UPROBE_EVENTS = 2, /* tracefs and perf (Linux 5.15) */
};

struct scribe_uprobes_options {
	uint64_t modules; /* to be traced */
	uint64_t wrapped; /* of them, countable in the program */
	enum scribe_uprobe_level level;
	bool verbose;
	/*
	 * Studies an open file of user `uid` in a separate process with a deadline. NULL: files cannot be
	 * studied.
	 */
	int (*study)(void *ctx, int fd, uint32_t uid, struct scribe_elf_analysis *ret_analysis);
	/* Reason not to probe a library file outside of the site's; NULL: none. */
	const char *(*refuse)(void *ctx);
	bool leases; /* for files outside of the site's, leases are required */
	void *ctx;
	/* Makes links in other processes (scribe_uprobes_tick), with uprobe_multi only; NULL: here, at once. */
	const struct scribe_link_maker *link_maker;
};

#define SCRIBE_UPROBED_NEVER UINT64_MAX

/* A studied file. */
struct scribe_uprobed {
	uint64_t dev, ino; /* as in stat */
	uint64_t modules;  /* fed by it; 0: of no interest */
	uint64_t refused;  /* would be fed, but it cannot be probed */
	uint64_t since_ns; /* no call is missed from then on; SCRIBE_UPROBED_NEVER: links under way */
	bool site;         /* the site's: stays probed */
	uint64_t bias;     /* address minus offset of code */
	struct {
		enum scribe_layer layer;
		uint64_t modules; /* fed by its calls; 0: none */
		struct scribe_init_state init_state;
		bool counted_inside; /* programs count its calls themselves: not probed */
		bool is_wrap;        /* libioscribe-inside.so or a copy */
	} library[SCRIBE_LIBRARIES_A_FILE];
	unsigned nlibraries;
	uint32_t uid;
	uint64_t bytes; /* with the times: detects a changed file */
	int64_t changed_s, changed_ns;
	uint32_t nsites, nimages, nplaces; /* used in the kernel's tables up to its own */
};

struct scribe_uprobes_result {
	uint64_t modules;    /* fed by it */
	unsigned addresses;  /* entries and returns */
	unsigned emulated;   /* of them */
	bool fresh;          /* attached now, or links under way */
	bool counted_inside; /* as in struct scribe_uprobed */
	bool unread;         /* unreadable now, may be tried again */
};

/*
 * Takes over pinned library programs with the same options and all their links. `err`: libraries cannot be
 * probed at all.
 */
int scribe_uprobes_open(struct scribe_bpf *bpf, const struct scribe_uprobes_options *options,
			struct scribe_uprobes **ret_u, struct scribe_err *err);
/* About 50 ms per layer. Failures are reported with a library. */
void scribe_uprobes_load_wanted(struct scribe_uprobes *u);
bool scribe_uprobes_adopted(const struct scribe_uprobes *u);
struct scribe_uprobes *scribe_uprobes_free(struct scribe_uprobes *u);
/* Pinned links stay attached for a scribe_uprobes_open with the same options. */
struct scribe_uprobes *scribe_uprobes_close_keep_pins(struct scribe_uprobes *u);
/* Detaches what an earlier process pinned beside `bpf`. */
void scribe_uprobes_drop_pinned(struct scribe_bpf *bpf);

/*
 * Studies an open file, once per device and inode, and attaches if it is a known library or a static program
 * with one. 0 with ret->modules 0: of no interest.
 */
int scribe_uprobes_file(struct scribe_uprobes *u, int fd, const char *label, bool site,
			struct scribe_uprobes_result *ret, struct scribe_err *err);
/* fstat without a request to a server: only device, inode, type, owner, size and time of change. */
struct stat;
int scribe_uprobes_stat(int fd, struct stat *ret);

/* Continues links under way. False: none. `err`: code 0, or why a file cannot be probed. */
bool scribe_uprobes_tick(struct scribe_uprobes *u, struct scribe_err *err);
/* Links under way, or to be detached soon. */
bool scribe_uprobes_busy(const struct scribe_uprobes *u);
/*
 * Forgets files outside of the site's; scribe_uprobes_detach_one then detaches a link per call, false: none
 * left.
 */
void scribe_uprobes_forget_others(struct scribe_uprobes *u);
bool scribe_uprobes_detach_one(struct scribe_uprobes *u);

/*
 * In each loop iteration, and after SIGIO: detaches from files that are to be written. Returns the modules
 * affected.
 */
uint64_t scribe_uprobes_give_way(struct scribe_uprobes *u);

/* By file name, among those of the options. */
uint64_t scribe_uprobes_named(const struct scribe_uprobes *u, const char *name);
/* NULL: not studied. Valid until the next file. */
const struct scribe_uprobed *scribe_uprobes_known(const struct scribe_uprobes *u, uint64_t dev, uint64_t ino);
/* NULL: to be studied. Forgets a changed file without probes. */
const struct scribe_uprobed *scribe_uprobes_current(struct scribe_uprobes *u, const struct stat *st);
bool scribe_uprobes_busy_with(const struct scribe_uprobes *u, uint64_t dev, uint64_t ino);
/* When libioscribe-inside.so got its probes; SCRIBE_UPROBED_NEVER: not probed. */
uint64_t scribe_uprobes_inside_since(const struct scribe_uprobes *u);
/* A library file, on any device. */
const struct scribe_uprobed *scribe_uprobes_known_inode(const struct scribe_uprobes *u, uint64_t ino);

/* Trace events will be used, and perf events require CAP_SYS_ADMIN. */
bool scribe_uprobes_need_admin(enum scribe_uprobe_level level);
size_t scribe_uprobes_attached(const struct scribe_uprobes *u);
/*
 * Attaches to a function of this program that is never called, to find what the kernel refuses. Detached by
 * scribe_uprobes_free.
 */
int scribe_uprobes_try(struct scribe_uprobes *u, struct scribe_err *err);
/* The kernel's refusal of a program, one line; "": none. */
const char *scribe_uprobes_why(const struct scribe_uprobes *u);
struct scribe_access_pattern;
/* By its key (logfmt/rules/lib_rules.h). */
bool scribe_uprobes_shape(const struct scribe_uprobes *u, int64_t key, struct scribe_access_pattern *ret_shape);
/* Borrowed descriptor (uprobes/attach/kernel_tables.h); negative: none. */
int scribe_uprobes_table(const struct scribe_uprobes *u, const char *name);
#endif
