/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of library probes (library_*.c) share; the searches are in library_searches.h. */
#ifndef RUNTIME_DAEMON_COLLECT_LIBRARY_PROBES_PRIVATE_H
#define RUNTIME_DAEMON_COLLECT_LIBRARY_PROBES_PRIVATE_H

#include <sys/stat.h>

#include "runtime/daemon/collect/library_probes.h"
#include "runtime/daemon/privsep/library_search.h"
#include "uprobes/attach/attach.h"
#include "uprobes/elf/library_find.h"
#include "uprobes/elf/analysis.h"

#define SCRIBE_LIBS_TURN_NS 5000000ull /* of a turn of the loop */

struct scribe_searcher; /* library_searches.h */

#define SCRIBE_PEEKS_MAX 16

/* What has been looked at in a process that is judged. */
struct scribe_peeks {
	struct {
		uint64_t at;
		uint32_t value;
		int rc;
	} got[SCRIBE_PEEKS_MAX];
	unsigned n;
	bool asked; /* a look is under way, */
	bool later; /* and needed */
	uint64_t at;
};

/* Users whose files, or processes, have kept somebody waiting. */
struct scribe_slow {
	unsigned lost;
	uint64_t next_ns; /* not asked before */
};

struct scribe_libs {
	struct scribe_uprobes *uprobes;
	struct scribe_find *find;
	bool verbose;
	bool everything; /* what is known of is attached to */
	bool searched;   /* for a process: there may be probes that are not the site's */
	bool cache;      /* of the linker, goes with that */
	char wrap_path[SCRIBE_PATH_MAX], paths[SCRIBE_PATH_MAX]; /* and these */
	bool needs_wrap;     /* a library has been met whose calls programs count inside themselves */
	bool wrap_asked;     /* a command's: its user's helper has been asked for it */
	unsigned listing;      /* such searches under way: what they find is to be attached to */
	bool late;      /* what is attached now is in use already */
	/* library_read.c: who reads files of root, those of one user, who looks into processes */
	struct scribe_helper roots, reader, peeker;
	uint32_t reader_uid;
	bool peeking; /* somebody's look is under way */
	struct scribe_map slow; /* users, struct scribe_slow */
	struct scribe_searcher *searchers;
	struct scribe_elf_analysis study; /* of the file that is attached to next, */
	int analysis_rc;            /* or why it could not be read, */
	bool studied;              /* where it has been */
	uint64_t swept_ns;
	char why[320]; /* the first library that is wanted could not be probed for this reason; "" all could */
	uint32_t ended; /* processes since then */
};

/* ---- library_attach.c ---- */
/* Look at an open file, and attach to it where it holds a wanted library; `site`: for as long as we live. Negative: it
   could not be read now. */
int scribe_libs_attach_fd(struct scribe_libs *l, int fd, const char *path, bool site);
/* Attach to the library by which programs count inside: it goes with the first one that is probed. */
void scribe_libs_attach_wrap(struct scribe_daemon *d);

/* A process has come that may use any library: what is known of is attached to before it does. */
void scribe_libs_attach_everything(struct scribe_daemon *d);

/* ---- library_mapped.c ---- */
/* A file of this name that it has mapped could not be read: what libraries called so feed is marked. */
void scribe_libs_unread(struct scribe_daemon *d, struct scribe_process *p, const char *name, const char *cause);

/* Modules that calls of its libraries feed, where they are counted at all. */
uint64_t scribe_libs_fed(const struct scribe_uprobed *f);
/*
 * From when on no call of a file's libraries is missed that this process makes, which has mapped it; modules of which
 * calls are missed all along are marked. SCRIBE_UPROBED_NEVER: what is needed for that is under way.
 */
uint64_t scribe_libs_since(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_uprobed *f,
			   const char *name);

/*
 * It has mapped a file (at when_ns) that was found there: modules whose calls may have gone by are marked.
 * False: it is looked at meanwhile, with `peeks`, zero at first.
 */
bool scribe_libs_check_mapping(struct scribe_daemon *d, struct scribe_process *p, uint64_t ino, uint64_t when_ns,
		       const struct scribe_helper_found *found, struct scribe_peeks *peeks);

/* ---- library_read.c ---- */
/* Has this user (never root) kept us waiting? Not asked for a while then. */
bool scribe_libs_is_slow(struct scribe_libs *l, uint32_t uid);
/* The helper has not answered: it is let go, and its user asked less. */
void scribe_libs_lose(struct scribe_libs *l, struct scribe_helper *h, uint32_t uid);
/* Who reads files of this owner; NULL: nobody can. */
struct scribe_helper *scribe_libs_reader(struct scribe_libs *l, uint32_t owner);
/* Why the file that a search has found must not be attached to; NULL: it may be. `inode`: that it must be, 0 any. */
const char *scribe_libs_refused(int fd, uint64_t inode, struct stat *ret);
/* scribe_uprobes_options.study; ctx: struct scribe_daemon. */
int scribe_libs_analyse(void *ctx, int fd, uint32_t uid, struct scribe_elf_analysis *ret_analysis);
/*
 * Up to four bytes of a process of this user's. False: nobody knows; with `peeks` also, `later`
 * in it, when it is being looked at: to be asked again. NULL: that is waited for.
 */
bool scribe_libs_peek(struct scribe_daemon *d, uint32_t uid, pid_t pid, uint64_t at, size_t bytes,
		      struct scribe_peeks *peeks, uint32_t *ret_value);

/* Whoever is judged is no more, or has been: what is under way is not waited for. */
void scribe_libs_forget_peeks(struct scribe_libs *l, struct scribe_peeks *peeks);

void scribe_libs_read_end(struct scribe_libs *l);

#endif
