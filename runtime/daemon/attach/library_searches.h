/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUNTIME_DAEMON_ATTACH_LIBRARY_SEARCHES_H
#define RUNTIME_DAEMON_ATTACH_LIBRARY_SEARCHES_H

#include "bpf/wire.h"
#include "runtime/daemon/attach/library_probes_private.h"

enum scribe_search_then {
	SCRIBE_SEEK_ENROL,
	SCRIBE_SEEK_ATTACH,
	SCRIBE_SEEK_JUDGE, /* check a mapping for missed calls */
	SCRIBE_SEEK_LATE,  /* check all mappings of a late process */
};

struct scribe_library_search {
	struct scribe_library_search *next;
	enum scribe_search_then then;
	uint32_t job, proc_id; /* proc_id 0: none */
	uint64_t client;       /* id */
	uint64_t since_ns;
	uint64_t when_ns;
	uint64_t dev;                   /* of the mapped file */
	char name[SCRIBE_LIBRARY_NAME]; /* last path component */
	struct scribe_search search;
};

struct scribe_searcher {
	struct scribe_searcher *next;
	uint32_t uid, gid;
	char user[64];
	bool lists;                  /* processes may wait for these */
	struct scribe_helper helper; /* sock -1: none */
	struct scribe_library_search *first, **last;
	unsigned waiting;
	bool asked; /* the first is being processed */
	uint64_t deadline_ns, used_ns;
	size_t attached; /* number of files at its start */
	/* state of the first: */
	struct scribe_helper_found mapped;
	struct scribe_helper_found found; /* the file being read */
	struct scribe_peeks peeks;
	int fd; /* -1: none */
	uint64_t inode;
	bool ready;       /* analysed before */
	bool linking;     /* probes are being attached */
	char unread[128]; /* why a file could not be read; may be empty */
	bool found_all;
	int any;                      /* result of the search, or an error */
	bool more;                    /* attaching of further files has started */
	struct scribe_helper *reader; /* NULL: not started */
	uint32_t owner;
};

/* Copies `seek` and holds its process. -EAGAIN: too many. */
int scribe_searchers_add(struct scribe_daemon *d, const struct scribe_job *job,
			 const struct scribe_library_search *seek);
/* NULL: none, or it has ended. */
struct scribe_process *scribe_search_process(struct scribe_daemon *d, const struct scribe_library_search *k);
bool scribe_search_is_list(const struct scribe_library_search *k);
void scribe_searcher_drop_file(struct scribe_searcher *s);
/* Stops unused helpers; _unused: all without a search. */
void scribe_searchers_end_idle(struct scribe_libs *l, uint64_t used_before_ns);
void scribe_searchers_end_unused(struct scribe_libs *l);
void scribe_searchers_end(struct scribe_libs *l);

#endif
