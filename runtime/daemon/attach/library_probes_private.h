/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by library_*.c, without searches (library_searches.h). */
#ifndef RUNTIME_DAEMON_ATTACH_LIBRARY_PROBES_PRIVATE_H
#define RUNTIME_DAEMON_ATTACH_LIBRARY_PROBES_PRIVATE_H

#include <sys/stat.h>

#include "runtime/daemon/attach/library_probes.h"
#include "runtime/daemon/privsep/library_search.h"
#include "uprobes/attach/attach.h"
#include "uprobes/elf/analysis.h"
#include "uprobes/elf/library_find.h"

#define SCRIBE_LIBS_ITERATION_NS 5000000ull /* per loop iteration */

struct scribe_searcher; /* library_searches.h */

#define SCRIBE_PEEKS_MAX 16

/* Values read from a process that is being checked. */
struct scribe_peeks {
	struct {
		uint64_t at;
		uint32_t value;
		int rc;
	} got[SCRIBE_PEEKS_MAX];
	unsigned n;
	bool asked; /* a read is pending */
	bool later; /* and its result is needed */
	uint64_t at;
};

/* Users with timeouts on their files or processes. */
struct scribe_slow {
	unsigned lost;
	uint64_t next_ns;
};

struct scribe_libs {
	struct scribe_uprobes *uprobes;
	struct scribe_find *find;
	bool verbose;
	bool everything; /* all known libraries are probed */
	bool searched;   /* probes for processes may exist */
	bool cache;      /* use the linker's */
	char wrap_path[SCRIBE_PATH_MAX], paths[SCRIBE_PATH_MAX];
	bool needs_wrap; /* a library was found of which programs count the calls */
	bool wrap_asked;
	unsigned listing; /* pending searches of lists */
	bool late;        /* what is probed now is in use already */
	/* readers: root's files, one user's files, processes' memory */
	struct scribe_helper roots, reader, peeker;
	uint32_t reader_uid;
	bool peeking;           /* a read is pending */
	struct scribe_map slow; /* users, struct scribe_slow */
	struct scribe_searcher *searchers;
	struct scribe_elf_analysis study; /* of the next file */
	int analysis_rc;                  /* or its error */
	bool studied;                     /* both are valid */
	uint64_t swept_ns;
	char why[320];  /* first failure */
	uint32_t ended; /* since the last sweep */
};

/* Probes an open file if it is a known library; `site`: permanently. Negative: unreadable now. */
int scribe_libs_attach_fd(struct scribe_libs *l, int fd, const char *path, bool site);
/* Probes the wrapper library, in which programs count calls. */
void scribe_libs_attach_wrap(struct scribe_daemon *d);

/* Probes all known libraries: a process may use any. */
void scribe_libs_attach_everything(struct scribe_daemon *d);

/* Marks modules of libraries with this name. */
void scribe_libs_unread(struct scribe_daemon *d, struct scribe_process *p, const char *name, const char *cause);

/* Also those counted in the program. */
uint64_t scribe_libs_fed(const struct scribe_uprobed *f);
/*
 * From then on no call is missed by this process. Marks modules that always miss calls. SCRIBE_UPROBED_NEVER:
 * pending.
 */
uint64_t scribe_libs_since(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_uprobed *f,
			   const char *name);

/* Marks modules if calls may be missing. False: `peeks` (initially zero) is pending, call again. */
bool scribe_libs_check_mapping(struct scribe_daemon *d, struct scribe_process *p, uint64_t ino, uint64_t when_ns,
			       const struct scribe_helper_found *found, struct scribe_peeks *peeks);

/* Paused after a timeout? Never root. */
bool scribe_libs_is_slow(struct scribe_libs *l, uint32_t uid);
/* Stops a helper that has not answered; lengthens the pause. */
void scribe_libs_lose(struct scribe_libs *l, struct scribe_helper *h, uint32_t uid);
/* NULL: no helper. */
struct scribe_helper *scribe_libs_reader(struct scribe_libs *l, uint32_t owner);
/* NULL: allowed. `inode` 0: any. */
const char *scribe_libs_refused(int fd, uint64_t inode, struct stat *ret);
int scribe_libs_analyse(void *ctx, int fd, uint32_t uid, struct scribe_elf_analysis *ret_analysis);
/* Up to four bytes. False: not known, or peeks->later: pending. Without `peeks` it blocks. */
bool scribe_libs_peek(struct scribe_daemon *d, uint32_t uid, pid_t pid, uint64_t at, size_t bytes,
		      struct scribe_peeks *peeks, uint32_t *ret_value);

void scribe_libs_forget_peeks(struct scribe_libs *l, struct scribe_peeks *peeks);

void scribe_libs_read_end(struct scribe_libs *l);

#endif
