/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory: a batch per thread, an entry per id, records of all ranks. Private to logfmt/. */
#ifndef LOGFMT_NODES_MANY_H
#define LOGFMT_NODES_MANY_H

#include "logfmt/nodes/world.h"

/*
 * After scribe_join_look, without a log of the ranks. Finished batches are WORLD.N.batch: a call with the same
 * parts continues after them; scribe_many_clean removes them.
 */
int scribe_many_join(struct scribe_join *j, const char *to);
void scribe_many_clean(const struct scribe_parts_world *world);

#endif
