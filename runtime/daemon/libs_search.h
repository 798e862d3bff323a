/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which files a process will map: searched for by a hand with its user's identity, in
 * what the process says of itself and in the directories that it names. Files are handed
 * over as descriptors; of whoever serves a file system that hangs only that hand waits.
 */
#ifndef RUNTIME_DAEMON_LIBS_SEARCH_H
#define RUNTIME_DAEMON_LIBS_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

enum scribe_search_for {
	SCRIBE_SEARCH_COMMAND, /* it is about to run CMD, the last `words` of its command line */
	SCRIBE_SEARCH_PROGRAM, /* it has executed a program; with `known` that itself is of no interest */
	SCRIBE_SEARCH_LIST,    /* directories and files in `list` */
	SCRIBE_SEARCH_MAPPED,  /* a mapping of the inode */
};

struct scribe_search {
	uint32_t what; /* enum scribe_search_for */
	int32_t pid;
	uint32_t words;
	uint32_t known;
	uint32_t any; /* all that is known of is attached to */
	uint64_t inode;
	char list[4096];
};

/* In the hand: files go to the socket as struct scribe_hand_found. */
void scribe_search_serve(const struct scribe_search *s, int sock);

#endif
