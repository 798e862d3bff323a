/* SPDX-License-Identifier: BSD-3-Clause */
/* What libs_attach.c and libs.c share. */
#ifndef RUNTIME_DAEMON_LIBS_PRIVATE_H
#define RUNTIME_DAEMON_LIBS_PRIVATE_H

#include "runtime/daemon/libs.h"
#include "runtime/daemon/libs_search.h"
#include "uprobes/attach.h"
#include "uprobes/find.h"

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
	bool cache;      /* of the linker, goes with that */
	char inside[SCRIBE_PATH_MAX], paths[SCRIBE_PATH_MAX]; /* and these */
	bool late;      /* what is attached now is in use already */
	/* libs_ask.c: who reads files of root, those of one user, who looks into processes */
	struct scribe_hand roots, reader, peeker;
	uint32_t reader_uid;
	struct scribe_map slow; /* users, struct scribe_slow */
	bool stdio_calls;
	uint32_t stdio_share;
	uint64_t begun_ns; /* what is older was attached by an earlier daemon */
	uint64_t guard_ns, guard_calls;
	uint64_t swept_ns;
	char why[320]; /* the first library that is wanted could not be probed for this reason; "" all could */
	uint32_t ended; /* processes since then */
};

/* Look at an open file, and attach to it where it holds a wanted library. */
void scribe_libs_attach_fd(struct scribe_libs *l, int fd, const char *path);
/* Attach to the library by which programs count inside: it goes with the first one that is probed. */
void scribe_libs_attach_inside(struct scribe_libs *l);

/* ---- libs_ask.c ---- */
/* scribe_uprobes_options.study; ctx: struct scribe_daemon. */
int scribe_libs_study(void *ctx, int fd, uint32_t uid, bool calls, struct scribe_study *ret_study);
/*
 * Attach to what a search finds. True: the process may come to use any library, or nobody
 * knows. ret_mapped, NULL allowed: written for a mapping that was found.
 */
bool scribe_libs_search(struct scribe_daemon *d, struct scribe_work *w, const struct scribe_search *s,
			struct scribe_hand_found *ret_mapped);
/* Up to four bytes of a process of this user's. */
bool scribe_libs_peek(struct scribe_daemon *d, uint32_t uid, pid_t pid, uint64_t at, size_t bytes,
		      uint32_t *ret_value);

void scribe_libs_ask_end(struct scribe_libs *l);

#endif
