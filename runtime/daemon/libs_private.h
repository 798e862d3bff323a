/* SPDX-License-Identifier: BSD-3-Clause */
/* What libs_attach.c and libs.c share. */
#ifndef RUNTIME_DAEMON_LIBS_PRIVATE_H
#define RUNTIME_DAEMON_LIBS_PRIVATE_H

#include "runtime/daemon/libs.h"
#include "uprobes/attach.h"
#include "uprobes/find.h"

struct scribe_libs {
	struct scribe_uprobes *uprobes;
	struct scribe_find *find;
	bool verbose;
	bool everything; /* what is known of is attached to */
	bool cache;      /* of the linker, goes with that */
	char inside[SCRIBE_PATH_MAX], paths[SCRIBE_PATH_MAX]; /* and these */
	bool late;      /* what is attached now is in use already */
	char *searched; /* the last LD_LIBRARY_PATH of a program */
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

#endif
