/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the logs of a job on several nodes. They are in a directory that only the job's user can write,
 * DIR/NAME.parts (DIR/parts/NAME.parts where users cannot write DIR). Metadata: docs/format.md.
 */

/*
 * Files in that directory; WORLD and NODE do not contain dots:
 *   WORLD.NODE.part   a log: NODE's share of an MPI world, or of the rest of the job; of ranks with records in
 *                     WORLD.ranks or in the next file only what came later
 *   WORLD.NODE.first  a log: records delivered by NODE's ranks at MPI_Finalize
 *   WORLD.ranks       the log that the ranks wrote together; used if a part has `agreed`
 *   NODE.begun        NODE has recorded something
 *   NODE.done         NODE has delivered: "nodes=N", then "part=NAME" for each part
 *   WORLD.N.batch     a merge's result of 64 nodes, to continue from (spool.h)
 *   merging           a merge is running; contains its host and process
 */
#ifndef LOGFMT_NODES_PART_H
#define LOGFMT_NODES_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCRIBE_PARTS_ENDING ".parts"
#define SCRIBE_PARTS_ALL    "parts" /* where users cannot write DIR */
#define SCRIBE_PART_LATE    "part"
#define SCRIBE_PART_FIRST   "first"
#define SCRIBE_PART_RANKS   "ranks"
#define SCRIBE_PART_BATCH   "batch"
#define SCRIBE_PART_BEGUN   "begun"
#define SCRIBE_PART_DONE    "done"
#define SCRIBE_PARTS_REST   "rest"

struct scribe_part_info {
	int agreed;         /* a rank of this node saw that all ranks agreed on WORLD.ranks */
	int split;          /* records up to MPI_Finalize are separate for all ranks */
	int unshared;       /* records must not be reduced across ranks */
	int named;          /* log_path is the file's name, not its stem */
	int64_t lowest;     /* rank here; -1: none */
	char log_path[512]; /* of the finished log, below DIR; key "place" */
};

/* Returns bytes written, or a negative code. */
int scribe_part_info_write(const struct scribe_part_info *info, char *text, size_t cap);
/* -SCRIBE_E_FORMAT: not a part. */
int scribe_part_info_read(const char *metadata, struct scribe_part_info *ret_info);

/* True: a line that only parts have, now in *info. The finished log keeps the others. */
bool scribe_part_info_take(const char *line, struct scribe_part_info *info);

bool scribe_parts_is_dir(const char *name);
/* *ret_bytes of `path` are the directory. */
bool scribe_parts_in(const char *path, size_t *ret_bytes);

#endif
