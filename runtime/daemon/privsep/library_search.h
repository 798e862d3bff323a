/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the files that a process will map, in a helper with the user's identity, and sends them as open
 * descriptors.
 */
#ifndef RUNTIME_DAEMON_PRIVSEP_LIBRARY_SEARCH_H
#define RUNTIME_DAEMON_PRIVSEP_LIBRARY_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

enum scribe_search_for {
	SCRIBE_SEARCH_COMMAND, /* will run the last `words` of its command line */
	SCRIBE_SEARCH_PROGRAM, /* executed a program: its LD_LIBRARY_PATH */
	SCRIBE_SEARCH_LIST,    /* `list`, and with `cache` the linker's cache */
	SCRIBE_SEARCH_MAPPED,  /* a mapping of `inode` */
	SCRIBE_SEARCH_MAPS,    /* all files with mapped code */
};

struct scribe_search {
	uint32_t what; /* enum scribe_search_for */
	int32_t pid;
	uint32_t words;
	uint32_t any; /* attach to every library found */
	uint32_t cache;
	uint64_t inode;
	char list[4096];
};

/* In the helper: sends a struct scribe_helper_found per file. */
void scribe_search_serve(const struct scribe_search *s, int sock);

#endif
