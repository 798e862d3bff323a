/* SPDX-License-Identifier: BSD-3-Clause */
/* Names are any bytes but NUL. */
#ifndef RUNTIME_DAEMON_MODEL_NAME_TABLE_H
#define RUNTIME_DAEMON_MODEL_NAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/records/hashmap.h"

#define SCRIBE_NAME_CAPACITY    8448            /* two strings of PATH_MAX, joined */
#define SCRIBE_CUT_MARK         "<cut>"         /* in place of a text beyond a limit */
#define SCRIBE_FURTHER_EXCLUDED "<excluded>"    /* excluded names beyond the user's limit */
#define SCRIBE_OVERFLOWED       "<folded:"      /* PID>: further files of that process */
#define SCRIBE_LOST_ROOT        "<unreachable>" /* the path ended outside the process's root */

struct scribe_name_entry {
	uint64_t id;
	size_t bytes;
	bool excluded;
	bool folded;      /* stands for files beyond the user's limit */
	uint64_t file_id; /* of an object in a file: record id of the file; otherwise 0 */
	char text[];      /* NUL-terminated */
};

struct scribe_name_table {
	struct scribe_map by_id;
	uint64_t bytes; /* of all texts */
};

/* As in bpf/wire.h. */
struct scribe_path_pieces {
	const char *chain; /* last component first */
	size_t chain_bytes;
	const char *string;
	size_t string_bytes;
	bool has_string, cut, nofollow, detached;
};

/* Absolute path before links and dots are resolved; cut at `cap`, NUL-terminated. Returns its length. */
size_t scribe_path_join(const struct scribe_path_pieces *pieces, char *ret_path, size_t cap);

/* Creates it if needed. NULL: out of memory. */
struct scribe_name_entry *scribe_name_table_intern(struct scribe_name_table *names, const char *path, size_t bytes);
struct scribe_name_entry *scribe_name_table_by_id(const struct scribe_name_table *names, uint64_t id);
void scribe_name_table_clear(struct scribe_name_table *names);

#endif
