/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to logfmt/. */
#ifndef LOGFMT_NODES_MANY_READ_H
#define LOGFMT_NODES_MANY_READ_H

#include "logfmt/nodes/world.h"
#include "logfmt/records/bundle.h"

/* Joins the node's parts into `b`. *partial: incomplete modules. ret_hash (may be NULL): of the parts' bytes. */
int scribe_many_read(const struct scribe_join *j, size_t node, struct scribe_bundle *b, uint64_t *partial,
		     uint64_t *ret_hash, struct scribe_err *err);

#endif
