/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which files a process will map: searched for by a helper with its user's identity, in
 * what the process says of itself and in the directories that it names. Files are handed
 * over as descriptors; of whoever serves a file system that hangs only that helper waits.
 */
#ifndef RUNTIME_DAEMON_PRIVSEP_LIBRARY_SEARCH_H
#define RUNTIME_DAEMON_PRIVSEP_LIBRARY_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

enum scribe_search_for {
	SCRIBE_SEARCH_COMMAND, /* it is about to run CMD, the last `words` of its command line */
	SCRIBE_SEARCH_PROGRAM, /* it has executed a program: what LD_LIBRARY_PATH offers it */
	SCRIBE_SEARCH_LIST,    /* directories and files in `list`; with `cache` what the linker's cache holds, too */
	SCRIBE_SEARCH_MAPPED,  /* a mapping of the inode */
	SCRIBE_SEARCH_MAPS,    /* all files whose code it has mapped */
};

struct scribe_search {
	uint32_t what; /* enum scribe_search_for */
	int32_t pid;
	uint32_t words;
	uint32_t any; /* all that is known of is attached to */
	uint32_t cache;
	uint64_t inode;
	char list[4096];
};

/* In the helper: files go to the socket as struct scribe_helper_found. */
void scribe_search_serve(const struct scribe_search *s, int sock);

#endif
