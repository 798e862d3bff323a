/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Searches for libraries that wait, and the helpers that make them: one a user, with one for
 * lists beside. See library_seekers.c.
 */
#ifndef RUNTIME_DAEMON_COLLECT_LIBRARY_SEARCHES_H
#define RUNTIME_DAEMON_COLLECT_LIBRARY_SEARCHES_H

#include "bpf/wire.h"
#include "runtime/daemon/collect/library_probes_private.h"

/* What is to be done when a search is over. */
enum scribe_search_then {
	SCRIBE_SEEK_ENROL,  /* the client's process is enrolled */
	SCRIBE_SEEK_ATTACH, /* nothing more */
	SCRIBE_SEEK_JUDGE,  /* a mapping: may calls have gone by? */
	SCRIBE_SEEK_LATE,   /* the same of all that is mapped, by one who has begun before the libraries were up */
};

struct scribe_library_search {
	struct scribe_library_search *next;
	enum scribe_search_then then;
	uint32_t job, proc_id; /* of the process, held meanwhile; proc_id 0: none is known of */
	uint64_t client;      /* its id */
	uint64_t since_ns;    /* when it was added */
	uint64_t when_ns;     /* of the mapping, */
	uint64_t dev;         /* the device of its file, */
	char name[SCRIBE_LIBRARY_NAME]; /* and the last name of that */
	struct scribe_search search;
};

/* Who is searched for by one helper, and what it has found of the first search. */
struct scribe_searcher {
	struct scribe_searcher *next;
	uint32_t uid, gid;
	char user[64];
	bool lists; /* its searches are of lists: those of processes may wait for them */
	struct scribe_helper helper; /* sock -1: none */
	struct scribe_library_search *first, **last;
	unsigned waiting;
	bool asked;              /* the first is under way */
	uint64_t deadline_ns, used_ns;
	size_t attached; /* files when it began */
	/* of the first: */
	struct scribe_helper_found mapped; /* the mapping that was sought */
	struct scribe_helper_found found;  /* the file that is being read */
	struct scribe_peeks peeks;         /* into the process that is judged */
	int fd;                          /* it; -1 none */
	uint64_t inode;
	bool ready;                      /* it has been read before */
	bool linking;                    /* its links are being made */
	char unread[128];                /* why it, or the mapping's file, could not be read; "" nobody says */
	bool found_all;
	int any;                         /* as it said then, or negative */
	bool more;                       /* what else is to be attached to has been begun */
	struct scribe_helper *reader;      /* who reads it; NULL: it has not begun */
	uint32_t owner;
};

/* A search for the job's user waits: `seek` is copied, its process held meanwhile. -EAGAIN: too many do. */
int scribe_searchers_add(struct scribe_daemon *d, const struct scribe_job *job,
			 const struct scribe_library_search *seek);
/* Of which process a search is; NULL: none, or it is gone. */
struct scribe_process *scribe_search_process(struct scribe_daemon *d, const struct scribe_library_search *k);
bool scribe_search_is_list(const struct scribe_library_search *k);
/* The file that is being read is done with. */
void scribe_searcher_drop_file(struct scribe_searcher *s);
/* Helpers for whom there has been nothing to do since then end; _rest: whenever that was. */
void scribe_searchers_end_idle(struct scribe_libs *l, uint64_t used_before_ns);
void scribe_searchers_end_unused(struct scribe_libs *l);
/* No more: what is under way is forgotten. */
void scribe_searchers_end(struct scribe_libs *l);

#endif
