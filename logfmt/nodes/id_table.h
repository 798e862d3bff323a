/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to logfmt/. */
#ifndef LOGFMT_NODES_ID_TABLE_H
#define LOGFMT_NODES_ID_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scribe_id_seen {
	uint64_t id;
	uint64_t records; /* 0: slot is empty */
	uint32_t module;
	bool shared; /* one has rank -1 */
	bool zero;   /* one has rank 0 */
};

struct scribe_id_table {
	struct scribe_id_seen *slot; /* `slots`, a power of two, or NULL */
	size_t slots, used;
};

/* Adds to the entry of seen's module and id. 0 or -ENOMEM. */
int scribe_id_table_add(struct scribe_id_table *t, const struct scribe_id_seen *seen);
/* NULL: not there. */
const struct scribe_id_seen *scribe_id_table_find(const struct scribe_id_table *t, int module, uint64_t id);
void scribe_id_table_clear(struct scribe_id_table *t);

#endif
