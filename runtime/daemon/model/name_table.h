/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a NAME event to an absolute path as the process saw it, and the table of
 * names by record id. Names may be any bytes but NUL.
 */
#ifndef RUNTIME_DAEMON_MODEL_NAME_TABLE_H
#define RUNTIME_DAEMON_MODEL_NAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/records/hashmap.h"

#define SCRIBE_NAME_ROOM 8448            /* two texts of the kernel's limit, joined */
#define SCRIBE_CUT_MARK  "<cut>"         /* stands for what was too long to be kept */
#define SCRIBE_FURTHER_EXCLUDED "<excluded>" /* stands for all excluded names beyond what the user may have */
#define SCRIBE_OVERFLOWED "<folded:"             /* PID>: for all others of that process */
#define SCRIBE_LOST_ROOT "<unreachable>" /* walk ended outside the process's root */

struct scribe_name_entry {
	uint64_t id;
	size_t bytes;
	bool excluded;
	bool folded;      /* it stands for files beyond what its user may have */
	uint64_t file_id; /* of something in a file: record id of that file's name, else 0 */
	char text[]; /* ends in NUL */
};

struct scribe_name_table {
	struct scribe_map by_id;
	uint64_t bytes; /* of all texts */
};

/* Raw pieces of a name, as in bpf/wire.h. */
struct scribe_path_pieces {
	const char *chain; /* leaf first */
	size_t chain_bytes;
	const char *string;
	size_t string_bytes;
	bool has_string, cut, nofollow, detached;
};

/*
 * The path before links and dots are looked at: absolute, chain turned round,
 * string behind it (or alone when absolute). Returns its length; it is cut to
 * fit `cap`, and ends in NUL.
 */
size_t scribe_path_join(const struct scribe_path_pieces *pieces, char *ret_path, size_t cap);

/* The entry for a path, made if new. NULL: memory is out. */
struct scribe_name_entry *scribe_name_table_intern(struct scribe_name_table *names, const char *path, size_t bytes);
struct scribe_name_entry *scribe_name_table_by_id(const struct scribe_name_table *names, uint64_t id);
void scribe_name_table_clear(struct scribe_name_table *names);

#endif
