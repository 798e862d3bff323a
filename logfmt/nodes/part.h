/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the logs of a job on several nodes: their names, and what each says of
 * itself. Parts stand in a directory of their own, DIR/NAME.parts, in which only the
 * job's user writes (DIR/parts/NAME.parts where users do not write to DIR itself):
 *
 *   WORLD.NODE.part   a log: what NODE has of an MPI world, or of the rest of the
 *                     job; of ranks that have their records in WORLD.ranks or in
 *                     the file below only what came later
 *   WORLD.NODE.first  a log: what the ranks of NODE handed over at MPI_Finalize
 *   WORLD.ranks       the log that the ranks wrote together; it counts when a part
 *                     says that they agreed on it
 *   NODE.begun        NODE has recorded something
 *   NODE.done         NODE has delivered: "nodes=N", then "part=NAME" of each part
 *   WORLD.N.batch     what a merge has made of 64 nodes' parts, to go on from (spool.h)
 *   merging           somebody is making the logs; it names whom
 *
 * A part says what it is in its metadata: agreed, split, lowest, place, named,
 * unshared (docs/format.md). WORLD and NODE hold no dot.
 */
#ifndef LOGFMT_NODES_PART_H
#define LOGFMT_NODES_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCRIBE_PARTS_ENDING  ".parts"
#define SCRIBE_PARTS_ALL     "parts" /* where users do not write to DIR itself */
#define SCRIBE_PART_LATE     "part"
#define SCRIBE_PART_FIRST    "first"
#define SCRIBE_PART_RANKS    "ranks"
#define SCRIBE_PART_BATCH    "batch"
#define SCRIBE_PART_BEGUN    "begun"
#define SCRIBE_PART_DONE     "done"
#define SCRIBE_PARTS_REST    "rest"

/* What a part's metadata says, beside the lines of every log. */
struct scribe_part_info {
	int agreed;     /* a rank of this node saw all ranks agree on WORLD.ranks */
	int split;      /* every rank's records up to MPI_Finalize stand apart */
	int unshared;   /* records of all ranks are not to become one */
	int named;      /* place is the file's whole name; else its stem */
	int64_t lowest; /* rank here, -1 none */
	char log_path[512]; /* of the finished log, below DIR */
};

/* Lines for the metadata. Bytes written, or negative: no room. */
int scribe_part_info_write(const struct scribe_part_info *info, char *text, size_t cap);
/* What `metadata` says; -SCRIBE_E_FORMAT: it is no part's. */
int scribe_part_info_read(const char *metadata, struct scribe_part_info *ret_info);

/*
 * Takes a line of metadata over into *info if it is one that only parts have: false
 * where it is another, which the finished log keeps.
 */
bool scribe_part_info_take(const char *line, struct scribe_part_info *info);

/* Is a directory of that name one of parts? */
bool scribe_parts_is_dir(const char *name);
/* Is `path` a file in a directory of parts? Then *ret_bytes of it are the directory. */
bool scribe_parts_in(const char *path, size_t *ret_bytes);

#endif
